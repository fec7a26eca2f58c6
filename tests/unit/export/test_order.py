"""Orders of a graph."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphstore.export.order import topological_order

EDGES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=20)


def columns(edges: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    """Return sources and targets."""
    pairs = np.array(edges, np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


@given(EDGES, st.permutations(range(10)))
@settings(deadline=None)
def test_every_edge_of_a_graph_without_cycles_leads_forward(
    edges: list[tuple[int, int]], priority: list[int]
) -> None:
    """Whatever the priorities, what is waited for comes first."""
    source, target = columns([(min(edge), max(edge)) for edge in edges if edge[0] != edge[1]])

    order = topological_order(10, source, target, np.array(priority))

    place = np.argsort(order)
    assert sorted(order.tolist()) == list(range(10))
    assert np.all(place[source] < place[target])


def test_of_the_free_nodes_the_lowest_priority_comes_first() -> None:
    """2 waits for 3; 0 and 1 do not, and keep the order of their starts."""
    source, target = columns([(3, 2)])

    order = topological_order(4, source, target, np.array([1, 0, 2, 3]))

    assert order.tolist() == [1, 0, 3, 2]


def test_a_cycle_has_no_order() -> None:
    """Callers find cycles first; if one is left, nothing is invented."""
    source, target = columns([(0, 1), (1, 0), (1, 2)])

    with pytest.raises(ValueError, match="3 of 3 nodes lie in or behind a cycle"):
        topological_order(3, source, target, np.arange(3))


def test_a_deep_chain_is_ordered_without_recursion() -> None:
    """100,000 nodes in a line against the priorities."""
    count = 100_000
    source, target = np.arange(1, count), np.arange(count - 1)

    order = topological_order(count, source, target, np.arange(count))

    assert order.tolist() == list(range(count - 1, -1, -1))
