from __future__ import annotations

import io
import json

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphstore.cli import output
from graphstore.cli.output import Format
from graphstore.errors import UsageError

FRAME = pl.DataFrame({"rank": [0, 1], "name": ["a,b", None], "members": [[0, 1], []]})


def test_json_is_one_array_of_objects_with_lists_kept() -> None:
    """`--format json` gives what a program reads in one go."""
    assert json.loads(output.encode(FRAME, Format.JSON)) == [
        {"rank": 0, "name": "a,b", "members": [0, 1]},
        {"rank": 1, "name": None, "members": []},
    ]


def test_jsonl_is_an_object_a_line() -> None:
    """`--format jsonl` can be read line by line."""
    lines = output.encode(FRAME, Format.JSONL).splitlines()

    assert [json.loads(line)["rank"] for line in lines] == [0, 1]


def test_csv_holds_lists_as_json_text() -> None:
    """CSV has no lists; what stands there can be read back as JSON."""
    read = pl.read_csv(output.encode(FRAME, Format.CSV))

    assert read["members"].to_list() == ["[0,1]", "[]"]
    assert read["name"].to_list() == ["a,b", None]


def test_parquet_keeps_the_types() -> None:
    """`--format parquet` gives back the very frame."""
    assert pl.read_parquet(io.BytesIO(output.encode(FRAME, Format.PARQUET))).equals(FRAME)


def test_nested_dicts_become_json_text_in_a_frame_form() -> None:
    """Evidence, whose keys differ from finding to finding, is one text column in CSV and Parquet."""
    rows = [{"rule": "a", "evidence": {"x": 1}}, {"rule": "b", "evidence": {"y": [2]}}]

    read = pl.read_parquet(io.BytesIO(output.encode(rows, Format.PARQUET)))

    assert [json.loads(text) for text in read["evidence"]] == [{"x": 1}, {"y": [2]}]


@pytest.mark.parametrize("form", [Format.JSON, Format.JSONL, Format.CSV, Format.PARQUET])
def test_no_rows_are_no_error(form: Format) -> None:
    """An empty result, with or without columns, is written like any other."""
    output.encode([], form)
    output.encode(FRAME.clear(), form)


def test_a_table_off_the_terminal_is_plain_aligned_text(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a terminal there is no drawing and no escape code: names, then rows, numbers to the right."""
    output.show(pl.DataFrame({"name": ["a", "bcd"], "n": [5, 10]}), Format.TABLE)

    assert capsys.readouterr().out == "name   n\na      5\nbcd   10\n"


def test_a_table_shows_the_columns_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    """A verb may show fewer columns in a table than it gives in JSON."""
    output.show([{"rule": "x", "evidence": {"k": 1}}], Format.TABLE, columns=["rule"])

    assert capsys.readouterr().out == "rule\nx\n"


def test_a_name_cannot_drive_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """Escape sequences and line breaks in a trace's names are shown as text."""
    output.show([{"name": "\x1b[2Jcleared\nnext"}], Format.TABLE)

    assert capsys.readouterr().out == "name\n\\x1b[2Jcleared\\nnext\n"


@given(st.text())
def test_printable_text_is_one_line_without_control_characters(text: str) -> None:
    """Whatever is in a name, one printable line comes out, and printable text comes out unchanged."""
    shown = output.printable(text)

    assert shown.isprintable()
    assert shown == text or not text.isprintable()


def test_parquet_is_refused_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Binary on a terminal helps nobody: the error says how to write it to a file."""
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)

    with pytest.raises(UsageError, match=r"> rows\.parquet"):
        output.show(FRAME, Format.PARQUET)


def test_say_is_silent_when_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    """Remarks go to stderr, and nowhere under --quiet."""
    output.say("one")
    output.say("two", quiet=True)

    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "one\n")
