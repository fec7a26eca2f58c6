"""Arrows between ranks: along the calls of one collective, as they came; from a send to its recv.

In:  the communication calls of each rank and where their spans lie, rank after rank. Out: the arrows' ends.
Decided here: the span that stands for a call (its first kernel, else the backend worker's op, else the host
op, as in a Chakra file, else the call's own), and that times are as recorded: where clocks differ an arrow
shows it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import orjson
import polars as pl

from graphstore.export.order import NONE
from graphstore.export.timeline_columns import TimelineColumns
from graphstore.export.timeline_events import arrow_end

BEST_FIRST = {"kernel": 0, "worker": 1, "host_op": 2}


@dataclass(frozen=True)
class Between:
    """Arrows between ranks, and how many there are."""

    texts: Iterator[bytes]
    arrows: int


class Meetings:
    """Where the calls of all ranks so far lie: columns, a row a call."""

    def __init__(self) -> None:
        """Start without a rank."""
        self._calls: list[pl.DataFrame] = []
        self._peers: list[pl.DataFrame] = []

    def add(self, columns: TimelineColumns, spans: pl.DataFrame) -> None:
        """Add the calls of a rank that have a span."""
        own = columns.comm.select(call_uid="uid", op_uid="uid", best=pl.lit(len(BEST_FIRST), pl.Int64))
        best = pl.col("role").replace_strict(BEST_FIRST, default=len(BEST_FIRST), return_dtype=pl.Int64)
        seen = columns.comm_ops.select("call_uid", "op_uid", best=best)
        shown = (
            pl.concat([seen, own])
            .join(spans.select("uid", "pid", "tid", "start", "end"), left_on="op_uid", right_on="uid")
            .sort("call_uid", "best", "start", "op_uid")
            .unique("call_uid", keep="first", maintain_order=True)
        )
        kept = columns.comm.select(call_uid="uid", collective="collective").join(
            shown, on="call_uid", how="left"
        )
        self._calls.append(kept.select("call_uid", "collective", "pid", "tid", "start", "end"))
        self._peers.append(columns.peers)

    def arrows(self, first_id: int, notes: Counter[str]) -> Between:
        """Return the arrows of all ranks; what can't be drawn is counted in `notes`."""
        if not self._calls:
            return Between(iter(()), 0)
        calls = pl.concat(self._calls)
        meetings = _meetings(calls, notes)
        peers = _peers(calls, pl.concat(self._peers), notes)
        together = meetings["collective"].n_unique()
        return Between(_texts(meetings, peers, first_id), together + peers.height)


def _meetings(calls: pl.DataFrame, notes: Counter[str]) -> pl.DataFrame:
    """Return the calls of collectives that several calls with a span are part of, as they came."""
    named = calls.filter(pl.col("collective") != NONE)
    shown = named.drop_nulls("start")
    notes["call of a collective without a span, without an arrow"] += named.height - shown.height
    several = shown.filter(pl.len().over("collective") > 1)
    return several.sort("collective", "start", "call_uid")


def _peers(calls: pl.DataFrame, pairs: pl.DataFrame, notes: Counter[str]) -> pl.DataFrame:
    """Return the pairs of send and recv of which an arrow can be drawn."""
    shown = calls.drop_nulls("start").drop("collective")
    joined = pairs.join(shown, left_on="source", right_on="call_uid").join(
        shown, left_on="target", right_on="call_uid", suffix="_to"
    )
    notes["send or recv without a span, without an arrow"] += pairs.height - joined.height
    forward = joined.filter(pl.col("end_to") >= pl.col("start")).sort("source", "target")
    notes["arrow that would lead back in time"] += joined.height - forward.height
    return forward


def _texts(meetings: pl.DataFrame, peers: pl.DataFrame, first_id: int) -> Iterator[bytes]:
    number, before = first_id - 1, None
    rows = meetings.with_columns(last=pl.col("collective") != pl.col("collective").shift(-1)).select(
        "collective", "pid", "tid", "start", pl.col("last").fill_null(True)
    )
    for collective, pid, tid, start, last in rows.iter_rows():
        begins = collective != before
        number, before = number + begins, collective
        phase = "s" if begins else "f" if last else "t"
        yield orjson.dumps(arrow_end(phase, "collective", number, pid, tid, start))
    for row in peers.iter_rows(named=True):
        number += 1
        yield orjson.dumps(arrow_end("s", "peer", number, row["pid"], row["tid"], row["start"]))
        at = max(row["start"], row["start_to"])
        yield orjson.dumps(arrow_end("f", "peer", number, row["pid_to"], row["tid_to"], at))
