from __future__ import annotations

import subprocess
import sys
import typing
from collections.abc import Callable
from pathlib import Path

import pytest
import typer

from graphstore import api
from graphstore.cli import app
from graphstore.errors import GraphstoreError, InputError, LedgerError, StoreError, UsageError

README = Path(app.__file__).resolve().parents[2] / "README.md"


def commands() -> list[str]:
    """Return every command of the command line, those of groups as `runs list`."""
    root = typing.cast(typing.Any, typer.main.get_command(app.app))
    return [
        f"{name} {inner}" if inner else name
        for name, command in root.commands.items()
        for inner in getattr(command, "commands", {"": None})
    ]


def raising(error: BaseException) -> Callable[..., object]:
    """Return a function that raises `error`, whatever it is called with."""

    def fail(*_: object, **__: object) -> object:
        raise error

    return fail


@pytest.mark.parametrize("command", commands())
def test_every_verb_has_help_and_stands_in_the_readme(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The README's pages of help are those of the program, verb for verb."""
    monkeypatch.setenv("COLUMNS", "100")

    assert app.main([*command.split(), "--help"]) == 0

    shown = capsys.readouterr().out
    assert len(shown.splitlines()[2].strip()) > 20, "the help says what the verb does"
    assert f"graphstore {command}" in README.read_text(encoding="utf-8")


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["convert", "--help"]])
def test_help_and_version_wait_for_no_large_library(words: list[str]) -> None:
    """They are asked for often; polars, numpy and an engine take half a second to import."""
    program = "import sys; from graphstore.cli.app import main; main(sys.argv[1:]); print(*sys.modules)"

    shown = subprocess.run(
        [sys.executable, "-c", program, *words], capture_output=True, text=True, check=True
    ).stdout

    loaded = shown.splitlines()[-1].split()
    assert "graphstore.cli.convert" in loaded, "the verb itself was loaded"
    assert not {"polars", "numpy", "kglite", "neo4j", "pandas", "google.protobuf", "rich"} & set(loaded)


def test_without_words_the_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """`graphstore` alone lists the verbs and is no error."""
    assert app.main([]) == 0
    assert "convert" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [
        ["nope"],
        ["import"],
        ["convert", "x"],
        ["query", "structure/find_missing_parents", "--format", "xml"],
        ["query", "structure/find_missing_parents", "--limit", "0"],
        ["query", "nope"],
        ["queries", "show", "nope"],
        ["repair", "x", "--unsafe"],
        ["repair", "x", "--undo", "--apply"],
        ["runs", "tag", "x"],
        ["import", "x", "--rank", "x"],
        ["export", "x", "-o", "out", "--format", "table"],
    ],
)
def test_a_mistake_in_the_words_is_one_line_and_exit_2(
    words: list[str],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing on stdout, one line on stderr that begins with the program's name."""
    monkeypatch.setenv("GRAPHSTORE_HOME", str(tmp_path))

    assert app.main(words) == 2

    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("graphstore: ")
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("what"), 2),
        (InputError("what"), 3),
        (StoreError("what"), 4),
        (LedgerError("what"), 1),
        (GraphstoreError("what"), 1),
        (KeyboardInterrupt(), 130),
        (OSError(28, "No space left on device", "out"), 3),
        (RuntimeError("two\nlines"), 1),
    ],
)
def test_every_failure_is_one_line_and_its_exit_code(
    error: BaseException, code: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each error of the family has its exit code; whatever else happens is one line, too."""
    monkeypatch.setattr(api, "list_runs", raising(error))

    assert app.main(["runs"]) == code

    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert "Traceback" not in captured.err


def test_a_defect_says_where_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unforeseen error names the line of graphstore it came from, so that it can be reported."""
    monkeypatch.setattr(api, "list_runs", raising(KeyError("uid")))

    app.main(["runs"])

    assert "a defect of graphstore at graphstore/cli/runs.py:" in capsys.readouterr().err
