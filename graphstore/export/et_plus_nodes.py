"""The nodes of a merged execution trace: host ops with their times, device ops under their launch.

In:  the columns of one rank. Out: the JSON of a node each, ascending by id, and what could not be written.
Decided here: ids stay as recorded; an op without one (known to Kineto only, a device op) or with one used
before gets the next free one. The parent is that of the graph, repairs included; an absent one stays named. A
device op copies inputs, outputs and attributes of its launching op, as `chakra_trace_link` does and
converters expect.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import orjson
import polars as pl

from graphstore.export.columns import read_details, read_edges
from graphstore.export.json_text import microseconds
from graphstore.export.order import NONE, Ints, pick
from graphstore.export.places import places_in
from graphstore.link.nesting import own_time
from graphstore.model.markers import PROCESS_ROOTS
from graphstore.queries.columns import RankKeys, read_lists, read_pages
from graphstore.store.base import Store

NODES_AT_ONCE = 20_000
NO_PARENT = 0  # an execution trace's "unknown"
CALL_ATTRIBUTES = {
    "op_name": ("collective_name", "string"),
    "dtype": ("dtype", "string"),
    "in_msg_nelems": ("in_msg_nelems", "uint64"),
    "out_msg_nelems": ("out_msg_nelems", "uint64"),
    "pg_name": ("pg_name", "string"),
}
PARTS = ("values", "shapes", "types")

Attributes = list[dict[str, Any]]


@dataclass(frozen=True)
class MergedColumns:
    """What is read of a rank."""

    host: pl.DataFrame  # structure/show_host_op_columns
    spans: pl.DataFrame  # time/show_host_op_spans: process
    kernels: pl.DataFrame  # time/show_kernel_spans
    calls: Ints  # keys of runtime calls
    edges: pl.DataFrame
    waits: pl.DataFrame  # source, target, rule: SYNC
    comm: pl.DataFrame  # communication/show_call_columns
    comm_ops: pl.DataFrame  # communication/show_call_ops


@dataclass
class MergedRank:
    """What the nodes of a rank are made of. Places: host ops by uid, then device ops by uid."""

    columns: MergedColumns
    ids: Ints
    parent_ids: Ints
    launcher: Ints  # of each device op the place of its host op; NONE without
    tid: Ints  # of each host op
    own_ns: Ints  # of each host op
    waits: dict[int, list[int]]  # ids a place waits for
    calls: dict[int, Attributes]  # what is recorded of the communication a place is
    no_parent: int | None  # how "unknown" is written
    notes: Counter[str] = field(default_factory=Counter)


def read_merged(store: Store, run: str, keys: RankKeys) -> MergedColumns:
    """Return the columns of a rank, ascending by uid."""
    return MergedColumns(
        host=read_pages(store, run, "structure/show_host_op_columns", keys, "HostOp").sort("uid"),
        spans=read_pages(store, run, "time/show_host_op_spans", keys, "HostOp").sort("uid"),
        kernels=read_pages(store, run, "time/show_kernel_spans", keys, "Kernel").sort("uid"),
        calls=read_pages(store, run, "linking/show_launch_columns", keys, "RuntimeCall")
        .sort("uid")["uid"]
        .to_numpy(),
        edges=read_edges(store, run, keys),
        waits=read_pages(store, run, "structure/show_sync_columns", keys),
        comm=read_lists(store, run, "communication/show_call_columns", rank=keys.rank).sort("uid"),
        comm_ops=read_lists(store, run, "communication/show_call_ops", rank=keys.rank),
    )


def merged_rank(columns: MergedColumns) -> MergedRank:
    """Return ids, parents, launching ops, waits and communication of a rank."""
    host, kernels = columns.host, columns.kernels
    parent, launcher = _parents(columns)
    recorded, named = (
        np.concatenate([host[name].to_numpy(), kernels[name].to_numpy()]) for name in ("node_id", "parent_id")
    )
    ids, renumbered = _ids(recorded, named)
    rank = MergedRank(
        columns,
        ids,
        _parent_ids(columns, ids, parent, named),
        launcher,
        _thread_numbers(columns),
        own_time(
            np.maximum(host["duration_ns"].to_numpy(), 0),
            places_in(host["uid"].to_numpy(), host["encloser"].to_numpy()),
        ),
        {},
        _calls(columns),
        None if ids.min(initial=1) == NO_PARENT else NO_PARENT,  # where 0 is an id it can't be "unknown"
    )
    rank.notes["op whose id was used before, given a new one"] += renumbered
    rank.notes["device op whose launch is in no op, written without a parent"] += int(
        (parent[host.height :] == NONE).sum()
    )
    rank.notes["communication call that only a dump shows"] += columns.comm.join(
        columns.comm_ops, left_on="uid", right_on="call_uid", how="anti"
    ).height
    _add_waits(rank)
    return rank


def _places(columns: MergedColumns, uid: Ints) -> Ints:
    """Return the place of each host or device op; NONE for other nodes."""
    kernel = places_in(columns.kernels["uid"].to_numpy(), uid)
    return np.where(
        kernel == NONE, places_in(columns.host["uid"].to_numpy(), uid), kernel + columns.host.height
    )


def _parents(columns: MergedColumns) -> tuple[Ints, Ints]:
    """Return the place of each node's parent, and of the host op that launched each device op."""
    edges = {
        name: columns.edges.filter(pl.col("edge_type") == name).select("source", "target").to_numpy().T
        for name in ("CTRL", "LAUNCHES")
    }
    count = columns.host.height
    source, target = (_places(columns, uids) for uids in edges["CTRL"])
    called = places_in(columns.calls, edges["CTRL"][1])
    caller = np.full(len(columns.calls), NONE, np.int64)
    caller[called[called != NONE]] = source[called != NONE]
    parent = np.full(count + columns.kernels.height, NONE, np.int64)
    inside = (source != NONE) & (target != NONE)
    parent[target[inside]] = source[inside]
    call, launched = places_in(columns.calls, edges["LAUNCHES"][0]), _places(columns, edges["LAUNCHES"][1])
    by_call = (call != NONE) & (launched != NONE)
    parent[launched[by_call]] = pick(caller, call[by_call], NONE)
    launcher = np.where(parent[count:] < count, parent[count:], NONE)
    return parent, launcher


def _ids(recorded: Ints, parents: Ints) -> tuple[Ints, int]:
    """Return an id for each node, none twice and none that an absent parent has, and how many were in use."""
    first = np.zeros(len(recorded), np.bool_)
    first[np.unique(recorded, return_index=True)[1]] = True
    kept = first & (recorded != NONE)
    free = int(max(recorded.max(initial=0), parents.max(initial=0))) + 1
    ids = recorded.copy()
    ids[~kept] = np.arange(free, free + int((~kept).sum()))
    return ids, int((~kept & (recorded != NONE)).sum())


def _parent_ids(columns: MergedColumns, ids: Ints, parent: Ints, recorded: Ints) -> Ints:
    """Return the id of each parent: present, or absent but named; a process root's own; else none.

    A span of Kineto alone that nothing encloses stands below the process root: the format has one tree.
    """
    named = pick(ids, parent, NONE)
    alone = parent == NONE
    # A parent that is there but hangs on no edge was taken away by a repair.
    absent = alone & (recorded != NONE) & ~np.isin(recorded, ids)
    named[absent] = recorded[absent]
    roots = columns.host["name"].is_in(PROCESS_ROOTS).to_numpy()
    own = np.append(roots, np.zeros(len(ids) - len(roots), np.bool_)) & (named == NONE)
    named[own] = ids[own]
    lone = np.zeros(len(ids), np.bool_)
    lone[: len(roots)] = (columns.host["node_id"] == NONE).to_numpy() & (named[: len(roots)] == NONE)
    if own.any():
        named[lone] = ids[np.flatnonzero(own)[0]]
    return named


def _thread_numbers(columns: MergedColumns) -> Ints:
    """Return the execution trace's thread number of each host op.

    An op known to Kineto only has the number most ops of its thread have; a thread without one a new one.
    """
    spans = columns.spans.select("process", "thread", "tid")
    known = (
        spans.filter((pl.col("tid") != NONE) & (pl.col("thread") != NONE))
        .group_by("process", "thread", "tid")
        .len()
        .sort("process", "thread", "len", "tid", descending=[False, False, True, False])
        .unique(["process", "thread"], keep="first", maintain_order=True)
        .select("process", "thread", by_thread="tid")
    )
    joined = spans.join(known, on=["process", "thread"], how="left", maintain_order="left")
    alone = pl.struct("process", "thread").rank("dense").cast(pl.Int64) + int(
        spans["tid"].to_numpy().max(initial=0)
    )
    number = pl.when(pl.col("tid") != NONE).then("tid").otherwise(pl.coalesce("by_thread", alone))
    return joined.select(number).to_series().to_numpy()


def _add_waits(rank: MergedRank) -> None:
    """Add the recorded waits; one that comes from or leads to what is no node here is counted.

    Waits that were found from times (their rule has a point) are found again when the file is read.
    """
    found = rank.columns.waits["rule"].str.contains(".", literal=True)
    rank.notes["wait found from times, left for who reads the file to find"] += int(found.sum())
    edges = rank.columns.waits.filter(~found)
    source, target = (_places(rank.columns, edges[end].to_numpy()) for end in ("source", "target"))
    inside = (source != NONE) & (target != NONE)
    pairs = zip(target[inside].tolist(), rank.ids[source[inside]].tolist(), strict=True)
    for waiting, awaited in sorted(pairs):
        rank.waits.setdefault(waiting, []).append(awaited)
    rank.notes["wait of or for what is no node of the format"] += int((~inside).sum())


def _calls(columns: MergedColumns) -> dict[int, Attributes]:
    """Return the attributes of the communication calls by place: of record_param_comms and of its kernels."""
    seen = columns.comm_ops.filter(pl.col("role") != "worker")
    named = pl.when(pl.col("op_name") == "").then("collective_kind").otherwise("op_name").alias("op_name")
    recorded = columns.comm.filter(pl.col("source") != "flight_recorder").with_columns(named)
    rows = {row["uid"]: row for row in recorded.to_dicts()}
    places = _places(columns, seen["op_uid"].to_numpy()).tolist()
    names = columns.host["name"]
    out: dict[int, Attributes] = {}
    for call, place in zip(seen["call_uid"].to_list(), places, strict=True):
        is_named = place >= len(names) or (place != NONE and names[place] == "record_param_comms")
        if call in rows and is_named:
            out[place] = [
                {"name": name, "type": kind, "value": rows[call][column]}
                for column, (name, kind) in CALL_ATTRIBUTES.items()
                if rows[call][column] not in (NONE, "")
            ]
    return out


def node_texts(store: Store, run: str, rank: MergedRank) -> Iterator[bytes]:
    """Yield the JSON of each node, ascending by id."""
    order = np.argsort(rank.ids, kind="stable")
    host, kernels = rank.columns.host, rank.columns.kernels
    owners = np.concatenate([np.arange(host.height), rank.launcher])
    for begin in range(0, len(order), NODES_AT_ONCE):
        places = order[begin : begin + NODES_AT_ONCE]
        is_host = places < host.height
        ops = (
            host[places[is_host]].iter_rows(named=True),
            kernels[places[~is_host] - host.height].iter_rows(named=True),
        )
        details = _details(store, run, host["uid"].to_numpy(), owners[places])
        for place, owner in zip(places.tolist(), owners[places].tolist(), strict=True):
            row = next(ops[0] if place < host.height else ops[1])
            yield orjson.dumps(_node(rank, place, row, owner, details.get(owner, {})))


def _details(store: Store, run: str, host_uids: Ints, owners: Ints) -> dict[int, dict[str, Any]]:
    """Return what the host ops at the places `owners` carry, by place."""
    places = np.unique(owners[owners != NONE])
    found = read_details(store, run, "structure/show_host_op_details", host_uids[places])
    return dict(zip(places.tolist(), found.iter_rows(named=True), strict=True))


def _node(
    rank: MergedRank, place: int, row: dict[str, Any], owner: int, details: dict[str, Any]
) -> dict[str, Any]:
    """Return a node; `owner` is the host op whose inputs, outputs and attributes it has."""
    is_host = place < rank.columns.host.height
    above = int(rank.parent_ids[place])
    node: dict[str, Any] = {
        "id": int(rank.ids[place]),
        "name": row["name"],
        "ctrl_deps": rank.no_parent if above == NONE else above,
        "inputs": _values(details, "input"),
        "outputs": _values(details, "output"),
        "attrs": (_attributes(rank, owner, details) if details else []) + rank.calls.get(place, []),
    }
    if not is_host:
        node |= {"cat": row["category"] or row["device_kind"] or "kernel", "ph": "X"}
    if row["duration_ns"] != NONE:
        node |= _times(row, int(rank.own_ns[place]) if is_host else row["duration_ns"])
    if not is_host:
        node |= _device(row)
    if place in rank.waits:
        node["sync_dep"] = rank.waits[place]
    return node


def _values(details: dict[str, Any], side: str) -> dict[str, orjson.Fragment]:
    """Return inputs or outputs as they were recorded; empty lists where they were not."""
    return {part: orjson.Fragment(details.get(f"{side}_{part}") or "[]") for part in PARTS}


def _attributes(rank: MergedRank, owner: int, details: dict[str, Any]) -> Attributes:
    """Return the attributes every node of an execution trace has."""
    values = [
        ("rf_id", "uint64", max(details["rf_id"], 0)),
        ("fw_parent", "uint64", max(details["fw_parent"], 0)),
        ("seq_id", "int64", details["autograd_seq_id"]),
        ("scope", "uint64", max(details["scope"], 0)),
        ("tid", "uint64", int(rank.tid[owner])),
        ("fw_tid", "uint64", max(details["fw_tid"], 0)),
        ("op_schema", "string", details["op_schema"]),
    ]
    return [{"name": name, "type": kind, "value": value} for name, kind, value in values]


def _times(row: dict[str, Any], own_ns: int) -> dict[str, Any]:
    return {
        "ts": microseconds(row["start_ns"]),
        "inclusive_dur": microseconds(row["duration_ns"]),
        "exclusive_dur": microseconds(own_ns),
        "inter_thread_dep": None,
    }


def _device(row: dict[str, Any]) -> dict[str, Any]:
    """Return what only a device op has."""
    known = {"pid": "device", "stream": "stream", "correlation": "correlation"}
    out = {name: row[column] for name, column in known.items() if row[column] != NONE}
    return out | ({"dur": microseconds(row["duration_ns"])} if row["duration_ns"] != NONE else {})
