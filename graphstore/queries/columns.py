"""Whole columns of a rank, page by page, through statements that give parallel lists in one row.

In:  a store, a run, the name of such a statement. Out: frames of the types its header declares, in which -1
     and '' stand for null (a list of a statement holds no nulls), as the headers say.
Decided here: how much is pulled at once. A row costs a server 40 to 65 µs, a list element next to nothing, so
these statements give lists; a page of keys bounds what a server and this process hold at once (the embedded
engine ends a statement at 10,000,000 collected items).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from graphstore.queries.catalog import get
from graphstore.queries.run import run_query
from graphstore.store.base import Store

PAGE_KEYS = 1 << 19  # keys (of whatever kind) a page of columns spans; a run's first key begins a page
_POLARS_TYPE: dict[str, Any] = {"text": pl.String, "list[int]": pl.Int64, "list[text]": pl.String}


@dataclass(frozen=True)
class RankKeys:
    """How many ops of each kind a rank has, and in which pages of keys they lie."""

    rank: int
    counts: dict[str, int]
    pages_by_kind: dict[str, list[int]]

    def pages(self, kind: str | None = None) -> Iterator[dict[str, int]]:
        """Yield rank, first key and key behind the last of each page with ops (of one kind)."""
        every = {page for pages in self.pages_by_kind.values() for page in pages}
        for page in sorted(every if kind is None else self.pages_by_kind.get(kind, ())):
            yield {"rank": self.rank, "first": page * PAGE_KEYS, "after": (page + 1) * PAGE_KEYS}


def read_keys(store: Store, run: str) -> list[RankKeys]:
    """Return the ranks of a run that hold ops, ascending."""
    rows = run_query(store, run, "structure/count_ops_by_page", page_keys=PAGE_KEYS)
    found: dict[int, RankKeys] = {}
    for rank, kind, page, nodes in rows.iter_rows():
        keys = found.setdefault(rank, RankKeys(rank, {}, {}))
        keys.counts[kind] = keys.counts.get(kind, 0) + nodes
        keys.pages_by_kind.setdefault(kind, []).append(page)
    return list(found.values())


def read_pages(store: Store, run: str, name: str, keys: RankKeys, kind: str | None = None) -> pl.DataFrame:
    """Return the rows of a paged statement for one rank: of the pages that hold `kind`, or of all."""
    frames = [read_lists(store, run, name, **page) for page in keys.pages(kind)]
    return pl.concat([pl.DataFrame(schema=_schema(name)), *frames])


def read_lists(store: Store, run: str, name: str, **parameters: Any) -> pl.DataFrame:
    """Return the lists of a statement as rows, of the types its header declares; lone values are repeated."""
    schema = _schema(name)
    lists = [field.name for field in get(name).columns if field.type.startswith("list")]
    rows = run_query(store, run, name, **parameters)
    rows = rows.filter(pl.col(lists[0]).list.len() > 0) if rows.height else rows
    if not rows.height:
        return pl.DataFrame(schema=schema)
    return rows.explode(lists).select(pl.col(column).cast(kind) for column, kind in schema.items())


def _schema(name: str) -> dict[str, Any]:
    """Return the column types of the rows in the lists of a statement, as its header declares them."""
    return {field.name: _POLARS_TYPE[field.type] for field in get(name).columns}
