"""The ends of all chains of waits: strongly connected parts of the wait-for graph with no way out.

In:  a `WaitGraph`. Out: `Sink`s, each with its ranks, the waits that lead to it, and how many it holds up.
Decided here: nothing; what a sink means is decided in causes.py. Cost: linear in ranks and waits.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import numpy as np

from graphstore.link.matching.waiting import CallKey, WaitGraph
from graphstore.link.parts import strong_parts

Source = CallKey | int  # a call that waits, or a rank that waits in a send or recv


@dataclass
class Sink:
    """Ranks that wait for nobody outside; `waits` are those that lead to or stay among them.

    A wait is (call or rank that waits, rank waited for, kind). `held_up`: ranks that wait for them, directly
    or through others, themselves left out.
    """

    ranks: list[int]
    waits: list[tuple[Source, int, str]]
    held_up: set[int] = field(default_factory=set)

    def kinds(self, rank: int) -> set[str]:
        """Return the kinds of the waits for one of its ranks."""
        return {kind for _, target, kind in self.waits if target == rank}

    def calls(self, rank: int, kind: str) -> list[CallKey]:
        """Return the collectives in which a rank is waited for in that way."""
        return [s for s, target, of in self.waits if target == rank and of == kind and isinstance(s, tuple)]


def find_sinks(graph: WaitGraph) -> list[Sink]:
    """Return all sinks that some rank waits for, in order of their smallest rank."""
    waits = _waits(graph)
    nodes: dict[Source, int] = {}
    pairs = [(_number(nodes, source), _number(nodes, target)) for source, target, _ in waits]
    pairs += [(_number(nodes, rank), _number(nodes, call)) for rank, call in _waiting_calls(graph)]
    if not pairs:
        return []
    source, target = np.array(pairs).T
    part = strong_parts(len(nodes), source, target)
    has_way_out = np.zeros(len(nodes), dtype=np.bool_)  # by part: there are no more parts than nodes
    has_way_out[part[source[part[source] != part[target]]]] = True
    ranks: dict[int, list[int]] = {}
    for node, place in nodes.items():
        if isinstance(node, int) and not has_way_out[part[place]]:
            ranks.setdefault(int(part[place]), []).append(node)
    back = _reversed(graph, waits)
    return [_sink(sorted(members), waits, back) for members in sorted(ranks.values(), key=min)]


def _waits(graph: WaitGraph) -> list[tuple[Source, int, str]]:
    calls = [(call, rank, kind) for call, waits in graph.of_call.items() for rank, kind in waits.items()]
    ranks = [(source, rank, kind) for source, waits in graph.of_rank.items() for rank, kind in waits.items()]
    return [*sorted(calls), *sorted(ranks)]


def _waiting_calls(graph: WaitGraph) -> list[tuple[int, CallKey]]:
    """Return (rank, call) of the ranks that wait in a collective which waits for somebody."""
    keys = {
        rank: (waiting.group, waiting.seq)
        for rank, waiting in graph.waiting.items()
        if waiting.seq is not None
    }
    return [(rank, key) for rank, key in keys.items() if key in graph.of_call]


def _number(nodes: dict[Source, int], node: Source) -> int:
    return nodes.setdefault(node, len(nodes))


def _reversed(graph: WaitGraph, waits: list[tuple[Source, int, str]]) -> dict[Source, list[Source]]:
    """Return {node: nodes that wait for it, or ranks that wait in it}."""
    back: dict[Source, list[Source]] = {}
    for source, target, _ in waits:
        back.setdefault(target, []).append(source)
    for rank, call in _waiting_calls(graph):
        back.setdefault(call, []).append(rank)
    return back


def _sink(ranks: list[int], waits: list[tuple[Source, int, str]], back: dict[Source, list[Source]]) -> Sink:
    inside = set(ranks)
    sink = Sink(ranks, [wait for wait in waits if wait[1] in inside])
    seen: set[Source] = set(ranks)
    queue: deque[Source] = deque(ranks)
    while queue:
        for source in back.get(queue.popleft(), ()):
            if source not in seen:
                seen.add(source)
                queue.append(source)
    sink.held_up = {node for node in seen if isinstance(node, int)} - inside
    return sink
