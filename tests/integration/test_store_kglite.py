"""The embedded store against the world: other writers, damaged files, full disks, queries without end."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kglite
import polars as pl
import pytest

from graphstore.errors import QueryError, StoreError
from graphstore.settings import Settings
from graphstore.store import Statement, Store, open_store
from graphstore.store.kglite import KgliteStore
from graphstore.store.kglite_archive import Archive
from tests.engines import REPOSITORY
from tests.graphs import contents, given_contents, small_run

FINDING = Statement(
    "MERGE (f:Finding {fid: 'f'}) SET f.run = $run, f.name = 'x', f.rule = 'x' RETURN count(*) AS n", {}
)


@pytest.fixture
def filled(kglite_store: Store) -> KgliteStore:
    """Return a store that holds the run 'small'."""
    assert isinstance(kglite_store, KgliteStore)
    kglite_store.write_run(small_run("small", kglite_store.allocate_run_no()))
    return kglite_store


def run_file(store: Store, run: str = "small") -> Path:
    """Return the file of a run."""
    return Path(store.address) / "runs" / f"{run}.kgl"


@pytest.fixture
def holder(filled: KgliteStore) -> Iterator[subprocess.Popen[str]]:
    """Return another process that holds the run for writing."""
    script = f"import kglite; g = kglite.open({str(run_file(filled))!r}); print('held', flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_a_run_that_another_process_writes_is_refused_by_its_number(
    filled: KgliteStore, holder: subprocess.Popen[str]
) -> None:
    """Importing, changing and deleting name the holder and end with exit code 4; reading goes on."""
    for write in (
        lambda: filled.write_run(small_run("small", 99)),
        lambda: filled.change_run("small", [FINDING]),
        lambda: filled.delete_run("small"),
    ):
        with pytest.raises(StoreError, match=f"held for writing by process {holder.pid}") as caught:
            write()
        assert caught.value.exit_code == 4

    assert filled.query("small", "MATCH (n:Op) RETURN count(n) AS n")["n"].to_list() == [4]
    assert [run["run"] for run in filled.runs()] == ["small"]


def test_a_lease_ends_with_its_process(filled: KgliteStore, holder: subprocess.Popen[str]) -> None:
    """A killed writer holds nobody up."""
    holder.kill()
    holder.wait()

    assert filled.change_run("small", [FINDING])[0]["n"].to_list() == [1]


def test_what_another_program_committed_to_the_log_is_not_lost(filled: KgliteStore) -> None:
    """A durable writer was killed before its save: the log is folded in before the file is read."""
    script = f"""
        import kglite, os, signal
        g = kglite.open({str(run_file(filled))!r}, durable="normal")
        g.cypher("MATCH (n:Op) SET n.step = 7")
        os.kill(os.getpid(), signal.SIGKILL)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)])
    assert Path(f"{run_file(filled)}-wal").stat().st_size > 5

    found = filled.query("small", "MATCH (n:Op) RETURN DISTINCT n.step AS step")

    assert found["step"].to_list() == [7]


@pytest.mark.parametrize("part", [0.02, 0.3, 0.5, 0.7, 0.95])
def test_a_damaged_file_is_never_read_wrong(filled: KgliteStore, part: float) -> None:
    """One line that says so; the list leaves it out, health names it and the remedy."""
    path = run_file(filled)
    content = bytearray(path.read_bytes())
    place = int(len(content) * part)
    content[place : place + 8] = bytes(each ^ 0xFF for each in content[place : place + 8])
    path.write_bytes(content)

    with pytest.raises(StoreError, match=r"small.kgl: damaged: .* Import its files again"):
        filled.query("small", "MATCH (n:Op) RETURN count(n) AS n")
    with pytest.raises(StoreError, match="damaged"):
        filled.change_run("small", [FINDING])

    assert filled.runs() == []
    health = filled.health()
    assert health["problems"][0].startswith("small: ")
    assert health["remedies"] == ["small: import its files again, or delete it"]


def test_a_damaged_run_can_be_imported_again(filled: KgliteStore) -> None:
    """The new file takes its place, and the damaged one goes."""
    run_file(filled).write_bytes(b"not a graph")
    again = small_run("small", filled.allocate_run_no(), ops=6)

    filled.write_run(again)

    assert contents(filled, "small") == given_contents(again)
    assert filled.health()["leftovers"] == []


def test_a_damaged_run_can_be_deleted(filled: KgliteStore) -> None:
    """Nothing of it stays, not even the locks."""
    run_file(filled).write_bytes(b"not a graph")

    filled.delete_run("small")

    assert list((Path(filled.address) / "runs").iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"not a graph"])
def test_a_lost_or_damaged_index_is_made_again(filled: KgliteStore, content: bytes) -> None:
    """The list comes from the run files, and no run number is given twice."""
    before = filled.runs()
    Path(filled.address, "archive.kgl").write_bytes(content)

    assert filled.runs() == before
    assert filled.allocate_run_no() > before[0]["run_no"]


def test_the_index_can_be_made_again_from_the_run_files(filled: KgliteStore) -> None:
    """Rebuilt, it holds Run, Finding and the sums per name of every run, as before."""
    filled.write_run(small_run("other", filled.allocate_run_no(), name="other op"))
    filled.change_run("small", [FINDING])
    asked = (
        "MATCH (n:NameSum) RETURN n.run AS run, n.kind AS kind, n.name AS name, n.nodes AS nodes, "
        "n.duration_ns AS duration_ns ORDER BY run, name",
        "MATCH (f:Finding) RETURN f.fid AS fid, f.run AS run ORDER BY fid",
        "MATCH (r:Run) RETURN r.run AS run, r.run_no AS run_no ORDER BY run",
    )
    before = [filled.query_archive(text).rows() for text in asked]
    Path(filled.address, "archive.kgl").unlink()

    assert filled.rebuild()["runs"] == 2

    assert [filled.query_archive(text).rows() for text in asked] == before
    assert before[0][0] == ("other", "HostOp", "other op 0", 1, 100)
    assert before[1] == [("f", "small")]


def test_a_rebuild_removes_what_killed_saves_left(filled: KgliteStore) -> None:
    """Unfinished files of processes that are gone, and damaged files put aside; not those being written."""
    folder = Path(filled.address) / "runs"
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    left = [folder / f"small.kgl.tmp.{gone.pid}.1", folder / "old.kgl.damaged"]
    written = folder / f"small.kgl.tmp.{os.getpid()}.1"
    for path in (*left, written):
        path.write_bytes(b"x")
    assert sorted(filled.health()["leftovers"]) == sorted(map(str, left))

    assert sorted(filled.rebuild()["removed"]) == sorted(map(str, left))

    assert written.exists()
    assert filled.health()["leftovers"] == []


def test_a_file_that_is_no_run_is_named_not_listed(filled: KgliteStore) -> None:
    """Somebody's own kglite file in the folder is no run of ours."""
    foreign = kglite.KnowledgeGraph()
    foreign.cypher("CREATE (n:Person {name: 'x'})")
    foreign.save(str(run_file(filled, "foreign")))

    assert [run["run"] for run in filled.runs()] == ["small"]
    assert "no archived run" in filled.health()["problems"][0]


def test_two_processes_import_at_once(kglite_store: Store) -> None:
    """Different runs: both are there, with different numbers. The index is shared, not lost."""
    command = [sys.executable, "-m", "tests.integration.importer", kglite_store.address]
    both = [
        subprocess.Popen([*command, run, "300", "never"], cwd=REPOSITORY, stdout=subprocess.DEVNULL)
        for run in ("a", "b", "c")
    ]

    assert [process.wait(timeout=120) for process in both] == [0, 0, 0]

    runs = kglite_store.runs()
    assert {run["run"] for run in runs} == {"a", "b", "c"}
    assert len({run["run_no"] for run in runs}) == 3


def full_disk(folder: Path) -> Iterator[Path]:
    """Yield a file system of 1 MB, where mounting is allowed; else skip (the file-size limit stands in)."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("mounting is not allowed here; the file-size limit is tested instead")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


small_disk = pytest.fixture(full_disk)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return where the small disk goes."""
    return tmp_path / "disk"


def test_a_full_disk_leaves_the_archive_as_it_was(small_disk: Path) -> None:
    """One line, exit code 4, no half file; the run that was there stays whole."""
    store = open_store(Settings(store=str(small_disk / "archive")))
    store.write_run(small_run("small", store.allocate_run_no()))
    before, files = contents(store, "small"), sorted(small_disk.rglob("*.kgl*"))
    (small_disk / "filler").write_bytes(os.urandom(1 << 20)[: free(small_disk) - 8192])

    with pytest.raises(
        StoreError, match=r"can't be written, the archive is unchanged: .*Make room"
    ) as caught:
        store.write_run(random_names("big", store.allocate_run_no()))
    with pytest.raises(StoreError, match="can't be written"):
        store.change_run("small", [blow_up()])

    assert caught.value.exit_code == 4
    assert "\n" not in str(caught.value)
    assert contents(store, "small") == before
    assert [run["run"] for run in store.runs()] == ["small"]
    assert [path for path in sorted(small_disk.rglob("*.kgl*")) if "lock" not in path.name] == [
        path for path in files if "lock" not in path.name
    ]


def test_a_file_size_limit_leaves_the_archive_as_it_was(filled: KgliteStore) -> None:
    """The same where a file may not grow: what the disk does not take is not half there."""
    before = contents(filled, "small")
    script = f"""
        import resource, signal
        from graphstore.errors import StoreError
        from graphstore.settings import Settings
        from graphstore.store import open_store
        from tests.integration.test_store_kglite import random_names
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, ({100_000}, {100_000}))
        try:
            open_store(Settings(store={filled.address!r})).write_run(random_names("big", 50))
        except StoreError as error:
            print(error)
    """
    said = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], cwd=REPOSITORY, capture_output=True, text=True
    )

    assert "can't be written, the archive is unchanged" in said.stdout, said.stderr
    assert said.stdout.count("\n") == 1
    assert contents(filled, "small") == before
    assert [run["run"] for run in filled.runs()] == ["small"]
    assert filled.health()["leftovers"] == []


def random_names(run: str, run_no: int) -> Any:
    """Return a run whose names don't compress: about a megabyte."""
    graph = small_run(run, run_no, ops=20_000)
    names = [os.urandom(32).hex() for _ in range(20_000)]
    graph.nodes["HostOp"] = graph.nodes["HostOp"].with_columns(pl.Series("name", names))
    return graph


def blow_up() -> Statement:
    """Return a statement that makes the run much bigger."""
    rows = [{"fid": os.urandom(32).hex(), "message": os.urandom(64).hex()} for _ in range(5000)]
    return Statement("UNWIND $rows AS row MERGE (f:Finding {fid: row.fid}) SET f += row", {"rows": rows})


def free(folder: Path) -> int:
    """Return the free bytes of a file system."""
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    """A file in the way: which, and how to name another place."""
    (tmp_path / "file").write_text("x")
    store = open_store(Settings(store=str(tmp_path / "file" / "archive")))

    with pytest.raises(StoreError, match=r"no archive can be made there: .*--store"):
        store.write_run(small_run("small", 1))
    assert store.runs() == []


def test_looking_makes_nothing(tmp_path: Path) -> None:
    """runs() and health() of an archive that is not there leave the disk as it was."""
    store = open_store(Settings(store=str(tmp_path / "absent")))

    assert store.runs() == []
    assert store.health()["reachable"] is True
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("length", ["*", "*1..", "*0..", "*2.."])
def test_a_path_without_a_bound_is_refused(filled: KgliteStore, length: str) -> None:
    """The engine would stop at ten hops, with rows missing and only a warning."""
    with pytest.raises(QueryError, match=r"write \*1\.\.1000"):
        filled.query("small", f"MATCH (a:Op)-[:CTRL{length}]->(b:Op) RETURN count(b) AS n")


# A correlated EXISTS with a scan of its own: no time limit of the engine stops it.
ENDLESS = (
    "MATCH (n:Op) WHERE NOT EXISTS { MATCH (p:Op) WHERE p.self_ns = n.node_id + 1000000 } "
    "RETURN count(n) AS n"
)


def asked_without_end(store: KgliteStore, on_timeout: str) -> subprocess.CompletedProcess[str]:
    """Run a process that asks ENDLESS with a limit of 0.2 s and then, if it still lives, another question."""
    store.write_run(small_run("many", store.allocate_run_no(), ops=25_000))
    script = f"""
        import os, sys
        from graphstore.errors import QueryTimeoutError
        from graphstore.settings import Settings
        from graphstore.store import open_store
        def end(error):
            print(error, file=sys.stderr, flush=True)
            os._exit(124)
        store = open_store(Settings(store={store.address!r}))
        try:
            store.query("many", {ENDLESS!r}, timeout_s=0.2)
        except QueryTimeoutError as error:
            {on_timeout}(error)
        print(store.query("small", "MATCH (n:Op) RETURN count(n) AS n")["n"].to_list())
    """
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=60
    )


def test_a_query_the_engine_cannot_stop_is_left_behind(filled: KgliteStore) -> None:
    """QueryTimeoutError comes soon after the limit; the store goes on answering, and the process can end."""
    done = asked_without_end(filled, on_timeout="print")

    message, answer = done.stdout.splitlines()
    assert "the engine could not stop it" in message
    assert answer == "[4]"
    assert done.returncode == 0


def test_the_command_line_may_end_the_process_instead(filled: KgliteStore) -> None:
    """Whoever gets the error may end the process on it, as the command line does (print, os._exit(124))."""
    done = asked_without_end(filled, on_timeout="end")

    assert done.returncode == 124
    assert done.stderr.startswith("the query ran past its limit of 0.2 s")


def test_queries_of_many_threads_get_their_own_rows(filled: KgliteStore) -> None:
    """A store may be shared: each call has a cursor of its own."""
    found: list[int] = []

    def ask(number: int) -> None:
        rows = filled.query("small", "MATCH (n:Op) WHERE n.node_id = $x RETURN n.node_id AS x", {"x": number})
        found.extend(rows["x"].to_list())

    threads = [threading.Thread(target=ask, args=(1 + number % 4,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(found) == sorted([1, 2, 3, 4] * 4)


def test_asking_does_not_load_pandas(filled: KgliteStore) -> None:
    """Only a bulk load needs it, and it costs 0.4 s."""
    script = f"""
        import sys
        from graphstore.settings import Settings
        from graphstore.store import open_store
        store = open_store(Settings(store={filled.address!r}))
        store.query("small", "MATCH (n:Op) RETURN count(n) AS n"); store.runs(); store.health()
        assert "pandas" not in sys.modules and "neo4j" not in sys.modules
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True)

    assert done.returncode == 0, done.stderr


def test_run_files_are_saved_compact(filled: KgliteStore) -> None:
    """After an import and after a change: the other layout is ten times larger, and slower to check."""
    filled.write_run(small_run("many", filled.allocate_run_no(), ops=20_000))
    imported = run_file(filled, "many").stat().st_size

    filled.change_run("many", [Statement("MERGE (f:Finding {fid: 'f'}) SET f.run = $run, f.name = 'x'", {})])

    assert imported < 1_000_000
    assert run_file(filled, "many").stat().st_size < imported * 1.2


def test_an_archive_names_only_files_inside_itself(tmp_path: Path) -> None:
    """A run id is a file name, never a path."""
    archive = Archive(tmp_path)

    for name in ("../x", "a/b", "", ".hidden", "a\0b"):
        with pytest.raises(Exception, match="no run id"):
            archive.path(name)


def test_a_run_handed_over_is_let_go_as_it_is_written(kglite_store: Store) -> None:
    """Its tables are not held beside the graph they are put into; the giver has none of them left."""
    graph = small_run("small", kglite_store.allocate_run_no())
    whole = given_contents(graph)
    given = [graph.handed_over()]
    seen = weakref.ref(given[0])
    held: list[bool] = []

    kglite_store.write_run(given.pop(), lambda *_: held.append(seen() is not None))

    assert held
    assert not any(held)
    assert (graph.nodes, graph.edges) == ({}, [])
    assert contents(kglite_store, "small") == whole
