"""Hang: the files of all ranks → their calls, matched → who stopped the job, where, and how sure that is.

In:  paths a person names. Out: a `HangResult`. Nothing is stored; of a run that is, hanging_run.py tells.
Decided here: the order of the steps. Dumps are matched if there are any, with the groups that traces of the
same ranks list; without dumps the traces are matched themselves. A pickle that would run code is refused by
name; other files that are no trace are passed over. The judgement is link/matching.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from graphstore import readers
from graphstore.api.importing import nothing_readable
from graphstore.link.matching.deciding import what_decides
from graphstore.link.matching.evidence import evidence_rows, waits
from graphstore.link.matching.file_dumps import reduce_records, reduced_dumps
from graphstore.link.matching.host_calls import numbered_calls, trace_dumps
from graphstore.link.matching.matching import match_dumps, match_reduced
from graphstore.link.matching.model import JobMatching, Matching, RankDump
from graphstore.link.rank import link_rank
from graphstore.link.run_matching import DUMPS, TRACES
from graphstore.model.records import FileRecords
from graphstore.readers.detect import NOT_A_TRACE, RUNS_CODE
from graphstore.settings import Settings
from graphstore.store.base import Progress

TRACE_KINDS = ("et", "et_plus", "kineto")
WANTED = "Flight Recorder dumps, execution traces or Kineto traces"


@dataclass(frozen=True)
class HangResult:
    """The calls of all ranks matched, as plain data.

    `record`: all of it, as `--format json` prints it: healthy, culprits, findings, verdicts (of collectives),
    p2p_verdicts (of directed edges), groups, windows, waits, jobs, notes, would_decide, source
    (flight_recorder or traces: whose calls were matched), set_aside, refused (a line for each file that could
    not be read; the others were analysed all the same), skipped_folders. `job` numbers jobs from 1.
    `evidence`: a row per group and member: its window, its counters, its first unfinished call.
    """

    record: dict[str, Any]
    evidence: pl.DataFrame


def hang_files(
    paths: Sequence[str],
    settings: Settings,
    rank_flags: Mapping[str, int] | None = None,
    progress: Progress | None = None,
) -> HangResult:
    """Return who stopped the job whose files lie at `paths`, as far as they prove it.

    `rank_flags` maps a path or file name to a rank. Raises InputError when no dump and no trace could be
    read, RankError when the rank of a trace cannot be told, UsageError for a flag that names no file.
    """
    found = readers.find_files(paths)
    records = readers.read_files(found.files, settings, found.explicit, progress, then=reduce_records)
    readers.assign_ranks(records, dict(rank_flags or {}))
    _refuse_code(records)
    problems = [str(record.facts["problem"]) for record in records if record.facts.get("problem")]
    dumps = list(reduced_dumps(records))
    traces = [] if dumps else _traces(records)
    if not dumps and not traces:
        raise nothing_readable(records, WANTED)
    del records  # the dumps let go of their numbers group by group, so nothing else may hold them
    if dumps:
        return result_of(match_reduced(dumps), DUMPS, problems, found.skipped_folders)
    return result_of(match_dumps(traces), TRACES, problems, found.skipped_folders)


def result_of(
    matching: Matching, source: str, refused: Sequence[str], skipped_folders: Sequence[str]
) -> HangResult:
    """Return what matching says as plain data."""
    jobs = list(enumerate(matching, 1))
    evidence = evidence_rows(matching)
    record = {
        "healthy": matching.healthy,
        "culprits": [culprit for _, job in jobs for culprit in job.culprits],
        "undecided_between": [rank for _, job in jobs for rank in job.undecided_between],
        "findings": [{"job": number} | asdict(cause) for number, job in jobs for cause in job.causes],
        "would_decide": what_decides(matching, source == DUMPS),
        "groups": [
            {"job": number, "group": group.label, "pg_name": group.name, "pg_desc": group.desc}
            | {"ranks": list(group.members), "origin": group.origin, "complete": group.complete}
            for number, job in jobs
            for group in job.groups
        ],
        "verdicts": dict(Counter(v for _, job in jobs for v in job.collectives["verdict"])),
        "p2p_verdicts": dict(Counter(v for _, job in jobs for v in job.p2p["verdict"])),
        "windows": evidence.to_dicts(),
        "waits": [{"job": number} | wait for number, job in jobs for wait in waits(job)],
        "jobs": [_job(number, job) for number, job in jobs],
        "notes": [note for _, job in jobs for note in job.notes],
        "source": source,
        "set_aside": matching.set_aside,
        "refused": list(refused),
        "skipped_folders": list(skipped_folders),
    }
    return HangResult(record, evidence)


def _job(number: int, job: JobMatching) -> dict[str, Any]:
    return {
        "job": number,
        "healthy": job.healthy,
        "calls": job.calls,
        "ranks": job.ranks,
        "versions": job.versions,
        "files": job.files,
        "first_divergence": job.first_divergence,
    }


def _refuse_code(records: Sequence[FileRecords]) -> None:
    """Name a pickle that would run code as refused, also in a folder: pickles here are meant as dumps."""
    for record in records:
        for reason in record.tally.left_out:
            if record.facts["kind"] == NOT_A_TRACE and RUNS_CODE in reason:
                what = reason.partition(": ")[2]
                record.facts.setdefault("problem", f"{record.path}: refused: {what}. Want {WANTED}.")


def _traces(records: Sequence[FileRecords]) -> list[RankDump]:
    """Return the calls of execution and Kineto traces, linked rank by rank."""
    traces = [r for r in records if r.facts["kind"] in TRACE_KINDS and not r.facts.get("problem")]
    ranks = sorted({record.facts["rank"] for record in traces})
    graphs = [link_rank(rank, [r for r in traces if r.facts["rank"] == rank]) for rank in ranks]
    return trace_dumps(graphs, numbered_calls(graphs))
