"""`graphstore query`: the rows of a catalogue query, a .cypher file or a Cypher text."""

from __future__ import annotations

from typing import Annotated

import typer

from graphstore import api, settings
from graphstore.cli import options, output
from graphstore.settings import Settings


def run(
    query: Annotated[
        str,
        typer.Argument(
            metavar="NAME|FILE|TEXT",
            help="A name of `queries`, a .cypher file, or a Cypher text; $run is the run asked.",
            autocompletion=options.complete_query,
        ),
    ],
    run: options.RunOption = None,
    param: Annotated[
        list[str] | None,
        typer.Option(
            "--param",
            "-p",
            metavar="NAME=VALUE",
            help="A parameter of the query. Repeatable.",
            autocompletion=options.complete_parameter,
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", metavar="ROWS", min=1, help=f"Rows at most. [default: {Settings.row_limit}]"),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(
            "--timeout",
            metavar="SECONDS",
            min=0.001,
            help=f"Time at most; then exit 124. [default: {Settings.query_timeout_s:g}]",
        ),
    ] = None,
    store: options.Store = None,
    form: options.Form = output.Format.TABLE,
    quiet: options.Quiet = False,
) -> int:
    """Ask one run in Cypher and print the rows. A query can't write, and the limits always hold."""
    from graphstore.queries import read_parameters  # with polars, which --help does not need

    parameters = read_parameters(query, param or [])
    result = api.query_run(run, query, parameters, settings.load(store), row_limit=limit, timeout_s=timeout)
    output.show(result.rows, form)
    if result.cut:
        output.say(f"graphstore: cut at {result.rows.height} rows; there are more (--limit).")
    elif form is output.Format.TABLE:
        output.say(f"{result.rows.height} rows", quiet)
    return 0
