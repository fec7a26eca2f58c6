"""Move runs between archives: out of a store into one file, from such a file into a store of any engine.

In:  words for runs (selection.py), a path. Out: the file, or runs in the archive.
Decided here: a file is checked to its last byte before anything of it is stored; a run takes a number of the
archive it comes to, and keeps its id unless another is given; one that is there already is skipped when it is
the same in everything, else refused. The form of the file: export/archive_file.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphstore import export
from graphstore.api.selection import resolve_run
from graphstore.api.verbs import opened
from graphstore.errors import InputError, UsageError
from graphstore.link.renumber import renumber
from graphstore.model.ids import RUN_ID
from graphstore.model.records import POLARS_TYPE, EdgeTable, RunGraph, complete, node_schema
from graphstore.model.schema import LABEL_BY_NAME, TYPE_BY_NAME
from graphstore.settings import Settings
from graphstore.store.base import Progress, Store
from graphstore.store.whole import read_run
from graphstore.store.write import NoGraphError

OWN_TO_ARCHIVE = ("uid", "run_no")  # of a Run; all else is the same wherever it is


@dataclass(frozen=True)
class MovedRun:
    """A run that was written to or read from an archive file; `unchanged`: it was there already."""

    run: str
    nodes: int
    edges: int
    unchanged: bool = False


def export_archive(
    runs: Sequence[str], out: Path, settings: Settings, *, progress: Progress | None = None
) -> list[MovedRun]:
    """Write runs, with findings, repairs, tags and notes, to the file `out`; return what is in it.

    Raises UsageError for a word that means no run or a path that can't be written, StoreError; then `out` is
    as it was.
    """
    with opened(settings) as store:
        names = list(dict.fromkeys(resolve_run(store, run) for run in runs))
        manifest = export.write_archive(out, (read_run(store, name, progress) for name in names))
    return [MovedRun(str(entry["run"]["run"]), *_counts(entry)) for entry in manifest["runs"]]


def import_archive(
    path: Path, settings: Settings, *, run: str | None = None, progress: Progress | None = None
) -> list[MovedRun]:
    """Put the runs of an archive file into the archive, its only run as `run` if given; return them.

    Raises InputError for a file that is damaged, foreign or of a newer version, UsageError for a run whose id
    is taken by another; nothing is stored then.
    """
    with opened(settings) as store, export.open_archive(path, settings) as file:
        file.check()
        names = _names(path, file.runs, run)
        there = {str(each["run"]) for each in store.runs()}
        done = {name for name in names if name in there}
        for name, entry in zip(names, file.runs, strict=True):
            if name in there and not _is_same(store, name, file.graph(entry)):
                raise UsageError(
                    f"{path}: another run {name} is in the archive. Take another id (--run ID), or "
                    f"`graphstore runs delete {name}` first. Nothing was imported."
                )
        for name, entry in zip(names, file.runs, strict=True):
            if name not in done:
                _store(store, path, name, file.graph(entry), progress)
        return [
            MovedRun(name, *_counts(entry), unchanged=name in done)
            for name, entry in zip(names, file.runs, strict=True)
        ]


def _names(path: Path, entries: Sequence[dict[str, Any]], run: str | None) -> list[str]:
    """Return the ids the runs of a file take, in their order."""
    if run is None:
        return [str(entry["run"]["run"]) for entry in entries]
    if len(entries) != 1:
        raise UsageError(f"--run {run} names one run, but {path} holds {len(entries)}. Leave --run out.")
    if not RUN_ID.fullmatch(run):
        raise UsageError(f"--run {run}: want at most 100 letters, digits, '.', '_' or '-'.")
    return [run]


def _store(store: Store, path: Path, name: str, graph: RunGraph, progress: Progress | None) -> None:
    """Write a run under its id here, with a number of this archive."""
    moved = renumber(graph, name, store.allocate_run_no())
    try:
        store.write_run(moved, progress)
    except NoGraphError as error:
        raise InputError(f"{path}: what it holds is no whole run: {error}") from error


def _is_same(store: Store, name: str, given: RunGraph) -> bool:
    """Return whether the run here is the one given, but for its number and id."""
    here = read_run(store, name)
    moved = renumber(given, name, int(here.run["run_no"]))
    own = {key: value for key, value in here.run.items() if key not in OWN_TO_ARCHIVE}
    other = {key: moved.run.get(key) for key in own}
    return own == other and _tables(here) == _tables(moved)


def _tables(graph: RunGraph) -> dict[str, list[Any]]:
    """Return the tables of a run in a form that compares."""
    nodes = {
        label: complete(frame, node_schema(label)).sort(LABEL_BY_NAME[label].key)
        for label, frame in graph.nodes.items()
    }
    return {label: frame.rows() for label, frame in nodes.items()} | {
        f"{table.source}-{table.type}-{table.target}": _sorted_edges(table) for table in graph.edges
    }


def _sorted_edges(table: EdgeTable) -> list[Any]:
    ends = {name: table.frame.schema[name] for name in ("src", "dst")}
    own = {p.name: POLARS_TYPE[p.type] for p in TYPE_BY_NAME[table.type].properties}
    return complete(table.frame, ends | own).sort("src", "dst").rows()


def _counts(entry: dict[str, Any]) -> tuple[int, int]:
    """Return how many nodes (the Run included) and edges an entry of a manifest has."""
    return 1 + sum(each["rows"] for each in entry["nodes"]), sum(each["rows"] for each in entry["edges"])
