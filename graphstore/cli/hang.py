"""`graphstore hang`: who stopped a job, and at which call, from the dumps or traces of its ranks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from graphstore import api, settings
from graphstore.cli import options, output
from graphstore.cli.output import Format
from graphstore.cli.pager import screen
from graphstore.cli.progress import progress
from graphstore.cli.report import FINDINGS_EXIT
from graphstore.errors import InputError, UsageError

JOB = "job"  # a column only where the files are of several jobs


def run(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="DIR|FILE",
            help="Flight Recorder dumps of one job, a file a rank, or the folder that holds them. Traces "
            "beside them tell the members of groups; without dumps the traces themselves are matched.",
            show_default=False,
        ),
    ] = None,
    of_run: Annotated[
        str | None,
        typer.Option(
            "--run",
            metavar="RUN",
            help="Ask a run of the archive instead of files.",
            autocompletion=options.complete_run,
            show_default=False,
        ),
    ] = None,
    store: options.Store = None,
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
    result = _asked(paths or [], of_run, store, rank, quiet)
    if form is Format.JSON:
        output.show_record(result.record, form)
    elif form is Format.TABLE:
        with screen.one_page():
            _show(result)
    else:
        output.show(result.evidence, form)
    for problem in result.record["refused"]:
        output.say(f"graphstore: {problem}")
    if form is not Format.TABLE:
        for line in answer(result):
            output.say(line, quiet)
    for line in _remarks(result):
        output.say(line, quiet)
    if result.record["refused"]:
        return InputError.exit_code
    return FINDINGS_EXIT if strict and result.record["healthy"] is False else 0


def _asked(
    paths: list[str], run: str | None, store: str | None, rank: list[str] | None, quiet: bool
) -> api.HangResult:
    """Return the answer for files, or for a run of the archive; raises UsageError for both or neither."""
    if bool(paths) == (run is not None):
        raise UsageError("hang asks either files (DIR or FILE) or a run of the archive (--run RUN)")
    if run is not None:
        if rank:
            raise UsageError("--rank names files: it does not go with --run")
        return api.hang_run(run, settings.load(store))
    with progress(quiet) as bars:
        return api.hang_files(paths, settings.load(store), options.rank_flags(rank), bars)


def answer(result: api.HangResult) -> list[str]:
    """Return the answer: a line for each cause, or that a job is healthy, or what would decide it."""
    record = result.record
    jobs = record["jobs"]
    lines = [
        (f"job {job['job']}: " if len(jobs) > 1 else "") + line
        for job in jobs
        for line in _of_job(record, job)
    ]
    if not jobs:
        lines = ["undecided: no file could be matched"]
    return lines + [f"would decide it: {line}" for line in record["would_decide"]]


def _of_job(record: dict[str, Any], job: dict[str, Any]) -> list[str]:
    start = "undecided: " if job["healthy"] is None else ""
    causes = [finding["message"] for finding in record["findings"] if finding["job"] == job["job"]]
    if causes:
        return [start + message for message in causes]
    if job["healthy"] is None:
        return [f"{start}the files prove neither a fault nor health"]
    state = "healthy" if job["healthy"] else "not healthy, but no cause can be told"
    return [f"{state}: {job['calls']:,} calls of {len(job['ranks']['dumped']):,} ranks were matched"]


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
    record = result.record
    yield from (f"note: {note}" for note in record["notes"])
    yield from (f"set aside: {file}: {why}" for file, why in record["set_aside"].items())
    if record["skipped_folders"]:
        yield f"not entered: {', '.join(record['skipped_folders'])}"
    if record["source"] == "traces":
        yield "no dump among the files: the calls of the traces were matched"
