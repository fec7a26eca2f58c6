from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphstore.link.matching.absence import (
    EVICTED,
    FILTERED,
    LOST,
    NO_DUMP,
    NOT_REACHED,
    UNDECIDED,
    WINDOW_ENDED,
    Knowledge,
    absent_ranges,
)
from graphstore.link.matching.status import Counters

Told = list[tuple[str, int, int]]


def _told(known: Knowledge, kept: list[int], first: int, last: int) -> Told:
    ranges = absent_ranges(known, np.array(kept, dtype=np.int64), first, last)
    return [(part.absence, part.first, part.last) for part in ranges]


@pytest.mark.parametrize(
    ("known", "kept", "told"),
    [
        (Knowledge(), [3, 4, 7], [(EVICTED, 1, 2), (LOST, 5, 6), (NOT_REACHED, 8, 9)]),
        (Knowledge(has_dump=False), [], [(NO_DUMP, 1, 9)]),
        (Knowledge(), [], [(UNDECIDED, 1, 9)]),  # the ring may have dropped them
        (Knowledge(is_whole=True), [], [(NOT_REACHED, 1, 9)]),
        (Knowledge(is_empty=True), [], [(UNDECIDED, 1, 9)]),
        (Knowledge(is_empty=True, counters=Counters.exactly(6)), [], [(FILTERED, 1, 6), (NOT_REACHED, 7, 9)]),
        (Knowledge(counters=Counters.exactly(6)), [], [(EVICTED, 1, 6), (NOT_REACHED, 7, 9)]),
        (Knowledge(is_filtered=True), [4], [(FILTERED, 1, 3), (UNDECIDED, 5, 9)]),
        (
            Knowledge(is_filtered=True, counters=Counters.exactly(6)),
            [4],
            [(FILTERED, 1, 3), (FILTERED, 5, 6), (NOT_REACHED, 7, 9)],
        ),
        (Knowledge(counters=Counters.exactly(6)), [1, 4], [(LOST, 2, 3), (LOST, 5, 6), (NOT_REACHED, 7, 9)]),
        (
            Knowledge(is_empty=True, counters=Counters(at_most=5)),
            [],
            [(UNDECIDED, 1, 5), (NOT_REACHED, 6, 9)],
        ),
        (Knowledge(is_trace=True), [3, 5], [(EVICTED, 1, 2), (LOST, 4, 4), (WINDOW_ENDED, 6, 9)]),
        (
            Knowledge(is_trace=True, passed=7),
            [5],
            [(EVICTED, 1, 4), (NOT_REACHED, 6, 7), (WINDOW_ENDED, 8, 9)],
        ),
    ],
)
def test_the_class_of_an_absent_call(known: Knowledge, kept: list[int], told: Told) -> None:
    """Of the numbers 1 to 9, those not kept: each class with what proves it."""
    assert _told(known, kept, 1, 9) == told


def test_a_counter_behind_the_records_is_not_believed() -> None:
    """Calls 4 and 5 are kept though pg_status says 2: the hole between 2 and 4 was made, and is lost."""
    assert _told(Knowledge(counters=Counters.exactly(2)), [1, 2, 4, 5], 1, 5) == [(LOST, 3, 3)]


def test_dropped_calls_are_done_up_to_one_that_is() -> None:
    """NCCL ends a group's collectives in order; gloo does not."""
    for in_order, done in ((True, [True, False]), (False, [False])):
        known = Knowledge(last_done=4, in_order=in_order, counters=Counters.exactly(8))
        ranges = absent_ranges(known, np.array([7]), 1, 6)
        assert [part.is_done for part in ranges] == done


def test_a_filtered_call_is_done_only_if_the_filter_left_it_out() -> None:
    """Only active calls were written, so the others have ended; an empty dump of another kind proves none."""
    counters = Counters.exactly(3)
    for is_filtered in (True, False):
        known = Knowledge(is_empty=True, is_filtered=is_filtered, counters=counters)
        (part,) = absent_ranges(known, np.zeros(0, dtype=np.int64), 1, 3)
        assert part.is_done == is_filtered


@given(
    st.sets(st.integers(1, 20)),
    st.builds(
        Knowledge,
        is_empty=st.just(False),
        is_filtered=st.booleans(),
        is_whole=st.booleans(),
        is_trace=st.booleans(),
        last_done=st.integers(0, 20),
        passed=st.none() | st.integers(0, 20),
        counters=st.builds(
            Counters,
            at_least=st.none() | st.integers(0, 20),
            at_most=st.none() | st.integers(0, 20),
            completed=st.none() | st.integers(-1, 20),
        ),
    ),
)
def test_every_number_is_kept_or_in_one_range(kept: set[int], known: Knowledge) -> None:
    """Ranges are disjoint, rise, and cover exactly what is not kept."""
    ranges = absent_ranges(known, np.array(sorted(kept), dtype=np.int64), 1, 20)

    covered = [seq for part in ranges for seq in range(part.first, part.last + 1)]
    assert covered == sorted(set(range(1, 21)) - kept)
