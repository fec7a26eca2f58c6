"""The folder of the embedded store: one file per run, and an index over all of them.

    <home>/runs/<run>.kgl     the truth: a file that exists is a complete, ready run
    <home>/archive.kgl        the index: Run, Finding, sums per name of every run, and the run number counter
    …kgl.lock, .lock-owner    kglite's leases; harmless when left over

In:  run files as they are. Out: the runs' properties; run numbers; the index made again.
Decided here: the index may always be stale (a process was killed between the two files): each entry bears the
size and time of the file it was made from, is checked on every use and made again when they differ.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from graphstore.errors import StoreError, UsageError
from graphstore.model import ids
from graphstore.model.records import POLARS_TYPE, complete, node_schema
from graphstore.model.schema_archive import NAME_SUM
from graphstore.store import kglite_engine as engine
from graphstore.store import kglite_files as files
from graphstore.store import name_sums
from graphstore.store.names import RUNS_FOLDER, run_files
from graphstore.store.write import NodeTable

INDEX_WAIT_S = 20.0  # the index is held for milliseconds at a time; a longer wait is somebody stuck
_READ_S = 60.0

Summary = dict[str, pl.DataFrame]  # what the index keeps of a run, per label

_NAME_SUM = {p.name: POLARS_TYPE[p.type] for p in NAME_SUM.properties}
_FORM = 2  # of the index: counted up when it keeps more of a run, so that older entries are made again
_LABELS: dict[str, tuple[str, dict[str, Any]]] = {
    "Run": ("run", node_schema("Run") | {"file_mark": pl.String}),
    "Finding": ("fid", node_schema("Finding")),
    "NameSum": ("key", _NAME_SUM),
    "Counter": ("name", {"name": pl.String, "value": pl.Int64}),
}


class Archive:
    """The files under one home folder; neither the index nor the folders need exist yet."""

    def __init__(self, home: Path) -> None:
        """Name the files; nothing is read or made."""
        self.home = home
        self.runs = home / RUNS_FOLDER
        self.index = home / "archive.kgl"

    def create(self) -> None:
        """Make the folders; raises StoreError where that is not possible."""
        try:
            self.runs.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(
                f"{self.home}: no archive can be made there: {error.strerror}. "
                f"Name another folder with --store."
            ) from error

    def path(self, run: str) -> Path:
        """Return the file of a run; raises UsageError for a name that is no run id."""
        if not ids.RUN_ID.fullmatch(run):
            raise UsageError(f"{run!r} is no run id: letters, digits, '.', '_' and '-', at most 100")
        return self.runs / f"{run}.kgl"

    def run_files(self) -> dict[str, Path]:
        """Return {run: file} of every run that is there."""
        return run_files(self.home)

    def entries(self) -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
        """Return the properties of every run, and {run: problem} of those whose file can't be read.

        Entries that differ from the files are made again; where it can't be written, only in the answer.
        """
        known, present = self._indexed(), self.run_files()
        stale = [
            run for run, path in present.items() if known.get(run, {}).get("file_mark") != _entry_mark(path)
        ]
        gone = [run for run in known if run not in present]
        fresh, problems = self._summaries(stale)
        if fresh or gone:
            with contextlib.suppress(StoreError), self._writing(wait_s=0) as held:
                _change(held, fresh, [*gone, *problems])
        found = known | {run: summary["Run"].to_dicts()[0] for run, summary in fresh.items()}
        return {run: _public(found[run]) for run in present if run not in problems}, problems

    def current_index(self) -> Any:
        """Return the graph of the index, up to date with every run file that can be read.

        Raises StoreError when it is behind them and can't be written.
        """
        self.create()
        entries, _ = self.entries()
        if not self.index.exists():
            with self._writing() as held:
                held.save()
        graph = files.read(self.index)
        marks = engine.run(graph, _columns("Run"), {}, _READ_S)
        listed = dict(zip(marks["run"].to_list(), marks["file_mark"].to_list(), strict=True))
        if listed != {run: _entry_mark(self.path(run)) for run in entries}:
            raise StoreError(
                f"{self.index}: is behind the run files, and another process holds it or it can't be "
                f"written. Try again; graphstore doctor --rebuild makes it anew."
            )
        return graph

    def allocate(self) -> int:
        """Return a run number no run here has had; the counter is saved before it is given out."""
        with self._writing() as held:
            number = 1 + max([_counter(held), *self._used_numbers(held)])
            _set_counter(held, number)
            held.save()
        return number

    def sync(self, run: str, graph: Any) -> None:
        """Bring the index up to date with `graph`, which is what the run's file holds now.

        Where the index can't be written the run is safe in its file all the same; entries() mends it.
        """
        summary = _summary(graph, _entry_mark(self.path(run)))
        with contextlib.suppress(StoreError), self._writing() as held:
            _change(held, {run: summary}, [])

    def forget(self, run: str) -> None:
        """Take a run out of the index, now or, where it can't be written, with the next use."""
        with contextlib.suppress(StoreError), self._writing() as held:
            _change(held, {}, [run])

    def rebuild(self) -> dict[str, Any]:
        """Make the index again from the run files, and remove what killed processes left.

        Returns {runs, removed: [file], problems: {run: problem}}. Raises StoreError when the index is held.
        """
        self.create()
        removed = [str(left) for left in self.leftovers()]
        for left in removed:
            Path(left).unlink(missing_ok=True)
        fresh, problems = self._summaries(list(self.run_files()))
        with self._writing() as held:
            numbers = [int(summary["Run"]["run_no"][0]) for summary in fresh.values()]
            _set_counter(held, max([_counter(held), *numbers]))
            listed = engine.run(held, _columns("Run"), {}, _READ_S)["run"].to_list()
            _change(held, fresh, listed)
        return {"runs": len(fresh), "removed": removed, "problems": problems}

    def leftovers(self) -> list[Path]:
        """Return what killed processes left: unfinished saves of nobody alive, damaged files put aside."""
        found: list[Path] = []
        for folder in (self.home, self.runs):
            found += folder.glob("*.kgl.damaged")
            found += [path for path in folder.glob("*.kgl.tmp.*") if not files.is_being_written(path)]
        return found

    def _indexed(self) -> dict[str, dict[str, Any]]:
        """Return what the index says of each run; nothing when it is absent or damaged."""
        if not self.index.exists():
            return {}
        try:
            graph = files.read(self.index)
        except StoreError:
            return {}  # every entry is then made again from its file
        return {str(row["run"]): row for row in engine.run(graph, _columns("Run"), {}, _READ_S).to_dicts()}

    def _used_numbers(self, held: files.Writer) -> list[int]:
        """Return the run numbers in use; the files are opened only when the counter is new or was lost."""
        if _counter(held):
            return []
        return [
            int(summary["Run"]["run_no"][0])
            for summary in self._summaries(list(self.run_files()))[0].values()
        ]

    def _summaries(self, runs: list[str]) -> tuple[dict[str, Summary], dict[str, str]]:
        """Return what the index keeps of each run, one file open at a time, and the others' problems."""
        summaries: dict[str, Summary] = {}
        problems: dict[str, str] = {}
        for run in runs:
            try:
                path = self.path(run)
                summary = _summary(files.read(path), _entry_mark(path))
            except (StoreError, UsageError) as error:
                problems[run] = str(error)
                continue
            if summary["Run"].height == 1:
                summaries[run] = summary
            else:
                problems[run] = f"{path}: no archived run of graphstore"
        return summaries, problems

    @contextlib.contextmanager
    def _writing(self, wait_s: float = INDEX_WAIT_S) -> Iterator[files.Writer]:
        """Hold the lease on the index, waiting for other processes; a damaged index is begun anew."""
        self.create()
        deadline = time.monotonic() + wait_s
        with contextlib.ExitStack() as stack:
            while True:
                try:
                    held = stack.enter_context(files.writer(self.index, replace=True))
                    break
                except files.LeaseHeldError:
                    if time.monotonic() > deadline:
                        raise
                    time.sleep(0.05)
            if held.is_new:
                for label, (key, schema) in _LABELS.items():
                    engine.declare_label(held, label, key, schema)
            yield held


def file_mark(path: Path) -> str:
    """Return size and time of a file as text, by which a changed file is known; '' when it is absent."""
    try:
        stat = path.stat()
    except FileNotFoundError:
        return ""
    return f"{stat.st_size}:{stat.st_mtime_ns}"


def _entry_mark(path: Path) -> str:
    """Return what an entry of the index bears: the mark of its file, and the form of the index."""
    return f"{_FORM}:{file_mark(path)}"


def _summary(graph: Any, mark: str) -> Summary:
    """Return what the index keeps of a run, per label."""
    run = engine.run(graph, _columns("Run", but="file_mark"), {}, _READ_S)
    name = run["run"][0] if run.height else ""
    sums = engine.run(graph, name_sums.READ, {"run": name}, _READ_S).with_columns(
        pl.lit(name).alias("run"),
        pl.concat_str(
            pl.lit(name), pl.col("kind").fill_null(""), pl.col("name").fill_null(""), separator="\t"
        ).alias("key"),
    )
    rows = {
        "Run": run.with_columns(pl.lit(mark).alias("file_mark")),
        "Finding": engine.run(graph, _columns("Finding"), {}, _READ_S),
        "NameSum": sums,
    }
    return {label: complete(frame, _LABELS[label][1]) for label, frame in rows.items()}


def _change(held: files.Writer, fresh: dict[str, Summary], gone: list[str]) -> None:
    """Replace the entries of the runs `fresh`, remove those of `gone`, and save."""
    for label in ("Run", "Finding", "NameSum"):
        text = f"MATCH (n:{label}) WHERE n.run IN $runs DETACH DELETE n"
        engine.run(held, text, {"runs": [*gone, *fresh]}, _READ_S)
        key, _ = _LABELS[label]
        for summary in fresh.values():
            if summary[label].height:
                engine.add_nodes(held, NodeTable(label, label, key, summary[label]))
    held.save()


def _counter(held: files.Writer) -> int:
    found = engine.run(held, "MATCH (c:Counter) RETURN c.value AS value", {}, _READ_S)
    return int(found["value"][0]) if found.height else 0


def _set_counter(held: files.Writer, value: int) -> None:
    text = "MERGE (c:Counter {name: 'run_no'}) SET c.value = $value"
    engine.run(held, text, {"value": value}, _READ_S)


def _columns(label: str, but: str = "") -> str:
    names = [name for name in _LABELS[label][1] if name != but]
    return f"MATCH (n:{label}) RETURN {', '.join(f'n.{name} AS {name}' for name in names)}"


def _public(row: dict[str, Any]) -> dict[str, Any]:
    return {name: row.get(name) for name in node_schema("Run")}
