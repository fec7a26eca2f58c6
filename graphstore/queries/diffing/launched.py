"""Which device op and which communication call of one run is which of the other.

In:  the columns of one rank in two runs, and their aligned trees. Out: `Matched` rows of two frames.
Decided here: device ops are compared among those of one launching op (without one: of one stream), calls
among those of one process group, each by name and order, as align.py does it. Groups are the same when their
members are, as far as both runs have the ranks.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from graphstore.link.nesting import Ints, at
from graphstore.queries.diffing.align import ABSENT, Alignment, Items, align_sequences
from graphstore.queries.diffing.columns import RankColumns
from graphstore.queries.diffing.trees import Tree

Key = Hashable
GroupOf = Mapping[str, Key]


@dataclass(frozen=True)
class Matched:
    """Rows of two frames: `a[k]` is `b[k]`; `only_a` and `only_b` have no partner."""

    a: Ints
    b: Ints
    only_a: Ints
    only_b: Ints


def match_kernels(
    sides: tuple[RankColumns, RankColumns], trees: tuple[Tree, Tree], alignment: Alignment
) -> Matched:
    """Return which device op is which."""
    frames = sides[0].kernels, sides[1].kernels
    owners = [tree.rows_of(frame["launcher"]) for tree, frame in zip(trees, frames, strict=True)]
    keys = [
        [
            _owner_key(side, *key)
            for key in zip(owner.tolist(), pair.tolist(), frame["stream"].to_list(), strict=True)
        ]
        for side, (frame, owner, pair) in enumerate(
            zip(frames, owners, _pairs_of(owners, alignment), strict=True)
        )
    ]
    sizes = frames[0]["size_bytes"], frames[1]["size_bytes"]
    return _match(frames, keys, [frame["name"] for frame in frames], sizes)


def _pairs_of(owners: Sequence[Ints], alignment: Alignment) -> tuple[Ints, Ints]:
    """Return for each device op of both runs the row in a of the pair that launched it, -1 for none."""
    alone = at(alignment.partner_a, owners[0]) == ABSENT
    return np.where(alone, ABSENT, owners[0]), at(alignment.partner_b, owners[1])


def _owner_key(side: int, row: int, pair: int, stream: int) -> Key:
    """Return whose device op it is: of a pair of ops, of an op that only one run has, or of a stream."""
    if row == ABSENT:
        return "stream", stream
    return ("pair", pair) if pair != ABSENT else ("alone", side, row)


def match_calls(
    sides: tuple[RankColumns, RankColumns],
    groups: tuple[GroupOf, GroupOf],
    ops: tuple[Ints, Ints],
    alignment: Alignment,
) -> Matched:
    """Return which communication call is which.

    `groups`: what each run's group keys stand for; `ops`: row of the host op that each call is. Where traces
    of both runs show calls, a call goes with its op, and those that only a dump shows are left out;
    else it is one of a row of calls of its group.
    """
    frames = sides[0].calls, sides[1].calls
    tied = calls_are_tied(ops)
    keys = [
        [
            _call_key(side, op, pair) if tied else known.get(group, group)
            for group, op, pair in zip(frame["group"].to_list(), own.tolist(), pairs.tolist(), strict=True)
        ]
        for side, (frame, known, own, pairs) in enumerate(
            zip(frames, groups, ops, _pairs_of(ops, alignment), strict=True)
        )
    ]
    words = [
        frame.select(pl.format("{} {} {}", _kind(), pl.col("peer"), pl.col("root_rank"))).to_series()
        for frame in frames
    ]
    sizes = frames[0]["size_bytes"], frames[1]["size_bytes"]
    found = _match(frames, keys, words, sizes)
    if not tied:
        return found
    return Matched(
        found.a,
        found.b,
        *(rows[own[rows] >= 0] for rows, own in zip((found.only_a, found.only_b), ops, strict=True)),
    )


def calls_are_tied(ops: tuple[Ints, Ints]) -> bool:
    """Return whether both runs know host ops of their calls."""
    return all(bool((of >= 0).any()) for of in ops)


def _call_key(side: int, op: int, pair: int) -> Key:
    """Return with which op a call goes: a pair, an op that only one run has, or none."""
    if op == ABSENT:
        return side, ABSENT
    return pair if pair != ABSENT else (side, op)


def _kind() -> pl.Expr:
    """Return the kind of a call, or its own word where the kind is not known."""
    return pl.when(pl.col("collective_kind") == "").then("op_name").otherwise("collective_kind")


def _match(
    frames: tuple[pl.DataFrame, pl.DataFrame],
    keys: Sequence[Sequence[Key]],
    words: Sequence[pl.Series],
    sizes: tuple[pl.Series, pl.Series],
) -> Matched:
    """Match the rows of two frames within equal keys, by word and order, preferring equal sizes."""
    code = (
        pl.concat([word.cast(pl.String) for word in words])
        .rank("dense")
        .cast(pl.Int64)
        .fill_null(0)
        .to_numpy()
    )
    codes = code[: frames[0].height], code[frames[0].height :]
    shapes = [size.to_numpy().astype(np.uint64) for size in sizes]
    durations = [frame["duration_ns"].to_numpy() for frame in frames]
    rows = [_rows_by_key(of) for of in keys]
    found_a, found_b = [], []
    for key in rows[0].keys() & rows[1].keys():
        mine, other = (np.array(of[key], dtype=np.int64) for of in rows)
        at_a, at_b = align_sequences(
            *(
                Items(codes[side][at], shapes[side][at], durations[side][at])
                for side, at in enumerate((mine, other))
            )
        )
        found_a.append(mine[at_a])
        found_b.append(other[at_b])
    empty = np.empty(0, dtype=np.int64)
    a, b = np.concatenate([empty, *found_a]), np.concatenate([empty, *found_b])
    order = np.argsort(a, kind="stable")
    return Matched(
        a[order],
        b[order],
        np.setdiff1d(np.arange(frames[0].height), a),
        np.setdiff1d(np.arange(frames[1].height), b),
    )


def _rows_by_key(keys: Sequence[Key]) -> dict[Key, list[int]]:
    out: dict[Key, list[int]] = {}
    for row, key in enumerate(keys):
        out.setdefault(key, []).append(row)
    return out
