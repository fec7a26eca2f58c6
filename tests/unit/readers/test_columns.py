from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphstore.readers.columns import IntLists, lists

NUMBERS = st.integers(-(1 << 63), (1 << 63) - 1)


def listed(rows: Sequence[Sequence[object] | None], kind: type[pl.DataType]) -> pl.Series:
    """Return the rows as `lists` makes them of their values, one after another."""
    values = pl.Series([value for row in rows for value in row or ()], dtype=kind)
    lengths = np.array([len(row or ()) for row in rows], dtype=np.int64)
    return lists(values, lengths, np.array([row is None for row in rows], dtype=bool))


@pytest.mark.parametrize(
    "rows", [[["a", "b"], None, [], ["c"]], [["a"], ["b", "c"]], [None], [[]], [None, []], []]
)
def test_absent_and_empty_lists_stay_apart(rows: list[list[str] | None]) -> None:
    """A field that is not there is null, one without values an empty list; in first, last and only place."""
    found = listed(rows, pl.String)

    assert found.dtype == pl.List(pl.String)
    assert found.to_list() == rows


@given(st.lists(st.none() | st.lists(NUMBERS, max_size=3)))
def test_lists_collected_row_by_row_are_those_that_were_added(rows: list[list[int] | None]) -> None:
    """Whatever 64 bits hold comes back, in its row."""
    collected = IntLists()
    for row in rows:
        collected.add(row)

    assert collected.series("found").to_list() == rows


def test_a_series_that_was_taken_does_not_change_with_further_rows() -> None:
    """Readers take what they have block by block and go on."""
    collected = IntLists()
    collected.add([1])
    first = collected.series("found")
    collected.add([2, 3])

    assert first.to_list() == [[1]]
    assert collected.series("found").to_list() == [[1], [2, 3]]
