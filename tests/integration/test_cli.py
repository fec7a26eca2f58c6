"""The command line as a process: each verb, the formats, the exit codes, what goes to which stream."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import select
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from graphstore.chakra import GlobalMetadata, Node, framed
from graphstore.chakra.et_def_pb2 import NodeType
from graphstore.demo import TRACES

COMMAND = [sys.executable, "-c", "import sys; from graphstore.cli.app import main; sys.exit(main())"]
RANKS = 4
CALLS = 21  # communication calls of each rank of the demo run
REACHED = 11  # of these, those a walk from the root of the recorded tree meets
FOREVER = (  # every four ops of the run: 10^13 rows
    "MATCH (a:HostOp), (b:HostOp), (c:HostOp), (d:HostOp) WHERE a.run = $run "
    "AND a.uid + b.uid + c.uid + d.uid = 7 RETURN count(*) AS n"
)
UNSTOPPABLE = (  # the embedded engine looks at no clock inside EXISTS
    "MATCH (a:HostOp) WHERE a.run = $run AND NOT EXISTS { "
    "MATCH (b:HostOp), (c:HostOp) WHERE b.name + c.name = a.name + 'x' } RETURN count(*) AS n"
)


@dataclass(frozen=True)
class Archive:
    """A folder of runs, and the command line on it."""

    home: Path

    def environment(self) -> dict[str, str]:
        """Return the environment of the process: no store but this one, no colour forced."""
        ours = ("GRAPHSTORE_", "NEO4J_", "FORCE_COLOR", "NO_COLOR", "COLUMNS", "LINES", "PAGER", "LESS")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        return {**kept, "GRAPHSTORE_HOME": str(self.home)}

    def run(self, *words: str | Path, code: int = 0) -> subprocess.CompletedProcess[bytes]:
        """Run the command; its exit code has to be `code`, and no traceback is ever shown."""
        done = subprocess.run(
            [*COMMAND, *map(str, words)], env=self.environment(), capture_output=True, timeout=120
        )
        told = done.stderr.decode()
        assert done.returncode == code, told
        assert "Traceback" not in told
        return done

    def json(self, *words: str | Path, code: int = 0) -> Any:
        """Run the command with --format json and return what stdout holds."""
        return json.loads(self.run(*words, "--format", "json", code=code).stdout)

    def fails(self, *words: str | Path, code: int) -> str:
        """Run a command that is a mistake: nothing on stdout, one line on stderr, which is returned."""
        done = self.run(*words, code=code)
        assert done.stdout == b""
        lines = done.stderr.decode().splitlines()
        assert len(lines) == 1, lines
        assert lines[0].startswith("graphstore: ")
        return lines[0]


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    """Return an empty archive."""
    return Archive(tmp_path / "home")


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Archive:
    """Return an archive that holds the demo run as it was recorded; its tests only read."""
    made = Archive(tmp_path_factory.mktemp("demo"))
    made.run("import", TRACES, "--run", "demo")
    return made


@pytest.fixture
def own_demo(archive: Archive) -> Archive:
    """Return an archive of the test's own that holds the demo run."""
    archive.run("import", TRACES, "--run", "demo")
    return archive


def test_convert_writes_a_chakra_file_per_rank(archive: Archive, tmp_path: Path) -> None:
    """The main job: one file a rank with every call in it, the groups, the manifest, and the run archived."""
    out = tmp_path / "out"

    manifest = archive.json("convert", TRACES, "-o", out, "--run", "demo")

    assert sorted(path.name for path in out.iterdir()) == [
        "comm_groups.json",
        *(f"demo.{rank}.et" for rank in range(RANKS)),
        "manifest.json",
    ]
    assert [rank["communications"] for rank in manifest["ranks"].values()] == [CALLS] * RANKS
    assert manifest == json.loads((out / "manifest.json").read_bytes())
    assert [run["run"] for run in archive.json("runs")] == ["demo"]


def test_convert_without_keeping_leaves_no_run(archive: Archive, tmp_path: Path) -> None:
    """--no-keep writes the files and archives nothing."""
    archive.run("convert", TRACES, "-o", tmp_path / "out", "--no-keep")

    assert archive.json("runs") == []


def test_convert_says_what_it_did_on_stderr_only(archive: Archive, tmp_path: Path) -> None:
    """Rows go to stdout, remarks to stderr, and --quiet silences the remarks."""
    loud = archive.run("convert", TRACES, "-o", tmp_path / "a", "--no-keep")
    quiet = archive.run("convert", TRACES, "-o", tmp_path / "b", "--no-keep", "--quiet")

    assert "restore_from_kineto 48 (proven)" in loud.stderr.decode()
    assert loud.stdout == quiet.stdout
    assert quiet.stderr == b""


def test_import_prints_the_ledger(archive: Archive) -> None:
    """Every file has a row, and what was read is kept or left out by a reason."""
    (result,) = archive.json("import", TRACES)

    assert len(result["files"]) == 3 * RANKS
    for facts in result["files"]:
        left_out = json.loads(facts["left_out"] or "{}")
        assert facts["records_read"] == facts["kept"] + sum(left_out.values())


def test_importing_the_same_files_again_changes_nothing(own_demo: Archive) -> None:
    """The second time is told, and the archive is as before."""
    before = own_demo.json("runs")

    again = own_demo.run("import", TRACES, "--run", "demo")

    assert "nothing changed" in again.stderr.decode()
    assert own_demo.json("runs") == before


def test_check_tells_the_absent_parents(demo: Archive) -> None:
    """One finding for each rank's absent parent; --strict makes the open errors an exit code."""
    found = demo.json("check", "demo", "--strict", code=1)

    missing = [finding for finding in found if finding["rule"] == "missing_parent"]
    assert [finding["rank"] for finding in missing] == list(range(RANKS))


def test_check_of_one_topic_runs_its_checks_only(demo: Archive) -> None:
    """The absent parents are a matter of structure, so the checks on links say nothing of them."""
    rules = {finding["rule"] for finding in demo.json("check", "demo", "--topic", "linking")}

    assert "missing_parent" not in rules
    assert "no topic" in demo.fails("check", "demo", "--topic", "nope", code=2)


def test_check_of_files_archives_nothing(archive: Archive) -> None:
    """Files can be checked as they lie; the findings are those of an archived run."""
    found = archive.json("check", TRACES)

    assert len([finding for finding in found if finding["rule"] == "missing_parent"]) == RANKS
    assert archive.json("runs") == []


def test_repair_plans_applies_and_takes_back(own_demo: Archive) -> None:
    """The plan writes nothing, --apply --unsafe leaves nothing to repair, --undo brings the plan back."""
    plan = own_demo.json("repair", "demo")
    assert plan
    assert own_demo.json("repair", "demo") == plan

    applied = own_demo.json("repair", "demo", "--apply", "--unsafe")
    assert sum(repair["changes"] for repair in applied) == len(plan)
    assert own_demo.json("repair", "demo", "--apply", "--unsafe") == []
    own_demo.run("check", "demo", "--strict")

    assert own_demo.json("repair", "demo", "--undo") == {"run": "demo", "undone": len(applied)}
    assert own_demo.json("repair", "demo") == plan


def test_export_writes_what_the_graph_holds(demo: Archive, tmp_path: Path) -> None:
    """An export of the run as recorded still holds every call; the table has a row a rank."""
    done = demo.run("export", "demo", "-o", tmp_path / "out")

    assert len(done.stdout.decode().splitlines()) == 1 + RANKS
    assert len(list((tmp_path / "out").glob("*.et"))) == RANKS


def test_a_catalogue_query_in_every_format(demo: Archive) -> None:
    """The same rows, whatever the form."""
    words = ("query", "structure/find_missing_parents")
    rows = demo.json(*words)

    lines = demo.run(*words, "--format", "jsonl").stdout.splitlines()
    text = demo.run(*words, "--format", "csv").stdout.decode()
    frame = pl.read_parquet(io.BytesIO(demo.run(*words, "--format", "parquet").stdout))
    table = demo.run(*words).stdout.decode().splitlines()

    assert len(rows) == RANKS
    assert [json.loads(line) for line in lines] == rows
    assert [int(row["rank"]) for row in csv.DictReader(io.StringIO(text))] == [row["rank"] for row in rows]
    assert frame.to_dicts() == rows
    assert table[0].split() == list(rows[0])
    assert len(table) == 1 + RANKS


def test_a_query_as_text_and_as_file_with_a_parameter(demo: Archive, tmp_path: Path) -> None:
    """A text and a .cypher file are asked alike, with parameters from the command line.

    Rank 1 made 21 calls in the traces, and 8 before them that its dump alone tells.
    """
    text = (
        "MATCH (n:CollectiveCall) WHERE n.run = $run AND n.rank = $rank "
        "RETURN n.collective_kind AS kind, count(*) AS calls ORDER BY kind"
    )
    path = tmp_path / "calls.cypher"
    path.write_text(text)

    from_text = demo.json("query", text, "-p", "rank=1")
    from_file = demo.json("query", path, "-p", "rank=1")

    assert from_text == from_file
    assert {row["kind"]: row["calls"] for row in from_text} == {
        "all_reduce": 18,
        "barrier": 2,
        "broadcast": 1,
        "recv": 4,
        "send": 4,
    }


def test_a_query_says_when_it_was_cut(demo: Archive) -> None:
    """The row limit holds, and stderr says that there are more rows, even when quiet."""
    text = "MATCH (n:HostOp) WHERE n.run = $run RETURN n.uid AS uid"

    done = demo.run("query", text, "--limit", "5", "--format", "jsonl", "--quiet")

    assert len(done.stdout.splitlines()) == 5
    assert "cut at 5 rows" in done.stderr.decode()


def test_a_query_that_writes_is_refused(demo: Archive) -> None:
    """A query only reads, whatever it says."""
    demo.fails("query", "MATCH (n:Run) SET n.name = 'x' RETURN n.name AS name", code=2)

    assert demo.json("runs")[0]["name"] == "demo"


@pytest.mark.parametrize("text", [FOREVER, UNSTOPPABLE])
def test_a_query_past_its_time_ends_with_124(text: str, demo: Archive) -> None:
    """The time limit ends the process, also where the engine does not stop by itself."""
    demo.fails("query", text, "--timeout", "0.05", code=124)


def test_an_interrupt_ends_with_130(demo: Archive) -> None:
    """Ctrl-C is one line, no traceback."""
    running = subprocess.Popen(
        [*COMMAND, "query", FOREVER], env=demo.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    deadline = time.monotonic() + 60
    while b"kglite" not in Path(f"/proc/{running.pid}/maps").read_bytes():  # not yet at the store
        assert time.monotonic() < deadline
        time.sleep(0.1)
    running.send_signal(signal.SIGINT)
    told, said = running.communicate(timeout=60)

    assert running.returncode == 130
    assert told == b""
    assert said.decode().count("\n") == 1


def test_a_reader_that_leaves_early_is_no_error(archive: Archive) -> None:
    """A closed pipe ends the program quietly."""
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*COMMAND, "queries", "--format", "json"], env=archive.environment(), stdout=writing, stderr=-1
    )
    os.close(writing)

    assert done.returncode == 141
    assert done.stderr == b""


def test_the_catalogue_is_listed_and_shown(archive: Archive) -> None:
    """Every query has a name and a summary; what our own code asks is listed when asked for."""
    listed = archive.json("queries")
    of_topic = archive.json("queries", "--topic", "memory", "--all")

    assert {"structure/find_missing_parents", "archive/show_ledger"} <= {row["name"] for row in listed}
    assert all(row["summary"] and not row["internal"] for row in listed)
    assert {row["name"].split("/")[0] for row in of_topic} == {"memory"}
    assert len(archive.json("queries", "--all")) > len(listed)


def test_a_query_is_explained(archive: Archive) -> None:
    """What it takes, with defaults, what it gives, a line that asks it, and its text without the header."""
    shown = archive.run("queries", "show", "show_longest_waits").stdout.decode()

    assert shown.startswith("communication/show_longest_waits\n\nThe calls in which a rank waited longest")
    assert "\n  count  int = 20     how many\n" in shown
    assert "\n  graphstore query show_longest_waits --run RUN -p rank=1\n" in shown
    assert "\nMATCH (c:CollectiveCall)" in shown
    assert "//" not in shown


def test_a_query_is_found_by_words(archive: Archive) -> None:
    """The best first; where nothing fits, one line says what may have been meant."""
    found = archive.json("queries", "search", "bus", "bandwidth", "kind")

    assert found[0]["name"] == "communication/show_bandwidth_by_kind"


def test_runs_are_listed_shown_tagged_and_deleted(own_demo: Archive) -> None:
    """The archive's own verbs, one after the other."""
    assert [run["ranks"] for run in own_demo.json("runs", "list")] == [[0, 1, 2, 3]]
    assert len(own_demo.json("runs", "show", "demo")["files"]) == 3 * RANKS

    assert own_demo.json("runs", "tag", "demo", "b", "a") == {"run": "demo", "tags": ["a", "b"]}
    assert own_demo.json("runs", "tag", "demo", "--remove", "b") == {"run": "demo", "tags": ["a"]}

    own_demo.run("runs", "delete", "demo")
    assert own_demo.json("runs") == []


def test_the_only_run_needs_no_name(demo: Archive) -> None:
    """With one run in the archive, verbs know which is meant."""
    assert demo.json("check") == demo.json("check", "demo")


def test_doctor_tells_what_is_there(demo: Archive) -> None:
    """Versions, where the archive lies, and that it answers."""
    facts = demo.json("doctor")

    assert facts["reachable"] is True
    assert facts["address"] == str(demo.home)
    assert facts["packages"]["kglite"]


def test_doctor_makes_the_index_anew(own_demo: Archive) -> None:
    """--rebuild finds the runs again where the index is gone."""
    for index in own_demo.home.glob("archive*"):
        index.unlink()

    assert own_demo.json("doctor", "--rebuild")["rebuilt"]["runs"] == 1
    assert [run["run"] for run in own_demo.json("runs")] == ["demo"]


def test_doctor_tells_what_to_do_when_the_store_is_out_of_reach(archive: Archive) -> None:
    """No server: exit 4, and the facts hold the remedy."""
    facts = archive.json("doctor", "--store", "bolt://127.0.0.1:1", code=4)

    assert facts["reachable"] is False


def test_a_store_out_of_reach_is_one_line(archive: Archive) -> None:
    """No server: exit 4 for every other verb, in one line."""
    assert "127.0.0.1:1" in archive.fails("runs", "--store", "bolt://127.0.0.1:1", code=4)


def test_the_demo_shows_what_the_repair_keeps(archive: Archive) -> None:
    """Recorded calls, those reached without and with the repair, those written: counted, per rank."""
    assert archive.json("demo") == [
        {"rank": rank, "calls": CALLS, "without_repair": REACHED, "with_repair": CALLS, "written": CALLS}
        for rank in range(RANKS)
    ]
    assert archive.json("runs") == []


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("absent.json", None),
        ("text.json", b"hello\n"),
        ("empty.json", b""),
        ("dump", b"\x80\x04cos\nsystem\n(S'true'\ntR."),
    ],
)
def test_a_file_that_is_no_trace_is_one_line(
    name: str, content: bytes | None, archive: Archive, tmp_path: Path
) -> None:
    """A named file that can't be read: its name, exit 3, nothing in the archive."""
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)

    assert name in archive.fails("import", path, code=3)
    assert archive.json("runs") == []


def test_a_file_that_was_cut_off_is_told(archive: Archive, tmp_path: Path) -> None:
    """Of a cut file the whole records are read; a line says where it ends, and check keeps a finding."""
    path = tmp_path / "cut.json.gz"
    path.write_bytes((TRACES / "et_rank0.json.gz").read_bytes()[:5000])

    told = archive.run("import", path, "--quiet").stderr.decode()

    assert told.startswith(f"graphstore: {path}: cut off at ")
    assert told.count("\n") == 1
    assert "file_cut" in {finding["rule"] for finding in archive.json("check")}


def test_an_empty_folder_is_one_line(archive: Archive, tmp_path: Path) -> None:
    """A folder without files is bad input."""
    (tmp_path / "empty").mkdir()

    assert "empty" in archive.fails("import", tmp_path / "empty", code=3)


def test_the_other_files_of_a_run_go_on(archive: Archive, tmp_path: Path) -> None:
    """One broken file among whole ones: named in one line, exit 3, the run is there."""
    folder = tmp_path / "run"
    folder.mkdir()
    for path in TRACES.glob("et_rank[01]*"):
        (folder / path.name).write_bytes(path.read_bytes())
    (folder / "broken.json").write_bytes(b"hello")

    done = archive.run("import", *sorted(folder.iterdir()), "--run", "part", "--quiet", code=3)

    assert [run["ranks"] for run in archive.json("runs")] == [[0, 1]]
    assert len(done.stdout.splitlines()) == 1 + 3
    assert "broken.json" in done.stderr.decode()


def test_recursive_makes_a_run_of_each_folder(archive: Archive, tmp_path: Path) -> None:
    """A folder whose files are wrong is told and costs exit 3; the other one is imported."""
    for name in ("right", "wrong"):
        (tmp_path / "all" / name).mkdir(parents=True)
        for path in TRACES.glob("*_rank0*"):
            (tmp_path / "all" / name / path.name).write_bytes(path.read_bytes())
    twin = tmp_path / "all" / "wrong" / "again_rank0.json.gz"
    twin.write_bytes((TRACES / "et_rank1.json.gz").read_bytes())

    done = archive.run("import", tmp_path / "all", "--recursive", code=3)

    assert [run["run"].rpartition("-")[0] for run in archive.json("runs")] == ["right"]
    assert "again_rank0.json.gz" in done.stderr.decode()


def test_subfolders_are_named_not_entered(archive: Archive, tmp_path: Path) -> None:
    """Without --recursive a subfolder is told in one line."""
    (tmp_path / "run" / "more").mkdir(parents=True)
    (tmp_path / "run" / "et_rank0.json.gz").write_bytes((TRACES / "et_rank0.json.gz").read_bytes())

    done = archive.run("import", tmp_path / "run")

    assert "not entered" in done.stderr.decode()
    assert "more" in done.stderr.decode()


def test_the_tour_of_the_readme_runs(archive: Archive, tmp_path: Path) -> None:
    """Every line does what it says, in the order of the page, in a folder that holds only a run.

    `check --strict` finds the demo run's four absent parents (exit 1). `browser` needs a server (exit 2).
    """
    package = Path(TRACES).parents[1]
    (tmp_path / "run_dir").symlink_to(TRACES)
    readme = (package.parent / "README.md").read_text()
    (tour,) = re.findall(r"## A tour of the command line\n.*?```sh\n(.*?)```", readme, re.DOTALL)
    lines = [shlex.split(line, comments=True) for line in tour.splitlines()]
    assert len(lines) > 20

    codes = {}
    for command, *words in lines:
        assert command == "graphstore"
        done = subprocess.run(
            [*COMMAND, *words], cwd=tmp_path, env=archive.environment(), capture_output=True, timeout=120
        )
        if done.returncode:
            codes[" ".join(words)] = done.returncode
        bare = done.stderr.startswith((b"0 rows", b"0 runs")) or done.stdout.strip() == b"[]"
        assert bare == ("Kernel" in " ".join(words)), (words, "the demo run has no GPU; all else has rows")

    assert codes == {"check nightly --strict": 1, "browser nightly": 2}


def test_the_python_of_the_readme_runs(archive: Archive, tmp_path: Path) -> None:
    """What the README shows of the Python API does what it says beside it."""
    package = Path(TRACES).parents[1]
    (tmp_path / "graphstore").symlink_to(package)
    (block,) = re.findall(r"```python\n(.*?)```", (package.parent / "README.md").read_text(), re.DOTALL)

    done = subprocess.run(
        [sys.executable, "-c", block],
        cwd=tmp_path,
        env=archive.environment(),
        capture_output=True,
        check=True,
    )

    assert done.stdout.decode().splitlines()[0] == str(CALLS)
    assert "all_reduce" in done.stdout.decode()


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    """Return the two ends of a terminal."""
    ends = pty.openpty()
    yield ends
    for end in ends:
        os.close(end)


def test_progress_shows_on_a_terminal_unless_quiet(
    archive: Archive, tmp_path: Path, terminal: tuple[int, int]
) -> None:
    """Bars with what is read go to a terminal on stderr; --quiet keeps it empty."""
    master, slave = terminal
    words = ["convert", str(TRACES), "-o", str(tmp_path / "out"), "--no-keep"]

    def told(*more: str) -> str:
        environment = {**archive.environment(), "TERM": "xterm"}
        running = subprocess.Popen(
            [*COMMAND, *words, *more], env=environment, stdout=subprocess.DEVNULL, stderr=slave
        )
        seen = b""
        while running.poll() is None or select.select([master], [], [], 0.1)[0]:
            if select.select([master], [], [], 0.1)[0]:
                seen += os.read(master, 65536)
        assert running.returncode == 0
        return seen.decode()

    assert told("--quiet") == ""
    assert "bytes read" in told()


@pytest.mark.parametrize("environment", [{}, {"NO_COLOR": "1"}], ids=["colour", "no colour"])
def test_tables_are_drawn_on_a_terminal_only(
    environment: dict[str, str], demo: Archive, terminal: tuple[int, int]
) -> None:
    """On a terminal rich draws the table, in bold unless NO_COLOR forbids colours; in a pipe it is plain."""
    master, slave = terminal
    plain = demo.run("runs").stdout.decode()

    done = subprocess.run(
        [*COMMAND, "runs"],
        env={**demo.environment(), "TERM": "xterm", "COLUMNS": "200", **environment},
        stdout=slave,
        timeout=60,
    )
    drawn = os.read(master, 65536).decode()

    assert done.returncode == 0
    assert "─" in drawn
    assert "─" not in plain
    assert "\x1b" not in plain
    assert "\x1b[3" not in drawn, "no colours in a table"


def write_workload(folder: Path, waits_for: int) -> Path:
    """Write two ranks with two collectives each; on rank 0 a node waits for `waits_for`. Return folder."""
    folder.mkdir()
    for rank in (0, 1):
        nodes = [Node(id=number, name="c", type=NodeType.COMM_COLL_NODE) for number in (1, 2)]
        nodes[1].data_deps.append(1)
        for made in nodes:
            made.attr.add(name="comm_type", int64_val=0)
            made.attr.add(name="comm_size", int64_val=64)
        last = Node(id=3, name="n", type=NodeType.COMP_NODE, data_deps=[2 if rank else waits_for])
        with (folder / f"w.{rank}.et").open("wb") as stream:
            stream.writelines(map(framed, [GlobalMetadata(version="0.0.4"), *nodes, last]))
    return folder


def test_check_says_whether_a_simulator_runs_the_files(archive: Archive, tmp_path: Path) -> None:
    """A finding with what the simulator does; exit 1 with --strict. Other files are named, not lost."""
    bad = write_workload(tmp_path / "bad", waits_for=9)
    (bad / "notes.txt").write_text("hello")

    done = archive.run("check", bad, "--target", "astra-sim", "--strict", "--format", "json", code=1)

    (finding,) = json.loads(done.stdout)
    assert (finding["rule"], finding["severity"], finding["rank"]) == ("dangling_dep", "error", 0)
    assert finding["evidence"]["absent_ids"] == [9]
    assert finding["evidence"]["simulator"].startswith("aborts at load")
    assert done.stderr.decode().splitlines() == [
        f"passed over, no Chakra files: {bad / 'notes.txt'}",
        "findings: 1 error open",
    ]


def test_check_of_files_a_simulator_runs_is_silent(archive: Archive, tmp_path: Path) -> None:
    """No finding, exit 0, and nothing is archived."""
    good = write_workload(tmp_path / "good", waits_for=2)

    assert archive.json("check", *sorted(good.iterdir()), "--target", "astra-sim", "--strict") == []
    assert archive.json("runs") == []


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["nightly"], 2, "`graphstore export` the run"),
        ([], 2, "name them, or their folder"),
        (["w.0.et", "--topic", "health"], 2, "goes without --topic"),
        (["w.0.et"], 3, "w.0.et: cannot be opened"),
        ([TRACES], 3, "no Chakra file among"),
    ],
)
def test_check_for_a_simulator_wants_chakra_files(
    archive: Archive, words: list[str], code: int, said: str
) -> None:
    """A run, nothing, checks of a graph, an absent file, traces of another kind: one line each."""
    assert said in archive.fails("check", *words, "--target", "astra-sim", code=code)
