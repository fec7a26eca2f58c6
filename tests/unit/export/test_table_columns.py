"""Pages of parallel lists become frames in which null, booleans and lists are what they were in the graph."""

from __future__ import annotations

from typing import Any, cast

import polars as pl
import pytest

from graphstore import queries
from graphstore.errors import LedgerError
from graphstore.export.table_columns import PAGE_KEYS, TableColumns, read_table_columns
from graphstore.store import Store

CALLS, TRANSFERS = "communication/show_call_table", "communication/show_transfer_table"
LISTED: dict[str, Any] = {"text": pl.String, "list[int]": pl.List(pl.Int64), "list[text]": pl.List(pl.String)}
LISTED |= {"int": pl.Int64, "bool": pl.Boolean}


def lists(name: str, *rows: dict[str, Any]) -> pl.DataFrame:
    """Return what a store gives for a statement: one row of lists, nulls as the statement writes them."""
    columns = {field.name: -1 if field.type == "list[int]" else "" for field in queries.get(name).columns}
    return pl.DataFrame(
        {column: [[row.get(column, null) for row in rows]] for column, null in columns.items()}
    )


class Pages:
    """A store that holds two pages of calls; each has the rows given for it by statement and first key."""

    def __init__(self, answers: dict[tuple[str, int], pl.DataFrame]) -> None:
        """Keep the answers by the text that asks for them."""
        self.answers = {(queries.get(name).text, page): rows for (name, page), rows in answers.items()}

    def query(self, run: str, text: str, parameters: dict[str, Any], **_: Any) -> pl.DataFrame:
        """Return the rows given, else none."""
        if text == queries.get("structure/count_ops_by_page").text:
            pages = [(0, "CollectiveCall", 4, 1), (1, "CollectiveCall", 4, 1), (0, "CollectiveCall", 9, 1)]
            return pl.DataFrame(
                [*pages, (0, "HostOp", 5, 7)], ["rank", "kind", "page", "nodes"], orient="row"
            )
        (query,) = [query for query in queries.catalog().values() if query.text == text]
        found = self.answers.get((text, parameters.get("first", 0) // PAGE_KEYS))
        empty = {field.name: LISTED[field.type] for field in query.columns}
        return pl.DataFrame(schema=empty) if found is None else found


def read(answers: dict[tuple[str, int], pl.DataFrame]) -> TableColumns:
    """Return the columns that come from such a store."""
    return read_table_columns(cast(Store, Pages(answers)), "run")


def test_each_page_with_calls_is_asked_once_for_all_ranks() -> None:
    """Two ranks share page 4; pages with other ops only are not asked."""
    columns = read(
        {
            (CALLS, 4): lists(CALLS, {"uid": 1}, {"uid": 2}),
            (TRANSFERS, 9): lists(TRANSFERS, {"uid": 3}),
            (CALLS, 5): lists(CALLS, {"uid": 4}),
        }
    )

    assert columns.calls["uid"].to_list() == [1, 2]
    assert columns.transfers["uid"].to_list() == [3]


def test_what_stands_for_null_is_null_again() -> None:
    """An int, a text, a boolean, and element types: none recorded is not the same as no tensor."""
    whole = {"uid": 1, "retired": 0, "state": "started", "in_dtypes": ",Float,Half,", "out_dtypes": ","}
    columns = read({(CALLS, 4): lists(CALLS, whole, {"uid": 2}, {"uid": 3, "in_dtypes": ",Float,"})})

    shown = columns.calls.select("uid", "record_id", "retired", "state", "in_dtypes", "out_dtypes")
    assert shown.rows() == [
        (1, None, False, "started", ["Float", "Half"], []),
        (2, None, None, None, None, None),
        (3, None, None, None, ["Float"], None),
    ]


def test_a_call_that_does_not_come_is_a_defect() -> None:
    """Calls counted and rows read are compared, so that none is lost in silence."""
    with pytest.raises(LedgerError, match="3 communication calls in the store but 1 rows"):
        read({(CALLS, 4): lists(CALLS, {"uid": 1})})
