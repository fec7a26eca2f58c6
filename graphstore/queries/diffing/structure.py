"""What only one run has, and what stands elsewhere: ops, device ops and calls added, removed, moved, resized.

In:  what align.py and launched.py left without a partner. Out: rows of `STRUCTURE`, one each.
Decided here: what an added op brings along (ops, device ops and calls below it) is counted with it, and is no
change of its own; an op that stands below an added one because that was put around it has not moved. The same
for removed ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from graphstore.link.forest import PATH_SEPARATOR
from graphstore.link.nesting import Bools, Ints, at
from graphstore.queries.diffing.align import ABSENT, Alignment, tops_of
from graphstore.queries.diffing.calls import CallSide, places
from graphstore.queries.diffing.columns import NONE
from graphstore.queries.diffing.launched import Matched
from graphstore.queries.diffing.records import COLLECTIVE, KERNEL, OP, occurrence
from graphstore.queries.diffing.trees import Tree

ADDED, REMOVED, MOVED, RESIZED = "added", "removed", "moved", "resized"
STRUCTURE: dict[str, Any] = {
    "what": pl.String,
    "change": pl.String,
    "rank": pl.Int64,
    "path": pl.String,
    "name": pl.String,
    "place": pl.Int64,
    "total_a_ns": pl.Int64,
    "total_b_ns": pl.Int64,
    "own_a_ns": pl.Int64,
    "own_b_ns": pl.Int64,
    "ops_below": pl.Int64,
    "kernels_below": pl.Int64,
    "calls_below": pl.Int64,
    "detail": pl.String,
    "uid_a": pl.Int64,
    "uid_b": pl.Int64,
}


@dataclass(frozen=True)
class KernelSide:
    """The device ops of one run: the row of the tree that launched each, its path, place and step."""

    frame: pl.DataFrame
    launcher: Ints
    path: list[str]
    place: Ints
    step: Ints


def kernel_side(kernels: pl.DataFrame, tree: Tree, texts: list[str]) -> KernelSide:
    """Return the device ops of one run; the path of one is its launcher's and its own name."""
    launcher = tree.rows_of(kernels["launcher"])
    above = at(tree.path, launcher).tolist()
    path = [
        PATH_SEPARATOR.join([texts[code], name] if code >= 0 else [name])
        for code, name in zip(above, kernels["name"].to_list(), strict=True)
    ]
    step = at(tree.step, launcher)
    codes = pl.Series(path, dtype=pl.String).rank("dense").cast(pl.Int64).to_numpy()
    return KernelSide(kernels, launcher, path, occurrence(step, codes), step)


@dataclass(frozen=True)
class Below:
    """Per op of a tree: the device ops and calls at or below it."""

    kernels: Ints
    calls: Ints


def below(tree: Tree, kernels: KernelSide, calls: CallSide) -> Below:
    """Return how many device ops and calls hang at or below each op."""
    return Below(_hanging(tree, kernels.launcher), _hanging(tree, calls.op))


def _hanging(tree: Tree, owner: Ints) -> Ints:
    """Return for each op how many of the owners lie in its subtree (rows r to r + size)."""
    counts = (
        np.bincount(owner[owner >= 0], minlength=tree.uid.size) if owner.size else np.zeros(tree.uid.size)
    )
    sums = np.append(0, np.cumsum(counts)).astype(np.int64)
    rows = np.arange(tree.uid.size)
    out: Ints = sums[rows + tree.size] - sums[rows]
    return out


def alone_ops(
    rank: int, tree: Tree, partner: Ints, beneath: Below, texts: list[str], side: str
) -> pl.DataFrame:
    """Return the subtrees that one run has alone, `side` a or b: removed or added.

    Where ops that both runs have hang below (an op put around them), only the time of the others counts.
    """
    rows = tops_of(tree, partner)
    place = occurrence(tree.step, tree.path)
    alone = np.append(0, np.cumsum(partner == ABSENT))
    own = np.maximum(tree.own, 0)
    whole = alone[rows + tree.size[rows]] - alone[rows] == tree.size[rows]
    spent = np.append(0, np.cumsum(np.where(partner == ABSENT, own, 0)))
    total = np.where(whole, np.maximum(tree.duration[rows], 0), spent[rows + tree.size[rows]] - spent[rows])
    return _frame(
        OP,
        REMOVED if side == "a" else ADDED,
        rank,
        path=[texts[path] for path in tree.path[rows].tolist()],
        name=tree.ops["name"][rows],
        place=place[rows],
        ops_below=alone[rows + tree.size[rows]] - alone[rows] - 1,
        kernels_below=beneath.kernels[rows],
        calls_below=beneath.calls[rows],
        **{f"total_{side}_ns": total, f"own_{side}_ns": own[rows], f"uid_{side}": tree.uid[rows]},
    )


def moved_ops(rank: int, a: Tree, b: Tree, alignment: Alignment, texts: list[str]) -> pl.DataFrame:
    """Return the subtrees that stand elsewhere, but for those that only got or lost an op around them."""
    moved = alignment.moved_a
    inner = np.where(a.parent >= 0, moved[np.maximum(a.parent, 0)], False) if moved.size else moved
    rows = np.flatnonzero(moved & ~inner)
    partners = alignment.partner_a[rows]
    # its caller in either run is an op that only this run has: that one is the change
    wrapped = _hangs_alone(a.parent[rows], alignment.partner_a)
    wrapped |= _hangs_alone(b.parent[partners], alignment.partner_b)
    rows, partners = rows[~wrapped], partners[~wrapped]
    return _frame(
        OP,
        MOVED,
        rank,
        path=[texts[path] for path in b.path[partners].tolist()],
        name=a.ops["name"][rows],
        place=occurrence(a.step, a.path)[rows],
        total_a_ns=np.maximum(a.duration[rows], 0),
        total_b_ns=np.maximum(b.duration[partners], 0),
        own_a_ns=np.maximum(a.own[rows], 0),
        own_b_ns=np.maximum(b.own[partners], 0),
        ops_below=a.size[rows] - 1,
        detail=[
            f"was {texts[was]}" if was != now else "at another place in the order"
            for was, now in zip(a.path[rows].tolist(), b.path[partners].tolist(), strict=True)
        ],
        uid_a=a.uid[rows],
        uid_b=b.uid[partners],
    )


def _hangs_alone(owner: Ints, partner: Ints) -> Bools:
    """Return whether what hangs below each op (row, -1 for none) goes with it: only this run has the op."""
    alone: Bools = (owner >= 0) & (at(partner, owner) == ABSENT)
    return alone


def alone_kernels(
    rank: int, kernels: KernelSide, rows: Ints, partner: Ints, is_call: Bools, side: str
) -> pl.DataFrame:
    """Return the device ops of one run alone whose launcher both runs have; calls are told as calls."""
    rows = rows[~is_call[rows] & ~_hangs_alone(kernels.launcher[rows], partner)]
    long = np.maximum(kernels.frame["duration_ns"].to_numpy()[rows], 0)
    return _frame(
        KERNEL,
        REMOVED if side == "a" else ADDED,
        rank,
        path=[kernels.path[row] for row in rows.tolist()],
        name=kernels.frame["name"][rows],
        place=kernels.place[rows],
        **{f"total_{side}_ns": long, f"own_{side}_ns": long, f"uid_{side}": kernels.frame["uid"][rows]},
    )


def alone_calls(rank: int, calls: CallSide, rows: Ints, partner: Ints, side: str) -> pl.DataFrame:
    """Return the calls of one run alone, but for those whose host op is itself in this run alone."""
    rows = rows[~_hangs_alone(calls.op[rows], partner)]
    return _frame(
        COLLECTIVE,
        REMOVED if side == "a" else ADDED,
        rank,
        path=[calls.path[row] for row in rows.tolist()],
        name=calls.frame["name"][rows],
        place=places(calls)[rows],
        detail=[f"group {group}" if group else None for group in calls.frame["group"][rows].to_list()],
        **{
            f"total_{side}_ns": calls.duration[rows],
            f"own_{side}_ns": calls.transfer[rows],
            f"uid_{side}": calls.frame["uid"][rows],
        },
    )


def resized_calls(rank: int, a: CallSide, b: CallSide, matched: Matched) -> pl.DataFrame:
    """Return the calls that carry another number of bytes; a size that one run does not tell is no change."""
    size_a, size_b = (
        side.frame["size_bytes"].to_numpy()[rows] for side, rows in ((a, matched.a), (b, matched.b))
    )
    differ = np.flatnonzero((size_a != size_b) & (size_a != NONE) & (size_b != NONE))
    at_a, at_b = matched.a[differ], matched.b[differ]
    return _frame(
        COLLECTIVE,
        RESIZED,
        rank,
        path=[a.path[row] for row in at_a.tolist()],
        name=a.frame["name"][at_a],
        place=places(a)[at_a],
        total_a_ns=a.duration[at_a],
        total_b_ns=b.duration[at_b],
        own_a_ns=a.transfer[at_a],
        own_b_ns=b.transfer[at_b],
        detail=[
            f"{x:,} → {y:,} bytes"
            for x, y in zip(size_a[differ].tolist(), size_b[differ].tolist(), strict=True)
        ],
        uid_a=a.frame["uid"][at_a],
        uid_b=b.frame["uid"][at_b],
    )


def _frame(what: str, change: str, rank: int, **given: Any) -> pl.DataFrame:
    """Return rows of STRUCTURE; times that are not given are 0, keys are null."""
    count = len(given["path"])
    absent = {name: [None if name.startswith(("uid", "detail")) else 0] * count for name in STRUCTURE}
    columns = absent | {"what": [what] * count, "change": [change] * count, "rank": [rank] * count} | given
    return pl.DataFrame({name: columns[name] for name in STRUCTURE}, schema=STRUCTURE)
