from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from graphstore.readers.kineto_comm import as_text, host_comm_args, recorded_comm_args
from graphstore.readers.kineto_event import Args, Event, decode_events
from graphstore.readers.kineto_tables import Tables


def args_of(recorded: dict[str, Any]) -> Args:
    """Return arguments as the reader decodes them."""
    return msgspec.json.decode(json.dumps(recorded), type=Args)


def kernel(name: str, recorded: dict[str, Any]) -> Event:
    """Return a kernel with these arguments."""
    event = {"ph": "X", "cat": "kernel", "name": name, "ts": 1, "dur": 1, "args": recorded}
    return decode_events(json.dumps([event]).encode())[0]


RECORDED = {
    "Collective name": "_allgather_base",
    "In msg nelems": 25136,
    "Out msg nelems": 201088,
    "Group size": 8,
    "dtype": "BFloat16",
    "In split size": "[]",
    "Out split size": "[4, 4]",
    "Process Group Name": "3",
    "Process Group Description": "undefined",
    "Process Group Ranks": "[0, 1, 2, 3, 4, 5, 6, 7]",
    "Global rank start": 0,
    "Global rank stride": 1,
    "Rank": 5,
    "Seq": 12,
    "Comms Id": 123456789,
}


def test_all_arguments_of_a_collective_are_read() -> None:
    """Every argument that record_param_comms carries has its word in comm_args."""
    assert recorded_comm_args(args_of(RECORDED)) == {
        "op_name": "_allgather_base",
        "dtype": "BFloat16",
        "in_msg_nelems": 25136,
        "out_msg_nelems": 201088,
        "pg_size": 8,
        "in_split": [],
        "out_split": [4, 4],
        "pg_name": "3",
        "pg_desc": "undefined",
        "pg_ranks": [0, 1, 2, 3, 4, 5, 6, 7],
        "global_rank_start": 0,
        "global_rank_stride": 1,
        "rank_field": 5,
        "seq": 12,
        "comms_id": 123456789,
    }


@pytest.mark.parametrize("ranks", ["[0, 1, ..., 63]", "", "none", 5, None])
def test_a_shortened_list_is_not_taken_for_the_whole(ranks: Any) -> None:
    """Kineto shortens lists of more than 30 numbers; members that are not all there are left out."""
    assert "pg_ranks" not in recorded_comm_args(args_of({"Process Group Ranks": ranks}))


def test_ranks_may_be_a_list_instead_of_its_text() -> None:
    """Other writers of the arguments give a list itself."""
    assert recorded_comm_args(args_of({"Process Group Ranks": [0, 2]})) == {"pg_ranks": [0, 2]}


@pytest.mark.parametrize(
    ("op_name", "recorded", "role"),
    [
        ("broadcast", {"Rank": 2}, {"rank_field": 2, "root_rank": 2}),
        ("allreduce", {"Rank": 2}, {"rank_field": 2}),
        ("send", {"Rank": 1, "Dst Rank": 6}, {"rank_field": 1, "dst_rank": 6, "peer": 1, "is_p2p": True}),
        ("recv", {"Src Rank": 6}, {"src_rank": 6, "is_p2p": True}),
        (
            "recv",
            {"Src Rank": 6, "Process Group Ranks": [4, 6]},
            {"src_rank": 6, "pg_ranks": [4, 6], "peer": 1, "is_p2p": True},
        ),
        ("send", {}, {"is_p2p": True}),
        ("wait", {"Rank": 0}, {"rank_field": 0, "is_wait": True}),
    ],
)
def test_the_rank_field_means_root_peer_or_rank_by_the_kind(
    op_name: str, recorded: dict[str, Any], role: dict[str, Any]
) -> None:
    """A broadcast names its root, a send its peer, a wait nothing that is a collective."""
    found = recorded_comm_args(args_of({"Collective name": op_name} | recorded))

    assert found == {"op_name": op_name} | role


def test_a_record_without_arguments_says_nothing() -> None:
    """record_param_comms of 2023 has no such arguments; the column is null then, not an empty object."""
    assert host_comm_args("record_param_comms", args_of({"External id": 5})) == {}
    assert as_text({}) is None


def test_a_c10d_op_tells_its_operation_and_elements() -> None:
    """Elements come from the shapes, inputs and outputs in the order the op takes them."""
    reduce = args_of(
        {
            "Input Dims": [[[4, 8], [3]], [], []],
            "Input type": ["TensorList", "", ""],
            "Concrete Inputs": ["", ""],
        }
    )
    gather = args_of({"Input Dims": [[16], [8], []], "Input type": ["float", "float", ""]})
    nested = args_of({"Input Dims": [[], [[8]], []], "Input type": ["", "TensorList", ""]})

    assert host_comm_args("c10d::allreduce_", reduce) == {
        "op_name": "c10d::allreduce_",
        "in_msg_nelems": 35,
        "out_msg_nelems": 35,
    }
    assert host_comm_args("c10d::_allgather_base_", gather) == {
        "op_name": "c10d::_allgather_base_",
        "in_msg_nelems": 8,
        "out_msg_nelems": 16,
        "dtype": "float",
    }
    assert host_comm_args("c10d::allgather_", nested) == {"op_name": "c10d::allgather_", "in_msg_nelems": 8}


def test_a_c10d_send_tells_peer_and_tag() -> None:
    """The values of the arguments are there when shapes were recorded."""
    send = args_of({"Concrete Inputs": ["", "", "1", "9"]})
    any_source = args_of({"Concrete Inputs": ["", "", "7"]})
    root = args_of({"Concrete Inputs": ["", "", "3", "0", "False", "-1"]})

    assert host_comm_args("c10d::send", send) == {
        "op_name": "c10d::send",
        "is_p2p": True,
        "peer": 1,
        "tag": 9,
    }
    assert host_comm_args("c10d::recv_any_source_", any_source) == {
        "op_name": "c10d::recv_any_source_",
        "is_p2p": True,
        "tag": 7,
    }
    assert host_comm_args("c10d::broadcast_", root) == {"op_name": "c10d::broadcast_", "root_rank": 3}


def test_a_worker_op_tells_elements_and_type_of_its_tensors() -> None:
    """gloo:X and nccl:X list the tensors that go in and nothing else."""
    worker = args_of(
        {"Input Dims": [[8], [8]], "Input type": ["float", "float"], "Concrete Inputs": ["", ""]}
    )

    assert host_comm_args("gloo:scatter", worker) == {
        "op_name": "gloo:scatter",
        "in_msg_nelems": 16,
        "dtype": "float",
    }
    assert host_comm_args("nccl:all_reduce", args_of({})) == {"op_name": "nccl:all_reduce"}


@pytest.mark.parametrize(
    ("name", "recorded", "kind"),
    [
        ("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", {}, "all_reduce"),
        ("ncclDevKernel_AllReduce_Sum_u8_RING_LL(x)", {"Collective name": "barrier"}, "barrier"),
        ("ncclDevKernel_Generic_4(x)", {"Collective name": "_allgather_base"}, "all_gather"),
        ("ncclDevKernel_Generic_4(x)", {}, None),
        ("ncclDevKernel_SendRecv(x)", {}, None),
        ("ncclDevKernel_SendRecv(x)", {"Collective name": "send"}, "send"),
        ("void gemm(x)", {}, None),
    ],
)
def test_the_kind_of_a_kernel_is_that_of_its_arguments_else_of_its_name(
    name: str, recorded: dict[str, Any], kind: str | None
) -> None:
    """Arguments stand before the name, which says little on RCCL and for barriers."""
    tables = Tables()

    tables.add("kernels", [(0, kernel(name, recorded))])

    row = tables.frames(0)["kernels"].row(0, named=True)
    assert row["collective_kind"] == kind
    assert (row["comm_args"] is None) == (not recorded)


def test_a_number_of_more_than_64_bits_says_nothing() -> None:
    """Damaged arguments cost the argument, not the file."""
    assert as_text({"op_name": "c10d::send", "peer": 10**30, "in_split": [1, 10**30], "tag": 0}) == (
        '{"op_name":"c10d::send","tag":0}'
    )
