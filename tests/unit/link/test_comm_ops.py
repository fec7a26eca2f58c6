from __future__ import annotations

from typing import Any

import numpy as np
import orjson
import polars as pl

from graphstore.link.comm_ops import find_comm_ops
from tests.data.builders import Row, node, span, table


def said(op_name: str, **more: Any) -> str:
    """Return the comm_args of a communication op."""
    return orjson.dumps({"op_name": op_name} | more).decode()


def _found(
    rows: list[Row], parents: list[int], enclosers: list[int] | None = None
) -> tuple[dict[int, int | None], dict[int, int]]:
    """Return (worker of each call, call of each op), by row."""
    host = table("host_ops", rows).with_columns(comm_args_kineto=pl.lit(None, pl.String))
    ops = find_comm_ops(host, np.array(parents), np.array(enclosers or [-1] * len(parents)))
    return ops.worker_of_call, ops.call_of


def test_nccl_the_recorded_call_is_the_call() -> None:
    """c10d::X and nccl:X belong to the record_param_comms between them; a wait is no call."""
    calls, call_of = _found(
        [
            node(1, "c10d::allreduce_"),
            node(2, "record_param_comms", comm_args=said("allreduce")),
            node(3, "nccl:all_reduce"),
            node(4, "record_param_comms", comm_args=said("wait", is_wait=True)),
            node(5, "aten::add"),
        ],
        [-1, 0, 1, -1, -1],
    )

    assert calls == {1: None}
    assert call_of == {1: 1, 2: 1}


def test_a_recorded_call_without_a_name_is_told_by_the_backend_op_in_it() -> None:
    """Kineto of 2023 records no names: with nccl:X inside it is a call of that kind, else maybe a wait."""
    calls, _ = _found(
        [
            span("record_param_comms", 0, 9),
            span("nccl:all_to_all", 1, 8),
            span("record_param_comms", 10, 12),
        ],
        [-1, 0, -1],
    )

    assert calls == {0: None}


def test_gloo_the_c10d_op_is_the_call_and_its_worker_follows_by_id() -> None:
    """Two calls in flight: each worker goes to the last call of its kind before it, by id."""
    calls, _ = _found(
        [
            node(1, "c10d::allreduce_", rf_id=10),
            node(2, "c10d::allreduce_", rf_id=20),
            node(3, "gloo:all_reduce", rf_id=21),
            node(4, "gloo:all_reduce", rf_id=11),
        ],
        [-1, -1, -1, -1],
    )

    assert calls == {0: 3, 1: 2}


def test_a_stale_recorded_parent_does_not_mislead_a_worker() -> None:
    """A worker whose recorded parent is a call made after it still belongs to the one before it (d2)."""
    calls, _ = _found(
        [
            node(1, "c10d::allreduce_", rf_id=10),
            node(2, "c10d::allreduce_", rf_id=20),
            node(3, "gloo:all_reduce", rf_id=11),
            node(4, "gloo:all_reduce", rf_id=21),
        ],
        [-1, -1, 1, 2],
    )

    assert calls == {0: 2, 1: 3}


def test_gloo_does_reduce_scatter_by_all_reduce() -> None:
    """The worker of another kind is joined where that kind emulates the call's, else not."""
    calls, _ = _found(
        [
            node(1, "c10d::_reduce_scatter_base_", rf_id=10),
            node(2, "gloo:all_reduce", rf_id=14),
            node(3, "c10d::allgather_", rf_id=20),
            node(4, "gloo:all_reduce", rf_id=21),
        ],
        [-1, -1, -1, -1],
    )

    assert calls == {0: 1, 2: None, 3: None}


def test_a_worker_whose_call_is_absent_is_a_call_of_its_own() -> None:
    """An earlier call that has its worker does not get a second one; the communication is not lost."""
    calls, _ = _found(
        [
            node(1, "c10d::allreduce_", rf_id=10),
            node(2, "gloo:all_reduce", rf_id=11),
            node(3, "gloo:all_reduce", rf_id=31),
        ],
        [-1, -1, -1],
    )

    assert calls == {0: 1, 2: None}


def test_a_second_worker_recorded_below_its_call_belongs_to_it() -> None:
    """A coalesced call is done in several pieces; the first stands for it."""
    calls, call_of = _found(
        [
            node(1, "c10d::reduce_scatter_tensor_coalesced_", rf_id=10),
            node(2, "gloo:all_reduce", rf_id=11),
            node(3, "gloo:all_reduce", rf_id=12),
        ],
        [-1, 0, 0],
    )

    assert calls == {0: 1}
    assert call_of == {0: 0, 1: 0, 2: 0}


def test_without_ids_workers_are_taken_in_order_of_time() -> None:
    """Kineto without ids: the k-th worker of a kind belongs to the k-th call that began before it."""
    calls, _ = _found(
        [
            span("c10d::allreduce_", 0, 5),
            span("c10d::allreduce_", 10, 15),
            span("gloo:all_reduce", 2, 30, thread=8),
            span("gloo:all_reduce", 12, 40, thread=9),
            span("gloo:broadcast", 50, 60, thread=9),
        ],
        [-1] * 5,
    )

    assert calls == {0: 2, 1: 3, 4: None}


def test_a_backend_op_enclosed_by_its_call_needs_no_id() -> None:
    """Sampled Kineto files hold nccl:X right below c10d::X, without the recorded call between."""
    calls, _ = _found(
        [span("c10d::_allgather_base_", 0, 9), span("nccl:_all_gather_base", 1, 8)], [-1, -1], [-1, 0]
    )

    assert calls == {0: 1}


def test_ops_that_only_look_like_communication_are_none() -> None:
    """autograd's names and a waiting c10d op are no calls."""
    calls, _ = _found(
        [node(1, "c10d::wait_tensor"), node(2, "autograd::engine"), node(3, "nccl::all_reduce")], [-1] * 3
    )

    assert calls == {}
