"""Make the pictures of the README from what graphstore prints and finds: `python docs/make_pictures.py`.

In:  the demo run that ships with the package. Out: docs/images/demo.svg (the command `graphstore demo`) and
docs/images/repair.svg (rank 0's tree of calls, as recorded and repaired, asked from the graph).
"""

from __future__ import annotations

import io
import re
import tempfile
from pathlib import Path
from typing import Any

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.columns import Columns
from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.tree import Tree

from graphstore import api, demo, settings
from graphstore.cli import demo as demo_verb
from graphstore.cli import output

IMAGES = Path(__file__).resolve().parent / "images"
# rich's own form loads a font from the network; a picture has to stand alone.
SVG_FORMAT = re.sub(r"@font-face \{\{.*?\}\}", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
RANK = 0
TREE_QUERY = """
MATCH (n:HostOp) WHERE n.run = $run AND n.rank = $rank AND n.node_id IS NOT NULL
RETURN n.uid AS uid, n.name AS name, n.node_id AS node_id, n.parent_id AS parent_id, n.comm_kind AS comm_kind,
       n.node_id_origin AS origin, [(n)<-[:CTRL]-(p:Op) | p.uid] AS parents
ORDER BY node_id
"""


def main() -> None:
    """Write both pictures."""
    IMAGES.mkdir(exist_ok=True)
    save(demo_output(), "demo", "graphstore demo")
    save(trees(), "repair", "rank 0 of the demo run")


def save(console: Console, name: str, title: str) -> None:
    """Write what `console` recorded as docs/images/NAME.svg."""
    console.save_svg(str(IMAGES / f"{name}.svg"), title=title, code_format=SVG_FORMAT, unique_id=name)


def recorder(width: int) -> Console:
    """Return a console that prints nowhere and records all."""
    return Console(record=True, width=width, file=io.StringIO(), force_terminal=True)


def demo_output() -> Console:
    """Return a console on which the rows of the demo stand as the command prints them."""
    result = api.convert_demo(None, settings.load())
    console = recorder(78)
    console.print("$ graphstore demo", style="bold", highlight=False)
    console.print(output.drawn_table(list(result.rows[0]), [list(row.values()) for row in result.rows]))
    console.print(demo_verb.sentence(result.rows), highlight=False)
    return console


def trees() -> Console:
    """Return a console with the tree of calls of one rank, as recorded and repaired, side by side."""
    with tempfile.TemporaryDirectory() as archive:
        chosen = settings.load(archive)
        api.import_runs([str(demo.TRACES)], api.ImportOptions(run="demo"), chosen)
        recorded = tree_of(asked(chosen), "as recorded")
        api.repair_run("demo", chosen, apply=True)
        repaired = tree_of(asked(chosen), "repaired")
    console = recorder(126)
    console.print(Columns([Panel(recorded, width=62), Panel(repaired, width=62)]))
    return console


def asked(chosen: settings.Settings) -> list[dict[str, Any]]:
    """Return the host ops of the rank with their parents, in the order of their uids."""
    return api.query_run("demo", TREE_QUERY, {"rank": RANK}, chosen).rows.to_dicts()


def tree_of(ops: list[dict[str, Any]], title: str) -> Tree:
    """Return the forest down to what lies directly in the steps: the ops that hold communication calls."""
    children: dict[int | None, list[dict[str, Any]]] = {}
    for op in ops:
        children.setdefault(next(iter(op["parents"]), None), []).append(op)
    top = Tree(f"[bold]{title}[/bold]")
    roots = children[None]
    for root in roots:
        if root["parent_id"] is None:
            grow(top.add(label(root, children)), root, children)
    absent = sorted({root["parent_id"] for root in roots if root["parent_id"] is not None})
    for parent_id in absent:
        lost = top.add(f"[red]node {parent_id} is absent; nothing leads here[/red]")
        for root in roots:
            if root["parent_id"] == parent_id and calls_in(root, children):
                lost.add(label(root, children))
    return top


def grow(tree: Tree, op: dict[str, Any], children: dict[int | None, list[dict[str, Any]]]) -> None:
    """Add the children of `op` that hold a communication call, as deep as the insides of a step."""
    for child in children.get(op["uid"], []):
        if calls_in(child, children):
            inner = tree.add(label(child, children))
            if not op["name"].startswith("ProfilerStep#"):
                grow(inner, child, children)


def label(op: dict[str, Any], children: dict[int | None, list[dict[str, Any]]]) -> str:
    """Return the text of one op: its name, and the calls it holds."""
    calls = calls_in(op, children)
    restored = " [green]restored from Kineto[/green]" if op["origin"] else ""
    told = f" [cyan]{calls} {'call' if calls == 1 else 'calls'}[/cyan]" if calls else ""
    return f"{escape(op['name'])}{told}{restored}"


def calls_in(op: dict[str, Any], children: dict[int | None, list[dict[str, Any]]]) -> int:
    """Return the communication calls at or below `op`."""
    below = sum(calls_in(child, children) for child in children.get(op["uid"], []))
    return below + (op["comm_kind"] is not None)


if __name__ == "__main__":
    main()
