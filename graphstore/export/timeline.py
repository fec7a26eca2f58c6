"""A timeline of a run: one Chrome trace JSON, as Perfetto and chrome://tracing open it.

In:  a store and a run; nothing else is read. Out: OUT/RUN.perfetto.json (.gz where it is large), the same
     bytes for the same run on every engine; and a summary that says what it shows and what it leaves out.
Decided here: all ranks stand in one file, since arrows lead from rank to rank; a rank is held at a time, and
of the ranks before it only where their communication calls lie.
"""

from __future__ import annotations

import gzip
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from graphstore.errors import UsageError
from graphstore.export import timeline_events as events
from graphstore.export.facts import facts_of_run
from graphstore.export.files import BUFFER_BYTES, facts_of, publish, staged
from graphstore.export.json_text import write_document
from graphstore.export.order import NONE
from graphstore.export.timeline_columns import (
    TimelineColumns,
    groups_of_unseen,
    read_timeline,
    spans_of,
    thread_names,
)
from graphstore.export.timeline_findings import Findings
from graphstore.export.timeline_meetings import Meetings
from graphstore.export.timeline_tracks import layout
from graphstore.queries.columns import RankKeys, read_keys
from graphstore.store.base import Progress, Store

FORMAT = "graphstore timeline 1"
LARGE_BYTES = 32 << 20  # a file beyond is compressed: viewers open it as it is
UNTIMED = {
    "host": "host op without a time",
    "calls": "runtime call without a time",
    "kernels": "device op without a time",
    "syncs": "sync event without a time",
}

KINDS = ("HostOp", "RuntimeCall", "Kernel", "SyncEvent", "CollectiveCall")


def export_timeline(store: Store, run: str, out: Path, progress: Progress | None = None) -> dict[str, Any]:
    """Write the timeline of a run under `out`; return the file, counts and notes.

    Raises UsageError (unknown run, nothing with a time in it, a folder that can't be written), StoreError.
    Then no file of `out` was changed.
    """
    facts = facts_of_run(store, run)
    timeline = _Timeline(store, run, progress)
    with staged(out) as stage:
        path = stage / f"{run}.perfetto.json"
        with path.open("wb", buffering=BUFFER_BYTES) as stream:
            write_document(stream, _head(facts), "traceEvents", timeline.texts())
        if not timeline.counts["spans"] + timeline.counts["moments"]:
            raise UsageError(
                f"run {run} holds nothing with a time, which a timeline is made of: no Kineto trace and no "
                f"merged trace. `graphstore runs show {run}` lists what was imported."
            )
        if path.stat().st_size > LARGE_BYTES:
            path = _compressed(path)
        written = {path.name: {**dict(timeline.counts), **facts_of(path)}}
        publish(stage, out, written)
    notes = dict(sorted((+timeline.notes).items()))
    return {"format": FORMAT, "run": run, "files": written, "notes": notes}


def _head(facts: dict[str, Any]) -> dict[str, Any]:
    """Return the members beside the events. Times count from baseTimeNanoseconds, as in Kineto's files."""
    head: dict[str, Any] = {"schemaVersion": 1, "displayTimeUnit": "ns", "traceName": facts["run"]}
    if facts.get("origin_ns") is not None:
        head["baseTimeNanoseconds"] = facts["origin_ns"]
    if len(facts.get("ranks") or []) == 1:
        head["distributedInfo"] = {"rank": facts["ranks"][0], "world_size": facts["world_size"]}
    return head


def _compressed(path: Path) -> Path:
    """Compress a file; return its new path. The bytes tell neither time nor name."""
    small = path.with_name(path.name + ".gz")
    with (
        path.open("rb") as source,
        small.open("wb") as raw,
        gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=6) as target,
    ):
        shutil.copyfileobj(source, target, BUFFER_BYTES)
    path.unlink()
    return small


class _Timeline:
    """The events of a run, rank by rank, and their counts."""

    def __init__(self, store: Store, run: str, progress: Progress | None) -> None:
        self._store, self._run, self._progress = store, run, progress
        self._ranks = [keys for keys in read_keys(store, run) if _has_spans(keys)]
        self._names = thread_names(store, run)
        self._findings = Findings(store, run)
        self._meetings = Meetings()
        self._next_pid = self._next_arrow = 1
        self.notes: Counter[str] = Counter()
        self.counts: Counter[str] = Counter(ranks=0, spans=0, arrows=0, moments=0, findings=0)

    def texts(self) -> Iterator[bytes]:
        """Yield the JSON of every event."""
        for done, keys in enumerate(self._ranks, start=1):
            yield from self._rank(read_timeline(self._store, self._run, keys))
            if self._progress:
                self._progress("export", done, len(self._ranks))
        between = self._meetings.arrows(self._next_arrow, self.notes)
        self.counts["arrows"] += between.arrows
        yield from between.texts

    def _rank(self, columns: TimelineColumns) -> Iterator[bytes]:
        found = spans_of(columns)
        names, groups = self._names.get(columns.rank, {}), groups_of_unseen(columns)
        placed = layout(columns.rank, found, self._next_pid, names, groups)
        self._next_pid += len(placed.processes)
        self._note_untimed(columns)
        self.notes["span moved by up to 2 ns, to nest"] += placed.moved
        self._meetings.add(columns, placed.spans)
        yield from events.names(placed)
        ends, arrows = events.arrows(columns, placed, self._next_arrow, self.notes)
        self._next_arrow += arrows
        yield from events.spans(columns, placed, ends)
        texts, moments = events.moments(columns, placed)
        yield from texts
        told = list(self._findings.of_rank(columns.rank, placed.marks))
        yield from told
        self.counts.update(ranks=1, spans=found.height, arrows=arrows, moments=moments, findings=len(told))

    def _note_untimed(self, columns: TimelineColumns) -> None:
        for frame, reason in UNTIMED.items():
            self.notes[reason] += getattr(columns, frame).filter(pl.col("duration_ns") == NONE).height
        seen = columns.comm.join(columns.comm_ops, left_on="uid", right_on="call_uid", how="anti")
        self.notes["communication call of a dump without a time"] += seen.filter(
            (pl.col("duration_ns") == NONE) & (pl.col("start_ns") == NONE)
        ).height


def _has_spans(keys: RankKeys) -> bool:
    return any(keys.counts.get(kind) for kind in KINDS)
