"""The own time of the ops and device ops of a rank in two runs, and what accounts for its differences.

In:  aligned trees, device ops matched, waits that changed. Out: records.
Decided here: an op's own time (that of what it encloses taken off) is what can be its fault. It may differ by
the time of children that only one run has, and by the waits of calls that ended while the op was the
innermost one on its thread; what is left is the op's. Ops that are calls are measured as calls, and Python's
time between ops by gaps.py.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from graphstore.link.nesting import Bools, Ints, at, sort_spans
from graphstore.queries.diffing.align import ABSENT, Alignment
from graphstore.queries.diffing.calls import WaitChanges
from graphstore.queries.diffing.columns import NONE
from graphstore.queries.diffing.launched import Matched
from graphstore.queries.diffing.records import KERNEL, OP, occurrence, records, unexplained
from graphstore.queries.diffing.structure import KernelSide
from graphstore.queries.diffing.trees import Tree


def op_records(
    rank: int,
    trees: tuple[Tree, Tree],
    alignment: Alignment,
    left_out: tuple[Bools, Bools],
    waits: WaitChanges,
    texts: list[str],
) -> pl.DataFrame:
    """Return a record for each pair of ops with times, but for those `left_out` in either run."""
    a, b = trees
    rows_a, rows_b = alignment.pairs()
    kept = a.timed[rows_a] & b.timed[rows_b] & ~left_out[0][rows_a] & ~left_out[1][rows_b]
    children = _children_change(a, b, alignment)
    waited = _waits_within(b, waits, waits.end_b, waits.change > 0)
    spared = _waits_within(a, waits, waits.end_a, waits.change < 0)
    rows_a, rows_b = rows_a[kept], rows_b[kept]
    delta = b.own[rows_b] - a.own[rows_a]
    names = a.ops["name"]
    return records(
        OP,
        rank,
        path=[texts[path] for path in a.path[rows_a].tolist()],
        name=names[rows_a],
        place_a=occurrence(a.step, a.path)[rows_a],
        place_b=occurrence(b.step, b.path)[rows_b],
        step_a=a.step[rows_a],
        step_b=b.step[rows_b],
        total_a_ns=a.duration[rows_a],
        total_b_ns=b.duration[rows_b],
        own_a_ns=a.own[rows_a],
        own_b_ns=b.own[rows_b],
        unexplained_ns=unexplained(delta, -children[rows_a], waited[rows_b], spared[rows_a]),
        uid_a=a.uid[rows_a],
        uid_b=b.uid[rows_b],
    )


def _children_change(a: Tree, b: Tree, alignment: Alignment) -> Ints:
    """Return for each op of a how much more time its partner has of enclosed ops without an equal.

    Without an equal are ops that only one run has, moved ones, and ops whose encloser in one run is not the
    partner of their encloser in the other (ends that overlap a little now and then).
    """
    rows_a, rows_b = alignment.pairs()
    around_a, around_b = a.encloser[rows_a], b.encloser[rows_b]
    elsewhere = (at(alignment.partner_a, around_a) != around_b) | alignment.moved_a[rows_a]
    more_b = _sum_at(b, np.append(np.flatnonzero(alignment.partner_b == ABSENT), rows_b[elsewhere]))
    more_a = _sum_at(a, np.append(np.flatnonzero(alignment.partner_a == ABSENT), rows_a[elsewhere]))
    out: Ints = at(more_b, alignment.partner_a) if more_b.size else np.zeros(a.uid.size, dtype=np.int64)
    return np.where(alignment.partner_a >= 0, out, 0) - more_a


def _sum_at(tree: Tree, rows: Ints) -> Ints:
    """Return for each op the summed durations of those of `rows` that it directly encloses."""
    out = np.zeros(tree.uid.size, dtype=np.int64)
    rows = rows[tree.timed[rows] & (tree.encloser[rows] >= 0)]
    np.add.at(out, tree.encloser[rows], tree.duration[rows])
    return out


def _waits_within(tree: Tree, waits: WaitChanges, times: Ints, chosen: Bools) -> Ints:
    """Return for each op the waits of the chosen calls that ended while it was innermost on its thread."""
    out = np.zeros(tree.uid.size, dtype=np.int64)
    rows = np.flatnonzero(tree.timed)
    if not rows.size or not chosen.any():
        return out
    threads = (
        tree.ops.select(pl.struct("process", "thread").rank("dense").cast(pl.Int64)).to_series().to_numpy()
    )
    spans = sort_spans(threads[rows], tree.start[rows], tree.end[rows], None, rows)
    for thread in np.unique(threads[rows]):
        found = spans.innermost(np.full(int(chosen.sum()), thread), times[chosen])
        inside = found >= 0
        np.add.at(out, rows[found[inside]], waits.change[chosen][inside])
    return out


def kernel_records(
    rank: int, kernels: tuple[KernelSide, KernelSide], matched: Matched, left_out: tuple[Bools, Bools]
) -> pl.DataFrame:
    """Return a record for each pair of device ops with times, but for those that are communication calls."""
    a, b = kernels
    long_a, long_b = (side.frame["duration_ns"].to_numpy() for side in kernels)
    kept = (
        (long_a[matched.a] != NONE)
        & (long_b[matched.b] != NONE)
        & ~left_out[0][matched.a]
        & ~left_out[1][matched.b]
    )
    at_a, at_b = matched.a[kept], matched.b[kept]
    return records(
        KERNEL,
        rank,
        path=[a.path[row] for row in at_a.tolist()],
        name=a.frame["name"][at_a],
        place_a=a.place[at_a],
        place_b=b.place[at_b],
        step_a=a.step[at_a],
        step_b=b.step[at_b],
        total_a_ns=long_a[at_a],
        total_b_ns=long_b[at_b],
        own_a_ns=long_a[at_a],
        own_b_ns=long_b[at_b],
        unexplained_ns=long_b[at_b] - long_a[at_a],
        uid_a=a.frame["uid"][at_a],
        uid_b=b.frame["uid"][at_b],
    )
