"""What a person sees on a terminal: colours, the pager, narrow and old terminals, other encodings."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from graphstore.demo import TRACES
from tests.integration.terminal import COMMAND, environment, on_terminal

LONG = ("query", "MATCH (n:HostOp) WHERE n.run = $run RETURN n.uid AS uid, n.name AS name ORDER BY uid")
ROWS = 40
ESCAPE = "\x1b"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an archive with the demo run; the tests only read it."""
    home = tmp_path_factory.mktemp("home")
    words = [*COMMAND, "import", str(TRACES), "--run", "demo", "--quiet"]
    subprocess.run(words, env=environment(home), check=True, stdout=subprocess.DEVNULL)
    return home


@pytest.fixture
def pager(tmp_path: Path) -> Path:
    """Return a pager that says that it was called, and keeps what it was given."""
    path = tmp_path / "pager with a space.py"
    path.write_text(
        "import os, sys\n"
        "given = sys.stdin.read()\n"
        f"open({str(tmp_path / 'given')!r}, 'w').write(given)\n"
        "print('PAGED', len(given.splitlines()), os.environ['LESS'], *sys.argv[1:])\n"
    )
    return path


def command_of(pager: Path, *words: str) -> str:
    """Return the command line of a pager, quoted as in an environment variable."""
    return shlex.join([sys.executable, str(pager), *words])


def test_a_long_table_goes_through_the_pager_and_a_short_one_does_not(home: Path, pager: Path) -> None:
    """More lines than the terminal has: the pager, with its options. Fewer: nothing is in the way."""
    env = environment(home, GRAPHSTORE_PAGER=command_of(pager, "--one", "two words"))

    long = on_terminal([*LONG, "--limit", str(ROWS)], env)
    short = on_terminal(["runs"], env)

    assert re.search(r"PAGED \d+ FRX --one two words", long.text)
    assert "record_param_comms" not in long.text
    assert f"{ROWS} rows" in long.text or f"cut at {ROWS} rows" in long.text, "remarks come after it"
    assert long.code == 0
    assert "PAGED" not in short.text
    assert "demo" in short.text


def test_what_the_pager_is_given_is_the_whole_table(home: Path, pager: Path, tmp_path: Path) -> None:
    """Every row is in it, once."""
    env = environment(home, GRAPHSTORE_PAGER=command_of(pager))

    on_terminal([*LONG, "--limit", str(ROWS)], env, columns=200)

    uids = re.findall(r"^ *(\d+) ", (tmp_path / "given").read_text(), re.MULTILINE)
    assert len(uids) == len(set(uids)) == ROWS


def test_several_tables_are_one_page(home: Path, pager: Path) -> None:
    """`runs show` prints three tables: the pager is called once."""
    shown = on_terminal(["runs", "show", "demo"], environment(home, GRAPHSTORE_PAGER=command_of(pager)))

    assert shown.text.count("PAGED") == 1
    assert "world_size" not in shown.text


@pytest.mark.parametrize(
    ("more", "changes"),
    [
        (["--format", "json"], {}),
        (["--format", "csv"], {}),
        (["--quiet"], {}),
        ([], {"TERM": "dumb"}),
        ([], {"GRAPHSTORE_PAGER": ""}),
        ([], {"GRAPHSTORE_PAGER": "cat"}),
    ],
)
def test_there_is_no_pager_for_programs_and_old_terminals(
    home: Path, pager: Path, more: list[str], changes: dict[str, str]
) -> None:
    """Other forms, --quiet, a dumb terminal, and who says so: the rows are just shown."""
    env = environment(home, **{"GRAPHSTORE_PAGER": command_of(pager), **changes})

    shown = on_terminal([*LONG, "--limit", str(ROWS), *more], env)

    assert "PAGED" not in shown.text
    assert len(shown.text.splitlines()) > ROWS
    assert shown.code == 0


def test_an_absent_pager_hides_nothing(home: Path) -> None:
    """The rows are shown, and a line says which pager is not there."""
    shown = on_terminal([*LONG, "--limit", str(ROWS)], environment(home, GRAPHSTORE_PAGER="no-such-pager -x"))

    assert "graphstore: pager no-such-pager -x: No such file or directory" in shown.text
    assert len(shown.text.splitlines()) > ROWS
    assert shown.code == 0


def test_a_pager_that_leaves_at_once_is_no_error(home: Path) -> None:
    """Who has seen enough leaves; the exit code is the verb's own."""
    leaving = environment(home, GRAPHSTORE_PAGER=shlex.join([sys.executable, "-c", "print('LEFT')"]))

    assert on_terminal([*LONG, "--limit", "10000"], leaving).code == 0
    strict = on_terminal(["check", "demo", "--strict"], leaving, lines=5)

    assert "LEFT" in strict.text
    assert strict.code == 1


@pytest.mark.skipif(subprocess.run(["which", "less"], capture_output=True).returncode != 0, reason="no less")
def test_ctrl_c_in_less_ends_neither_it_nor_us(home: Path) -> None:
    """less stops what it is doing and asks on; `q` ends both, with the verb's code and its remark."""
    keys = [(b":", b"\x03"), (b":", b"q")]

    shown = on_terminal([*LONG, "--limit", "5000"], environment(home, PAGER="less"), keys=keys)

    assert shown.code == 0
    assert "rows" in shown.text.splitlines()[-1]
    assert "interrupted" not in shown.text


def test_parquet_is_refused_on_a_terminal_before_anything_is_done(tmp_path: Path) -> None:
    """Binary helps nobody there; the run is not imported and then not told."""
    env = environment(tmp_path / "home")

    shown = on_terminal(["import", TRACES, "--format", "parquet"], env)

    assert shown.code == 2
    assert "> rows.parquet" in shown.text
    assert not (tmp_path / "home").exists()


def test_no_color_means_no_colour_and_an_empty_one_means_nothing(home: Path) -> None:
    """The standard's words: present and not empty. Bold is no colour."""
    plain = on_terminal(["runs"], environment(home, NO_COLOR="1"))
    empty = on_terminal(["runs"], environment(home, NO_COLOR=""))

    assert not re.search(r"\x1b\[[\d;]*3\dm", plain.text)
    assert empty.text == on_terminal(["runs"], environment(home)).text


def test_a_dumb_terminal_gets_no_escape_at_all(home: Path, tmp_path: Path) -> None:
    """Not for a table, and not for progress."""
    env = environment(home, TERM="dumb")

    shown = on_terminal(["runs"], env)
    worked = on_terminal(["convert", TRACES, "-o", tmp_path / "out", "--no-keep"], env)

    assert "demo" in shown.text
    assert ESCAPE not in shown.text + worked.text
    assert worked.code == 0


@pytest.mark.parametrize("changes", [{}, {"FORCE_COLOR": "1"}, {"COLORTERM": "truecolor"}])
def test_a_pipe_never_gets_an_escape(home: Path, changes: dict[str, str]) -> None:
    """Whatever the terminal behind it can do: what reads a pipe reads text."""
    for words in (["runs"], ["runs", "show", "demo"], ["check", "demo"], ["--help"], ["query", "--help"]):
        done = subprocess.run(
            [*COMMAND, *words], env=environment(home, **changes), capture_output=True, check=True
        )
        assert ESCAPE.encode() not in done.stdout + done.stderr


@pytest.mark.parametrize("columns", [20, 40])
def test_a_narrow_terminal_folds_and_loses_nothing(home: Path, columns: int) -> None:
    """No line is wider than the terminal, and each character of a long name is there."""
    name = "void_cutlass_kernel_of_a_very_long_name_indeed_" * 3
    shown = on_terminal(
        ["query", f"MATCH (r:Run) WHERE r.run = $run RETURN '{name}' AS kernel, r.world_size AS ranks"],
        environment(home, GRAPHSTORE_PAGER=""),
        columns=columns,
    )

    table = shown.text.split("1 rows")[0]
    assert all(len(re.sub(r"\x1b\[[\d;]*m", "", line)) <= columns for line in table.splitlines())
    assert name in re.sub(r"[\s4]|\x1b\[[\d;]*m", "", table)


def test_columns_that_do_not_fit_are_shown_below_each_other(home: Path) -> None:
    """Ten columns on 80: a row is a block, its id on one line, not a letter a line; on 200 it is a table."""
    env = environment(home, GRAPHSTORE_PAGER="")
    narrow, wide = (
        [line.split() for line in re.sub(r"\x1b\[[\d;]*m", "", shown.text).splitlines()]
        for shown in (on_terminal(["runs", "list"], env, columns=columns) for columns in (80, 200))
    )

    assert ["run", "demo"] in narrow
    assert ["world_size", "4"] in narrow
    assert ["run", "name", "created", "world_size"] in [line[:4] for line in wide]


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
@pytest.mark.parametrize("terminal", [False, True])
def test_an_encoding_that_lacks_a_character_is_no_traceback(
    home: Path, encoding: str, terminal: bool
) -> None:
    """Names and drawings that can't be written are escaped; nothing fails."""
    env = environment(home, PYTHONIOENCODING=encoding, PYTHONUTF8="0", GRAPHSTORE_PAGER="")
    for words in (
        ["query", "MATCH (r:Run) WHERE r.run = $run RETURN 'ядро ∑ 核 é' AS kernel"],
        ["runs", "show", "demo"],
        ["query", "нет"],
    ):
        if terminal:
            shown = on_terminal(words, env)
            told, code = shown.text, shown.code
        else:
            done = subprocess.run([*COMMAND, *words], env=env, capture_output=True)
            told, code = (done.stdout + done.stderr).decode(encoding, "replace"), done.returncode
        assert "Traceback" not in told
        assert code == (2 if words[-1] == "нет" else 0), told


def test_a_terminal_without_a_locale_is_no_traceback(home: Path, tmp_path: Path) -> None:
    """LC_ALL=C, and Python told not to mend that by itself."""
    env = environment(home, LC_ALL="C", PYTHONCOERCECLOCALE="0", PYTHONUTF8="0")
    asked = tmp_path / "name.cypher"
    asked.write_text("MATCH (r:Run) WHERE r.run = $run RETURN 'ядро' AS kernel", encoding="utf-8")

    shown = on_terminal(["query", asked], env)

    assert shown.code == 0
    assert r"\u044f" in shown.text
