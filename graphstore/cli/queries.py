"""`graphstore queries`: list the catalogue, show one query."""

from __future__ import annotations

from dataclasses import asdict

import typer

from graphstore import api
from graphstore.cli import options, output

app = typer.Typer(
    cls=options.ListFirst, help="List the queries of the catalogue, or show one.", rich_markup_mode=None
)


@app.command(name="list")
def list_(form: options.Form = output.Format.TABLE) -> None:
    """List every query: its name, whether it is a check, and what its rows are. The default."""
    rows = [
        {"name": query.name, "check": query.rule, "severity": query.severity, "summary": query.summary}
        for query in api.list_queries()
    ]
    output.show(rows, form)


@app.command()
def show(name: options.QueryName, form: options.Form = output.Format.TABLE) -> None:
    """Print the text of a query with its header; in the other formats its parts."""
    query = api.show_query(name)
    if form is output.Format.TABLE:
        output.show_text(query.text)
    else:
        output.show_record(asdict(query), form)
