"""Hang: the files of all ranks → their calls, matched → who stopped the job, where, and how sure that is.

In:  paths a person names. Out: a `HangResult`. Nothing is stored.
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

from graphstore import link, readers
from graphstore.api.importing import nothing_readable
from graphstore.link.matching import (
    Matching,
    RankDump,
    evidence_rows,
    match_dumps,
    match_reduced,
    reduce_records,
    reduced_dumps,
    trace_dumps,
    waits,
    what_decides,
)
from graphstore.model.records import FileRecords
from graphstore.readers.detect import NOT_A_TRACE, RUNS_CODE
from graphstore.settings import Settings
from graphstore.store.base import Progress

TRACES = ("et", "et_plus", "kineto")
WANTED = "Flight Recorder dumps, execution traces or Kineto traces"


@dataclass(frozen=True)
class HangResult:
    """The calls of all ranks matched, and what could not be read.

    `source`: flight_recorder or traces, whose calls were matched. `problems`: one line for each file that
    was refused or could not be read; the others were analysed all the same.
    """

    matching: Matching
    source: str
    problems: list[str]
    skipped_folders: list[str]

    @property
    def evidence(self) -> pl.DataFrame:
        """Return a row per group and member: its window, its counters, its first unfinished call."""
        return evidence_rows(self.matching)

    @property
    def would_decide(self) -> list[str]:
        """Return what would decide the jobs that are not decided; [] if all are."""
        return what_decides(self.matching, self.source == "flight_recorder")

    def record(self) -> dict[str, Any]:
        """Return everything as one record of plain data, as `--format json` prints it.

        `verdicts` counts collectives, `p2p_verdicts` directed edges of sends. `job` numbers the jobs found
        among the files from 1.
        """
        jobs = list(enumerate(self.matching, 1))
        return {
            "healthy": self.matching.healthy,
            "culprits": [culprit for _, job in jobs for culprit in job.culprits],
            "undecided_between": [rank for _, job in jobs for rank in job.undecided_between],
            "findings": [{"job": number} | asdict(cause) for number, job in jobs for cause in job.causes],
            "would_decide": self.would_decide,
            "groups": [
                {
                    "job": number,
                    "group": group.label,
                    "pg_name": group.name,
                    "pg_desc": group.desc,
                    "ranks": list(group.members),
                    "origin": group.origin,
                    "complete": group.complete,
                }
                for number, job in jobs
                for group in job.groups
            ],
            "verdicts": dict(Counter(v for _, job in jobs for v in job.collectives["verdict"])),
            "p2p_verdicts": dict(Counter(v for _, job in jobs for v in job.p2p["verdict"])),
            "windows": self.evidence.to_dicts(),
            "waits": [{"job": number} | wait for number, job in jobs for wait in waits(job)],
            "jobs": [
                {"job": number, "healthy": job.healthy, "ranks": job.ranks, "versions": job.versions}
                | {"files": job.files, "first_divergence": job.first_divergence}
                for number, job in jobs
            ],
            "notes": [note for _, job in jobs for note in job.notes],
            "source": self.source,
            "set_aside": self.matching.set_aside,
            "refused": self.problems,
            "skipped_folders": self.skipped_folders,
        }


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
        return HangResult(match_reduced(dumps), "flight_recorder", problems, found.skipped_folders)
    return HangResult(match_dumps(traces), "traces", problems, found.skipped_folders)


def _refuse_code(records: Sequence[FileRecords]) -> None:
    """Name a pickle that would run code as refused, also in a folder: pickles here are meant as dumps."""
    for record in records:
        for reason in record.tally.left_out:
            if record.facts["kind"] == NOT_A_TRACE and RUNS_CODE in reason:
                what = reason.partition(": ")[2]
                record.facts.setdefault("problem", f"{record.path}: refused: {what}. Want {WANTED}.")


def _traces(records: Sequence[FileRecords]) -> list[RankDump]:
    """Return the calls of execution and Kineto traces, linked rank by rank."""
    traces = [r for r in records if r.facts["kind"] in TRACES and not r.facts.get("problem")]
    ranks = sorted({record.facts["rank"] for record in traces})
    return trace_dumps(
        [link.link_rank(rank, [r for r in traces if r.facts["rank"] == rank]) for rank in ranks]
    )
