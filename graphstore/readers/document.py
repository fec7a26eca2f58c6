"""The records of a big JSON document, a few thousand at a time, in bounded memory.

In:  a `Source` and the name of the array that holds the records (`nodes`, `traceEvents`).
Out: lists of decoded records, the other top-level members, and what was wrong with the text.
Decided here: where records begin and end. The quick way cuts each block at the last text that separates
two records (learned from two records) and trusts the decoder to refuse a wrong cut; what it refuses is
gone through token by token, which also carries dirty text (json_text.py) and cut-off documents.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import msgspec

from graphstore.errors import TraceFormatError
from graphstore.readers.json_text import INCOMPLETE, NestingError, clean, end_of_value
from graphstore.readers.source import BLOCK_BYTES, Source

Record = TypeVar("Record")
Value = TypeVar("Value")
Decode = Callable[[bytes], list[Record]]

MAX_VALUE_BYTES = 32 << 20  # one record or top-level member; a longer one is no trace
RESYNC_BYTES = 8 << 20  # a record this long with a separator inside has lost its quotes
MOST_UNREADABLE = 1000  # without one that can be read between; such a document is no trace
BETWEEN = re.compile(rb"[\s,]*")
# A separator ends with the first key of the next record, so that it is not found inside records.
FIRST_KEY = re.compile(rb'\{\s*"[^"\\]{1,40}"\s*:')
UTF8_MARK = b"\xef\xbb\xbf"
ENDED = object()


class Window:
    """The part of the unpacked text that is in memory. `offset` is where it begins in the document."""

    def __init__(self, source: Source) -> None:
        """Begin before the first byte."""
        self.text = b""
        self.offset = 0
        self.ended = False
        self._blocks = source.blocks()

    def more(self) -> bool:
        """Append the next block; return False when there is none."""
        block = next(self._blocks, None)
        if block is None:
            self.ended = True
            return False
        self.text += block
        return True

    def grow(self) -> bool:
        """Append as much again as is there, so that a long value is not gone through once a block."""
        wanted = min(2 * len(self.text), MAX_VALUE_BYTES + 1)
        grown = self.more()
        while len(self.text) < wanted and self.more():
            pass
        return grown

    def drop(self, count: int) -> None:
        """Forget the first `count` bytes."""
        self.text = self.text[count:]
        self.offset += count

    def next_byte(self) -> bytes:
        """Drop spaces and commas and return the byte after them, b"" at the end of the document."""
        while True:
            between = BETWEEN.match(self.text)
            if between and between.end():
                self.drop(between.end())
            if self.text or not self.more():
                return self.text[:1]


class Document:
    """One JSON document being read. source.py shows how it is used."""

    def __init__(self, source: Source, array: str) -> None:
        """Read up to the first record of `array`; raise TraceFormatError when the text is no JSON."""
        self.members: dict[str, Any] = {}  # top-level members beside the array
        self.has_array = False
        self.cut_at: str | None = None
        self.records = 0  # whole records seen, unreadable ones included
        self.unreadable = 0
        self.first_error: str | None = None
        self._source = source
        self._array = array
        self._max_depth = source.settings.max_depth
        self._window = Window(source)
        self._is_list = False
        self._separator: bytes | None = None
        self._gap = 0  # bytes of the separator before the next record
        self._open()

    def batches(self, decode: Decode[Record]) -> Iterator[list[Record]]:
        """Yield the records as `decode` makes them from a JSON list, in order, in lists of some thousands.

        A record that `decode` refuses even when its text is cleaned is counted in `unreadable`. Raises
        TraceFormatError where the text cannot be followed (nested too deep, a record without end).
        """
        open_array = self.has_array
        while open_array:
            records, open_array = self._quick(decode) or self._careful(decode)
            if records:
                yield records
        if self._is_list and self.cut_at is None:
            self._note_rest()
        elif self.has_array and self.cut_at is None:
            self._read_members()
        if self._source.damage and self.cut_at is None:
            self.cut_at = self._source.damage

    # -- top level --

    def _open(self) -> None:
        if self._window.next_byte() == UTF8_MARK[:1] and self._window.text.startswith(UTF8_MARK):
            self._window.drop(len(UTF8_MARK))
        first = self._window.next_byte()
        if first not in (b"{", b"["):
            raise self._error("no JSON object or list begins here. Is it a trace?")
        self._window.drop(1)
        self._is_list = self.has_array = first == b"["
        if not self._is_list:
            self._read_members()

    def _read_members(self) -> None:
        """Read `"key": value` pairs up to the records or, when these are read, to the end."""
        while True:
            first = self._window.next_byte()
            if first == b"}":
                self._window.drop(1)
                self._note_rest()
                return
            if first not in (b'"', b""):
                raise self._error("a member of the document has no name")
            key = self._value()
            if key is ENDED:
                return
            if self._window.next_byte() not in (b":", b""):
                raise self._error(f"a colon is missing behind {key!r}")
            self._window.drop(1)
            if key == self._array and not self.has_array and self._window.next_byte() == b"[":
                self._window.drop(1)
                self.has_array = True
                return
            value = self._value()
            if value is ENDED:
                return
            self.members[key] = value

    def _value(self) -> Any:
        """Take and decode the next top-level key or value; at the end of the document ENDED, and `cut_at`."""
        self._window.next_byte()
        while (end := self._end_of_value(0)) == INCOMPLETE:
            self._bound()
            if not self._window.grow():
                self._cut("inside the text around the records")
                return ENDED
        text = self._window.text[:end]
        try:
            value = _first_that_decodes(msgspec.json.decode, text)
        except (ValueError, RecursionError) as error:
            raise self._error(f"a top-level value is no JSON ({error})") from error
        self._window.drop(end)
        return value

    def _note_rest(self) -> None:
        if self._window.next_byte():
            self._cut("other text follows the end of the document and was not read")

    # -- records --

    def _quick(self, decode: Decode[Record]) -> tuple[list[Record], bool] | None:
        """Decode up to the last separator of the window; None where that does not fit."""
        window = self._window
        if self._separator is None:
            return None
        while len(window.text) < BLOCK_BYTES and window.more():
            pass
        window.next_byte()
        cut = window.text.rfind(self._separator)
        if cut < 0:
            return None
        records = _decoded(decode, window.text[: cut + 1])
        if records is None:
            return None
        window.drop(cut + self._gap)
        self.records += len(records)
        return records, True

    def _careful(self, decode: Decode[Record]) -> tuple[list[Record], bool]:
        """Go record by record through the window; return the records and whether the array goes on."""
        window, learning = self._window, self._separator is None
        window.next_byte()
        records: list[Record] = []
        at = 0
        while not (learning and self._separator):
            start = self._skip_between(at)
            if window.text[start : start + 1] == b"]":
                window.drop(start + 1)
                return records, False
            found = self._record(decode, start)
            if found is None:
                break
            record, at = found
            records += record
        window.drop(at)
        if at == 0:
            self._bound()
            ended = window.ended  # once more after the last block, when the end is known
            if not window.grow() and ended:
                self._cut("inside a record" if window.text else "after a whole record")
        return records, self.cut_at is None

    def _record(self, decode: Decode[Record], start: int) -> tuple[list[Record], int] | None:
        """Return the record at `start` (none if unreadable) and its end; None where the window ends in it.

        Its end is the next separator if the text up to there decodes, else where the brackets close.
        """
        separator = self._next_separator(start)
        record = _decoded(decode, self._window.text[start:separator]) if separator is not None else None
        if record is not None and separator is not None:
            self.records += len(record)
            return record, separator
        end = self._end_of_value(start)
        if end == INCOMPLETE and (separator is None or self._may_go_on(start)):
            return None
        for stop in (end, separator):
            if stop is not None and stop != INCOMPLETE:
                record = self._cleaned(decode, start, stop)
                if record is not None:
                    if separator is None:
                        self._learn(stop)
                    self.records += len(record)
                    return record, stop
        self.records += 1
        self.unreadable += 1
        if self.unreadable == self.records == MOST_UNREADABLE:
            raise self._error(f"none of its first {self.records:,} records can be read ({self.first_error})")
        # A record that swallowed the next one's beginning lost a quote: go on where the next one begins.
        return [], end if separator is None or INCOMPLETE < end < separator else separator

    def _may_go_on(self, start: int) -> bool:
        return not self._window.ended and len(self._window.text) - start <= RESYNC_BYTES

    def _skip_between(self, at: int) -> int:
        between = BETWEEN.match(self._window.text, at)
        return between.end() if between else at

    def _next_separator(self, start: int) -> int | None:
        """Return where the record at `start` ends if the next separator says so; None without one."""
        if self._separator is None:
            return None
        found = self._window.text.find(self._separator, start)
        return found + 1 if found >= 0 else None

    def _learn(self, end: int) -> None:
        """Take what stands between the record that ends at `end` and the next as the separator."""
        start = self._skip_between(end)
        key = FIRST_KEY.match(self._window.text, start)
        if key:
            self._separator = self._window.text[end - 1 : key.end()]
            self._gap = start - end + 1

    def _cleaned(self, decode: Decode[Record], start: int, end: int) -> list[Record] | None:
        try:
            return _first_that_decodes(decode, b"[" + self._window.text[start:end] + b"]")
        except (ValueError, RecursionError) as error:
            self.first_error = self.first_error or f"byte {self._window.offset + start:,}: {error}"
            return None

    # -- limits and messages --

    def _end_of_value(self, start: int) -> int:
        try:
            return end_of_value(self._window.text, start, self._max_depth)
        except NestingError as error:
            raise self._error(f"lists and objects are {error}") from error

    def _bound(self) -> None:
        if len(self._window.text) > MAX_VALUE_BYTES:
            raise self._error(f"a value goes on for more than {MAX_VALUE_BYTES:,} bytes")

    def _cut(self, where: str) -> None:
        damage = f"; {self._source.damage}" if self._source.damage else ""
        self.cut_at = f"byte {self._window.offset:,}, {where} ({self.records:,} whole records){damage}"

    def _error(self, what: str) -> TraceFormatError:
        return TraceFormatError(
            f"{self._source.path}: byte {self._window.offset:,}: {what}. Nothing of the file was loaded."
        )


def _first_that_decodes(decode: Callable[[bytes], Value], text: bytes) -> Value:
    """Decode `text` as it is if it is UTF-8, else cleaned. Raises what `decode` raises on the clean text."""
    try:
        text.decode()
        return decode(text)
    except (ValueError, RecursionError):
        return decode(clean(text))


def _decoded(decode: Decode[Record], records: bytes) -> list[Record] | None:
    """Return the records of the text between the brackets of a list, or None when it is refused."""
    try:
        if not records.isascii():
            records.decode()  # msgspec.Raw does not look into strings
        return decode(b"[" + records + b"]")
    except (ValueError, RecursionError):
        return None
