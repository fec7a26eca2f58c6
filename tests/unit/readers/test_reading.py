from __future__ import annotations

import gzip
import json
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphstore.readers import read_file
from graphstore.settings import Settings
from tests.data.trace_text import op, trace

SETTINGS = Settings(store="")
ET = trace(*(op(n, f"aten::op{n}", 2) for n in range(5, 300)))


def read(path: Path, *, explicit: bool = True) -> dict[str, Any]:
    """Return the facts of a file; its ledger must balance."""
    records = read_file(str(path), SETTINGS, explicit)
    records.tally.check(str(path))
    assert records.facts["records_read"] == records.tally.read
    return records.facts


def test_facts_hold_the_file_and_its_ledger(tmp_path: Path) -> None:
    """Every record carries what the TraceFile node needs."""
    file = tmp_path / "et_rank0.json.gz"
    file.write_bytes(gzip.compress(ET.encode()))

    facts = read(file)

    assert facts.get("problem") is None
    assert (facts["kind"], facts["name"], facts["compression"]) == ("et", "et_rank0.json.gz", "gz")
    assert (facts["records_read"], facts["kept"], facts["left_out"]) == (297, 297, "{}")
    assert len(facts["sha256"]) == 64


def test_reading_a_trace_loads_the_reader_it_needs_and_no_other(tmp_path: Path) -> None:
    """Each reading process pays for what it imports; pandas alone takes longer than a small file."""
    file = tmp_path / "et_rank0.json"
    file.write_text(ET)
    program = (
        "import sys; from graphstore.readers import read_file; from graphstore.settings import Settings; "
        "read_file(sys.argv[1], Settings(store=''), True); print(*sys.modules)"
    )

    shown = subprocess.run(
        [sys.executable, "-c", program, str(file)], capture_output=True, text=True, check=True
    ).stdout

    loaded = shown.split()
    assert "graphstore.readers.execution_trace" in loaded
    others = ("kineto", "flight_recorder", "chakra_trace")
    assert not {f"graphstore.readers.{name}" for name in others} & set(loaded)
    assert not {"pandas", "pyarrow", "scipy", "google.protobuf"} & set(loaded)


def zeros(file: Path) -> None:
    """Make a (sparse) gigabyte of zeros."""
    with file.open("wb") as stream:
        stream.truncate(1 << 30)


def deep(file: Path) -> None:
    """Make a trace with 10,000 lists in each other."""
    file.write_text(ET.replace("[]", "[" * 10_000 + "]" * 10_000, 1))


def cut_before_content(file: Path) -> None:
    """Make a gz file of which only the header is left."""
    file.write_bytes(gzip.compress(ET.encode())[:12])


def evil(file: Path) -> None:
    """Make a pickle that would end the process."""
    file.write_bytes(b"cos\n_exit\n(I3\ntR.")


def misfit(file: Path) -> None:
    """Make a trace whose nodes name no parent."""
    file.write_text(json.dumps({"schema": "8.0.0", "nodes": [{"id": 1, "name": "a"}]}))


def text(file: Path) -> None:
    """Make a text file."""
    file.write_text("hello")


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (zeros, "zero bytes"),
        (deep, "nested deeper than 512"),
        (cut_before_content, "the gz stream ends early"),
        (evil, "would run code (os._exit)"),
        (misfit, "schema '8.0.0'"),
        (text, "is no trace but text"),
        (Path.mkdir, "cannot be opened"),
        (lambda file: None, "No such file"),
    ],
)
def test_bad_input_is_one_line_that_names_the_file(
    tmp_path: Path, make: Callable[[Path], None], says: str
) -> None:
    """Nothing is raised: the file has a problem, and the others go on."""
    file = tmp_path / "et_rank0.json"
    make(file)

    facts = read(file)

    assert str(file) in facts["problem"]
    assert says in facts["problem"]
    assert "\n" not in facts["problem"]
    assert facts["records_read"] == facts["kept"] == 0


def test_a_truncated_gz_keeps_its_whole_nodes(tmp_path: Path) -> None:
    """A trace cut on the way is read as far as it goes, and says where it ends."""
    file = tmp_path / "et.json.gz"
    stored = gzip.compress(ET.encode())
    file.write_bytes(stored[: len(stored) // 2])

    facts = read(file)

    assert facts.get("problem") is None
    assert 0 < facts["kept"] < 297
    assert "the gz stream ends early" in facts["cut_at"]


@pytest.mark.parametrize("explicit", [True, False])
def test_what_is_no_trace_is_a_problem_only_when_named(tmp_path: Path, explicit: bool) -> None:
    """A README in the folder is listed and counted; named on the command line it is a mistake."""
    file = tmp_path / "README.md"
    file.write_text("# How it was made\n")

    facts = read(file, explicit=explicit)

    assert facts["kind"] == "not_a_trace"
    assert ("problem" in facts) == explicit
    assert facts["left_out"] == ("{}" if explicit else '{"not a trace: text":1}')


def test_the_entries_of_a_dump_are_its_records(tmp_path: Path) -> None:
    """Each becomes a call, and none is left out."""
    file = tmp_path / "rank_0"
    entries = [{"record_id": 0, "profiling_name": "nccl:all_reduce"}]
    file.write_bytes(pickle.dumps({"version": "2.10", "entries": entries, "pg_config": {}}))

    facts = read(file)

    assert (facts["kind"], facts["records_read"]) == ("flight_recorder", 1)
    assert (facts["kept"], facts["left_out"]) == (1, "{}")
    assert facts.get("problem") is None
