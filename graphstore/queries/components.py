"""Cycles of a directed graph given as columns: what Cypher can't tell on both engines.

In:  edges as arrays of sources and targets (uids), with a type each. Out: cycles as uids in order, one for
     each strongly connected component. Weak components are told by the stored root: show_components.cypher.
Decided here: which cycle stands for a strongly connected part: the shortest through its smallest uid.
Nothing recurses: a cycle of a million ops is found like one of two.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from graphstore.link.parts import strong_parts

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Edges:
    """Edges as columns; `types[i]` is the type of the edge from `sources[i]` to `targets[i]`."""

    sources: Ints
    targets: Ints
    types: npt.NDArray[Any]


@dataclass(frozen=True)
class Cycle:
    """A cycle: `nodes[i]` → `nodes[i + 1]` is an edge of `types[i]`, and the last leads back to the first.

    `size` is how many nodes the strongly connected part has, all of which lie on some cycle with each other.
    """

    nodes: tuple[int, ...]
    types: tuple[str, ...]
    size: int


def self_edges(edges: Edges) -> Ints:
    """Return the nodes that have an edge to themselves, sorted and once each."""
    return np.unique(edges.sources[edges.sources == edges.targets])


def cycles(edges: Edges) -> list[Cycle]:
    """Return one cycle of every strongly connected part of more than one node, by smallest node.

    Edges of a node to itself are left out: self_edges gives these.
    """
    between = edges.sources != edges.targets
    sources, targets, types = edges.sources[between], edges.targets[between], edges.types[between]
    if not len(sources):
        return []
    nodes = np.unique(np.concatenate([sources, targets]))
    source_places, target_places = np.searchsorted(nodes, sources), np.searchsorted(nodes, targets)
    labels = strong_parts(len(nodes), source_places, target_places)
    inside = labels[source_places] == labels[target_places]
    if not inside.any():
        return []
    following = _following(sources[inside], targets[inside], types[inside])
    sizes = np.bincount(labels)
    smallest = nodes[np.unique(labels, return_index=True)[1]]
    starts = sorted((int(smallest[label]), int(size)) for label, size in enumerate(sizes) if size > 1)
    return [_shortest(start, size, following) for start, size in starts]


def _following(sources: Ints, targets: Ints, types: npt.NDArray[Any]) -> dict[int, list[tuple[int, str]]]:
    """Return {node: [(next node, type)]} in the order of the next nodes."""
    out: dict[int, list[tuple[int, str]]] = {}
    order = np.lexsort((types, targets, sources))
    for place in order.tolist():
        out.setdefault(int(sources[place]), []).append((int(targets[place]), str(types[place])))
    return out


def _shortest(start: int, size: int, following: dict[int, list[tuple[int, str]]]) -> Cycle:
    """Return the shortest cycle through `start`, found breadth first."""
    came: dict[int, tuple[int, str]] = {}
    waiting = deque([start])
    while start not in came:
        here = waiting.popleft()
        for there, type in following[here]:
            if there not in came:
                came[there] = (here, type)
                waiting.append(there)
    nodes, types, here = [], [], start
    while True:
        here, type = came[here]
        nodes.append(here)
        types.append(type)
        if here == start:
            break
    return Cycle(tuple(reversed(nodes)), tuple(reversed(types)), size)
