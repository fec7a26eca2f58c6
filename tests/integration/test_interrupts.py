"""Ctrl-C, by real signals at several moments: exit 130, one line, a sound store; the next command works."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

from graphstore import api
from graphstore.cli import app
from graphstore.demo import TRACES
from graphstore.settings import Settings
from tests.engines import REPOSITORY, Server
from tests.integration.terminal import COMMAND, environment

SAID = "graphstore: interrupted; nothing half written is visible in the store\n"
IMPORT = ("import", str(TRACES), "--run", "demo")
SAVE = "graphstore.store.kglite_files:Writer.save"  # of the index for a run number, then of the run
SYNC = "graphstore.store.kglite_archive:Archive.sync"
CHANGE = "graphstore.store.neo4j:Neo4jStore.change_run"  # whose statements are one transaction
STORED = "graphstore.store.neo4j_write:Writing._write"


@dataclass(frozen=True)
class Place:
    """A store, and the command line on it."""

    settings: Settings
    home: Path
    env: dict[str, str] = field(default_factory=dict)

    def environment(self) -> dict[str, str]:
        """Return the environment of the command."""
        return {**environment(self.home), **self.env}

    def run(self, *words: str | Path) -> None:
        """Run a command that has to succeed, in this process: it begins anew with each call."""
        assert app.main([*map(str, words), "--store", self.settings.store, "--quiet"]) == 0

    def interrupt(self, where: str, nth: int, words: Sequence[str | Path], times: int = 1) -> None:
        """Run a command that is interrupted before the nth call of `where`: exit 130, one line, no more."""
        program = [sys.executable, "-m", "tests.integration.interrupted", where, str(nth), str(times)]
        done = subprocess.run(
            [*program, *map(str, words), "--quiet"],
            env=self.environment(),
            cwd=REPOSITORY,
            capture_output=True,
            timeout=60,
        )
        assert (done.returncode, done.stderr.decode()) == (130, SAID)

    def runs(self) -> list[str]:
        """Return the runs that are shown."""
        return [run["run"] for run in api.list_runs(self.settings)]

    def due(self) -> int:
        """Return how many changes the plan of the demo run still holds."""
        return sum(1 for _ in api.repair_run("demo", self.settings).plan)

    def is_tidy(self) -> bool:
        """Return whether nothing is left over, and no file can't be read."""
        found = api.doctor(self.settings)
        return not found["leftovers"] and not found["problems"]


@pytest.fixture
def embedded(tmp_path: Path) -> Place:
    """Return an empty embedded store."""
    home = tmp_path / "home"
    return Place(Settings(store=str(home)), home)


@pytest.fixture
def server(neo4j_wiped: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """Return an empty Neo4j server."""
    env = {
        "GRAPHSTORE_URI": neo4j_wiped.uri,
        "NEO4J_USERNAME": neo4j_wiped.username,
        "NEO4J_PASSWORD": neo4j_wiped.password,
    }
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    return Place(neo4j_wiped.settings(), tmp_path / "home", env)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Return a store into which the demo run was imported and nothing came between."""
    home = tmp_path_factory.mktemp("undisturbed")
    made = Place(Settings(store=str(home)), home)
    made.run(*IMPORT)
    return made


@pytest.fixture(scope="module")
def changes(undisturbed: Place) -> int:
    """Return how many changes the plan of the demo run has."""
    return undisturbed.due()


@pytest.fixture
def with_demo(undisturbed: Place, tmp_path: Path) -> Place:
    """Return an embedded store of the test's own that holds the demo run."""
    home = tmp_path / "home"
    shutil.copytree(undisturbed.home, home)
    return Place(Settings(store=str(home)), home)


@pytest.mark.parametrize(
    ("where", "nth", "times", "visible"),
    [
        ("graphstore.readers.parallel:read_file", 7, 1, []),
        ("graphstore.api.importing:link_rank", 2, 1, []),
        ("graphstore.api.importing:link_rank", 2, 2, []),
        ("graphstore.store.kglite:_filled", 1, 1, []),
        (SAVE, 1, 1, []),
        (SAVE, 2, 1, []),
        (SAVE, 2, 2, []),
        (SYNC, 1, 1, ["demo"]),
    ],
)
def test_an_import_is_there_or_not(
    embedded: Place, changes: int, where: str, nth: int, times: int, visible: list[str]
) -> None:
    """While files are read, linked, filled in and saved: no run. Once its file is in place: all of it."""
    embedded.interrupt(where, nth, IMPORT, times)

    assert embedded.runs() == visible
    assert embedded.is_tidy()
    embedded.run(*IMPORT)
    assert embedded.due() == changes > 0


@pytest.mark.parametrize(
    ("where", "is_done"), [("graphstore.repairs.apply:_repairs", False), (SAVE, False), (SYNC, True)]
)
def test_repairs_are_written_all_or_none(with_demo: Place, changes: int, where: str, is_done: bool) -> None:
    """Before the save the plan is as before; after it nothing is left to do; a second call finishes."""
    with_demo.interrupt(where, 1, ["repair", "demo", "--apply", "--unsafe"])

    assert with_demo.due() == (0 if is_done else changes)
    assert with_demo.is_tidy()
    with_demo.run("repair", "demo", "--apply", "--unsafe")
    assert with_demo.due() == 0


@pytest.mark.parametrize(
    ("where", "nth", "files"),
    [
        ("graphstore.export.rank_nodes:pieces", 2, 0),
        ("graphstore.export.files:_sync", 2, 0),
        ("pathlib:Path.replace", 2, 6),  # between two renames: Ctrl-C waits for the last
    ],
)
def test_an_export_is_all_files_or_none(
    with_demo: Place, tmp_path: Path, where: str, nth: int, files: int
) -> None:
    """No file while they are made; all of them once the first has its place. Nothing hidden stays."""
    out = tmp_path / "out"

    with_demo.interrupt(where, nth, ["export", "demo", "-o", out])

    assert len(list(out.iterdir()) if out.exists() else []) == files
    with_demo.run("export", "demo", "-o", out)
    assert len(list(out.iterdir())) == 6


@pytest.mark.parametrize("where", ["graphstore.repairs.apply:_repairs", "graphstore.export.files:_sync"])
def test_a_convert_leaves_the_run_but_no_files(embedded: Place, tmp_path: Path, where: str) -> None:
    """What was imported before Ctrl-C stays imported; of the files there is none."""
    out = tmp_path / "out"

    embedded.interrupt(where, 1, ["convert", TRACES, "-o", out, "--run", "demo", "--quiet"])

    assert embedded.runs() == ["demo"]
    assert not out.exists()
    embedded.run("convert", TRACES, "-o", out, "--run", "demo", "--quiet")
    assert len(list(out.iterdir())) == 6


@pytest.mark.parametrize("where", ["pathlib:Path.unlink", "graphstore.store.kglite_archive:Archive.forget"])
def test_a_deletion_is_done_or_not(with_demo: Place, changes: int, where: str) -> None:
    """The run is whole or gone, and can be imported again."""
    with_demo.interrupt(where, 1, ["runs", "delete", "demo"])

    assert with_demo.runs() == (["demo"] if "unlink" in where else [])
    assert with_demo.is_tidy()
    with_demo.run(*IMPORT)
    assert with_demo.due() == changes


@pytest.mark.neo4j
@pytest.mark.parametrize("times", [1, 2])
def test_an_import_into_a_server_is_there_or_not(server: Place, changes: int, times: int) -> None:
    """Between two batches: the run is not shown, and its next import takes the place of the half one."""
    server.interrupt(STORED, 2, IMPORT, times)

    assert server.runs() == []
    server.run(*IMPORT)
    assert server.due() == changes
    assert server.is_tidy()


@pytest.mark.neo4j
def test_repairs_and_deletions_on_a_server_are_all_or_none(server: Place, changes: int) -> None:
    """A transaction that was under way is taken back; a deletion that began hides the run, and goes on."""
    server.run(*IMPORT)

    server.interrupt(f"{CHANGE},graphstore.store.neo4j:_rows", 3, ["repair", "demo", "--apply", "--unsafe"])
    assert server.due() == changes

    server.interrupt("graphstore.store.neo4j_write:Writing._remove_some", 1, ["runs", "delete", "demo"])
    server.run("runs", "delete", "demo")
    assert server.runs() == []
    assert server.is_tidy()


@pytest.mark.data
@pytest.mark.parametrize("times", [1, 2])
def test_the_processes_that_read_end_with_ctrl_c(
    embedded: Place, data_dir: Path, tmp_path: Path, times: int
) -> None:
    """A terminal's Ctrl-C while processes read large files: they are gone, and so is the temporary store."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    files = sorted((data_dir / "torch213_big").glob("*_rank[01].json.gz"))
    running = subprocess.Popen(
        [*COMMAND, "check", *map(str, files), "--quiet"],
        env={**embedded.environment(), "TMPDIR": str(scratch)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    readers = wait_for_readers(running.pid)
    for _ in range(times):
        os.killpg(running.pid, signal.SIGINT)
        time.sleep(0.02)
    told, said = running.communicate(timeout=60)

    assert (running.returncode, told, said.decode()) == (130, b"", SAID)
    assert psutil.wait_procs(readers, timeout=5)[1] == []
    assert list(scratch.iterdir()) == []


def wait_for_readers(pid: int) -> list[psutil.Process]:
    """Return the processes that read, as soon as both are there."""
    deadline = time.monotonic() + 60
    found: list[psutil.Process] = []
    while len(found) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.02)
        found = psutil.Process(pid).children(recursive=True)
    return found
