"""The Flight Recorder entries of a rank, and which call of its traces each of them is (matching.md §11).

In:  the rank's dumps, its communication calls and the host ops these are. Out: the calls with what the
recorder says of them, then the entries that no trace shows, as calls of their own.
Decided here, in order of trust: the sequence number within the group; the time of creation, which lies
inside exactly one c10d op of that kind; the order of kinds, counted from the end. Where time and order
disagree no entry is joined: two calls made one would be worse than one call told twice.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

import polars as pl

from graphstore.model.collectives import P2P_KINDS
from graphstore.model.records import FileRecords, empty, frame, table_schema

TABLE = "flight_entries"
BY_NUMBER, BY_TIME, BY_ORDER, BY_BOTH = "collective_seq_id", "time", "order", "time and order"
# What a dump knows best, and what it only adds where the trace is silent.
RECORDED = (
    *("record_id", "op_id", "p2p_seq_id", "pg_id", "state", "retired", "started_ns", "completed_ns"),
    *("timeout_ms", "site", "in_sizes", "out_sizes", "in_dtypes", "out_dtypes"),
)
ADDED = ("collective_seq_id", "pg_name", "pg_desc", "dtype", "in_msg_nelems", "out_msg_nelems")


@dataclass
class Joined:
    """Calls and entries as one table of calls; `rows` {entry: (call, by what)}, `disagreeing` entries."""

    calls: pl.DataFrame
    rows: dict[int, tuple[int, str]] = field(default_factory=dict)
    disagreeing: int = 0


@dataclass(frozen=True)
class _Op:
    """The c10d op of a call: its row in the table of calls, its kind and its span; times may be unknown."""

    row: int
    kind: str
    start: int | None
    end: int | None


def read_entries(files: Sequence[FileRecords]) -> pl.DataFrame:
    """Return the entries of a rank's dumps in order of recording, each record of a process once.

    A process that was dumped twice has records of equal number and time: the further state is kept.
    `trace_file` is the place of the dump in `files`.
    """
    found = [
        record.tables[TABLE].with_columns(pl.lit(place, dtype=pl.Int64).alias("trace_file"))
        for place, record in enumerate(files)
        if record.facts["kind"] == "flight_recorder" and TABLE in record.tables
    ]
    if not found:
        return empty(TABLE)
    entries = pl.concat(found)
    if len(found) > 1:
        progress = (pl.col("state") == "completed").cast(pl.Int8) * 2 + pl.col("retired").fill_null(False)
        entries = (
            entries.sort(progress.fill_null(0), descending=True, maintain_order=True)
            .unique(["record_id", "start_ns"], keep="first", maintain_order=True)
            .sort("record_id", "order")
        )
    return entries.sort("record_id", "order", nulls_last=True)


def join_entries(calls: pl.DataFrame, entries: pl.DataFrame, host: pl.DataFrame) -> Joined:
    """Return the calls of a rank with its entries: joined where it is proven, else as rows of their own.

    `calls` is a table comm_calls whose host_n are rows of `host`.
    """
    if entries.is_empty():
        return Joined(calls)
    rows, disagreeing = _match(calls, entries, host)
    alone = entries.filter(~pl.Series([place in rows for place in range(entries.height)], dtype=pl.Boolean))
    schema = table_schema("comm_calls")
    new = frame("comm_calls", {name: alone[name] for name in schema if name in alone.columns})
    return Joined(pl.concat([_told(calls, entries, rows), new]), rows, disagreeing)


def _told(calls: pl.DataFrame, entries: pl.DataFrame, rows: dict[int, tuple[int, str]]) -> pl.DataFrame:
    """Return the calls with what their entries say."""
    if not rows:
        return calls
    said = entries[list(rows)].select(*RECORDED, *ADDED)
    by_call = said.with_columns(
        pl.Series("row", [call for call, _ in rows.values()], dtype=pl.UInt32),
        pl.Series("by", [by for _, by in rows.values()], dtype=pl.String),
    )
    joined = calls.with_row_index("row").join(
        by_call, on="row", how="left", suffix="_said", maintain_order="left"
    )
    return joined.with_columns(
        *(pl.col(f"{name}_said").alias(name) for name in RECORDED),
        *(pl.coalesce(name, f"{name}_said").alias(name) for name in ADDED),
        pl.col("by").alias("joined_by"),
    ).select(calls.columns)


def _match(
    calls: pl.DataFrame, entries: pl.DataFrame, host: pl.DataFrame
) -> tuple[dict[int, tuple[int, str]], int]:
    """Return {entry: (call, by what)} and how many entries time and order join differently."""
    found = _by_number(calls, entries)
    if found:
        return {entry: (call, BY_NUMBER) for entry, call in found.items()}, 0
    ops = _ops(calls, host)
    by_time = _by_time(ops, entries)
    by_order = _by_order(ops, entries)
    if not by_time:
        has_times = any(op.start is not None for op in ops) and entries["start_ns"].count() > 0
        return {} if has_times else {e: (call, BY_ORDER) for e, call in by_order.items()}, 0
    rows: dict[int, tuple[int, str]] = {}
    for entry, call in by_time.items():
        other = by_order.get(entry)
        if other is None or other == call:
            rows[entry] = call, BY_TIME if other is None else BY_BOTH
    return rows, len(by_time) - len(rows)


def _by_number(calls: pl.DataFrame, entries: pl.DataFrame) -> dict[int, int]:
    """Join collectives by group name and sequence number, each pair of which stands once on both sides."""
    key = ["pg_name", "collective_seq_id"]
    is_coll = ~pl.col("is_p2p").fill_null(False)
    theirs = calls.with_row_index("call").filter(is_coll).drop_nulls(key).unique(key, keep="none")
    ours = (
        entries.with_row_index("entry")
        .filter(is_coll & ~pl.col("is_coalesced").fill_null(False))
        .drop_nulls(key)
        .unique(key, keep="none")
    )
    pairs = ours.join(theirs.select(*key, "call"), on=key, how="inner").sort("entry")
    return dict(pairs.select("entry", "call").iter_rows())


def _ops(calls: pl.DataFrame, host: pl.DataFrame) -> list[_Op]:
    """Return the c10d op of each call that has one, in order of start, else of the file."""
    known = calls.with_row_index("row").drop_nulls(["host_n", "collective_kind"])
    at = known["host_n"]
    spans = host.select("start_ns", "duration_ns")[at]
    order = host["order"][at]
    rows = zip(known["row"], known["collective_kind"], *spans.get_columns(), order, strict=True)
    found = sorted(rows, key=lambda row: (row[2] is None, row[2] or 0, row[4]))
    return [
        _Op(row, kind, start, None if start is None else start + (duration or 0))
        for row, kind, start, duration, _ in found
    ]


def _by_time(ops: Sequence[_Op], entries: pl.DataFrame) -> dict[int, int]:
    """Join an entry to the op of its kind during which it was made, where there is exactly one.

    Ops of several threads may overlap, so more than the last one begun before it is looked at; an op that is
    wanted by two entries takes neither.
    """
    by_kind: dict[str, list[_Op]] = {}
    for op in ops:
        if op.start is not None:
            by_kind.setdefault(op.kind, []).append(op)
    longest = {kind: max((op.end or 0) - (op.start or 0) for op in own) for kind, own in by_kind.items()}
    starts = {kind: [op.start or 0 for op in own] for kind, own in by_kind.items()}
    wanted: dict[int, list[int]] = {}
    for entry, (kind, made) in enumerate(entries.select("collective_kind", "start_ns").iter_rows()):
        if made is None or kind not in by_kind:
            continue
        first = bisect_right(starts[kind], made - longest[kind] - 1)
        after = bisect_right(starts[kind], made)
        around = [op.row for op in by_kind[kind][first:after] if (op.end or 0) >= made]
        if len(around) == 1:
            wanted.setdefault(around[0], []).append(entry)
    pairs = {those[0]: call for call, those in wanted.items() if len(those) == 1}
    return dict(sorted(pairs.items()))


def _by_order(ops: Sequence[_Op], entries: pl.DataFrame) -> dict[int, int]:
    """Join entries and ops from the end of both, if the kinds are the same all the way.

    What gloo sends and receives is not recorded. Entries made after the last op of a trace with times are
    set aside: the job went on when the trace had ended.
    """
    is_gloo = entries["name"].str.starts_with("gloo:").any()
    ops = [op for op in ops if not (is_gloo and op.kind in P2P_KINDS)]
    ends = [op.end for op in ops if op.end is not None]
    kept = [
        (entry, kind)
        for entry, (kind, made, closes) in enumerate(
            entries.select("collective_kind", "start_ns", "is_coalesced").iter_rows()
        )
        if not closes and not (ends and made is not None and made > max(ends))
    ]
    size = min(len(ops), len(kept))
    pairs = list(zip(kept[len(kept) - size :], ops[len(ops) - size :], strict=True))
    if any(kind != op.kind for (_, kind), op in pairs):
        return {}
    return {entry: op.row for (entry, _), op in pairs}
