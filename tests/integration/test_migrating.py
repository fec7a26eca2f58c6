"""The commands of docs/migrating.md, from top to bottom, on the run that ships with the package."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from graphstore.cli.app import main
from graphstore.demo import TRACES

REPOSITORY = Path(__file__).resolve().parents[2]
PAGE = REPOSITORY / "docs" / "migrating.md"
DUMPS = REPOSITORY / "tests" / "data" / "rank_skips_a_call"
COMMANDS = re.compile(r"`(graphstore [^`]+)`|^(graphstore .+)$", re.MULTILINE)  # in a table, in a block
FOLDERS = {"linked", "et", "out", "converted", "json", "timeline", "tables"}
PICTURES = {"one.dot", "part.dot", "one.graphml"}
FINDS = 1  # exit code of a command that is asked to find, and does


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with what the page assumes: traces of a run, dumps of a job that hangs; no archive."""
    shutil.copytree(TRACES, tmp_path / "traces", ignore=shutil.ignore_patterns("rank_?", "*.md", "*.py"))
    shutil.copytree(DUMPS, tmp_path / "dumps", ignore=shutil.ignore_patterns("*.md"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GRAPHSTORE_URI", raising=False)
    monkeypatch.setenv("GRAPHSTORE_HOME", str(tmp_path / "home"))
    return tmp_path


def test_every_command_of_the_page_runs(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Each ends with 0, or with 1 where --strict finds what there is; none is left out."""
    found = ["".join(groups) for groups in COMMANDS.findall(PAGE.read_text(encoding="utf-8"))]

    for command in found:
        code = main(shlex.split(command)[1:])
        expected = FINDS if " hang " in command and "--strict" in command else 0
        assert code == expected, (command, capfd.readouterr().err)

    assert len(found) > 30
    assert {path.name for path in folder.iterdir()} >= FOLDERS | PICTURES
