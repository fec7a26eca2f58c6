"""The embedded store: a folder of kglite files, one per run, with nothing to start (decisions.md 12).

In:  RunGraphs, statements. Out: rows as polars frames; files in the folder of the archive.
Decided here: a run file appears whole, by one rename, or not at all; a change is made in memory and saved
once, so its statements are all in or none; reads never wait for writers. How a file is opened and asked:
kglite_engine.py. Which files there are, and the index over them: kglite_archive.py.
"""

from __future__ import annotations

import shutil
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import kglite
import polars as pl

from graphstore.errors import StoreError, UsageError
from graphstore.model.records import EdgeTable, RunGraph, node_schema
from graphstore.settings import Settings
from graphstore.store import guard, write
from graphstore.store import kglite_engine as engine
from graphstore.store import kglite_files as files
from graphstore.store.base import Progress, Statement
from graphstore.store.kglite_archive import Archive, file_mark
from graphstore.store.write import NodeTable, Prepared, changeable

OPEN_RUNS = 4  # graphs kept in memory; the least recently asked goes first
WRITE_S = 3600.0  # no statement of a repair runs longer
NODE_BATCH = 10_000  # rows given to the engine at once: as fast as 50,000, 40 MB less at the peak
EDGE_BATCH = 1_000_000

Table = TypeVar("Table", NodeTable, EdgeTable)


class KgliteStore:
    """One archive in a folder. Made without touching the disk; folders appear with the first write."""

    engine = "kglite"

    def __init__(self, settings: Settings) -> None:
        """Name the folder of the archive."""
        self.address = settings.store
        self._settings = settings
        self._archive = Archive(Path(settings.store).expanduser())
        self._open: OrderedDict[str, tuple[str, Any]] = OrderedDict()
        self._lock = threading.Lock()

    def runs(self) -> list[dict[str, Any]]:
        """Return the properties of every run, oldest first; a file that can't be read is left to health()."""
        entries, _ = self._archive.entries()
        return sorted(entries.values(), key=lambda run: (run["created"] or "", run["run_no"] or 0))

    def allocate_run_no(self) -> int:
        """Return a run number that no run of this archive has had."""
        return self._archive.allocate()

    def write_run(self, graph: RunGraph, progress: Progress | None = None) -> None:
        """Write a whole run: built in memory, saved beside its place and renamed into it last.

        A run of the same id is replaced in that moment. Raises StoreError when the run is held by a writer,
        the disk is full or the graph is no whole run; nothing is changed then.
        """
        run = write.prepare(graph)
        del graph  # where nobody else has it, the tables go as they are written
        self._archive.create()
        self._let_go(run.run)
        with files.writer(self._archive.path(run.run), replace=True) as held:
            new = _filled(run, progress)
            held.save(new)
            files.damaged(held.path).unlink(missing_ok=True)
            self._archive.sync(run.run, new)

    def query(
        self,
        run: str,
        text: str,
        parameters: dict[str, Any] | None = None,
        *,
        timeout_s: float | None = None,
        row_limit: int | None = None,
    ) -> pl.DataFrame:
        """Return the rows of a read-only statement on one run, as base.Store.query says."""
        guard.refuse_writes(text)
        limit = guard.time_limit(timeout_s, self._settings)
        cursor = self._graph(run).session().cursor()  # one per call: graphs are not shared between threads
        return engine.run(cursor, text, {**(parameters or {}), "run": run}, limit, row_limit)

    def change_run(self, run: str, statements: Sequence[Statement]) -> list[pl.DataFrame]:
        """Run writing statements in order and save once: all of them or, on any error, none.

        Raises UsageError when the run is absent, StoreError when another process writes it, QueryError for a
        wrong statement.
        """
        for statement in statements:
            guard.refuse_load_csv(statement.text)
        path = self._present(run)
        self._let_go(run)
        with files.writer(path) as held:
            rows = [
                engine.run(held, each.text, {**each.parameters, "run": run}, WRITE_S) for each in statements
            ]
            held.save()
            self._archive.sync(run, held)
        return rows

    def set_run(self, run: str, properties: dict[str, Any]) -> None:
        """Set properties of the Run node (name, tags, note); raises UsageError for any other."""
        text = "MATCH (r:Run {run: $run}) SET r += $properties RETURN count(*) AS n"
        self.change_run(run, [Statement(text, {"properties": changeable(properties)})])

    def delete_run(self, run: str) -> None:
        """Delete a run: its file goes at once, then its entry in the index; raises StoreError when held."""
        path = self._present(run)
        with files.writer(path, replace=True):
            for name in ("", "-wal", ".damaged"):
                Path(f"{path}{name}").unlink(missing_ok=True)
            files.remove_temporaries(path)
        for name in (".lock", ".lock-owner"):
            Path(f"{path}{name}").unlink(missing_ok=True)
        self._let_go(run)
        self._archive.forget(run)

    def rebuild(self) -> dict[str, Any]:
        """Make the index again from the run files and remove leftovers; see Archive.rebuild."""
        return self._archive.rebuild()

    def query_archive(
        self,
        text: str,
        parameters: dict[str, Any] | None = None,
        *,
        timeout_s: float | None = None,
        row_limit: int | None = None,
    ) -> pl.DataFrame:
        """Return the rows of a read-only statement on the index: Run, Finding and NameSum of all runs.

        Raises StoreError when the index is behind the run files and can't be written.
        """
        guard.refuse_writes(text)
        limit = guard.time_limit(timeout_s, self._settings)
        return engine.run(self._archive.current_index(), text, parameters or {}, limit, row_limit)

    def sizes(self) -> dict[str, int]:
        """Return the bytes of every run file."""
        return {run: path.stat().st_size for run, path in self._archive.run_files().items()}

    def health(self) -> dict[str, Any]:
        """Return what `doctor` shows; the keys are the same on both engines (base.Store.health)."""
        home = self._archive.home
        entries, problems = self._archive.entries() if home.exists() else ({}, {})
        leftovers = [str(path) for path in self._archive.leftovers()]
        remedies = [f"{run}: import its files again, or delete it" for run in problems]
        if leftovers:
            remedies.append("graphstore doctor --rebuild removes what killed processes left")
        existing = next(folder for folder in (home, *home.absolute().parents) if folder.exists())
        return {
            "engine": self.engine,
            "engine_version": kglite.__version__,
            "address": str(home),
            "reachable": True,
            "runs": len(entries),
            "size_bytes": sum(self.sizes().values()),
            "free_bytes": shutil.disk_usage(existing).free,
            "leftovers": leftovers,
            "problems": [f"{run}: {problem}" for run, problem in problems.items()],
            "remedies": remedies,
        }

    def browser_origin(self) -> None:
        """Return None: the embedded engine has no pages."""

    def close(self) -> None:
        """Let go of the open graphs."""
        with self._lock:
            self._open.clear()

    def _present(self, run: str) -> Path:
        path = self._archive.path(run)
        if not path.exists():
            known = ", ".join(list(self._archive.run_files())[:10]) or "none"
            raise UsageError(f"no run {run!r} in {self.address}; there: {known} (graphstore runs list)")
        return path

    def _let_go(self, run: str) -> None:
        """Forget the graph held for reading: once written it is stale, and a second one costs its memory."""
        with self._lock:
            self._open.pop(run, None)

    def _graph(self, run: str) -> Any:
        """Return the run's graph, read again when its file has changed since."""
        path = self._present(run)
        mark = file_mark(path)
        with self._lock:
            held = self._open.get(run)
            if held is None or held[0] != mark:
                held = self._open[run] = (mark, files.read(path))
            self._open.move_to_end(run)
            while len(self._open) > OPEN_RUNS:
                self._open.popitem(last=False)
        return held[1]


def _filled(run: Prepared, progress: Progress | None) -> Any:
    """Return a new graph that holds the whole run; `run` is left without the tables that are in."""
    graph = engine.new_graph()
    engine.declare(graph)
    done, total = 0, run.size
    first = pl.DataFrame([run.properties], schema=node_schema("Run"))
    run.nodes.insert(0, NodeTable("Run", "Run", "run", first))
    for nodes in _taken(run.nodes):
        for part in write.batches(nodes.frame, NODE_BATCH):
            engine.add_nodes(graph, replace(nodes, frame=part))
            done += part.height
            if progress:
                progress("store", done, total)
    for edges in _taken(run.edges):
        for part in write.batches(edges.frame, EDGE_BATCH):
            engine.add_edges(graph, replace(edges, frame=part))
            done += part.height
            if progress:
                progress("store", done, total)
    engine.constrain(graph)
    counted = sum(graph.shape)
    if counted != total:
        raise StoreError(
            f"run {run.run}: {total} nodes and edges were given, {counted} are in. "
            f"Nothing was written; this is a defect of graphstore."
        )
    return graph


def _taken(tables: list[Table]) -> Iterator[Table]:
    """Yield tables and let each go: at a million ops they are 600 MB beside the graph they are put into."""
    while tables:
        yield tables.pop(0)
