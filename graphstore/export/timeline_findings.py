"""Findings on a timeline: an instant event for each finding that a check kept, on each rank it concerns.

In:  a store and a run. Out: the JSON of the events of a rank. Decided here: where a finding stands: at the
start of the first op it is tied to on that rank, else at the start of the run; one of no rank stands on the
first for all.
"""

from __future__ import annotations

from collections.abc import Iterator

from graphstore import queries
from graphstore.export.timeline_events import instant
from graphstore.export.timeline_tracks import Track
from graphstore.store.base import Store

TOLD = ("severity", "confidence", "status", "message", "count")


class Findings:
    """The findings kept in a run."""

    def __init__(self, store: Store, run: str) -> None:
        """Read them, and the ops they are tied to."""
        self._rows = queries.run_query(store, run, "health/show_findings").to_dicts()
        self._rows.sort(key=lambda row: (row["rule"], row["fid"]))
        self._first_ns: dict[str, dict[int, int]] = {}
        for fid, _, rank, start in queries.run_query(store, run, "health/show_finding_ops").iter_rows():
            ranks = self._first_ns.setdefault(fid, {})
            if start is not None:
                ranks[rank] = min(start, ranks.get(rank, start))
            else:
                ranks.setdefault(rank, 0)
        self._told_for_all = False

    def of_rank(self, rank: int, track: Track) -> Iterator[bytes]:
        """Yield the events of a rank; with the first one those of the run, too."""
        for row in self._rows:
            ranks = self._first_ns.get(row["fid"], {})
            for_all = not ranks and row["rank"] is None
            if rank in ranks or row["rank"] == rank or (for_all and not self._told_for_all):
                args = {name: row[name] for name in TOLD}
                scope = "g" if for_all else "p"
                yield instant(row["rule"], "finding", track, ranks.get(rank, 0), scope, args)
        self._told_for_all = True
