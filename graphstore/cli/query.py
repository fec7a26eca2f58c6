"""`graphstore query`: the rows of a catalogue query, a .cypher file or a Cypher text."""

from __future__ import annotations

from typing import Annotated

import typer

from graphstore import api, settings
from graphstore.cli import options, output
from graphstore.errors import UsageError
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
    runs: options.RunWords = None,
    tag: options.Tags = None,
    since: options.Since = None,
    until: options.Until = None,
    world_size: options.WorldSize = None,
    min_size: options.MinSize = None,
    max_size: options.MaxSize = None,
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
    """Ask one run in Cypher and print the rows, or with --runs, --tag, --since … the same of many runs.

    A query can't write, and the limits always hold. One that takes $runs (topic archive) asks what the
    archive keeps of all runs, or of those selected.
    """
    from graphstore.queries import is_over_runs, read_parameters  # with polars, which --help does not need

    parameters = read_parameters(query, param or [])
    chosen = options.selection(runs, tag, since, until, world_size, min_size, max_size)
    here = settings.load(store)
    is_many = bool(runs) or chosen != api.Selection()
    if is_many and run is not None:
        raise UsageError("--run asks one run, --runs and the conditions several: leave one of them out.")
    if is_many or is_over_runs(query):
        wanted = chosen if run is None else api.Selection(runs=(run,))
        many = api.query_runs(query, parameters, here, wanted, row_limit=limit, timeout_s=timeout)
        rows, cut = many.rows, f" in run {many.cut_in}" if many.cut_in else None
        asked = f" of {len(many.runs)} {'run' if len(many.runs) == 1 else 'runs'}"
    else:
        one = api.query_run(run, query, parameters, here, row_limit=limit, timeout_s=timeout)
        rows, cut, asked = one.rows, "" if one.cut else None, ""
    output.show(rows, form)
    if cut is not None:
        output.say(f"graphstore: cut at {rows.height} rows{cut}; there are more (--limit).")
    elif form is output.Format.TABLE:
        output.say(f"{rows.height} rows{asked}", quiet)
    return 0
