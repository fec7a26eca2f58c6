"""What a timeline of one rank is made of: everything with a start and an end, and the edges drawn as arrows.

In:  a store, a run, a rank. Out: the columns as the statements give them, and one frame of all spans.
Decided here: on which kind of track a span lies: a CPU thread, a GPU stream, the waits of a stream, or, for a
call that only a dump shows, its process group.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from graphstore.export.columns import read_edges
from graphstore.export.order import NONE
from graphstore.queries.columns import RankKeys, read_lists, read_pages
from graphstore.queries.run import run_query
from graphstore.store.base import Store

CPU, GPU, DUMP = range(3)  # what a process of the timeline stands for
THREAD, OTHER = range(2)  # a thread or stream, or beside it: the ET's thread numbers, the waits of a stream
ThreadNames = dict[int, dict[tuple[int, int, int], str]]
FRAMES = ("host", "calls", "kernels", "syncs", "comm")  # `kind` of a span is its place among these


@dataclass(frozen=True)
class SpanColumns:
    """What of one rank has a start and an end, each frame ascending by uid; -1 and '' stand for null."""

    rank: int
    host: pl.DataFrame  # time/show_host_op_spans
    calls: pl.DataFrame  # time/show_runtime_call_spans
    kernels: pl.DataFrame  # time/show_kernel_spans
    syncs: pl.DataFrame  # time/show_sync_event_spans
    comm: pl.DataFrame  # communication/show_call_spans, and what show_call_columns says beside
    comm_ops: pl.DataFrame  # communication/show_call_ops


@dataclass(frozen=True)
class TimelineColumns(SpanColumns):
    """One rank with what is drawn as arrows."""

    edges: pl.DataFrame
    peers: pl.DataFrame  # communication/show_peer_columns


def read_timeline(store: Store, run: str, keys: RankKeys) -> TimelineColumns:
    """Return the columns of a rank."""
    peers = read_lists(store, run, "communication/show_peer_columns", rank=keys.rank)
    return TimelineColumns(
        **vars(read_spans(store, run, keys)),
        edges=read_edges(store, run, keys),
        peers=peers.sort("source", "target"),
    )


def read_spans(store: Store, run: str, keys: RankKeys) -> SpanColumns:
    """Return what of a rank has a start and an end."""

    def pages(name: str, kind: str) -> pl.DataFrame:
        return read_pages(store, run, f"time/{name}", keys, kind).sort("uid")

    def calls(name: str) -> pl.DataFrame:
        return read_lists(store, run, f"communication/{name}", rank=keys.rank)

    spans, told = calls("show_call_spans"), calls("show_call_columns")
    beside = [name for name in told.columns if name == "uid" or name not in spans.columns]
    return SpanColumns(
        rank=keys.rank,
        host=pages("show_host_op_spans", "HostOp"),
        calls=pages("show_runtime_call_spans", "RuntimeCall"),
        kernels=pages("show_kernel_spans", "Kernel"),
        syncs=pages("show_sync_event_spans", "SyncEvent"),
        comm=spans.join(told.select(beside), on="uid", how="left").sort("uid"),
        comm_ops=calls("show_call_ops"),
    )


def thread_names(store: Store, run: str) -> ThreadNames:
    """Return the names of each rank's threads, by process, part and number of their tracks."""
    out: ThreadNames = {}
    rows = run_query(store, run, "structure/show_thread_names").fill_null(NONE)
    for rank, process, thread, tid, name in rows.iter_rows():
        key = (process, OTHER, tid) if thread == NONE else (process, THREAD, thread)
        out.setdefault(rank, {})[key] = name
    return out


def unseen_calls(columns: SpanColumns) -> pl.DataFrame:
    """Return the communication calls that no op of a trace shows, with their row in `comm`."""
    rows = columns.comm.with_row_index("row").with_columns(pl.col("row").cast(pl.Int64))
    return rows.join(columns.comm_ops, left_on="uid", right_on="call_uid", how="anti").sort("uid")


def groups_of_unseen(columns: SpanColumns) -> list[str]:
    """Return the group keys of the calls that only a dump shows, ascending: each has a track."""
    return sorted(unseen_calls(columns)["group"].unique().to_list())


def spans_of(columns: SpanColumns) -> pl.DataFrame:
    """Return every span: uid, kind and row (of its frame), start and end, and whose track it is on.

    `created` and `entered` tell the outer one of two spans with the same times.
    """
    groups = groups_of_unseen(columns)
    number = pl.col("group").replace_strict(groups, range(len(groups)), default=NONE, return_dtype=pl.Int64)
    by_tid = pl.col("thread") == NONE
    parts = [
        _part(
            columns.host,
            0,
            family=pl.lit(CPU),
            owner=pl.col("process"),
            part=pl.when(by_tid).then(OTHER).otherwise(THREAD),
            number=pl.when(by_tid).then("tid").otherwise("thread"),
            created=pl.col("external_id"),
            entered=pl.col("node_id"),
        ),
        _part(columns.calls, 1, family=pl.lit(CPU), owner=pl.col("process"), number=pl.col("thread")),
        _part(columns.kernels, 2, family=pl.lit(GPU), owner=pl.col("device"), number=pl.col("stream")),
        _part(
            columns.syncs,
            3,
            family=pl.lit(GPU),
            owner=pl.col("device"),
            part=pl.lit(OTHER),
            number=pl.col("stream"),
        ),
        _part(unseen_calls(columns), 4, family=pl.lit(DUMP), number=number),
    ]
    return pl.concat(parts)


def _part(frame: pl.DataFrame, kind: int, **given: pl.Expr) -> pl.DataFrame:
    """Return the spans of one frame; what is not given is 0."""
    names = ("family", "owner", "part", "number", "created", "entered")
    rows = frame if "row" in frame.columns else frame.with_row_index("row")
    return rows.filter(pl.col("duration_ns") != NONE).select(
        pl.col("uid"),
        pl.lit(kind, dtype=pl.Int64).alias("kind"),
        pl.col("row").cast(pl.Int64),
        start=pl.col("start_ns"),
        end=pl.col("start_ns") + pl.col("duration_ns"),
        **{name: given.get(name, pl.lit(0)).cast(pl.Int64) for name in names},
    )
