"""Cases for what a person asks of the time in communication: waits, transfers, bandwidth, stragglers."""

from __future__ import annotations

from typing import Any

from tests.queries.cases import Case, case
from tests.queries.cases.communication import call, group
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
    one, two = collective(g, 1), collective(g, 2, group="1[0-1]")
    late = member(g, one, 1, 170, 30, wait_ns=0)
    early = member(g, one, 0, 100, 100, wait_ns=70)
    left = member(g, two, 0, 300, 40, wait_ns=90)
    member(g, two, 1, 390, None, wait_ns=0)
    member(g, two, 2, 390, 5)
    call(g, wait_ns=1, duration_ns=2, start_ns=1)
    kind = "all_reduce"
    rows = [
        (0, ALL, kind, 1, one, early, "all_reduce #1", 100, 100, 70, 30),
        (0, "1[0-1]", kind, 2, two, left, "all_reduce #2", 300, 40, 40, 0),
        (1, ALL, kind, 1, one, late, "all_reduce #1", 170, 30, 0, 30),
    ]
    return Case("communication/show_wait_and_transfer", g.build(), rows)


@case
def calls_of_one_rank_and_group_split(g: GraphBuilder) -> Case:
    """Only those asked for."""
    one, two = collective(g, 1), collective(g, 2, group="1[0-1]")
    wanted = member(g, one, 0, 100, 100, wait_ns=70)
    member(g, one, 1, 170, 30, wait_ns=0)
    member(g, two, 0, 300, 40, wait_ns=0)
    rows = [(0, ALL, "all_reduce", 1, one, wanted, "all_reduce #1", 100, 100, 70, 30)]
    parameters = {"rank": 0, "group": ALL}
    return Case("communication/show_wait_and_transfer", g.build(), rows, parameters)


@case
def bandwidth_of_collectives(g: GraphBuilder) -> Case:
    """Sizes and factors by kind, n = 4: the slowest first; no row without size, time, or a second member.

    all_reduce: 800 B in 100 ns = 8 GB/s, times 2·3/4; all_gather: 4·100 B in 50 ns = 8, times 3/4;
    broadcast: 100 B in 50 ns = 2, times 1; reduce_scatter: 400 B in 100 ns = 4, times 3/4.
    """
    key = group(g, ALL, [0, 1, 2, 3])
    alone = group(g, "1[0]", [0])
    made = {}
    for number, (kind, lasts, inputs) in enumerate(
        (
            ("all_reduce", 100, (800, 800)),
            ("all_gather", 50, (100, 100)),
            ("broadcast", 50, (100, 100)),
            ("reduce_scatter", 100, (400, 396)),
            ("all_reduce", None, (8, 8)),
            ("all_reduce", 10, (None, None)),
            ("barrier", 10, (0, 0)),
        )
    ):
        made[number] = collective(g, number, kind=kind, transfer_ns=lasts)
        g.edge("IN_GROUP", made[number], key)
        for rank, size in enumerate(inputs):
            member(g, made[number], rank, 0, 10, size_bytes=size)
    lone = collective(g, 9, group="1[0]", transfer_ns=5)
    g.edge("IN_GROUP", lone, alone)
    member(g, lone, 0, 0, 5, size_bytes=8)
    rows = [
        (ALL, "broadcast #2", 4, 100, 50, 2.0, 2.0, made[2]),
        (ALL, "reduce_scatter #3", 4, 400, 100, 4.0, 3.0, made[3]),
        (ALL, "all_gather #1", 4, 400, 50, 8.0, 6.0, made[1]),
        (ALL, "all_reduce #0", 4, 800, 100, 8.0, 12.0, made[0]),
    ]
    return Case("communication/show_bandwidth", g.build(), rows)


@case
def bandwidth_of_one_kind(g: GraphBuilder) -> Case:
    """Of the kind and group asked for, no more than asked; of two members each sends half."""
    key = group(g, "1[0-1]", [0, 1])
    for number, (kind, lasts) in enumerate((("all_to_all", 40), ("all_to_all", 50), ("all_reduce", 1000))):
        made = collective(g, number, kind=kind, transfer_ns=lasts, group="1[0-1]")
        g.edge("IN_GROUP", made, key)
        member(g, made, 0, 0, 60, size_bytes=200)
    parameters = {"kind": "all_to_all", "group": "1[0-1]", "count": 1}
    rows = [("1[0-1]", "all_to_all #1", 2, 200, 50, 4.0, 2.0, made - 2)]
    return Case("communication/show_bandwidth", g.build(), rows, parameters)


@case
def bandwidth_by_kind(g: GraphBuilder) -> Case:
    """All bytes over all time: 380 B in 100 ns; of the two, 2 and 20 GB/s, each times 2·1/2."""
    key = group(g, "1[0-1]", [0, 1])
    for number, (size, lasts) in enumerate(((180, 90), (200, 10))):
        made = collective(g, number, transfer_ns=lasts, group="1[0-1]")
        g.edge("IN_GROUP", made, key)
        for rank in (0, 1):
            member(g, made, rank, 0, 100, size_bytes=size)
    rows = [("1[0-1]", "all_reduce", 2, 2, 380, 100, 3.8, 3.8, 2.0, 20.0)]
    return Case("communication/show_bandwidth_by_kind", g.build(), rows)


@case
def who_comes_last(g: GraphBuilder) -> Case:
    """What each cost the others, the dearest first; a wait is no longer than its call; one without calls."""
    first = collective(g, 1, last_rank=1, skew_ns=70)
    member(g, first, 0, 0, 100, wait_ns=70)
    member(g, first, 2, 40, 20, wait_ns=30)
    member(g, first, 1, 70, 30, wait_ns=0)
    second = collective(g, 2, last_rank=1, skew_ns=5)
    member(g, second, 0, 200, None, wait_ns=5)
    collective(g, 3, last_rank=2, skew_ns=4)
    collective(g, 4)
    collective(g, 1, group="1[0-1]", last_rank=0, skew_ns=1)
    rows = [(ALL, 1, 2, 3, 95, 70), (ALL, 2, 1, 3, 0, 4), ("1[0-1]", 0, 1, 1, 0, 1)]
    return Case("communication/show_stragglers", g.build(), rows)


@case
def the_longest_waits(g: GraphBuilder) -> Case:
    """No more than asked, with whom they waited for; no longer than the call where its time is known."""
    one = collective(g, 1, last_rank=2)
    first = member(g, one, 0, 10, 100, wait_ns=70, size_bytes=8)
    other = member(g, one, 1, 12, 40, wait_ns=90)
    member(g, one, 2, 80, 30, wait_ns=0)
    dumped = member(g, one, 3, 80, None, wait_ns=99)
    rows = [
        (3, 99, 2, ALL, "all_reduce #1", 80, None, None, dumped),
        (0, 70, 2, ALL, "all_reduce #1", 10, 100, 8, first),
        (1, 40, 2, ALL, "all_reduce #1", 12, 40, None, other),
    ]
    return Case("communication/show_longest_waits", g.build(), rows, {"count": 3})


@case
def collectives_that_take_unlike_long(g: GraphBuilder) -> Case:
    """Of one group, kind and size; one alone has nothing to differ from."""
    for number, (size, lasts) in enumerate(
        ((8, 10), (8, 40), (8, 25), (16, 7), (32, 50), (32, 51), (32, None))
    ):
        made = collective(g, number, transfer_ns=lasts)
        for rank in (0, 1):
            member(g, made, rank, 0, 100, size_bytes=size - rank)
    rows = [(ALL, "all_reduce", 8, 3, 10, 25.0, 40, 30), (ALL, "all_reduce", 32, 2, 50, 50.5, 51, 1)]
    return Case("communication/show_varying_collectives", g.build(), rows)
