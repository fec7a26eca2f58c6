"""Order in the graph of one rank: what runs first, what never runs, and what waits for what by a path.

In:  deps as places of nodes. Out: `Order`: a sequence of the nodes as the simulator takes them (of those that
are ready the smallest id), their levels, and whether a node waits for another.
Decided here: how far a path is looked for. Most answers follow from one tree over the graph; the rest are
searched with a budget in proportion to the graph, so that no check is worse than that.
"""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
STEPS_PER_EDGE = 4  # of a search, over all questions on one graph


@dataclass(frozen=True)
class Lists:
    """Neighbours of each node: those of node n are items[starts[n] : starts[n + 1]]."""

    starts: array[int]
    items: array[int]

    def of(self, node: int) -> array[int]:
        """Return the neighbours of a node."""
        return self.items[self.starts[node] : self.starts[node + 1]]


def lists(count: int, owner: Ints, item: Ints) -> Lists:
    """Return the items of each owner 0 … count - 1, in the order given."""
    order = np.argsort(owner, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=count))])
    return Lists(column(starts), column(item[order]))


def column(values: npt.NDArray[np.integer]) -> array[int]:
    """Return values as an array whose items are plain ints: 8 bytes each, and quick one by one."""
    return array("q", values.astype(np.int64).tobytes())


class Order:
    """The nodes of a graph in the order in which they are taken; those in or behind a cycle are left out.

    `last[n]` is the deepest of the nodes that n waits for (-1: none): most likely the one that releases it.
    """

    def __init__(self, ids: npt.NDArray[np.uint64], awaited: Ints, waiting: Ints) -> None:
        """Order nodes 0 … len(ids) - 1; the edges lead from awaited to waiting, each once."""
        self.count = len(ids)
        self.deps = lists(self.count, waiting, awaited)
        self.sequence = self._sequence(ids, awaited, waiting)
        self.level, self.last = self._levels()
        self._enter, self._size = self._tree()
        self._steps_left = STEPS_PER_EDGE * (self.count + len(awaited)) + 1000

    def _sequence(self, ids: npt.NDArray[np.uint64], awaited: Ints, waiting: Ints) -> list[int]:
        by_id = np.argsort(ids, kind="stable")
        if bool(np.all(ids[awaited] < ids[waiting])):  # then the smallest id left is always ready
            return [int(node) for node in by_id.tolist()]
        place = np.empty(self.count, np.int64)
        place[by_id] = np.arange(self.count)
        following = lists(self.count, awaited, waiting)
        left = np.bincount(waiting, minlength=self.count).tolist()
        places, nodes = place.tolist(), by_id.tolist()
        ready = [places[node] for node in range(self.count) if not left[node]]
        heapq.heapify(ready)
        out = []
        while ready:
            node = nodes[heapq.heappop(ready)]
            out.append(node)
            for after in following.of(node):
                left[after] -= 1
                if not left[after]:
                    heapq.heappush(ready, places[after])
        return out

    def _levels(self) -> tuple[list[int], list[int]]:
        level, last = [-1] * self.count, [-1] * self.count
        for node in self.sequence:
            deepest, found = -1, -1
            for dep in self.deps.of(node):
                if level[dep] > deepest:
                    deepest, found = level[dep], dep
            level[node], last[node] = deepest + 1, found
        return level, last

    def _tree(self) -> tuple[Ints, Ints]:
        """Number the nodes of the tree over `last` so that each subtree is a range: enter, size."""
        size, enter, free = [1] * self.count, [-1] * self.count, [0] * self.count
        for node in reversed(self.sequence):
            if self.last[node] >= 0:
                size[self.last[node]] += size[node]
        roots = 0
        for node in self.sequence:
            above = self.last[node]
            if above < 0:
                enter[node], roots = roots, roots + size[node]
            else:
                enter[node] = free[above]
                free[above] += size[node]
            free[node] = enter[node] + 1
        return np.array(enter, np.int64), np.array(size, np.int64)

    def runs(self) -> npt.NDArray[np.bool_]:
        """Return for each node whether it is ever taken."""
        return self._enter >= 0

    def unordered(self, awaited: Ints, waiting: Ints) -> tuple[Ints, int]:
        """Return the pairs (their places) where `waiting` does not wait for `awaited`, and how many are open.

        Both ends have to be taken ever. A pair is open when the budget of searching was used up.
        """
        enter, size = self._enter, self._size
        inside = (enter[waiting] >= enter[awaited]) & (enter[waiting] < enter[awaited] + size[awaited])
        found, open_pairs = [], 0
        for place in np.flatnonzero(~inside).tolist():
            answer = self._reaches(int(awaited[place]), int(waiting[place]))
            if answer is None:
                open_pairs += 1
            elif not answer:
                found.append(place)
        return np.array(found, np.int64), open_pairs

    def _reaches(self, awaited: int, waiting: int) -> bool | None:
        """Return whether a path leads from one node to the other; None when the budget is used up."""
        floor = self.level[awaited]
        low, high = int(self._enter[awaited]), int(self._enter[awaited] + self._size[awaited])
        seen, todo = {waiting}, [waiting]
        while todo:
            for dep in self.deps.of(todo.pop()):
                self._steps_left -= 1
                if low <= self._enter[dep] < high:
                    return True
                if self.level[dep] > floor and dep not in seen:
                    seen.add(dep)
                    todo.append(dep)
            if self._steps_left < 0:
                return None
        return False

    def released_at_once(self) -> Iterator[tuple[int, int]]:
        """Yield (node, how many it releases), and (-1, how many are free at the start); -1 comes first."""
        last = np.array(self.last, np.int64)[self.sequence] if self.sequence else np.zeros(0, np.int64)
        node, times = np.unique(last, return_counts=True)
        yield from zip(node.tolist(), times.tolist(), strict=True)
