"""Cases for the checks and looks at communication."""

from __future__ import annotations

from typing import Any

from tests.queries.cases import Case, case
from tests.queries.graphs import GraphBuilder


def call(g: GraphBuilder, kind: str = "all_reduce", **properties: Any) -> int:
    """Add a communication call."""
    return g.node("CollectiveCall", kind, collective_kind=kind, **properties)


def group(g: GraphBuilder, key: str, members: list[int], **properties: Any) -> int:
    """Add a process group."""
    return g.node("ProcessGroup", key, group=key, pg_name=key[0], members=members, **properties)


@case
def calls_of_no_known_group(g: GraphBuilder) -> Case:
    """Two of three calls of rank 0; rank 1 knows its group."""
    bare = [call(g), call(g)]
    call(g, group="0[0-1]")
    call(g, group="0[0-1]", rank=1)
    return Case("communication/find_unknown_groups", g.build(), [(0, 2, 3, bare)])


@case
def entries_that_time_and_order_join_differently(g: GraphBuilder) -> Case:
    """A dump with two of them; one without, and a trace, are no cases."""
    facts = {"kind": "flight_recorder", "entries_joined": 5}
    file = g.node("TraceFile", "rank_1", rank=1, entry_joins_disagree=2, **facts)
    g.node("TraceFile", "rank_0", rank=0, entry_joins_disagree=0, **facts)
    g.node("TraceFile", "et.json", rank=0, kind="et")
    return Case("communication/find_entries_joined_differently", g.build(), [(1, file, "rank_1", 5, 2)])


@case
def entries_that_are_joined_alike(g: GraphBuilder) -> Case:
    """No dump has any."""
    g.node("TraceFile", "rank_0", rank=0, kind="flight_recorder", entries_joined=5, entry_joins_disagree=0)
    return Case("communication/find_entries_joined_differently", g.build(), [])


@case
def calls_of_known_groups(g: GraphBuilder) -> Case:
    """Every call has its group."""
    call(g, group="0[0-1]")
    return Case("communication/find_unknown_groups", g.build(), [])


@case
def groups_and_their_calls(g: GraphBuilder) -> Case:
    """A group with two calls and one with none; the collectives they are part of are not calls."""
    whole = group(g, "0[0-1]", [0, 1], pg_desc="default_pg", backend="nccl", origin="et_init", complete=True)
    group(g, "1[0]", [0], origin="communication", complete=False)
    for _ in range(2):
        g.edge("IN_GROUP", call(g, group="0[0-1]"), whole)
        g.edge("IN_GROUP", g.node("Collective", "all_reduce #1", group="0[0-1]"), whole)
    rows = [
        ("0[0-1]", "0", "default_pg", [0, 1], "nccl", "et_init", True, 2),
        ("1[0]", "1", None, [0], None, "communication", False, 0),
    ]
    return Case("communication/show_groups", g.build(), rows)


@case
def calls_counted_by_group(g: GraphBuilder) -> Case:
    """By group, rank and kind; calls of no known group come last."""
    call(g, group="0[0-1]", size_bytes=8, collective_seq_id=4)
    call(g, group="0[0-1]", size_bytes=4, collective_seq_id=6)
    call(g, "broadcast", group="0[0-1]", rank=1)
    call(g)
    rows = [
        ("0[0-1]", 0, "all_reduce", 2, 12, 4, 6),
        ("0[0-1]", 1, "broadcast", 1, 0, None, None),
        (None, 0, "all_reduce", 1, 0, None, None),
    ]
    return Case("communication/count_calls_by_group", g.build(), rows)


@case
def calls_of_one_rank_in_time(g: GraphBuilder) -> Case:
    """By rank and start; one without a time comes last; of a rank and kind only those asked for."""
    late = call(
        g, start_ns=50, duration_ns=5, group="0[0-1]", collective_seq_id=2, dtype="float", size_bytes=4
    )
    bare = call(g, "send", node_id=9)
    early = call(g, start_ns=10, duration_ns=5)
    other = call(g, rank=1)
    rows = [
        (0, early, None, "all_reduce", None, None, None, None, 10, 5),
        (0, late, None, "all_reduce", "0[0-1]", 2, "float", 4, 50, 5),
        (0, bare, 9, "send", None, None, None, None, None, None),
        (1, other, None, "all_reduce", None, None, None, None, None, None),
    ]
    return Case("communication/show_calls", g.build(), rows)


@case
def calls_of_one_rank_and_kind(g: GraphBuilder) -> Case:
    """The other kind's, the other rank's and the other group's do not come."""
    wanted = call(g, "send", group="0[0-1]")
    call(g, group="0[0-1]")
    call(g, "send", group="1[0-1]")
    call(g, "send", rank=1, group="0[0-1]")
    rows = [(0, wanted, None, "send", "0[0-1]", None, None, None, None, None)]
    parameters = {"rank": 0, "kind": "send", "group": "0[0-1]"}
    return Case("communication/show_calls", g.build(), rows, parameters)


@case
def transfers_by_proof(g: GraphBuilder) -> Case:
    """Two recvs whose peer was found by pairing, one that nothing proves; a collective is none of them."""
    call(g)
    for origin in ("pairing", "pairing", None):
        call(g, "recv", is_p2p=True, peer_origin=origin)
    call(g, "send", rank=1, is_p2p=True, peer_origin="group")
    g.node("CollectiveCall", "nccl:coalesced", is_p2p=True)
    rows = [(0, "recv", "pairing", 2), (0, "recv", None, 1), (1, "send", "group", 1)]
    return Case("communication/count_transfers_by_proof", g.build(), rows)
