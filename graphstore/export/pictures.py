"""A drawing as the text of a picture: Graphviz DOT, Mermaid, GraphML.

In:  a `Drawing`. Out: text. Decided here: the shape of each kind of op and the line of each type of edge
(never colour alone), what a label says, and how a name is written so that it can neither break nor change the
picture: names come from traces, and may hold anything.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from typing import Literal

from graphstore.export.drawing import Drawing, DrawnNode

PictureForm = Literal["dot", "mermaid", "graphml"]
NAME_LENGTH = 40
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")

DOT_SHAPES = {
    "HostOp": "box",
    "RuntimeCall": "ellipse",
    "Kernel": "hexagon",
    "SyncEvent": "octagon",
    "CollectiveCall": "diamond",
    "ChakraNode": "component",
}
DOT_LINES = {
    "CTRL": 'arrowhead="normal"',
    "LAUNCHES": 'arrowhead="vee", style="bold", label="LAUNCHES"',
    "DATA": 'arrowhead="onormal", style="dashed", label="DATA"',
    "SYNC": 'arrowhead="odot", style="dotted", label="SYNC"',
}
MERMAID_SHAPES = {
    "HostOp": ("[", "]"),
    "RuntimeCall": ("([", "])"),
    "Kernel": ("{{", "}}"),
    "SyncEvent": ("[/", "/]"),
    "CollectiveCall": ("{", "}"),
    "ChakraNode": ("[[", "]]"),
}
MERMAID_LINES = {
    "CTRL": "-->",
    "LAUNCHES": "== LAUNCHES ==>",
    "DATA": "-- DATA -->",
    "SYNC": "-. SYNC .->",
}
# Beside what ends a quoted text: what begins an entity, markup, a directive (%%{) or markdown (`).
_MERMAID_UNSAFE = re.compile(r"[^A-Za-z0-9 _:.,()/+=@*~^!?$-]")
GRAPHML = "http://graphml.graphdrawing.org/xmlns"
NODE_KEYS = {
    "label": "string",
    "kind": "string",
    "shape": "string",
    "rank": "long",
    "node_id": "long",
    "start_ns": "long",
    "duration_ns": "long",
}


def picture(drawing: Drawing, form: PictureForm) -> str:
    """Return the text of a picture."""
    return FORMS[form](drawing)


def label_lines(node: DrawnNode, with_rank: bool) -> list[str]:
    """Return what a node says: its name, cut to 40 characters, then id, rank and duration where known."""
    name = _CONTROL.sub(" ", node.name)
    facts = [f"#{node.node_id}"] if node.node_id is not None else []
    facts += [f"rank {node.rank}"] if with_rank else []
    facts += [f"{node.duration_ns / 1000:g} us"] if node.duration_ns is not None else []
    short = name if len(name) <= NAME_LENGTH else f"{name[: NAME_LENGTH - 1]}…"
    return [short, ", ".join(facts)] if facts else [short]


def _several_ranks(drawing: Drawing) -> bool:
    return len({node.rank for node in drawing.nodes}) > 1


def _dot(drawing: Drawing) -> str:
    with_rank = _several_ranks(drawing)
    lines = ["digraph graphstore {", '  node [fontname="Helvetica"];']
    for node in drawing.nodes:
        label = "\\n".join(
            text.replace("\\", "\\\\").replace('"', '\\"') for text in label_lines(node, with_rank)
        )
        lines.append(f'  n{node.number} [shape="{DOT_SHAPES[node.kind]}", label="{label}"];')
    lines += [f"  n{edge.source} -> n{edge.target} [{DOT_LINES[edge.type]}];" for edge in drawing.edges]
    return "\n".join([*lines, "}", ""])


def _mermaid(drawing: Drawing) -> str:
    with_rank = _several_ranks(drawing)
    lines = ["flowchart TD"]
    for node in drawing.nodes:
        left, right = MERMAID_SHAPES[node.kind]
        label = "<br>".join(map(mermaid_text, label_lines(node, with_rank)))
        lines.append(f'  n{node.number}{left}"{label}"{right}')
    lines += [f"  n{edge.source} {MERMAID_LINES[edge.type]} n{edge.target}" for edge in drawing.edges]
    return "\n".join([*lines, ""])


def mermaid_text(text: str) -> str:
    """Return a text for a quoted label: what could mean anything there is written as its number."""
    return _MERMAID_UNSAFE.sub(lambda found: f"#{ord(found.group())};", text)


def _graphml(drawing: Drawing) -> str:
    ET.register_namespace("", GRAPHML)
    root = ET.Element(f"{{{GRAPHML}}}graphml")
    for name, kind in NODE_KEYS.items():
        ET.SubElement(
            root, f"{{{GRAPHML}}}key", {"id": name, "for": "node", "attr.name": name, "attr.type": kind}
        )
    edge_key = {"id": "type", "for": "edge", "attr.name": "type", "attr.type": "string"}
    ET.SubElement(root, f"{{{GRAPHML}}}key", edge_key)
    # Two edges of different type may join the same nodes, so each has an id.
    graph = ET.SubElement(root, f"{{{GRAPHML}}}graph", {"id": "graphstore", "edgedefault": "directed"})
    for node in drawing.nodes:
        told = {"label": _CONTROL.sub("\ufffd", node.name), "shape": DOT_SHAPES[node.kind]}
        told |= {name: getattr(node, name) for name in NODE_KEYS if name not in told}
        element = ET.SubElement(graph, f"{{{GRAPHML}}}node", {"id": f"n{node.number}"})
        for name in NODE_KEYS:
            if told[name] is not None:
                ET.SubElement(element, f"{{{GRAPHML}}}data", {"key": name}).text = str(told[name])
    for number, edge in enumerate(drawing.edges):
        ends = {"id": f"e{number}", "source": f"n{edge.source}", "target": f"n{edge.target}"}
        element = ET.SubElement(graph, f"{{{GRAPHML}}}edge", ends)
        ET.SubElement(element, f"{{{GRAPHML}}}data", {"key": "type"}).text = edge.type
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


FORMS: dict[PictureForm, Callable[[Drawing], str]] = {"dot": _dot, "mermaid": _mermaid, "graphml": _graphml}
