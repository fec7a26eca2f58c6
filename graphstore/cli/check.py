"""`graphstore check`: run every check on an archived run, or on files as they lie, and show the findings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphstore import api, settings
from graphstore.cli import options, output, report
from graphstore.cli.progress import progress


def run(
    target: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RUN|PATH",
            help="A run of the archive (needless while there is only one), or the trace files of one run.",
            autocompletion=options.complete_run,
            show_default=False,
        ),
    ] = None,
    topic: Annotated[
        str | None,
        typer.Option("--topic", metavar="TOPIC", help="Only the checks of one topic of `queries`."),
    ] = None,
    rank: options.Rank = None,
    allow_mismatch: options.AllowMismatch = False,
    strict: options.Strict = False,
    store: options.Store = None,
    form: options.Form = output.Format.TABLE,
    quiet: options.Quiet = False,
) -> int:
    """Ask a run what is broken: one finding for each cause.

    A run of the archive keeps its findings. Files are checked in a graph that is thrown away.
    """
    words = target or []
    if len(words) > 1 or any(Path(word).exists() for word in words):
        wanted = api.ImportOptions(None, options.rank_flags(rank), allow_mismatch)
        with progress(quiet) as bars:
            findings, read = api.check_files(words, wanted, settings.load(store), topic=topic, progress=bars)
        report.say_import(read, quiet)
        code = report.problems_code([read])
    else:
        findings = api.check_run(words[0] if words else None, settings.load(store), topic=topic)
        code = 0
    report.show_findings(findings, form)
    report.say_findings(findings, quiet)
    return code or report.strict_code(findings, strict)
