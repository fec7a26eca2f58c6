"""The nodes of a Chakra file as protobuf messages, made from the columns of one rank.

In:  columns, the nodes in the order of their ids, communications; a function that gives the details of host
     ops. Out: an iterator of messages in that order, so that a rank of any size needs the memory of one
     chunk.
Decided here: what stands in which field and attribute (trace-formats §4, decision 20, dependencies §6). Ids
begin with 1 and ascend; every dep points to a smaller id. What repeats from node to node is encoded once a
chunk and parsed as a template, which is twice as fast as adding every attribute to every node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
import polars as pl

from graphstore.chakra.et_def_pb2 import GlobalMetadata, Node, NodeType
from graphstore.export.columns import RankColumns
from graphstore.export.communication import Communication
from graphstore.export.fit import Fitted
from graphstore.export.order import NONE, Ints
from graphstore.export.pieces import BEFORE_WINDOW, CLOSING, DEVICE, FIRST, GAP_TIME, REST, UNEXPLAINED
from graphstore.model.markers import GROUP_INIT

SCHEMA_VERSION = "0.0.4"
FIRST_ID = 1  # proto3 leaves 0 off the wire, and some readers take it for "none"
NODES_AT_ONCE = 20_000
TEXTS = tuple(f"{side}_{part}" for side in ("input", "output") for part in ("values", "shapes", "types"))
# Columns that become attributes, as {column: attribute}, written where they are known (not -1, not ''). First
# those that repeat from node to node (int64, then text), then those of each node (int64).
HOST_REPEATED = {"tid": "tid", "thread": "thread", "scope": "scope"}
HOST_TEXTS = {"op_schema": "op_schema"}
HOST_OWN = {name: name for name in ("rf_id", "autograd_seq_id", "fw_tid", "fw_parent")} | {"node_id": "et_id"}
DEVICE_REPEATED = {"device": "device", "stream": "stream"}
DEVICE_TEXTS = {"device_kind": "device_kind"}
DEVICE_OWN = {"correlation": "correlation", "size_bytes": "size_bytes", "node_id": "et_id"}
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


def messages(rank: RankNodes, details: Details) -> Iterator[Node]:
    """Yield the nodes of a rank in the order written. Without times in the input a node has none.

    `details(uids)` gives the rows of structure/show_host_op_details for these host ops, in their order.
    """
    for first in range(0, len(rank.place), NODES_AT_ONCE):
        chunk = np.arange(first, min(first + NODES_AT_ONCE, len(rank.place)))
        starts, durations = rank.start_us[chunk].tolist(), rank.duration_us[chunk].tolist()
        made, deps = _nodes(rank, chunk, details), _deps(rank.nodes, chunk)
        measured = zip(
            rank.lead_us[chunk].tolist(),
            rank.total_us[chunk].tolist(),
            rank.self_us[chunk].tolist(),
            strict=True,
        )
        for number, node, start, duration, (ctrl, data), (lead, total, own), rule in zip(
            chunk.tolist(), made, starts, durations, deps, measured, rank.rule[first:], strict=False
        ):
            node.id = number + FIRST_ID
            node.ctrl_deps.extend(ctrl)
            node.data_deps.extend(data)
            if duration != NONE:
                node.start_time_micros = start
                node.duration_micros = duration
            if lead:
                node.attr.add(name="lead_us", int64_val=lead)
            if own == own:  # not NaN
                node.attr.add(name="self_us", double_val=own)
            if total == total:
                node.attr.add(name="total_us", double_val=total)
            if rule:
                node.attr.add(name="rule", string_val=rule)
            if number in rank.communications:
                _fill_communication(node, rank.communications[number])
            yield node


def graph_of(nodes: Fitted) -> tuple[Ids, tuple[Ids, Ids], tuple[Ids, Ids]]:
    """Return the ids written, and how many deps each node has and which: ctrl, then data."""
    named = nodes.ctrl != NONE
    ids = np.arange(len(named)) + FIRST_ID
    ctrl = named.astype(np.uint64), (nodes.ctrl[named] + FIRST_ID).astype(np.uint64)
    data = np.diff(nodes.deps.first).astype(np.uint64), (nodes.deps.ids + FIRST_ID).astype(np.uint64)
    return ids.astype(np.uint64), ctrl, data


def _nodes(rank: RankNodes, chunk: Ints, details: Details) -> Iterator[Node]:
    """Yield a node for each place, with all that does not depend on other nodes' ids, but its op's."""
    kind, place = rank.nodes.kind[chunk], rank.place[chunk]
    count = rank.columns.host.height
    host = rank.columns.host[place[kind == FIRST]].select("uid", "name", "node_id", "tid", "thread")
    host = pl.concat([host, details(host["uid"].to_numpy()).drop("uid")], how="horizontal")
    makers = {
        FIRST: _host_nodes(host),
        DEVICE: _device_nodes(rank.columns.kernels[place[kind == DEVICE] - count]),
        REST: _rests(rank, chunk[kind == REST]),
    }
    for of in kind.tolist():
        if of in makers:
            yield next(makers[of])
        else:
            yield Node.FromString(TIME_TEMPLATES[of])


def _rests(rank: RankNodes, chunk: Ints) -> Iterator[Node]:
    """Yield nodes for the pieces of ops behind their first: named as the op, `part_of` its id."""
    names = rank.columns.host["name"].gather(rank.place[chunk]).to_list()
    encoded: dict[str, bytes] = {}
    for name, first in zip(names, (rank.first[chunk] + FIRST_ID).tolist(), strict=True):
        if name not in encoded:
            encoded[name] = _time_node(name, is_cpu=True)
        node = Node.FromString(encoded[name])
        node.attr.add(name="part_of", int64_val=first)
        yield node


def _time_node(name: str, is_cpu: bool) -> bytes:
    """Return a node that is nothing but time, encoded."""
    node = Node(name=name, type=NodeType.COMP_NODE)
    node.attr.add(name="is_cpu_op", bool_val=is_cpu)
    return node.SerializeToString()


TIME_TEMPLATES = {kind: _time_node(name, kind in ON_CPU) for kind, name in TIME_NAMES.items()}


def _host_nodes(ops: pl.DataFrame) -> Iterator[Node]:
    """Yield the nodes of host ops, with inputs and outputs as recorded; group metadata is marked as such."""
    values = ops["input_values"].to_list()
    for row in np.flatnonzero((ops["name"] == GROUP_INIT).to_numpy()).tolist():
        values[row] = _group_text(values[row])
    texts = zip(values, *(ops[name].to_list() for name in TEXTS[1:]), strict=True)
    repeated = [*HOST_REPEATED, *HOST_TEXTS, "synthetic"]
    for node, (value, shapes, types, out_value, out_shapes, out_types) in zip(
        _from_templates(ops, repeated, HOST_OWN, _host_template), texts, strict=True
    ):
        if value or shapes or types:
            info = node.inputs
            info.values, info.shapes, info.types = value, shapes, types
        if out_value or out_shapes or out_types:
            info = node.outputs
            info.values, info.shapes, info.types = out_value, out_shapes, out_types
        yield node


def _device_nodes(ops: pl.DataFrame) -> Iterator[Node]:
    """Yield the nodes of device ops."""
    yield from _from_templates(ops, [*DEVICE_REPEATED, *DEVICE_TEXTS], DEVICE_OWN, _device_template)


def _from_templates(
    ops: pl.DataFrame,
    repeated: list[str],
    own: Mapping[str, str],
    template: Callable[[Mapping[str, Any]], Node],
) -> Iterator[Node]:
    """Yield a node per op: what repeats from a template, then the op's own numbers."""
    keys = ["name", *repeated]
    distinct = ops.select(keys).unique(maintain_order=True).with_row_index("template")
    which = ops.select(keys).join(distinct, on=keys, how="left", maintain_order="left")["template"].to_list()
    encoded = [template(row).SerializeToString() for row in distinct.iter_rows(named=True)]
    names = list(own.values())
    parse = Node.FromString
    for number, numbers in zip(which, ops.select(own.keys()).iter_rows(), strict=True):
        node = parse(encoded[number])
        add = node.attr.add
        for name, value in zip(names, numbers, strict=True):
            if value != NONE:
                add(name=name, int64_val=value)
        yield node


def _host_template(row: Mapping[str, Any]) -> Node:
    """Return what nodes of host ops with these columns share. Attribute is_cpu_op stands first."""
    is_metadata = row["name"] == GROUP_INIT
    node = Node(name=row["name"], type=NodeType.METADATA_NODE if is_metadata else NodeType.COMP_NODE)
    node.attr.add(name="is_cpu_op", bool_val=True)
    _fill_repeated(node, row, HOST_REPEATED, HOST_TEXTS)
    if row["synthetic"]:
        node.attr.add(name="synthetic", bool_val=True)
    return node


def _device_template(row: Mapping[str, Any]) -> Node:
    """Return what nodes of device ops with these columns share. Attribute is_cpu_op stands first."""
    node = Node(name=row["name"], type=NodeType.COMP_NODE)
    node.attr.add(name="is_cpu_op", bool_val=False)
    _fill_repeated(node, row, DEVICE_REPEATED, DEVICE_TEXTS)
    return node


def _fill_repeated(
    node: Node, row: Mapping[str, Any], numbers: dict[str, str], texts: dict[str, str]
) -> None:
    """Add the known columns of a row as attributes."""
    for column, name in numbers.items():
        if row[column] != NONE:
            node.attr.add(name=name, int64_val=row[column])
    for column, name in texts.items():
        if row[column]:
            node.attr.add(name=name, string_val=row[column])


def _fill_communication(node: Node, communication: Communication) -> None:
    """Make a node the communication it stands for; on a CPU no reader would take it."""
    node.type = communication.node_type
    node.attr[0].bool_val = False
    for name, field, value in communication.attributes:
        node.attr.add(**{"name": name, field: value})


def _deps(nodes: Fitted, chunk: Ints) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the ids of the ctrl deps (one or none) and of the data deps of each node."""
    ctrl = nodes.ctrl[chunk].tolist()
    first = nodes.deps.first[chunk[0] : chunk[-1] + 2].tolist()
    data = (nodes.deps.ids[first[0] : first[-1]] + FIRST_ID).tolist()
    begin = first[0]
    for above, low, high in zip(ctrl, first[:-1], first[1:], strict=True):
        yield ([] if above == NONE else [above + FIRST_ID]), data[low - begin : high - begin]


def _group_text(values: str) -> str:
    """Return the input of a process_group:init as readers take it: `['[{json}]']`."""
    parts = orjson.loads(values) if values else []
    return f"['{parts[0]}']" if len(parts) == 1 and isinstance(parts[0], str) else values
