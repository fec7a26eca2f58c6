"""`graphstore runs`: list the archive; show, tag, note, rename, verify, delete and move its runs.

How a figure went from run to run (`runs trend`) is in trend.py.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from graphstore import api, settings
from graphstore.cli import options, output, trend
from graphstore.cli.pager import screen
from graphstore.cli.progress import progress
from graphstore.errors import InputError, UsageError

app = typer.Typer(
    cls=options.ListFirst,
    help="List the runs of the archive; show, tag, note, rename, verify, delete, move or compare them.",
    rich_markup_mode=None,
)
COLUMNS = (
    *("run", "name", "created", "world_size", "trace_bytes", "stored_bytes", "errors", "warnings", "tags"),
    "note",
)
VERIFY_COLUMNS = ("run", "file", "status", "problem")
MOVED_COLUMNS = ("run", "nodes", "edges", "unchanged")
_UNITS = (("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000))

app.command(name="trend")(trend.run)


@app.command(name="list")
def list_(
    tag: options.Tags = None,
    since: options.Since = None,
    until: options.Until = None,
    world_size: options.WorldSize = None,
    min_size: options.MinSize = None,
    max_size: options.MaxSize = None,
    store: options.Store = None,
    form: options.Form = output.Format.TABLE,
    quiet: options.Quiet = False,
) -> None:
    """List the runs of the archive, oldest first, or those that meet every condition. The default.

    trace_bytes is the size of the files a run was read from, stored_bytes what it takes in the archive (a
    server does not tell). Errors and warnings are the findings open since the last check.
    """
    chosen = options.selection(None, tag, since, until, world_size, min_size, max_size)
    runs = api.list_runs(settings.load(store), chosen)
    output.show(runs, form, COLUMNS)
    if form is output.Format.TABLE:
        stored = [run["stored_bytes"] for run in runs if run["stored_bytes"] is not None]
        taken = f", {_size(sum(stored))} in the archive" if stored else ""
        output.say(f"{len(runs)} {'run' if len(runs) == 1 else 'runs'}{taken}", quiet)


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
    output.show_record(api.tag_run(run, tags or [], remove or [], settings.load(store)), form)


@app.command()
def note(
    run: options.OneRun,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What is to be remembered; '' removes it.")],
    store: options.Store = None,
    form: options.Form = output.Format.TABLE,
) -> None:
    """Write a note on a run, in place of the one it has."""
    output.show_record(api.note_run(run, text, settings.load(store)), form)


@app.command()
def rename(
    run: options.OneRun,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it is called; its id stays.")],
    store: options.Store = None,
    form: options.Form = output.Format.TABLE,
) -> None:
    """Give a run another name. Verbs take it wherever they take a run, while no other run has it."""
    output.show_record(api.rename_run(run, name, settings.load(store)), form)


@app.command()
def verify(
    runs: options.SomeRuns = None,
    tag: options.Tags = None,
    since: options.Since = None,
    until: options.Until = None,
    store: options.Store = None,
    form: options.Form = output.Format.TABLE,
    quiet: options.Quiet = False,
) -> int:
    """Hash the files that runs were read from again, and read the runs through.

    All runs by default. Exit 3 when a file is changed, missing or unreadable, or a run damaged.
    """
    rows = api.verify_runs(settings.load(store), options.selection(runs, tag, since, until))
    output.show(rows, form, VERIFY_COLUMNS)
    wrong = [row for row in rows if row["status"] != "ok"]
    output.say(f"{len(rows) - len(wrong)} of {len(rows)} are as they were", quiet)
    return InputError.exit_code if wrong else 0


@app.command()
def delete(
    runs: options.SomeRuns = None,
    tag: options.Tags = None,
    since: options.Since = None,
    until: options.Until = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask; needed off a terminal.")] = False,
    store: options.Store = None,
    quiet: options.Quiet = False,
) -> None:
    """Delete runs from the archive; the trace files are not touched.

    Runs that are named go at once; those that a condition selects are shown first, and you are asked.
    """
    here, chosen = settings.load(store), options.selection(runs, tag, since, until)
    if chosen == api.Selection():
        raise UsageError("name the runs to delete, or a condition (--tag, --since, --until).")
    names = list(runs or ())
    if tag or since or until:
        names = [run["run"] for run in api.list_runs(here, chosen)]
        if not names:
            raise UsageError("no run meets these conditions; nothing was deleted.")
        if not (yes or _agreed(names)):
            raise UsageError(f"{len(names)} runs would go: {', '.join(names)}. --yes deletes them.")
    for name in api.delete_runs(names, here):
        output.say(f"{name} is deleted", quiet)


@app.command(name="export-archive")
def export_archive(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN", help="Runs: id, latest, latest~N or name.", autocompletion=options.complete_run
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The file to write.")],
    store: options.Store = None,
    form: options.Form = output.Format.TABLE,
    quiet: options.Quiet = False,
) -> None:
    """Write runs as one file, for another archive on any engine: graph, findings, repairs, tags, notes."""
    with progress(quiet) as bars:
        moved = api.export_archive(runs, out, settings.load(store), progress=bars)
    output.show([vars(run) for run in moved], form, MOVED_COLUMNS[:-1])
    output.say(f"{out}: {_size(out.stat().st_size)}", quiet)


@app.command(name="import-archive")
def import_archive(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file that export-archive wrote.")],
    run: Annotated[
        str | None, typer.Option("--run", metavar="ID", help="Another id for its only run.")
    ] = None,
    store: options.Store = None,
    form: options.Form = output.Format.TABLE,
    quiet: options.Quiet = False,
) -> None:
    """Put the runs of such a file into the archive; one that is there already, the same, is left alone."""
    with progress(quiet) as bars:
        moved = api.import_archive(file, settings.load(store), run=run, progress=bars)
    output.show([vars(run) for run in moved], form, MOVED_COLUMNS)


def _agreed(names: list[str]) -> bool:
    """Ask whether these runs shall go; off a terminal nobody answers."""
    if not sys.stdin.isatty():
        return False
    return typer.confirm(f"Delete {len(names)} runs ({', '.join(names)})?", err=True)


def _size(size_bytes: int) -> str:
    """Return a size in the unit that reads best: 1500 → '1.5 kB'."""
    for unit, size in _UNITS:
        if size_bytes >= size:
            return f"{size_bytes / size:.3g} {unit}"
    return f"{size_bytes} bytes"
