"""What a thread was doing when (dependencies 4.1, 4.3, 4.4)."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphstore.link.segments import GAP, Segments, segments

Span = tuple[int, int]


def cut(*spans: Span, lane: list[int] | None = None) -> Segments:
    """Return the segments of spans in the order of their entry, on lane 0 unless told."""
    start, end = (np.array([span[side] for span in spans], np.int64) for side in (0, 1))
    return segments(np.array(lane or [0] * len(spans), np.int64), start, end)


def shown(found: Segments) -> list[tuple[int, int, int]]:
    """Return (start, end, owner) of each segment."""
    return list(zip(found.start.tolist(), found.end.tolist(), found.owner.tolist(), strict=True))


def test_each_moment_belongs_to_the_innermost_op() -> None:
    """1 encloses 2: the time before, inside and behind the inner one stays where it was."""
    found = cut((0, 100), (20, 50))

    assert shown(found) == [(0, 20, 0), (20, 50, 1), (50, 100, 0)]
    assert found.opens.tolist() == [True, True, False]
    assert found.above.tolist() == [GAP, 0]


def test_time_of_no_op_is_a_gap_and_each_thread_stands_alone() -> None:
    """Between two outermost ops lies a gap; before the first and behind the last of a thread lies none."""
    found = cut((10, 20), (50, 60), (0, 5), lane=[0, 0, 1])

    assert shown(found) == [(10, 20, 0), (20, 50, GAP), (50, 60, 1), (0, 5, 2)]
    assert found.lane.tolist() == [0, 0, 0, 1]


def test_a_child_that_sticks_out_by_one_microsecond_is_a_sibling() -> None:
    """Whole-µs files round: the op around it ends where the other begins, and nothing is lost of that."""
    found = cut((0, 100_000), (40_000, 101_000))

    assert shown(found) == [(0, 40_000, 0), (40_000, 101_000, 1)]
    assert found.above.tolist() == [GAP, GAP]


def test_a_child_that_sticks_out_by_more_is_cut_at_the_end_of_the_op_around_it() -> None:
    """1,001 ns are no rounding; what follows is the time of none."""
    found = cut((0, 100_000), (40_000, 101_001), (150_000, 160_000))

    assert shown(found) == [
        (0, 40_000, 0),
        (40_000, 100_000, 1),
        (100_000, 150_000, GAP),
        (150_000, 160_000, 2),
    ]
    assert found.above.tolist() == [GAP, 0, GAP]


def test_a_sibling_by_rounding_stays_below_the_op_around_both() -> None:
    """Only the op it sticks out of is left, not those above."""
    found = cut((0, 200_000), (10_000, 100_000), (40_000, 100_500))

    assert found.above.tolist() == [GAP, 0, 0]
    assert shown(found)[-1] == (100_500, 200_000, 0)


def test_an_op_of_no_length_still_opens_a_segment() -> None:
    """Each op is a node of the file, be it ever so short; it cuts the one around it in two."""
    found = cut((0, 10), (5, 5))

    assert shown(found) == [(0, 5, 0), (5, 5, 1), (5, 10, 0)]


def test_ops_that_begin_together_open_in_the_order_given() -> None:
    """Callers sort by (start, longest first, order of creation): the first given encloses the second."""
    found = cut((0, 10), (0, 10), (0, 0))

    assert shown(found) == [(0, 0, 0), (0, 0, 1), (0, 0, 2), (0, 10, 1)]
    assert found.above.tolist() == [GAP, 0, 1]


def test_no_spans_have_no_segments() -> None:
    """An empty rank is one, too."""
    found = cut()

    assert shown(found) == []
    assert found.above.tolist() == []


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 50), st.integers(0, 40)), max_size=25))
def test_the_segments_of_a_thread_follow_each_other_without_holes(given_: list[tuple[int, int, int]]) -> None:
    """Whatever the spans: each op opens once, in its order, and the time from first start to last end is
    there.
    """
    ordered = sorted(given_, key=lambda row: (row[0], row[1], -row[2]))
    lane, start, length = (np.array([row[k] for row in ordered], np.int64) for k in range(3))

    found = segments(lane, start * 1_000, (start + length) * 1_000)

    assert found.owner[found.opens].tolist() == list(range(len(ordered)))
    assert (found.start[found.opens] == start * 1_000).all()
    follows = found.lane[1:] == found.lane[:-1]
    assert (found.start[1:][follows] == found.end[:-1][follows]).all()
    assert (found.end >= found.start).all()
    assert ((found.end > found.start) | found.opens).all()
