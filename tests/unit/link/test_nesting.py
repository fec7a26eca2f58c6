from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from graphstore.link.nesting import Ints, Spans, last_at_least, max_tree, own_time, sort_spans

# (thread, start, length): few values, so that ties, zero lengths and overlaps are frequent
SPANS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 12), st.integers(0, 8)), min_size=0, max_size=25)


def _columns(spans: list[tuple[int, int, int]], step: int = 1000) -> tuple[Ints, Ints, Ints]:
    group, start, length = np.array(spans, dtype=np.int64).reshape(-1, 3).T
    return group, start * step, (start + length) * step


def _sorted(spans: list[tuple[int, int, int]]) -> Spans:
    group, start, end = _columns(spans)
    return sort_spans(group, start, end, None, np.arange(group.size))


@settings(deadline=None)
@given(SPANS)
def test_encloser_is_the_last_entered_among_those_that_hold_the_span(
    spans: list[tuple[int, int, int]],
) -> None:
    """The sweep finds for each span what a look at all pairs finds."""
    group, start, end = _columns(spans)
    entry = sorted(range(len(spans)), key=lambda i: (group[i], start[i], -end[i], i))
    place = {row: n for n, row in enumerate(entry)}

    found = _sorted(spans).enclosers()

    for i in range(len(spans)):
        holds = [
            j for j in range(len(spans)) if group[j] == group[i] and place[j] < place[i] and end[j] >= end[i]
        ]
        assert found[i] == max(holds, key=lambda j: place[j], default=-1)


@settings(deadline=None)
@given(SPANS, st.lists(st.tuples(st.integers(0, 2), st.integers(0, 21)), max_size=10))
def test_a_moment_lies_in_the_innermost_span_that_goes_on(
    spans: list[tuple[int, int, int]], moments: list[tuple[int, int]]
) -> None:
    """A moment belongs to the last entered span it lies in; one that ends there only if none goes on."""
    group, start, end = _columns(spans)
    entry = {row: n for n, row in enumerate(_sorted(spans).row.tolist())}
    thread, time = np.array(moments, dtype=np.int64).reshape(-1, 2).T

    found = _sorted(spans).innermost(thread, time * 1000)

    for n, (of, at) in enumerate(zip(thread, time * 1000, strict=True)):
        holds = [i for i in range(len(spans)) if group[i] == of and start[i] <= at <= end[i]]
        going_on = [i for i in holds if end[i] > at]
        assert found[n] == max(going_on or holds, key=lambda i: entry[i], default=-1)


def test_a_parent_that_starts_a_rounding_error_after_its_child_still_encloses_it() -> None:
    """Starts and ends within 2 ns are the same; 3 ns are not."""
    group = np.zeros(2, dtype=np.int64)
    start, end = np.array([102, 100]), np.array([500, 202])

    near = sort_spans(group, start, end, None, np.arange(2)).enclosers()
    far = sort_spans(group, start + np.array([1, 0]), end, None, np.arange(2)).enclosers()

    assert near.tolist() == [-1, 0]
    assert far.tolist() == [-1, -1]


def test_external_id_tells_who_came_first_in_one_microsecond() -> None:
    """A zero-length op before a long one of the same start is its sibling; without ids it would be inside."""
    group, start, end = np.zeros(2, dtype=np.int64), np.array([5000, 5000]), np.array([5000, 9000])

    with_ids = sort_spans(group, start, end, np.array([1, 2]), np.arange(2)).enclosers()
    without = sort_spans(group, start, end, None, np.arange(2)).enclosers()

    assert with_ids.tolist() == [-1, -1]
    assert without.tolist() == [1, -1]


def test_external_ids_that_fall_with_time_are_not_believed() -> None:
    """Where an outer op has a higher id than an op that starts later, the longer of two comes first."""
    group = np.zeros(3, dtype=np.int64)
    start, end = np.array([0, 1000, 1000]), np.array([9000, 2000, 5000])

    found = sort_spans(group, start, end, np.array([99, 1, 2]), np.arange(3)).enclosers()

    assert found.tolist() == [-1, 2, 0]


def test_nothing_encloses_across_threads_and_nothing_is_found_in_nothing() -> None:
    """Two threads, one inside the other in time, stay apart; empty tables give empty answers."""
    apart = sort_spans(np.array([0, 1]), np.array([0, 10]), np.array([100, 20]), None, np.arange(2))
    none = np.empty(0, dtype=np.int64)

    assert apart.enclosers().tolist() == [-1, -1]
    assert apart.innermost(np.array([2]), np.array([50])).tolist() == [-1]
    empty = sort_spans(none, none, none, none, none)
    assert empty.enclosers().tolist() == []
    assert empty.innermost(np.array([0]), np.array([5])).tolist() == [-1]
    assert empty.latest_started(np.array([5])).tolist() == [-1]


def test_latest_started_looks_at_all_threads() -> None:
    """The op that began last before a launch may be on another thread (mini 02)."""
    spans = sort_spans(np.array([0, 1]), np.array([100, 148]), np.array([200, 178]), None, np.arange(2))

    assert spans.latest_started(np.array([99, 147, 150])).tolist() == [-1, 0, 1]


@settings(deadline=None)
@given(st.lists(st.integers(-5, 5), max_size=40), st.data())
def test_last_at_least_equals_a_walk_backwards(values: list[int], data: st.DataObject) -> None:
    """The tree answers what a walk from each place backwards answers."""
    queries = data.draw(
        st.lists(st.tuples(st.integers(0, len(values)), st.integers(-6, 6)), min_size=1, max_size=20)
    )
    before, least = np.array(queries, dtype=np.int64).T

    found = last_at_least(max_tree(np.array(values, dtype=np.int64)), before, least)

    expected = [max((i for i in range(place) if values[i] >= value), default=-1) for place, value in queries]
    assert found.tolist() == expected


def test_own_time_leaves_out_direct_children_and_is_never_negative() -> None:
    """A grandchild counts for its parent only; overlapping children can't push the rest below 0."""
    own = own_time(np.array([100, 60, 20, 10]), np.array([-1, 0, 1, -1]))
    overlapping = own_time(np.array([100, 80, 80]), np.array([-1, 0, 0]))

    assert own.tolist() == [40, 40, 20, 10]
    assert overlapping.tolist() == [0, 80, 80]
