from __future__ import annotations

import json
from typing import Any

import pytest

from graphstore.api import ImportResult
from graphstore.cli import report
from graphstore.cli.output import Format
from graphstore.queries import Finding


def finding(severity: str, status: str = "open") -> Finding:
    """Return a finding of a severity and status."""
    return Finding("run:rule:1", "run", "rule", severity, "high", "a fact", {"id": 4}, 0, status)


def imported(**changes: Any) -> ImportResult:
    """Return the result of an import of one file."""
    facts = {
        "name": "a.json",
        "kind": "et",
        "rank": 0,
        "records_read": 10,
        "kept": 8,
        "left_out": '{"python_function": 2}',
        "problem": None,
    }
    values: dict[str, Any] = {
        "run": "r",
        "unchanged": False,
        "files": [facts],
        "counts": {"HostOp": 8, "Rank": 1, "CTRL": 7},
        "problems": [],
        "skipped_folders": [],
    }
    return ImportResult(**values | changes)


def test_the_ledger_names_each_reason_for_leaving_out(capsys: pytest.CaptureFixture[str]) -> None:
    """A table shows, a row a file, what was read, kept and left out for which reason."""
    report.show_imports([imported()], Format.TABLE)

    names, row = capsys.readouterr().out.splitlines()
    assert names.split() == list(report.LEDGER_COLUMNS)
    assert row.split() == ["r", "a.json", "et", "0", "10", "8", "python_function", "2"]


def test_an_import_in_json_is_an_object_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    """JSON gives run, counts and problems beside the ledger."""
    report.show_imports([imported(problems=["b.json: cut"])], Format.JSON)

    (shown,) = json.loads(capsys.readouterr().out)
    assert shown["run"] == "r"
    assert shown["problems"] == ["b.json: cut"]
    assert shown["files"][0]["kept"] == 8


def test_what_was_imported_is_said_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Nodes and edges are counted apart; labels and relationship types come in one dict."""
    report.say_import(imported(), quiet=False)

    assert capsys.readouterr().err == "run r: 1 file, 1 rank, 9 nodes, 7 edges\n"


def test_problems_are_said_even_when_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    """--quiet silences remarks, never a file that could not be read."""
    report.say_import(imported(problems=["b.json: cut"], skipped_folders=["sub"]), quiet=True)

    assert capsys.readouterr().err == "graphstore: b.json: cut\n"
    assert report.problems_code([imported(problems=["b.json: cut"])]) == 3
    assert report.problems_code([imported()]) == 0


@pytest.mark.parametrize(
    ("findings", "strict", "code"),
    [
        ([finding("error")], True, 1),
        ([finding("error")], False, 0),
        ([finding("error", "repaired"), finding("warning")], True, 0),
        ([], True, 0),
    ],
)
def test_strict_is_about_open_errors(findings: list[Finding], strict: bool, code: int) -> None:
    """Only a finding of severity error that is still open fails a --strict call."""
    assert report.strict_code(findings, strict) == code


def test_findings_are_counted_by_severity_and_status(capsys: pytest.CaptureFixture[str]) -> None:
    """The remark tells what is open from what was repaired."""
    report.say_findings([finding("error", "repaired"), finding("note"), finding("note")], quiet=False)

    assert capsys.readouterr().err == "findings: 1 error repaired, 2 notes open\n"
