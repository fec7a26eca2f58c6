"""Strongly connected parts of a directed graph: which nodes lie on a cycle with each other.

In:  numbers of nodes as columns. Out: the number of its part for each node. Nothing recurses: a cycle of a
million nodes is found like one of two. For checks, repairs and exports (cycles) and for waits.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


def strong_parts(count: int, source: npt.NDArray[np.integer], target: npt.NDArray[np.integer]) -> Ints:
    """Return a part number (0 … ) per node of `count`; two nodes of one part reach each other."""
    from scipy.sparse import coo_array  # 0.3 s to import, and few runs hold what to look for
    from scipy.sparse.csgraph import connected_components

    matrix = coo_array((np.ones(len(source), np.int8), (source, target)), shape=(count, count))
    _, part = connected_components(matrix.tocsr(), directed=True, connection="strong")
    return np.asarray(part, dtype=np.int64)
