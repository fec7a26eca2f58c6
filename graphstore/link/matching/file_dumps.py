"""The Flight Recorder dumps among the files of a job, in the form in which they are matched.

In:  `FileRecords`. Out: a `RankDump` per readable dump. Or, so that only 50 bytes a call cross from the
processes that read: `reduce_records` there, file by file, and of what it gives here a `Reduced` per dump.
Decided here (matching.md §3): what a dump of gloo lacks, the members of its groups, comes from the other
files of the same rank.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import msgspec
import polars as pl

from graphstore.link.matching.model import RankDump
from graphstore.link.matching.reduce import Reduced, reduce_dump
from graphstore.link.matching.signatures import Signature
from graphstore.model.records import FileRecords

ENTRIES = "flight_entries"
NUMBERS = "flight_numbers"  # a row per call, a column per name of COLUMNS
COLUMNS = ("pg", "sig", "site", "state", "is_p2p", "seq", "p2p_seq", "op_id", "record", "start")
NUMBERED = "numbered"  # in `flight`: what the numbers of pg, sig and site stand for
_ENCODE = msgspec.json.Encoder().encode
_DECODE = msgspec.json.Decoder(list[Signature]).decode


def flight_dumps(records: Sequence[FileRecords]) -> list[RankDump]:
    """Return the dumps that could be read, with the groups that the other files of their ranks list."""
    listed = _listed(records)
    return [
        RankDump(
            str(record.facts["name"]),
            record.facts.get("rank"),
            record.tables[ENTRIES],
            record.flight or {},
            listed.get(record.facts.get("rank"), []),
        )
        for record in records
        if _is_dump(record)
    ]


def reduce_records(record: FileRecords) -> FileRecords:
    """Return the records of a dump with its calls reduced to numbers; those of any other file as they are.

    It needs no other file, so the process that read the dump may do it.
    """
    if not _is_dump(record):
        return record
    dump = reduce_dump(RankDump(record.path, None, record.tables[ENTRIES]))
    numbered = {
        "pgs": dump.pgs,
        "sites": dump.sites,
        "signatures": _ENCODE(dump.signatures).decode(),  # a text, so that equal ones are read once
        "local_ids": [*dump.local_ids.items()],
    }
    numbers = pl.DataFrame({name: getattr(dump, name) for name in COLUMNS})
    return replace(record, tables={NUMBERS: numbers}, flight=(record.flight or {}) | {NUMBERED: numbered})


def reduced_dumps(records: Sequence[FileRecords]) -> Iterator[Reduced]:
    """Yield the dumps among records that `reduce_records` made, with the groups as in `flight_dumps`."""
    listed = _listed(records)
    for record in records:
        if not _is_dump(record) or record.flight is None:
            continue
        numbered = record.flight[NUMBERED]
        columns: dict[str, Any] = {name: record.tables[NUMBERS][name].to_numpy() for name in COLUMNS}
        yield Reduced(
            file=str(record.facts["name"]),
            rank=record.facts.get("rank"),
            flight={name: value for name, value in record.flight.items() if name != NUMBERED},
            groups=listed.get(record.facts.get("rank"), []),
            pgs=[(name, desc) for name, desc in numbered["pgs"]],
            signatures=_signatures(numbered["signatures"]),
            sites=numbered["sites"],
            local_ids=dict(numbered["local_ids"]),
            **columns,
        )


def _is_dump(record: FileRecords) -> bool:
    return record.facts["kind"] == "flight_recorder" and not record.facts.get("problem")


def _listed(records: Sequence[FileRecords]) -> dict[int | None, list[dict[str, Any]]]:
    """Return the groups that the files of each rank list."""
    listed: dict[int | None, list[dict[str, Any]]] = defaultdict(list)
    for record in records:
        if record.facts.get("rank") is not None:
            listed[record.facts["rank"]] += record.groups
    return listed


@lru_cache(maxsize=256)
def _signatures(text: str) -> list[Signature]:
    """Return the same list for the same text: the ranks of a job repeat the contents of their calls."""
    return _DECODE(text)
