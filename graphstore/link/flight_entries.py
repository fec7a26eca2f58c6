"""The Flight Recorder entries of a rank, and which call of its traces each of them is (matching.md §11).

In:  the rank's dumps, its communication calls and the host ops these are. Out: the calls with what the
recorder says of them, then the entries that no trace shows, as calls of their own.
Decided here, in order of trust: the sequence number within the group; the time of creation, which lies
inside exactly one c10d op of that kind; the order of kinds, counted from the end, or without times where it
fits a whole recording at one place only. Kinds always agree. Where time and order disagree no entry is
joined: two calls made one would be worse than one call told twice.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

import polars as pl

from graphstore.link.dtypes import element_size
from graphstore.model.collectives import P2P_KINDS
from graphstore.model.records import FileRecords, empty, frame, table_schema

TABLE = "flight_entries"
BY_NUMBER, BY_TIME, BY_ORDER, BY_BOTH = "collective_seq_id", "time", "order", "time and order"
# What a dump knows best, and what it only adds where the trace is silent.
RECORDED = (
    *("record_id", "op_id", "p2p_seq_id", "pg_id", "state", "retired", "started_ns", "completed_ns"),
    *("timeout_ms", "site", "in_sizes", "out_sizes", "in_dtypes", "out_dtypes"),
)
ADDED = ("start_ns", "collective_seq_id", "peer", "dtype", "in_msg_nelems", "out_msg_nelems", "size_bytes")
NAMES = ("pg_name", "pg_desc")  # as a pair, the dump's if it has one: matching knows its groups by that
STATES = ("scheduled", "started", "completed")


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

    A process that was dumped twice has records of equal number and time: the further state is kept, and what
    only one of them says (JSON has no frames). `trace_file` is the place of the dump in `files`. The number
    of a send or recv is null: NCCL writes that of the last collective before it there.
    """
    dumps = sorted((record.path, place) for place, record in enumerate(files) if _is_dump(record))
    found = [
        files[place].tables[TABLE].with_columns(pl.lit(place, dtype=pl.Int64).alias("trace_file"))
        for _, place in dumps
    ]
    if not found:
        return empty(TABLE)
    entries = pl.concat(found) if len(found) == 1 else _of_one_process(pl.concat(found))
    if not entries["record_id"].null_count():
        entries = entries.sort("record_id", "order")
    is_p2p = pl.col("is_p2p").fill_null(False)
    return entries.with_columns(
        pl.when(~is_p2p).then("collective_seq_id").alias("collective_seq_id"),
        (pl.col("in_msg_nelems") * _element_sizes(entries)).alias("size_bytes"),
    )


def _element_sizes(entries: pl.DataFrame) -> pl.Series:
    """Return the bytes of an input's element; null where not known, or where inputs are of several types."""
    sizes = {name: element_size(name) for name in entries["dtype"].unique().to_list()}
    known = pl.col("dtype").replace_strict(sizes, default=None, return_dtype=pl.Int64)
    return entries.select(pl.when(pl.col("in_dtypes").list.n_unique() == 1).then(known)).to_series()


def _is_dump(record: FileRecords) -> bool:
    return record.facts["kind"] == "flight_recorder" and TABLE in record.tables


def _of_one_process(entries: pl.DataFrame) -> pl.DataFrame:
    """Return the entries of several dumps, those of one record joined; one without a number stays alone."""
    progress = pl.col("state").replace_strict(
        {state: place for place, state in enumerate(STATES, 1)}, default=0, return_dtype=pl.Int64
    )
    further = pl.struct(pl.col("retired").fill_null(False), progress)
    numbered = (
        entries.drop_nulls("record_id")
        .sort(further, descending=True, maintain_order=True)
        .group_by("record_id", "start_ns", maintain_order=True)
        .agg(pl.all().drop_nulls().first())
    )
    return pl.concat([numbered.select(entries.columns), entries.filter(pl.col("record_id").is_null())])


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
    said = entries[list(rows)].select(*RECORDED, *ADDED, *NAMES)
    by_call = said.with_columns(
        pl.Series("row", [call for call, _ in rows.values()], dtype=pl.UInt32),
        pl.Series("by", [by for _, by in rows.values()], dtype=pl.String),
    )
    joined = calls.with_row_index("row").join(
        by_call, on="row", how="left", suffix="_said", maintain_order="left"
    )
    is_named = pl.col("pg_name_said").is_not_null()
    return joined.with_columns(
        *(pl.when(is_named).then(f"{name}_said").otherwise(name).alias(name) for name in NAMES),
        *(pl.col(f"{name}_said").alias(name) for name in RECORDED),
        *(pl.coalesce(name, f"{name}_said").alias(name) for name in ADDED),
        pl.col("by").alias("joined_by"),
    ).select(calls.columns)


def _match(
    calls: pl.DataFrame, entries: pl.DataFrame, host: pl.DataFrame
) -> tuple[dict[int, tuple[int, str]], int]:
    """Return {entry: (call, by what)} and how many entries time and order join differently."""
    found = {entry: (call, BY_NUMBER) for entry, call in _by_number(calls, entries).items()}
    ops = _ops(calls, host)
    if found:  # sends and recvs have no number that the trace knows, too
        transfers = _by_time([op for op in ops if op.kind in P2P_KINDS], entries)
        return found | {entry: (call, BY_TIME) for entry, call in transfers.items()}, 0
    by_time = _by_time(ops, entries)
    by_order = _by_order(ops, entries)
    if not _have_times(ops, entries):
        return {entry: (call, BY_ORDER) for entry, call in by_order.items()}, 0
    rows: dict[int, tuple[int, str]] = {}
    for entry, call in by_time.items():
        other = by_order.get(entry)
        if other is None or other == call:
            rows[entry] = call, BY_TIME if other is None else BY_BOTH
    return rows, len(by_time) - len(rows)


def _by_number(calls: pl.DataFrame, entries: pl.DataFrame) -> dict[int, int]:
    """Join collectives by group name and sequence number, each pair of which stands once on both sides.

    A dump without descriptions is older than 2.0: its names are numbers of its own process.
    """
    key = ["pg_name", "collective_seq_id"]
    is_coll = ~pl.col("is_p2p").fill_null(False)
    theirs = calls.with_row_index("call").filter(is_coll).drop_nulls(key).unique(key, keep="none")
    ours = (
        entries.with_row_index("entry")
        .filter(is_coll & ~pl.col("is_coalesced").fill_null(False))
        .drop_nulls([*key, "pg_desc"])
        .unique(key, keep="none")
    )
    pairs = (
        ours.join(theirs.select(*key, "call", pl.col("collective_kind").alias("theirs")), on=key, how="inner")
        .filter(pl.col("collective_kind") == pl.col("theirs"))
        .sort("entry")
    )
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


def _have_times(ops: Sequence[_Op], entries: pl.DataFrame) -> bool:
    return any(op.start is not None for op in ops) and entries["start_ns"].count() > 0


def _by_order(ops: Sequence[_Op], entries: pl.DataFrame) -> dict[int, int]:
    """Join entries and ops by the order of their kinds, if these are the same all the way.

    What gloo sends and receives is not recorded. With times both are counted from the end, entries made after
    the last op set aside: the job went on when the trace had ended. Without, nobody knows when that was: the
    dump has to hold all records of its process, and the kinds to fit at one place only.
    """
    is_gloo = entries["name"].str.starts_with("gloo:").any()
    ops = [op for op in ops if not (is_gloo and op.kind in P2P_KINDS)]
    has_times = _have_times(ops, entries)
    if has_times:
        ops = [op for op in ops if op.start is not None]
    last = max((op.end for op in ops if op.end is not None), default=0)
    kept = [
        (entry, kind)
        for entry, (kind, made, closes) in enumerate(
            entries.select("collective_kind", "start_ns", "is_coalesced").iter_rows()
        )
        if not closes and not (has_times and made is not None and made > last)
    ]
    if not has_times:
        first = _only_place([kind for _, kind in kept], [op.kind for op in ops])
        if first is None or not _is_whole(entries):
            return {}
        kept = kept[first : first + len(ops)]
    size = min(len(ops), len(kept))
    pairs = list(zip(kept[len(kept) - size :], ops[len(ops) - size :], strict=True))
    if any(kind != op.kind for (_, kind), op in pairs):
        return {}
    return {entry: op.row for (entry, _), op in pairs}


def _is_whole(entries: pl.DataFrame) -> bool:
    """Return whether the dump holds every record of its process: from 0, without a gap."""
    return entries["record_id"].to_list() == list(range(entries.height))


def _only_place(kinds: Sequence[str | None], part: Sequence[str]) -> int | None:
    """Return where `part` stands in `kinds`; None if nowhere, or at several places."""
    letter = {kind: chr(place) for place, kind in enumerate(dict.fromkeys([*kinds, *part]))}
    whole, sought = ("".join(letter[kind] for kind in some) for some in (kinds, part))
    first = whole.find(sought)
    return first if first >= 0 and whole.find(sought, first + 1) < 0 else None
