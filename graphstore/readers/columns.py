"""Columns of lists from what a reader collects record by record, without a Python object per value.

In:  the values of all lists, one after another, with the length of each list. Out: polars series.
By polars alone: pyarrow, which could take the values as they lie, imports pandas, half a second a process.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import polars as pl


class IntLists:
    """A list[int] column while it is collected: `add` one list, or None, per row."""

    def __init__(self) -> None:
        """Start empty."""
        self._values = array("q")
        self._ends = array("q", [0])
        self._absent: list[int] = []

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._ends) - 1

    def add(self, values: Iterable[int] | None) -> None:
        """Append a row; OverflowError at a value beyond 64 signed bits, TypeError at one that is no int."""
        if values is None:
            self._absent.append(len(self))
        else:
            try:
                self._values.extend(values)
            except (OverflowError, TypeError):
                del self._values[self._ends[-1] :]
                raise
        self._ends.append(len(self._values))

    def series(self, name: str) -> pl.Series:
        """Return the rows so far as a series of lists."""
        is_absent = np.zeros(len(self), dtype=bool)
        is_absent[self._absent] = True
        values = np.frombuffer(self._values, dtype=np.int64)
        ends = np.frombuffer(self._ends, dtype=np.int64)
        return lists(pl.Series(values), np.diff(ends), is_absent).alias(name)


def lists(values: pl.Series, lengths: npt.NDArray[np.int64], is_absent: npt.NDArray[np.bool_]) -> pl.Series:
    """Return a column of lists from what all of them hold; null where one is absent (and has length 0)."""
    has_some = np.flatnonzero(lengths)
    row = pl.Series(np.repeat(has_some, lengths[has_some])).set_sorted()
    found = (
        pl.DataFrame({"row": row, "list": values}).group_by("row", maintain_order=True).agg("list")["list"]
    )
    found.append(pl.Series([[]], dtype=found.dtype))
    place = np.full(len(lengths), len(has_some))  # of an empty list: the last
    place[has_some] = np.arange(len(has_some))
    return found.gather(pl.Series(place).set(pl.Series(is_absent), None))
