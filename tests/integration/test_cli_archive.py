"""The archive from the command line: selection, notes, names, verifying, moving, questions over runs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from graphstore.demo import TRACES
from tests.integration.test_cli import RANKS, Archive, archive, own_demo

__all__ = ["archive", "own_demo"]  # fixtures

FILES = 3 * RANKS


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Archive:
    """Return an archive of three runs of the demo's files: first, second, third; the last has no dumps."""
    made = Archive(tmp_path_factory.mktemp("three"))
    for run in ("first", "second"):
        made.run("import", TRACES, "--run", run)
    traces = [path for path in Path(TRACES).iterdir() if path.name.endswith(".json.gz")]
    made.run("import", *traces, "--run", "third")
    made.run("runs", "tag", "second", "nightly")
    made.run("runs", "tag", "latest", "nightly", "traces")
    return made


@pytest.mark.parametrize(
    ("options", "runs"),
    [
        ([], ["first", "second", "third"]),
        (["--tag", "nightly"], ["second", "third"]),
        (["--tag", "nightly", "--tag", "traces"], ["third"]),
        (["--since", "2020-01-01", "--until", "2100-01-01"], ["first", "second", "third"]),
        (["--until", "2020-01-01"], []),
        (["--world-size", "8"], []),
        (["--max-size", "1kB"], []),
        (["--min-size", "1kB", "--tag", "traces"], ["third"]),
    ],
)
def test_runs_are_listed_by_what_they_meet(three: Archive, options: list[str], runs: list[str]) -> None:
    """All conditions together; also without the word `list`."""
    assert [run["run"] for run in three.json("runs", *options)] == runs


def test_the_list_says_what_runs_take_and_what_stands_open(own_demo: Archive) -> None:
    """Bytes of the traces and of the run file, findings by severity once it was checked."""
    (before,) = own_demo.json("runs")
    own_demo.run("check", "latest")
    (after,) = own_demo.json("runs")

    assert before["trace_bytes"] == sum(path.stat().st_size for path in Path(TRACES).iterdir())
    assert after["stored_bytes"] == (own_demo.home / "runs" / "demo.kgl").stat().st_size
    assert (before["errors"], before["warnings"]) == (0, 0)
    found = own_demo.json("check", "demo")
    for severity in ("error", "warning", "note"):
        assert after[f"{severity}s"] == sum(each["severity"] == severity for each in found)
    assert after["errors"] > 0
    assert "1 run, " in own_demo.run("runs").stderr.decode()


def test_every_verb_takes_latest_and_names(three: Archive) -> None:
    """The newest, the one before, and a run by what it was called."""
    assert three.json("runs", "show", "latest")["run"] == "third"
    assert three.json("runs", "show", "latest~2")["run"] == "first"
    assert three.json("check", "latest~1") == three.json("check", "second")
    assert three.json("query", "archive/show_run", "--run", "latest~1")[0]["run"] == "second"
    assert "there are 3 runs" in three.fails("check", "latest~3", code=2)
    assert "Near it: third" in three.fails("export", "thrid", "-o", "/nowhere", code=2)


def test_notes_and_names_are_kept(own_demo: Archive) -> None:
    """A name serves as a word for the run; its id stays."""
    assert own_demo.json("runs", "rename", "demo", "the slow one") == {"run": "demo", "name": "the slow one"}
    assert own_demo.json("runs", "note", "the slow one", "look at rank 2") == {
        "run": "demo",
        "note": "look at rank 2",
    }

    (run,) = own_demo.json("runs")
    assert (run["run"], run["name"], run["note"]) == ("demo", "the slow one", "look at rank 2")
    assert own_demo.json("runs", "note", "demo", "")["note"] is None
    assert "one line" in own_demo.fails("runs", "rename", "demo", "a\nb", code=2)


def test_verify_finds_what_is_no_longer_as_it_was(archive: Archive, tmp_path: Path) -> None:
    """Ok at first, from any folder; then one file changed, one gone: exit 3, both named."""
    shutil.copytree(TRACES, tmp_path / "traces")
    archive.run("import", tmp_path / "traces", "--run", "demo")
    assert {row["status"] for row in archive.json("runs", "verify")} == {"ok"}

    with (tmp_path / "traces" / "et_rank1.json.gz").open("ab") as stream:
        stream.write(b"x")
    (tmp_path / "traces" / "rank_0").unlink()
    rows = archive.json("runs", "verify", "latest", code=3)

    assert len(rows) == FILES + 1
    wrong = {row["file"]: row["status"] for row in rows if row["status"] != "ok"}
    assert wrong == {"et_rank1.json.gz": "changed", "rank_0": "missing"}


def test_verify_finds_a_damaged_run(own_demo: Archive) -> None:
    """One byte of its file; it can still be deleted by its id."""
    path = own_demo.home / "runs" / "demo.kgl"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)

    (row,) = own_demo.json("runs", "verify", code=3)
    assert row["status"] == "damaged"
    assert "damaged" in own_demo.fails("runs", "show", "demo", code=4)
    own_demo.run("runs", "delete", "demo")
    assert not path.exists()


def test_runs_are_deleted_by_name_at_once_by_condition_with_consent(archive: Archive) -> None:
    """Off a terminal --yes is the consent; a wrong name keeps all."""
    traces = [path for path in Path(TRACES).iterdir() if path.name.startswith("et_")]
    for run in ("a", "b", "c", "d"):
        archive.run("import", *traces, "--run", run)
    archive.run("runs", "tag", "a", "old")
    archive.run("runs", "tag", "b", "old")

    assert "2 runs would go: a, b. --yes" in archive.fails("runs", "delete", "--tag", "old", code=2)
    assert "no run x" in archive.fails("runs", "delete", "c", "x", code=2)
    assert "name the runs" in archive.fails("runs", "delete", code=2)
    assert len(archive.json("runs")) == 4

    archive.run("runs", "delete", "--tag", "old", "--yes")
    archive.run("runs", "delete", "latest", "latest~1")
    assert archive.json("runs") == []


def test_a_run_moves_to_another_archive_as_one_file(own_demo: Archive, tmp_path: Path) -> None:
    """Out, in, in again without a change; under another id; and what is no such file is one line."""
    file = tmp_path / "moved.zip"
    other = Archive(tmp_path / "other")
    (out,) = own_demo.json("runs", "export-archive", "latest", "-o", file)

    assert other.json("runs", "import-archive", file) == [out]
    assert other.json("runs", "import-archive", file)[0]["unchanged"] is True
    assert other.json("runs", "import-archive", file, "--run", "again")[0]["run"] == "again"
    assert other.json("check", "demo") == own_demo.json("check", "demo")
    file.write_bytes(file.read_bytes()[:-9])
    assert "no whole archive" in other.fails("runs", "import-archive", file, "--run", "third", code=3)
    assert [run["run"] for run in other.json("runs")] == ["demo", "again"]


def test_a_query_is_asked_of_many_runs_with_the_run_in_front(three: Archive) -> None:
    """The rows of each run, the oldest first, as it gives them alone."""
    rows = three.json("query", "time/show_steps", "--runs", "all")

    assert list(dict.fromkeys(row["run"] for row in rows)) == ["first", "second", "third"]
    assert next(iter(rows[0])) == "run"
    alone = three.json("query", "time/show_steps", "--run", "second")
    assert [row for row in rows if row["run"] == "second"] == [{"run": "second", **row} for row in alone]
    tagged = three.json("query", "time/show_steps", "--tag", "traces")
    assert {row["run"] for row in tagged} == {"third"}


def test_the_row_limit_counts_over_all_runs_and_says_where_it_cut(three: Archive) -> None:
    """16 rows a run would be too many: it ends in the second."""
    each = len(three.json("query", "time/show_steps", "--run", "first"))
    done = three.run(
        "query", "time/show_steps", "--runs", "all", "--limit", str(each + 1), "--format", "json"
    )

    assert len(json.loads(done.stdout)) == each + 1
    assert f"cut at {each + 1} rows in run second" in done.stderr.decode()


def test_mistakes_over_many_runs_are_one_line(three: Archive) -> None:
    """No run selected, both ways of naming runs, wrong dates and sizes."""
    ask = ["query", "time/show_steps"]
    assert "no run is selected" in three.fails(*ask, "--tag", "none", code=2)
    assert "leave one of them out" in three.fails(*ask, "--run", "first", "--runs", "all", code=2)
    assert "is no date" in three.fails(*ask, "--since", "monday", code=2)
    assert "is no size" in three.fails("runs", "--min-size", "big", code=2)


def test_sums_over_runs_are_those_of_each_run(three: Archive) -> None:
    """What the archive keeps per name is what a run gives when it is asked; also of one run alone."""
    kept = three.json("query", "archive/show_sums_by_name")
    asked = three.json("query", "time/show_time_by_name", "--runs", "all")

    sums = {(row["run"], row["name"]): (row["ops"], row["duration_ns"], row["self_ns"]) for row in kept}
    own = {(row["run"], row["name"]): (row["ops"], row["duration_ns"], row["self_ns"]) for row in asked}
    assert own
    assert {key: sums[key] for key in own} == own
    one = three.json("query", "archive/show_sums_by_name", "--run", "third")
    assert one == [row for row in kept if row["run"] == "third"]


def test_a_trend_shows_each_run_and_the_first_that_changed(three: Archive) -> None:
    """The third run was read without dumps, so it has fewer files; its host ops are the same."""
    files = ["runs", "trend", "archive/count_labels", "nodes", "--by", "label"]
    changes = {row["label"]: row for row in three.json(*files)}

    assert changes["TraceFile"]["changed_in"] == "third"
    assert (changes["TraceFile"]["first"], changes["TraceFile"]["last"]) == (FILES, 2 * RANKS)
    assert changes["HostOp"]["changed_in"] is None
    points = three.run("runs", "trend", "archive/show_sums_by_kind", "ops", "--format", "csv")
    assert len(points.stdout.splitlines()) == 1 + 3
    told = three.run("runs", "trend", "archive/show_files", "size_bytes").stderr.decode()
    assert "first changed by more than 5 % in run third" in told
    assert "near it: nodes" in three.fails("runs", "trend", "archive/count_labels", "node", code=2)
