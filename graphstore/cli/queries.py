"""`graphstore queries`: list the catalogue, find queries by words, show one."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphstore import api
from graphstore.cli import options, output

if TYPE_CHECKING:
    from graphstore.queries.catalog import Field, Query

SAMPLES = {"int": "1", "float": "0.5", "bool": "true", "json": "{}", "text": "TEXT"}  # of what must be given

app = typer.Typer(
    cls=options.ListFirst,
    help="List the queries of the catalogue, find some by words, or show one.",
    rich_markup_mode=None,
)
Topic = Annotated[
    str | None,
    typer.Option(
        "--topic",
        metavar="TOPIC",
        help="Only those of one topic: health, structure, linking, communication, time, memory or archive.",
        autocompletion=options.complete_topic,
    ),
]
All = Annotated[bool, typer.Option("--all", help="With those that only graphstore itself asks.")]


@app.command(name="list")
def list_(topic: Topic = None, every: All = False, form: options.Form = output.Format.TABLE) -> None:
    """List the queries a person asks: name, what the rows are, parameters. The default."""
    _show(api.list_queries(topic=topic, internal=every), form)


@app.command()
def search(
    words: Annotated[list[str], typer.Argument(metavar="WORDS", help="What the queries must hold.")],
    topic: Topic = None,
    every: All = False,
    form: options.Form = output.Format.TABLE,
) -> None:
    """Find queries by words in their names, meanings, parameters and columns, the best first."""
    _show(api.search_queries(words, topic=topic, internal=every), form)


@app.command()
def show(name: options.QueryName, form: options.Form = output.Format.TABLE) -> None:
    """Print what a query takes and gives, how to run it, and its text; in the other formats its parts."""
    query = api.show_query(name)
    if form is output.Format.TABLE:
        output.show_text("\n".join(_described(query)))
    else:
        output.show_record(asdict(query), form)


def _show(queries: Iterable[Query], form: output.Format) -> None:
    rows = [
        {
            "name": query.name,
            "summary": query.summary,
            "parameters": ", ".join(_word(parameter) for parameter in query.asked),
            "check": query.rule,
            "severity": query.severity,
            "internal": query.is_internal,
        }
        for query in queries
    ]
    output.show(rows, form, columns=("name", "summary", "parameters"))


def _word(parameter: Field) -> str:
    """Return a parameter as a list shows it: in brackets where it may be left out."""
    return f"[{parameter.name}]" if parameter.optional else parameter.name


def _described(query: Query) -> list[str]:
    """Return the lines that explain a query to a person, and its text without the header they repeat."""
    lines = [query.name, "", *_wrapped(query.meaning)]
    if query.rule:
        lines += ["", f"A check: rule {query.rule}, severity {query.severity}. `graphstore check` runs it."]
    if query.is_internal:
        lines += ["", "Only graphstore itself asks it."]
    lines += ["", "Parameters:" if query.asked else "No parameters.", *_fields(query.asked)]
    lines += ["", "Columns:", *_fields(query.columns)]
    if not query.writes:
        lines += ["", "Example:", f"  {_example(query)}"]
    return [*lines, "", query.body]


def _fields(fields: Sequence[Field]) -> list[str]:
    """Return aligned lines: name, type with default, meaning."""
    told = [(field.name, field.described_type, field.meaning) for field in fields]
    widths = [max((len(row[place]) for row in told), default=0) for place in (0, 1)]
    return [f"  {name:<{widths[0]}}  {kind:<{widths[1]}}  {meaning}" for name, kind, meaning in told]


def _example(query: Query) -> str:
    """Return a command line that asks it: what must be given, else the first that narrows it."""
    given = [f"-p {p.name}={_sample(p)}" for p in query.asked if not p.optional]
    optional = [f"-p {p.name}={_sample(p)}" for p in query.asked if p.optional][:1]
    which = "--runs all" if query.over_runs else "--run RUN"
    return " ".join(["graphstore query", query.name.split("/")[1], which, *(given or optional)])


def _sample(parameter: Field) -> Any:
    """Return a value of the parameter's type as it is typed: its default, where it has one."""
    if parameter.optional and parameter.default is not None:
        return parameter.default
    return SAMPLES.get(parameter.type.removeprefix("list[").removesuffix("]"), "…")


def _wrapped(text: str) -> list[str]:
    """Return a text in lines that a terminal holds."""
    return textwrap.wrap(text, 100, break_long_words=False)
