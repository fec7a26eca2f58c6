"""Imported Chakra nodes written back."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import orjson
import polars as pl
import pytest

from graphstore.chakra.et_def_pb2 import AttributeProto, Int64List, Node, NodeType
from graphstore.errors import InputError
from graphstore.export.chakra_copy import chakra_copy, copy_messages
from graphstore.export.columns import ChakraColumns
from graphstore.export.order import Ints
from tests.unit.export.ranks import table

Edges = list[tuple[str, int, int]]


def columns(rows: list[dict[str, Any]], edges: Edges) -> ChakraColumns:
    """Return the nodes of a rank, COMP unless told otherwise, with edges between uids."""
    plain = {"chakra_kind": "COMP_NODE", "name": "n", "ctrl_deps": 0, "data_deps": 0}
    schema = {"edge_type": pl.String, "source": pl.Int64, "target": pl.Int64}
    nodes = table("structure/show_chakra_node_columns", [plain | row for row in rows])
    return ChakraColumns(0, nodes, pl.DataFrame(edges, schema=schema, orient="row"))


def written(
    given: ChakraColumns, attributes: dict[int, dict[str, Any]] | None = None, origin_ns: int = 0
) -> tuple[list[Node], Counter[str]]:
    """Return the nodes written and the notes; `attributes` by uid, as the reader keeps them."""
    copy = chakra_copy(given, "run")

    def details(uids: Ints) -> pl.DataFrame:
        texts = {uid: orjson.dumps((attributes or {}).get(uid, {})).decode() for uid in uids.tolist()}
        rows = [{"uid": uid, "attributes": text} for uid, text in texts.items()]
        found = table("structure/show_chakra_node_details", rows)
        return found[np.searchsorted(found["uid"].to_numpy(), uids)]

    return list(copy_messages(copy, details, origin_ns)), copy.notes


def test_good_ids_stay_and_deps_come_from_the_edges() -> None:
    """Id 0 is a real id; the edges are what the graph holds, so what was written."""
    rows = [{"uid": 11, "node_id": 0}, {"uid": 12, "node_id": 5}, {"uid": 13, "node_id": 7}]
    nodes, _ = written(columns(rows, [("CTRL", 11, 12), ("DATA", 12, 13), ("DATA", 11, 13)]))

    assert [(n.id, list(n.ctrl_deps), list(n.data_deps)) for n in nodes] == [
        (0, [], []),
        (5, [0], []),
        (7, [], [0, 5]),
    ]


def test_nodes_are_numbered_anew_where_a_dep_points_to_a_larger_id() -> None:
    """Every dep must point back; the recorded id is kept as an attribute."""
    nodes, _ = written(columns([{"uid": 11, "node_id": 3}, {"uid": 12, "node_id": 9}], [("DATA", 12, 11)]))

    assert [(n.id, list(n.data_deps), n.attr[0].int64_val) for n in nodes] == [(1, [], 9), (2, [1], 3)]
    assert nodes[0].attr[0].name == "recorded_id"


def test_ids_used_twice_become_different_ones() -> None:
    """Readers keep one of two nodes with one id, or crash."""
    nodes, _ = written(columns([{"uid": 11, "node_id": 3}, {"uid": 12, "node_id": 3}], []))

    assert [n.id for n in nodes] == [1, 2]


def test_deps_without_an_edge_are_counted() -> None:
    """Dangling and repeated deps make no edge, so they are not written, and that is said."""
    copy = chakra_copy(columns([{"uid": 11, "node_id": 1, "ctrl_deps": 2, "data_deps": 1}], []), "run")

    assert copy.left_out == {
        "ctrl_deps that are repeated, name an absent id, or were taken out by a repair": 2,
        "data_deps that are repeated, name an absent id, or were taken out by a repair": 1,
    }


def test_a_cycle_is_refused_with_its_ids_and_the_remedy() -> None:
    """No order exists, and an export does not repair on the way."""
    rows = [{"uid": 11, "node_id": 5}, {"uid": 12, "node_id": 6}]

    with pytest.raises(
        InputError, match=r"run, rank 0: 1 cycles, the first 5 → 6 → 5.*graphstore repair run --apply"
    ):
        chakra_copy(columns(rows, [("CTRL", 11, 12), ("DATA", 12, 11)]), "run")


def test_a_node_that_names_itself_is_refused() -> None:
    """A self edge is a cycle of one."""
    with pytest.raises(InputError, match="1 nodes that wait for themselves, the first 5"):
        chakra_copy(columns([{"uid": 11, "node_id": 5}], [("CTRL", 11, 11)]), "run")


def test_attributes_come_back_as_they_were() -> None:
    """Every wire type, bytes, values that JSON has no number for, and a name used twice."""
    recorded = {
        "is_cpu_op": ["bool", False],
        "tid": ["uint32", 7],
        "weight": ["double", "inf"],
        "blob": ["bytes", "AQI="],
        "dims": ["int64_list", [1, 2]],
        "none": ["int64_list", []],
        "empty": [None, None],
        "note": ["string", "x", "why"],
        "note#2": ["string", "y"],
    }
    (node,), notes = written(columns([{"uid": 11, "node_id": 1}], []), {11: recorded})

    assert list(node.attr) == [
        AttributeProto(name="is_cpu_op", bool_val=False),
        AttributeProto(name="tid", uint32_val=7),
        AttributeProto(name="weight", double_val=float("inf")),
        AttributeProto(name="blob", bytes_val=b"\x01\x02"),
        AttributeProto(name="dims", int64_list=Int64List(values=[1, 2])),
        AttributeProto(name="none", int64_list=Int64List()),
        AttributeProto(name="empty"),
        AttributeProto(name="note", string_val="x", doc_string="why"),
        AttributeProto(name="note", string_val="y"),
    ]
    assert not notes


def test_an_unsigned_size_becomes_int64_and_is_noted() -> None:
    """One feeder reads an unsigned size as 0."""
    row = {"uid": 11, "node_id": 1, "chakra_kind": "COMM_COLL_NODE"}
    recorded = {"comm_type": ["int64", 0], "comm_size": ["uint64", 4096]}
    (node,), notes = written(columns([row], []), {11: recorded})

    assert node.attr[1] == AttributeProto(name="comm_size", int64_val=4096)
    assert notes == {"comm_size of wire type uint64, written as int64": 1}


def test_a_size_that_was_not_recorded_is_written_as_0_and_noted() -> None:
    """Without a size no reader takes the node."""
    row = {"uid": 11, "node_id": 1, "chakra_kind": "COMM_COLL_NODE"}
    (node,), notes = written(columns([row], []), {11: {"comm_type": ["int64", 0]}})

    assert node.attr[1] == AttributeProto(name="comm_size", int64_val=0)
    assert notes == {"communication of unknown size, written with 0 bytes": 1}


def test_a_communication_without_its_type_or_peer_becomes_a_computation() -> None:
    """Which collective it was cannot be known: counted, not guessed."""
    rows = [
        {"uid": 11, "node_id": 1, "chakra_kind": "COMM_COLL_NODE"},
        {"uid": 12, "node_id": 2, "chakra_kind": "COMM_SEND_NODE"},
        {"uid": 13, "node_id": 3, "chakra_kind": "COMM_RECV_NODE"},
    ]
    recorded = {13: {"comm_src": ["int32", 1], "comm_size": ["int64", 8]}}
    nodes, notes = written(columns(rows, []), recorded)

    assert [n.type for n in nodes] == [NodeType.COMP_NODE, NodeType.COMP_NODE, NodeType.COMM_RECV_NODE]
    assert notes == {
        "COMM_COLL_NODE without comm_type, written as COMP_NODE": 1,
        "COMM_SEND_NODE without comm_dst, written as COMP_NODE": 1,
        "send or recv without a tag, written with tag 0": 1,
    }


def test_times_are_those_of_the_file() -> None:
    """The graph counts from the run's origin; the file gets its own start back."""
    row = {"uid": 11, "node_id": 1, "start_ns": 2000, "duration_ns": 3000}
    (node,), _ = written(columns([row], []), origin_ns=5000)

    assert (node.start_time_micros, node.duration_micros) == (7, 3)
