"""Columns of one rank, pulled from the store through the catalogue; export reads nothing else.

In:  a store and a run. Out: frames, ascending by uid, in which -1 and '' stand for null, as the headers of
     the statements say. How much is pulled at once: queries/columns.py.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from graphstore import queries
from graphstore.export.order import Ints
from graphstore.queries.columns import RankKeys, read_lists, read_pages
from graphstore.store.base import Store


@dataclass(frozen=True)
class RankColumns:
    """One rank: ops of each kind, edges between them, communication calls. Edges and calls name uids."""

    rank: int
    host: pl.DataFrame  # structure/show_host_op_order
    kernels: pl.DataFrame  # linking/show_kernel_columns
    launches: pl.DataFrame  # linking/show_launch_columns: runtime calls
    edges: pl.DataFrame  # edge_type, source, target: CTRL, LAUNCHES, DATA
    waits: pl.DataFrame  # source, target, rule: SYNC
    calls: pl.DataFrame  # communication/show_call_columns
    call_ops: pl.DataFrame  # role, call_uid, op_uid


@dataclass(frozen=True)
class ChakraColumns:
    """One rank of an imported Chakra file: its nodes, and its deps as edges (CTRL and DATA) between uids."""

    rank: int
    nodes: pl.DataFrame  # structure/show_chakra_node_columns
    edges: pl.DataFrame


def read_rank(store: Store, run: str, keys: RankKeys) -> RankColumns:
    """Return the columns of a rank that was read from execution traces or Kineto traces."""
    return RankColumns(
        rank=keys.rank,
        host=read_pages(store, run, "structure/show_host_op_order", keys, "HostOp").sort("uid"),
        kernels=read_pages(store, run, "linking/show_kernel_columns", keys, "Kernel").sort("uid"),
        launches=read_pages(store, run, "linking/show_launch_columns", keys, "RuntimeCall").sort("uid"),
        edges=read_edges(store, run, keys).filter(pl.col("edge_type") != "SYNC"),
        waits=read_pages(store, run, "structure/show_sync_columns", keys).sort("rule", "source", "target"),
        calls=read_lists(store, run, "communication/show_call_columns", rank=keys.rank).sort("uid"),
        call_ops=read_lists(store, run, "communication/show_call_ops", rank=keys.rank),
    )


def read_chakra_rank(store: Store, run: str, keys: RankKeys) -> ChakraColumns:
    """Return the columns of a rank that was read from a Chakra file."""
    nodes = read_pages(store, run, "structure/show_chakra_node_columns", keys, "ChakraNode").sort("uid")
    return ChakraColumns(keys.rank, nodes, read_edges(store, run, keys))


def read_edges(store: Store, run: str, keys: RankKeys) -> pl.DataFrame:
    """Return the CTRL, LAUNCHES, DATA and SYNC edges that leave the rank's ops, sorted by type and ends."""
    edges = read_pages(store, run, "structure/show_edge_columns", keys)
    return edges.sort("edge_type", "source", "target")


def read_details(store: Store, run: str, name: str, uids: Ints) -> pl.DataFrame:
    """Return the rows of a statement that takes `$uids` (keys of ops, no repeats), in the order of `uids`."""
    found = read_lists(store, run, name, uids=uids.tolist()).sort("uid")
    return found[np.searchsorted(found["uid"].to_numpy(), uids)]


def read_groups(store: Store, run: str) -> pl.DataFrame:
    """Return the process groups of a run: group, pg_name, members, complete."""
    return queries.run_query(store, run, "communication/show_group_members")
