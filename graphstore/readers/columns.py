"""Columns from what a reader collects record by record, without a Python object per value of a list.

In:  flat int64 values with the length of each list. Out: polars series.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable

import numpy as np
import polars as pl
import pyarrow as pa


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
        present = np.ones(len(self), dtype=bool)
        present[self._absent] = False
        lists = pa.LargeListArray.from_arrays(
            pa.array(np.frombuffer(self._ends, dtype=np.int64)),
            pa.array(np.frombuffer(self._values, dtype=np.int64)),
            mask=None if present.all() else pa.array(~present),
        )
        return pl.Series(name, pl.from_arrow(lists), dtype=pl.List(pl.Int64))
