"""Many protobuf messages at once, made of columns: numpy puts the bytes together, no object is made.

In:  columns of field values, each with the messages (rows) it belongs to. Out: a `Block`, the messages one
behind the other as a file holds them, each behind its length.
Decided here: how values become bytes (https://protobuf.dev/programming-guides/encoding/). They are the bytes
that protobuf itself writes if fields are given in the order of their numbers: a test compares the two. Which
fields there are is the caller's matter, and reading is left to protobuf.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from graphstore.chakra.framing import varint32, within_limit

VARINT, FIXED64, DELIMITED = 0, 1, 2  # wire types
BYTES_AT_ONCE = 1 << 16  # copied at once: what the places of so many take stays in a processor's cache
Ints = npt.NDArray[np.int64]
Numbers = npt.NDArray[Any]  # int64, uint64 or bool
Floats = npt.NDArray[np.float64]
Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Column:
    """A piece of some messages: `row` says which (each once), `start` and `size` where it lies in `data`."""

    row: Ints
    data: Bytes
    start: Ints
    size: Ints


@dataclass(frozen=True)
class Block:
    """Messages as a file holds them; `begin` and `size` say where in `data` each lies, without its length."""

    data: bytes
    begin: Ints
    size: Ints

    def message(self, row: int) -> bytes:
        """Return the bytes of one message."""
        return self.data[self.begin[row] : self.begin[row] + self.size[row]]


def block(columns: Sequence[Column], count: int) -> Block:
    """Return `count` messages made of the columns, in their order; ValueError where one is too long."""
    size = _total(columns, count)
    within_limit(int(size.max(initial=0)))
    framed = [_numbers(b"", np.arange(count), size.view(np.uint64)), *columns]
    data = _joined(framed, count)
    return Block(data.tobytes(), np.cumsum(size + framed[0].size) - size, size)


def number(field: int, row: Ints, values: Numbers, head: bytes = b"") -> list[Column]:
    """Return a field of type int64, bool or enum (a negative number takes ten bytes), a 0 written too.

    `head`, here and below: fields that stand right before it in each row, ready as bytes.
    """
    return [_numbers(head + _tag(field, VARINT), row, values.astype(np.int64, copy=False).view(np.uint64))]


def double(field: int, row: Ints, values: Floats, head: bytes = b"") -> list[Column]:
    """Return a field of type double, a 0 written too."""
    data = np.ascontiguousarray(values, "<f8").view(np.uint8).reshape(len(row), 8)
    return [_headed(head + _tag(field, FIXED64), row, data, np.full(len(row), 8))]


def text(field: int, row: Ints, values: pl.Series, head: bytes = b"") -> list[Column]:
    """Return a field of type string, without those that are empty."""
    size = values.str.len_bytes().to_numpy().astype(np.int64)
    data = np.frombuffer("".join(values.to_list()).encode(), np.uint8)
    there = size > 0
    return delimited(field, [Column(row[there], data, (np.cumsum(size) - size)[there], size[there])], head)


def unsigned(field: int, row: Ints, values: Numbers) -> list[Column]:
    """Return a field of type uint64, without those that are 0. ValueError for a negative number."""
    there = _no_negative(values) != 0
    return number(field, row[there], values[there])


def packed(field: int, counts: Ints, values: Numbers) -> list[Column]:
    """Return a repeated field of type uint64: `counts` of the values for each row, from row 0 on.

    ValueError for a negative number.
    """
    digits, size = _varints(_no_negative(values).view(np.uint64))
    data = digits[np.arange(digits.shape[1]) < size[:, None]]
    row = np.flatnonzero(counts)
    ends = np.append(0, np.cumsum(size))[np.append(0, np.cumsum(counts[row]))]
    return delimited(field, [Column(row, data, ends[:-1], np.diff(ends))])


def ready(row: Ints, pieces: Sequence[bytes]) -> Column:
    """Return bytes that are fields already, one piece a row."""
    size = np.array([len(piece) for piece in pieces], np.int64)
    return Column(row, np.frombuffer(b"".join(pieces), np.uint8), np.cumsum(size) - size, size)


def delimited(field: int, columns: Sequence[Column], head: bytes = b"") -> list[Column]:
    """Return a submessage made of the columns, in the rows in which any of them has a piece."""
    count = max((int(column.row.max(initial=-1)) for column in columns), default=-1) + 1
    there = np.zeros(count, np.bool_)
    for column in columns:
        there[column.row] = True
    row = np.flatnonzero(there)
    size = _total(columns, count)[row]
    return [_numbers(head + _tag(field, DELIMITED), row, size.view(np.uint64)), *columns]


def _total(columns: Iterable[Column], count: int) -> Ints:
    """Return how many bytes the columns give each row."""
    size = np.zeros(count, np.int64)
    for column in columns:
        size[column.row] += column.size
    return size


def _no_negative(values: Numbers) -> Numbers:
    if values.min(initial=0) < 0:
        raise ValueError(f"a field of type uint64 takes no negative number: {values.min()}")
    return values


def _tag(field: int, wire_type: int) -> bytes:
    return varint32(field << 3 | wire_type)


def _numbers(head: bytes, row: Ints, values: npt.NDArray[np.uint64]) -> Column:
    """Return varints, each behind the same bytes."""
    return _headed(head, row, *_varints(values))


def _headed(head: bytes, row: Ints, tails: Bytes, size: Ints) -> Column:
    """Return the first bytes of each line of `tails` behind `head`."""
    data = np.empty((len(row), len(head) + tails.shape[1]), np.uint8)
    data[:, : len(head)] = np.frombuffer(head, np.uint8)
    data[:, len(head) :] = tails
    return Column(row, data.reshape(-1), np.arange(len(row)) * data.shape[1], size + len(head))


def _varints(values: npt.NDArray[np.uint64]) -> tuple[Bytes, Ints]:
    """Return the varint of each value as a line of bytes, and how many of them it takes."""
    width = max((int(values.max(initial=0)).bit_length() + 6) // 7, 1)
    size = np.ones(len(values), np.int64)
    digits = np.empty((len(values), width), np.uint8)
    for digit in range(width):
        rest = values >> np.uint64(7 * digit)
        digits[:, digit] = rest.astype(np.uint8) | 0x80
        if digit:
            size += rest > 0
    digits[np.arange(len(values)), size - 1] &= 0x7F
    return digits, size


def _joined(columns: Sequence[Column], count: int) -> Bytes:
    """Return the pieces of all columns, row by row, in a row by the order of the columns."""
    pieces = np.zeros(count, np.int64)
    for column in columns:
        pieces[column.row] += 1
    place = np.cumsum(pieces) - pieces  # of the next piece of each row
    start, size = np.empty(pieces.sum(), np.int64), np.empty(pieces.sum(), np.int64)
    before = 0
    for column in columns:
        at = place[column.row]
        start[at], size[at] = column.start + before, column.size
        place[column.row] = at + 1
        before += len(column.data)
    return _gathered(np.concatenate([column.data for column in columns]), start, size)


def _gathered(data: Bytes, start: Ints, size: Ints) -> Bytes:
    """Return pieces of `data` one behind the other; a long one is copied by itself."""
    behind = np.cumsum(size)
    ahead = behind - size
    shift = start - ahead
    out = np.empty(int(size.sum()), np.uint8)
    even = np.searchsorted(behind, np.arange(0, len(out), BYTES_AT_ONCE), "right")
    long = np.flatnonzero(size > BYTES_AT_ONCE)
    cuts = np.unique(np.concatenate([even, long, long + 1, [len(size)]])).tolist()
    for low, high in pairwise(cuts):
        begin, end = ahead[low], behind[high - 1]
        if high - low == 1:
            out[begin:end] = data[start[low] : start[low] + size[low]]
        else:
            moved = np.repeat(shift[low:high], size[low:high])
            out[begin:end] = data[np.arange(begin, end) + moved]
    return out
