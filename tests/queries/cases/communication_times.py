"""Cases for what a person asks of the time in communication: waits, transfers, bandwidth, stragglers."""

from __future__ import annotations

from typing import Any

from tests.queries.cases import Case, case
from tests.queries.cases.communication import call
from tests.queries.cases.matching import ALL, collective
from tests.queries.graphs import GraphBuilder


def member(g: GraphBuilder, of: int, rank: int, start: int, lasts: int | None, **properties: Any) -> int:
    """Add the call of one rank in a collective, with its times in ns."""
    own = {"rank": rank, "start_ns": start, "duration_ns": lasts, "group": g.row(of)["group"]}
    made = call(g, g.row(of)["collective_kind"], **{**own, **properties})
    g.edge("CALL_OF", made, of, rule="collective_seq_id")
    return made


@case
def calls_split_into_wait_and_transfer(g: GraphBuilder) -> Case:
    """The wait is a part of the call's time, all of it where it ended before the last member came."""
    one, two = collective(g, 1, pg_name="0"), collective(g, 2, group="1[0-1]", pg_name="1")
    late = member(g, one, 1, 170, 30, wait_ns=0)
    early = member(g, one, 0, 100, 100, wait_ns=70)
    left = member(g, two, 0, 300, 40, wait_ns=90)
    member(g, two, 1, 390, None, wait_ns=0)
    member(g, two, 2, 390, 5)
    call(g, wait_ns=1, duration_ns=2, start_ns=1)
    kind = "all_reduce"
    rows = [
        (0, "0", kind, 1, one, early, "all_reduce #1", 100, 100, 70, 30),
        (0, "1", kind, 2, two, left, "all_reduce #2", 300, 40, 40, 0),
        (1, "0", kind, 1, one, late, "all_reduce #1", 170, 30, 0, 30),
    ]
    return Case("communication/show_wait_and_transfer", g.build(), rows)


@case
def calls_of_one_rank_and_group_split(g: GraphBuilder) -> Case:
    """Only those asked for."""
    one, two = collective(g, 1, pg_name="0"), collective(g, 2, group="1[0-1]", pg_name="1")
    wanted = member(g, one, 0, 100, 100, wait_ns=70)
    member(g, one, 1, 170, 30, wait_ns=0)
    member(g, two, 0, 300, 40, wait_ns=0)
    rows = [(0, "0", "all_reduce", 1, one, wanted, "all_reduce #1", 100, 100, 70, 30)]
    parameters = {"rank": 0, "group": ALL}
    return Case("communication/show_wait_and_transfer", g.build(), rows, parameters)
