"""Tables keep their rows and columns, also where they have none."""

from __future__ import annotations

import polars as pl
import pytest

from graphstore.model.records import complete, empty, frame, node_schema


@pytest.mark.parametrize(
    "given", [pl.DataFrame(), pl.DataFrame({"other": [1, 2]}), pl.DataFrame({"uid": [1]})]
)
def test_completing_a_table_keeps_its_height(given: pl.DataFrame) -> None:
    """A table without one of the columns, or without any row, gets no row of nothing."""
    schema = node_schema("Kernel")

    found = complete(given, schema)

    assert (found.height, found.columns) == (given.height, list(schema))


def test_a_table_has_every_column_that_is_declared() -> None:
    """Absent ones are null; one that is not declared is an error."""
    found = frame("kernels", {"name": ["k"], "stream": [7]})

    assert found.columns == empty("kernels").columns
    assert found.select("name", "stream", "device").rows() == [("k", 7, None)]
    with pytest.raises(KeyError, match="columns not declared for kernels"):
        frame("kernels", {"nome": ["k"]})
