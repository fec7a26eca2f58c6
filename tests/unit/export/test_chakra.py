"""What stands in the nodes of a Chakra file."""

from __future__ import annotations

from typing import Any

import pytest

from graphstore.chakra.et_def_pb2 import Node, NodeType
from graphstore.export import chakra
from graphstore.export.chakra import messages
from graphstore.export.columns import RankColumns
from graphstore.export.communication import Communication
from graphstore.export.order import Ints
from graphstore.export.rank_nodes import rank_nodes
from graphstore.export.validate import validate_nodes
from graphstore.model.markers import GROUP_INIT
from tests.unit.export.ranks import Rows, call, kernel, nodes_of, op, rank_of, table, timed

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

    rank, _ = rank_nodes(columns, communications or {})
    return nodes_of(messages(rank, look_up))


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
        "self_us": ("double", 3.0),
        "total_us": ("double", 3.0),
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


def test_an_op_that_encloses_another_is_written_in_pieces() -> None:
    """The first has what was recorded and what the op did in all; the others name its id, and no et_id."""
    inside = timed(2, 1_000, 4_000, "aten::mm", node_id=8)
    first, inner, rest = nodes(rank_of([timed(1, 0, 10_000, "aten::linear", node_id=7), inside]), [])

    assert [(n.id, n.name, n.start_time_micros, n.duration_micros) for n in (first, inner, rest)] == [
        (1, "aten::linear", 0, 1),
        (2, "aten::mm", 1, 3),
        (3, "aten::linear", 4, 6),
    ]
    assert attributes(first)["et_id"] == ("int64", 7)
    assert attributes(first)["self_us"] == ("double", 7.0)
    assert attributes(first)["total_us"] == ("double", 10.0)
    assert attributes(rest) == {"is_cpu_op": ("bool", True), "part_of": ("int64", 1)}


def test_time_between_ops_is_a_node_named_gap() -> None:
    """It is Python's, so it is work of the CPU: nothing else is known of it."""
    _, gap, _ = nodes(rank_of([timed(1, 0, 1_000), timed(2, 5_000, 6_000)]), [])

    assert (gap.name, gap.type, gap.duration_micros) == ("gap", NodeType.COMP_NODE, 4)
    assert attributes(gap) == {"is_cpu_op": ("bool", True)}


def test_a_node_says_by_which_rule_it_waits() -> None:
    """Orders and launches say nothing: they hold for every node."""
    rank = rank_of(
        [],
        [kernel(11, 0, 5_000), kernel(12, 5_000, 9_000, stream=8), kernel(13, 9_000, 9_500, stream=8)],
        SYNC=[(11, 12, "stream_wait.recorded")],
    )

    rules = [attributes(node).get("rule") for node in nodes(rank, []) if node.name == "gemm"]

    assert rules == [None, ("string", "stream_wait.recorded"), None]


def test_a_kernel_that_is_written_longer_keeps_its_own_duration_beside() -> None:
    """The gap of 2 µs that its stream held it is part of its node, and `lead_us` says so."""
    begin = kernel(11, 10_000, 20_000, correlation=1)
    rank = rank_of(
        [timed(1, 0, 5_000)],
        [begin, kernel(12, 22_000, 30_000)],
        [call(21, 1_000, 2_000), call(22, 3_000, 4_000)],
        CTRL=[(1, 21), (1, 22)],
        LAUNCHES=[(21, 11), (22, 12)],
    )

    one, other = (node for node in nodes(rank, []) if node.name == "gemm")

    assert (one.duration_micros, "lead_us" in attributes(one)) == (10, False)
    assert (other.start_time_micros, other.duration_micros) == (22, 10)
    assert attributes(other)["lead_us"] == ("int64", 2)


def test_ids_ascend_in_the_order_written_and_deps_name_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids begin with 1; chunks of whatever size give the same nodes."""
    rank = rank_of(
        [timed(5, 0, 90), timed(6, 10, 20), timed(4, 30, 40)],
        [kernel(11, 15, 18), kernel(12, 33, 35)],
        [call(21, 11, 13)],
        CTRL=[(5, 6), (5, 4), (6, 21)],
        LAUNCHES=[(21, 11)],
    )

    whole = nodes(rank, [])
    monkeypatch.setattr(chakra, "NODES_AT_ONCE", 2)
    in_chunks = nodes(rank, [])

    assert [(n.name, n.id, list(n.ctrl_deps), list(n.data_deps)) for n in whole] == [
        ("aten::add", 1, [], []),  # 5 up to 10
        ("aten::add", 2, [1], [1]),  # 6 up to the end of its call, 13
        ("aten::add", 3, [], [2]),  # the rest of 6
        ("gemm", 4, [2], [2]),
        ("aten::add", 5, [], [3]),  # 5 from 20 on
        ("aten::add", 6, [1], [5]),  # 4
        ("gemm", 7, [], [4]),
        ("aten::add", 8, [], [6]),  # the rest of 5
    ]
    assert in_chunks == whole
    assert validate_nodes(whole) == []
