"""`graphstore check`: run every check on an archived run, or on files as they lie, and show the findings."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphstore import api, settings
from graphstore.cli import options, output, report
from graphstore.cli.progress import progress
from graphstore.errors import UsageError

if TYPE_CHECKING:  # --help shall not load it
    from graphstore.api import BrowserAt
    from graphstore.queries.findings import Finding


class Target(StrEnum):
    """The simulators whose rules are known."""

    ASTRA_SIM = "astra-sim"


def run(
    target: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RUN|PATH",
            help="A run of the archive (needless while there is only one), or the trace files of one run.",
            autocompletion=options.complete_run_or_path,
            show_default=False,
        ),
    ] = None,
    topic: Annotated[
        str | None,
        typer.Option("--topic", metavar="TOPIC", help="Only the checks of one topic of `queries`."),
    ] = None,
    simulator: Annotated[
        Target | None,
        typer.Option(
            "--target",
            help="Ask instead whether this simulator will run the Chakra files, of all ranks together.",
            show_default=False,
        ),
    ] = None,
    rank: options.Rank = None,
    allow_mismatch: options.AllowMismatch = False,
    strict: options.Strict = False,
    store: options.Store = None,
    form: options.Form = output.Format.TABLE,
    quiet: options.Quiet = False,
) -> int:
    """Ask a run what is broken: one finding for each cause.

    A run of the archive keeps its findings. Files are checked in a graph that is thrown away. With --target
    Chakra files are asked what keeps a simulator from running them; comm_groups.json is looked for beside
    them.
    """
    words = target or []
    browser: BrowserAt | None = None
    if simulator is not None:
        if topic is not None or rank or allow_mismatch:
            raise UsageError(
                "--target goes without --topic, --rank and --allow-mismatch: it asks files alone."
            )
        findings = _for_simulator(words, quiet)
        code = 0
    elif len(words) > 1 or any(Path(word).exists() for word in words):
        wanted = api.ImportOptions(None, options.rank_flags(rank), allow_mismatch)
        with progress(quiet) as bars:
            findings, read = api.check_files(words, wanted, settings.load(store), topic=topic, progress=bars)
        report.say_import(read, quiet)
        code = report.problems_code([read])
    else:
        chosen = settings.load(store)
        findings = api.check_run(words[0] if words else None, chosen, topic=topic)
        code = 0
        if chosen.is_server and findings and topic is None:  # a topic's findings are not kept
            browser = api.browser_at(chosen)
    report.show_findings(findings, form, None if quiet else browser)
    report.say_findings(findings, quiet)
    return code or report.strict_code(findings, strict)


def _for_simulator(words: list[str], quiet: bool) -> list[Finding]:
    """Return what keeps the simulator from running the files; those that are no Chakra files are named."""
    if not words:
        raise UsageError("--target asks Chakra files: name them, or their folder.")
    if len(words) == 1 and not Path(words[0]).exists() and not words[0].endswith(".et"):
        raise UsageError(
            f"{words[0]}: no such file or folder. --target asks Chakra files: `graphstore export` the run, "
            "then name the folder."
        )
    with progress(quiet) as bars:
        findings, passed_over = api.check_for_simulator(words, settings.load(), progress=bars)
    if passed_over:
        output.say(f"passed over, no Chakra files: {', '.join(passed_over)}", quiet)
    return findings
