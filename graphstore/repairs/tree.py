"""The forest of CTRL edges: its cycles, whether a move closes one, where ops stand after a move.

In:  parents as places in an array (-1: none). Out: arrays of the same length, or rows for the store.
Tops, depths, paths and the nearest marked ancestor come from link/forest.py, so that after a repair they are
what the import would have made. `self_ns` needs no new value: it is duration less that of the ops an op
*encloses in time* (model/schema.py), and a repair moves edges, never times.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from graphstore.link.forest import paths, tops

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

NONE = -1


def nodes_on_cycles(parent: Ints) -> list[list[int]]:
    """Return the cycles of the parent array, each as places from child to parent, smallest place first."""
    ancestor = np.where(parent == NONE, np.arange(len(parent)), parent)
    for _ in range(_doublings(len(parent))):
        ancestor = ancestor[ancestor]
    # After at least n steps up, a node is at a real top or somewhere on the cycle it leads into.
    on_cycle = np.unique(ancestor[parent[ancestor] != NONE])
    cycles: list[list[int]] = []
    seen: set[int] = set()
    for place in on_cycle.tolist():
        if place not in seen:
            cycles.append(_walk_cycle(parent, place))
            seen.update(cycles[-1])
    return cycles


def _walk_cycle(parent: Ints, start: int) -> list[int]:
    """Return the places of the cycle through `start`, smallest first."""
    cycle = [start]
    while (above := int(parent[cycle[-1]])) != start:
        cycle.append(above)
    first = cycle.index(min(cycle))
    return cycle[first:] + cycle[:first]


def below(parent: Ints, marked: Bools) -> Bools:
    """Return which nodes are marked or have a marked ancestor."""
    result = marked.copy()
    ancestor = np.where(parent == NONE, np.arange(len(parent)), parent)
    for _ in range(_doublings(len(parent))):
        result |= result[ancestor]
        ancestor = ancestor[ancestor]
    return result


def moved_ops(uid: Ints, names: list[str], parent: Ints, moved: Bools) -> list[dict[str, Any]]:
    """Return {uid, root, depth, path} as they are after the moves, of every op in the trees below `moved`."""
    root, depth = tops(parent)
    rows = below(parent, moved)
    has_top = root != NONE
    places = pl.DataFrame(
        {
            "uid": uid,
            "root": np.where(has_top, uid[root], NONE),
            "depth": depth,
            "path": paths(pl.Series(names, dtype=pl.String), parent, depth),
        }
    )
    is_known = pl.col("depth") != NONE
    return (
        places.filter(pl.Series(rows))
        .with_columns(
            pl.when(is_known).then("root").alias("root"), pl.when(is_known).then("depth").alias("depth")
        )
        .to_dicts()
    )


def moved_calls(ops: list[dict[str, Any]], calls: Ints, callers: Ints) -> list[dict[str, Any]]:
    """Return {uid, root, depth} of the runtime calls (uids) whose caller (uid) is among the moved `ops`."""
    row_by_uid = {row["uid"]: row for row in ops}
    found = (
        (call, row_by_uid.get(caller)) for call, caller in zip(calls.tolist(), callers.tolist(), strict=True)
    )
    return [
        {"uid": call, "root": row["root"], "depth": None if row["depth"] is None else row["depth"] + 1}
        for call, row in found
        if row is not None
    ]


def _doublings(count: int) -> int:
    """Return how often the step length must double to reach `count` steps."""
    return max(1, int(count).bit_length())


class Forest:
    """Which tree a node is in while trees are being joined: union-find over the tops."""

    def __init__(self, parent: Ints) -> None:
        """Start from a parent array free of cycles."""
        self._top = tops(parent)[0]
        self._joined: dict[int, int] = {}

    def top(self, place: int) -> int:
        """Return the place of the top of the tree that holds `place`."""
        top = int(self._top[place])
        trail = []
        while top in self._joined:
            trail.append(top)
            top = self._joined[top]
        for passed in trail[:-1]:
            self._joined[passed] = top
        return top

    def join(self, top: int, parent: int) -> bool:
        """Hang the tree with this top below `parent`; return False, unchanged, if that makes a cycle."""
        above = self.top(parent)
        if above == top:
            return False
        self._joined[top] = above
        return True
