"""An import killed at any moment leaves no visible half run, and the next import completes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from graphstore.settings import Settings
from graphstore.store import Store, open_store
from tests.engines import REPOSITORY, Server
from tests.graphs import contents, given_contents, small_run

OPS = 1500
CALLS = [str(number) for number in range(1, 11)]  # of progress; on Neo4j a batch each, on kglite a table each


def importer(address: str, ops: int, moment: str, server: Server | None = None) -> subprocess.Popen[str]:
    """Start a process that imports the run 'victim' and dies at `moment`."""
    env = {**os.environ}
    if server:
        env |= {"NEO4J_USERNAME": server.username, "NEO4J_PASSWORD": server.password}
    command = [sys.executable, "-m", "tests.integration.importer", address, "victim", str(ops), moment]
    return subprocess.Popen(command, env=env, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True)


def killed(process: subprocess.Popen[str], after_s: float | None = None) -> bool:
    """Wait for the process to be killed, or kill it `after_s` after it began; False when it had finished."""
    assert process.stdout is not None
    if after_s is not None:
        assert process.stdout.readline() == "begun\n"
        time.sleep(after_s)
        process.kill()
    code = process.wait(timeout=120)
    assert code in (-signal.SIGKILL, 0)
    return code == -signal.SIGKILL


def check_nothing_half(store: Store, kept: dict[str, list[object]]) -> None:
    """The run that was there is unharmed; the killed one is absent or whole; its next import completes."""
    visible = [run["run"] for run in store.runs()]
    assert visible in (["keeper"], ["keeper", "victim"])
    assert contents(store, "keeper") == kept
    if "victim" in visible:
        assert store.query("victim", "MATCH (n:Op {run: $run}) RETURN count(n) AS n")["n"].to_list() == [OPS]

    again = small_run("victim", store.allocate_run_no(), OPS)
    store.write_run(again)

    assert contents(store, "victim") == given_contents(again)
    assert contents(store, "keeper") == kept
    assert store.health()["leftovers"] == []
    store.delete_run("victim")


def keeper(store: Store) -> dict[str, list[object]]:
    """Write a run that must survive everything, and return what is in it."""
    store.write_run(small_run("keeper", store.allocate_run_no()))
    return contents(store, "keeper")


@pytest.mark.slow
def test_embedded_imports_killed_at_ten_moments_leave_nothing_half(
    tmp_path: Path, kglite_store: Store
) -> None:
    """Between tables, before and after the save, before and after the index."""
    kept = keeper(kglite_store)
    for moment in (*CALLS[:3], "save", "rename", "index"):
        assert killed(importer(kglite_store.address, OPS, moment))
        check_nothing_half(kglite_store, kept)
    for after_s in (0.0, 0.01, 0.02, 0.05, 0.1, 0.2):  # anywhere, also inside the engine's own save
        killed(importer(kglite_store.address, OPS, "never"), after_s)
        check_nothing_half(kglite_store, kept)


@pytest.mark.slow
@pytest.mark.neo4j
def test_neo4j_imports_killed_at_ten_moments_leave_nothing_half(
    neo4j_wiped: Server, neo4j_store: Store
) -> None:
    """After each of ten batches, before the run is made ready, and by the clock."""
    kept = keeper(neo4j_store)
    for moment in (*CALLS, "finish"):
        assert killed(importer(neo4j_wiped.uri, OPS, moment, neo4j_wiped))
        assert [run["run"] for run in neo4j_store.runs()] == ["keeper"]
        if moment != "1":
            assert neo4j_store.health()["leftovers"] == ["victim: loading"]
        check_nothing_half(neo4j_store, kept)
    for after_s in (0.0, 0.1, 0.3):
        killed(importer(neo4j_wiped.uri, OPS, "never", neo4j_wiped), after_s)
        check_nothing_half(neo4j_store, kept)


@pytest.mark.neo4j
def test_a_rebuild_removes_what_a_killed_import_left(neo4j_wiped: Server, neo4j_store: Store) -> None:
    """`doctor --rebuild` cleans up where nobody imports that run again."""
    kept = keeper(neo4j_store)
    assert killed(importer(neo4j_wiped.uri, OPS, "5", neo4j_wiped))

    assert neo4j_store.rebuild() == {"runs": 1, "removed": ["victim"], "problems": {}}

    assert neo4j_store.health()["leftovers"] == []
    assert contents(neo4j_store, "keeper") == kept


@pytest.mark.parametrize("moment", ["rename", "index"])
def test_an_index_that_missed_a_run_is_mended_when_it_is_read(
    tmp_path: Path, kglite_store: Store, moment: str
) -> None:
    """The run file is the truth; a death between it and the index hides nothing."""
    assert killed(importer(kglite_store.address, 10, moment))

    assert [run["run"] for run in open_store_again(kglite_store).runs()] == ["victim"]


def open_store_again(store: Store) -> Store:
    """Return a second store on the same folder, as another process would have it."""
    return open_store(Settings(store=store.address))
