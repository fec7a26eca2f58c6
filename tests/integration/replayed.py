"""Shared sets as an export sees them: the manifest of each, and its ranks, to take rules out of them."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from graphstore.api.importing import ImportOptions, import_files
from graphstore.export import export_run
from graphstore.export.columns import RankColumns, read_groups, read_rank
from graphstore.export.comm_groups import groups_of
from graphstore.export.communication import Communication, communications
from graphstore.export.figures import figures
from graphstore.export.fit import Fitted, fitted
from graphstore.export.order import Ints
from graphstore.export.pieces import DEVICE, pieces
from graphstore.export.rank_nodes import microseconds, rank_nodes
from graphstore.export.replay import unlimited
from graphstore.queries.columns import read_keys
from graphstore.readers import FoundFiles, find_files
from graphstore.settings import Settings
from graphstore.store import Store, open_store

RUN = "r"


@contextmanager
def imported(paths: tuple[str, ...]) -> Iterator[tuple[Store, Path]]:
    """Give a store that holds the files (or those of the folders) as one run, and a folder to write into."""
    with tempfile.TemporaryDirectory() as scratch:
        store = open_store(Settings(store=str(Path(scratch) / "archive")))
        files = FoundFiles(list(find_files(list(paths)).files))
        import_files(store, files, ImportOptions(run=RUN), Settings(store="-"))
        try:
            yield store, Path(scratch)
        finally:
            store.close()


@functools.cache
def manifest_of(*paths: str) -> dict[str, Any]:
    """Return the manifest of the export of these files."""
    with imported(paths) as (store, scratch):
        return export_run(store, RUN, scratch / "out")


@dataclass(frozen=True)
class Rank:
    """The columns of a rank and its communications, which rules can be taken out of."""

    columns: RankColumns
    communications: dict[int, Communication]

    def figures(self) -> dict[str, Any]:
        """Return what the manifest would say of its replay."""
        found = figures(*rank_nodes(self.columns, self.communications))
        assert found is not None
        return found

    def without_waits(self, *families: str) -> Rank:
        """Return the rank without the SYNC edges of these families."""
        family = self.columns.waits["rule"].str.split(".").list.first()
        waits = self.columns.waits.filter(~family.is_in(families))
        assert waits.height < self.columns.waits.height
        return replace(self, columns=replace(self.columns, waits=waits))

    def without_edges(self, *families: str) -> Fitted:
        """Return the nodes of the rank as they are fitted when the edges of these rules are taken out of the
        file: threads are cut as ever.
        """
        cut = pieces(self.columns)
        gone = [n for n, rule in enumerate(cut.kept.rules) if rule.partition(".")[0] in families]
        left = ~np.isin(cut.kept.rule, gone)
        assert not left.all()
        edges = {name: getattr(cut.kept, name)[left] for name in ("source", "target", "rule")}
        return fitted(replace(cut, kept=replace(cut.kept, **edges)))

    def waits(self) -> dict[str, int]:
        """Return how many SYNC edges each rule gave."""
        return dict(self.columns.waits.group_by("rule").len().iter_rows())


def error_of(nodes: Fitted) -> float:
    """Return how much too long the replay of nodes is, in % of what was measured."""
    lasts = microseconds(nodes.end) - microseconds(nodes.start)
    span = int((unlimited(lasts, nodes.deps) + lasts).max())
    return 100 * (span * 1_000 / (nodes.window[1] - nodes.window[0]) - 1)


@functools.cache
def ranks_of(*paths: str) -> dict[int, Rank]:
    """Return the ranks of these files."""
    with imported(paths) as (store, _):
        groups = groups_of(read_groups(store, RUN))
        found = {keys.rank: read_rank(store, RUN, keys) for keys in read_keys(store, RUN)}
        return {n: Rank(rank, communications(rank, groups).by_place) for n, rank in found.items()}


def span_when(rank: Rank, gpu_and_communication: float) -> int:
    """Return how long a replay takes, in µs, when device ops and communications last this share of theirs."""
    ready, _ = rank_nodes(rank.columns, rank.communications)
    shorter = ready.nodes.kind == DEVICE
    shorter[list(ready.communications)] = True
    whole: Ints = np.maximum(ready.duration_us, 0)
    lasts = np.where(shorter, np.round(whole * gpu_and_communication), whole).astype(np.int64)
    return int((unlimited(lasts, ready.nodes.deps) + lasts).max())
