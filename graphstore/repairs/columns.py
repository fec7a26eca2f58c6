"""One rank's host ops and edges as numpy columns, the form every rule of this room reckons with.

In:  a store, a run, the keys of a rank (queries/columns.py, where it is decided how much is pulled at once).
Out: `RankOps`: places 0 … n-1 in ascending uid, callers and enclosers as places, -1 for none; `OrderNodes`,
     `Edges` and `DeviceOps` of the rules that are about edges.
Nothing is decided here; which ops are at fault is told by the queries of each rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from graphstore.queries.columns import RankKeys, read_pages
from graphstore.repairs.back_edges import KINDS, Edges, OrderNodes
from graphstore.repairs.stream_order import DeviceOps
from graphstore.repairs.tree import NONE, Bools, Ints
from graphstore.store.base import Store

GLOO = "gloo:"

Texts = npt.NDArray[np.object_]


@dataclass
class RankOps:
    """The host ops of one rank, in ascending uid. `parent` and `encloser` are places, ids -1 when null."""

    rank: int
    uid: Ints
    node_id: Ints
    parent_id: Ints
    tid: Ints
    rf_id: Ints
    start_ns: Ints
    duration_ns: Ints  # -1 without times
    thread: Ints
    encloser: Ints
    parent: Ints  # by CTRL edge; -1 for a top, also where the caller is no host op
    called: Bools  # whether a CTRL edge leads in, from whatever node
    name: Texts

    def __len__(self) -> int:
        """Return the number of host ops."""
        return len(self.uid)

    @cached_property  # asked for each change; worked out each time, it would cost changes times ops
    def has_time(self) -> Bools:
        """Return which ops have a start and a duration."""
        return self.duration_ns >= 0

    @cached_property
    def recorded(self) -> Bools:
        """Return which ops have a node_id, so count for components (Kineto-only spans have none)."""
        return self.node_id >= 0

    def span(self, place: int) -> dict[str, Any]:
        """Return uid, name and times of one op, as evidence."""
        timed = int(self.duration_ns[place]) >= 0
        start = int(self.start_ns[place])
        return {
            "uid": int(self.uid[place]),
            "name": self.name[place],
            "start_ns": start if timed else None,
            "end_ns": start + int(self.duration_ns[place]) if timed else None,
        }

    def title(self, place: int) -> str:
        """Return how a message names one op: its id (or uid) and name."""
        node_id = int(self.node_id[place])
        return f"{self.name[place]} ({f'node {node_id}' if node_id >= 0 else f'uid {self.uid[place]}'})"

    def named(self, *beginnings: str) -> Ints:
        """Return the places of recorded ops whose name begins with one of these, in ascending uid."""
        code, names = self._coded_names
        fits = np.fromiter((name.startswith(beginnings) for name in names), np.bool_, len(names))
        return np.flatnonzero(self.recorded & fits[code]) if names else np.zeros(0, dtype=np.int64)

    @cached_property
    def _coded_names(self) -> tuple[Ints, list[str]]:
        """The number of each op's name, and the distinct names: a million ops share a few hundred."""
        table = pl.DataFrame({"name": pl.Series(self.name.tolist(), dtype=pl.String)})
        code = table.select(pl.col("name").rank("dense").cast(pl.Int64) - 1)["name"].to_numpy()
        return code, table["name"].unique().sort().to_list()


def read_rank(store: Store, run: str, keys: RankKeys) -> RankOps:
    """Return the host ops of one rank with their callers."""
    ops = read_pages(store, run, "structure/show_host_op_columns", keys, "HostOp")
    return rank_ops(keys.rank, ops, read_pages(store, run, "structure/show_caller_columns", keys, "HostOp"))


def read_order_nodes(store: Store, run: str, keys: RankKeys) -> OrderNodes:
    """Return what the nodes of one rank say about order."""
    nodes = read_pages(store, run, "structure/show_order_node_columns", keys).sort("uid")
    return OrderNodes(
        rank=keys.rank,
        **{name: nodes[name].to_numpy() for name in ("uid", "node_id", "start_ns", "duration_ns")},
        is_chakra=(nodes["kind"] == "ChakraNode").to_numpy(),
        name=nodes["name"].to_list(),
    )


def read_edges(store: Store, run: str, keys: RankKeys, nodes: OrderNodes, callers: dict[int, int]) -> Edges:
    """Return the edges of one rank, with the host ops in `callers` below the caller given there."""
    found = read_pages(store, run, "structure/show_edge_columns", keys)
    moved = pl.DataFrame(
        [("CTRL", caller, op) for op, caller in callers.items()], schema=found.schema, orient="row"
    )
    is_moved = (pl.col("edge_type") == "CTRL") & pl.col("target").is_in(moved["target"].implode())
    told = read_pages(store, run, "structure/show_sync_columns", keys)  # the SYNC edges, with their rules
    told = told.filter(
        ~pl.col("rule").str.contains(".", literal=True)
    )  # found ones fit the times, op by piece
    plain = pl.concat([found.filter(~is_moved & (pl.col("edge_type") != "SYNC")), moved])
    parts = [plain.with_columns(rule=pl.lit("")), told.with_columns(edge_type=pl.lit("SYNC"))]
    edges = pl.concat(parts, how="diagonal")
    return Edges(
        kind=edges["edge_type"].replace_strict(KINDS, range(len(KINDS)), return_dtype=pl.Int64).to_numpy(),
        src=places_of(edges["source"].to_numpy(), nodes.uid),
        dst=places_of(edges["target"].to_numpy(), nodes.uid),
        rule=edges["rule"].to_list(),
    )


def read_device_ops(store: Store, run: str, keys: RankKeys) -> DeviceOps:
    """Return the device ops of one rank that a merged trace or Chakra file has ids for."""
    ops = read_pages(store, run, "structure/show_device_op_columns", keys)
    numbers = ("uid", "device", "stream", "start_ns", "duration_ns")
    return DeviceOps(
        keys.rank, **{name: ops[name].to_numpy() for name in numbers}, name=ops["name"].to_list()
    )


def rank_ops(rank: int, ops: pl.DataFrame, callers: pl.DataFrame) -> RankOps:
    """Return the columns of a rank from the rows of show_host_op_columns and of show_caller_columns."""
    column = {series.name: series.to_numpy() for series in ops.sort("uid").iter_columns()}
    uid = column["uid"]
    parent, called = _parents(uid, callers)
    return RankOps(
        rank=rank,
        **(column | {"encloser": places_of(column["encloser"], uid)}),
        parent=parent,
        called=called,
    )


def places_of(wanted: Ints, uid: Ints) -> Ints:
    """Return the places of `wanted` in the ascending `uid`; -1 for what is not among them."""
    if not len(uid):
        return np.full(len(wanted), NONE, dtype=np.int64)
    place = np.minimum(np.searchsorted(uid, wanted), len(uid) - 1)
    return np.where(uid[place] == wanted, place, NONE)


def _parents(uid: Ints, callers: pl.DataFrame) -> tuple[Ints, Bools]:
    """Return the place of every op's caller, and whether it has one at all."""
    child = places_of(callers["uid"].to_numpy(), uid)
    parent = np.full(len(uid), NONE, dtype=np.int64)
    parent[child] = places_of(callers["caller"].to_numpy(), uid)
    called = np.zeros(len(uid), dtype=np.bool_)
    called[child] = True
    return parent, called
