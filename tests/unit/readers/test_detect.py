from __future__ import annotations

import json
import os
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from graphstore.chakra import GlobalMetadata, Node, framed
from graphstore.errors import TraceFormatError
from graphstore.readers.detect import Detected, detect
from graphstore.readers.source import open_source, packing
from graphstore.settings import Settings
from tests.data.trace_text import flat_op, op, trace

EVENT = {"ph": "X", "cat": "cpu_op", "name": "op", "ts": 1, "dur": 1, "pid": 1, "tid": 1}
ENTRY = {"record_id": 0, "pg_id": 0, "collective_seq_id": 1, "profiling_name": "gloo:all_reduce"}
DUMP = {"version": "2.10", "entries": [ENTRY], "pg_config": {}}


def kind(file: Path, content: bytes | str | Any) -> Detected:
    """Return what a file with this content (objects become JSON) is detected as."""
    if not isinstance(content, bytes | str):
        content = json.dumps(content)
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with open_source(str(file), Settings(store="")) as source:
        found = detect(source)
        assert b"".join(source.blocks()) == file.read_bytes()  # looking takes nothing away
    return found


def chakra(folder: Path) -> bytes:
    """Return a Chakra file of one node."""
    file = folder / "made"
    with file.open("wb") as stream:
        stream.writelines(
            map(framed, [GlobalMetadata(version="0.0.4"), Node(id=0, name="a", type="COMP_NODE")])
        )
    return file.read_bytes()


@pytest.mark.parametrize(
    ("content", "meant"),
    [
        (trace(op(5, "a", 2)), "et"),
        (trace(op(5, "a", 2), schema=None), "et"),
        ({"pid": 1, "nodes": [flat_op(5, "a", 2)]}, "et"),
        ({"schema": "9.9.9", "nodes": [{"id": 1}]}, "et"),  # its reader says which field is missing
        ({"traceEvents": [EVENT]}, "kineto"),
        ({"schemaVersion": 1, "deviceProperties": [{"x": "y" * 200_000}], "traceEvents": []}, "kineto"),
        ([EVENT, EVENT], "kineto"),
        (DUMP, "flight_recorder"),
        ({"version": "2.9", "pg_config": {}, "entries": []}, "flight_recorder"),
        ({"version": "2.9", "nccl_version": "2.20", "pg_status": {}}, "flight_recorder"),
        ({"entries": [{"seq_id": 1, "profiling_name": "nccl:send"}]}, "flight_recorder"),
        (pickle.dumps(DUMP, protocol=2), "flight_recorder"),
        (pickle.dumps(DUMP), "flight_recorder"),
        (pickle.dumps(DUMP, protocol=0), "flight_recorder"),
        (pickle.dumps([ENTRY], protocol=2), "flight_recorder"),  # the first version
        (pickle.dumps({"entries": [], "version": "1.1"}, protocol=2), "flight_recorder"),
    ],
)
def test_kinds_are_told_by_content(tmp_path: Path, content: Any, meant: str) -> None:
    """Every form of every kind, under a name that says something else."""
    assert kind(tmp_path / "holiday.png", content) == Detected(meant)


def test_a_chakra_file_is_told(tmp_path: Path) -> None:
    """Framed messages, whatever the name."""
    assert kind(tmp_path / "trace.json", chakra(tmp_path)) == Detected("chakra_et")


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "an empty file"),
        (bytes(5000), "zero bytes"),
        ("How this set was made:\nby hand.\n", "text"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "binary data"),
        (b"PK\x03\x04" + bytes(40), "a zip archive"),
        (bytes(257).replace(b"\0", b"a") + b"ustar\0", "a tar archive; unpack it first"),
        ({"format": "facts 1", "set": "x", "files": {}}, "a JSON object with format, set, files"),
        ({"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}, "a JSON object with a, b, c, d, …"),
        ({}, "a JSON object"),
        (["RuntimeError: x"], "a JSON list"),
        ([], "a JSON list"),
        ({"nodes": [{"id": 1, "name": "a"}], "links": []}, "a JSON object with nodes"),
        ({"entries": [{"url": "x"}], "version": 3}, "a JSON object with entries"),
        (pickle.dumps([1, "a"]), "a pickle of something else"),
        (pickle.dumps({"entries": [{"url": "x"}]}), "a pickle of something else"),
    ],
)
def test_what_is_no_trace_is_named(tmp_path: Path, content: Any, what: str) -> None:
    """Near misses too: a graph with nodes, entries of another program, a pickle of anything."""
    assert kind(tmp_path / "et_rank0.json", content) == Detected("not_a_trace", what)


class Evil:
    """Runs a command when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        """Take the file the command would make."""
        self._mark = mark

    def __reduce__(self) -> Any:
        """Return what pickle would call."""
        return os.system, (f"touch {self._mark}",)


@pytest.mark.parametrize("protocol", range(6))
def test_a_pickle_that_runs_code_is_named_and_not_run(tmp_path: Path, protocol: int) -> None:
    """Dressed as a dump, in every protocol: no dump, and nothing happens."""
    mark = tmp_path / "ran"
    content = pickle.dumps({"version": "2.10", "entries": [Evil(mark)]}, protocol=protocol)

    found = kind(tmp_path / "nccl_trace_rank_0", content)

    assert found.kind == "not_a_trace"
    assert "run code" in found.what
    assert "system" in found.what
    assert not mark.exists()


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ('{"schema": "1.1.1-chakra.0.0.4", "pid": 7', "et"),
        ('{"schema": "1.1.1-chakra.0.0.4", "nodes": [{"id": 1, "na', "et"),
        ('{"schemaVersion": 1, "deviceProp', "kineto"),
        ('{"schemaVersion": 1, "traceEvents": [{"ph"', "kineto"),
        ('{"comm_lib_version": "", "entries": [{"coll', "flight_recorder"),
        ('{"form', "not_a_trace"),
    ],
)
def test_a_document_cut_early_is_what_its_first_members_say(tmp_path: Path, text: str, meant: str) -> None:
    """A killed process leaves little, but that little is not passed over as no trace."""
    assert kind(tmp_path / "file", text).kind == meant


@pytest.mark.parametrize("text", ["[" * 10_000 + "]" * 10_000, '{"schema": ' + "[" * 10_000])
def test_deep_nesting_is_one_line(tmp_path: Path, text: str) -> None:
    """10,000 levels end with one line, not with a recursion error."""
    with pytest.raises(TraceFormatError, match="nested deeper than 512") as caught:
        kind(tmp_path / "file", text)

    assert "\n" not in str(caught.value)


@settings(deadline=None)
@given(
    prefix=st.sampled_from([b"", b"\x80\x02", b"(", b'{"nodes": [', b"\x07\n\x050.0.4"]),
    content=st.binary(max_size=200) | st.text(max_size=100).map(str.encode),
)
def test_any_bytes_have_a_kind(
    tmp_path_factory: pytest.TempPathFactory, prefix: bytes, content: bytes
) -> None:
    """Whatever a file holds, it is told; short of deep nesting and damaged packing nothing is raised."""
    assume(packing(prefix + content) == "none")
    assert kind(tmp_path_factory.mktemp("any") / "file", prefix + content).kind
