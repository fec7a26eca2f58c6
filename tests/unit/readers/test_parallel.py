from __future__ import annotations

import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from graphstore.errors import GraphstoreError, LedgerError
from graphstore.model.records import FileRecords
from graphstore.readers import parallel, read_file, read_files
from graphstore.settings import Settings
from tests.data.trace_text import inputs, op, trace

SETTINGS = Settings(store="", processes=2)
DIES = [sys.executable, "-c", "import os, signal; input(); input(); os.kill(os.getpid(), signal.SIGKILL)"]
FAILS = """
import json, sys
sys.stdin.readline()
for line in sys.stdin:
    told = {"error": "LedgerError", "message": "7 read, 6 accounted for", "traceback": "…"}
    told = json.dumps(told).encode()
    sys.stdout.buffer.write(len(told).to_bytes(8, "big") + told)
    sys.stdout.buffer.flush()
"""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return three traces, a text and a path to nothing; processes pay from the first byte on."""
    monkeypatch.setattr(parallel, "PAYS_BYTES", 1)
    group = {"pg_name": "0", "pg_desc": "d", "ranks": [], "group_size": 2}
    init = op(3, "## process_group:init ##", 2, inputs=inputs(json.dumps([group]), types=["String"]))
    paths = [tmp_path / f"et_rank{n}.json" for n in range(3)]
    for n, path in enumerate(paths):
        path.write_text(trace(init, *(op(k, f"aten::op{k}", 2) for k in range(5, 10 + n))))
    other = tmp_path / "what.txt"
    other.write_text("how it was made")
    return [*map(str, paths), str(other), str(tmp_path / "absent")]


def test_processes_give_what_this_process_would(files: list[str]) -> None:
    """Tables, facts, groups and ledger are equal, in the order of the paths."""
    seen: list[tuple[str, int, int]] = []

    found = read_files(files, SETTINGS, {files[-1]}, lambda *state: seen.append(state))

    for path, records in zip(files, found, strict=True):
        here = read_file(path, SETTINGS, explicit=path == files[-1])
        assert (records.path, records.facts) == (path, here.facts)
        assert (records.groups, records.thread_names, records.tally) == (
            here.groups,
            here.thread_names,
            here.tally,
        )
        assert records.tables.keys() == here.tables.keys()
        for name, table in records.tables.items():
            assert table.equals(here.tables[name])
            assert table.schema == here.tables[name].schema
    done = [state[1] for state in seen]
    assert done == sorted(done)
    assert done[-1] == seen[-1][2]


def only_the_tally(records: FileRecords) -> FileRecords:
    """Return records without what was read; a file that is called absent fails."""
    if records.path.endswith("absent"):
        raise ValueError("nothing to count")
    return FileRecords(records.path, {"process": os.getpid()}, tally=records.tally)


@pytest.mark.parametrize("processes", [1, 2])
def test_what_is_to_be_done_with_records_is_done_where_they_are_read(
    processes: int, files: list[str]
) -> None:
    """Only what the function keeps of a file comes over; read here, it is done here."""
    settings = Settings(store="", processes=processes)

    found = read_files(files[:3], settings, set(), then=only_the_tally)

    assert [(records.path, records.tables) for records in found] == [(path, {}) for path in files[:3]]
    assert [records.tally.kept for records in found] == [8, 9, 10]
    assert all((records.facts["process"] == os.getpid()) == (processes == 1) for records in found)


@pytest.mark.parametrize(("processes", "kind"), [(1, ValueError), (2, GraphstoreError)])
def test_an_error_of_what_is_to_be_done_is_raised_here(
    processes: int, kind: type[Exception], files: list[str]
) -> None:
    """A defect in it stops the reading, wherever it is met."""
    settings = Settings(store="", processes=processes)

    with pytest.raises(kind, match="nothing to count"):
        read_files(files, settings, set(), then=only_the_tally)


def test_few_bytes_are_read_in_this_process(files: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Starting a process for a small file would take longer than reading it."""
    monkeypatch.setattr(parallel, "PAYS_BYTES", 10**9)
    monkeypatch.setattr(parallel, "Crew", None)

    assert [records.path for records in read_files(files, SETTINGS, set())] == files


def test_a_process_killed_over_a_file_costs_that_file_only(files: list[str]) -> None:
    """When each try dies the file has a problem; the next request finds a new process."""
    with parallel.Crew(DIES, SETTINGS) as crew:
        first, second = crew.read(files[0], explicit=False), crew.read(files[1], explicit=False)

    for path, records in ((files[0], first), (files[1], second)):
        assert records.facts["problem"].startswith(f"{path}: the process that read it ended by signal 9")
        assert records.tables == {}
        records.tally.check(path)


def test_a_file_is_tried_again_when_its_process_died(files: list[str], tmp_path: Path) -> None:
    """A process killed once (by hand, or for memory beside another) loses nothing."""
    mark = tmp_path / "died"
    once = (
        f"import os, pathlib, signal, sys; sys.path[:] = {sys.path!r}; mark = pathlib.Path({str(mark)!r})\n"
        "if not mark.exists(): mark.touch(); os.kill(os.getpid(), signal.SIGKILL)\n"
        "from graphstore.readers.worker import main; main()"
    )
    with parallel.Crew([sys.executable, "-c", once], SETTINGS) as crew:
        records = crew.read(files[0], explicit=False)

    assert mark.exists()
    assert records.facts.get("problem") is None
    assert records.tally.kept == 8


def test_an_error_of_a_reader_is_raised_here(files: list[str]) -> None:
    """A defect is no property of the file: it comes out as what it is, with its origin noted."""
    with (
        parallel.Crew([sys.executable, "-c", FAILS], SETTINGS) as crew,
        pytest.raises(LedgerError, match="7 read, 6 accounted for") as caught,
    ):
        crew.read(files[0], explicit=False)

    assert caught.value.__notes__ == ["…"]


def test_a_closed_crew_leaves_no_process(files: list[str]) -> None:
    """Ctrl-C ends processes at work too; who waits for their answer gets a problem, and no new process."""
    crew = parallel.Crew([sys.executable, "-c", "import time; time.sleep(600)"], SETTINGS)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(crew.read, files[0], False)
        while not crew.processes:
            time.sleep(0.01)
        crew.close()
        records = waiting.result(timeout=30)

    assert "ended by signal 9" in records.facts["problem"]
    assert [process.returncode for process in crew.processes] == [-9]
