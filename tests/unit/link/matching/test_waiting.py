from __future__ import annotations

from collections.abc import Sequence

from graphstore.link.matching.matching import match_dumps
from graphstore.link.matching.model import JobMatching, RankDump
from tests.data.flight import call, closing, dump, recv, send, waiting

TRIO = {"0": [0, 1, 2], "1": [0, 1], "2": [1, 2]}


def _job(*dumps: RankDump) -> JobMatching:
    (job,) = match_dumps(dumps).jobs
    return job


def _three(*calls: Sequence[dict[str, object]]) -> JobMatching:
    return _job(*(dump(rank, rows, TRIO) for rank, rows in enumerate(calls)))


def test_a_rank_waits_in_its_first_unfinished_call_in_order_of_recording() -> None:
    """Two calls are open; the one recorded first counts, and how many there are."""
    job = _three([waiting(group="1"), waiting()], [waiting()], [waiting()])

    assert job.first_unfinished[0] == {
        "kind": "coll",
        "group": "1",
        "at": 1,
        "op": "nccl:all_reduce",
        "site": None,
        "n": 2,
    }


def test_a_rank_that_stands_in_another_call_is_queued() -> None:
    """Ranks 0 and 2 are in the call of all three; rank 1 has it, too, behind one that rank 2 never made."""
    job = _three([waiting()], [waiting(group="2"), waiting()], [waiting()])

    assert job.waits_for == {0: {1: "queued"}, 1: {2: "never"}, 2: {1: "queued"}}


def test_a_call_that_one_member_finished_is_waited_in_by_nobody() -> None:
    """Finished by one = entered by all; a rank without a dump changes nothing in that."""
    groups = {"0": [0, 1, 2]}
    job = _job(dump(0, [waiting()], groups), dump(1, [call()], groups))

    assert (job.waits_for, job.first_unfinished[0]["at"]) == ({}, 1)


def test_a_broadcast_is_waited_in_for_those_who_are_not_done() -> None:
    """Its root may be done first; rank 2 never came."""
    rows = [waiting("broadcast")]
    job = _three([call("broadcast")], rows, [])

    assert job.waits_for[1] == {2: "undecided"}  # rank 2's dump is empty, so it is not known


def test_both_ends_of_one_edge_wait_for_nobody() -> None:
    """A send and its recv, both active: the transfer is going on."""
    pair = {"0": [0, 1]}
    job = _job(dump(0, [send(0, 1, state="scheduled")], pair), dump(1, [recv(0, 1, state="scheduled")], pair))

    assert (job.waits_for, job.healthy) == ({}, None)


def test_a_batch_is_one_unit() -> None:
    """Rank 1's recv from 0 runs in one batch with a send to 2 recorded before it: it is not queued."""
    batch = [
        send(1, 2, block=True, state="scheduled"),
        recv(0, 1, block=True, state="scheduled"),
        closing(is_p2p=True, state="scheduled"),
    ]
    job = _three([send(0, 1, state="scheduled")], batch, [waiting(group="2")])

    assert job.first_unfinished[1]["at"] == [1, 2]
    assert job.first_unfinished[1]["n"] == 2
    assert job.waits_for == {1: {2: "never"}, 2: {1: "never"}}


def test_a_partner_that_is_posted_but_held_up_is_queued() -> None:
    """Rank 1 has the recv, behind a call that rank 2 never made."""
    job = _three(
        [send(0, 1, state="scheduled")],
        [waiting(group="2"), recv(0, 1, state="scheduled")],
        [call(group="9")],
    )

    assert job.waits_for == {0: {1: "queued"}, 1: {2: "never"}}


def test_a_partner_that_cannot_be_placed_is_a_wait_between_the_two() -> None:
    """Both dropped calls: which recv is the partner is not known, and rank 1 stands elsewhere."""
    bare = {"op_id": None}
    job = _job(
        dump(0, [send(0, 1) | bare, send(0, 1, state="scheduled") | bare], TRIO, first=1),
        dump(1, [recv(0, 1) | bare, waiting(group="2") | bare, recv(0, 1) | bare], TRIO, first=1),
        dump(2, [call(), call()], TRIO, first=1),
    )

    assert job.waits_for[0] == {1: "p2p"}


def test_ranks_in_one_call_share_what_it_waits_for() -> None:
    """Four thousand ranks in one call are four thousand edges, not sixteen million."""
    world = {"0": list(range(200))}
    job = _job(*(dump(rank, [call(), waiting()] if rank < 100 else [call()], world) for rank in range(200)))

    assert len(job.waits_for) == 100
    assert len({id(waits) for waits in job.waits_for.values()}) == 1
    assert job.waits_for[0] == dict.fromkeys(range(100, 200), "never")
