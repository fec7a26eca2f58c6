from __future__ import annotations

from typing import Any

import pytest

from graphstore.readers.communication import COMM_NAME, comm_args, global_rank

T = [21, 22, 0, 6, 4, "cuda:0"]
HALF = [31, 32, 0, 3, 4, "cuda:0"]
TYPES = ["GenericList[Tensor(float)]"]


def recorded(
    *values: Any, outputs: list[Any] | None = None, types: list[str] = TYPES, **attributes: Any
) -> dict[str, Any]:
    """Return what a record_param_comms with these inputs says."""
    return comm_args("record_param_comms", list(values), types, outputs or [], attributes)


SIZES = {"in_msg_nelems": 6, "in_bytes": 24, "out_msg_nelems": 6, "dtype": "float"}
NO_SPLIT: dict[str, list[int]] = {"in_split": [], "out_split": []}


@pytest.mark.parametrize(
    ("values", "meant"),
    [
        pytest.param(
            [[T], 151, 94594108284448, 3, "allreduce", [], []],
            {"op_name": "allreduce", "seq": 151, "pg_handle": 94594108284448, "rank_field": 3}
            | SIZES
            | NO_SPLIT,
            id="1.0.1: the group is a pointer",
        ),
        pytest.param(
            [T, 148, 94594108284448, 0, "all_to_allv", [4, 2], [1, 5]],
            {"op_name": "all_to_allv", "seq": 148, "pg_handle": 94594108284448, "rank_field": 0}
            | {"in_split": [4, 2], "out_split": [1, 5]}
            | SIZES,
            id="1.0.1: a tensor that is in no list, and splits",
        ),
        pytest.param(
            [[T], 12, 82149104, 0, "all_gather", [], [], 2],
            {"op_name": "all_gather", "seq": 12, "pg_handle": 82149104, "rank_field": 0, "pg_size": 2}
            | SIZES
            | NO_SPLIT,
            id="1.0.2: the size stands last",
        ),
        pytest.param(
            [[T], 35, ["0", "default_pg"], 1, "allreduce", [], [], 4, 2, 8],
            {
                "op_name": "allreduce",
                "seq": 35,
                "pg_name": "0",
                "pg_desc": "default_pg",
                "rank_field": 1,
                "global_rank_start": 4,
                "global_rank_stride": 2,
                "pg_size": 8,
            }
            | SIZES
            | NO_SPLIT,
            id="1.0.3: name, start and stride",
        ),
        pytest.param(
            [[T], [4, True], ["3", "mesh_dp"], 1, "send", [], [], 0, 2, 2],
            {
                "op_name": "send",
                "seq": 4,
                "is_p2p": True,
                "pg_name": "3",
                "pg_desc": "mesh_dp",
                "rank_field": 1,
                "peer": 1,
                "global_rank_start": 0,
                "global_rank_stride": 2,
                "pg_size": 2,
            }
            | SIZES
            | NO_SPLIT,
            id="newer: seq counts sends and recvs; the rank of a send is the peer",
        ),
    ],
)
def test_every_layout_of_the_arguments_is_understood(values: list[Any], meant: dict[str, Any]) -> None:
    """What stands where follows from the place of the collective's name, in each schema."""
    assert recorded(*values, outputs=[[T]]) == meant


@pytest.mark.parametrize(
    "values",
    [
        [141, 0, 0, "wait", [], []],
        [12, 0, 0, "wait", [], [], 1],
        [33, ["", ""], 0, "wait", [], [], -1, -1, 1],
        [[21, False], ["", ""], 0, "wait", [], [], -1, -1, 1],
    ],
)
def test_a_wait_is_told_in_every_layout(values: list[Any]) -> None:
    """A wait has no tensors and names no group; it tells no rank either."""
    found = recorded(*values, types=["Int"])

    assert (found["op_name"], found["is_wait"], found["rank_field"]) == ("wait", True, 0)
    assert "in_msg_nelems" not in found
    assert "dtype" not in found
    assert global_rank(found) is None


def test_attributes_say_what_the_inputs_say_and_more() -> None:
    """Since 1.1.0 attributes repeat the arguments; their split sizes are text."""
    found = recorded(
        [T], [9, True], ["0", "default_pg"], 2, "recv", [], [], 0, 1, 4,
        collective_name="recv", dtype="Float", in_msg_nelems=6, out_msg_nelems=6, in_split_size="[1, 5]",
        out_split_size="[]", global_rank_start=0, global_rank_stride=1, pg_name="0", pg_size=4,
    )  # fmt: skip

    assert found["dtype"] == "Float"
    assert (found["in_split"], found["out_split"]) == ([1, 5], [])
    assert (found["peer"], found["is_p2p"]) == (2, True)


def test_a_broadcast_records_its_root_not_the_caller() -> None:
    """The rank field of a broadcast is the root; it tells nothing of who calls."""
    broadcast = recorded([T], 5, ["0", "default_pg"], 3, "broadcast", [], [], 0, 1, 4)
    reduce = recorded([T], 5, ["0", "default_pg"], 2, "_allreduce_oop", [], [], 0, 1, 4)

    assert (broadcast["root_rank"], global_rank(broadcast)) == (3, None)
    assert ("root_rank" in reduce, global_rank(reduce)) == (False, 2)


@pytest.mark.parametrize(
    ("start", "stride", "rank", "meant"), [(4, 2, 3, 10), (5, -1, 1, None), (5, 1, 0, 5)]
)
def test_the_global_rank_follows_from_start_and_stride(
    start: int, stride: int, rank: int, meant: int | None
) -> None:
    """Start + stride * rank in the group; members at irregular distances have stride -1 and tell nothing."""
    assert global_rank(recorded([T], 1, ["2", ""], rank, "allreduce", [], [], start, stride, 8)) == meant


@pytest.mark.parametrize(
    ("name", "inputs", "meant"),
    [
        ("c10d::allreduce_", [[T], "<Object>", "<Object>", "<None>", False, -1], {}),
        ("c10d::broadcast_", [[T], "<Object>", 2, 0, False, -1], {"root_rank": 2}),
        ("c10d::reduce_", [[T], "<Object>", "<Object>", 1, 0, False, -1], {"root_rank": 1}),
        ("c10d::send", [[T], "<Object>", 1, 7], {"is_p2p": True, "peer": 1, "tag": 7}),
        ("c10d::recv_", [[T], "<Object>", 0, 7], {"is_p2p": True, "peer": 0, "tag": 7}),
        ("c10d::recv_any_source_", [[T], "<Object>", 7], {"is_p2p": True, "tag": 7}),
    ],
)
def test_a_c10d_op_with_one_tensor_list(name: str, inputs: list[Any], meant: dict[str, Any]) -> None:
    """In and out are the same tensors; root, peer and tag stand among the arguments."""
    assert comm_args(name, inputs, TYPES, [], {}) == {"op_name": name} | SIZES | meant


@pytest.mark.parametrize(
    ("name", "inputs", "meant"),
    [
        ("c10d::allgather_", [[[T, T]], [HALF], "<Object>", False, -1], {}),
        ("c10d::_reduce_scatter_base_", [[T, T], HALF, "<Object>", "<Object>", False, -1], {}),
        ("c10d::gather_", [[[T, T]], [HALF], "<Object>", 0, False, -1], {"root_rank": 0}),
        (
            "c10d::alltoall_base_",
            [[T, T], HALF, "<Object>", [1, 2], [3, 0], False, -1],
            {"out_split": [1, 2], "in_split": [3, 0]},
        ),
    ],
)
def test_a_c10d_op_names_its_outputs_first(name: str, inputs: list[Any], meant: dict[str, Any]) -> None:
    """Gathers and scatters take the output before the input."""
    found = comm_args(name, inputs, TYPES, [], {})

    sizes = {"in_msg_nelems": 3, "in_bytes": 12, "out_msg_nelems": 12, "dtype": "float"}
    assert found == {"op_name": name} | sizes | meant


def test_a_backend_op_lists_its_inputs() -> None:
    """gloo:X and nccl:X have tensors and nothing else; the scatter of a non-root has none."""
    found = comm_args("gloo:scatter", [T, T], ["Tensor(float)"] * 2, [], {})
    empty = comm_args("gloo:scatter", [], [], [], {})

    assert found == {"op_name": "gloo:scatter", "in_msg_nelems": 12, "in_bytes": 48, "dtype": "float"}
    assert empty == {"op_name": "gloo:scatter"}


@pytest.mark.parametrize("values", [[], ["allreduce"], [1, "x", "y"], [[T], 1, 2, 3, 4]])
def test_arguments_of_no_known_layout_say_nothing(values: list[Any]) -> None:
    """A node whose inputs fit no layout is kept, with nothing made up about it."""
    assert recorded(*values, types=[]) == {}


def test_names_of_communication_are_told_from_other_ops() -> None:
    """Only the names of calls, workers and the init node are asked about."""
    names = [
        "c10d::send",
        "gloo:send",
        "nccl:send",
        "rccl:send",
        "record_param_comms",
        "## process_group:init ##",
    ]

    assert all(COMM_NAME.match(name) for name in names)
    assert not any(
        COMM_NAME.match(name) for name in ["aten::send", "record_param_comms_x", "## init ##", "ccl"]
    )
