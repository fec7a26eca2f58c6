"""Order and paths of a graph, compared with slower ways to the same answer."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphstore.export.simulator.paths import Order

GRAPHS = st.integers(1, 9).flatmap(
    lambda count: st.tuples(
        st.permutations(range(count)),
        st.sets(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)), max_size=20),
    )
)


def order_of(ids: list[int], edges: set[tuple[int, int]]) -> Order:
    """Return the order of a graph whose edges are (awaited, waiting)."""
    awaited, waiting = np.array(sorted(edges), np.int64).reshape(-1, 2).T
    return Order(np.array(ids, np.uint64), awaited, waiting)


@given(GRAPHS)
def test_the_smallest_ready_id_comes_next_and_what_is_behind_a_cycle_never(
    graph: tuple[list[int], set[tuple[int, int]]],
) -> None:
    """Compared with looking at all nodes before each step."""
    ids, edges = graph
    expected: list[int] = []
    while ready := [
        node
        for node in range(len(ids))
        if node not in expected and all(awaited in expected for awaited, waiting in edges if waiting == node)
    ]:
        expected.append(min(ready, key=lambda node: ids[node]))

    order = order_of(ids, edges)

    assert order.sequence == expected
    assert order.runs().tolist() == [node in expected for node in range(len(ids))]


@given(GRAPHS)
def test_a_pair_is_unordered_exactly_when_no_path_joins_it(
    graph: tuple[list[int], set[tuple[int, int]]],
) -> None:
    """Compared with the closure of the edges, for all pairs of nodes that run."""
    ids, edges = graph
    order = order_of(ids, edges)
    runs = np.flatnonzero(order.runs()).tolist()
    pairs = np.array([(a, b) for a in runs for b in runs if a != b], np.int64).reshape(-1, 2).T
    before: dict[int, set[int]] = {}
    for node in order.sequence:
        direct = {awaited for awaited, waiting in edges if waiting == node}
        before[node] = direct.union(*(before[dep] for dep in direct))

    places, open_pairs = order.unordered(pairs[0], pairs[1])

    expected = [place for place, (a, b) in enumerate(pairs.T.tolist()) if a not in before[b]]
    assert (places.tolist(), open_pairs) == (expected, 0)


def test_a_search_ends_with_its_budget() -> None:
    """Of many questions on a wide graph some stay open; none of them is told as unordered."""
    side = 60
    nodes = 3 * side
    layers = [range(k * side, (k + 1) * side) for k in range(3)]
    edges = {(a, b) for low, high in pairwise(layers) for a in low for b in high}
    order = order_of(list(range(nodes)), edges)
    ends = np.array([(a, b) for a in layers[0] for b in layers[2]] * 20, np.int64).T

    places, open_pairs = order.unordered(ends[0], ends[1])

    assert len(places) == 0
    assert open_pairs >= 0


def test_what_a_node_releases_is_counted() -> None:
    """Node 0 alone is free; 1 waits for 0, 2 for both: the deeper one releases it."""
    order = order_of([0, 1, 2], {(0, 1), (0, 2), (1, 2)})

    assert list(order.released_at_once()) == [(-1, 1), (0, 1), (1, 1)]
