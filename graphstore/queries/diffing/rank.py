"""Two runs of one rank: everything measured and matched, in order.

In:  the columns of the rank in both runs. Out: `RankDiff`: records, structure, totals, spans.
Decided here: the order of the steps. The main thread's waiting and Python's time are told by gaps.py, the
calls by calls.py, so their ops are left out of the ops' own records; totals take in every op.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from graphstore.link.nesting import Bools
from graphstore.queries.diffing.align import Alignment, align_trees
from graphstore.queries.diffing.calls import CallSide, call_records, call_side, seen_ops, wait_changes
from graphstore.queries.diffing.columns import NONE, RankColumns
from graphstore.queries.diffing.gaps import gap_records, look_through
from graphstore.queries.diffing.launched import GroupOf, Matched, calls_are_tied, match_calls, match_kernels
from graphstore.queries.diffing.records import COLLECTIVE, KERNEL, OP, RANK
from graphstore.queries.diffing.structure import (
    KernelSide,
    alone_calls,
    alone_kernels,
    alone_ops,
    below,
    kernel_side,
    moved_ops,
    resized_calls,
)
from graphstore.queries.diffing.times import kernel_records, op_records
from graphstore.queries.diffing.trees import STEP, Tree, grow, plain_names

TOTALS: dict[str, Any] = {
    "rank": pl.Int64,
    "what": pl.String,
    "count_a": pl.Int64,
    "count_b": pl.Int64,
    "total_a_ns": pl.Int64,
    "total_b_ns": pl.Int64,
    "self_a_ns": pl.Int64,
    "self_b_ns": pl.Int64,
    "wait_a_ns": pl.Int64,
    "wait_b_ns": pl.Int64,
}


@dataclass(frozen=True)
class Spans:
    """How long a rank took: each step, and from its first start to its last end; null without times."""

    steps: list[int]
    begin: int | None
    end: int | None

    @property
    def whole(self) -> int | None:
        """Return the time from the first start to the last end."""
        return None if self.begin is None or self.end is None else self.end - self.begin


@dataclass(frozen=True)
class RankDiff:
    """What is known of one rank in two runs."""

    rank: int
    measures: pl.DataFrame
    structure: pl.DataFrame
    totals: pl.DataFrame
    spans: tuple[Spans, Spans]
    notes: list[str]


def compare_rank(sides: tuple[RankColumns, RankColumns], groups: tuple[GroupOf, GroupOf]) -> RankDiff:
    """Return what differs on one rank. `groups`: what each run's group keys stand for in both."""
    rank = sides[0].rank
    *grown, path_text = grow((sides[0].host, sides[1].host))
    trees, texts = (grown[0], grown[1]), path_text.to_list()
    alignment = align_trees(*trees)
    calls = call_side(sides[0], trees[0], texts), call_side(sides[1], trees[1], texts)
    kernels = kernel_side(sides[0].kernels, trees[0], texts), kernel_side(sides[1].kernels, trees[1], texts)
    notes, blind = _unlike(rank, sides)
    notes += _untied(rank, calls)
    same_kernels = match_kernels(sides, trees, alignment)
    same_calls = match_calls(sides, groups, (calls[0].op, calls[1].op), alignment)
    waits = wait_changes(*calls, same_calls)
    frames = look_through(*trees, alignment)
    left_out = [
        frame.open | seen_ops(side, tree) for frame, side, tree in zip(frames, sides, trees, strict=True)
    ]
    as_calls = _kernels_of_calls(sides[0]), _kernels_of_calls(sides[1])
    measures = [
        op_records(rank, trees, alignment, (left_out[0], left_out[1]), waits, texts),
        gap_records(rank, trees, frames, alignment, waits, texts),
        kernel_records(rank, kernels, same_kernels, as_calls),
        call_records(rank, *calls, same_calls),
    ]
    structure = _structure(rank, trees, alignment, kernels, calls, same_kernels, same_calls, as_calls, texts)
    if blind:
        structure = structure.filter(pl.col("what") != KERNEL)
    if has_marks(trees[0]) != has_marks(trees[1]):
        structure = structure.filter(pl.col("path") != STEP)
        notes.append(
            f"rank {rank}: only {'A' if has_marks(trees[0]) else 'B'} has step marks; they are looked through"
        )
    everything = pl.concat(measures)
    return RankDiff(
        rank=rank,
        measures=everything,
        structure=structure,
        totals=_totals(rank, trees, sides, calls, everything),
        spans=(_spans(trees[0], sides[0]), _spans(trees[1], sides[1])),
        notes=notes,
    )


def _structure(
    rank: int,
    trees: tuple[Tree, Tree],
    alignment: Alignment,
    kernels: tuple[KernelSide, KernelSide],
    calls: tuple[CallSide, CallSide],
    same_kernels: Matched,
    same_calls: Matched,
    as_calls: tuple[Bools, Bools],
    texts: list[str],
) -> pl.DataFrame:
    """Return what only one run has, and what stands elsewhere."""
    partners = alignment.partner_a, alignment.partner_b
    alone = (same_kernels.only_a, same_calls.only_a), (same_kernels.only_b, same_calls.only_b)
    parts = [moved_ops(rank, *trees, alignment, texts), resized_calls(rank, *calls, same_calls)]
    for at, side in enumerate("ab"):
        beneath = below(trees[at], kernels[at], calls[at])
        parts += [
            alone_ops(rank, trees[at], partners[at], beneath, texts, side),
            alone_kernels(rank, kernels[at], alone[at][0], partners[at], as_calls[at], side),
            alone_calls(rank, calls[at], alone[at][1], partners[at], side),
        ]
    return pl.concat(parts)


def _kernels_of_calls(side: RankColumns) -> Bools:
    """Return which device ops are communication calls."""
    seen = side.seen.filter(pl.col("role") == "kernel")["op_uid"].implode()
    found: Bools = side.kernels.select(pl.col("uid").is_in(seen)).to_series().to_numpy()
    return found


def _unlike(rank: int, sides: tuple[RankColumns, RankColumns]) -> tuple[list[str], bool]:
    """Return what the files of one run can't show of this rank, and whether device ops can't be compared."""
    timed = [bool((side.host["duration_ns"] != NONE).any()) for side in sides]
    notes = []
    for at, name in enumerate("AB"):
        if timed[1 - at] and not timed[at] and sides[at].host.height:
            notes.append(
                f"rank {rank}: {name} holds no times; ops are compared by order alone, device ops not at all"
            )
        elif sides[1 - at].host.height and not sides[at].host.height:
            notes.append(f"rank {rank}: {name} holds no host ops")
    return notes, timed[0] != timed[1]


def _untied(rank: int, calls: tuple[CallSide, CallSide]) -> list[str]:
    """Return what to say of calls that only a dump shows, where traces show others."""
    only = [int((side.op < 0).sum()) for side in calls]
    if not calls_are_tied((calls[0].op, calls[1].op)) or only[0] == only[1]:
        return []
    return [f"rank {rank}: calls that no trace shows are not compared: {only[0]} in A, {only[1]} in B"]


def _totals(
    rank: int,
    trees: tuple[Tree, Tree],
    sides: tuple[RankColumns, RankColumns],
    calls: tuple[CallSide, CallSide],
    measures: pl.DataFrame,
) -> pl.DataFrame:
    """Return counts and times of each kind in both runs."""
    gaps = measures.filter(pl.col("what") == RANK)
    outer = [int(tree.duration[tree.timed & (tree.encloser < 0)].sum()) for tree in trees]
    own = [int(np.maximum(tree.own, 0).sum()) for tree in trees]
    busy = [int(side.kernels["duration_ns"].clip(lower_bound=0).sum()) for side in sides]
    spare = [int(gaps[f"own_{side}_ns"].sum()) for side in "ab"]
    rows = [
        _row(rank, OP, [tree.uid.size for tree in trees], outer, own),
        _row(rank, KERNEL, [side.kernels.height for side in sides], busy, busy),
        _row(
            rank,
            COLLECTIVE,
            [side.frame.height for side in calls],
            [int(side.duration.sum()) for side in calls],
            [int(side.transfer.sum()) for side in calls],
            [int(np.maximum(side.wait, 0).sum()) for side in calls],
        ),
        _row(rank, RANK, [gaps.height, gaps.height], spare, spare),
    ]
    return pl.DataFrame(rows, schema=TOTALS, orient="row")


def _row(
    rank: int, what: str, counts: list[int], total: list[int], own: list[int], wait: list[int] | None = None
) -> tuple[Any, ...]:
    return (rank, what, *counts, *total, *own, *(wait or (None, None)))


def has_marks(tree: Tree) -> bool:
    """Return whether a run marks its steps on this rank."""
    return bool((plain_names(tree.ops["name"]) == STEP).any())


def _spans(tree: Tree, side: RankColumns) -> Spans:
    """Return the times of the steps of the main thread, and of the rank as a whole."""
    marks = (plain_names(tree.ops["name"]) == STEP).to_numpy() & tree.main
    timed = side.kernels.filter(pl.col("duration_ns") != NONE)
    starts = np.append(tree.start[tree.timed], timed["start_ns"].to_numpy())
    ends = np.append(tree.end[tree.timed], (timed["start_ns"] + timed["duration_ns"]).to_numpy())
    return Spans(
        steps=tree.duration[marks].tolist(),
        begin=int(starts.min()) if starts.size else None,
        end=int(ends.max()) if ends.size else None,
    )
