from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from graphstore.link.collectives import comm_kinds, find_calls
from graphstore.link.process_groups import Groups, listed_groups
from tests.data.builders import Row, kernel, node, span, table
from tests.unit.link.test_comm_ops import said

NONE = np.empty(0, dtype=np.int64)
NCCL_KERNEL = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"


def _calls(
    rows: list[Row],
    parents: list[int],
    kernels: list[Row] | None = None,
    launchers: list[int] | None = None,
    groups: Groups | None = None,
) -> pl.DataFrame:
    host = table("host_ops", rows)
    if "comm_args_kineto" not in host.columns:
        host = host.with_columns(comm_args_kineto=pl.lit(None, pl.String))
    parent = np.array(parents, dtype=np.int64)
    return find_calls(
        host,
        parent,
        np.full(parent.size, -1),
        table("kernels", kernels or []),
        np.array(launchers or [], dtype=np.int64),
        groups or Groups([]),
    )


def _one(op_name: str, name: str = "record_param_comms", **args: Any) -> dict[str, Any]:
    """Return the only call of a rank that has one communication op."""
    calls = _calls([node(5, name, comm_args=said(op_name, **args))], [-1])
    assert calls.height == 1
    return calls.row(0, named=True)


def test_what_a_recorded_call_says_becomes_its_properties() -> None:
    """Kind, size, type, group and sequence number of an NCCL call are as recorded."""
    call = _one(
        "_allgather_base",
        dtype="BFloat16",
        in_msg_nelems=100,
        out_msg_nelems=400,
        pg_name="3",
        pg_desc="mesh_dp",
        pg_size=4,
        rank_field=2,
        global_rank_start=0,
        global_rank_stride=1,
        seq=17,
        in_split=[],
        out_split=[],
    )

    expected = {
        "name": "_allgather_base",
        "collective_kind": "all_gather",
        "op_name": "_allgather_base",
        "size_bytes": 200,
        "group": "3[0-3]",
        "group_origin": "recorded",
        "group_rank": 2,
        "root_rank": None,
        "collective_seq_id": 17,
        "is_p2p": False,
        "node_id": 5,
        "source": "et",
        "host_n": 0,
    }
    assert {key: call[key] for key in expected} == expected


@pytest.mark.parametrize("op_name", ["broadcast", "reduce", "gather", "scatter"])
def test_the_rank_field_of_a_rooted_collective_is_the_root(op_name: str) -> None:
    """c10d records the root there, not the caller."""
    call = _one(op_name, rank_field=3)

    assert (call["root_rank"], call["group_rank"]) == (3, None)


def test_the_rank_field_of_a_send_is_the_peer() -> None:
    """A send has a peer and a tag, neither a rank of its own nor a number in the group."""
    call = _one("send", rank_field=1, tag=0, seq=4)

    assert (call["collective_kind"], call["peer"], call["tag"], call["is_p2p"]) == ("send", 1, 0, True)
    assert (call["group_rank"], call["collective_seq_id"]) == (None, None)


@pytest.mark.parametrize(
    ("args", "size"),
    [
        ({"in_msg_nelems": 10, "dtype": "Float"}, 40),
        ({"in_msg_nelems": 10, "dtype": "tomorrow", "in_bytes": 30}, 30),
        ({"in_msg_nelems": 10}, None),
        ({"dtype": "Float"}, None),
        ({"in_msg_nelems": 0, "dtype": "Float"}, 0),
    ],
)
def test_size_is_elements_times_their_bytes_or_unknown(args: dict[str, Any], size: int | None) -> None:
    """Bytes come from elements and type, else from the tensors; what is not recorded stays null."""
    assert _one("allreduce", **args)["size_bytes"] == size


def test_a_barrier_moves_nothing() -> None:
    """The tensor that a backend makes a barrier of is not the caller's."""
    assert _one("c10d::barrier", "c10d::barrier", in_msg_nelems=1, dtype="Float")["size_bytes"] == 0


def test_the_kernel_below_a_call_is_seen_as_it_and_gives_its_time() -> None:
    """Of several kernels the first in time stands for the call; what the host op left open they fill in."""
    rows = [node(5, "record_param_comms", comm_args=said("allreduce")), node(6, "nccl:all_reduce")]
    kernels = [
        kernel(2, 300, 400, NCCL_KERNEL),
        kernel(1, 100, 200, NCCL_KERNEL, comm_args=said("allreduce", dtype="Float", in_msg_nelems=2)),
        kernel(3, 50, 60),
    ]

    call = _calls(rows, [-1, 0], kernels, [1, 1, 1]).row(0, named=True)

    assert (call["kernel_n"], call["start_ns"], call["duration_ns"]) == ([1, 0], 100, 100)
    assert call["size_bytes"] == 8


def test_the_worker_gives_time_where_there_is_no_kernel() -> None:
    """A gloo call lasts as long as its worker; without one as long as its own host op."""
    rows = [
        span("c10d::allreduce_", 0, 5, rf_id=1),
        span("gloo:all_reduce", 2, 50, rf_id=2, thread=9),
        span("c10d::barrier", 60, 70, rf_id=3),
    ]

    calls = _calls(rows, [-1, -1, -1])

    assert calls.select("host_n", "worker_n", "start_ns", "duration_ns", "source").rows() == [
        (0, 1, 2, 48, "kineto"),
        (2, None, 60, 10, "kineto"),
    ]


def test_a_kernel_that_no_call_launched_is_a_call_of_its_own() -> None:
    """Launched before the window, or outside of every communication op: it is kept, by its name's kind."""
    rows = [node(5, "aten::add")]
    kernels = [kernel(1, 0, 9, NCCL_KERNEL, collective_kind="all_reduce"), kernel(2, 9, 12, NCCL_KERNEL)]

    calls = _calls(rows, [-1], kernels, [-1, 0])

    assert calls.select("host_n", "kernel_n", "collective_kind", "name").rows() == [
        (None, [0], "all_reduce", NCCL_KERNEL),
        (None, [1], None, NCCL_KERNEL),
    ]


def test_kineto_fills_in_what_an_old_execution_trace_leaves_out() -> None:
    """Of one op's arguments in both files the execution trace's stand first."""
    row = node(5, "record_param_comms", comm_args=said("allreduce", in_msg_nelems=3))
    host = table("host_ops", [row]).with_columns(
        comm_args_kineto=pl.lit(said("x", in_msg_nelems=9, dtype="Float"))
    )

    calls = find_calls(host, np.array([-1]), np.array([-1]), table("kernels", []), NONE, Groups([]))

    assert calls.select("op_name", "in_msg_nelems", "dtype").row(0) == ("allreduce", 3, "Float")


def test_a_gloo_call_belongs_to_the_only_group() -> None:
    """gloo records no group; where the files list exactly one it is that one."""
    groups = Groups(listed_groups([{"pg_name": "0", "ranks": [0, 1], "group_size": 2, "origin": "et_init"}]))

    calls = _calls([node(5, "c10d::barrier")], [-1], groups=groups)

    assert calls.select("group", "group_origin").row(0) == ("0[0-1]", "only_group")


def test_comm_kind_stands_on_the_op_that_is_the_call() -> None:
    """Neither the op above nor the one below bears it, so that calls are counted once."""
    rows = [
        node(4, "c10d::allreduce_"),
        node(5, "record_param_comms", comm_args=said("allreduce")),
        node(6, "nccl:all_reduce"),
    ]

    assert comm_kinds(_calls(rows, [-1, 0, 1]), 3).to_list() == [None, "all_reduce", None]


def test_no_communication_is_an_empty_table() -> None:
    """A rank without calls has none, not one of nulls."""
    assert _calls([node(5, "aten::add")], [-1]).height == 0
    assert _calls([], []).height == 0
