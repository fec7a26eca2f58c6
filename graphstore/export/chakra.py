"""The nodes of a Chakra file as bytes, made from the columns of one rank.

In:  columns, the nodes in the order of their ids, communications; a function that gives the details of host
     ops. Out: an iterator of blocks of messages in that order, so that a rank of any size needs the memory of
     one block.
Decided here: what stands in which field and attribute (trace-formats §4, decision 20, dependencies §6). Ids
begin with 1 and ascend; every dep points to a smaller id. How columns become bytes: chakra/wire.py, which
takes half the time of an object a node; only the attributes of communications are such objects first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt
import orjson
import polars as pl

from graphstore.chakra import attributes, wire
from graphstore.chakra.et_def_pb2 import GlobalMetadata, IOInfo, Node, NodeType
from graphstore.export.columns import RankColumns
from graphstore.export.communication import Communication
from graphstore.export.fit import Fitted
from graphstore.export.order import NONE, Bools, Ints
from graphstore.export.pieces import BEFORE_WINDOW, CLOSING, DEVICE, FIRST, GAP_TIME, REST, UNEXPLAINED
from graphstore.model.markers import GROUP_INIT

SCHEMA_VERSION = "0.0.4"
FIRST_ID = 1  # proto3 leaves 0 off the wire, and some readers take it for "none"
NODES_AT_ONCE = 20_000
TEXTS = tuple(f"{side}_{part}" for side in ("input", "output") for part in ("values", "shapes", "types"))
# Columns that become attributes, in the order written; where they are known: not -1, not '', not false.
HOST_ATTRIBUTES = (
    *("tid", "thread", "scope", "op_schema", "synthetic"),
    *("rf_id", "autograd_seq_id", "fw_tid", "fw_parent", "node_id"),
)
DEVICE_ATTRIBUTES = ("device", "stream", "device_kind", "correlation", "size_bytes", "node_id")
REST_ATTRIBUTES = ("part_of",)
ATTRIBUTE_BY_COLUMN = {"node_id": "et_id"}  # others are called as their column
# What is no op: pieces of one behind its first, and time of none. Their names, and which lane they hold.
TIME_NAMES = {
    GAP_TIME: "gap",
    BEFORE_WINDOW: "before the window",
    UNEXPLAINED: "unexplained wait",
    CLOSING: "end of the rank",
}
ON_CPU = (FIRST, REST, GAP_TIME)
Details = Callable[[Ints], pl.DataFrame]
Floats = npt.NDArray[np.float64]
Ids = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class RankNodes:
    """What the nodes of a rank are made of, each array one entry a node, in the order of the ids.

    `place`: of its op, host ops by uid, then device ops by uid; NONE for time of no op. `start_us` and
    `duration_us`: -1 without times. `total_us` and `self_us`: on the first piece of a host op its duration
    and own work, on a device op its duration where it is written as another; NaN elsewhere. `rule`:
    what says that it waits. `lead_us`: how long before its start it is written to begin. `first`: place
    among the nodes of the first piece of its op. `communications`: by node.
    """

    columns: RankColumns
    nodes: Fitted
    place: Ints
    first: Ints
    start_us: Ints
    duration_us: Ints
    lead_us: Ints
    total_us: Floats
    self_us: Floats
    rule: list[str]
    communications: dict[int, Communication]


def metadata() -> GlobalMetadata:
    """Return the first message of a file: readers take whatever stands first for it."""
    return GlobalMetadata(version=SCHEMA_VERSION)


def messages(rank: RankNodes, details: Details) -> Iterator[wire.Block]:
    """Yield the nodes of a rank in the order written. Without times in the input a node has none.

    `details(uids)` gives the rows of structure/show_host_op_details for these host ops, in their order.
    """
    types = types_of(rank)
    for first in range(0, len(rank.place), NODES_AT_ONCE):
        nodes = np.arange(first, min(first + NODES_AT_ONCE, len(rank.place)))
        yield wire.block(_fields(rank, nodes, types, details), len(nodes))


def types_of(rank: RankNodes) -> Ints:
    """Return the type of each node."""
    types = np.full(len(rank.place), int(NodeType.COMP_NODE))
    types[is_group_list(rank)] = NodeType.METADATA_NODE
    for node, communication in rank.communications.items():
        types[node] = communication.node_type
    return types


def is_group_list(rank: RankNodes) -> Bools:
    """Return which nodes are the metadata that lists process groups."""
    is_list = np.append((rank.columns.host["name"] == GROUP_INIT).to_numpy(), False)
    place = np.where(rank.nodes.kind == FIRST, rank.place, len(is_list) - 1)
    return np.asarray(is_list[place], np.bool_)


def graph_of(nodes: Fitted) -> tuple[Ids, tuple[Ids, Ids], tuple[Ids, Ids]]:
    """Return the ids written, and how many deps each node has and which: ctrl, then data."""
    named = nodes.ctrl != NONE
    ids = np.arange(len(named)) + FIRST_ID
    ctrl = named.astype(np.uint64), (nodes.ctrl[named] + FIRST_ID).astype(np.uint64)
    data = np.diff(nodes.deps.first).astype(np.uint64), (nodes.deps.ids + FIRST_ID).astype(np.uint64)
    return ids.astype(np.uint64), ctrl, data


@dataclass(frozen=True)
class _Ops:
    """The nodes of a block that are of one kind: their rows in it, and what is known of their ops."""

    row: Ints
    known: pl.DataFrame


def _fields(rank: RankNodes, nodes: Ints, types: Ints, details: Details) -> list[wire.Column]:
    """Return the fields of a block of nodes, by their numbers; rows count within the block."""
    every, kind = np.arange(len(nodes)), rank.nodes.kind[nodes]
    host, device, rests = _host(rank, nodes, details), _device(rank, nodes), _rests(rank, nodes)
    on_cpu = np.isin(kind, ON_CPU) & ~np.isin(nodes, list(rank.communications))  # there no reader takes one
    return [
        *wire.unsigned(Node.ID_FIELD_NUMBER, every, nodes + FIRST_ID),
        *_names(host),
        *_names(device),
        *_names(rests),
        *_names(_times_alone(kind)),
        *wire.number(Node.TYPE_FIELD_NUMBER, every, types[nodes]),
        *_deps(rank.nodes, nodes),
        *_when(rank, nodes),
        *_texts(Node.INPUTS_FIELD_NUMBER, host, TEXTS[:3]),
        *_texts(Node.OUTPUTS_FIELD_NUMBER, host, TEXTS[3:]),
        *attributes.flags("is_cpu_op", every, on_cpu),
        *_attributes(host, HOST_ATTRIBUTES),
        *_attributes(device, DEVICE_ATTRIBUTES),
        *_attributes(rests, REST_ATTRIBUTES),
        *_measured(rank, nodes),
        *_communications(rank, nodes),
    ]


def _host(rank: RankNodes, nodes: Ints, details: Details) -> _Ops:
    """Return the host ops that begin in a block; group metadata as readers want it."""
    row = np.flatnonzero(rank.nodes.kind[nodes] == FIRST)
    ops = rank.columns.host[rank.place[nodes[row]]].select("uid", "name", "node_id", "tid", "thread")
    ops = pl.concat([ops, details(ops["uid"].to_numpy()).drop("uid")], how="horizontal")
    values = ops["input_values"].to_list()
    for op in np.flatnonzero((ops["name"] == GROUP_INIT).to_numpy()).tolist():
        values[op] = _group_text(values[op])
    texts = pl.Series("input_values", values, pl.String)
    return _Ops(row, ops.with_columns(texts, pl.col("synthetic").cast(pl.Boolean)))


def _device(rank: RankNodes, nodes: Ints) -> _Ops:
    """Return the device ops of a block."""
    row = np.flatnonzero(rank.nodes.kind[nodes] == DEVICE)
    return _Ops(row, rank.columns.kernels[rank.place[nodes[row]] - rank.columns.host.height])


def _rests(rank: RankNodes, nodes: Ints) -> _Ops:
    """Return the pieces of ops behind their first: named as the op, `part_of` its id."""
    row = np.flatnonzero(rank.nodes.kind[nodes] == REST)
    names = rank.columns.host["name"][rank.place[nodes[row]]]
    return _Ops(row, pl.DataFrame({"name": names, "part_of": rank.first[nodes[row]] + FIRST_ID}))


def _times_alone(kind: Ints) -> _Ops:
    """Return the nodes that are nothing but time."""
    row = np.flatnonzero(np.isin(kind, list(TIME_NAMES)))
    names = [TIME_NAMES[of] for of in kind[row].tolist()]
    return _Ops(row, pl.DataFrame({"name": pl.Series(names, dtype=pl.String)}))


def _names(some: _Ops) -> list[wire.Column]:
    return wire.text(Node.NAME_FIELD_NUMBER, some.row, some.known["name"])


def _deps(nodes: Fitted, chunk: Ints) -> list[wire.Column]:
    """Return the ctrl deps (one or none) and the data deps of each node."""
    ctrl = nodes.ctrl[chunk]
    named = ctrl != NONE
    first = nodes.deps.first[chunk[0] : chunk[-1] + 2]
    data = nodes.deps.ids[first[0] : first[-1]]
    return [
        *wire.packed(Node.CTRL_DEPS_FIELD_NUMBER, named.astype(np.int64), ctrl[named] + FIRST_ID),
        *wire.packed(Node.DATA_DEPS_FIELD_NUMBER, np.diff(first), data + FIRST_ID),
    ]


def _when(rank: RankNodes, nodes: Ints) -> list[wire.Column]:
    """Return start and duration of the nodes that have times."""
    row = np.flatnonzero(rank.duration_us[nodes] != NONE)
    return [
        *wire.unsigned(Node.START_TIME_MICROS_FIELD_NUMBER, row, rank.start_us[nodes[row]]),
        *wire.unsigned(Node.DURATION_MICROS_FIELD_NUMBER, row, rank.duration_us[nodes[row]]),
    ]


def _texts(field: int, some: _Ops, columns: Sequence[str]) -> list[wire.Column]:
    """Return inputs or outputs as recorded; none where all of them are empty."""
    numbers = (IOInfo.VALUES_FIELD_NUMBER, IOInfo.SHAPES_FIELD_NUMBER, IOInfo.TYPES_FIELD_NUMBER)
    parts = [wire.text(of, some.row, some.known[name]) for of, name in zip(numbers, columns, strict=True)]
    return wire.delimited(field, list(chain.from_iterable(parts)))


def _attributes(some: _Ops, columns: Sequence[str]) -> list[wire.Column]:
    """Return columns of ops as attributes where they are known: not -1, not '', not false."""
    out: list[wire.Column] = []
    for column in columns:
        name, values = ATTRIBUTE_BY_COLUMN.get(column, column), some.known[column]
        if values.dtype == pl.String:
            there = (values != "").to_numpy()
            out += attributes.texts(name, some.row[there], values.filter(there))
        elif values.dtype == pl.Boolean:
            there = values.to_numpy()
            out += attributes.flags(name, some.row[there], there[there])
        else:
            numbers = values.to_numpy()
            there = numbers != NONE
            out += attributes.integers(name, some.row[there], numbers[there])
    return out


def _measured(rank: RankNodes, nodes: Ints) -> list[wire.Column]:
    """Return what was measured beside the times written, and what rule a node waits by."""
    lead, own, total = rank.lead_us[nodes], rank.self_us[nodes], rank.total_us[nodes]
    early, with_own, with_total = lead != 0, ~np.isnan(own), ~np.isnan(total)
    rules = pl.Series(rank.rule[nodes[0] : nodes[-1] + 1], dtype=pl.String)
    waits = (rules != "").to_numpy()
    return [
        *attributes.integers("lead_us", np.flatnonzero(early), lead[early]),
        *attributes.figures("self_us", np.flatnonzero(with_own), own[with_own]),
        *attributes.figures("total_us", np.flatnonzero(with_total), total[with_total]),
        *attributes.texts("rule", np.flatnonzero(waits), rules.filter(waits)),
    ]


def _communications(rank: RankNodes, nodes: Ints) -> list[wire.Column]:
    """Return the attributes of communications: few, of many names and types."""
    row = np.flatnonzero(np.isin(nodes, list(rank.communications)))
    pieces = []
    for node in nodes[row].tolist():
        alone = Node()
        for name, field, value in rank.communications[node].attributes:
            alone.attr.add(**{"name": name, field: value})
        pieces.append(alone.SerializeToString(deterministic=True))
    return [wire.ready(row, pieces)]


def _group_text(values: str) -> str:
    """Return the input of a process_group:init as readers take it: `['[{json}]']`."""
    parts = orjson.loads(values) if values else []
    return f"['{parts[0]}']" if len(parts) == 1 and isinstance(parts[0], str) else values
