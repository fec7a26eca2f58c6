"""Files of the shared trace sets, read and linked, as the tests of linking want them."""

from __future__ import annotations

from pathlib import Path

from graphstore.link.assemble import assemble
from graphstore.link.rank import link_rank
from graphstore.model.records import FileRecords, RankGraph, RunGraph
from graphstore.readers import assign_ranks, read_file
from graphstore.settings import Settings

SETTINGS = Settings(store="")


def read(path: Path) -> FileRecords:
    """Return the records of one file."""
    return read_file(str(path), SETTINGS, explicit=True)


def callers(graph: RankGraph) -> dict[int, int]:
    """Return {called: caller} over the CTRL edges."""
    return dict(graph.edges["CTRL"].select("dst", "src").iter_rows())


def linked_run(folder: Path, names: list[str]) -> RunGraph:
    """Return the files of a set, linked as one run."""
    records = [read(folder / name) for name in names]
    assign_ranks(records, {})
    by_rank: dict[int, list[FileRecords]] = {}
    for record in records:
        by_rank.setdefault(record.facts["rank"], []).append(record)
    return assemble("run", 1, "run", [link_rank(rank, by_rank[rank]) for rank in sorted(by_rank)], [])
