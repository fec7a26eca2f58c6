"""Which edges of a file can be kept."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphstore.export.edges import Edges, Kept, kept_edges

Pairs = list[tuple[int, int]]


def kept(times: list[tuple[int, int]], untimed: tuple[int, ...] = (), **rules: Pairs) -> Kept:
    """Return what is kept of edges by rule; those of rules that end with `_` always hold. Slack is 5."""
    edges = Edges()
    for rule, pairs in rules.items():
        ends = np.array(pairs, np.int64).reshape(-1, 2)
        edges.add(rule, ends[:, 0], ends[:, 1], always=rule.endswith("_"))
    start, end = (np.array([time[side] for time in times], np.int64) for side in (0, 1))
    timed = np.array([n not in untimed for n in range(len(times))], np.bool_)
    return kept_edges(edges, start, end, timed, 5, np.arange(len(times)))


def pairs(found: Kept) -> Pairs:
    """Return the edges kept."""
    return sorted(zip(found.source.tolist(), found.target.tolist(), strict=True))


def test_an_edge_from_what_ends_later_than_the_other_starts_contradicts() -> None:
    """By 5 it may: the times are no more exact. The others are left out and counted by rule."""
    found = kept([(0, 15), (0, 16), (10, 20)], wait=[(0, 2), (1, 2)])

    assert pairs(found) == [(0, 2)]
    assert found.left_out == {"wait that ends after what waits for it starts": 1}
    assert found.written == {"wait": 1}


def test_orders_and_launches_hold_whatever_the_times_say() -> None:
    """The clock of a device may run early; the order of the nodes gives way to them."""
    found = kept([(50, 60), (10, 20)], launch_=[(0, 1)])

    assert pairs(found) == [(0, 1)]
    assert found.number.tolist() == [0, 1]


def test_an_edge_without_times_at_one_end_cannot_contradict() -> None:
    """Nothing is known that it could."""
    found = kept([(50, 90), (10, 20)], untimed=(1,), wait=[(0, 1)])

    assert pairs(found) == [(0, 1)]


def test_an_edge_that_closes_a_cycle_is_left_out() -> None:
    """Those that always hold stay; the cycle is broken at the others, and all of them are counted."""
    found = kept([(0, 0), (0, 0), (0, 0)], order_=[(0, 1), (1, 2)], wait=[(2, 0), (0, 2)])

    assert pairs(found) == [(0, 1), (1, 2)]
    assert found.left_out == {"wait that closes a cycle": 2}


def test_an_edge_beside_a_cycle_stays() -> None:
    """3 waits for a node of the cycle and is no part of it."""
    found = kept([(0, 0)] * 4, order_=[(0, 1)], wait=[(1, 0), (1, 3)])

    assert pairs(found) == [(0, 1), (1, 3)]


def test_one_pair_is_one_edge_of_the_rule_given_first() -> None:
    """Orders are given first, then launches, then waits."""
    found = kept([(0, 1), (2, 3)], order_=[(0, 1)], wait=[(0, 1)])

    assert pairs(found) == [(0, 1)]
    assert found.written == {"order_": 1}


def test_nodes_that_nothing_orders_come_by_start() -> None:
    """Then by the tie that the caller gives."""
    found = kept([(20, 30), (5, 6), (5, 9)], order_=[])

    assert found.number.tolist() == [2, 0, 1]


@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 9)), min_size=8, max_size=8),
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=25),
)
def test_every_edge_kept_leads_forward(spans: list[tuple[int, int]], wanted: Pairs) -> None:
    """Whatever is given beside a chain that always holds: no cycle is left, nothing is lost uncounted."""
    wanted = [pair for pair in wanted if pair[0] != pair[1]]
    chain = [(n, n + 1) for n in range(3)]

    found = kept([(start, start + length) for start, length in spans], chain_=chain, wait=wanted)

    assert (found.number[found.source] < found.number[found.target]).all()
    assert sorted(found.number.tolist()) == list(range(8))
    assert sum(found.written.values()) + sum(found.left_out.values()) == len({*chain, *wanted})
