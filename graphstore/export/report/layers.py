"""A small graph laid out in layers: a row for each node, a step to the right for each step down.

In:  nodes and typed edges. Out: places and lines, in pixels, for the template that draws them.
Decided here: how. No kept library with wheels lays graphs out in layers without a program beside it or a
licence that binds (Graphviz, igraph, grandalf), and with a row for each node a name of any length fits on a
phone. The first edge that leads to a node decides its place; every other one is an arc on the left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

ROW, STEP, MARGIN, ARC = 40, 26, 14, 12
TEXT_LEFT = 16  # from the middle of a mark to its text
CHARACTER = 7.4  # widest mean width of a letter at the size of the text

# What an edge says of the node it leads to, in words: no meaning rests on a line's look alone.
WORDS = {
    "CTRL": "calls",
    "LAUNCHES": "launches",
    "DATA": "feeds",
    "SYNC": "is waited for by",
    "PARENT_OF": "is named as parent by",
    "WAITS_IN": "wait in",
    "LACKS": "which lacks",
    "WAITS_FOR": "wait for",
}


@dataclass(frozen=True)
class Node:
    """A node of a picture; `kind` chooses its mark. `is_subject`: what the picture is about."""

    key: str
    kind: str
    name: str
    facts: str = ""
    is_subject: bool = False


@dataclass(frozen=True)
class Edge:
    """An edge between the keys of two nodes; `type` is one of WORDS."""

    source: str
    target: str
    type: str


@dataclass(frozen=True)
class Picture:
    """Nodes and edges. `left_out`: nodes that were not drawn."""

    nodes: Sequence[Node]
    edges: Sequence[Edge]
    left_out: int = 0


@dataclass(frozen=True)
class Placed:
    """A node at its place; `word` says how the node above leads to it, empty at the top."""

    node: Node
    x: int
    y: int
    word: str


@dataclass(frozen=True)
class Line:
    """A line of a picture as an SVG path; `type` is that of the edge."""

    path: str
    type: str


@dataclass(frozen=True)
class Layout:
    """What is drawn, and the same in sentences."""

    width: int
    height: int
    nodes: list[Placed]
    lines: list[Line]
    sentences: list[str]
    left_out: int


def layout(picture: Picture) -> Layout:
    """Return the places of the nodes and the lines between them. Cycles are allowed: they close in an arc."""
    tree = list(_walk(picture))
    own_edges = {own: None for _, _, own in tree if own}
    arcs = [edge for edge in picture.edges if edge not in own_edges]
    left = MARGIN + (ARC * min(len(arcs), 3) if arcs else 0)
    placed = {
        node.key: Placed(node, left + depth * STEP, MARGIN + row * ROW + 6, WORDS[own.type] if own else "")
        for row, (node, depth, own) in enumerate(tree)
    }
    lines = [Line(_elbow(placed[own.source], placed[own.target]), own.type) for own in own_edges]
    lines += [
        Line(_arc(placed[edge.source], placed[edge.target], place), edge.type)
        for place, edge in enumerate(arcs)
    ]
    wide = max((p.x + TEXT_LEFT + _letters(p) * CHARACTER for p in placed.values()), default=0)
    name = {node.key: node.name for node in picture.nodes}
    return Layout(
        width=int(wide) + MARGIN,
        height=len(placed) * ROW + MARGIN,
        nodes=list(placed.values()),
        lines=lines,
        sentences=[f"{name[e.source]} {WORDS[e.type]} {name[e.target]}" for e in picture.edges],
        left_out=picture.left_out,
    )


def _walk(picture: Picture) -> Iterator[tuple[Node, int, Edge | None]]:
    """Yield every node with its depth and the edge that leads to it, each below what leads to it."""
    below: dict[str, list[Edge]] = {}
    for edge in picture.edges:
        below.setdefault(edge.source, []).append(edge)
    nodes = {node.key: node for node in picture.nodes}
    reached = {edge.target for edge in picture.edges if edge.source != edge.target}
    tops = [key for key in nodes if key not in reached]
    seen: set[str] = set()
    waiting: list[tuple[str, int, Edge | None]]
    for top in [*tops, *nodes]:  # the nodes of a cycle have no top: any of them will do
        waiting = [(top, 0, None)]
        while waiting:
            key, depth, leads = waiting.pop()
            if key in seen:
                continue
            seen.add(key)
            yield nodes[key], depth, leads
            waiting += [(own.target, depth + 1, own) for own in reversed(below.get(key, []))]


def _letters(placed: Placed) -> int:
    word = f"{placed.word} " if placed.word else ""
    return max(len(word) + len(placed.node.name), len(placed.node.facts))


def _elbow(source: Placed, target: Placed) -> str:
    return f"M{source.x} {source.y + 8}V{target.y}H{target.x - 10}"


def _arc(source: Placed, target: Placed, place: int) -> str:
    bulge = MARGIN - 6 + ARC * (place % 3)
    return f"M{source.x - 8} {source.y + 3}H{bulge}V{target.y + 3}H{target.x - 10}"
