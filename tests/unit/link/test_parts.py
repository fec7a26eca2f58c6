"""Strongly connected parts."""

from __future__ import annotations

import numpy as np

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
