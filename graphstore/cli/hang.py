"""`graphstore hang`: who stopped a job, and at which call, from the dumps or traces of its ranks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from graphstore import api, settings
from graphstore.cli import options, output
from graphstore.cli.output import Format
from graphstore.cli.progress import progress
from graphstore.cli.report import FINDINGS_EXIT
from graphstore.errors import InputError
from graphstore.link.matching import JobMatching

JOB = "job"  # a column only where the files are of several jobs


def run(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="DIR|FILE",
            help="Flight Recorder dumps of one job, a file a rank, or the folder that holds them. Traces "
            "beside them tell the members of groups; without dumps the traces themselves are matched.",
        ),
    ],
    rank: options.Rank = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit 1 when a problem is proven.")] = False,
    form: options.Form = Format.TABLE,
    quiet: options.Quiet = False,
) -> int:
    """Say who stopped a job that hangs, at which call, and who waits.

    First a line for each cause, then how far each rank came in each group. With --format json all of it
    in one object, with csv, jsonl and parquet the rows. A file that is refused is named in one line; the
    others are analysed, and the exit code is 3.
    """
    with progress(quiet) as bars:
        result = api.hang_files(paths, settings.load(), options.rank_flags(rank), bars)
    if form is Format.JSON:
        output.show_record(result.record(), form)
    elif form is Format.TABLE:
        _show(result)
    else:
        output.show(result.evidence, form)
    for problem in result.problems:
        output.say(f"graphstore: {problem}")
    if form is not Format.TABLE:
        for line in answer(result):
            output.say(line, quiet)
    for line in _remarks(result):
        output.say(line, quiet)
    if result.problems:
        return InputError.exit_code
    return FINDINGS_EXIT if strict and result.matching.healthy is False else 0


def answer(result: api.HangResult) -> list[str]:
    """Return the answer: a line for each cause, or that a job is healthy, or what would decide it."""
    jobs = list(enumerate(result.matching, 1))
    lines = [
        (f"job {number}: " if len(jobs) > 1 else "") + line for number, job in jobs for line in _of_job(job)
    ]
    if not jobs:
        lines = ["undecided: no file could be matched"]
    return lines + [f"would decide it: {line}" for line in result.would_decide]


def _of_job(job: JobMatching) -> list[str]:
    start = "undecided: " if job.healthy is None else ""
    if job.causes:
        return [start + cause.message for cause in job.causes]
    if job.healthy is None:
        return [f"{start}the files prove neither a fault nor health"]
    calls = job.collectives.height + sum(job.p2p["matched"]) + sum(job.p2p["solved"])
    state = "healthy" if job.healthy else "not healthy, but no cause can be told"
    return [f"{state}: {calls:,} calls of {len(job.ranks['dumped']):,} ranks were matched"]


def _show(result: api.HangResult) -> None:
    """Print the answer, then the evidence."""
    output.show_text("\n".join(output.printable(line) for line in answer(result)))
    rows = result.evidence
    if rows.is_empty():
        return
    output.show_text("")
    several = rows[JOB].n_unique() > 1
    output.show(rows, Format.TABLE, [name for name in rows.columns if name != JOB or several])


def _remarks(result: api.HangResult) -> Iterator[str]:
    """Yield what a reader of the answer has to know of the files."""
    for job in result.matching:
        yield from (f"note: {note}" for note in job.notes)
    yield from (f"set aside: {file}: {why}" for file, why in result.matching.set_aside.items())
    if result.skipped_folders:
        yield f"not entered: {', '.join(result.skipped_folders)}"
    if result.source == "traces":
        yield "no dump among the files: the calls of the traces were matched"
