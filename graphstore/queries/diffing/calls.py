"""Communication calls of a rank: what is compared of them, and what their waits explain elsewhere.

In:  the calls of one rank in two runs, matched. Out: records, and the waits that changed.
Decided here: a call's own time is its transfer: its duration less its wait for the last member. A wait is
always the effect of something else, so it is told as a figure and explains what waited with it, but is no
change of its own. Starts of several ranks are compared for waits, so a transfer counts as changed only as far
as the duration measured on this rank's clock alone changed in the same direction.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from graphstore.link.forest import PATH_SEPARATOR
from graphstore.link.nesting import Bools, Ints, at
from graphstore.queries.diffing.columns import NONE, RankColumns
from graphstore.queries.diffing.launched import Matched
from graphstore.queries.diffing.records import COLLECTIVE, occurrence, records
from graphstore.queries.diffing.trees import Tree


@dataclass(frozen=True)
class CallSide:
    """The calls of one run of a rank, by row of its frame.

    `op`: row of the host op that is the call, -1 for none; `path`: of it and the device op, else the group;
    `wait`: -1 where it is not known, or longer than the call, which may end before the last member comes (the
    root of a broadcast) or has a clock of its own.
    """

    frame: pl.DataFrame
    op: Ints
    path: list[str]
    step: Ints
    duration: Ints
    wait: Ints

    @property
    def transfer(self) -> Ints:
        """Return the time of each call without its wait."""
        transfer: Ints = self.duration - np.maximum(self.wait, 0)
        return transfer

    @property
    def end(self) -> Ints:
        """Return the end of each call on the rank's own clock."""
        end: Ints = self.frame["start_ns"].to_numpy() + self.duration
        return end


def call_side(columns: RankColumns, tree: Tree, texts: list[str]) -> CallSide:
    """Return the calls of a rank with the ops they were seen as."""
    calls = columns.calls
    first = columns.seen.unique(["role", "call_uid"], keep="first", maintain_order=True)
    as_op = first.filter(pl.col("role") == "host_op").select(uid="call_uid", op_uid="op_uid")
    as_kernel = (
        first.filter(pl.col("role") == "kernel")
        .join(columns.kernels.select("uid", "name"), left_on="op_uid", right_on="uid")
        .select(uid="call_uid", kernel="name")
    )
    known = calls.join(as_op, on="uid", how="left", maintain_order="left").join(
        as_kernel, on="uid", how="left", maintain_order="left"
    )
    op = tree.rows_of(known["op_uid"].fill_null(NONE))
    path = [
        PATH_SEPARATOR.join(part for part in (texts[tree.path[row]] if row >= 0 else group, kernel) if part)
        for row, group, kernel in zip(
            op.tolist(), known["group"].to_list(), known["kernel"].to_list(), strict=True
        )
    ]
    duration, wait = np.maximum(calls["duration_ns"].to_numpy(), 0), calls["wait_ns"].to_numpy()
    return CallSide(
        frame=calls,
        op=op,
        path=path,
        step=at(tree.step, op),
        duration=duration,
        wait=np.where((wait != NONE) & (wait <= duration), wait, NONE),
    )


def call_records(rank: int, a: CallSide, b: CallSide, matched: Matched) -> pl.DataFrame:
    """Return a record for each call that has a time in both runs."""
    timed = (a.frame["duration_ns"].to_numpy()[matched.a] != NONE) & (
        b.frame["duration_ns"].to_numpy()[matched.b] != NONE
    )
    at_a, at_b = matched.a[timed], matched.b[timed]
    longer = b.duration[at_b] - a.duration[at_a]
    split = (a.wait[at_a] != NONE) & (b.wait[at_b] != NONE)
    own_a, own_b = (
        np.where(split, side.transfer[rows], side.duration[rows]) for side, rows in ((a, at_a), (b, at_b))
    )
    transfer = own_b - own_a
    agreed = np.where(longer * np.sign(transfer) > 0, np.minimum(np.abs(longer), np.abs(transfer)), 0)
    place_a, place_b = places(a)[at_a], places(b)[at_b]
    return records(
        COLLECTIVE,
        rank,
        path=[a.path[row] for row in at_a.tolist()],
        name=a.frame["name"][at_a],
        place_a=place_a,
        place_b=place_b,
        step_a=a.step[at_a],
        step_b=b.step[at_b],
        total_a_ns=a.duration[at_a],
        total_b_ns=b.duration[at_b],
        own_a_ns=own_a,
        own_b_ns=own_b,
        unexplained_ns=agreed * np.sign(transfer),
        uid_a=a.frame["uid"][at_a],
        uid_b=b.frame["uid"][at_b],
    )


def places(side: CallSide) -> Ints:
    """Return which call of its path within its step each call is."""
    codes = pl.Series(side.path, dtype=pl.String).rank("dense").cast(pl.Int64).to_numpy()
    return occurrence(side.step, codes)


@dataclass(frozen=True)
class WaitChanges:
    """Calls of a rank that wait longer or shorter: by how much, and when they end in either run."""

    change: Ints
    end_a: Ints
    end_b: Ints


def wait_changes(a: CallSide, b: CallSide, matched: Matched) -> WaitChanges:
    """Return the calls whose waits differ; their ends are when whoever waited for them went on."""
    wait_a, wait_b = a.wait[matched.a], b.wait[matched.b]
    change = np.where((wait_a != NONE) & (wait_b != NONE), wait_b - wait_a, 0)
    rows = np.flatnonzero(change)
    return WaitChanges(change[rows], a.end[matched.a[rows]], b.end[matched.b[rows]])


def seen_ops(columns: RankColumns, tree: Tree) -> Bools:
    """Return the host ops that last exactly as long as a call does: their time is the call's."""
    out = np.zeros(tree.uid.size, dtype=np.bool_)
    calls = columns.calls.select("uid", call_start="start_ns", call_duration="duration_ns")
    pairs = columns.seen.filter(pl.col("role") != "kernel").join(calls, left_on="call_uid", right_on="uid")
    rows = tree.rows_of(pairs["op_uid"])
    same = (
        (rows >= 0) & (tree.duration[rows] == pairs["call_duration"].to_numpy()) if rows.size else rows >= 0
    )
    out[rows[same]] = True
    return out
