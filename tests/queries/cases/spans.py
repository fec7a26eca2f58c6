"""Cases for the statements that give a timeline its spans: parallel lists, with -1 or '' for null."""

from __future__ import annotations

from typing import Any

from tests.queries.cases import Case, case
from tests.queries.cases.communication import call
from tests.queries.cases.export import page
from tests.queries.cases.health import kept
from tests.queries.cases.structure import timed
from tests.queries.graphs import GraphBuilder


@case
def host_ops_as_spans(g: GraphBuilder) -> Case:
    """A page: the keys before and behind it are out."""
    g.op("before")
    told: dict[str, Any] = {"tid": 1, "node_id": 5, "rf_id": 6, "external_id": 7, "autograd_seq_id": 8}
    whole = g.op("aten::add", category="cpu_op", **told, **timed(5, 2))
    bare = g.op("b")
    g.op("behind")
    rows = [
        (whole, "aten::add", 5, 2, 70, 7, 1, 5, 6, 7, 8, "cpu_op"),
        (bare, "b", *[-1] * 9, ""),
    ]
    return Case("time/show_host_op_spans", g.build(), rows, page(whole, bare), parallel=True)


@case
def runtime_calls_as_spans(g: GraphBuilder) -> Case:
    """With the correlation that joins them to device ops."""
    told: dict[str, Any] = {"correlation": 9, "category": "cuda_runtime"}
    whole = g.op("cudaLaunchKernel", label="RuntimeCall", **told, **timed(5, 2))
    bare = g.op("b", label="RuntimeCall")
    g.op("behind", label="RuntimeCall")
    rows = [(whole, "cudaLaunchKernel", 5, 2, 70, 7, 9, "cuda_runtime"), (bare, "b", *[-1] * 5, "")]
    return Case("time/show_runtime_call_spans", g.build(), rows, page(whole, bare), parallel=True)


@case
def kernels_as_spans(g: GraphBuilder) -> Case:
    """All that is known of a copy, and a kernel of which nothing is."""
    told: dict[str, Any] = {"start_ns": 5, "duration_ns": 2, "device": 0, "stream": 7, "context": 1}
    told |= {"correlation": 9, "external_id": 11, "size_bytes": 64, "node_id": 30, "parent_id": 3}
    whole = g.node("Kernel", "copy", device_kind="memcpy", category="gpu_memcpy", **told)
    bare = g.node("Kernel", "k")
    g.node("Kernel", "behind")
    rows = [(whole, "copy", *told.values(), "memcpy", "gpu_memcpy"), (bare, "k", *[-1] * 10, "", "")]
    return Case("time/show_kernel_spans", g.build(), rows, page(whole, bare), parallel=True)


@case
def sync_events_as_spans(g: GraphBuilder) -> Case:
    """A wait of a stream for another, and one of which nothing is known."""
    told: dict[str, Any] = {"start_ns": 5, "duration_ns": 2, "device": 0, "stream": 7, "correlation": 9}
    told |= {"sync_kind": "Stream Wait Event"}
    waits = {"wait_on_stream": 8, "wait_on_event_id": 3, "wait_on_record_correlation": 4}
    whole = g.node("SyncEvent", "Stream Wait Event", **told, **waits)
    bare = g.node("SyncEvent", "s")
    g.node("SyncEvent", "behind")
    rows = [
        (whole, "Stream Wait Event", *told.values(), *waits.values()),
        (bare, "s", *[-1] * 5, "", *[-1] * 3),
    ]
    return Case("time/show_sync_event_spans", g.build(), rows, page(whole, bare), parallel=True)


@case
def calls_as_spans(g: GraphBuilder) -> Case:
    """One of a collective, one of which nothing is known; a channel is no collective."""
    told: dict[str, Any] = {"start_ns": 5, "duration_ns": 2, "group": "0[0-1]", "state": "completed"}
    whole = call(g, collective_seq_id=3, source="et", **told)
    bare = g.node("CollectiveCall", "unknown")
    call(g, rank=1)
    together = g.node("Collective", "all_reduce #3")
    g.edge("CALL_OF", whole, together, rule="collective_seq_id")
    g.edge("CALL_OF", bare, g.node("Channel", "0->1"), rule="complete")
    name = g.row(whole)["name"]
    rows = [
        (whole, name, 5, 2, "0[0-1]", "all_reduce", 3, "completed", "et", together),
        (bare, "unknown", -1, -1, "", "", -1, "", "", -1),
    ]
    return Case("communication/show_call_spans", g.build(), rows, {"rank": 0}, parallel=True)


@case
def peers_as_columns(g: GraphBuilder) -> Case:
    """From this rank's sends only."""
    send, recv = call(g, "send"), call(g, "recv", rank=1)
    g.edge("PEER", send, recv, rule="order")
    back, there = call(g, "send", rank=1), call(g, "recv")
    g.edge("PEER", back, there, rule="order")
    return Case("communication/show_peer_columns", g.build(), [(send, recv)], {"rank": 0}, parallel=True)


@case
def ops_of_findings(g: GraphBuilder) -> Case:
    """By finding and op; one without a time has none."""
    op, untimed = g.op("aten::add", **timed(5, 2)), g.op("b", rank=1)
    first, second = f"{g.run}:a", f"{g.run}:b"
    tied = [{"fid": fid, "uid": op, "role": "child"} for fid in (second, first)]
    tied.append({"fid": first, "uid": untimed, "role": "child"})
    before = (kept(g, "a", "b"), ("health/write_subject_ops", {"rows": tied}))
    rows = [(first, op, 0, 5), (first, untimed, 1, None), (second, op, 0, 5)]
    return Case("health/show_finding_ops", g.build(), rows, before=before)


@case
def names_of_threads(g: GraphBuilder) -> Case:
    """With and without a Kineto trace."""
    g.node("Thread", "thread 1", rank=1, tid=1)
    g.node("Thread", "pt_autograd_0", rank=0, process=70, thread=7)
    rows = [(0, 70, 7, None, "pt_autograd_0"), (1, None, None, 1, "thread 1")]
    return Case("structure/show_thread_names", g.build(), rows)
