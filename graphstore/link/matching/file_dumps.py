"""The Flight Recorder dumps among the files of a job, in the form in which they are matched.

In:  `FileRecords` of all files, with their ranks. Out: a `RankDump` per readable dump.
Decided here (matching.md §3): what a dump of gloo lacks, the members of its groups, comes from the other
files of the same rank.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from graphstore.link.matching.model import RankDump
from graphstore.model.records import FileRecords


def flight_dumps(records: Sequence[FileRecords]) -> list[RankDump]:
    """Return the dumps that could be read, with the groups that the other files of their ranks list."""
    listed: dict[int | None, list[dict[str, Any]]] = defaultdict(list)
    for record in records:
        if record.facts.get("rank") is not None:
            listed[record.facts["rank"]] += record.groups
    return [
        RankDump(
            str(record.facts["name"]),
            record.facts.get("rank"),
            record.tables["flight_entries"],
            record.flight or {},
            listed.get(record.facts.get("rank"), []),
        )
        for record in records
        if record.facts["kind"] == "flight_recorder" and not record.facts.get("problem")
    ]
