from __future__ import annotations

from graphstore.link.matching.matching import match_dumps
from tests.data.flight import call, dump, gloo, recv, send, waiting

TRIO = {"0": [0, 1, 2]}


def test_an_absent_call_nobody_waits_in_is_told_all_the_same() -> None:
    """The root has sent its broadcast and is done; rank 2 never came, and rank 1 is done, too."""
    rows = [call("broadcast"), call("broadcast")]

    (job,) = match_dumps(dump(rank, rows if rank < 2 else rows[:1], TRIO) for rank in range(3)).jobs

    (cause,) = job.causes
    assert (cause.rule, cause.blamed, cause.confidence) == ("never_called", [2], "medium")
    assert cause.message == "rank 2 never called broadcast #2 on default_pg[0-2]; ranks 0,1 made it"


def test_a_finished_send_without_a_recv_is_told() -> None:
    """Buffered, so nobody waits; whose fault it is cannot be told."""
    (job,) = match_dumps([dump(0, [send(0, 1), send(0, 1)]), dump(1, [recv(0, 1)])]).jobs

    (cause,) = job.causes
    assert (cause.rule, cause.ranks, cause.undecided, job.healthy) == ("never_called", [1], [0, 1], False)


def test_a_wait_for_members_no_file_names_is_told() -> None:
    """Three parts, two ranks in the files: they wait, and who is missing is not known."""
    rows = [gloo("all_gather", size=4, out=12, group="7", retired=False)]

    (job,) = match_dumps(dump(rank, rows, {"": None}) for rank in (0, 1)).jobs

    (cause,) = job.causes
    assert (cause.rule, cause.ranks, job.culprits, job.healthy) == ("undecided", [0, 1], [], None)
    assert cause.message == (
        "ranks 0,1 are in all_gather #1 on group_7[0,1]; shapes prove 3 members, 1 of them in no file: "
        "whether they made the call cannot be told"
    )


def test_transfers_in_flight_are_told() -> None:
    """A send and its recv are open at both ends."""
    dumps = [dump(0, [send(0, 1, state="scheduled")]), dump(1, [recv(0, 1, state="scheduled")])]

    (cause,) = match_dumps(dumps).jobs[0].causes

    assert (cause.rule, cause.ranks, cause.evidence) == ("in_flight", [0, 1], {"calls": 0, "edges": 1})
    assert "first: send to rank 1 on default_pg[0,1]" in cause.message


def test_calls_in_flight_are_one_cause() -> None:
    """Two calls open on both ranks: one line."""
    (job,) = match_dumps(dump(rank, [waiting(), waiting()]) for rank in (0, 1)).jobs

    assert [cause.evidence for cause in job.causes] == [{"calls": 2, "edges": 0}]
