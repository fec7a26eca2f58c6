"""What a report tells: every section's rows, read from the store.

In:  a store and a run; nothing else. Out: `Contents`. Decided here: which statement a section is made of, and
how many rows it shows; what is cut is counted.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import orjson
import polars as pl

from graphstore.export.facts import facts_of_run
from graphstore.export.report.communication import Communication, read_communication
from graphstore.export.report.findings import Findings, read_findings
from graphstore.export.report.layers import Layout, layout
from graphstore.export.report.neighbours import waits_picture
from graphstore.export.report.tracks import Tracks, read_tracks
from graphstore.queries.run import run_query
from graphstore.store.base import Progress, Store

Row = dict[str, Any]


@dataclass(frozen=True)
class Ledger:
    """The files of a run with their records, the sums, and why records were left out."""

    files: list[Row]
    read: int
    kept: int
    reasons: list[tuple[str, int]]

    @property
    def left_out(self) -> int:
        """How many records became no node, each for a reason."""
        return sum(count for _, count in self.reasons)


@dataclass(frozen=True)
class Contents:
    """All that a report tells of a run, section by section."""

    facts: Row
    ledger: Ledger
    nodes: list[Row]  # label, nodes
    findings: Findings
    waits: Layout | None
    tracks: Tracks
    steps: pl.DataFrame
    communication: Communication
    host_ops: pl.DataFrame
    repairs: list[Row]


def read_contents(store: Store, run: str, progress: Progress | None = None) -> Contents:
    """Return what a report tells. Raises UsageError (unknown run), QueryTimeoutError, StoreError."""
    facts = facts_of_run(store, run)

    def rows(name: str) -> pl.DataFrame:
        return run_query(store, run, name)

    waits = waits_picture(rows("communication/show_waits").iter_rows(named=True))
    return Contents(
        facts=facts,
        ledger=_ledger(rows("archive/show_ledger").to_dicts()),
        nodes=rows("archive/count_labels").to_dicts(),
        findings=read_findings(store, run),
        waits=layout(waits) if waits else None,
        tracks=read_tracks(store, run, progress),
        steps=rows("time/show_steps").drop_nulls(["start_ns", "end_ns"]),
        communication=read_communication(store, run),
        host_ops=rows("time/show_time_by_name"),
        repairs=rows("structure/show_repairs").to_dicts(),
    )


def _ledger(files: list[Row]) -> Ledger:
    reasons: Counter[str] = Counter()
    for file in files:
        file["left_out"] = orjson.loads(file["left_out"] or "{}")
        reasons.update(file["left_out"])
    return Ledger(
        files=files,
        read=sum(file["records_read"] or 0 for file in files),
        kept=sum(file["kept"] or 0 for file in files),
        reasons=reasons.most_common(),
    )
