"""Which node is a communication, and what stands in it."""

from __future__ import annotations

from typing import Any

import pytest

from graphstore.chakra.et_def_pb2 import CollectiveCommType, NodeType
from graphstore.export.columns import RankColumns
from graphstore.export.comm_groups import Groups
from graphstore.export.communication import Communications, communications
from tests.unit.export.ranks import Rows, kernel, op, rank_of

GROUPS = Groups({"0[4,6]": "0"}, {"0[4,6]": [4, 6]}, [], [])


def call(uid: int, kind: str = "all_reduce", **columns: Any) -> dict[str, Any]:
    """Return a call of 64 bytes on group 0[4,6]."""
    return {"uid": uid, "collective_kind": kind, "size_bytes": 64, "group": "0[4,6]"} | columns


def rank(calls: Rows, call_ops: list[tuple[str, int, int]]) -> RankColumns:
    """Return a rank with host ops 1, 2 and device ops 11, 12 (which starts first)."""
    return rank_of([op(1), op(2)], [kernel(11, 50, 60), kernel(12, 40, 45)], calls=calls, call_ops=call_ops)


def written(calls: Rows, call_ops: list[tuple[str, int, int]]) -> Communications:
    """Return what becomes of the calls; places 0, 1 are ops 1, 2; places 2, 3 are kernels 11, 12."""
    return communications(rank(calls, call_ops), GROUPS)


def attributes(found: Communications) -> dict[str, Any]:
    """Return the attributes of the only communication, with the field they are in."""
    (node,) = found.by_place.values()
    return {name: (field.removesuffix("_val"), value) for name, field, value in node.attributes}


def test_the_first_kernel_of_a_call_is_its_node_and_the_others_are_noted() -> None:
    """Exactly one node a call; further kernels run on as computation."""
    found = written([call(31)], [("host_op", 31, 1), ("kernel", 31, 11), ("kernel", 31, 12)])

    assert list(found.by_place) == [3]
    assert found.notes == {"further kernel of a call, written as COMP": 1}


def test_without_a_kernel_the_worker_is_the_node_else_the_call() -> None:
    """gloo: the backend's thread does the work; a trace without it has only the call."""
    assert list(written([call(31)], [("host_op", 31, 1), ("worker", 31, 2)]).by_place) == [1]
    assert list(written([call(31)], [("host_op", 31, 1)]).by_place) == [0]


def test_two_calls_that_share_a_kernel_become_two_nodes() -> None:
    """A coalesced kernel is the node of the first; the second falls back to its host op."""
    seen = [("kernel", 31, 11), ("host_op", 31, 1), ("kernel", 32, 11), ("host_op", 32, 2)]

    assert list(written([call(31), call(32)], seen).by_place) == [2, 1]


def test_a_collective_has_type_size_and_group_of_the_types_readers_want() -> None:
    """int64 for type and size: an unsigned size reads as 0 in one feeder."""
    found = written([call(31, op_name="allreduce", dtype="Float", in_msg_nelems=16)], [("host_op", 31, 1)])

    assert found.by_place[0].node_type == NodeType.COMM_COLL_NODE
    assert attributes(found) == {
        "comm_type": ("int64", CollectiveCommType.ALL_REDUCE),
        "comm_size": ("int64", 64),
        "pg_name": ("string", "0"),
        "collective_kind": ("string", "all_reduce"),
        "in_msg_nelems": ("int64", 16),
        "op_name": ("string", "allreduce"),
        "dtype": ("string", "Float"),
    }


@pytest.mark.parametrize(
    ("kind", "number"),
    [("reduce_scatter", 7), ("all_gather", 2), ("all_to_all", 6), ("broadcast", 5), ("barrier", 9)],
)
def test_kinds_become_the_numbers_of_the_format(kind: str, number: int) -> None:
    """The numbers are those every public reader has."""
    assert attributes(written([call(31, kind)], [("host_op", 31, 1)]))["comm_type"] == ("int64", number)


def test_a_root_is_written_as_global_rank_where_the_members_are_known() -> None:
    """The file holds the root's place in the group: place 1 of [4, 6] is rank 6."""
    known = written([call(31, "broadcast", root_rank=1)], [("host_op", 31, 1)])
    unknown = written([call(31, "broadcast", root_rank=1, group="")], [("host_op", 31, 1)])

    assert attributes(known)["root"] == ("int32", 6)
    assert attributes(unknown)["root_in_group"] == ("int32", 1)


def test_send_and_recv_have_peer_and_tag() -> None:
    """Peers are global ranks: place 0 of [4, 6] is rank 4."""
    send = written([call(31, "send", peer=0, tag=3)], [("host_op", 31, 1)])
    recv = written([call(31, "recv", peer=1)], [("host_op", 31, 1)])

    assert send.by_place[0].node_type == NodeType.COMM_SEND_NODE
    assert attributes(send)["comm_dst"] == ("int32", 4)
    assert attributes(send)["comm_tag"] == ("int32", 3)
    assert recv.by_place[0].node_type == NodeType.COMM_RECV_NODE
    assert attributes(recv)["comm_src"] == ("int32", 6)
    assert recv.notes == {"send or recv without a tag, written with tag 0": 1}


def test_what_the_files_do_not_hold_is_counted() -> None:
    """No group: no pg_name. No size: 0 bytes. Neither is silent."""
    found = written([call(31, group="", pg_name="9", size_bytes=-1)], [("host_op", 31, 1)])

    assert "pg_name" not in attributes(found)
    assert attributes(found)["comm_size"] == ("int64", 0)
    assert found.notes == {
        "communication of unknown size, written with 0 bytes": 1,
        "communication of a group of unknown members (9), written without pg_name": 1,
    }


def test_a_barrier_has_no_bytes_and_that_is_no_note() -> None:
    """A barrier's size is 0 because it moves nothing."""
    found = written([call(31, "barrier", size_bytes=-1)], [("host_op", 31, 1)])

    assert attributes(found)["comm_size"] == ("int64", 0)
    assert not found.notes


@pytest.mark.parametrize(
    ("made", "seen", "reason"),
    [
        (call(31, "coalesced"), [("host_op", 31, 1)], "call of unknown kind, written as COMP"),
        (call(31, "send"), [("host_op", 31, 1)], "send or recv of unknown peer, written as COMP"),
        (call(31), [], "call without an op of its own"),
        (call(31, source="flight_recorder"), [], "call of a Flight Recorder dump that no trace shows"),
    ],
)
def test_a_call_that_cannot_be_written_stays_a_computation_and_is_counted(
    made: dict[str, Any], seen: list[tuple[str, int, int]], reason: str
) -> None:
    """A communication node without kind or peer ends a simulation; a missing one must be named."""
    found = written([made], seen)

    assert not found.by_place
    assert found.notes == {reason: 1}
