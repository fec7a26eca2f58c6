"""What stands in the nodes of a Chakra file."""

from __future__ import annotations

from typing import Any

import pytest

from graphstore.chakra.et_def_pb2 import Node, NodeType
from graphstore.export import chakra
from graphstore.export.chakra import RankNodes, messages
from graphstore.export.columns import RankColumns
from graphstore.export.communication import Communication
from graphstore.export.dependencies import dependencies
from graphstore.export.durations import start_and_duration_us
from graphstore.export.order import Ints
from graphstore.export.validate import validate_nodes
from graphstore.model.markers import GROUP_INIT
from tests.unit.export.ranks import Rows, kernel, op, rank_of, table, timed

GROUPS = '[{"pg_name": "0", "ranks": []}]'


def nodes(
    columns: RankColumns, details: Rows, communications: dict[int, Communication] | None = None
) -> list[Node]:
    """Return the nodes of a rank; `details` are rows of show_host_op_details."""
    known = {row["uid"]: row for row in details}

    def look_up(uids: Ints) -> Any:
        rows = [{"uid": uid, "synthetic": 0} | known.get(uid, {}) for uid in uids.tolist()]
        found = table("structure/show_host_op_details", rows)
        return found[[found["uid"].to_list().index(uid) for uid in uids.tolist()]]

    start, duration = start_and_duration_us(columns)
    rank = RankNodes(columns, dependencies(columns), start, duration, communications or {})
    return list(messages(rank, look_up))


def attributes(node: Node) -> dict[str, tuple[str, Any]]:
    """Return the attributes as {name: (wire type, value)}."""
    fields = {attr.name: str(attr.WhichOneof("value")) for attr in node.attr}
    values = {attr.name: getattr(attr, fields[attr.name]) for attr in node.attr}
    return {name: (field.removesuffix("_val"), values[name]) for name, field in fields.items()}


def test_a_host_op_is_a_computation_on_the_cpu_with_all_that_was_recorded() -> None:
    """The ET id stands in et_id; unknown numbers are left out; texts are as recorded."""
    texts = {"input_values": "[[4]]", "input_shapes": "[[[]]]", "input_types": '["GenericList[Int]"]'}
    (node,) = nodes(
        rank_of([timed(9, 2000, 5000, "aten::empty", node_id=7, tid=1)]),
        [{"uid": 9, "rf_id": 5, "scope": 0, "op_schema": "aten::empty()", "output_values": "[1]"} | texts],
    )

    assert (node.id, node.name, node.type) == (1, "aten::empty", NodeType.COMP_NODE)
    assert (node.start_time_micros, node.duration_micros) == (2, 3)
    assert (node.inputs.values, node.inputs.shapes, node.inputs.types) == tuple(texts.values())
    assert node.outputs.values == "[1]"
    assert attributes(node) == {
        "is_cpu_op": ("bool", True),
        "tid": ("int64", 1),
        "thread": ("int64", 1),
        "scope": ("int64", 0),
        "op_schema": ("string", "aten::empty()"),
        "rf_id": ("int64", 5),
        "et_id": ("int64", 7),
    }


def test_a_device_op_is_a_computation_on_the_gpu() -> None:
    """Copies and sets too: size_bytes is theirs, et_id only that of a merged trace."""
    own: dict[str, Any] = {"device_kind": "memcpy", "size_bytes": 64, "correlation": 41}
    (node,) = nodes(rank_of([], [kernel(9, 0, 1500, name="Memcpy HtoD", **own)]), [])

    assert node.type == NodeType.COMP_NODE
    assert node.duration_micros == 2
    assert attributes(node) == {
        "is_cpu_op": ("bool", False),
        "device": ("int64", 0),
        "stream": ("int64", 7),
        "device_kind": ("string", "memcpy"),
        "correlation": ("int64", 41),
        "size_bytes": ("int64", 64),
    }


def test_a_communication_has_its_type_and_is_not_on_the_cpu() -> None:
    """Also where a host op stands for it: a simulator ends at a communication on the CPU."""
    found = Communication(NodeType.COMM_COLL_NODE, (("comm_size", "int64_val", 8),))
    (node,) = nodes(rank_of([op(9, "c10d::allreduce_", node_id=4)]), [], {0: found})

    assert node.type == NodeType.COMM_COLL_NODE
    assert attributes(node)["is_cpu_op"] == ("bool", False)
    assert attributes(node)["comm_size"] == ("int64", 8)


def test_an_op_without_times_has_none() -> None:
    """proto3 leaves a zero off the wire: nothing is written."""
    (node,) = nodes(rank_of([op(9, node_id=4)]), [])

    assert node.SerializeToString().find(b"\x30") == -1  # tag of start_time_micros
    assert (node.start_time_micros, node.duration_micros) == (0, 0)


def test_group_metadata_holds_the_json_as_readers_cut_it_out() -> None:
    """A reader takes off two characters at each end and parses the rest."""
    recorded = f'["{GROUPS.replace(chr(34), chr(92) + chr(34))}"]'
    (node,) = nodes(rank_of([op(9, GROUP_INIT, node_id=3)]), [{"uid": 9, "input_values": recorded}])

    assert node.type == NodeType.METADATA_NODE
    assert node.inputs.values == f"['{GROUPS}']"
    assert node.inputs.values[2:-2] == GROUPS


def test_an_op_made_by_a_repair_says_so() -> None:
    """A restored parent is no record of the trace."""
    (node,) = nodes(rank_of([op(9, node_id=4)]), [{"uid": 9, "synthetic": 1}])

    assert attributes(node)["synthetic"] == ("bool", True)


def test_ids_ascend_in_the_order_written_and_deps_name_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids begin with 1; chunks of whatever size give the same nodes."""
    rank = rank_of(
        [timed(5, 0, 90), timed(6, 10, 20), timed(4, 30, 40)],
        [kernel(11, 15, 18), kernel(12, 33, 35)],
        [{"uid": 21, "start_ns": 11}],
        CTRL=[(5, 6), (5, 4), (6, 21)],
        LAUNCHES=[(21, 11)],
    )

    whole = nodes(rank, [])
    monkeypatch.setattr(chakra, "NODES_AT_ONCE", 2)
    in_chunks = nodes(rank, [])

    assert [(n.id, list(n.ctrl_deps), list(n.data_deps)) for n in whole] == [
        (1, [], []),
        (2, [1], [1]),
        (3, [2], [2]),
        (4, [1], [2]),
        (5, [], [3]),
    ]
    assert in_chunks == whole
    assert validate_nodes(whole) == []
