from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphstore.link.matching.matching import match_dumps
from graphstore.link.matching.model import JobMatching, RankDump
from tests.data.flight import Row, call, dump, gloo, waiting

WORLD = {"0": [0, 1, 2]}


def _job(dumps: Sequence[RankDump]) -> JobMatching:
    (job,) = match_dumps(dumps).jobs
    return job


def _verdicts(dumps: Sequence[RankDump]) -> dict[int, str]:
    return dict(_job(dumps).collectives.select("collective_seq_id", "verdict").rows())


def _dumps(*calls: Sequence[Row], **more: Any) -> list[RankDump]:
    groups = {"0": list(range(len(calls)))}
    return [dump(rank, rows, groups, **more) for rank, rows in enumerate(calls)]


def test_calls_all_members_made_alike_are_matched() -> None:
    """Three calls on two ranks."""
    assert _verdicts(_dumps([call()] * 3, [call()] * 3)) == dict.fromkeys((1, 2, 3), "MATCHED")


def test_a_call_a_member_never_made_is_incomplete() -> None:
    """Rank 1 stops after the first."""
    assert _verdicts(_dumps([call(), waiting()], [call()])) == {1: "MATCHED", 2: "INCOMPLETE"}


def test_a_call_that_one_has_finished_and_one_has_not_is_no_error() -> None:
    """Rank 1 had not noted the end yet."""
    job = _job(_dumps([call()], [waiting()]))

    assert job.collectives["verdict"].to_list() == ["PROGRESS_DIFF"]
    assert job.progress_diff == [
        {"group": "0", "first_seq": 1, "last_seq": 1, "unfinished": [1], "finished": [0]}
    ]
    assert (job.healthy, job.waits_for) == (True, {})


def test_a_call_nobody_has_finished_is_in_flight() -> None:
    """All are in it: the job was running, or the fault lies below; not sound, nobody's fault."""
    job = _job(_dumps([waiting()], [waiting()]))

    assert job.collectives["in_flight"].to_list() == [True]
    assert (job.healthy, job.culprits) == (None, [])
    assert [cause.rule for cause in job.causes] == ["in_flight"]


def test_calls_the_ring_dropped_are_evicted() -> None:
    """Rank 1 keeps the last call only; what it dropped was made, and the job is sound."""
    dumps = [dump(0, [call()] * 3), dump(1, [call()] * 3, first=2)]

    assert _verdicts(dumps) == {1: "EVICTED", 2: "EVICTED", 3: "MATCHED"}
    assert _job(dumps).healthy is True


def test_a_hole_between_kept_calls_is_lost() -> None:
    """Rank 1 lacks call 2 between 1 and 3: it was made, its record is not in the file."""
    dumps = [dump(0, [call()] * 3), dump(1, [call()] * 3, keep=[0, 2])]

    assert _verdicts(dumps) == {1: "MATCHED", 2: "LOST", 3: "MATCHED"}
    assert "LOST group 0 rank 1 #2-2" in _job(dumps).notes


def test_a_synchronous_call_that_one_finished_was_entered_by_all() -> None:
    """Rank 1's dump ends before call 2, which rank 0 has finished: rank 1 was dumped earlier."""
    dumps = _dumps([call(), call()], [call()])

    assert _verdicts(dumps) == {1: "MATCHED", 2: "LOST"}
    assert _job(dumps).healthy is None


def test_a_broadcast_that_its_root_finished_may_miss_a_member() -> None:
    """A root is done when it has sent; rank 1 may never have come."""
    dumps = _dumps([call("broadcast"), call("broadcast")], [call("broadcast")])

    assert _verdicts(dumps) == {1: "MATCHED", 2: "INCOMPLETE"}


def test_a_retired_gloo_call_with_a_member_absent_is_not_finished() -> None:
    """gloo retires a call that timed out, too: ranks 0 and 1 still wait for rank 2."""
    job = _job(_dumps([gloo(), gloo()], [gloo(), gloo(retired=False)], [gloo()]))

    assert job.collectives["verdict"].to_list() == ["MATCHED", "INCOMPLETE"]
    assert sorted(job.first_unfinished) == [0, 1]
    assert job.waits_for == {0: {2: "never"}, 1: {2: "never"}}


def test_a_member_without_a_dump_makes_no_call_unmatched() -> None:
    """Rank 2 has no dump: nothing can be said of its calls."""
    dumps = [dump(rank, [call()], WORLD) for rank in (0, 1)]

    assert _verdicts(dumps) == {1: "NO_DUMP"}
    assert (_job(dumps).healthy, _job(dumps).causes) == (None, [])


def test_a_mismatch_stands_before_everything_else() -> None:
    """Ranks 0 and 1 differ in call 1, and rank 2 has no dump."""
    dumps = [dump(0, [call()], WORLD), dump(1, [call(size=9)], WORLD)]

    assert _verdicts(dumps) == {1: "SIZE_MISMATCH"}


def test_members_that_are_only_proven_by_shapes_are_not_called_present() -> None:
    """Two ranks gather into three parts: a third member exists that no file names."""
    lists = {"": None}
    dumps = [dump(rank, [gloo("all_gather", size=4, out=12, group="1")], lists) for rank in (0, 1)]

    assert _verdicts(dumps) == {1: "NO_DUMP"}
    assert "MEMBERS_UNKNOWN group 1: 1 of 3" in _job(dumps).notes


def test_sites_and_shapes_may_differ_and_are_noted() -> None:
    """The same elements from another line, in another shape: matched, with a note in the table."""
    other = call(size=4, site="b.py:2") | {"in_sizes": "[[2, 2]]"}
    found = _job(_dumps([call(site="a.py:1"), call(site="a.py:1")], [other, call()])).collectives

    assert found["verdict"].to_list() == ["MATCHED", "MATCHED"]
    assert found["site_differs"].to_list() == [True, False]  # an unknown site is not another one
    assert found["shape_differs"].to_list() == [True, False]


def test_numbers_far_apart_cost_no_table_between_them() -> None:
    """One rank is at call 10 ** 15, the other at 1: no memory for what lies between."""
    far = waiting(collective_seq_id=10**15)

    assert _verdicts(_dumps([call()], [far])) == {1: "EVICTED", 10**15: "INCOMPLETE"}


def test_runs_of_calls_with_the_same_members_are_told_once() -> None:
    """Calls 2 to 4 miss rank 2, call 5 misses rank 1 too: two runs."""
    rows = [call(), *[waiting()] * 4]

    job = _job(_dumps(rows, rows[:4], rows[:1]))

    assert [(run["first_seq"], run["last_seq"], run["missing"]) for run in job.incomplete] == [
        (2, 4, {2: "not_reached"}),
        (5, 5, {1: "not_reached", 2: "not_reached"}),
    ]


@pytest.mark.parametrize("state", ["completed", None])
def test_a_job_without_collectives_is_neither_sound_nor_not(state: str | None) -> None:
    """Nothing recorded: nothing can be said."""
    assert _job([dump(0, [], {"": None})]).healthy is None


@settings(deadline=None, max_examples=60)
@given(st.lists(st.lists(st.booleans(), min_size=6, max_size=6), min_size=2, max_size=4))
def test_every_kept_call_has_exactly_one_verdict_and_every_member_one_class(kept: list[list[bool]]) -> None:
    """Whatever records are missing: a row per number that anybody kept, all members in its classes."""
    dumps = [
        dump(
            rank,
            [call()] * 6,
            {"0": list(range(len(kept)))},
            keep=[place for place, is_kept in enumerate(row) if is_kept],
        )
        for rank, row in enumerate(kept)
    ]

    job = _job(dumps)

    numbers = sorted({place + 1 for row in kept for place, is_kept in enumerate(row) if is_kept})
    assert job.collectives["collective_seq_id"].to_list() == numbers
    for classes in job.collectives["classes"]:
        ranks = [part for text in json.loads(classes).values() for part in text.split(",")]
        assert sum(len(range(*_ends(part))) for part in ranks) == len(kept)


def _ends(part: str) -> tuple[int, int]:
    first, _, last = part.partition("-")
    return int(first), int(last or first) + 1
