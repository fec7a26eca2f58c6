"""`graphstore hang` as a process: the answer, its formats, the exit codes, files that are refused."""

from __future__ import annotations

import csv
import io
import json
import pickle
import shutil
from pathlib import Path
from typing import Any

import pytest

from graphstore import api
from graphstore.demo import TRACES
from graphstore.readers import parallel
from graphstore.settings import Settings
from tests.integration.test_cli import Archive

DATA = Path(__file__).parents[1] / "data"
SKIPS = DATA / "rank_skips_a_call"
CHAIN = DATA / "waits_in_a_chain"
SKIPPED = (
    "rank 3 never called all_reduce #6 on default_pg[0-3]; ranks 0-2 wait in it at gen_fr.py:82; "
    "3 ranks are held up in all"
)
CHAINED = "rank 2 never called all_to_all #81 on EP_INV[0,2]; rank 0 waits in it; 3 ranks are held up in all"


class Evil:
    """An object whose pickle makes a file when it is loaded."""

    def __init__(self, marker: Path) -> None:
        """Keep the path of the file."""
        self.marker = marker

    def __reduce__(self) -> Any:
        """Return the call that loading makes."""
        return open, (str(self.marker), "w")


@pytest.fixture
def command(tmp_path: Path) -> Archive:
    """Return the command line, with an archive that is never made."""
    return Archive(tmp_path / "home")


@pytest.fixture
def dumps(tmp_path: Path) -> Path:
    """Return a folder of dumps that a test may change."""
    folder = tmp_path / "dumps"
    shutil.copytree(SKIPS, folder)
    return folder


def test_the_answer_comes_first_then_the_evidence(command: Archive) -> None:
    """A line names rank, call, group, site and who suffers; below it stands a row for each rank."""
    done = command.run("hang", SKIPS)

    answer, blank, names, *rows = done.stdout.decode().splitlines()
    assert answer == SKIPPED
    assert blank == ""
    assert names.split()[:3] == ["group", "pg_name", "rank"]
    assert [row.split() for row in rows] == [
        *(
            ["default_pg[0-3]", "0", str(rank), "kept", "1", "6", "6", "all_reduce", "#6", "gen_fr.py:82"]
            for rank in range(3)
        ),
        ["default_pg[0-3]", "0", "3", "kept", "1", "5", "5"],
    ]
    assert done.stderr == b""
    assert not command.home.exists()


def test_json_is_one_object_with_all_of_it(command: Archive) -> None:
    """Health, culprits as {rank, confidence, basis}, findings, groups, verdicts, windows and waits."""
    record = command.json("hang", CHAIN)

    assert record["healthy"] is False
    assert record["culprits"] == [
        {"rank": 2, "confidence": "high", "basis": "proven by pg_status and the dump"}
    ]
    assert [finding["message"] for finding in record["findings"]] == [CHAINED]
    assert [group["group"] for group in record["groups"]] == [
        "default_pg[0-3]",
        "TP_INV[0,1]",
        "TP_INV[2,3]",
        "EP_INV[0,2]",
        "EP_INV[1,3]",
    ]
    assert record["verdicts"] == {"INCOMPLETE": 4, "MATCHED": 1}
    assert len(record["windows"]) == 12
    assert [(wait["ranks"], wait["call"], wait["waits_for"]) for wait in record["waits"]] == [
        ([0], "all_to_all #81", {"2": "never"}),
        ([1], "all_to_all #81", {"3": "never"}),
        ([3], "all_reduce #41", {"2": "never"}),
    ]
    assert record["notes"] == ["EMPTY_DUMP rank 2"]
    assert record["refused"] == []


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_the_other_formats_are_the_rows_of_evidence(form: str, command: Archive) -> None:
    """A row for each group and rank on stdout, and the answer on stderr."""
    done = command.run("hang", CHAIN, "--format", form)

    text = done.stdout.decode()
    rows = (
        list(csv.DictReader(io.StringIO(text)))
        if form == "csv"
        else [json.loads(line) for line in text.splitlines()]
    )
    assert [int(row["rank"]) for row in rows] == [0, 1, 2, 3, 0, 1, 2, 3, 0, 2, 1, 3]
    assert done.stderr.decode().splitlines()[0] == CHAINED


def test_strict_is_1_for_a_proven_problem_only(command: Archive) -> None:
    """A culprit is exit code 1 with --strict; a healthy run is 0, and so is a culprit without it."""
    command.run("hang", SKIPS, "--strict", code=1)
    command.run("hang", SKIPS)

    done = command.run("hang", TRACES, "--strict")

    assert done.stdout.decode().splitlines()[0] == "healthy: 33 calls of 4 ranks were matched"


def test_a_rank_without_a_dump_is_undecided_and_says_what_is_lacking(command: Archive, dumps: Path) -> None:
    """The dump of rank 3 is gone: it is suspected, and its dump would decide it."""
    (dumps / "rank_3").unlink()

    done = command.run("hang", dumps)

    lines = done.stdout.decode().splitlines()
    assert lines[0].startswith("undecided: rank 3 has no readable dump, and rank 0 waits for it")
    assert lines[1] == "would decide it: the dump of rank 3"
    assert done.stderr.decode() == "note: NO_DUMP rank 3\n"


def test_the_rank_of_a_file_can_be_said(command: Archive, dumps: Path) -> None:
    """A file whose name tells no rank is set aside, and with --rank it is matched."""
    (dumps / "rank_3").rename(dumps / "last")

    without = command.run("hang", dumps)
    given = command.run("hang", dumps, "--rank", "last=3")

    assert "set aside: last: its rank is not known" in without.stderr.decode()
    assert "would decide it: the rank of last, as in --rank last=N" in without.stdout.decode()
    assert given.stdout.decode().splitlines()[0] == SKIPPED


@pytest.mark.parametrize("looks_like_a_dump", [True, False])
def test_a_malicious_pickle_is_refused_in_one_line_and_never_run(
    looks_like_a_dump: bool, command: Archive, dumps: Path
) -> None:
    """The others are analysed, the exit code is 3, and what the pickle would do is not done."""
    marker = dumps.parent / "marker"
    evil: dict[str, Any] = {"entries": [Evil(marker)]}
    if looks_like_a_dump:
        evil = {"version": "2.10", "pg_config": {}, "pg_status": {}, **evil}
    (dumps / "rank_3").write_bytes(pickle.dumps(evil, protocol=2))

    done = command.run("hang", dumps, "--quiet", code=3)

    (line,) = done.stderr.decode().splitlines()
    assert "rank_3" in line
    assert "run" in line
    assert "rank 3 has no readable dump" in done.stdout.decode()
    assert not marker.exists()


def test_reading_processes_and_the_order_of_files_change_nothing(
    dumps: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reduced there or here, in any order: the same record, and a refused file stays one refused line."""
    (dumps / "rank_4").write_bytes(
        b"\x80\x02}q\x00(X\x07\x00\x00\x00versionX\x04\x00\x00\x002.10cos\nsystem\n."
    )
    (dumps / "rank_5").write_bytes((dumps / "rank_3").read_bytes()[:-100])
    paths = [str(path) for path in sorted(dumps.iterdir()) if path.name.startswith("rank_")]
    monkeypatch.setattr(parallel, "PAYS_BYTES", 1)

    here = api.hang_files(paths, Settings(store="", processes=1)).record
    there = api.hang_files(paths, Settings(store="", processes=2)).record
    turned = api.hang_files(paths[::-1], Settings(store="", processes=2)).record

    assert [culprit["rank"] for culprit in here["culprits"]] == [3]
    assert len(here["refused"]) == 2
    assert all(len(line.splitlines()) == 1 for line in here["refused"])
    assert there == here
    assert turned | {"refused": turned["refused"][::-1]} == here


def test_files_without_a_dump_or_trace_are_one_line(command: Archive, tmp_path: Path) -> None:
    """A folder that holds neither says what is wanted; a file that is none is named; both exit with 3."""
    (tmp_path / "notes.txt").write_text("nothing of the kind")

    in_folder = command.fails("hang", tmp_path, code=3)
    named = command.fails("hang", tmp_path / "notes.txt", code=3)

    assert "no trace among 1 files. Want Flight Recorder dumps, execution traces or Kineto" in in_folder
    assert "notes.txt: is no trace" in named


def test_without_dumps_the_traces_are_matched(command: Archive, tmp_path: Path) -> None:
    """Traces of the demo run alone, whose gloo calls name no group: nobody blamed, and dumps would decide."""
    for path in TRACES.glob("*.json.gz"):
        shutil.copy(path, tmp_path / path.name)

    record = command.json("hang", tmp_path)

    assert record["source"] == "traces"
    assert record["healthy"] is None
    assert record["culprits"] == []
    assert record["would_decide"] == ["Flight Recorder dumps: traces do not say which calls are unfinished"]


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "healthy", "culprits"),
    [
        ("fr/gloo/miss", None, []),
        ("fr/gloo/skip", False, [3]),
        ("mini/09-flight-recorder-hang", False, [2]),
        ("mini/09-flight-recorder-hang/pickle", False, [2]),
        ("public/fr_nvrx/gpu_error_1st", False, [12, 14]),
        ("mini/16-cross-rank-subgroups", False, []),
        ("demo_4r", True, []),
    ],
)
def test_real_sets_get_their_answer(
    name: str, healthy: bool | None, culprits: list[int], command: Archive, data_dir: Path
) -> None:
    """Recorded jobs as their folders lie, other files among the dumps and all."""
    record = command.json("hang", data_dir / name)

    assert record["healthy"] is healthy
    assert [culprit["rank"] for culprit in record["culprits"]] == culprits
    assert record["refused"] == []
    assert bool(record["would_decide"]) is (healthy is None)
