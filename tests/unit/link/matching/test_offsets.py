from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from graphstore.link.matching.matching import match_dumps
from graphstore.link.matching.model import JobMatching, RankDump
from tests.data.flight import Row, call, closing, dump, recv, send

PAIR = {"0": [0, 1]}
TRIO = {"0": [0, 1, 2]}


def _job(dumps: Sequence[RankDump]) -> JobMatching:
    (job,) = match_dumps(dumps).jobs
    return job


def _edges(dumps: Sequence[RankDump]) -> dict[tuple[int, int], Row]:
    return {(edge["src"], edge["dst"]): edge for edge in _job(dumps).p2p.iter_rows(named=True)}


def _told(edge: Row) -> tuple[Any, ...]:
    return edge["verdict"], edge["how"], edge["matched"], edge["solved"], edge["ambiguous"]


def test_recorded_from_the_start_all_is_matched() -> None:
    """Nothing dropped on either side: the first send is of the first recv."""
    dumps = [dump(0, [send(0, 1)] * 3, PAIR), dump(1, [recv(0, 1)] * 3, PAIR)]

    assert _told(_edges(dumps)[0, 1]) == ("MATCHED", "complete", 3, 0, 0)
    assert _job(dumps).pairs.select("send_record_id", "recv_record_id").rows() == [(0, 0), (1, 1), (2, 2)]


def test_the_first_operation_of_a_group_proves_the_start_though_other_records_are_gone() -> None:
    """The ring dropped calls of another group; op_id 1 is kept in this one."""
    groups = {"0": [0, 1], "1": [0, 1]}
    dumps = [
        dump(0, [call(), call(), send(0, 1, "1")], groups, first=2),
        dump(1, [call(), recv(0, 1, "1")], groups, first=1),
    ]

    assert _told(_edges(dumps)[0, 1]) == ("MATCHED", "complete", 1, 0, 0)


def test_a_send_without_a_recv_is_incomplete() -> None:
    """Both recorded from the start; rank 1 made one recv less, and rank 0 waits for it."""
    dumps = [
        dump(0, [send(0, 1), send(0, 1, state="scheduled")], PAIR),
        dump(1, [recv(0, 1)], PAIR),
    ]
    job = _job(dumps)

    edge = _edges(dumps)[0, 1]
    assert (edge["verdict"], edge["matched"], edge["send_only"]) == ("INCOMPLETE", 1, 1)
    assert job.waits_for == {0: {1: "never"}}
    assert (job.healthy, job.culprits, job.undecided_between) == (False, [], [0, 1])


def test_unequal_transfers_are_a_mismatch() -> None:
    """The second send is of 8, its recv of 4."""
    dumps = [dump(0, [send(0, 1), send(0, 1, size=8)], PAIR), dump(1, [recv(0, 1)] * 2, PAIR)]

    edge = _edges(dumps)[0, 1]
    assert (edge["verdict"], edge["matched"], edge["size_mismatch"], edge["reordered"]) == (
        "SIZE_MISMATCH",
        1,
        1,
        False,
    )
    assert _job(dumps).undecided_between == [0, 1]


def test_the_same_transfers_in_another_order_are_a_mismatch_that_says_so() -> None:
    """Sends of 4 and 8, recvs of 8 and 4."""
    dumps = [
        dump(0, [send(0, 1, size=4), send(0, 1, size=8)], PAIR),
        dump(1, [recv(0, 1, size=8), recv(0, 1, size=4)], PAIR),
    ]

    assert _edges(dumps)[0, 1]["reordered"]
    assert "in another order" in _job(dumps).causes[0].message


def test_the_counter_equation_gives_what_the_ring_dropped() -> None:
    """Rank 1 dropped 2 of 5 recvs: its first kept operation is the third, no collective before it."""
    dumps = [dump(0, [send(0, 1)] * 5, PAIR), dump(1, [recv(0, 1)] * 5, PAIR, first=2)]

    edge = _edges(dumps)[0, 1]
    assert _told(edge) == ("SOLVED", "counters", 0, 3, 0)
    assert (edge["evicted_src"], edge["evicted_dst"], edge["offset"]) == (0, 2, 2)


def test_collectives_before_the_window_are_taken_off_the_counter() -> None:
    """Of five operations before the window two were collectives; the send carries their number."""
    mixed = [call(), send(0, 1), send(0, 1), call(), send(0, 1), send(0, 1)]
    theirs = [call(), recv(0, 1), recv(0, 1), call(), recv(0, 1), recv(0, 1)]
    dumps = [dump(0, mixed, PAIR, first=5), dump(1, theirs, PAIR)]

    edge = _edges(dumps)[0, 1]
    assert (edge["evicted_src"], edge["evicted_dst"], edge["solved"]) == (3, 0, 1)


def test_finished_queues_are_equally_long() -> None:
    """Dumps of version 1 count no operations; all kept calls have ended, so the last ones are partners."""
    bare = {"op_id": None}
    dumps = [
        dump(0, [send(0, 1) | bare] * 5, PAIR, first=1),
        dump(1, [recv(0, 1) | bare] * 5, PAIR, first=3),
    ]

    assert _told(_edges(dumps)[0, 1]) == ("SOLVED", "tail", 0, 2, 0)


def test_anchors_spread_from_edge_to_edge() -> None:
    """Rank 1 dropped two operations, but which? Rank 2 recorded all of its queue: the rest was rank 0's."""
    middle = [recv(0, 1), send(1, 2), recv(0, 1), send(1, 2), recv(0, 1), send(1, 2)]
    dumps = [
        dump(0, [send(0, 1)] * 3 + [send(0, 2)], TRIO, first=1),
        dump(1, middle, TRIO, first=3),
        dump(2, [recv(1, 2)] * 3 + [recv(0, 2)], TRIO),
    ]

    edges = _edges(dumps)
    assert _told(edges[1, 2])[:1] + _told(edges[1, 2])[3:] == ("SOLVED", 2, 0)
    assert (edges[1, 2]["evicted_src"], edges[0, 1]["evicted_dst"], edges[0, 1]["evicted_src"]) == (1, 2, 1)


def test_an_unfinished_call_or_a_filter_breaks_the_tail() -> None:
    """Without counters, one active send is enough to leave it open."""
    bare = {"op_id": None}
    dumps = [
        dump(0, [send(0, 1) | bare] * 4 + [send(0, 1, state="scheduled") | bare], PAIR, first=1),
        dump(1, [recv(0, 1) | bare] * 5, PAIR, first=3),
    ]

    assert _told(_edges(dumps)[0, 1]) == ("AMBIGUOUS", None, 0, 0, 6)


def test_an_assumption_that_the_calls_contradict_is_dropped() -> None:
    """Equal totals would pair an 8 with a 4: then one of the small sends ended before its recv existed."""
    bare = {"op_id": None}
    sends = [send(0, 1) | bare, send(0, 1) | bare, send(0, 1, size=8) | bare]
    dumps = [dump(0, sends, PAIR, first=1), dump(1, [recv(0, 1) | bare] * 3, PAIR, first=2)]

    edge = _edges(dumps)[0, 1]
    assert (edge["verdict"], edge["size_mismatch"]) == ("AMBIGUOUS", 0)


def test_an_open_edge_has_the_possible_range_of_its_offset() -> None:
    """Rank 0 dropped up to 3 of its sends, rank 1 up to 4 of its recvs, each perhaps on the other edge."""
    mine = [send(0, 1), send(0, 2)] * 3
    theirs = [recv(0, 1), recv(2, 1)] * 3
    dumps = [
        dump(0, [*mine[:5], send(0, 1, state="scheduled")], TRIO, first=3),
        dump(1, [*theirs[:5], recv(0, 1, state="scheduled")], TRIO, first=4),
        dump(2, [], TRIO),
    ]

    edge = _edges(dumps)[0, 1]
    assert edge["verdict"] == "AMBIGUOUS"
    assert (edge["offset_low"], edge["offset_high"]) == (-3, 4)


def test_coalesced_collectives_spoil_the_counter() -> None:
    """op_id counts each call of a block, its number the block once: the equation says nothing."""
    block = [call(block=True), call(block=True), closing()]
    rows = [*block, send(0, 1), send(0, 1), *block]
    dumps = [dump(0, rows, PAIR, first=4), dump(1, [recv(0, 1, state="scheduled")] * 2, PAIR)]

    assert _edges(dumps)[0, 1]["verdict"] == "AMBIGUOUS"


def test_an_edge_to_a_rank_without_a_dump_says_so() -> None:
    """Rank 1 left none: its recvs cannot be known."""
    dumps = [dump(0, [send(0, 1, state="scheduled")], PAIR)]

    edge = _edges(dumps)[0, 1]
    assert (edge["verdict"], edge["sends"], edge["recvs"]) == ("NO_DUMP", 1, 0)
    assert _job(dumps).waits_for == {0: {1: "no_dump"}}


def _two_members(peer: int, batch: bool = False, seq: int = 1) -> Row:
    """Return the edge of two active sends, numbers 11 and 12, to a peer that enqueued `peer` transfers."""
    numbers = (11, 11) if batch else (11, 12)
    sends = [
        send(0, 1, p2p_seq_id=number, collective_seq_id=seq, state="scheduled", record_id=place)
        for place, number in zip((5, 7), numbers, strict=True)
    ]
    dumps = [dump(0, sends, PAIR, {0: (12, 10)}), dump(1, [], PAIR, {0: (peer, peer)})]
    return _edges(dumps)[0, 1]


def test_in_a_group_of_two_both_count_the_same_transfers() -> None:
    """The peer came to number 10, or 11: so many of the sends have no recv."""
    none, one = _two_members(peer=10), _two_members(peer=11)

    assert (none["verdict"], none["how"], none["send_only"], none["ambiguous"]) == (
        "INCOMPLETE",
        "two-member counters",
        2,
        0,
    )
    assert (one["verdict"], one["send_only"], one["ambiguous"]) == ("INCOMPLETE", 1, 1)
    assert _two_members(peer=12)["verdict"] == "AMBIGUOUS"


def test_batches_count_once_and_prove_nothing() -> None:
    """Two sends of one batch share a number: the counters no longer count the same calls."""
    assert _two_members(peer=10, batch=True)["verdict"] == "AMBIGUOUS"


def test_a_counter_that_may_be_of_collectives_proves_nothing() -> None:
    """The group has had 20 collectives: 10 may be one of theirs."""
    assert _two_members(peer=10, seq=20)["verdict"] == "AMBIGUOUS"


def test_open_calls_both_ways_leave_it_open_which_lack_a_partner() -> None:
    """An active send and an active recv; the peer is one transfer short, in one direction or the other."""
    open_calls = [
        send(0, 1, p2p_seq_id=11, collective_seq_id=0, state="scheduled", record_id=5),
        recv(1, 0, p2p_seq_id=12, collective_seq_id=0, state="scheduled", record_id=7),
    ]
    dumps = [dump(0, open_calls, PAIR, {0: (12, 10)}), dump(1, [], PAIR, {0: (11, 10)})]

    assert {edge["verdict"] for edge in _edges(dumps).values()} == {"AMBIGUOUS"}


@pytest.mark.parametrize("first", range(4))
def test_a_pipeline_with_rings_that_dropped_different_calls_is_never_unsound(first: int) -> None:
    """Three stages, windows that begin anywhere: SOLVED or AMBIGUOUS, no mismatch, nobody waits."""
    middle = [row for size in range(1, 7) for row in (recv(0, 1, size=size), send(1, 2, size=size))]
    dumps = [
        dump(0, [send(0, 1, size=size) for size in range(1, 7)], TRIO, first=first),
        dump(1, middle, TRIO, first=2 * first + 1),
        dump(2, [recv(1, 2, size=size) for size in range(1, 7)], TRIO, first=1),
    ]

    job = _job(dumps)

    assert set(job.p2p["verdict"]) <= {"SOLVED", "AMBIGUOUS"}
    assert job.healthy is not False
    assert not job.causes
