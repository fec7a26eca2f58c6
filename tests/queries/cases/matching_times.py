"""Cases for channels of sends, and for the time of collectives across ranks."""

from __future__ import annotations

from typing import Any

from tests.queries.cases import Case, case
from tests.queries.cases.communication import call
from tests.queries.cases.matching import ALL, collective, rank
from tests.queries.graphs import GraphBuilder

PAIR = "pp[0,1]"


def channel(g: GraphBuilder, src: int, dst: int, verdict: str = "MATCHED", **properties: Any) -> int:
    """Add a channel of the pair's group."""
    own = {"group": PAIR, "src": src, "dst": dst, "verdict": verdict, "in_flight": False, "how": "complete"}
    counts = dict.fromkeys(
        ("sends", "recvs", "matched", "solved", "ambiguous", "send_only", "recv_only", "size_mismatch"), 0
    )
    return g.node("Channel", f"{src}->{dst} on {PAIR}", **{**own, **counts, **properties})


@case
def channels_with_their_counts(g: GraphBuilder) -> Case:
    """One for each direction, by group and ranks."""
    back = channel(g, 1, 0, "SOLVED", sends=4, recvs=3, solved=3, how="counter")
    there = channel(g, 0, 1, sends=3, recvs=3, matched=3)
    open_ = channel(
        g, 0, 1, "AMBIGUOUS", group="ep[0,1]", sends=1, recvs=2, ambiguous=3, how="", in_flight=None
    )
    rows = [
        ("ep[0,1]", 0, 1, "AMBIGUOUS", 1, 2, 0, 0, 3, 0, 0, 0, None, "", open_),
        (PAIR, 0, 1, "MATCHED", 3, 3, 3, 0, 0, 0, 0, 0, False, "complete", there),
        (PAIR, 1, 0, "SOLVED", 4, 3, 0, 3, 0, 0, 0, 0, False, "counter", back),
    ]
    return Case("communication/show_channels", g.build(), rows)


@case
def transfers_that_do_not_pair(g: GraphBuilder) -> Case:
    """What is open of each edge; matched and solved edges do not come."""
    channel(g, 1, 0)
    channel(g, 2, 0, "SOLVED")
    lacking = channel(g, 0, 1, "INCOMPLETE", send_only=2, evicted_src=4, evicted_dst=4, in_flight=True)
    unknown = channel(g, 0, 2, "AMBIGUOUS", ambiguous=5, offset_low=-1, reordered=False)
    rows = [
        (PAIR, 0, 1, "INCOMPLETE", 0, 2, 0, 0, None, 4, 4, None, None, True, lacking),
        (PAIR, 0, 2, "AMBIGUOUS", 5, 0, 0, 0, False, None, None, -1, None, False, unknown),
    ]
    return Case("communication/show_unmatched_transfers", g.build(), rows)


@case
def calls_of_one_channel(g: GraphBuilder) -> Case:
    """Sends, then recvs, each with its partner; the third send has none. The way back is another channel."""
    there, back = channel(g, 0, 1), channel(g, 1, 0)
    made = {}
    for kind, at, number, of in (
        ("recv", 1, 1, there),
        ("send", 0, 2, there),
        ("send", 0, 1, there),
        ("recv", 0, 3, back),
    ):
        made[kind, number] = call(g, kind, rank=at, p2p_seq_id=number, state="completed", is_p2p=True)
        g.edge("CALL_OF", made[kind, number], of, rule="order")
    send, late, recv = made["send", 1], made["send", 2], made["recv", 1]
    g.edge("PEER", send, recv, rule="complete")
    g.row(send).update(in_sizes="[[8]]", start_ns=5, duration_ns=2, site="a.py:3")
    bare = (None, None, None, None, None)
    rows = [
        (0, "send", 1, "completed", "[[8]]", None, 5, 2, "a.py:3", send, 1, recv, "complete"),
        (0, "send", 2, "completed", *bare, late, None, None, None),
        (1, "recv", 1, "completed", *bare, recv, 0, send, "complete"),
    ]
    parameters = {"group": PAIR, "src": 0, "dst": 1}
    return Case("communication/show_calls_of_channel", g.build(), rows, parameters)


@case
def the_slowest_collectives(g: GraphBuilder) -> Case:
    """By the time without waiting, not by the wait; those without times do not come."""
    quick = collective(g, 1, transfer_ns=10, skew_ns=900, last_rank=1, calls=2)
    slow = collective(g, 2, transfer_ns=50, skew_ns=0, last_rank=0, calls=2)
    collective(g, 3, transfer_ns=5, skew_ns=1, last_rank=0)
    collective(g, 4)
    rows = [
        (ALL, 2, "all_reduce #2", 50, 0, 0, 2, slow),
        (ALL, 1, "all_reduce #1", 10, 900, 1, 2, quick),
    ]
    return Case("communication/show_slow_collectives", g.build(), rows, {"count": 2})


@case
def the_most_skewed_collectives(g: GraphBuilder) -> Case:
    """By the wait; the clock of who came last is told where it is known; equal ones by their place."""
    rank(g, 0, clock_offset_ns=0, clock_offset_calls=4)
    rank(g, 1, clock_offset_ns=-70, clock_offset_calls=4)
    rank(g, 2)
    first = collective(g, 1, skew_ns=40, transfer_ns=10, last_rank=2, calls=3)
    wide = collective(g, 2, skew_ns=900, transfer_ns=10, last_rank=1, calls=3)
    same = collective(g, 3, skew_ns=40, last_rank=7, calls=2)
    collective(g, 4, skew_ns=3, last_rank=0)
    collective(g, 5)
    rows = [
        (ALL, 2, "all_reduce #2", 900, 10, 1, -70, 3, wide),
        (ALL, 1, "all_reduce #1", 40, 10, 2, None, 3, first),
        (ALL, 3, "all_reduce #3", 40, None, 7, None, 2, same),
    ]
    return Case("communication/show_skewed_collectives", g.build(), rows, {"count": 3})


@case
def ranks_that_came_last(g: GraphBuilder) -> Case:
    """Per group, the rank that made the others wait longest first."""
    for number, (last, skew) in enumerate(((1, 40), (0, 100), (1, 30), (2, 70))):
        collective(g, number, last_rank=last, skew_ns=skew)
    collective(g, 9)
    collective(g, 1, group="1[0-1]", last_rank=1, skew_ns=5)
    rows = [(ALL, 0, 1, 100, 100), (ALL, 1, 2, 70, 40), (ALL, 2, 1, 70, 70), ("1[0-1]", 1, 1, 5, 5)]
    return Case("communication/count_last_arrivals", g.build(), rows)


@case
def waits_of_ranks_in_collectives(g: GraphBuilder) -> Case:
    """Summed per group and rank; calls whose wait is not known are not counted."""
    for number, wait in ((0, 40), (0, 2), (1, 0), (1, None)):
        call(g, rank=number, wait_ns=wait, group=ALL)
    call(g, rank=0, wait_ns=7, group="1[0-1]")
    rows = [(ALL, 0, 2, 42, 40), (ALL, 1, 1, 0, 0), ("1[0-1]", 0, 1, 7, 7)]
    return Case("communication/show_wait_by_rank", g.build(), rows)


@case
def clocks_of_the_ranks(g: GraphBuilder) -> Case:
    """By rank, with what the estimate rests on; null where nothing ends together with others."""
    rank(g, 1, host="b", clock_offset_ns=-70, clock_offset_calls=12, clock_offset_spread_ns=30)
    rank(g, 0, host="a", clock_offset_ns=0, clock_offset_calls=12)
    rank(g, 2)
    rows = [(0, "a", 0, 12, None), (1, "b", -70, 12, 30), (2, None, None, None, None)]
    return Case("communication/show_clock_offsets", g.build(), rows)


@case
def matching_of_a_run(g: GraphBuilder) -> Case:
    """A run with a proven problem."""
    g.properties |= {"matched_from": "flight_recorder", "healthy": False, "matching": '{"notes":[]}'}
    rank(g, 0)
    return Case("communication/show_matching", g.build(), [("flight_recorder", False, '{"notes":[]}')])


@case
def a_run_that_was_not_matched(g: GraphBuilder) -> Case:
    """Nothing is known, which is not health."""
    rank(g, 0)
    return Case("communication/show_matching", g.build(), [(None, None, None)])
