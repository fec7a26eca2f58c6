"""`graphstore draw`: a part of a run as a picture for Graphviz, Mermaid or a graph editor."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from graphstore import api, settings
from graphstore.cli import options, output
from graphstore.errors import UsageError


class Picture(StrEnum):
    """The forms of a picture."""

    DOT = "dot"
    MERMAID = "mermaid"
    GRAPHML = "graphml"


def run(
    run: options.Run = None,
    form: Annotated[
        Picture, typer.Option("--format", help="Graphviz, Mermaid, or GraphML for graph editors.")
    ] = Picture.DOT,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="File to write. Default: stdout.", dir_okay=False),
    ] = None,
    rank: Annotated[
        int | None, typer.Option("--rank", metavar="RANK", min=0, help="Only ops of this rank.")
    ] = None,
    op: Annotated[
        str | None,
        typer.Option(
            "--op", metavar="ID|NAME", help="Begin with the ops of this id in the trace, or of this name."
        ),
    ] = None,
    depth: Annotated[
        int | None,
        typer.Option(
            "--depth",
            metavar="STEPS",
            min=0,
            help=f"Steps down from there. [default: {settings.DRAW_DEPTH}; with --query 0]",
        ),
    ] = None,
    query: Annotated[
        str | None,
        typer.Option(
            "--query",
            metavar="NAME|FILE|TEXT",
            help="Begin with the ops that the rows of a query name: columns uid, uids, path, subject(s), "
            "source(s), target(s), root, or ending in _uid(s).",
            autocompletion=options.complete_query,
        ),
    ] = None,
    param: Annotated[
        list[str] | None,
        typer.Option("--param", "-p", metavar="NAME=VALUE", help="A parameter of the query. Repeatable."),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", metavar="NODES", min=1, help="Nodes at most; more are refused.")
    ] = settings.DRAW_LIMIT,
    store: options.Store = None,
    quiet: options.Quiet = False,
) -> int:
    """Draw a part of a run: ops by shape, calls, launches, data and waits by line.

    Without --op or --query the picture begins at the tops of the call trees. With --op it also goes up to
    the top.
    """
    from graphstore.queries import read_parameters  # with polars, which --help does not need

    if op is not None and query is not None:
        raise UsageError("--op and --query both say where to begin: give one")
    parameters = read_parameters(query, param or []) if query is not None else {}
    wanted = api.DrawOptions(rank, op, depth, query, parameters, limit)
    drawn = api.draw_run(run, wanted, settings.load(store), form=form.value, out=out)
    if out is None:
        output.show_text(drawn.text.rstrip("\n"))
    if drawn.missed:
        output.say(f"note: key of the query's rows that is no op drawn: {drawn.missed}", quiet)
    where = f"written to {out}" if out is not None else "drawn"
    output.say(f"{where}: {drawn.nodes} nodes, {drawn.edges} edges", quiet)
    return 0
