"""Give every trace the global rank it belongs to.

In:  FileRecords of a run, and what a person said (`--rank FILE=N`). Out: facts.rank and facts.rank_origin.
Decided here, in this order: the person; the content; the trace of the same process (pid) that knows its
rank; the file name; and for the only trace of its kind beside at most one known rank, that rank or 0
(origin "assumed", which becomes a finding). Two traces of one rank and kind are an error.
What the content says: the readers of each format.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from graphstore.errors import RankError, UsageError
from graphstore.model.records import FileRecords

SLOT_BY_KIND = {
    "et": "execution trace",
    "et_plus": "execution trace",
    "kineto": "Kineto trace",
    "chakra_et": "Chakra trace",
    "flight_recorder": "Flight Recorder dump",
}
DUMP = SLOT_BY_KIND["flight_recorder"]  # holds no rank of its own, and may stay without one
NO_RANK = "the rank of the dump is not known"
RANK_WORD = re.compile(r"(?:rank|worker)[-_.]?(\d+)", re.IGNORECASE)
DATE = re.compile(r"(?:19|20)\d\d([-_.]?)[01]\d\1[0-3]\d(?:[-_T.]?[0-2]\d[-_.:]?[0-5]\d[-_.:]?[0-5]\d)?")
VERSION = re.compile(r"v?\d+(?:\.\d+)+", re.IGNORECASE)
ALONE = re.compile(r"(?<![A-Za-z0-9])\d+(?![A-Za-z0-9])")
AT_END = re.compile(r"[A-Za-z](\d+)$")
DUMP_EXTENSIONS = re.compile(r"(?:\.[A-Za-z][A-Za-z0-9]{0,7})+$")
EXTENSIONS = re.compile(r"(?:\.(?:json|gz|zst|zstd|et|pt|trace|pkl|pickle|txt))+$", re.IGNORECASE)
CHAKRA_NAME = re.compile(r"\.(\d+)\.et(?:\.(?:gz|zst|zstd))?$", re.IGNORECASE)
MOST_RANKS = 1_000_000  # a larger number in a name is a time or a process id


def assign_ranks(records: Sequence[FileRecords], flags: dict[str, int]) -> None:
    """Set rank and rank_origin in the facts of every trace.

    `flags` maps a path or file name to a rank. Raises UsageError for a flag that names no file, RankError
    for two traces of one rank and kind (names both), or when no rank can be told (says how to tell it).
    """
    _check_flags(records, flags)
    traces = [record for record in records if _slot(record) and not record.facts.get("problem")]
    for record in traces:
        _from_flag_or_content(record, flags)
    _from_same_process(traces)
    for record in traces:
        if record.facts.get("rank") is None:
            _set(record, _rank_in_name_of(record, traces), "file_name")
    _assume(traces)
    _refuse_clashes(traces)
    for record in traces:
        if record.facts.get("rank") is None:
            _leave_out(record)


def rank_in_name(name: str, pid: int | None = None, alone: bool = False) -> int | None:
    """Return the rank a file name tells: the number after "rank" or "worker", else the last number.

    Versions, dates, the process id and numbers of a million or more do not count. A number that stands
    right behind letters (`trace3.json`) counts at the end, and only when there are several such files.
    PREFIX.N.et is how simulators find the file of rank N: there N counts, whatever stands before it.
    """
    stem = EXTENSIONS.sub("", name)
    marked = RANK_WORD.findall(stem)
    if marked:
        return int(marked[-1])
    numbered = CHAKRA_NAME.search(name)
    if numbered and int(numbered.group(1)) < MOST_RANKS:
        return int(numbered.group(1))
    stem = VERSION.sub(" ", DATE.sub(" ", stem))
    numbers = [int(found) for found in ALONE.findall(stem)]
    glued = AT_END.search(stem)
    if glued and not numbers and not alone:
        numbers = [int(glued.group(1))]
    plausible = [number for number in numbers if number < MOST_RANKS and number != pid]
    return plausible[-1] if plausible else None


def rank_in_dump_name(name: str) -> int | None:
    """Return the rank the file name of a dump tells: its last number, for torch puts the rank last.

    Extensions (`5.f2`), dates and numbers of a million or more do not count; those of a host before it do not
    matter (`nccl_trace_rank_host-02_5`).
    """
    numbers = [int(found) for found in re.findall(r"\d+", DATE.sub(" ", DUMP_EXTENSIONS.sub("", name)))]
    return next((number for number in reversed(numbers) if number < MOST_RANKS), None)


def _rank_in_name_of(record: FileRecords, traces: Sequence[FileRecords]) -> int | None:
    name = str(record.facts["name"])
    if _slot(record) == DUMP:
        return rank_in_dump_name(name)
    alone = sum(_slot(other) == _slot(record) for other in traces) == 1
    return rank_in_name(name, record.facts.get("pid"), alone)


def _slot(record: FileRecords) -> str | None:
    return SLOT_BY_KIND.get(record.facts["kind"])


def _set(record: FileRecords, rank: int | None, origin: str) -> None:
    if rank is not None:
        record.facts |= {"rank": rank, "rank_origin": origin}


def _check_flags(records: Sequence[FileRecords], flags: dict[str, int]) -> None:
    names = {str(record.facts["name"]) for record in records} | {record.path for record in records}
    for given in flags:
        if given not in names:
            raise UsageError(
                f"--rank {given}={flags[given]}: no file of the run is called so. Nothing was read."
            )


def _from_flag_or_content(record: FileRecords, flags: dict[str, int]) -> None:
    given = flags.get(record.path, flags.get(str(record.facts["name"])))
    if given is not None:
        _set(record, given, "flag")
    else:
        _set(record, record.facts.get("rank"), "content")


def _from_same_process(traces: Sequence[FileRecords]) -> None:
    """Give a trace the rank of the only other one with its pid; a pid met twice (two hosts) tells nothing."""
    counts = Counter((_slot(record), record.facts.get("pid")) for record in traces)
    known: dict[Any, set[int]] = {}
    for record in traces:
        if record.facts.get("rank") is not None:
            known.setdefault(record.facts.get("pid"), set()).add(record.facts["rank"])
    for record in traces:
        pid = record.facts.get("pid")
        if record.facts.get("rank") is None and pid is not None and counts[_slot(record), pid] == 1:
            ranks = known.get(pid, set())
            _set(record, min(ranks) if len(ranks) == 1 else None, "content")


def _leave_out(record: FileRecords) -> None:
    """Take the entries of a dump without a rank out of the ledger's kept: they become no nodes."""
    tally = record.tally
    tally.leave_out(NO_RANK, tally.kept)
    tally.kept = 0
    record.close_ledger()


def _assume(traces: Sequence[FileRecords]) -> None:
    """Take the only trace of its kind as the known rank's, or as rank 0 where no rank is known at all."""
    known = {record.facts["rank"] for record in traces if record.facts.get("rank") is not None}
    unknown = [r for r in traces if r.facts.get("rank") is None and _slot(r) != DUMP]
    counts = Counter(_slot(record) for record in traces)
    for record in unknown:
        if counts[_slot(record)] > 1 or len(known) > 1:
            name = record.facts["name"]
            raise RankError(
                f"{record.path}: neither content nor name tells the rank, and it is not the only "
                f"{_slot(record)} here. Name it: --rank {name}=N."
            )
        _set(record, min(known, default=0), "assumed")


def _refuse_clashes(traces: Sequence[FileRecords]) -> None:
    taken: dict[tuple[str | None, int], FileRecords] = {}
    for record in traces:
        rank = record.facts.get("rank")
        if rank is None or _slot(record) == DUMP:
            continue
        other = taken.setdefault((_slot(record), rank), record)
        if other is not record:
            raise RankError(
                f"{other.path} (rank by {_because(other)}) and {record.path} (rank by {_because(record)}) "
                f"are both the {_slot(record)} of rank {rank}. Leave one out, or say --rank "
                f"{record.facts['name']}=N."
            )


def _because(record: FileRecords) -> str:
    return str(record.facts["rank_origin"]).replace("_", " ")
