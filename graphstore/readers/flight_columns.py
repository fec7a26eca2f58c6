"""Fields of Flight Recorder entries as columns, each checked for type and size before it is used.

In:  entries (dicts of plain data) as `Fields`, and the name of one. Out: a polars series with a row per
entry, null where the field is absent. Raises DumpRefusedError for a value of another type, or too large.
Decided here: the bounds, and that a field is taken through `map` and numpy, never by a loop of Python over
the entries. Lists of tensors: flight_tensors.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from graphstore.readers.flight_pickle import DumpRefusedError

Fields = Mapping[str, Sequence[Any]]  # {field: a value per entry, None where it is absent}
Codes = npt.NDArray[np.uint32]

ENTRIES_AT_ONCE = 1_000
MOST_TEXT = 1_024  # characters of a name
MOST_DURATION_MS = 1e12
ABSENT: type = type(None)
LISTS: set[type] = {list, tuple}


def fields_of(entries: Sequence[dict[Any, Any]], names: Sequence[str]) -> Fields:
    """Return the fields `names` of the entries; the first entry has one of them at least.

    Some thousand entries at a time: all dicts of a dump do not fit into a cache, so going through them once
    for each field takes twice as long.
    """
    fields: dict[str, list[Any]] = {name: [] for name in names}
    for start in range(0, len(entries), ENTRIES_AT_ONCE):
        some = entries[start : start + ENTRIES_AT_ONCE]
        present = [name for name in names if name in some[0]]
        absent = [name for name in names if name not in some[0]]
        try:
            rows = map(
                itemgetter(*present, present[0]), some
            )  # twice the first: of one name it gives no tuple
            for name, values in zip(present, zip(*rows, strict=True), strict=False):
                fields[name].extend(values)
        except KeyError:
            absent = list(names)
        for name in absent:
            fields[name].extend([entry.get(name) for entry in some])
    return fields


def check_types(values: Sequence[Any], field: str, types: set[type], wanted: str) -> None:
    """Raise DumpRefusedError unless the type of every value is one of `types` (a bool is no int here)."""
    if not types.issuperset(map(type, values)):
        place, value = next((n, value) for n, value in enumerate(values) if type(value) not in types)
        raise DumpRefusedError(f"{field} (number {place:,}) is {type(value).__name__}, not {wanted}")


def integers(fields: Fields, field: str) -> pl.Series:
    """Return a field of whole numbers of 64 bits."""
    values = fields[field]
    check_types(values, field, {int, ABSENT}, "a whole number")
    try:
        return pl.Series(field, values, dtype=pl.Int64)
    except (OverflowError, TypeError) as error:
        raise DumpRefusedError(f"{field} of an entry does not fit 64 bits") from error


def times(fields: Fields, field: str) -> pl.Series:
    """Return a field of times, null where they are unknown: absent, or 0 as the JSON form writes it."""
    found = integers(fields, field)
    return found.set(found <= 0, None)


def numbers(fields: Fields, field: str) -> pl.Series:
    """Return a field of numbers, null where they are no duration: negative, infinite, not a number."""
    values = fields[field]
    check_types(values, field, {int, float, ABSENT}, "a number")
    try:
        found = pl.Series(field, values, dtype=pl.Float64, strict=False)
    except OverflowError as error:
        raise DumpRefusedError(f"{field} of an entry is too large") from error
    return found.set(~((found >= 0) & (found < MOST_DURATION_MS)), None)


def booleans(fields: Fields, field: str) -> pl.Series:
    """Return a field of booleans."""
    values = fields[field]
    check_types(values, field, {bool, ABSENT}, "true or false")
    return pl.Series(field, values, dtype=pl.Boolean)


def texts(fields: Fields, field: str) -> pl.Series:
    """Return a field of short texts."""
    return text_series(fields[field], field)


def pairs_of_text(fields: Fields, field: str) -> tuple[pl.Series, pl.Series]:
    """Return the first and the second text of a field of pairs (a tuple; a list in JSON)."""
    pairs = fields[field]
    check_types(pairs, field, LISTS | {ABSENT}, "a pair of texts")
    if None in pairs:
        pairs = [(None, None) if pair is None else pair for pair in pairs]
    if set(map(len, pairs)) != {2}:
        raise DumpRefusedError(f"{field} of an entry is no pair of texts")
    return text_series([pair[0] for pair in pairs], field), text_series([pair[1] for pair in pairs], field)


def text_series(values: Sequence[Any], field: str) -> pl.Series:
    """Return texts, or None, as a series; each distinct one is checked and stored once."""
    distinct, codes = distinct_texts(values, field)
    return distinct.gather(codes)


def distinct_texts(values: Sequence[Any], field: str) -> tuple[pl.Series, Codes]:
    """Return the distinct ones among texts, or None, and which of them each value is."""
    check_types(values, field, {str, ABSENT}, "text")
    distinct = dict.fromkeys(values)
    given = [text for text in distinct if text is not None]
    if max(map(len, given), default=0) > MOST_TEXT:
        raise DumpRefusedError(f"{field} of an entry has more than {MOST_TEXT:,} characters")
    try:
        "".join(given).encode()
    except UnicodeEncodeError as error:
        raise DumpRefusedError(f"{field} of an entry is no text") from error
    number_of = {text: number for number, text in enumerate(distinct)}
    codes = np.fromiter(map(number_of.__getitem__, values), dtype=np.uint32, count=len(values))
    return pl.Series(field, list(distinct), dtype=pl.String), codes
