"""Completion, called as shells call it: words in the environment, candidates on stdout, never a complaint."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from graphstore.store.names import RUN_ENDING, RUNS_FOLDER
from tests.integration.terminal import environment

# As the console script does, and then the modules that were loaded, on the other stream.
PROGRAM = (
    "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr)); "
    "sys.argv[0] = 'graphstore'; from graphstore.cli.app import main; sys.exit(main())"
)
HEAVY = {"polars", "numpy", "kglite", "neo4j", "pandas", "scipy", "google.protobuf"}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return an archive with three runs; nothing looks into their files."""
    folder = tmp_path / "home" / RUNS_FOLDER
    folder.mkdir(parents=True)
    for run in ("nightly-1", "nightly-2", "other"):
        (folder / f"{run}{RUN_ENDING}").write_bytes(b"")
    return tmp_path / "home"


def asked(shell: str, words: str, cwd: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Complete the last word of a command line in a shell's way."""
    told = {
        "_GRAPHSTORE_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
        "_TYPER_COMPLETE_ARGS": words,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    return subprocess.run(
        [sys.executable, "-c", PROGRAM], env=env | told, cwd=cwd, capture_output=True, text=True, timeout=60
    )


def candidates(words: str, cwd: Path, env: dict[str, str]) -> list[str]:
    """Return what bash is given."""
    return asked("bash", words, cwd, env).stdout.split()


def test_runs_of_the_archive_are_completed_in_each_shell(home: Path, tmp_path: Path) -> None:
    """bash and fish get a line each, zsh the words of its own command."""
    env = environment(home)

    told = {shell: asked(shell, "graphstore check night", tmp_path, env) for shell in ("bash", "zsh", "fish")}

    assert told["bash"].stdout.split() == told["fish"].stdout.split() == ["nightly-1", "nightly-2"]
    assert told["zsh"].stdout.split("((")[1].split() == ['"nightly-1"', '"nightly-2"))\'']
    assert {done.returncode for done in told.values()} == {0}


def test_completing_a_run_loads_no_engine(home: Path, tmp_path: Path) -> None:
    """The shell waits for the answer at each key: the names of files tell the runs."""
    done = asked("bash", "graphstore export ot", tmp_path, environment(home))

    assert done.stdout.split() == ["other"]
    assert not HEAVY & set(done.stderr.split())


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("graphstore conv", ["convert"]),
        ("graphstore runs --format js", ["json", "jsonl"]),
        ("graphstore export other --format p", ["perfetto", "parquet"]),
        ("graphstore query --run o", ["other"]),
        ("graphstore runs show night", ["nightly-1", "nightly-2"]),
        ("graphstore import tra", []),  # the shell itself completes files
        ("graphstore check tra", []),
        ("graphstore check nope", []),
    ],
)
def test_words_are_completed_by_their_place(
    home: Path, tmp_path: Path, words: str, wanted: list[str]
) -> None:
    """Verbs, forms, runs; where a file is wanted the shell is left to do it."""
    (tmp_path / "traces").mkdir()

    assert candidates(words, tmp_path, environment(home)) == wanted


def test_a_word_may_be_a_run_or_a_file(home: Path, tmp_path: Path) -> None:
    """`check` takes both: where a run begins so, the files stand beside it."""
    (tmp_path / "others.json").write_text("")

    assert candidates("graphstore check oth", tmp_path, environment(home)) == ["other", "others.json"]


def test_the_store_is_that_of_the_command_line_or_the_config_file(home: Path, tmp_path: Path) -> None:
    """--store typed before stands before the project's file."""
    (tmp_path / "graphstore.toml").write_text(f'store = "{home}"\n')
    elsewhere = {k: v for k, v in environment(home).items() if k != "GRAPHSTORE_HOME"}
    (tmp_path / "b" / RUNS_FOLDER).mkdir(parents=True)
    (tmp_path / "b" / RUNS_FOLDER / f"only{RUN_ENDING}").write_bytes(b"")

    assert candidates("graphstore check oth", tmp_path, elsewhere) == ["other"]
    assert candidates("graphstore check --store b o", tmp_path, elsewhere) == ["only"]


@pytest.mark.parametrize(
    ("config", "uri"),
    [
        ("", "bolt://127.0.0.1:1"),  # nobody listens
        ("", "bolt://10.255.255.1:7687"),  # nobody answers
        ("nonsense = 1\n", ""),
        ('store = "/absent"\n', ""),
    ],
)
def test_what_is_wrong_is_not_told_while_a_person_types(tmp_path: Path, config: str, uri: str) -> None:
    """No server, a broken file, no archive: no candidate, no word on the terminal, and no long wait."""
    (tmp_path / "graphstore.toml").write_text(config)
    env = {k: v for k, v in environment(tmp_path).items() if k != "GRAPHSTORE_HOME"}

    done = asked("bash", "graphstore check x", tmp_path, {**env, "GRAPHSTORE_URI": uri})

    assert (done.returncode, done.stdout.strip()) == (0, "")
    assert len(done.stderr.splitlines()) == 1, "the modules of PROGRAM, and nothing else"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_for_a_shell_is_shown(home: Path, shell: str) -> None:
    """It names what the shell has to call; a shell that is installed takes it, and shows it as its own."""
    env = environment(home, _GRAPHSTORE_COMPLETE=f"source_{shell}")

    done = subprocess.run([sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True)

    assert done.returncode == 0
    assert f"_GRAPHSTORE_COMPLETE=complete_{shell}" in done.stdout
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=done.stdout, text=True, check=True)


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash on this machine")
def test_bash_completes_with_what_was_installed(home: Path, tmp_path: Path) -> None:
    """--install-completion writes into a home folder what a new bash then completes with."""
    person = tmp_path / "person"
    (person / "bin").mkdir(parents=True)
    command = person / "bin" / "graphstore"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{PROGRAM}" "$@" 2>/dev/null\n')
    command.chmod(0o755)
    env = environment(home, HOME=str(person), PATH=f"{command.parent}{os.pathsep}{os.environ['PATH']}")

    subprocess.run([command, "--install-completion", "bash"], env=env, check=True, capture_output=True)
    done = subprocess.run(
        ["bash", "-c", 'source ~/.bashrc; COMP_WORDS=(graphstore check night); COMP_CWORD=2; '
         '_graphstore_completion graphstore; echo "${COMPREPLY[@]}"'],
        env=env, capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert done.stdout.split() == ["nightly-1", "nightly-2"]
