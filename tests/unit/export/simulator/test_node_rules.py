"""Types, attributes, sizes, peers and tags of single nodes: each rule broken, and its near-miss."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from graphstore.chakra.et_def_pb2 import Node, NodeType
from tests.unit.export.simulator.workload import beside, coll, found, node, recv, rules, send


def collective(tmp_path: Path, size: int = 64, **given: Any) -> dict[str, str]:
    """Return {rule: severity} of two ranks that do the same collective."""
    nodes = [coll(1, size=size, **given)]
    return {rule: told.severity for rule, told in found(tmp_path, {0: nodes, 1: nodes}).items()}


def transfer(tmp_path: Path, **given: Any) -> dict[str, str]:
    """Return {rule: severity} of a send from 0 to 1 with its recv, whose attributes are `given` to both."""
    ranks = {0: [send(1, 1, **given)], 1: [recv(1, 0, **given)]}
    return {rule: told.severity for rule, told in found(tmp_path, ranks).items()}


@pytest.mark.parametrize("type", ["ALL_REDUCE", "ALL_GATHER", "REDUCE_SCATTER", "ALL_TO_ALL", "BROADCAST"])
def test_the_five_collectives_are_run(tmp_path: Path, type: str) -> None:
    """64 bytes, a duration, int64: nothing is told."""
    assert collective(tmp_path, type=type) == {}


@pytest.mark.parametrize("type", ["REDUCE", "GATHER", "SCATTER", "REDUCE_SCATTER_BLOCK", "BARRIER"])
def test_other_collectives_are_not(tmp_path: Path, type: str) -> None:
    """ "unsupported": the simulator aborts."""
    assert collective(tmp_path, type=type) == {"unsupported_collective": "error"}


def test_a_broadcast_needs_its_duration(tmp_path: Path) -> None:
    """It is the time it takes; no other collective's is read."""
    assert collective(tmp_path, type="BROADCAST", us=0) == {"broadcast_without_duration": "warning"}
    assert collective(tmp_path, type="ALL_REDUCE", us=0) == {}


@pytest.mark.parametrize(
    ("type", "size", "told"),
    [
        ("ALL_GATHER", 0, {"all_gather_never_ends": "error"}),
        ("ALL_GATHER", 3, {"all_gather_never_ends": "error"}),
        ("ALL_GATHER", 4, {"all_gather_small": "warning"}),
        ("ALL_GATHER", 64, {}),
        ("ALL_REDUCE", 0, {"collective_of_nothing": "note"}),
        ("ALL_REDUCE", 1, {}),
    ],
)
def test_small_sizes(tmp_path: Path, type: str, size: int, told: dict[str, str]) -> None:
    """An all-gather of fewer bytes than chunks loops for ever; the others are padded up."""
    assert collective(tmp_path, size, type=type) == told


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"is_cpu_op": ("bool", True)}, {"communication_on_cpu": "error"}),
        ({"is_cpu_op": ("bool", False)}, {}),
        ({"comm_type": None}, {"attribute_absent": "error"}),
        ({"comm_size": None}, {"attribute_absent": "error"}),
        ({"comm_size": ("uint64", 64)}, {"attribute_wire_type": "warning"}),
        ({"comm_size": ("double", 64.0)}, {"attribute_unreadable": "error"}),
        ({"comm_type": ("string", "ALL_REDUCE")}, {"attribute_unreadable": "error"}),
        ({"pg_name": ("int64", 1)}, {"attribute_unreadable": "error"}),
        ({"comm_priority": ("int32", 1)}, {}),
        ({"involved_dim": ("bool_list", [True])}, {}),
        ({"involved_dim": ("bool_list", [False, False])}, {"no_dimension": "error"}),
        ({"involved_dim": ("bool", True)}, {"attribute_unreadable": "error"}),
        ({"comm_dst": ("string", "not read on collectives")}, {}),
    ],
)
def test_attributes_of_a_collective(tmp_path: Path, given: dict[str, Any], told: dict[str, str]) -> None:
    """Absent or of a type that is no integer: fatal. Another integer: one feeder reads 0."""
    assert collective(tmp_path, **given) == told


def test_the_first_of_two_attributes_counts(tmp_path: Path) -> None:
    """The second comm_size is not read."""
    made = coll(1)
    made.attr.add(name="comm_size", uint64_val=1)

    assert rules(tmp_path, {0: [made], 1: [made]}) == set()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, {}),
        ({"tag": 499_999_999}, {}),
        ({"tag": 500_000_000}, {"tag_outside": "error"}),
        ({"tag": -1}, {"tag_outside": "error"}),
        ({"size": 0}, {"transfer_of_nothing": "error"}),
        ({"comm_tag": ("int64", 0)}, {"attribute_wire_type": "warning"}),
        ({"comm_tag": ("float", 0.0)}, {"attribute_unreadable": "error"}),
        ({"comm_size": None}, {"attribute_absent": "error"}),
        ({"pg_name": ("int64", 1)}, {}),
    ],
)
def test_attributes_of_a_transfer(tmp_path: Path, given: dict[str, Any], told: dict[str, str]) -> None:
    """Peer, tag and size are read; the group is not."""
    assert transfer(tmp_path, **given) == told


@pytest.mark.parametrize("dst", [0, 2, -1])
def test_a_peer_outside_of_the_world_or_the_rank_itself(tmp_path: Path, dst: int) -> None:
    """Both are fatal; there are ranks 0 and 1."""
    told = found(tmp_path, beside(send(1, dst)))["peer_outside"]

    assert told.evidence["peers"] == [dst]


def test_the_own_end_of_a_transfer(tmp_path: Path) -> None:
    """An own src on a send has to be the own rank."""
    ranks = {0: [send(1, 1, comm_src=("int32", 1))], 1: [recv(1, 0, comm_dst=("int32", 1))]}

    assert rules(tmp_path, ranks) == {"own_rank_differs"}


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (node(2, kind=NodeType.METADATA_NODE), {"metadata_node"}),
        (node(2, kind=NodeType.INVALID_NODE), {"no_type"}),
        (Node(id=2, type=12), {"no_type"}),  # type: ignore[arg-type]
        (node(2, kind=NodeType.MEM_LOAD_NODE, tensor_size=("uint64", 8)), {"memory_node"}),
        (node(2, kind=NodeType.MEM_STORE_NODE), {"memory_node", "memory_without_size"}),
        (node(2), set()),
    ],
)
def test_types_of_nodes(tmp_path: Path, made: Node, told: set[str]) -> None:
    """METADATA aborts, INVALID holds back what waits for it, memory needs a model and a size."""
    assert rules(tmp_path, beside(node(1), made)) == told


def test_roofline_attributes_are_on_all_kernels_or_on_none(tmp_path: Path) -> None:
    """One of the two, or both on some only, is fatal with roofline-enabled; CPU nodes need none."""
    ops: dict[str, Any] = {"num_ops": ("int64", 5)}
    size: dict[str, Any] = {"tensor_size": ("uint64", 5)}
    host = node(9, is_cpu_op=("bool", True))

    assert rules(tmp_path, beside(node(1, **ops))) == {"roofline_incomplete"}
    assert rules(tmp_path, beside(node(1, **ops, **size), node(2))) == {"roofline_incomplete"}
    assert rules(tmp_path, beside(node(1, **ops, **size), node(2, **ops, **size), host)) == set()
