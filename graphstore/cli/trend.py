"""`graphstore runs trend`: how a figure of a query went from run to run, and where it first changed."""

from __future__ import annotations

from typing import Annotated

import typer

from graphstore import api, settings
from graphstore.cli import options, output


def run(
    query: Annotated[
        str,
        typer.Argument(
            metavar="NAME|FILE|TEXT",
            help="A query, as `query` takes it.",
            autocompletion=options.complete_query,
        ),
    ],
    column: Annotated[str, typer.Argument(metavar="COLUMN", help="Column of numbers; its rows are summed.")],
    by: Annotated[
        str | None, typer.Option("--by", metavar="COLUMN", help="Sum for each value of this column.")
    ] = None,
    over: Annotated[
        float, typer.Option("--over", metavar="PERCENT", min=0.0, help="A change counts beyond this.")
    ] = 5.0,
    param: Annotated[
        list[str] | None,
        typer.Option("--param", "-p", metavar="NAME=VALUE", help="A parameter of the query. Repeatable."),
    ] = None,
    runs: options.RunWords = None,
    tag: options.Tags = None,
    since: options.Since = None,
    until: options.Until = None,
    world_size: options.WorldSize = None,
    store: options.Store = None,
    form: options.Form = output.Format.TABLE,
    quiet: options.Quiet = False,
) -> None:
    """Show how a figure of a query went from run to run, oldest first, and where it first changed.

    Without --by a row a run, with its change against the run before. With --by a row for each value, those
    that changed most first: the figure in the first and the last run, and the first run in which it changed
    by more than --over percent. Example:
    runs trend archive/show_sums_by_name self_ns --by name --tag nightly.
    """
    from graphstore.queries import read_parameters  # with polars, which --help does not need

    found = api.trend_runs(
        query,
        column,
        settings.load(store),
        options.selection(runs, tag, since, until, world_size),
        by=by,
        parameters=read_parameters(query, param or []),
        over_pct=over,
    )
    output.show(found.changes if by else found.points, form)
    changed = found.changes.filter(found.changes["changed_in"].is_not_null())
    if by:
        output.say(f"{changed.height} of {found.changes.height} changed by more than {over:g} %", quiet)
    elif changed.height:
        run, share = changed["changed_in"][0], changed["changed_pct"][0]
        size = "from nothing" if share is None else f"by {share:+.3g} %"
        output.say(f"first changed by more than {over:g} % in run {run}: {size}", quiet)
    else:
        output.say(f"no change by more than {over:g} %", quiet)
