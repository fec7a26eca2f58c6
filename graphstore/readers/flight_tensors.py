"""Inputs and outputs of Flight Recorder entries as columns: shapes, element counts and element types.

In:  the fields of the entries. Out: the columns of both sides. Raises DumpRefusedError for values of another
type, or too many. Decided here: the bounds; and that the few different sets of tensors of a dump are worked
out once each. No value is written out or compared before its lists were gone through level by level: lists
that share lists would be endless.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import orjson
import polars as pl

from graphstore.readers.columns import lists
from graphstore.readers.flight_columns import ABSENT, LISTS, MOST_TEXT, Codes, Fields, check_types
from graphstore.readers.flight_pickle import DumpRefusedError

Ints = npt.NDArray[np.int64]
Lists = Sequence[Sequence[Any]]

ENCODE = msgspec.json.Encoder().encode
MOST_TENSORS = 4_096  # of one entry
MOST_DIMENSIONS = 64
MOST_VALUES = 16 << 20  # of all lists of a field: lists that are shared cost no bytes in the file
MOST_ELEMENTS = 1 << 50  # of a tensor: the sum over the most tensors fits 64 bits
FIELDS = ("input_sizes", "input_dtypes", "output_sizes", "output_dtypes")


def tensor_columns(fields: Fields) -> dict[str, pl.Series]:
    """Return for in and out: sizes as JSON, nelems (a tensor), msg_nelems (their sum), dtypes; and dtype.

    That is the first element type. An absent field is null; a call without tensors has empty lists.
    """
    distinct, codes = _distinct(fields)
    found: dict[str, pl.Series] = {}
    for side, written in (("in", "input"), ("out", "output")):
        found |= _shapes(distinct[f"{written}_sizes"], side)
        dtypes = distinct[f"{written}_dtypes"]
        names = pl.Series(list(chain.from_iterable(_present(dtypes))), dtype=pl.String)
        found[f"{side}_dtypes"] = _list_series(names, dtypes)
    of_input, of_output = found["in_dtypes"].list.first(), found["out_dtypes"].list.first()
    found["dtype"] = of_input.zip_with(of_input.is_not_null(), of_output)
    return pl.DataFrame(found).select(pl.all().gather(codes)).to_dict()


def _distinct(fields: Fields) -> tuple[Fields, Codes]:
    """Return the different sets of tensors, and which of them each entry has."""
    for name in ("input_sizes", "output_sizes"):
        _check_sizes(fields[name], name)
    for name in ("input_dtypes", "output_dtypes"):
        _check_names(_flat(fields[name], name, MOST_TENSORS), name)
    try:
        # By msgspec, since what orjson writes keeps a kilobyte each.
        keys = list(map(ENCODE, zip(*(fields[name] for name in FIELDS), strict=True)))
    except (OverflowError, UnicodeEncodeError) as error:
        raise DumpRefusedError("sizes or dtypes hold a number of more than 64 bits, or no text") from error
    number_of = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    codes = np.fromiter(map(number_of.__getitem__, keys), dtype=np.uint32, count=len(keys))
    firsts = np.unique(codes, return_index=True)[1].tolist()
    return {name: [fields[name][place] for place in firsts] for name in FIELDS}, codes


def _check_sizes(values: Sequence[Any], field: str) -> None:
    shapes = _flat(values, field, MOST_TENSORS)
    check_types(shapes, field, LISTS, "a list of sizes")
    check_types(_joined(shapes, field, MOST_DIMENSIONS), field, {int}, "a whole number")


def _check_names(values: Sequence[Any], field: str) -> None:
    check_types(values, field, {str}, "text")
    if max(map(len, values), default=0) > MOST_TEXT:
        raise DumpRefusedError(f"{field} of an entry has more than {MOST_TEXT:,} characters")


def _flat(values: Sequence[Any], field: str, most: int) -> list[Any]:
    """Return what lists hold, when they are lists (or absent) and hold no more than `most` each."""
    check_types(values, field, LISTS | {ABSENT}, "a list")
    return _joined(_present(values), field, most)


def _joined(lists: Lists, field: str, most: int) -> list[Any]:
    """Return what lists hold, when they hold no more than `most` each."""
    lengths = list(map(len, lists))
    if max(lengths, default=0) > most:
        raise DumpRefusedError(f"{field} of an entry holds a list of more than {most:,}")
    if sum(lengths) > MOST_VALUES:
        raise DumpRefusedError(f"{field} holds more than {MOST_VALUES:,} values in all")
    return list(chain.from_iterable(lists))


def _shapes(values: Sequence[Lists | None], side: str) -> dict[str, pl.Series]:
    """Return the columns that shapes give, which were checked."""
    lists = _present(values)
    elements = _elements(list(chain.from_iterable(lists)))
    ends = np.concatenate([[0], np.cumsum(_lengths(lists))])
    summed = np.concatenate([[0], np.cumsum(elements)])  # may wrap; the differences are right all the same
    is_absent = pl.Series([value is None for value in values])
    return {
        f"{side}_sizes": pl.Series([orjson.dumps(shapes).decode() for shapes in lists]).set(is_absent, None),
        f"{side}_nelems": _list_series(pl.Series(elements), values),
        f"{side}_msg_nelems": pl.Series(summed[ends[1:]] - summed[ends[:-1]]).set(is_absent, None),
    }


def _elements(shapes: Lists) -> Ints:
    """Return the number of elements of each shape; 1 for one without dimensions."""
    dimensions = _lengths(shapes)
    try:
        sizes = np.array(list(chain.from_iterable(shapes)), dtype=np.int64)
    except OverflowError as error:
        raise DumpRefusedError("a tensor has a size of more than 64 bits") from error
    elements = np.ones(len(shapes), dtype=np.int64)
    has_some = np.flatnonzero(dimensions)
    if len(has_some):
        starts = (np.cumsum(dimensions) - dimensions)[has_some]
        elements[has_some] = np.multiply.reduceat(sizes, starts)
        about = np.multiply.reduceat(sizes.astype(np.float64), starts)  # cannot wrap
        if sizes.min() < 0 or about.max() > MOST_ELEMENTS:
            raise DumpRefusedError("a tensor has a size below 0, or more than 2^50 elements")
    return elements


def _present(values: Sequence[Any]) -> list[Sequence[Any]]:
    return [() if value is None else value for value in values]


def _lengths(lists: Lists) -> Ints:
    return np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))


def _list_series(held: pl.Series, values: Sequence[Sequence[Any] | None]) -> pl.Series:
    """Return a column of lists, null where `values` has none, from what all of them hold."""
    return lists(held, _lengths(_present(values)), np.array([value is None for value in values], dtype=bool))
