from __future__ import annotations

from collections.abc import Sequence

from graphstore.link.matching.matching import match_dumps
from graphstore.link.matching.model import Cause, JobMatching, RankDump
from tests.data.flight import Row, call, dump, gloo, recv, send, waiting

TRIO = {"0": [0, 1, 2], "1": [1, 2]}
UNLISTED = {"": None}


def _job(dumps: Sequence[RankDump]) -> JobMatching:
    (job,) = match_dumps(dumps).jobs
    return job


def _never(dumps: Sequence[RankDump]) -> Cause:
    (cause,) = [cause for cause in _job(dumps).causes if cause.rule == "never_called"]
    return cause


def _gloo(last: Row, status: dict[int, tuple[int, int]] | None = None) -> list[RankDump]:
    """Return a gloo job in which rank 2 lacks a call that ranks 0 and 1 wait in."""
    rows = [gloo(), gloo(retired=False)]
    return [dump(0, rows, TRIO), dump(1, rows, TRIO), dump(2, [last], TRIO, status)]


def test_an_idle_rank_is_blamed() -> None:
    """Nothing is open on rank 2, and it lacks a call of the two others."""
    rows = [call(), waiting()]

    assert _never([dump(0, rows, TRIO), dump(1, rows, TRIO), dump(2, [call()], TRIO)]).blamed == [2]


def test_a_rank_in_a_call_that_all_have_made_is_not_at_fault() -> None:
    """Ranks 1 and 2 are in their pair's call, which hangs below c10d; rank 0 waits for both."""
    rows = [waiting(group="1")]

    job = _job([dump(0, [waiting()], TRIO), dump(1, rows, TRIO), dump(2, rows, TRIO)])

    (cause,) = job.causes
    assert (cause.rule, cause.ranks, cause.evidence["held_up"]) == ("in_flight", [1, 2], [0])
    assert (job.culprits, job.undecided_between, job.healthy) == ([], [], False)


def test_a_rank_that_waits_in_a_group_of_unknown_members_is_not_blamed() -> None:
    """Rank 2 is in a call of a group nobody lists; who else is in it is not known."""
    rows = [call(), waiting()]
    dumps = [dump(rank, rows, UNLISTED) for rank in (0, 1)]

    cause = _never([*dumps, dump(2, [call(), waiting(group="7")], UNLISTED)])

    assert (cause.ranks, cause.blamed, cause.undecided) == ([2], [], [])
    assert cause.message.endswith("whether rank 2 waits itself, for what no dump shows, cannot be told")


def test_a_rank_in_a_transfer_whose_peer_is_not_known_is_not_blamed() -> None:
    """The group is not listed: place 0 may be any rank."""
    rows = [call(), waiting()]
    dumps = [dump(rank, rows, UNLISTED) for rank in (0, 1)]

    cause = _never([*dumps, dump(2, [call(), recv(0, 1, "7", state="scheduled")], UNLISTED)])

    assert cause.blamed == []


def test_a_gloo_rank_is_idle_only_if_its_counters_say_so() -> None:
    """gloo records no sends: without counters, or with one operation open, rank 2 may be in one."""
    assert _never(_gloo(gloo(), {0: (1, 1)})).blamed == [2]
    assert _never(_gloo(gloo())).blamed == []
    assert _never(_gloo(gloo(), {0: (2, 1)})).blamed == []
    assert _never(_gloo(gloo(), {0: (1, 1), 9: (4, 3)})).blamed == []


def test_a_rank_whose_partner_has_ended_is_stuck_in_its_own_device() -> None:
    """Rank 2's recv is open though its send has ended; the others wait for rank 2 in a call it queued."""
    dumps = [
        dump(0, [send(0, 2), waiting()], TRIO),
        dump(1, [call(group="1"), waiting()], TRIO),
        dump(2, [recv(0, 2, state="scheduled"), waiting(group="1"), waiting()], TRIO),
    ]

    (cause,) = _job(dumps).causes

    assert (cause.rule, cause.blamed, cause.confidence) == ("behind", [2], "medium")
