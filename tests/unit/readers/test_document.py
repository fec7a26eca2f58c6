from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphstore.errors import TraceFormatError
from graphstore.readers import document as document_module
from graphstore.readers.document import Document
from graphstore.readers.source import open_source
from graphstore.settings import Settings

SETTINGS = Settings(store="", max_depth=60)


class Item(msgspec.Struct):
    """A record of the documents below."""

    id: int
    name: str = ""
    args: msgspec.Raw = msgspec.Raw(b"")


decode = msgspec.json.Decoder(list[Item]).decode


def read(file: Path, text: str | bytes) -> tuple[list[Item], Document]:
    """Return the records of a document with the array `items`, and the document used up."""
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with open_source(str(file), SETTINGS) as source:
        document = Document(source, "items")
        records = [record for batch in document.batches(decode) for record in batch]
    return records, document


def ids(records: list[Item]) -> list[int]:
    """Return the ids of records."""
    return [record.id for record in records]


items = st.lists(
    st.fixed_dictionaries(
        {"id": st.integers(0, 10**6), "name": st.text(max_size=12)},
        optional={"args": st.recursive(st.text(max_size=5), lambda inner: st.lists(inner, max_size=3))},
    ),
    max_size=8,
)
layouts = st.sampled_from([{"indent": None}, {"indent": 2}, {"separators": (",", ":")}])


@settings(deadline=None)
@given(written=items, layout=layouts, ascii_only=st.booleans())
def test_every_record_and_member_comes_back(
    tmp_path_factory: pytest.TempPathFactory, written: list[dict[str, Any]], layout: Any, ascii_only: bool
) -> None:
    """Whatever the spacing and the strings, records come in order, members before and after them too."""
    whole = {"before": {"items": [1]}, "items": written, "after": '}], "x"'}
    text = json.dumps(whole, ensure_ascii=ascii_only, **layout).encode("utf-8", "replace")

    records, document = read(tmp_path_factory.mktemp("whole") / "file", text)

    assert ids(records) == [item["id"] for item in written]
    assert document.members == {"before": {"items": [1]}, "after": '}], "x"'}
    assert (document.cut_at, document.unreadable, document.records) == (None, 0, len(written))


@settings(deadline=None)
@given(written=items, layout=layouts, data=st.data())
def test_a_document_cut_anywhere_gives_its_whole_records(
    tmp_path_factory: pytest.TempPathFactory, written: list[dict[str, Any]], layout: Any, data: st.DataObject
) -> None:
    """Cut at any byte inside the array: the records before it are all there, and the cut is told."""
    text = json.dumps({"items": written, "after": 1}, **layout)
    cut = data.draw(st.integers(text.index("[") + 1, len(text) - 1))

    records, document = read(tmp_path_factory.mktemp("cut") / "file", text[:cut])

    whole = [item["id"] for item in written]
    assert ids(records) == whole[: len(records)]
    assert document.cut_at is not None
    assert document.unreadable == 0
    closed = text[:cut].rstrip(" ,\n") + "]}"
    try:
        wanted = len(json.loads(closed)["items"])
    except ValueError:
        return
    assert len(records) == wanted


def test_blocks_do_not_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A document many blocks long is the same as a short one; most of it goes the quick way."""
    monkeypatch.setattr("graphstore.readers.source.BLOCK_BYTES", 1000)
    monkeypatch.setattr(document_module, "BLOCK_BYTES", 1000)
    written = [{"id": n, "name": f"op {n}", "args": {"x": [n] * (n % 50)}} for n in range(2000)]

    records, document = read(tmp_path / "file", json.dumps({"items": written}, indent=2))

    assert ids(records) == list(range(2000))
    assert document.cut_at is None


@pytest.mark.parametrize("indent", [None, 2])
def test_one_dirty_record_costs_nothing_but_itself(tmp_path: Path, indent: int | None) -> None:
    """A stray control byte is read; a record beyond repair is counted and its neighbours are kept."""
    written = [{"id": n, "name": f"op {n}"} for n in range(300)]
    text = json.dumps({"items": written, "after": 1}, indent=indent)
    text = text.replace("op 100", "op \x01100").replace("op 101", 'op "101" x').replace('"op 102"', "what?")

    records, document = read(tmp_path / "file", text)

    assert ids(records) == [n for n in range(300) if n != 102]
    assert [record.name for record in records[100:102]] == ["op \x01100", 'op "101" x']
    assert (document.unreadable, document.records) == (1, 300)
    assert document.first_error is not None
    assert document.members == {"after": 1}


def test_a_record_that_lost_a_quote_does_not_swallow_the_others(tmp_path: Path) -> None:
    """With the end of its string gone, a record ends where the next one begins."""
    written = [{"id": n, "name": f"op {n}", "args": ["a", "b"]} for n in range(50)]
    text = json.dumps({"items": written}).replace('"op 20"', '"op 20')

    records, document = read(tmp_path / "file", text)

    assert ids(records) == [n for n in range(50) if n != 20]
    assert document.unreadable == 1


def test_a_bare_list_is_read(tmp_path: Path) -> None:
    """The array form of a Chrome trace has no members; a byte order mark before it does not matter."""
    records, document = read(tmp_path / "file", b"\xef\xbb\xbf" + json.dumps([{"id": 1}, {"id": 2}]).encode())

    assert ids(records) == [1, 2]
    assert (document.members, document.cut_at) == ({}, None)


def test_text_behind_the_document_is_told(tmp_path: Path) -> None:
    """Two documents in one file: the second is not read, and that is said."""
    text = json.dumps({"items": [{"id": 1}]})

    records, document = read(tmp_path / "file", text + text)

    assert ids(records) == [1]
    assert document.cut_at is not None
    assert "not read" in document.cut_at


def test_a_document_without_the_array_has_no_records(tmp_path: Path) -> None:
    """Members alone, or a member of that name that is no list, give members and no records."""
    for text in ('{"a": 1}', '{"a": 1, "items": null}'):
        records, document = read(tmp_path / "file", text)
        assert (records, document.has_array, document.cut_at) == ([], False, None)
        assert document.members["a"] == 1


@pytest.mark.parametrize(
    "text",
    [
        '{"items": [{"id": 1, "args": ' + "[" * 10_000 + "]" * 10_000 + "}]}",
        '{"items": [{"id": 1, "args": ' + "[" * 10_000,
        '{"other": ' + '{"a":' * 10_000 + "1" + "}" * 10_000 + "}",
        "[" * 10_000,
    ],
)
def test_deep_nesting_is_one_line(tmp_path: Path, text: str) -> None:
    """10,000 levels are refused with file and limit, wherever they stand, closed or not."""
    with pytest.raises(TraceFormatError, match="nested deeper than 60") as caught:
        read(tmp_path / "file", text)

    assert "\n" not in str(caught.value)


def test_a_value_without_end_is_refused_in_bounded_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A string that never closes ends at the limit of one value, not at the end of the file."""
    monkeypatch.setattr(document_module, "MAX_VALUE_BYTES", 100_000)
    monkeypatch.setattr("graphstore.readers.source.BLOCK_BYTES", 10_000)

    with pytest.raises(TraceFormatError, match="more than 100,000 bytes"):
        read(tmp_path / "file", '{"items": [{"id": 1, "name": "' + "a" * 5_000_000)


def test_a_list_of_other_things_is_given_up_early(tmp_path: Path) -> None:
    """When none of the first thousand records can be read, the document is no trace."""
    with pytest.raises(TraceFormatError, match=r"none of its first 1,000 records .*Expected `object`"):
        read(tmp_path / "file", '{"items": [' + "[]," * 5000 + "[]]}")


@pytest.mark.parametrize("text", ["", "no JSON", '{"a", 1}', "{1: 2}", '{"a": {"b" "c"}}'])
def test_what_is_no_json_is_refused(tmp_path: Path, text: str) -> None:
    """Other text ends with one line that names the byte."""
    with pytest.raises(TraceFormatError, match="byte"):
        read(tmp_path / "file", text)
