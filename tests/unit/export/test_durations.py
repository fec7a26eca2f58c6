"""Whole microseconds that add up."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from graphstore.export.durations import start_and_duration_us
from tests.unit.export.ranks import kernel, op, rank_of, timed


def test_an_op_lasts_its_own_time_without_what_it_encloses() -> None:
    """1 encloses 2, which encloses 3: each is written with what is left."""
    rank = rank_of(
        [timed(1, 0, 10_000), timed(2, 1000, 7000, encloser=1), timed(3, 2000, 4000, encloser=2)],
    )

    start, duration = start_and_duration_us(rank)

    assert start.tolist() == [0, 1, 2]
    assert duration.tolist() == [4, 4, 2]


def test_an_op_without_times_has_neither_start_nor_duration() -> None:
    """Nothing is invented where the files hold no times."""
    start, duration = start_and_duration_us(rank_of([op(1), timed(2, 5000, 6000)]))

    assert start.tolist() == [-1, 5]
    assert duration.tolist() == [-1, 1]


def test_a_short_op_is_rounded_not_cut() -> None:
    """0.9 µs is 1 µs; the converter that cut it to 0 lost up to 6 % of a span."""
    _, duration = start_and_duration_us(rank_of([], kernels=[kernel(1, 0, 900), kernel(2, 900, 1800)]))

    assert duration.tolist() == [1, 1]


def test_children_that_overlap_never_make_a_negative_duration() -> None:
    """A wrong file may show two children at once; what is left of the parent is 0."""
    rank = rank_of([timed(1, 0, 2000), timed(2, 0, 2000, encloser=1), timed(3, 0, 2000, encloser=1)])

    assert start_and_duration_us(rank)[1].tolist() == [0, 2, 2]


@given(st.lists(st.integers(1, 4000), min_size=2, max_size=30))
@settings(deadline=None)
def test_the_pieces_of_an_op_add_up_to_its_rounded_span(lengths: list[int]) -> None:
    """However many children there are, the sum over the thread is off by less than 1 µs."""
    edges = [0]
    for length in lengths:
        edges.append(edges[-1] + length)
    inner = [
        timed(uid, edges[i], edges[i + 1], encloser=1)
        for uid, i in enumerate(range(0, len(edges) - 1, 2), start=2)
    ]
    rank = rank_of([timed(1, 0, edges[-1]), *inner])

    assert start_and_duration_us(rank)[1].sum() == (edges[-1] + 500) // 1000
