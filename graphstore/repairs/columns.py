"""One rank's host ops and edges as numpy columns, the form every rule of this room reckons with.

In:  a store, a run, a rank.
Out: `RankOps`: places 0 … n-1 in ascending uid, callers and enclosers as places, -1 for none; `OrderNodes`,
     `Edges` and `DeviceOps` of the rules that are about edges.
Nothing is decided here; which ops are at fault is told by the queries of each rule.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from graphstore.queries.run import run_query
from graphstore.repairs.back_edges import KINDS, Edges, OrderNodes
from graphstore.repairs.stream_order import DeviceOps
from graphstore.repairs.tree import NONE, Bools, Ints
from graphstore.store.base import Store

# the roots an execution trace writes; older files say execution_graph (trace-formats §1)
PROCESS_ROOT = re.compile(r"\[pytorch\|profiler\|execution_(trace|graph)\|process\]")
THREAD_ROOT = re.compile(r"\[pytorch\|profiler\|execution_(trace|graph)\|thread\]")
PROCESS_ROOT_NAME = "[pytorch|profiler|execution_trace|process]"
GLOO = "gloo:"
ALL_KEYS = {"first": 0, "after": (1 << 63) - 1}

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

    @property
    def has_time(self) -> Bools:
        """Return which ops have a start and a duration."""
        return self.duration_ns >= 0

    @property
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

    def named(self, pattern: re.Pattern[str]) -> Ints:
        """Return the places of recorded ops whose name begins as `pattern` says, in ascending uid."""
        code, names = self._coded_names
        fits = np.fromiter((pattern.match(name) is not None for name in names), np.bool_, len(names))
        return np.flatnonzero(self.recorded & fits[code]) if names else np.zeros(0, dtype=np.int64)

    @cached_property
    def _coded_names(self) -> tuple[Ints, list[str]]:
        """The number of each op's name, and the distinct names: a million ops share a few hundred."""
        table = pl.DataFrame({"name": pl.Series(self.name.tolist(), dtype=pl.String)})
        code = table.select(pl.col("name").rank("dense").cast(pl.Int64) - 1)["name"].to_numpy()
        return code, table["name"].unique().sort().to_list()


def read_rank(store: Store, run: str, rank: int) -> RankOps:
    """Return the host ops of one rank with their callers."""
    ops = run_query(store, run, "structure/show_host_op_columns", rank=rank)
    return rank_ops(rank, ops.row(0, named=True), edge_columns(store, run, rank).get("CTRL", ([], [])))


def edge_columns(store: Store, run: str, rank: int) -> dict[str, tuple[list[int], list[int]]]:
    """Return {type: (uids the edges leave, uids they lead to)} of a rank's edges between ops."""
    rows = run_query(store, run, "structure/show_edge_columns", rank=rank, **ALL_KEYS)
    return {kind: (source, target) for kind, source, target in rows.iter_rows()}


def read_order_nodes(store: Store, run: str, rank: int) -> OrderNodes:
    """Return what the nodes of one rank say about order."""
    row = run_query(store, run, "structure/show_order_node_columns", rank=rank).row(0, named=True)
    order = np.argsort(np.asarray(row["uid"], dtype=np.int64))
    number = {
        name: np.asarray(row[name], dtype=np.int64)[order]
        for name in ("uid", "node_id", "start_ns", "duration_ns")
    }
    text = {name: np.asarray(row[name], dtype=object)[order] for name in ("kind", "name")}
    return OrderNodes(rank=rank, **number, is_chakra=text["kind"] == "ChakraNode", name=text["name"].tolist())


def read_edges(store: Store, run: str, rank: int, nodes: OrderNodes, callers: dict[int, int]) -> Edges:
    """Return the edges of one rank, with the host ops in `callers` below the caller given there."""
    found = edge_columns(store, run, rank)
    source, target = found.pop("CTRL", ([], []))
    kept = [(src, dst) for src, dst in zip(source, target, strict=True) if dst not in callers]
    kept += [(caller, op) for op, caller in callers.items()]
    ends = {"CTRL": ([src for src, _ in kept], [dst for _, dst in kept])} | found
    sync = run_query(store, run, "structure/show_sync_columns", rank=rank).row(0, named=True)
    ends["SYNC"] = (sync["source"], sync["target"])  # in the order of their rules
    return Edges(
        kind=np.concatenate([np.full(len(ends[kind][0]), KINDS.index(kind)) for kind in ends]),
        src=places_of(
            np.asarray([uid for src, _ in ends.values() for uid in src], dtype=np.int64), nodes.uid
        ),
        dst=places_of(
            np.asarray([uid for _, dst in ends.values() for uid in dst], dtype=np.int64), nodes.uid
        ),
        rule=[
            text for kind in ends for text in (sync["rule"] if kind == "SYNC" else [""] * len(ends[kind][0]))
        ],
    )


def read_device_ops(store: Store, run: str, rank: int) -> DeviceOps:
    """Return the device ops of one rank that a merged trace or Chakra file has ids for."""
    row = run_query(store, run, "structure/show_device_op_columns", rank=rank).row(0, named=True)
    numbers = ("uid", "device", "stream", "start_ns", "duration_ns")
    return DeviceOps(
        rank=rank, **{name: np.asarray(row[name], dtype=np.int64) for name in numbers}, name=row["name"]
    )


def rank_ops(rank: int, ops: dict[str, list[Any]], ctrl: tuple[list[int], list[int]]) -> RankOps:
    """Return the columns of a rank from the row of show_host_op_columns and its CTRL edges (from, to)."""
    order = np.argsort(np.asarray(ops["uid"], dtype=np.int64))
    column = {
        name: np.asarray(values, dtype=object if name == "name" else np.int64)[order]
        for name, values in ops.items()
    }
    uid = column["uid"]
    parent, called = _parents(uid, ctrl)
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


def _parents(uid: Ints, ctrl: tuple[list[int], list[int]]) -> tuple[Ints, Bools]:
    """Return the place of every op's caller, and whether it has one at all."""
    child = places_of(np.asarray(ctrl[1], dtype=np.int64), uid)
    caller = places_of(np.asarray(ctrl[0], dtype=np.int64), uid)
    inside = child != NONE
    parent = np.full(len(uid), NONE, dtype=np.int64)
    parent[child[inside]] = caller[inside]
    called = np.zeros(len(uid), dtype=np.bool_)
    called[child[inside]] = True
    return parent, called
