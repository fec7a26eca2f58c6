"""Runs moved between archives as one file: only the number changes, and a wrong file changes nothing."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from graphstore import api, queries, repairs
from graphstore.api.importing import ImportOptions, import_files
from graphstore.demo import TRACES
from graphstore.errors import InputError, UsageError
from graphstore.export import open_archive, write_archive
from graphstore.model.schema import LABEL_BY_NAME
from graphstore.readers import find_files
from graphstore.settings import Settings
from graphstore.store import Store, open_store
from graphstore.store.whole import read_run
from tests.engines import REPOSITORY, Server
from tests.graphs import small_run
from tests.integration.graph_dump import Dump, dump

RUN = "r"
OTHER_NUMBER = 7  # of the run in the archive it is moved to
MISSING = "missing_parents"
SETS = [
    f"{MISSING}/a2_stop_inside_forward",
    f"{MISSING}/b1_manual_et_stop_before_prof_step",
    f"{MISSING}/c1_start_on_other_thread",
    f"{MISSING}/e3_killed",
    "mini/01-missing-parent-hides-collective",
    "mini/03-sync-edge-makes-cycle",
    "mini/09-flight-recorder-hang",
    "mini/10-kernels-launched-before-the-window",
    "mini/16-cross-rank-subgroups",
    "public/cuda_event_sync",
]


def archive(folder: Path, runs_before: int = 0) -> Settings:
    """Return the settings of an embedded archive that has given out so many run numbers."""
    settings = Settings(store=str(folder))
    store = open_store(settings)
    for _ in range(runs_before):
        store.allocate_run_no()
    store.close()
    return settings


def filled(settings: Settings, folder: Path) -> None:
    """Import the files of a folder, keep what the checks find, and apply every repair."""
    store = open_store(settings)
    import_files(store, find_files([str(folder)]), ImportOptions(run=RUN), Settings(store="-"))
    queries.write_findings(store, RUN, queries.check(store, RUN))
    repairs.apply(store, RUN, repairs.plan(store, RUN), unsafe=True)
    store.set_run(RUN, {"tags": ["kept"], "note": "odd", "name": "the slow one"})
    store.close()


def dumped(settings: Settings, run: str = RUN) -> Dump:
    """Return everything an archive holds of a run."""
    store = open_store(settings)
    try:
        return dump(store, run)
    finally:
        store.close()


def untimed(given: Dump) -> Dump:
    """Return a dump without the moments at which things were done: they differ between two imports."""
    out = dict(given)
    for label, name in (("Run", "created"), ("Repair", "applied_at")):
        at = [p.name for p in LABEL_BY_NAME[label].properties].index(name)
        out[label] = sorted((row[:at] + row[at + 1 :] for row in given[label]), key=repr)
    return out


@pytest.mark.data
@pytest.mark.parametrize("name", SETS)
def test_a_moved_run_is_what_importing_its_files_there_would_make(
    name: str, data_dir: Path, tmp_path: Path
) -> None:
    """Each uid is of the new archive, also in the evidence of findings and in what repairs changed."""
    here, there = archive(tmp_path / "here"), archive(tmp_path / "there", OTHER_NUMBER - 1)
    fresh = archive(tmp_path / "fresh", OTHER_NUMBER - 1)
    filled(here, data_dir / name)
    filled(fresh, data_dir / name)

    api.export_archive([RUN], tmp_path / "file", here)
    (moved,) = api.import_archive(tmp_path / "file", there)

    assert untimed(dumped(there)) == untimed(dumped(fresh))
    assert moved.nodes == sum(len(dumped(there)[label]) for label in LABEL_BY_NAME)


def test_a_moved_run_can_be_checked_repaired_and_undone(tmp_path: Path) -> None:
    """Its findings are those a check there finds, nothing is left to repair, and undo gives the recorded."""
    here, there = archive(tmp_path / "here"), archive(tmp_path / "there", OTHER_NUMBER - 1)
    filled(here, Path(TRACES))
    api.export_archive([RUN], tmp_path / "file", here)
    api.import_archive(tmp_path / "file", there)
    kept = dumped(there)

    api.check_run(RUN, there)
    again = api.repair_run(RUN, there, apply=True, unsafe=True)

    assert (dumped(there), again.applied) == (kept, [])
    _, undone = api.undo_repairs(RUN, there)
    assert undone > 0
    api.undo_repairs(RUN, here)
    api.export_archive([RUN], tmp_path / "undone", here)
    third = archive(tmp_path / "third", OTHER_NUMBER - 1)
    api.import_archive(tmp_path / "undone", third)
    assert dumped(there) == dumped(third)


@pytest.mark.neo4j
def test_a_run_comes_back_from_the_other_engine_as_it_went(tmp_path: Path, neo4j_wiped: Server) -> None:
    """kglite → file → Neo4j → file → kglite: every node, edge and property, and the bytes of the file."""
    here, back = archive(tmp_path / "here"), archive(tmp_path / "back")
    server = neo4j_wiped.settings()
    store = open_store(server)
    for _ in range(OTHER_NUMBER - 1):
        store.allocate_run_no()
    store.close()
    filled(here, Path(TRACES))

    api.export_archive([RUN], tmp_path / "a", here)
    api.import_archive(tmp_path / "a", server)
    api.export_archive([RUN], tmp_path / "b", server)
    api.import_archive(tmp_path / "b", back)
    api.export_archive([RUN], tmp_path / "c", back)

    assert dumped(server) != dumped(here)
    assert dumped(back) == dumped(here)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "c").read_bytes()


def written(path: Path, *graphs: Any) -> Path:
    """Write runs as an archive file, as a store gives them: edges name the Run by its key."""
    for graph in graphs:
        for table in graph.edges:
            if table.target == "Run":
                table.frame = table.frame.with_columns(pl.lit(graph.run["run"]).alias("dst"))
        graph.run |= {"name": graph.run["run"], "status": "ready"}
    write_archive(path, graphs)
    return path


def test_several_runs_go_into_one_file_in_the_order_named(tmp_path: Path, store: Store) -> None:
    """On either engine; a run named twice is in it once."""
    for run in ("a", "b", "c"):
        store.write_run(small_run(run, store.allocate_run_no()))
    settings = settings_of(store)

    moved = api.export_archive(["c", "a", "latest", "c"], tmp_path / "f", settings)

    assert [run.run for run in moved] == ["c", "a"]
    there = archive(tmp_path / "there")
    assert [run.run for run in api.import_archive(tmp_path / "f", there)] == ["c", "a"]
    assert {run["run"] for run in api.list_runs(there)} == {"a", "c"}


def settings_of(store: Store) -> Settings:
    """Return the settings the store was opened with."""
    return store._settings  # type: ignore[attr-defined,no-any-return]


def test_a_run_that_is_there_already_is_left_alone_or_refused(tmp_path: Path) -> None:
    """The same: unchanged. Another of its id: refused, and --run takes it under another."""
    here = archive(tmp_path / "here")
    file = written(tmp_path / "f", small_run("a", 3))
    assert [run.unchanged for run in api.import_archive(file, here)] == [False]
    assert [run.unchanged for run in api.import_archive(file, here)] == [True]
    api.note_run("a", "changed here", here)
    kept = dumped(here, "a")

    with pytest.raises(UsageError, match="another run a is in the archive"):
        api.import_archive(file, here)
    (other,) = api.import_archive(file, here, run="b")

    assert (other.run, other.unchanged) == ("b", False)
    assert dumped(here, "a") == kept
    assert {row[1] for row in dumped(here, "b")["HostOp"]} == {"b"}


def test_one_taken_id_keeps_the_whole_file_out(tmp_path: Path) -> None:
    """Also the runs before it in the file."""
    here = archive(tmp_path / "here")
    api.import_archive(written(tmp_path / "one", small_run("b", 1)), here)

    with pytest.raises(UsageError, match="another run b"):
        api.import_archive(written(tmp_path / "two", small_run("a", 1), small_run("b", 2, ops=9)), here)

    assert [run["run"] for run in api.list_runs(here)] == ["b"]


def test_another_id_is_for_one_run_and_a_right_one(tmp_path: Path) -> None:
    """--run with two runs in the file, or with what is no id, is a mistake."""
    here = archive(tmp_path / "here")
    two = written(tmp_path / "two", small_run("a", 1), small_run("b", 2))

    with pytest.raises(UsageError, match="holds 2"):
        api.import_archive(two, here, run="c")
    with pytest.raises(UsageError, match="want at most 100"):
        api.import_archive(written(tmp_path / "one", small_run("a", 1)), here, run="../c")


def test_a_graph_that_is_none_is_the_files_fault(tmp_path: Path) -> None:
    """Hashes may fit what no store would take: an edge to nowhere is refused as bad input."""
    graph = small_run("a", 1)
    del graph.nodes["Rank"]

    with pytest.raises(InputError, match="no whole run"):
        api.import_archive(written(tmp_path / "f", graph), archive(tmp_path / "here"))


@pytest.mark.parametrize("content", [b"", b"PK", b"not a zip", b"\x1f\x8b" + b"\0" * 99])
def test_what_is_no_archive_is_one_line(tmp_path: Path, content: bytes) -> None:
    """Empty, short, text, another format; and a path where nothing is."""
    (tmp_path / "f").write_bytes(content)

    for path in (tmp_path / "f", tmp_path / "absent", tmp_path):
        with pytest.raises(InputError) as caught:
            api.import_archive(path, archive(tmp_path / "here"))
        assert "\n" not in str(caught.value)
        assert str(path) in str(caught.value)


def test_a_zip_of_somebody_else_is_told(tmp_path: Path) -> None:
    """A zip without our manifest, or with another's, is no archive."""
    for name, text in (("a.txt", "x"), ("manifest.json", "{}"), ("manifest.json", "[1]")):
        with zipfile.ZipFile(tmp_path / "z", "w") as made:
            made.writestr(name, text)
        with pytest.raises(InputError, match="no archive of graphstore"):
            api.import_archive(tmp_path / "z", archive(tmp_path / "here"))


def test_a_file_too_large_to_unpack_is_refused_before_it_is_read(tmp_path: Path) -> None:
    """The limit of one trace file holds for an archive, too."""
    file = written(tmp_path / "f", small_run("a", 1))

    with pytest.raises(InputError, match="max_file_bytes"):
        api.import_archive(file, replace(archive(tmp_path / "here"), max_file_bytes=100))


@pytest.mark.parametrize("moment", ["save", "rename"])
def test_an_import_that_is_killed_leaves_nothing_half(tmp_path: Path, moment: str) -> None:
    """Killed before the run file is in place: no run. After: the whole run. Importing again completes."""
    here = archive(tmp_path / "here")
    file = written(tmp_path / "f", small_run("a", 1, ops=500))
    command = [sys.executable, "-m", "tests.integration.mover", str(file), here.store, moment]

    done = subprocess.run(command, cwd=REPOSITORY, env={**os.environ}, timeout=120)

    assert done.returncode == -signal.SIGKILL
    assert [run["run"] for run in api.list_runs(here)] == ([] if moment == "save" else ["a"])
    api.import_archive(file, here)
    there = open_store(here)
    with open_archive(file, here) as opened:
        given = opened.graph(opened.runs[0])
    assert read_run(there, "a").counts() == given.counts()
    assert there.health()["leftovers"] == []


def test_an_export_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    """A run that is absent is told before the file that is there is touched; a folder is no file."""
    here = archive(tmp_path / "here")
    api.import_archive(written(tmp_path / "f", small_run("a", 1)), here)
    old = (tmp_path / "f").read_bytes()

    with pytest.raises(UsageError, match="no run x"):
        api.export_archive(["a", "x"], tmp_path / "f", here)
    with pytest.raises(UsageError, match="is a folder"):
        api.export_archive(["a"], tmp_path, here)

    assert (tmp_path / "f").read_bytes() == old
    assert not list(tmp_path.glob(".graphstore-*"))
    shutil.rmtree(tmp_path / "here")
