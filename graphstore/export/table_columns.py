"""Columns of the flat tables: all groups, collectives and calls of a run, pulled page by page from the store.

In:  a store and a run. Out: frames in no order, as the headers of the statements say, but with null for null,
     true and false for 1 and 0, and lists of element types.
Decided here: how much is pulled at once. A page takes the calls of all ranks, since a statement a rank would
go through the calls of the run once a rank.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from graphstore.errors import LedgerError
from graphstore.queries.columns import read_lists
from graphstore.queries.run import run_query
from graphstore.store.base import Progress, Store

PAGE_KEYS = 1 << 17  # of 35 columns: 4.6 of the 10 million items at which the embedded engine gives up
BOOLEANS = ("in_flight", "site_differs", "shape_differs", "retired")
DTYPES = ("in_dtypes", "out_dtypes")


@dataclass(frozen=True)
class TableColumns:
    """What the tables of a run are made of; each call is either in `calls` or in `transfers`."""

    groups: pl.DataFrame  # communication/show_groups
    collectives: pl.DataFrame  # communication/show_collective_table
    calls: pl.DataFrame  # communication/show_call_table
    transfers: pl.DataFrame  # communication/show_transfer_table


class _Watch:
    """Reports how many of the run's collectives and calls have come."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress, self._total, self._done = progress, total, 0

    def add(self, nodes: int) -> None:
        self._done += nodes
        if self._progress:
            self._progress("export", self._done, self._total)


def read_table_columns(store: Store, run: str, progress: Progress | None = None) -> TableColumns:
    """Return the columns of a run; frames without rows where it holds no communication.

    Raises LedgerError when a call or collective is in none of the frames, or in two.
    """
    ops = run_query(store, run, "structure/count_ops_by_page", page_keys=PAGE_KEYS)
    calls = _pages(ops.filter(pl.col("kind") == "CollectiveCall"))
    found = _pages(run_query(store, run, "communication/count_collectives_by_page", page_keys=PAGE_KEYS))
    watch = _Watch(progress, sum(found.values()) + sum(calls.values()))
    columns = TableColumns(
        groups=run_query(store, run, "communication/show_groups").unique("group", maintain_order=True),
        collectives=_read(store, run, "communication/show_collective_table", list(found), watch),
        calls=_read(store, run, "communication/show_call_table", list(calls), watch),
        transfers=_read(store, run, "communication/show_transfer_table", list(calls), watch),
    )
    _balance("communication calls", sum(calls.values()), columns.calls.height + columns.transfers.height)
    _balance("collectives", sum(found.values()), columns.collectives.height)
    return columns


def _pages(counted: pl.DataFrame) -> dict[int, int]:
    """Return {page: nodes in it} over all ranks, ascending."""
    summed = counted.group_by("page").agg(pl.col("nodes").sum()).sort("page")
    return dict(summed.select("page", "nodes").iter_rows())


def _read(store: Store, run: str, name: str, pages: Sequence[int], watch: _Watch) -> pl.DataFrame:
    """Return the rows of a paged statement; one page at least is asked, for the columns."""
    frames = []
    for page in pages or [0]:
        rows = read_lists(store, run, name, first=page * PAGE_KEYS, after=(page + 1) * PAGE_KEYS)
        watch.add(rows.height)
        frames.append(_recorded(rows))
    return pl.concat(frames)


def _recorded(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with null for -1 and '', booleans for 1 and 0, and lists of element types."""
    nulls = [
        pl.when(pl.col(name) != (-1 if kind == pl.Int64 else "")).then(name).alias(name)
        for name, kind in rows.schema.items()
    ]
    types = [pl.col(name).cast(pl.Boolean) for name in BOOLEANS if name in rows.columns]
    types += [_listed(name) for name in DTYPES if name in rows.columns]
    return rows.with_columns(nulls).with_columns(types)


def _listed(name: str) -> pl.Expr:
    """Return ',a,b,' as [a, b] and ',' as []."""
    inside = pl.col(name).str.strip_suffix(",").str.strip_prefix(",")
    return pl.when(inside != "").then(inside.str.split(",")).when(inside == "").then([]).alias(name)


def _balance(what: str, given: int, read: int) -> None:
    if given != read:
        raise LedgerError(
            f"{given} {what} in the store but {read} rows of them. Nothing was written; "
            "this is a defect of graphstore."
        )
