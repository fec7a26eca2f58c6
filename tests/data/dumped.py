"""Dumps of tests/data/flight.py as files, and whole runs made of them: read, linked, matched, assembled.

A send or recv names its peer as the reader gives it: by its place in the group.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from graphstore.link.assemble import assemble
from graphstore.link.matching.model import RankDump
from graphstore.link.rank import link_rank
from graphstore.link.run_matching import DUMPS, RunMatching, match_run, reduce_dumps
from graphstore.model.records import FileRecords, RankGraph, RunGraph, frame
from tests.data.flight import Row


def entries(rows: Sequence[Row]) -> pl.DataFrame:
    """Return rows as a reader gives the entries of a dump."""
    given = [{"order": place} | row for place, row in enumerate(rows)]
    names = dict.fromkeys(name for row in given for name in row)
    return as_read(frame("flight_entries", {name: [row.get(name) for row in given] for name in names}))


def as_read(found: pl.DataFrame) -> pl.DataFrame:
    """Return entries with what the reader adds to each: its source, and the peer of a send or recv."""
    is_send = pl.col("collective_kind") == "send"
    return found.with_columns(
        pl.lit(DUMPS).alias("source"), pl.when(is_send).then("dst").otherwise("src").alias("peer")
    )


def dump_file(dump: RankDump, path: str | None = None) -> FileRecords:
    """Return a dump as its reader gives it; its rank is that of the name."""
    path = path or dump.file
    facts = {"name": path.rpartition("/")[2], "path": path, "kind": "flight_recorder", "sha256": path}
    record = FileRecords(path, facts | {"rank": dump.rank, "world_size": None}, flight=dump.flight)
    record.tables["flight_entries"] = as_read(dump.entries)
    record.tally.read = record.tally.kept = dump.entries.height
    record.close_ledger()
    return record


def matched_run(files: Sequence[FileRecords]) -> tuple[list[RankGraph], RunMatching]:
    """Return the linked ranks of the files, and their calls matched."""
    dumps = reduce_dumps(files)
    ranks = sorted({file.facts["rank"] for file in files if file.facts["rank"] is not None})
    graphs = [link_rank(rank, [file for file in files if file.facts["rank"] == rank]) for rank in ranks]
    return graphs, match_run(dumps, graphs)


def whole_run(files: Sequence[FileRecords]) -> RunGraph:
    """Return the run that the files make."""
    graphs, matched = matched_run(files)
    return assemble("r", 1, "r", graphs, [file for file in files if file.facts["rank"] is None], matched)
