"""`graphstore browser`: open Neo4j Browser for a run, with colours, saved scripts and a guide."""

from __future__ import annotations

import contextlib
import time
import webbrowser
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from graphstore import api, settings
from graphstore.cli import options, output
from graphstore.errors import UsageError


def run(
    run: options.Run = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="Only write the files to drop on any Browser: style sheet, saved scripts, guide.",
            file_okay=False,
        ),
    ] = None,
    no_open: Annotated[
        bool, typer.Option("--no-open", help="Only print the link; nothing is opened or served.")
    ] = False,
    store: options.Store = None,
    form: options.Form = output.Format.TABLE,
    quiet: options.Quiet = False,
) -> int:
    """Open Neo4j Browser for a run, with colours, saved scripts and a guide.

    The guide is served from this machine, to that Browser alone, until Ctrl-C. Browser is set to read only.
    """
    chosen = settings.load(store)
    if out is not None:
        run, names = api.write_browser_kit(run, out, chosen)
        output.show([{"file": str(out / name)} for name in names], form)
        output.say("drop the .grass and the .zip on Browser; :play takes a guide from a web server", quiet)
        return 0
    if not chosen.is_server:
        raise UsageError(
            f"{chosen.store} is the embedded store, and Neo4j Browser shows runs of a Neo4j server: "
            "`graphstore import FILES --store bolt://localhost:7687` puts a run there."
        )
    if no_open:
        _show(api.browser_links(run, chosen), form)
        return 0
    with api.browser_served(run, chosen) as opening:
        _show(opening, form)
        if not opening.has_start_page:
            output.say(
                "the guide puts on the colours at a click; for the saved scripts drop the .zip on Browser",
                quiet,
            )
        if not webbrowser.open(opening.link):
            output.say("no web browser starts here: open the link in one on this machine", quiet)
        output.say("serving until Ctrl-C", quiet)
        _wait()
    output.say("stopped serving; what Browser shows stays", quiet)
    return 0


def _show(opening: api.Opening, form: output.Format) -> None:
    record = {name: value for name, value in asdict(opening).items() if value is not None}
    del record["has_start_page"]
    output.show_record(record, form)


def _wait() -> None:
    """Wait for Ctrl-C. In steps: polars has signals restart what they interrupt, and a lock waits on."""
    with contextlib.suppress(KeyboardInterrupt):
        while True:
            time.sleep(0.5)
