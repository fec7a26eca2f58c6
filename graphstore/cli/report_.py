"""`graphstore report`: a run as one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphstore import api, settings
from graphstore.cli import options, output, report
from graphstore.cli.progress import progress


def run(
    run: options.Run = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="File to write; one that is there is replaced. Default: RUN.html in this folder.",
            dir_okay=False,
            show_default=False,
        ),
    ] = None,
    store: options.Store = None,
    form: options.Form = output.Format.TABLE,
    quiet: options.Quiet = False,
) -> int:
    """Write a run as one HTML page: summary, ledger, findings, timeline, communication, top ops, repairs.

    The page needs no network and no script. It tells the findings that `check` kept; where none were kept,
    the checks are asked for the page, and nothing is written to the archive.
    """
    with progress(quiet) as bars:
        written = api.write_report(run, out, settings.load(store), progress=bars)
    report.show_files(written, form)
    name = next(iter(written["files"]))
    report.say_files(written, out or Path(name), quiet)
    return 0
