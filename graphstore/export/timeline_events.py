"""Events of a timeline: spans, the arrows that begin and end at them, findings, names, as Chrome trace JSON.

In:  the columns of one rank and where its spans lie. Out: the JSON of an event each, and what was left out.
Decided here: which arguments an event has (those of Kineto under Kineto's names, so that readers of such
traces, ours too, take the file; `node` is the number of the op within the run), and that an arrow's ends
stand right behind their spans, which is how viewers bind them to the right one of several that begin at once.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

import orjson
import polars as pl

from graphstore.export.json_text import microseconds
from graphstore.export.order import NONE
from graphstore.export.timeline_columns import FRAMES, TimelineColumns
from graphstore.export.timeline_tracks import Layout, Track
from graphstore.model.ids import UID_SHIFT

NUMBER = (1 << UID_SHIFT) - 1
HOST_ARGS = {
    "external_id": "External id",
    "rf_id": "Record function id",
    "autograd_seq_id": "Sequence number",
    "node_id": "et_id",
    "tid": "et_tid",
}
CALL_ARGS = {"correlation": "correlation"}
KERNEL_ARGS = {
    "external_id": "External id",
    "device": "device",
    "context": "context",
    "stream": "stream",
    "correlation": "correlation",
    "size_bytes": "bytes",
    "node_id": "et_id",
}
SYNC_ARGS = {
    "sync_kind": "cuda_sync_kind",
    "device": "device",
    "correlation": "correlation",
    "wait_on_stream": "wait_on_stream",
    "wait_on_event_id": "wait_on_cuda_event_id",
    "wait_on_record_correlation": "wait_on_cuda_event_record_corr_id",
}
COMM_ARGS = {
    "collective_kind": "collective_kind",
    "group": "group",
    "collective_seq_id": "collective_seq_id",
    "state": "state",
}
RECORDED_ARGS = {  # what Kineto writes on a call and its kernels
    "op_name": "Collective name",
    "dtype": "dtype",
    "in_msg_nelems": "In msg nelems",
    "out_msg_nelems": "Out msg nelems",
    "pg_name": "Process Group Name",
}
ARGS = dict(zip(FRAMES, (HOST_ARGS, CALL_ARGS, KERNEL_ARGS, SYNC_ARGS, COMM_ARGS), strict=True))
CATEGORY = dict(zip(FRAMES, ("cpu_op", "cuda_runtime", "kernel", "cuda_sync", "communication"), strict=True))
COPY_CATEGORY = {"memcpy": "gpu_memcpy", "memset": "gpu_memset"}
SPANS_AT_ONCE = 20_000

Event = dict[str, Any]
Ends = dict[int, list[Event]]  # ends of arrows by uid of their span


def names(layout: Layout) -> Iterator[bytes]:
    """Yield the metadata that names processes and tracks, in the order they are to be shown."""
    for pid, name in layout.processes.items():
        yield _meta("process_name", pid, 0, name=name)
        yield _meta("process_sort_index", pid, 0, sort_index=pid)
    for place, track in enumerate([*layout.tracks, layout.marks]):
        yield _meta("thread_name", track.pid, track.tid, name=track.name)
        yield _meta("thread_sort_index", track.pid, track.tid, sort_index=place)


def _meta(kind: str, pid: int, tid: int, **args: Any) -> bytes:
    return orjson.dumps({"ph": "M", "name": kind, "pid": pid, "tid": tid, "args": args})


def spans(columns: TimelineColumns, layout: Layout, ends: Ends) -> Iterator[bytes]:
    """Yield the complete events of a rank, each with the ends of its arrows behind it."""
    calls = _calls_by_op(columns)
    for begin in range(0, layout.spans.height, SPANS_AT_ONCE):
        placed = layout.spans[begin : begin + SPANS_AT_ONCE]
        rows = {
            kind: getattr(columns, frame)[part["row"].to_numpy()].iter_rows(named=True)
            for (kind, frame) in enumerate(FRAMES)
            if (part := placed.filter(pl.col("kind") == kind)).height
        }
        for uid, kind, pid, tid, start, end in placed.select(
            "uid", "kind", "pid", "tid", "start", "end"
        ).iter_rows():
            row = next(rows[kind])
            yield orjson.dumps(
                {
                    "ph": "X",
                    "cat": _category(FRAMES[kind], row),
                    "name": row["name"],
                    "pid": pid,
                    "tid": tid,
                    "ts": microseconds(start),
                    "dur": microseconds(end - start),
                    "args": _args(FRAMES[kind], row, calls.get(uid)),
                }
            )
            for arrow in ends.get(uid, ()):
                yield orjson.dumps(arrow)


def _category(frame: str, row: dict[str, Any]) -> str:
    known = row.get("category") or COPY_CATEGORY.get(row.get("device_kind", ""))
    return known or CATEGORY[frame]


def _args(frame: str, row: dict[str, Any], call: dict[str, Any] | None) -> dict[str, Any]:
    """Return what is known of an op, and of the communication it is seen as."""
    args = {"node": row["uid"] & NUMBER} | _known(row, ARGS[frame])
    if frame == "syncs":
        args["stream"] = row["stream"]  # -1 is Kineto's own word for a whole context
    if call is not None:
        args |= _known(call, COMM_ARGS)
        if frame == "kernels" or row["name"] == "record_param_comms":
            args |= _known(call, RECORDED_ARGS)
    return args


def _known(row: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    return {name: row[column] for column, name in names.items() if row[column] not in (NONE, "")}


def _calls_by_op(columns: TimelineColumns) -> dict[int, dict[str, Any]]:
    """Return the communication call that each op is seen as."""
    calls = {row["uid"]: row for row in columns.comm.iter_rows(named=True)}
    pairs = columns.comm_ops.sort("call_uid", "op_uid").select("op_uid", "call_uid").iter_rows()
    return {op: calls[call] for op, call in pairs}


def arrows(columns: TimelineColumns, layout: Layout, first_id: int, notes: Counter[str]) -> tuple[Ends, int]:
    """Return the ends of the launches and waits within a rank, and how many there are.

    An arrow begins at the start of its source, and ends at the start of its target or, where that came
    before, inside it. One whose target ended before its source began can't be drawn: it is counted.
    """
    placed = layout.spans.select("uid", "pid", "tid", "start", "end")
    found = _drawn_edges(columns)
    joined = found.join(placed, left_on="source", right_on="uid", how="inner").join(
        placed, left_on="target", right_on="uid", how="inner", suffix="_to"
    )
    notes["launch or wait of or for an op without a time, without an arrow"] += found.height - joined.height
    forward = joined.filter(pl.col("end_to") >= pl.col("start")).sort("source", "target", "cat")
    notes["arrow that would lead back in time"] += joined.height - forward.height
    ends: Ends = defaultdict(list)
    for number, row in enumerate(forward.iter_rows(named=True), start=first_id):
        ends[row["source"]].append(arrow_end("s", row["cat"], number, row["pid"], row["tid"], row["start"]))
        at = max(row["start"], row["start_to"])
        ends[row["target"]].append(arrow_end("f", row["cat"], number, row["pid_to"], row["tid_to"], at))
    return ends, forward.height


def arrow_end(phase: str, category: str, number: int, pid: int, tid: int, ns: int) -> Event:
    """Return an end of an arrow: s, t or f. What is not the start binds to the span around it."""
    event = {"ph": phase, "cat": category, "name": category, "id": number, "pid": pid, "tid": tid}
    return event | {"ts": microseconds(ns)} | ({} if phase == "s" else {"bp": "e"})


def _drawn_edges(columns: TimelineColumns) -> pl.DataFrame:
    """Return the edges that become arrows: launches (a merged trace has them as CTRL), and waits."""
    kernels = columns.kernels["uid"].implode()
    of_kernel = (pl.col("edge_type") == "CTRL") & pl.col("target").is_in(kernels)
    kinds = {"LAUNCHES": "ac2g", "CTRL": "ac2g", "SYNC": "sync"}
    return columns.edges.filter(pl.col("edge_type").is_in(["LAUNCHES", "SYNC"]) | of_kernel).select(
        "source", "target", cat=pl.col("edge_type").replace_strict(kinds, return_dtype=pl.String)
    )


def moments(columns: TimelineColumns, layout: Layout) -> tuple[Iterator[bytes], int]:
    """Return instant events for calls of a dump that have a start but no end, and how many there are."""
    rows = columns.comm.join(columns.comm_ops, left_on="uid", right_on="call_uid", how="anti").filter(
        (pl.col("duration_ns") == NONE) & (pl.col("start_ns") != NONE)
    )
    track = layout.marks

    def texts() -> Iterator[bytes]:
        for row in rows.iter_rows(named=True):
            yield instant(
                row["name"],
                "communication",
                track,
                row["start_ns"],
                "t",
                _args("comm", row, None),
            )

    return texts(), rows.height


def instant(name: str, category: str, track: Track, ns: int, scope: str, args: dict[str, Any]) -> bytes:
    """Return an instant event; `scope`: t the track, p the process, g everything."""
    return orjson.dumps(
        {
            "ph": "i",
            "s": scope,
            "cat": category,
            "name": name,
            "pid": track.pid,
            "tid": track.tid,
            "ts": microseconds(ns),
            "args": args,
        }
    )
