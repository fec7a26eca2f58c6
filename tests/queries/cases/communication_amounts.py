"""Cases for what a person asks of the amount of communication: who, how much, of what kind, between whom."""

from __future__ import annotations

from typing import Any

from tests.queries.cases import Case, case
from tests.queries.cases.communication import call, group
from tests.queries.graphs import GraphBuilder

PAIR = "1[0-1]"


def three_calls(g: GraphBuilder) -> None:
    """Add two calls of rank 0 and one of rank 1; the second of rank 0 ended before its wait was over."""
    call(g, group="0[0-1]", size_bytes=100, duration_ns=50, wait_ns=20, dtype="float", in_msg_nelems=25)
    call(g, group="0[0-1]", size_bytes=8, duration_ns=5, wait_ns=9, dtype="float", in_msg_nelems=2)
    call(g, "send", rank=1, group=PAIR, size_bytes=7, duration_ns=3, dtype="char", in_msg_nelems=7)
    call(g, "barrier", rank=1, wait_ns=4)


@case
def communication_of_each_rank(g: GraphBuilder) -> Case:
    """Sums; only calls whose wait and time are known are split, and their parts add up: none is no 0."""
    three_calls(g)
    rows = [(0, 2, 108, 55, 2, 25, 30), (1, 2, 7, 3, 0, None, None)]
    return Case("communication/show_communication_by_rank", g.build(), rows)


@case
def communication_of_each_rank_in_a_group(g: GraphBuilder) -> Case:
    """Only what goes through it."""
    three_calls(g)
    rows = [(1, 1, 7, 3, 0, None, None)]
    return Case("communication/show_communication_by_rank", g.build(), rows, {"group": PAIR})


@case
def communication_of_each_group(g: GraphBuilder) -> Case:
    """Those of no known group come last."""
    three_calls(g)
    rows = [
        ("0[0-1]", 1, 2, 108, 55, 2, 25, 30),
        (PAIR, 1, 1, 7, 3, 0, None, None),
        (None, 1, 1, 0, None, 0, None, None),
    ]
    return Case("communication/show_communication_by_group", g.build(), rows)


@case
def communication_of_each_kind(g: GraphBuilder) -> Case:
    """By kind and type, the most bytes first."""
    three_calls(g)
    rows = [
        ("all_reduce", "float", 2, 27, 108, 100, 55),
        ("send", "char", 1, 7, 7, 7, 3),
        ("barrier", None, 1, 0, 0, None, None),
    ]
    return Case("communication/show_communication_by_kind", g.build(), rows)


@case
def communication_of_one_type_by_several_names(g: GraphBuilder) -> Case:
    """An execution trace writes long int and c10::Half where Kineto and the dumps write Long and Half."""
    for name in ("Long", "long int", "c10::Half", "Half", "unsigned char", "Byte", "signed char", "Char"):
        call(g, dtype=name, size_bytes=8 if name.lower().startswith("long") else 1, in_msg_nelems=1)
    rows = [
        ("all_reduce", "long", 2, 2, 16, 8, None),
        *[("all_reduce", name, 2, 2, 2, 1, None) for name in ("byte", "char", "half")],
    ]
    return Case("communication/show_communication_by_kind", g.build(), rows)


@case
def messages_by_size(g: GraphBuilder) -> Case:
    """Classes by powers of two: 0 and 1 have their own, 2 and 3 share one; the last one has no end."""
    for size, lasts in ((0, 1), (1, 2), (2, 3), (3, 5), (4, 7), (2**62 - 1, 8), (2**62, 9)):
        call(g, size_bytes=size, duration_ns=lasts)
    call(g, "send", rank=1)
    rows = [
        ("all_reduce", 0, 1, 0, 1, 1, 1),
        ("all_reduce", 1, 1, 1, 2, 2, 2),
        ("all_reduce", 2, 2, 5, 8, 3, 5),
        ("all_reduce", 4, 1, 4, 7, 7, 7),
        ("all_reduce", 2**61, 1, 2**62 - 1, 8, 8, 8),
        ("all_reduce", 2**62, 1, 2**62, 9, 9, 9),
    ]
    return Case("communication/show_communication_by_size", g.build(), rows, {"kind": "all_reduce"})


@case
def messages_of_unknown_size(g: GraphBuilder) -> Case:
    """They stand under null."""
    call(g, "send", rank=1)
    call(g, "send")
    rows = [("send", None, 1, 0, None, None, None)]
    return Case("communication/show_communication_by_size", g.build(), rows, {"rank": 1})


@case
def communication_of_each_step(g: GraphBuilder) -> Case:
    """The step of the host op, not of the worker; a call without one, and one outside, are of no step."""
    for rank, step in ((0, 3), (0, 3), (0, None), (1, 3)):
        made = call(g, rank=rank, size_bytes=4, duration_ns=10, wait_ns=12 if rank else 2)
        g.edge("SEEN_AS", made, g.op("c10d::allreduce_", rank=rank, step=step), rule="host_op")
        g.edge("SEEN_AS", made, g.op("gloo:all_reduce", rank=rank, step=9), rule="worker")
    call(g, rank=1, size_bytes=1)
    rows = [(0, 3, 2, 8, 20, 4), (0, None, 1, 4, 10, 2), (1, 3, 1, 4, 10, 10), (1, None, 1, 1, None, None)]
    return Case("communication/show_communication_by_step", g.build(), rows)


@case
def sends_and_recvs_in_pairs(g: GraphBuilder) -> Case:
    """The longest send first; one whose recv is not proven, and one whose destination is not."""
    send = call(g, "send", start_ns=5, duration_ns=9, tag=2, size_bytes=8, peer_rank=1)
    recv = call(g, "recv", rank=1, start_ns=1, duration_ns=14)
    g.edge("PEER", send, recv, rule="complete")
    lone = call(g, "send", rank=1, start_ns=30, duration_ns=2, tag=0, size_bytes=4, peer_rank=0)
    open_ = call(g, "send", rank=1)
    bare: tuple[Any, ...] = (None,) * 3
    rows = [
        (0, 1, 2, 8, 5, 9, 1, 14, "complete", send, recv),
        (1, 0, 0, 4, 30, 2, *bare, lone, None),
        (1, None, None, None, None, None, *bare, open_, None),
    ]
    return Case("communication/show_transfers", g.build(), rows)


@case
def sends_to_one_rank(g: GraphBuilder) -> Case:
    """By both ends, as the send says."""
    wanted = call(g, "send", peer_rank=1, duration_ns=2)
    call(g, "send", peer_rank=2, duration_ns=3)
    call(g, "send", rank=2, peer_rank=1, duration_ns=3)
    rows = [(0, 1, None, None, None, 2, None, None, None, wanted, None)]
    return Case("communication/show_transfers", g.build(), rows, {"src": 0, "dst": 1})


@case
def bytes_between_ranks(g: GraphBuilder) -> Case:
    """Sends, and the parts of all_to_alls: by their splits of 4-byte elements, without splits equal ones."""
    key = group(g, "0[2,5]", [2, 5])
    uneven = call(g, "all_to_all", rank=2, size_bytes=40, in_msg_nelems=10, in_split=[3, 7])
    even = call(g, "all_to_all", rank=5, size_bytes=40, in_msg_nelems=10)
    g.edge("IN_GROUP", uneven, key)
    g.edge("IN_GROUP", even, key)
    for rank, peer, size in ((2, 5, 8), (2, 5, 9), (5, None, 1), (5, 2, None)):
        call(g, "send", rank=rank, peer_rank=peer, size_bytes=size)
    call(g, "all_to_all", rank=7, size_bytes=40, in_msg_nelems=10)
    call(g, "recv", rank=5, peer_rank=2, size_bytes=8)
    rows = [
        (2, 2, 0, 0, 1, 12),
        (2, 5, 2, 17, 1, 28),
        (5, 2, 1, 0, 1, 20),
        (5, 5, 0, 0, 1, 20),
        (5, None, 1, 1, 0, 0),
    ]
    return Case("communication/show_traffic_matrix", g.build(), rows)


@case
def callers_of_communication(g: GraphBuilder) -> Case:
    """By the caller of the host op; the op of a worker is no caller."""
    step = g.op("Optimizer.step")
    for size in (4, 5):
        op = g.op("c10d::allreduce_", step)
        made = call(g, size_bytes=size, duration_ns=7)
        g.edge("SEEN_AS", made, op, rule="host_op")
        g.edge("SEEN_AS", made, g.op("gloo:all_reduce", op), rule="worker")
    for name, lasts in (("barrier", 1), ("recv", None)):
        made = call(g, name, duration_ns=lasts)
        g.edge("SEEN_AS", made, g.op(f"c10d::{name}"), rule="host_op")
    rows = [
        ("Optimizer.step", "c10d::allreduce_", "all_reduce", 2, 9, 14),
        (None, "c10d::barrier", "barrier", 1, 0, 1),
        (None, "c10d::recv", "recv", 1, 0, None),
    ]
    return Case("communication/show_communication_by_caller", g.build(), rows)


@case
def streams_of_communication(g: GraphBuilder) -> Case:
    """Kernels of calls by stream and kind; other kernels there do not count."""
    for stream, start in ((20, 5), (20, 50), (7, 9)):
        made = call(g)
        on = g.node("Kernel", "nccl", device=0, stream=stream, start_ns=start, duration_ns=10)
        g.edge("SEEN_AS", made, on, rule="kernel")
    g.node("Kernel", "gemm", device=0, stream=20, start_ns=0, duration_ns=1)
    rows = [(0, 0, 7, "all_reduce", 1, 10, 9, 19), (0, 0, 20, "all_reduce", 2, 20, 5, 60)]
    return Case("communication/show_communication_by_stream", g.build(), rows)
