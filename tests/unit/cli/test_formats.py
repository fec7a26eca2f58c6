from __future__ import annotations

import json
import re
import typing
from pathlib import Path

import pytest
import typer

from graphstore.cli import app
from graphstore.cli.output import Format

FORMS = "|".join(form.value for form in Format)
WITHOUT = {  # commands whose rows have no --format, and why
    "draw": "its result is a picture, in the forms of --format",
    "export": "--format says which files are written; --summary is the form of the rows",
    "runs delete": "of what is gone there are no rows",
}


def commands() -> list[str]:
    """Return every command of the command line, those of groups as `runs list`."""
    root = typing.cast(typing.Any, typer.main.get_command(app.app))
    return [
        f"{name} {inner}" if inner else name
        for name, command in root.commands.items()
        for inner in getattr(command, "commands", {"": None})
    ]


def takes_every_form(command: str, option: str, capsys: pytest.CaptureFixture[str]) -> bool:
    """Return whether the help of a command lists every form for an option."""
    assert app.main([*command.split(), "--help"]) == 0
    return bool(re.search(rf"{option}\s+\W{re.escape(FORMS)}\W", capsys.readouterr().out))


@pytest.mark.parametrize("command", sorted(set(commands()) - set(WITHOUT)))
def test_every_verb_gives_its_rows_in_every_form(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """table, json, jsonl, csv, parquet: whoever adds a verb adds them, or says above why not."""
    assert takes_every_form(command, "--format", capsys)


def test_an_export_tells_what_it_wrote_in_every_form(capsys: pytest.CaptureFixture[str]) -> None:
    """Where --format names files, --summary has the forms of rows."""
    assert takes_every_form("export", "--summary", capsys)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder: an empty archive and a file that asks for JSON lines."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GRAPHSTORE_HOME", str(tmp_path / "archive"))
    (tmp_path / "graphstore.toml").write_text('format = "jsonl"\n')
    return tmp_path


@pytest.mark.parametrize("words", [["queries"], ["queries", "list"], ["doctor"]])
def test_the_form_of_a_config_file_holds_where_the_command_line_says_nothing(
    words: list[str], project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """JSON lines come without a word; --format stands before the file, even with what is the default else."""
    assert app.main(words) == 0
    assert isinstance(json.loads(capsys.readouterr().out.splitlines()[0]), dict)

    assert app.main([*words, "--format", "table"]) == 0
    assert not capsys.readouterr().out.startswith("{")


def test_help_is_given_whatever_the_config_file_says(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Who reads how to mend a call is not stopped by the mistake in it."""
    (project / "graphstore.toml").write_text("nonsense = 1\n")

    assert app.main(["queries", "list", "--help"]) == 0
    assert app.main(["queries", "list"]) == 2
    assert capsys.readouterr().err.startswith(f"graphstore: {project / 'graphstore.toml'}:1: no key nonsense")
