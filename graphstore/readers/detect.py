"""Tell what kind of trace a file is, by its content; its name never counts.

In:  an open `Source`. Out: a `Detected`: the kind, and for a file that is no trace what it is instead.
Decided here: what makes a JSON document an execution trace, a Kineto trace or a Flight Recorder dump.
A cut-off document whose first members say what it was is that: its reader then tells where it ends.
`et` may turn out to be `et_plus` when it is read (execution_trace.py). Pickles: pickle_scan.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

from graphstore.errors import TraceFormatError
from graphstore.readers.json_text import INCOMPLETE, NestingError, clean, end_of_value
from graphstore.readers.pickle_scan import scan_pickle
from graphstore.readers.source import Source

NOT_A_TRACE = "not_a_trace"
RUNS_CODE = "a pickle that would run code"
HEAD_BYTES = 64 << 10
MOST_HEAD_BYTES = 16 << 20  # what may stand before the member that tells the kind

ET_SCHEMA = re.compile(r"\d+\.\d+\.\d+(-chakra\.\d+\.\d+\.\d+)?")
ET_NODE_FIELDS = {"parent", "ctrl_deps", "rf_id", "attrs", "op_schema"}
DUMP_ENTRY_FIELDS = {"record_id", "collective_seq_id", "seq_id", "profiling_name", "pg_id"}
DUMP_FIELDS = {"pg_config", "pg_status", "nccl_comm_state", "nccl_version", "comm_lib_version"}
RECORDS = ("nodes", "traceEvents", "entries")
OTHER_FORMATS = ((0, b"PK\x03\x04", "a zip archive"), (257, b"ustar", "a tar archive; unpack it first"))
UTF8_MARK = b"\xef\xbb\xbf"
SPACE = re.compile(rb"[\s,]*")
COLON = re.compile(rb"\s*:\s*")
KEYS_SHOWN = 4


@dataclass(frozen=True)
class Detected:
    """`kind` as in TraceFile.kind; `what` says what a file is that is no trace."""

    kind: str
    what: str = ""


@dataclass
class _Outline:
    """The first members of a JSON document. `first` is the first record of the array `records`, if any."""

    values: dict[str, Any] = field(default_factory=dict)
    records: str | None = None
    first: Any = None
    is_list: bool = False
    is_partial: bool = False  # the text ends before a record or the end was met


def detect(source: Source) -> Detected:
    """Return the kind of the file. Raises TraceFormatError when nothing can be unpacked, or
    lists and objects are nested too deep for a trace."""
    head = source.peek(HEAD_BYTES)
    if not head and source.damage:
        raise TraceFormatError(f"{source.path}: {source.damage}. Nothing can be read. Copy the file again.")
    if not head.strip(b"\0"):
        return Detected(NOT_A_TRACE, "zero bytes" if head else "an empty file")
    if head.removeprefix(UTF8_MARK).lstrip()[:1] in (b"{", b"["):
        return _json_kind(source)
    pickled = scan_pickle(head, _is_dump)
    if pickled is not None:
        if _is_dump(pickled.texts):  # what else it holds, its reader refuses: flight_pickle.py
            return Detected("flight_recorder")
        if pickled.code is not None:
            return Detected(NOT_A_TRACE, f"{RUNS_CODE} ({pickled.code}); none of it was run")
        if {"entries", "version"} <= pickled.texts:  # all there is in one of version 1.1 without entries
            return Detected("flight_recorder")
        return Detected(NOT_A_TRACE, "a pickle of something else")
    from graphstore.readers.chakra_trace import is_chakra  # with protobuf, which traces in JSON do not need

    if is_chakra(head):
        return Detected("chakra_et")
    for place, magic, what in OTHER_FORMATS:
        if head[place:].startswith(magic):
            return Detected(NOT_A_TRACE, what)
    return Detected(NOT_A_TRACE, "binary data" if b"\0" in head else "text")


def _is_dump(texts: set[str]) -> bool:
    """Return whether a pickle with these texts is a dump; version "none" is a bare list of entries."""
    fields = len(DUMP_ENTRY_FIELDS & texts)
    return not DUMP_FIELDS.isdisjoint(texts) or fields >= 2 or ("entries" in texts and fields == 1)


def _json_kind(source: Source) -> Detected:
    size = HEAD_BYTES
    while True:
        text = source.peek(size).removeprefix(UTF8_MARK)
        try:
            outline = _outline(text, source.settings.max_depth)
        except NestingError as error:
            raise TraceFormatError(
                f"{source.path}: lists and objects are {error} within its first {len(text):,} bytes. "
                "Nothing of it was loaded. Is it a trace?"
            ) from error
        if not outline.is_partial or len(text) < size - len(UTF8_MARK) or size >= MOST_HEAD_BYTES:
            return _kind_of(outline)
        size *= 4


def _kind_of(outline: _Outline) -> Detected:
    first = set(outline.first) if isinstance(outline.first, dict) else set()
    keys = set(outline.values)
    schema = outline.values.get("schema")
    has_schema = isinstance(schema, str) and ET_SCHEMA.fullmatch(schema) is not None
    if outline.records == "traceEvents" or (outline.is_list and {"ph", "name"} <= first):
        return Detected("kineto")
    if outline.records == "nodes" and (has_schema or ({"id", "name"} <= first and first & ET_NODE_FIELDS)):
        return Detected("et")
    if outline.records == "entries" and (first & DUMP_ENTRY_FIELDS or keys & DUMP_FIELDS):
        return Detected("flight_recorder")
    if "version" in keys and keys & DUMP_FIELDS:  # the entries of a dump are absent when there are none
        return Detected("flight_recorder")
    if outline.is_partial and outline.records is None and (has_schema or "schemaVersion" in keys):
        return Detected("et" if has_schema else "kineto")
    return Detected(NOT_A_TRACE, _described(outline))


def _described(outline: _Outline) -> str:
    if outline.is_list:
        return "a JSON list"
    keys = [*outline.values, *([outline.records] if outline.records else [])]
    shown = ", ".join(keys[:KEYS_SHOWN]) + (", …" if len(keys) > KEYS_SHOWN else "")
    return f"a JSON object with {shown}" if keys else "a JSON object"


def _outline(text: bytes, max_depth: int) -> _Outline:
    """Return what the text shows up to the first record of an array of records."""
    outline = _Outline(is_partial=True)
    at = _after(SPACE, text, 0)
    if text[at : at + 1] == b"[":
        outline.is_list = True
        _first_record(outline, text, at + 1, max_depth)
        return outline
    for key, start in _members(text, at + 1, max_depth):
        if key is None:
            outline.is_partial = False
        elif key in RECORDS and text[start : start + 1] == b"[":
            outline.records = key
            _first_record(outline, text, start + 1, max_depth)
            if outline.first is not None or outline.is_partial:
                return outline
        else:
            end = end_of_value(text, start, max_depth)
            outline.values[key] = None if end == INCOMPLETE else _decoded(text[start:end])
    return outline


def _members(text: bytes, at: int, max_depth: int) -> Iterator[tuple[str | None, int]]:
    """Yield (key, where its value begins) for each member; (None, place) at the end of the object."""
    while True:
        at = _after(SPACE, text, at)
        if text[at : at + 1] == b"}":
            yield None, at
            return
        end = end_of_value(text, at, max_depth)
        colon = COLON.match(text, end) if end != INCOMPLETE else None
        key = _decoded(text[at:end]) if colon else None
        if colon is None or not isinstance(key, str) or colon.end() == len(text):
            return
        yield key, colon.end()
        at = end_of_value(text, colon.end(), max_depth)
        if at == INCOMPLETE:
            return


def _first_record(outline: _Outline, text: bytes, at: int, max_depth: int) -> None:
    at = _after(SPACE, text, at)
    if text[at : at + 1] == b"]":
        outline.is_partial = False
        return
    end = end_of_value(text, at, max_depth)
    if end != INCOMPLETE:
        outline.first = _decoded(text[at:end])
        outline.is_partial = False


def _decoded(text: bytes) -> Any:
    """Return the value; None where it is no JSON even when cleaned: then it tells nothing."""
    try:
        return msgspec.json.decode(clean(text))
    except (ValueError, RecursionError):
        return None


def _after(pattern: re.Pattern[bytes], text: bytes, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at
