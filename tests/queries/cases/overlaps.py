"""Cases for what happened at the same time: exposed communication, idle streams, busy devices."""

from __future__ import annotations

from tests.queries.cases import Case, case
from tests.queries.graphs import GraphBuilder


@case
def exposed_communication_by_group_and_kind(g: GraphBuilder) -> Case:
    """Sums by rank, group and kind; a call whose time no file tells is out, one without a group is not."""
    for exposed, overlapped in ((7, 3), (5, 0)):
        g.node(
            "CollectiveCall",
            "allreduce",
            pg_name="0",
            collective_kind="all_reduce",
            exposed_ns=exposed,
            overlapped_ns=overlapped,
        )
    g.node("CollectiveCall", "send", collective_kind="send", exposed_ns=0, overlapped_ns=4, rank=1)
    g.node("CollectiveCall", "barrier", pg_name="0", collective_kind="barrier", duration_ns=9)
    rows = [(0, "0", "all_reduce", 2, 15, 12, 3), (1, None, "send", 1, 4, 0, 4)]
    return Case("communication/show_exposed_communication", g.build(), rows)
