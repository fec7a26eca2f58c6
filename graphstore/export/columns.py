"""Columns of one rank, pulled from the store through the catalogue; export reads nothing else.

In:  a store and a run. Out: frames, ascending by uid, in which -1 and '' stand for null (a list of a
     statement holds no nulls), as the headers of the statements say.
Decided here: how much is pulled at once. A row costs a server 40 to 65 µs, a list element next to nothing, so
every statement gives lists; a page of keys bounds what a server and this process hold at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from graphstore import queries
from graphstore.export.order import Ints
from graphstore.store.base import Store

PAGE_KEYS = 500_000  # keys (of whatever kind) a page of columns spans
_POLARS_TYPE: dict[str, Any] = {"text": pl.String, "list[int]": pl.Int64, "list[text]": pl.String}


@dataclass(frozen=True)
class RankColumns:
    """One rank: ops of each kind, edges between them, communication calls. Edges and calls name uids."""

    rank: int
    host: pl.DataFrame  # structure/show_host_op_order
    kernels: pl.DataFrame  # linking/show_kernel_columns
    launches: pl.DataFrame  # linking/show_launch_columns: runtime calls
    edges: pl.DataFrame  # edge_type, source, target: CTRL, LAUNCHES, DATA, SYNC
    calls: pl.DataFrame  # communication/show_call_columns
    call_ops: pl.DataFrame  # role, call_uid, op_uid


@dataclass(frozen=True)
class ChakraColumns:
    """One rank of an imported Chakra file: its nodes, and its deps as edges (CTRL and DATA) between uids."""

    rank: int
    nodes: pl.DataFrame  # structure/show_chakra_node_columns
    edges: pl.DataFrame


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
    rows = queries.run_query(store, run, "structure/count_ops_by_page", page_keys=PAGE_KEYS)
    found: dict[int, RankKeys] = {}
    for rank, kind, page, nodes in rows.iter_rows():
        keys = found.setdefault(rank, RankKeys(rank, {}, {}))
        keys.counts[kind] = keys.counts.get(kind, 0) + nodes
        keys.pages_by_kind.setdefault(kind, []).append(page)
    return list(found.values())


def read_rank(store: Store, run: str, keys: RankKeys) -> RankColumns:
    """Return the columns of a rank that was read from execution traces or Kineto traces."""
    return RankColumns(
        rank=keys.rank,
        host=_pages(store, run, "structure/show_host_op_order", keys, "HostOp"),
        kernels=_pages(store, run, "linking/show_kernel_columns", keys, "Kernel"),
        launches=_pages(store, run, "linking/show_launch_columns", keys, "RuntimeCall"),
        edges=read_edges(store, run, keys),
        calls=_lists(store, run, "communication/show_call_columns", rank=keys.rank).sort("uid"),
        call_ops=_lists(store, run, "communication/show_call_ops", rank=keys.rank),
    )


def read_chakra_rank(store: Store, run: str, keys: RankKeys) -> ChakraColumns:
    """Return the columns of a rank that was read from a Chakra file."""
    nodes = _pages(store, run, "structure/show_chakra_node_columns", keys, "ChakraNode")
    return ChakraColumns(keys.rank, nodes, read_edges(store, run, keys))


def read_edges(store: Store, run: str, keys: RankKeys) -> pl.DataFrame:
    """Return the CTRL, LAUNCHES, DATA and SYNC edges that leave the rank's ops, sorted by type and ends."""
    name = "structure/show_edge_columns"
    frames = [_lists(store, run, name, **page) for page in keys.pages()]
    return pl.concat([pl.DataFrame(schema=_schema(name)), *frames]).sort("edge_type", "source", "target")


def read_details(store: Store, run: str, name: str, uids: Ints) -> pl.DataFrame:
    """Return the rows of a statement that takes `$uids` (keys of ops, no repeats), in the order of `uids`."""
    found = _lists(store, run, name, uids=uids.tolist()).sort("uid")
    return found[np.searchsorted(found["uid"].to_numpy(), uids)]


def read_groups(store: Store, run: str) -> pl.DataFrame:
    """Return the process groups of a run: group, pg_name, members, complete."""
    return queries.run_query(store, run, "communication/show_group_members")


def _pages(store: Store, run: str, name: str, keys: RankKeys, kind: str) -> pl.DataFrame:
    """Return the rows of a paged statement for one rank, ascending by uid."""
    frames = [_lists(store, run, name, **page) for page in keys.pages(kind)]
    return pl.concat([pl.DataFrame(schema=_schema(name)), *frames]).sort("uid")


def _schema(name: str) -> dict[str, Any]:
    """Return the column types of the rows in the lists of a statement, as its header declares them."""
    return {field.name: _POLARS_TYPE[field.type] for field in queries.get(name).columns}


def _lists(store: Store, run: str, name: str, **parameters: Any) -> pl.DataFrame:
    """Return the lists of a statement as rows, of the types its header declares; lone values are repeated."""
    schema = _schema(name)
    lists = [field.name for field in queries.get(name).columns if field.type.startswith("list")]
    rows = queries.run_query(store, run, name, **parameters)
    rows = rows.filter(pl.col(lists[0]).list.len() > 0) if rows.height else rows
    if not rows.height:
        return pl.DataFrame(schema=schema)
    return rows.explode(lists).select(pl.col(column).cast(kind) for column, kind in schema.items())
