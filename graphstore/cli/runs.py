"""`graphstore runs`: list the archive, show, tag and delete a run."""

from __future__ import annotations

from typing import Annotated

import typer

from graphstore import api, settings
from graphstore.cli import options, output
from graphstore.cli.pager import screen
from graphstore.errors import UsageError

app = typer.Typer(
    cls=options.ListFirst,
    help="List the runs of the archive; show, tag or delete one.",
    rich_markup_mode=None,
)
COLUMNS = ("run", "name", "ranks", "world_size", "created", "tags")


@app.command(name="list")
def list_(store: options.Store = None, form: options.Form = output.Format.TABLE) -> None:
    """List the runs of the archive, oldest first. The default."""
    output.show(api.list_runs(settings.load(store)), form, COLUMNS)


@app.command()
def show(
    run: options.Run = None, store: options.Store = None, form: options.Form = output.Format.TABLE
) -> None:
    """Show one run: its properties, the ledger of its files, its counts."""
    found = api.show_run(run, settings.load(store))
    if form is not output.Format.TABLE:
        output.show_record(found, form)
        return
    files, counts = found.pop("files"), found.pop("counts")
    with screen.one_page():
        output.show_record(found, form)
        output.show_text("")
        output.show(files, form)
        output.show_text("")
        output.show(counts, form)


@app.command()
def tag(
    run: options.OneRun,
    tags: Annotated[list[str] | None, typer.Argument(metavar="TAG", help="Tags to add.")] = None,
    remove: Annotated[
        list[str] | None, typer.Option("--remove", metavar="TAG", help="A tag to take away. Repeatable.")
    ] = None,
    store: options.Store = None,
    form: options.Form = output.Format.TABLE,
) -> None:
    """Add tags to a run, or take some away; print those it has."""
    if not tags and not remove:
        raise UsageError("name a tag to add, or --remove one.")
    kept = api.tag_run(run, tags or [], remove or [], settings.load(store))
    output.show_record({"run": run, "tags": kept}, form)


@app.command()
def delete(run: options.OneRun, store: options.Store = None, quiet: options.Quiet = False) -> None:
    """Delete a run from the archive; the trace files are not touched."""
    api.delete_run(run, settings.load(store))
    output.say(f"{run} is deleted", quiet)
