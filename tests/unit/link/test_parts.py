"""Strongly connected parts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphstore.link import parts
from graphstore.link.parts import strong_parts


def test_nodes_that_reach_each_other_are_one_part() -> None:
    """0, 1 and 2 form a ring; 3 hangs off it."""
    source, target = np.array([(0, 1), (1, 2), (2, 0), (2, 3)]).T

    part = strong_parts(4, source, target)

    assert len({part[0], part[1], part[2]}) == 1
    assert part[3] != part[0]


def test_without_edges_every_node_is_a_part() -> None:
    """Nothing reaches anything."""
    nothing = np.zeros(0, dtype=np.int64)

    assert len(set(strong_parts(3, nothing, nothing).tolist())) == 3


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=30))
def test_few_nodes_fall_into_the_parts_that_many_would(edges: list[tuple[int, int]]) -> None:
    """Small graphs do not go through scipy; its answer is the independent one."""
    source, target = np.array(edges, dtype=np.int64).reshape(-1, 2).T

    ours = strong_parts(7, source, target)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "SCIPY_PAYS", 0)
        theirs = strong_parts(7, source, target)

    assert len(set(zip(ours.tolist(), theirs.tolist(), strict=True))) == len(set(ours)) == len(set(theirs))


def test_a_long_cycle_and_a_long_chain_do_not_recurse() -> None:
    """10,000 nodes in a ring are one part, with its last edge left out as many parts as nodes."""
    node = np.arange(10_000)
    following = np.roll(node, -1)

    assert len(set(strong_parts(node.size, node, following))) == 1
    assert len(set(strong_parts(node.size, node[:-1], following[:-1]))) == node.size
