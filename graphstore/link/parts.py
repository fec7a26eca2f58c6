"""Strongly connected parts of a directed graph: which nodes lie on a cycle with each other.

In:  numbers of nodes as columns. Out: the number of its part for each node. Nothing recurses: a cycle of a
million nodes is found like one of two. For checks, repairs and exports (cycles) and for waits.
Decided here: when scipy pays, whose import takes 0.3 s. Both ways are linear.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]

SCIPY_PAYS = 30_000  # nodes and edges; fewer are gone through in Python before scipy is imported


def strong_parts(count: int, source: npt.NDArray[np.integer], target: npt.NDArray[np.integer]) -> Ints:
    """Return a part number (0 … ) per node of `count`; two nodes of one part reach each other."""
    if count + len(source) < SCIPY_PAYS:
        return _parts_of_few(count, source, target)
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    matrix = coo_array((np.ones(len(source), np.int8), (source, target)), shape=(count, count))
    _, part = connected_components(matrix.tocsr(), directed=True, connection="strong")
    return np.asarray(part, dtype=np.int64)


def _parts_of_few(count: int, source: npt.NDArray[np.integer], target: npt.NDArray[np.integer]) -> Ints:
    """Return the same by Kosaraju's two walks: what reaches the node left last is of one part with it."""
    after: list[list[int]] = [[] for _ in range(count)]
    before: list[list[int]] = [[] for _ in range(count)]
    for here, there in zip(source.tolist(), target.tolist(), strict=True):
        after[here].append(there)
        before[there].append(here)
    part = np.full(count, -1, dtype=np.int64)
    number = 0
    seen = [False] * count
    left = [node for root in range(count) for node in _left(root, after, seen)]
    seen = [False] * count
    for root in reversed(left):
        members = list(_left(root, before, seen))
        part[members] = number
        number += bool(members)
    return part


def _left(root: int, after: list[list[int]], seen: list[bool]) -> Iterator[int]:
    """Yield the nodes that are reached from `root` and not `seen` yet, each when all behind it were left."""
    path = [(root, iter(after[root]))] if not seen[root] else []
    seen[root] = True
    while path:
        node, rest = path[-1]
        following = next((there for there in rest if not seen[there]), None)
        if following is None:
            path.pop()
            yield node
        else:
            seen[following] = True
            path.append((following, iter(after[following])))
