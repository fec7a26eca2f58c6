"""When the nodes of a file run, for a reader that has only durations and deps (dependencies §2)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphstore.export.replay import COMMUNICATION, CPU, GPU, Deps, deps_of, in_slots, unlimited


def ints(*values: int) -> np.ndarray:
    """Return a column."""
    return np.array(values, np.int64)


def deps(count: int, *pairs: tuple[int, int]) -> Deps:
    """Return deps from (dep, node)."""
    ends = np.array(pairs, np.int64).reshape(-1, 2)
    return deps_of(ends[:, 0], ends[:, 1], count)


def test_deps_are_told_by_node_ascending_and_once() -> None:
    """3 waits for 0 and 2, named twice and out of order; 1 for nothing."""
    found = deps(4, (2, 3), (0, 3), (2, 3), (0, 2))

    assert found.first.tolist() == [0, 0, 0, 1, 3]
    assert found.ids.tolist() == [0, 0, 2]


def test_a_node_starts_when_the_last_of_its_deps_has_ended() -> None:
    """0 and 1 run side by side; 2 waits for both, so for the longer one."""
    assert unlimited(ints(10, 30, 5), deps(3, (0, 2), (1, 2))).tolist() == [0, 0, 30]


def test_a_node_without_deps_starts_where_the_caller_says() -> None:
    """At 0 unless told; one with deps starts no earlier than told either."""
    nothing = deps(3, (0, 2))

    assert unlimited(ints(10, 10, 10), nothing, ints(5, 7, 90)).tolist() == [5, 7, 90]


def test_one_node_of_a_slot_runs_at_a_time() -> None:
    """0 and 1 are on the CPU and free at once: the lower id comes first. 2, on the GPU, does not wait."""
    found = in_slots(ints(10, 20, 5), deps(3), ints(CPU, CPU, GPU))

    assert found.tolist() == [0, 10, 0]


def test_of_the_free_nodes_of_a_slot_the_lowest_id_comes_first() -> None:
    """3 becomes free before 1, but when the slot is free again both wait: 1 comes first."""
    # 0: GPU until 10, then 1 is free; 2: CPU until 20; 3: CPU, free from the start.
    found = in_slots(ints(10, 5, 20, 5), deps(4, (0, 1)), ints(GPU, CPU, CPU, CPU))

    assert found.tolist() == [0, 20, 0, 25]


def test_a_communication_holds_a_slot_of_its_own() -> None:
    """Computation on the GPU goes on beside it; a second communication waits."""
    found = in_slots(ints(10, 10, 10), deps(3), ints(GPU, COMMUNICATION, COMMUNICATION))

    assert found.tolist() == [0, 0, 10]


def test_a_node_of_no_slot_never_waits_for_one() -> None:
    """Negative slots hold nothing."""
    assert in_slots(ints(10, 10, 10), deps(3), ints(-1, -1, -1)).tolist() == [0, 0, 0]


def test_nodes_of_no_length_pass_through() -> None:
    """A chain of them ends where it began."""
    found = in_slots(ints(0, 0, 5, 0), deps(4, (0, 1), (1, 2), (2, 3)), ints(CPU, CPU, CPU, CPU))

    assert found.tolist() == [0, 0, 0, 5]


def test_nothing_to_play_is_no_start() -> None:
    """An empty file."""
    assert unlimited(ints(), deps(0)).tolist() == []
    assert in_slots(ints(), deps(0), ints()).tolist() == []


GRAPHS = st.integers(1, 15).flatmap(
    lambda count: st.tuples(
        st.lists(st.integers(0, 9), min_size=count, max_size=count),
        st.lists(st.integers(-1, 2), min_size=count, max_size=count),
        st.lists(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)), max_size=30),
    )
)


@given(GRAPHS)
def test_every_reader_keeps_deps_and_slots(graph: tuple[list[int], list[int], list[tuple[int, int]]]) -> None:
    """No node starts before what it waits for has ended; no two nodes of a slot overlap; a reader with slots
    is never earlier than one without.
    """
    lasts, slots, pairs = graph
    pairs = [(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]]
    duration, slot = ints(*lasts), ints(*slots)

    free = unlimited(duration, deps(len(lasts), *pairs))
    held = in_slots(duration, deps(len(lasts), *pairs), slot)

    for start in (free, held):
        assert all(start[node] >= start[dep] + duration[dep] for dep, node in pairs)
    assert (held >= free).all()
    for value in {value for value in slots if value >= 0}:
        mine = np.flatnonzero(slot == value)
        spans = sorted(zip(held[mine].tolist(), (held + duration)[mine].tolist(), strict=True))
        assert all(one[1] <= other[0] for one, other in pairwise(spans))
