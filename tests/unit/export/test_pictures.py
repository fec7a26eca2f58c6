from __future__ import annotations

import html
import importlib.util
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graphstore.export.drawing import Drawing, DrawnEdge, DrawnNode
from graphstore.export.pictures import (
    DOT_LINES,
    DOT_SHAPES,
    GRAPHML,
    MERMAID_LINES,
    MERMAID_SHAPES,
    PictureForm,
    picture,
)
from graphstore.model.schema import OP_KINDS

# What may go wrong with a name: the end of a quoted text, escapes, markup, directives, line ends.
HOSTILE = [
    'a"b',
    "back\\slash\\",
    'end\\"] ; x [label="',
    "%%{init: {'theme':'dark'}}%%",
    "<script>alert(1)</script>",
    "line\nbreak\r\u2028",
    "]]>&lt;&amp;",
    "`markdown` **b**",
    "#quot;",
    "\x00\x1b[31m\ud800",
    "end",
    "ünïcode 漢字 🙂",
    "",
]
NAMES = st.text(max_size=60) | st.sampled_from(HOSTILE)
# One statement a line, and nothing but these: quoted texts hold no bare quote, and no unescaped backslash.
DOT_TEXT = r'"(?:[^"\\\x00-\x1f]|\\["\\n])*"'
DOT_LINE = re.compile(
    rf'digraph graphstore \{{|  node \[fontname="Helvetica"\];|\}}'
    rf"|  n\d+ \[shape=\"[a-z]+\", label=(?P<label>{DOT_TEXT})\];"
    rf'|  n\d+ -> n\d+ \[arrowhead="[a-z]+"(?:, style="[a-z]+", label="[A-Z]+")?\];'
)
MERMAID_TEXT = r'"(?:[A-Za-z0-9 _:.,()/+=@*~^!?$-]|#\d+;|<br>)*"'
MERMAID_LINE = re.compile(
    rf"flowchart TD|  n\d+(?:\[|\(\[|\{{\{{|\[/|\{{|\[\[)(?P<label>{MERMAID_TEXT})"
    r"(?:\]|\]\)|\}\}|/\]|\}|\]\])"
    r"|  n\d+ (?:-->|== LAUNCHES ==>|-- DATA -->|-\. SYNC \.->) n\d+"
)


def node(number: int, name: str = "aten::add", kind: str = "HostOp", **facts: int) -> DrawnNode:
    """Return a node; what is not told is not known."""
    told = {"rank": 0, "node_id": None, "start_ns": None, "duration_ns": None} | facts
    return DrawnNode(number=number, kind=kind, name=name, **told)  # type: ignore[arg-type]


def every_kind(name: str) -> Drawing:
    """Return a drawing with a node of each kind, all of one name, and an edge of each type."""
    nodes = [node(number, name, kind) for number, kind in enumerate(OP_KINDS, start=1)]
    edges = [DrawnEdge(1, number, kind) for number, kind in enumerate(DOT_LINES, start=2)]
    return Drawing("small", nodes, edges)


def test_every_kind_and_every_line_differs_without_colour() -> None:
    """A shape for each kind of op, and a line for each type of edge, in DOT and in Mermaid."""
    for shapes in (DOT_SHAPES, MERMAID_SHAPES):
        assert set(shapes) == set(OP_KINDS)
        assert len(set(shapes.values())) == len(shapes)
    for lines in (DOT_LINES, MERMAID_LINES):
        assert set(lines) == {"CTRL", "LAUNCHES", "DATA", "SYNC"}
        assert len(set(lines.values())) == len(lines)


@given(NAMES)
@example("".join(HOSTILE))
def test_no_name_breaks_dot(name: str) -> None:
    """Every line is a statement of the grammar, and there are as many as there should be."""
    lines = picture(every_kind(name), "dot").splitlines()

    assert all(DOT_LINE.fullmatch(line) for line in lines)
    assert len(lines) == 3 + len(OP_KINDS) + len(DOT_LINES)


@given(NAMES)
@example("".join(HOSTILE))
def test_no_name_breaks_mermaid(name: str) -> None:
    """As for DOT; read back the entities give the name, cut and without control characters."""
    lines = picture(every_kind(name), "mermaid").splitlines()

    found = [MERMAID_LINE.fullmatch(line) for line in lines]
    assert all(found)
    assert len(lines) == 1 + len(OP_KINDS) + len(MERMAID_LINES)
    label = next(match["label"] for match in found if match and match["label"])
    text = html.unescape(re.sub(r"#(\d+);", r"&#\1;", label[1:-1]))
    if name.isprintable() and len(name) <= 40:
        assert text == name


@given(NAMES)
@example("".join(HOSTILE))
def test_no_name_breaks_graphml(name: str) -> None:
    """An XML parser gives the whole name back; what XML can't hold is shown as unknown."""
    root = ET.fromstring(picture(every_kind(name), "graphml").encode())

    nodes = root.findall(f".//{{{GRAPHML}}}node")
    assert len(nodes) == len(OP_KINDS)
    label = nodes[0].find(f"{{{GRAPHML}}}data[@key='label']")
    assert label is not None
    if name.isprintable():
        assert (label.text or "") == name
    ids = {element.get("id") for element in nodes}
    for edge in root.findall(f".//{{{GRAPHML}}}edge"):
        assert {edge.get("source"), edge.get("target")} <= ids


def test_a_label_is_short_and_says_what_is_known() -> None:
    """The name cut to 40 characters, id, rank where several are drawn, duration."""
    one = node(1, "n" * 50, node_id=5, duration_ns=1500)

    alone = picture(Drawing("small", [one], []), "dot")
    two = picture(Drawing("small", [one, node(2, rank=1)], []), "dot")

    assert f'label="{"n" * 39}…\\n#5, 1.5 us"' in alone
    assert f'label="{"n" * 39}…\\n#5, rank 0, 1.5 us"' in two
    assert 'label="aten::add\\nrank 1"' in two


@pytest.mark.parametrize("form", ["dot", "mermaid", "graphml"])
def test_nothing_drawn_is_still_a_picture(form: PictureForm) -> None:
    """No node, no edge."""
    assert picture(Drawing("small", [], []), form)


def test_graphviz_itself_takes_it() -> None:
    """Where Graphviz or pydot is installed."""
    text = picture(every_kind("".join(HOSTILE)), "dot")
    if (dot := shutil.which("dot")) is not None:
        drawn = subprocess.run([dot, "-Tsvg"], input=text.encode(), capture_output=True, timeout=60)
        assert drawn.returncode == 0, drawn.stderr
    elif importlib.util.find_spec("pydot") is not None:
        import pydot  # type: ignore[import-not-found]

        assert len(pydot.graph_from_dot_data(text)[0].get_edges()) == len(DOT_LINES)
    else:
        pytest.skip("neither Graphviz nor pydot is installed")


def test_networkx_takes_it() -> None:
    """Where networkx is installed: nodes, edges and their attributes."""
    networkx = pytest.importorskip("networkx")

    graph = networkx.parse_graphml(picture(every_kind("aten::add"), "graphml"))

    assert {data["kind"] for _, data in graph.nodes(data=True)} == set(OP_KINDS)
    assert {data["type"] for _, _, data in graph.edges(data=True)} == set(DOT_LINES)
