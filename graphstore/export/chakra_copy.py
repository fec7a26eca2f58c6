"""Write an imported Chakra file back: the same nodes, types and attributes, deps from the graph's edges.

In:  the columns of one rank's Chakra nodes and their edges. Out: messages in an order in which every dep
     points back, and what could not be written as recorded.
Decided here: ids stay as recorded where they are unique and every dep points to a smaller one, else nodes are
numbered anew (the recorded id goes into `recorded_id`); sizes and collective types become int64, as readers
want them. A cycle is refused: no order exists, and repairing is not the business of an export.
"""

from __future__ import annotations

import base64
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import orjson
import polars as pl

from graphstore.chakra.et_def_pb2 import AttributeProto, Node, NodeType
from graphstore.errors import InputError
from graphstore.export.chakra import FIRST_ID, NODES_AT_ONCE, TEXTS
from graphstore.export.columns import ChakraColumns
from graphstore.export.order import NONE, Ints, topological_order
from graphstore.export.places import places_in
from graphstore.queries.components import Edges, cycles, self_edges

IDS_SHOWN = 6
# A communication is none without this attribute.
NEEDED = {"COMM_COLL_NODE": "comm_type", "COMM_SEND_NODE": "comm_dst", "COMM_RECV_NODE": "comm_src"}
INTEGERS = ("int32", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64", "sfixed32", "sfixed64")
AS_INT64 = ("comm_size", "comm_type")
_REPEATED = re.compile(r"(.+)#\d+")


@dataclass
class ChakraCopy:
    """The nodes of a rank in the order written, with ids and deps; `notes` are filled meanwhile."""

    columns: ChakraColumns
    order: Ints
    ids: Ints  # per place
    renumbered: bool
    deps: dict[str, tuple[Ints, Ints]]  # per field: (ids named, where the list of each place begins)
    left_out: dict[str, int]
    notes: Counter[str] = field(default_factory=Counter)


def chakra_copy(columns: ChakraColumns, run: str) -> ChakraCopy:
    """Return order, ids and deps of a rank's Chakra nodes; InputError, with the remedy, when they form a
    cycle.
    """
    nodes, edges = columns.nodes, columns.edges.filter(pl.col("edge_type").is_in(["CTRL", "DATA"]))
    uid, recorded = nodes["uid"].to_numpy(), nodes["node_id"].to_numpy()
    source, target = (places_in(uid, edges[end].to_numpy()) for end in ("source", "target"))
    inside = (source != NONE) & (target != NONE)
    source, target, kind = source[inside], target[inside], edges["edge_type"].to_numpy()[inside]
    _refuse_cycles(run, columns.rank, Edges(source, target, kind), recorded)
    keep = len(np.unique(recorded)) == len(recorded) and bool(np.all(recorded[source] < recorded[target]))
    keys = [uid, recorded] if keep else [uid, recorded, nodes["start_ns"].to_numpy()]
    priority = np.empty(len(uid), np.int64)
    priority[np.lexsort(keys)] = np.arange(len(uid))
    order = topological_order(len(uid), source, target, priority)
    ids = recorded.copy()
    if not keep:
        ids[order] = np.arange(len(order)) + FIRST_ID
    deps, left_out = {}, {}
    for name, edge_type in (("ctrl_deps", "CTRL"), ("data_deps", "DATA")):
        of_type = kind == edge_type
        deps[name] = _lists(source[of_type], target[of_type], ids)
        gone = int(nodes[name].sum()) - int(of_type.sum())
        if gone:
            left_out[f"{name} that are repeated, name an absent id, or were taken out by a repair"] = gone
    return ChakraCopy(columns, order, ids, not keep, deps, left_out)


def _refuse_cycles(run: str, rank: int, edges: Edges, recorded: Ints) -> None:
    """Raise InputError when the deps close a cycle or a node names itself."""
    itself = recorded[self_edges(edges)]
    found = cycles(edges)
    if not found and not len(itself):
        return
    parts = []
    if found:
        ids = [int(recorded[place]) for place in (*found[0].nodes[:IDS_SHOWN], found[0].nodes[0])]
        parts.append(f"{len(found)} cycles, the first {' → '.join(map(str, ids))}")
    if len(itself):
        parts.append(f"{len(itself)} nodes that wait for themselves, the first {int(itself[0])}")
    raise InputError(
        f"{run}, rank {rank}: {' and '.join(parts)}; no reader runs such a file to its end. Nothing was "
        f"written. Drop the deps that point back: `graphstore repair {run} --apply --unsafe`."
    )


def _lists(source: Ints, target: Ints, ids: Ints) -> tuple[Ints, Ints]:
    """Return the ids of the sources of each target, ascending and without repeats, and where each list
    begins.
    """
    pairs = np.unique(np.stack([target, ids[source]], axis=1), axis=0)
    return pairs[:, 1], np.searchsorted(pairs[:, 0], np.arange(len(ids) + 1))


def copy_messages(
    copy: ChakraCopy, details: Callable[[Ints], pl.DataFrame], origin_ns: int
) -> Iterator[Node]:
    """Yield the nodes in the order written; `details(uids)` gives the rows of show_chakra_node_details.

    `origin_ns` is added to the starts again, so that they are as recorded.
    """
    for first in range(0, len(copy.order), NODES_AT_ONCE):
        places = copy.order[first : first + NODES_AT_ONCE]
        nodes = copy.columns.nodes[places]
        rows = pl.concat([nodes, details(nodes["uid"].to_numpy()).drop("uid")], how="horizontal")
        for place, row in zip(places.tolist(), rows.iter_rows(named=True), strict=True):
            yield _node(copy, place, row, origin_ns)


def _node(copy: ChakraCopy, place: int, row: dict[str, Any], origin_ns: int) -> Node:
    """Return one node as recorded, with the deps of the graph."""
    node = Node(id=int(copy.ids[place]), name=row["name"], type=_type_of(row["chakra_kind"]))
    for name, (ids, first) in copy.deps.items():
        getattr(node, name).extend(ids[first[place] : first[place + 1]].tolist())
    if row["start_ns"] != NONE:
        node.start_time_micros = (row["start_ns"] + origin_ns) // 1000
    if row["duration_ns"] != NONE:
        node.duration_micros = row["duration_ns"] // 1000
    values = [row[name] for name in TEXTS]
    if any(values[:3]):
        node.inputs.values, node.inputs.shapes, node.inputs.types = values[:3]
    if any(values[3:]):
        node.outputs.values, node.outputs.shapes, node.outputs.types = values[3:]
    _fill_attributes(node, orjson.loads(row["attributes"] or "{}"), row["chakra_kind"], copy.notes)
    if copy.renumbered and not any(attribute.name == "recorded_id" for attribute in node.attr):
        node.attr.add(name="recorded_id", int64_val=row["node_id"])
    return node


def _type_of(kind: str) -> Any:
    """Return the number of a node type; a type unknown to the schema was kept as its number."""
    return int(kind) if kind.isdecimal() else NodeType.Value(kind)


def _fill_attributes(node: Node, attributes: dict[str, Any], kind: str, notes: Counter[str]) -> None:
    """Add the recorded attributes; sizes and types of communications as int64, and what readers need."""
    for name, (wire_type, value, *doc) in attributes.items():
        repeated = _REPEATED.fullmatch(name)
        attribute = node.attr.add(name=repeated[1] if repeated and repeated[1] in attributes else name)
        attribute.doc_string = doc[0] if doc else ""
        if name in AS_INT64 and wire_type in INTEGERS:
            notes[f"{name} of wire type {wire_type}, written as int64"] += 1
            wire_type = "int64"
        _set(attribute, wire_type, value)
    if kind in NEEDED:
        _complete(node, kind, attributes, notes)


def _complete(node: Node, kind: str, attributes: dict[str, Any], notes: Counter[str]) -> None:
    """Make a communication one that readers take: a size of 0 and a tag of 0 where none was recorded. Without
    a collective type or a peer it can only be a computation.
    """
    needed = NEEDED[kind]
    if needed not in attributes:
        notes[f"{kind} without {needed}, written as COMP_NODE"] += 1
        node.type = NodeType.COMP_NODE
        return
    if "comm_size" not in attributes:
        notes["communication of unknown size, written with 0 bytes"] += 1
        node.attr.add(name="comm_size", int64_val=0)
    if kind != "COMM_COLL_NODE" and "comm_tag" not in attributes:
        notes["send or recv without a tag, written with tag 0"] += 1
        node.attr.add(name="comm_tag", int32_val=0)


def _set(attribute: AttributeProto, wire_type: str | None, value: Any) -> None:
    """Set the value of an attribute from its JSON form (bytes as base64, NaN and infinity as text)."""
    if wire_type is None:
        return
    scalar = wire_type.removesuffix("_list")
    if scalar == "bytes":
        value = [base64.b64decode(v) for v in value] if wire_type != scalar else base64.b64decode(value)
    elif scalar in ("double", "float"):
        value = [float(v) for v in value] if wire_type != scalar else float(value)
    if wire_type == scalar:
        setattr(attribute, f"{wire_type}_val", value)
    else:
        field = getattr(attribute, wire_type)
        field.SetInParent()
        field.values.extend(value)
