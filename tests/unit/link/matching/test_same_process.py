from __future__ import annotations

from typing import Any

from graphstore.link.matching.reduce import DONE, UNDONE, Reduced, reduce_dump
from graphstore.link.matching.same_process import is_same_process, join
from tests.data.flight import Row, call, dump, numbered


def _reduced(calls: list[Row], **more: Any) -> Reduced:
    return reduce_dump(dump(0, calls, **more))


def _sites(reduced: Reduced) -> list[str | None]:
    return [reduced.sites[code] if code >= 0 else None for code in reduced.site]


def test_records_shared_with_equal_times_are_one_process() -> None:
    """A dump made twice, the ring moved on in between."""
    early, late = _reduced([call()] * 3), _reduced([call()] * 5, first=2)

    assert is_same_process(early, late)


def test_shared_numbers_with_other_times_are_two_processes() -> None:
    """A restarted job counts its records from 0 again."""
    again = [row | {"start_ns": row["start_ns"] + 1} for row in numbered([call()] * 3)]

    assert not is_same_process(_reduced([call()] * 3), _reduced(again))


def test_without_shared_numbers_the_later_records_must_be_the_later_made() -> None:
    """Numbers that go on fit one process; numbers that go on backwards in time do not."""
    early, late = _reduced([call()] * 2), _reduced([call()] * 5, first=3)
    before = [row | {"start_ns": row["start_ns"] - 10**9} for row in numbered([call()] * 5)]

    assert is_same_process(early, late)
    assert not is_same_process(early, _reduced(before, first=3))


def test_joined_dumps_keep_the_further_state_and_the_site_that_is_known() -> None:
    """Pickle and JSON of one rank, the JSON made later: it has the states, the pickle the call sites."""
    pickled = _reduced([call(state="scheduled", site="a.py:1")] * 2, file="a")
    text = _reduced([call(state="completed")] * 3, file="b")

    for joined in (join(pickled, text), join(text, pickled)):
        assert joined.record.tolist() == [0, 1, 2]
        assert joined.state.tolist() == [DONE, DONE, DONE]
        assert _sites(joined) == ["a.py:1", "a.py:1", None]
        assert joined.file == "a, b"


def test_joined_dumps_keep_the_further_counters_and_the_better_list() -> None:
    """pg_status of both, the larger numbers; groups of the dump that lists more."""
    first = _reduced([call()], groups={"0": [0, 1]}, status={0: (1, 1)}, file="a")
    second = _reduced(
        [call(), call(state="scheduled")], groups={"": None}, status={0: (2, 1), 1: (5, 5)}, file="b"
    )

    joined = join(second, first)

    assert joined.state.tolist() == [DONE, UNDONE]
    assert joined.flight["pg_config"][0]["ranks"] == [0, 1]
    assert joined.flight["pg_status"]["0"]["last_enqueued_collective"] == 2
    assert joined.flight["pg_status"]["1"]["last_completed_collective"] == 5
