"""Cases for the statements that give the flat tables their columns: parallel lists, -1 or '' for null."""

from __future__ import annotations

from typing import Any

from tests.queries.cases import Case, case
from tests.queries.cases.communication import call
from tests.queries.graphs import GraphBuilder

TENSORS: dict[str, Any] = {"dtype": "Float", "in_msg_nelems": 2, "out_msg_nelems": 4, "size_bytes": 8}
TENSORS |= {"in_sizes": "[[2]]", "out_sizes": "[[2],[2]]"}
TENSORS |= {"in_dtypes": ["Float"], "out_dtypes": ["Float", "Half"]}
TENSOR_ROW = ("Float", 2, 4, 8, "[[2]]", "[[2],[2]]", ",Float,", ",Float,Half,")
NO_TENSOR = ("", -1, -1, -1, "", "", "", "")
PROGRESS: dict[str, Any] = {"state": "completed", "retired": True, "start_ns": 10, "duration_ns": 5}
PROGRESS |= {"started_ns": 11, "completed_ns": 15}
PROGRESS_ROW = ("completed", 1, 10, 5, 11, 15)
NO_PROGRESS = ("", -1, -1, -1, -1, -1)
GROUP = {"group": "0[0-1]", "pg_name": "0"}


def page(first: int, last: int) -> dict[str, int]:
    """Return the parameters of a page that holds the keys from `first` to `last`."""
    return {"first": first, "after": last + 1}


@case
def collectives_counted_by_page(g: GraphBuilder) -> Case:
    """In pages of four keys, of which calls take some; a page without a collective does not come."""
    for label in ("Collective", "Collective", "CollectiveCall", *("HostOp",) * 5, "Collective"):
        g.node(label, "n")
    first = g.run_no * (1 << 32) // 4
    rows = [(first, 2), (first + 2, 1)]
    return Case("communication/count_collectives_by_page", g.build(), rows, {"page_keys": 4})


@case
def collectives_as_table(g: GraphBuilder) -> Case:
    """A page: all that is known of a collective, and one of which nothing is."""
    g.node("Collective", "before")
    whole = g.node(
        "Collective",
        "all_reduce #3",
        **GROUP,
        collective_seq_id=3,
        collective_kind="all_reduce",
        op_name="nccl:all_reduce",
        verdict="INCOMPLETE",
        in_flight=False,
        site_differs=True,
        classes='{"not_reached": [1]}',
        unfinished="0",
        calls=1,
        skew_ns=0,
        transfer_ns=7,
        last_rank=0,
    )
    bare = g.node("Collective", "unknown")
    g.node("Collective", "behind")
    told = (whole, "0[0-1]", "0", 3, "all_reduce", "nccl:all_reduce", "INCOMPLETE", 0, 1, -1)
    rows = [
        (*told, '{"not_reached": [1]}', "0", 1, 0, 7, 0),
        (bare, "", "", -1, "", "", "", -1, -1, -1, "", "", -1, -1, -1, -1),
    ]
    return Case("communication/show_collective_table", g.build(), rows, page(whole, bare), parallel=True)


@case
def no_collectives_as_table(g: GraphBuilder) -> Case:
    """A run whose ranks were not matched has none."""
    made = call(g)
    return Case("communication/show_collective_table", g.build(), [], page(made, made), parallel=True)


@case
def calls_as_table(g: GraphBuilder) -> Case:
    """Calls of all ranks; one without tensors, one of unknown kind; sends, recvs and blocks are out."""
    call(g, rank=0)
    own: dict[str, Any] = {"record_id": 5, "op_id": 6, "source": "flight_recorder", "site": "a.py:3"}
    told = call(
        g, rank=1, op_name="nccl:all_reduce", root_rank=0, wait_ns=4, **GROUP, **TENSORS, **PROGRESS, **own
    )
    whole = g.node("Collective", "all_reduce #3", **GROUP, collective_seq_id=3, verdict="MATCHED")
    g.edge("CALL_OF", told, whole)
    barrier = call(
        g, "barrier", collective_seq_id=4, is_p2p=False, retired=False, in_dtypes=[], out_dtypes=[]
    )
    bare = g.node("CollectiveCall", "unknown")
    for kind in ("send", "recv"):
        call(g, kind)
    block = g.node("CollectiveCall", "nccl:coalesced", is_p2p=True)
    call(g, "barrier")
    first = (told, 1, whole, "0[0-1]", "0", 3, "all_reduce", "nccl:all_reduce", *TENSOR_ROW, 0)
    no_tensor = (*NO_TENSOR[:6], ",", ",")
    rows = [
        (*first, *PROGRESS_ROW, "a.py:3", 5, 6, "flight_recorder", 4, "MATCHED"),
        (
            *(barrier, 0, -1, "", "", 4, "barrier", "", *no_tensor, -1, "", 0, -1, -1, -1, -1),
            *("", -1, -1, "", -1, ""),
        ),
        (
            *(bare, 0, -1, "", "", -1, "", "", *NO_TENSOR, -1, *NO_PROGRESS),
            *("", -1, -1, "", -1, ""),
        ),
    ]
    return Case("communication/show_call_table", g.build(), rows, page(told, block), parallel=True)


@case
def transfers_as_table(g: GraphBuilder) -> Case:
    """Both sides of a pair name each other; a send alone, and an entry that closes a block; no collective."""
    call(g, "send")
    own: dict[str, Any] = {"tag": 1, "op_id": 6, "p2p_seq_id": 2, "site": "a.py:3"}
    told: dict[str, Any] = {
        **GROUP,
        **TENSORS,
        **PROGRESS,
        **own,
        "is_p2p": True,
        "source": "flight_recorder",
    }
    send = call(g, "send", rank=0, op_name="nccl:send 0->1", peer=1, peer_rank=3, record_id=5, **told)
    recv = call(g, "recv", rank=1, op_name="nccl:recv 1<-0", peer=0, record_id=9, **told)
    way = g.node("Channel", "0->1", **GROUP, src=0, dst=1, verdict="SOLVED", how="tail")
    for made in (send, recv):
        g.edge("CALL_OF", made, way)
    g.edge("PEER", send, recv, rule="tail")
    bare = call(g, "send")
    block = g.node("CollectiveCall", "nccl:coalesced", is_p2p=True)
    call(g)
    behind = call(g, "recv")
    common = (*TENSOR_ROW, *PROGRESS_ROW, "a.py:3", "flight_recorder")
    nothing = (*(-1,) * 8, *NO_TENSOR, *NO_PROGRESS, "", "", -1, -1, "", "", "")
    rows = [
        (
            *(send, 0, "0[0-1]", "0", "send", "nccl:send 0->1", 0, 1, 1, 3, 1, 5, 2, 6, *common),
            *(recv, 9, "tail", "SOLVED", "tail"),
        ),
        (
            *(recv, 1, "0[0-1]", "0", "recv", "nccl:recv 1<-0", 0, 1, 0, -1, 1, 9, 2, 6, *common),
            *(send, 5, "tail", "SOLVED", "tail"),
        ),
        (bare, 0, "", "", "send", "", *nothing),
        (block, 0, "", "", "", "", *nothing),
    ]
    return Case("communication/show_transfer_table", g.build(), rows, page(send, behind - 1), parallel=True)
