"""Cycles, against a definition that is slow and plain."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphstore.queries.components import Cycle, Edges, cycles, self_edges

PAIRS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=25)


def edges(pairs: list[tuple[int, int]], types: list[str] | None = None) -> Edges:
    """Return pairs as columns; uids are shifted far beyond 32 bits, as real ones are."""
    given = np.array(pairs, dtype=np.int64).reshape(-1, 2) + (1 << 40)
    return Edges(given[:, 0], given[:, 1], np.array(types or ["CTRL"] * len(pairs), dtype=object))


def plain(found: list[Cycle]) -> list[tuple[tuple[int, ...], tuple[str, ...], int]]:
    """Return cycles with the uids shifted back."""
    return [(tuple(uid - (1 << 40) for uid in cycle.nodes), cycle.types, cycle.size) for cycle in found]


def reachable(pairs: list[tuple[int, int]], start: int) -> set[int]:
    """Return what can be reached from a node by one edge or more."""
    seen: set[int] = set()
    waiting = [target for source, target in pairs if source == start]
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            waiting += [target for source, target in pairs if source == node]
    return seen


def test_a_cycle_of_two_is_named_with_its_types() -> None:
    """5 → 6 by one type and 6 → 5 by another."""
    assert plain(cycles(edges([(5, 6), (6, 5)], ["CTRL", "DATA"]))) == [((5, 6), ("CTRL", "DATA"), 2)]


def test_a_cycle_through_four_ops_comes_in_order() -> None:
    """The chain of a sync edge that points back; the edge beside it is not in it."""
    pairs = [(2, 10), (10, 20), (20, 11), (11, 21), (21, 10)]

    found = plain(cycles(edges(pairs, ["CTRL", "CTRL", "SYNC", "CTRL", "SYNC"])))

    assert found == [((10, 20, 11, 21), ("CTRL", "SYNC", "CTRL", "SYNC"), 4)]


def test_the_shortest_way_stands_for_a_part_with_several_cycles() -> None:
    """1 → 2 → 1 is shorter than 1 → 2 → 3 → 1; the part has three nodes."""
    assert plain(cycles(edges([(1, 2), (2, 3), (3, 1), (2, 1)]))) == [((1, 2), ("CTRL", "CTRL"), 3)]


def test_a_tree_and_no_edges_hold_no_cycle() -> None:
    """Nor does a node that names itself count as one."""
    assert cycles(edges([(1, 2), (1, 3), (3, 3)])) == []
    assert cycles(edges([])) == []
    assert self_edges(edges([(1, 2), (3, 3), (3, 3)])).tolist() == [3 + (1 << 40)]


def test_a_cycle_of_a_hundred_thousand_ops_is_found() -> None:
    """Nothing recurses."""
    count = 100_000
    pairs = [(node, (node + 1) % count) for node in range(count)]

    found = cycles(edges(pairs))

    assert [(len(cycle.nodes), cycle.size) for cycle in found] == [(count, count)]


@given(PAIRS)
def test_cycles_are_cycles_and_every_part_has_one(pairs: list[tuple[int, int]]) -> None:
    """Each step is an edge, and the parts are those of mutual reachability."""
    found = plain(cycles(edges(pairs)))

    parts = {
        frozenset(n for n in reachable(pairs, node) if node in reachable(pairs, n)) | {node}
        for node in range(10)
    }
    parts = {part for part in parts if len(part) > 1}
    assert sorted(min(part) for part in parts) == [nodes[0] for nodes, _, _ in found]
    for nodes, types, size in found:
        assert all(step in pairs for step in pairwise([*nodes, nodes[0]]))
        assert len(set(nodes)) == len(nodes) == len(types)
        assert size == len(next(part for part in parts if nodes[0] in part))
