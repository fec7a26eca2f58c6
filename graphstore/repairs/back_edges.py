"""Drop edges that order a node before itself: edges back in time, and what is left of cycles.

In:  the nodes of one rank (ids, times, whether they come from a Chakra file) and its edges, as columns.
Out: changes, so that CTRL, DATA, SYNC and LAUNCHES edges together have no cycle afterwards.
Proven (safe): an edge from a node to itself, and a recorded wait or dependency whose source starts only
after its target has ended. What overlaps is no proof (a call that waits for a kernel starts before the
kernel does): such an edge stays, unless it closes a cycle. Cycles then lose (unsafe) the edges that run
against the order of (start, id), the weakest kind first: SYNC, DATA, CTRL. CTRL edges are dropped between
nodes of a Chakra file only: on host ops they are the call tree, which orphans.py and wrong_parents.py mend;
LAUNCHES, by correlation, never. Dropped edges stand in the Repair, so undo can make them again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from graphstore.link.parts import strong_parts
from graphstore.repairs.change import Change, Fault
from graphstore.repairs.tree import Bools, Ints

RULE = "drop_back_edge"
CTRL, DATA, SYNC, LAUNCHES = range(4)
KINDS = ("CTRL", "DATA", "SYNC", "LAUNCHES")
WEAKEST_FIRST = (SYNC, DATA, CTRL)


@dataclass
class OrderNodes:
    """Nodes of one rank, in ascending uid; ids -1 when null, duration -1 without times."""

    rank: int
    uid: Ints
    node_id: Ints
    start_ns: Ints
    duration_ns: Ints
    is_chakra: Bools
    name: Sequence[str]

    @cached_property
    def end_ns(self) -> Ints:
        """Return the ends; meaningless where there is no time."""
        return self.start_ns + self.duration_ns

    def title(self, place: int) -> str:
        """Return how a message names one node."""
        node_id = int(self.node_id[place])
        return f"{self.name[place]} ({f'node {node_id}' if node_id >= 0 else f'uid {self.uid[place]}'})"


@dataclass
class Edges:
    """Edges between places of `OrderNodes`: kind is a place in KINDS, rule the property of a SYNC edge."""

    kind: Ints
    src: Ints
    dst: Ints
    rule: Sequence[str]


def plan_back_edges(nodes: OrderNodes, edges: Edges) -> list[Change]:
    """Return the changes that drop edges, in the order of the edges given, proven ones first."""
    droppable = _droppable(nodes, edges)
    itself = droppable & (edges.src == edges.dst)
    against_time = droppable & ~itself & _starts_after_end(nodes, edges)
    dropped = itself | against_time
    closing = _closing_edges(nodes, edges, ~dropped, droppable)
    in_cycle = itself | (cycles_of(len(nodes.uid), edges, np.ones(len(edges.src), np.bool_)) >= 0)
    why_by_edge = [
        *((edge, "a node cannot wait for itself") for edge in _places(itself)),
        *((edge, _times(nodes, edges, edge)) for edge in _places(against_time)),
        *closing,
    ]
    return [
        _change(
            nodes, edges, edge, bool(dropped[edge]), why, _answers(nodes, edges, edge, bool(in_cycle[edge]))
        )
        for edge, why in why_by_edge
    ]


def cycles_of(count: int, edges: Edges, alive: Bools) -> Ints:
    """Return for every edge the number of the cycle (strongly connected part) it lies in, -1 for none.

    An edge from a node to itself is no part of a larger cycle and is not counted here.
    """
    part = strong_parts(count, edges.src[alive], edges.dst[alive])
    inside = alive & (part[edges.src] == part[edges.dst]) & (edges.src != edges.dst)
    return np.where(inside, part[edges.src], -1)


def _droppable(nodes: OrderNodes, edges: Edges) -> Bools:
    """Return which edges may be dropped: waits and tensors, and CTRL between nodes of a Chakra file."""
    between_chakra = nodes.is_chakra[edges.src] & nodes.is_chakra[edges.dst]
    droppable: Bools = (edges.kind == SYNC) | (edges.kind == DATA) | ((edges.kind == CTRL) & between_chakra)
    return droppable


def _starts_after_end(nodes: OrderNodes, edges: Edges) -> Bools:
    """Return which edges lead from a node that starts only after their target has ended."""
    timed: Bools = (nodes.duration_ns[edges.src] >= 0) & (nodes.duration_ns[edges.dst] >= 0)
    start = nodes.start_ns[edges.src]
    later: Bools = timed & (start > nodes.start_ns[edges.dst]) & (start >= nodes.end_ns[edges.dst])
    return later


def _closing_edges(nodes: OrderNodes, edges: Edges, alive: Bools, droppable: Bools) -> list[tuple[int, str]]:
    """Return the edges that still close cycles, with why each is the one: backward ones, weakest kind first.

    Among edges that all run forward in (start, id) no cycle is possible; where only edges that may not be
    dropped run backward, the forward waits (then tensors) of the cycle go.
    """
    place = np.empty(len(nodes.uid), dtype=np.int64)
    place[np.lexsort((nodes.uid, nodes.node_id, nodes.start_ns))] = np.arange(len(nodes.uid))
    backward = place[edges.src] > place[edges.dst]
    alive = alive.copy()
    closing: list[tuple[int, str]] = []
    for direction, why in ((backward, "against"), (~backward, "with")):
        for kind in WEAKEST_FIRST:
            cycle = cycles_of(len(nodes.uid), edges, alive)
            if not (cycle >= 0).any():
                return closing
            gone = (cycle >= 0) & droppable & (edges.kind == kind) & direction
            closing += [
                (edge, f"it closes a cycle and runs {why} the order of start and id")
                for edge in _places(gone)
            ]
            alive &= ~gone
    return closing


def _places(mask: Bools) -> list[int]:
    """Return where a mask is set."""
    places: list[int] = np.flatnonzero(mask).tolist()
    return places


def _times(nodes: OrderNodes, edges: Edges, edge: int) -> str:
    """Return the half-sentence that proves an edge back in time."""
    src, dst = edges.src[edge], edges.dst[edge]
    return f"the first starts at {nodes.start_ns[src]} ns, the second has ended at {nodes.end_ns[dst]} ns"


def _answers(nodes: OrderNodes, edges: Edges, edge: int, in_cycle: bool) -> tuple[Fault, ...]:
    """Return the faults of which an edge is a case: a cycle, and a wait that starts before what it awaits."""
    is_back = nodes.start_ns[edges.dst[edge]] < nodes.start_ns[edges.src[edge]]
    rules = (("cycle", in_cycle), ("sync_back_in_time", edges.kind[edge] == SYNC and is_back))
    return tuple((rule, nodes.rank, None) for rule, applies in rules if applies)


def _change(
    nodes: OrderNodes, edges: Edges, edge: int, safe: bool, why: str, answers: tuple[Fault, ...]
) -> Change:
    """Return the change that drops one edge."""
    src, dst = int(edges.src[edge]), int(edges.dst[edge])
    kind = KINDS[edges.kind[edge]]
    before: dict[str, Any] = {"kind": kind, "src": int(nodes.uid[src]), "dst": int(nodes.uid[dst])}
    if kind == "SYNC":
        before["rule"] = edges.rule[edge]
    return Change(
        RULE,
        nodes.rank,
        int(nodes.uid[dst]),
        safe,
        f"{kind} edge {nodes.title(src)} → {nodes.title(dst)}: {why}",
        {"source": _span(nodes, src), "target": _span(nodes, dst)},
        {"edge": before},
        {"edge": None},
        answers,
    )


def _span(nodes: OrderNodes, place: int) -> dict[str, Any]:
    """Return id and times of one node, as evidence."""
    timed = nodes.duration_ns[place] >= 0
    return {
        "uid": int(nodes.uid[place]),
        "node_id": int(nodes.node_id[place]),
        "start_ns": int(nodes.start_ns[place]) if timed else None,
        "end_ns": int(nodes.end_ns[place]) if timed else None,
    }
