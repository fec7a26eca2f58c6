"""The nodes of a Chakra file as protobuf messages, made from the columns of one rank.

In:  columns, their dependencies, times and communications; a function that gives the details of host ops.
Out: an iterator of messages in the order written, so that a rank of any size needs the memory of one chunk.
Decided here: what stands in which field and attribute (trace-formats §4, decision 20). Ids begin with 1 and
ascend in the order written; every dep points to a smaller id. What repeats from node to node is encoded once
and parsed as a template, which is twice as fast as adding every attribute to every node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson
import polars as pl

from graphstore.chakra.et_def_pb2 import GlobalMetadata, Node, NodeType
from graphstore.export.columns import RankColumns
from graphstore.export.communication import Communication
from graphstore.export.dependencies import Dependencies
from graphstore.export.order import GROUP_INIT, NONE, Ints, pick

SCHEMA_VERSION = "0.0.4"
FIRST_ID = 1  # proto3 leaves 0 off the wire, and some readers take it for "none"
NODES_AT_ONCE = 20_000
TEMPLATES_KEPT = 50_000
TEXTS = tuple(f"{side}_{part}" for side in ("input", "output") for part in ("values", "shapes", "types"))
# What repeats, then what differs from node to node. Written where it is known (not -1, not empty).
HOST_REPEATED = ("tid", "thread", "scope")
HOST_OWN = ("node_id", "rf_id", "autograd_seq_id", "fw_tid", "fw_parent")
DEVICE_REPEATED = ("device", "stream")
DEVICE_OWN = ("correlation", "node_id", "size_bytes")
ATTRIBUTE = {"node_id": "et_id"}  # attribute names that differ from the column's
Details = Callable[[Ints], pl.DataFrame]
Row = Mapping[str, Any]


@dataclass(frozen=True)
class RankNodes:
    """What the nodes of a rank are made of. `start_us` and `duration_us` are per place, -1 without times."""

    columns: RankColumns
    plan: Dependencies
    start_us: Ints
    duration_us: Ints
    communications: dict[int, Communication]


def metadata() -> GlobalMetadata:
    """Return the first message of a file: readers take whatever stands first for it."""
    return GlobalMetadata(version=SCHEMA_VERSION)


def messages(rank: RankNodes, details: Details) -> Iterator[Node]:
    """Yield the nodes of a rank in the order written.

    `details(uids)` gives the rows of structure/show_host_op_details for these host ops, in their order.
    """
    templates = _Templates()
    for first in range(0, len(rank.plan.order), NODES_AT_ONCE):
        places = rank.plan.order[first : first + NODES_AT_ONCE]
        rows = _rows(rank.columns, places, details)
        ids = range(first + FIRST_ID, first + FIRST_ID + len(places))
        times = zip(rank.start_us[places].tolist(), rank.duration_us[places].tolist(), strict=True)
        deps = _deps(rank.plan, places)
        for node_id, place, row, time, dep in zip(ids, places.tolist(), rows, times, deps, strict=True):
            yield _node(node_id, row, time, dep, rank.communications.get(place), templates)


def _rows(columns: RankColumns, places: Ints, details: Details) -> Iterator[Row]:
    """Yield the columns of the op at each place, by name; only device ops have `device_kind`."""
    count = columns.host.height
    on_host = places < count
    host = columns.host[places[on_host]].select("uid", "name", "node_id", "tid", "thread")
    host = pl.concat([host, details(host["uid"].to_numpy()).drop("uid")], how="horizontal")
    hosts, kernels = (
        host.iter_rows(named=True),
        columns.kernels[places[~on_host] - count].iter_rows(named=True),
    )
    for is_host in on_host.tolist():
        yield next(hosts if is_host else kernels)


def _deps(plan: Dependencies, places: Ints) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the ids of the ctrl deps (one or none) and of the data deps of each place."""
    parent = plan.ctrl[places]
    ctrl = pick(plan.number + FIRST_ID, parent, NONE).tolist()
    first, after = plan.data_first[places], plan.data_first[places + 1]
    sizes = after - first
    begin = np.cumsum(sizes) - sizes
    flat = np.repeat(first - begin, sizes) + np.arange(int(sizes.sum()))
    data = (plan.number[plan.data[flat]] + FIRST_ID).tolist()
    for above, at, size in zip(ctrl, begin.tolist(), sizes.tolist(), strict=True):
        yield ([] if above == NONE else [above]), data[at : at + size]


class _Templates:
    """Nodes that hold what repeats from node to node, encoded, by what they hold."""

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], bytes] = {}

    def host(self, row: Row, on_cpu: bool) -> Node:
        """Return a new node for a host op."""
        texts = {"op_schema": row["op_schema"]} | ({"synthetic": "true"} if row["synthetic"] else {})
        return self._new(
            row["name"], on_cpu, tuple(row[name] for name in HOST_REPEATED), HOST_REPEATED, texts
        )

    def device(self, row: Row) -> Node:
        """Return a new node for a device op."""
        texts = {"device_kind": row["device_kind"]}
        return self._new(
            row["name"], False, tuple(row[name] for name in DEVICE_REPEATED), DEVICE_REPEATED, texts
        )

    def _new(
        self,
        name: str,
        on_cpu: bool,
        numbers: tuple[int, ...],
        names: tuple[str, ...],
        texts: Mapping[str, str],
    ) -> Node:
        key = (name, on_cpu, numbers, names, *texts.items())
        encoded = self._known.get(key)
        if encoded is None:
            node = Node(name=name, type=NodeType.COMP_NODE)
            node.attr.add(name="is_cpu_op", bool_val=on_cpu)
            for attribute, number in zip(names, numbers, strict=True):
                if number != NONE:
                    node.attr.add(name=attribute, int64_val=number)
            for attribute, text in texts.items():
                if text:
                    node.attr.add(name=attribute, string_val=text)
            if len(self._known) == TEMPLATES_KEPT:
                self._known.clear()
            encoded = self._known[key] = node.SerializeToString(deterministic=True)
        return Node.FromString(encoded)


def _node(
    node_id: int,
    row: Row,
    time: tuple[int, int],
    deps: tuple[list[int], list[int]],
    communication: Communication | None,
    templates: _Templates,
) -> Node:
    """Return one node. Without times in the input, it has neither start nor duration."""
    is_device = "device_kind" in row
    node = templates.device(row) if is_device else templates.host(row, on_cpu=communication is None)
    node.id = node_id
    node.ctrl_deps.extend(deps[0])
    node.data_deps.extend(deps[1])
    if time[1] != NONE:
        node.start_time_micros, node.duration_micros = time
    add = node.attr.add
    for name in DEVICE_OWN if is_device else HOST_OWN:
        value = row[name]
        if value != NONE:
            add(name=ATTRIBUTE.get(name, name), int64_val=value)
    if not is_device:
        _fill_host(node, row)
    if communication is not None:
        node.type = communication.node_type
        for name, field, value in communication.attributes:
            add(**{"name": name, field: value})
    return node


def _fill_host(node: Node, row: Row) -> None:
    """Give a host op's node its inputs and outputs as recorded; group metadata is marked as such."""
    values, shapes, types, output_values, output_shapes, output_types = (row[name] for name in TEXTS)
    if row["name"] == GROUP_INIT:
        node.type = NodeType.METADATA_NODE
        values = _group_text(values)
    if values or shapes or types:
        node.inputs.values, node.inputs.shapes, node.inputs.types = values, shapes, types
    if output_values or output_shapes or output_types:
        node.outputs.values, node.outputs.shapes, node.outputs.types = (
            output_values,
            output_shapes,
            output_types,
        )


def _group_text(values: str) -> str:
    """Return the input of a process_group:init as readers take it: `['[{json}]']`."""
    parts = orjson.loads(values) if values else []
    return f"['{parts[0]}']" if len(parts) == 1 and isinstance(parts[0], str) else values
