"""Time between the ops of a rank's main thread: where a rank is delayed.

In:  aligned trees of one rank, waits that changed. Out: records of the gaps, and the ops that are transparent
     here.
Decided here: step marks and other annotations around ops are no work, so they are looked through: the main
thread is a row of outermost ops, and before each is a gap, which is Python's time, or a wait. A gap is
counted to the op after it. It may differ by ops that only one run has there, by what other threads did longer
in it (main waits for autograd's threads), and by the waits of calls that ended in it; what is left is a
delay.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from graphstore.link.forest import nearest_marked
from graphstore.link.nesting import Bools, Ints, at
from graphstore.queries.diffing.align import ABSENT, Alignment
from graphstore.queries.diffing.calls import WaitChanges
from graphstore.queries.diffing.records import RANK, occurrence, records, unexplained
from graphstore.queries.diffing.trees import STEP, Tree, plain_names

BEFORE, AFTER = "before ", "after "


@dataclass(frozen=True)
class Frames:
    """Per op of one run: is it an annotation looked through, and is it one of the row of outermost ops."""

    open: Bools
    outermost: Bools


def look_through(a: Tree, b: Tree, alignment: Alignment) -> tuple[Frames, Frames]:
    """Return what is looked through in both runs: annotations of the main thread that hold ops in either."""
    flags = [_holds_ops(tree) for tree in (a, b)]
    shared = []
    for own, other, partner in (
        (flags[0], flags[1], alignment.partner_a),
        (flags[1], flags[0], alignment.partner_b),
    ):
        in_other = at(other.astype(np.int64), partner) == 1
        shared.append(own | in_other)
    first, second = (_frames(tree, flag) for tree, flag in zip((a, b), shared, strict=True))
    return first, second


def _holds_ops(tree: Tree) -> Bools:
    """Return the annotations of the main thread that enclose an op."""
    names = plain_names(tree.ops["name"])
    note = ((tree.ops["category"] == "user_annotation") | (names == STEP)).to_numpy()
    holds = np.zeros(tree.uid.size, dtype=np.bool_)
    holds[tree.encloser[tree.encloser >= 0]] = True
    return note & holds & tree.main


def _frames(tree: Tree, flag: Bools) -> Frames:
    """Return which ops have nothing but annotations around them."""
    within = at(nearest_marked(tree.encloser, ~flag), tree.encloser)
    free = (within < 0) & tree.main
    return Frames(open=flag & free, outermost=free & ~flag)


@dataclass(frozen=True)
class _Lane:
    """The outermost ops of one run that have a partner: rows, starts, and the latest end before each."""

    rows: Ints
    start: Ints
    before: Ints
    last: int

    def gap_of(self, time: Ints) -> Ints:
        """Return the number of the gap that begins before or at a time, the last for what follows all ops."""
        return np.searchsorted(self.start, time, side="left")


def _lane(tree: Tree, rows: Ints) -> _Lane:
    """Return the lane of a run, from the first start on its main thread to the last end."""
    main = np.flatnonzero(tree.main)
    begin, last = int(tree.start[main].min()), int(tree.end[main].max())
    before = np.maximum.accumulate(np.append(begin, tree.end[rows]))
    return _Lane(rows, tree.start[rows], before, last)


def gap_records(
    rank: int,
    trees: tuple[Tree, Tree],
    frames: tuple[Frames, Frames],
    alignment: Alignment,
    waits: WaitChanges,
    texts: list[str],
) -> pl.DataFrame:
    """Return a record for the gap before each outermost op, and for what follows the last one."""
    a, b = trees
    rows_a, rows_b = alignment.pairs()
    kept = frames[0].outermost[rows_a] & frames[1].outermost[rows_b] & ~alignment.moved_a[rows_a]
    rows_a, rows_b = _rising(a, b, rows_a[kept], rows_b[kept])
    if not rows_a.size:
        return records(RANK, rank, **{name: [] for name in _COLUMNS})
    lanes = _lane(a, rows_a), _lane(b, rows_b)
    gap_a, gap_b = (np.append(lane.start, lane.last) - lane.before for lane in lanes)
    delta = gap_b - gap_a
    left = unexplained(
        delta,
        _alone(b, frames[1], lanes[1], alignment.partner_b)
        - _alone(a, frames[0], lanes[0], alignment.partner_a),
        _other_threads(a, b, lanes, alignment),
        _waits_in(lanes[1], waits, waits.end_b, waits.change > 0),
        _waits_in(lanes[0], waits, waits.end_a, waits.change < 0),
    )
    # a mark that ends where it ended before takes from the time after the last op what came before it
    left[-1] = unexplained(left[-1:], -left[:-1].sum(keepdims=True))[0]
    following = np.append(rows_a, rows_a[-1]), np.append(rows_b, rows_b[-1])
    words = [BEFORE] * rows_a.size + [AFTER]
    return records(
        RANK,
        rank,
        path=[texts[path] for path in a.path[following[0]].tolist()],
        name=[word + name for word, name in zip(words, a.ops["name"][following[0]].to_list(), strict=True)],
        place_a=occurrence(a.step, a.path)[following[0]],
        place_b=occurrence(b.step, b.path)[following[1]],
        step_a=a.step[following[0]],
        step_b=b.step[following[1]],
        total_a_ns=gap_a,
        total_b_ns=gap_b,
        own_a_ns=gap_a,
        own_b_ns=gap_b,
        unexplained_ns=left,
        uid_a=a.uid[following[0]],
        uid_b=b.uid[following[1]],
    )


_COLUMNS = (
    *("path", "name", "place_a", "place_b", "step_a", "step_b", "total_a_ns", "total_b_ns"),
    *("own_a_ns", "own_b_ns", "unexplained_ns", "uid_a", "uid_b"),
)


def _rising(a: Tree, b: Tree, rows_a: Ints, rows_b: Ints) -> tuple[Ints, Ints]:
    """Return the pairs in the order of start; a pair that stands in another order in b is left out."""
    order = np.argsort(a.start[rows_a], kind="stable")
    rows_a, rows_b = rows_a[order], rows_b[order]
    starts = b.start[rows_b]
    kept = starts >= np.maximum.accumulate(starts) if starts.size else np.zeros(0, dtype=np.bool_)
    return rows_a[kept], rows_b[kept]


def _alone(tree: Tree, frames: Frames, lane: _Lane, partner: Ints) -> Ints:
    """Return for each gap the time of the outermost ops in it that have no partner in the lane.

    An annotation that only one run has counts with its own time.
    """
    out = np.zeros(lane.start.size + 1, dtype=np.int64)
    in_lane = np.zeros(tree.uid.size, dtype=np.bool_)
    in_lane[lane.rows] = True
    ops = np.flatnonzero(frames.outermost & ~in_lane)
    np.add.at(out, lane.gap_of(tree.start[ops]), tree.duration[ops])
    notes = np.flatnonzero(frames.open & (partner == ABSENT))
    np.add.at(out, lane.gap_of(tree.start[notes]), np.maximum(tree.own[notes], 0))
    return out


def _other_threads(a: Tree, b: Tree, lanes: tuple[_Lane, _Lane], alignment: Alignment) -> Ints:
    """Return for each gap how much longer the ops of other threads that began in it ran of their own."""
    out = np.zeros(lanes[0].start.size + 1, dtype=np.int64)
    for tree, lane, sign in ((a, lanes[0], -1), (b, lanes[1], 1)):
        rows = np.flatnonzero(tree.timed & ~tree.main)
        gap = lane.gap_of(tree.start[rows])
        inside = tree.start[rows] >= lane.before[gap]
        np.add.at(out, gap[inside], sign * np.maximum(tree.own[rows[inside]], 0))
    return out


def _waits_in(lane: _Lane, waits: WaitChanges, times: Ints, chosen: Bools) -> Ints:
    """Return for each gap the change of the waits of the chosen calls that ended in it."""
    out = np.zeros(lane.start.size + 1, dtype=np.int64)
    gap = lane.gap_of(times[chosen])
    inside = times[chosen] >= lane.before[gap]
    np.add.at(out, gap[inside], waits.change[chosen][inside])
    return out
