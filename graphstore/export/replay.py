"""Play a file: when each node would run, for a reader that has only durations and dependencies.

In:  nodes in the order of their ids, each with a duration, its deps as places before it, and the slot it
     holds.
Out: when each starts. Decided here (dependencies 2): three readers. *unlimited* starts a node when all its
deps have ended; *lanes* also lets one node at a time run on each thread and stream; *slots* is the simple
reader of simulators: one CPU op, one GPU computation and one communication of a rank at a time, the lowest
id first.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from graphstore.export.order import Ints

CPU, GPU, COMMUNICATION = range(3)


@dataclass(frozen=True)
class Deps:
    """The deps of nodes 0 … n-1: those of node k are `ids[first[k] : first[k + 1]]`, all of them below k."""

    first: Ints
    ids: Ints


def deps_of(source: Ints, target: Ints, count: int) -> Deps:
    """Return the deps of `count` nodes from edges, ascending and each once."""
    pairs = np.sort(target * max(count, 1) + source)  # np.unique hashes first: thirty times slower
    pairs = pairs[np.diff(pairs, prepend=-1) != 0]
    target, source = np.divmod(pairs, max(count, 1))
    return Deps(np.searchsorted(target, np.arange(count + 1)), source)


def unlimited(duration: Ints, deps: Deps, roots: Ints | None = None) -> Ints:
    """Return when each node starts if nothing but its deps holds it; `roots` is when one without may
    start.
    """
    first, ids = deps.first.tolist(), deps.ids.tolist()
    lasts = duration.tolist()
    earliest = [0] * len(lasts) if roots is None else roots.tolist()
    start, end = [0] * len(lasts), [0] * len(lasts)
    low = 0
    for node, length in enumerate(lasts):
        high = first[node + 1]
        begin = earliest[node]
        for dep in ids[low:high]:
            if end[dep] > begin:
                begin = end[dep]
        start[node], end[node] = begin, begin + length
        low = high
    return np.array(start, np.int64)


def in_slots(duration: Ints, deps: Deps, slot: Ints) -> Ints:
    """Return when each node starts if nodes of one slot run one after the other, the lowest free id first.

    Slots are numbers; a node of a negative one holds none. Each node is pushed and popped once.
    """
    count = len(duration)
    waiting = np.diff(deps.first).tolist()
    by_dep = np.argsort(deps.ids, kind="stable")
    node_of = np.repeat(np.arange(count), np.diff(deps.first))
    follower = node_of[by_dep].tolist()
    begins = np.searchsorted(deps.ids[by_dep], np.arange(count + 1)).tolist()
    lasts, slots = duration.tolist(), slot.tolist()
    start = [0] * count
    ready: dict[int, list[int]] = {value: [] for value in set(slots)}
    busy: set[int] = set()
    running: list[tuple[int, int]] = []  # end, node
    for node in range(count):
        if not waiting[node]:
            ready[slots[node]].append(node)  # ids ascend, so this is a heap
    now, touched = 0, list(ready)  # slots in which a node may start, some more than once
    while True:
        for value in touched:
            queue = ready[value]
            while queue and value not in busy:
                node = heapq.heappop(queue)
                start[node] = now
                heapq.heappush(running, (now + lasts[node], node))
                if value >= 0:
                    busy.add(value)
        if not running:
            return np.array(start, np.int64)
        now, touched = running[0][0], []
        while running and running[0][0] == now:
            _, node = heapq.heappop(running)
            busy.discard(slots[node])
            touched.append(slots[node])
            for other in follower[begins[node] : begins[node + 1]]:
                waiting[other] -= 1
                if not waiting[other]:
                    heapq.heappush(ready[slots[other]], other)
                    touched.append(slots[other])


def error(simulated: int, measured: int) -> float | None:
    """Return by what share a simulated span is off; None without a measured one."""
    return round(simulated / measured - 1, 6) if measured else None


def percentiles(off: Ints) -> dict[str, float] | None:
    """Return the median and the 95th percentile of how far starts are off; None without nodes."""
    if not len(off):
        return None
    middle, high = np.percentile(np.abs(off), (50, 95))
    return {"p50": round(float(middle), 1), "p95": round(float(high), 1)}
