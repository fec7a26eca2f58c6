from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphstore.link.overlaps import Covered
from graphstore.link.rank import link_rank
from graphstore.model.records import RankGraph
from tests.data.builders import Row, call, chakra_file, et_file, kernel, kineto_file, node, roots, span

NCCL = "ncclDevKernel_AllReduce_Sum_f32"
SPANS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 20)), max_size=12)


def linked(
    ops: list[Row], calls: list[Row] | tuple[()] = (), kernels: list[Row] | tuple[()] = ()
) -> RankGraph:
    """Return the rank made of one Kineto trace."""
    return link_rank(0, [kineto_file(ops, calls, kernels)])


def parts(graph: RankGraph) -> list[tuple[int | None, int | None]]:
    """Return (exposed, overlapped) of the rank's communication calls."""
    return graph.nodes["CollectiveCall"].select("exposed_ns", "overlapped_ns").rows()


def of_kernels(*kernels: Row) -> list[tuple[int | None, int | None]]:
    """Return (exposed, overlapped) of the all_reduce that launches all NCCL kernels among `kernels`."""
    ops = [
        span("record_param_comms", 0, 50, comm_args='{"op_name": "allreduce"}', rf_id=1),
        span("nccl:all_reduce", 10, 40, rf_id=2),
    ]
    launches = [call(k["correlation"], 20 + n, 21 + n) for n, k in enumerate(kernels) if k["name"] == NCCL]
    return parts(linked(ops, launches, list(kernels)))


def of_gloo(*others: Row) -> list[tuple[int | None, int | None]]:
    """Return (exposed, overlapped) of a gloo all_reduce whose worker is at it from 100 to 200 on thread 9."""
    ops = [span("c10d::allreduce_", 0, 50, rf_id=1), span("gloo:all_reduce", 100, 200, rf_id=2, thread=9)]
    return parts(linked([*ops, *others]))


@given(SPANS, SPANS)
def test_what_is_covered_is_counted_once(
    covering: list[tuple[int, int]], asked: list[tuple[int, int]]
) -> None:
    """Moment by moment: a moment is covered when any span holds it, however many do."""
    start, asked_start = (np.array([s for s, _ in spans], np.int64) for spans in (covering, asked))
    end, asked_end = (np.array([s + d for s, d in spans], np.int64) for spans in (covering, asked))
    moments = {moment for s, d in covering for moment in range(s, s + d)}

    covered = Covered.by(start, end)

    assert covered.total == len(moments)
    assert covered.within(asked_start, asked_end).tolist() == [
        len(moments & set(range(s, s + d))) for s, d in asked
    ]


def test_a_kernel_that_computes_hides_communication_and_a_copy_does_not() -> None:
    """NCCL from 100 to 200: a gemm hides 150 to 180, once, though two streams compute; a copy nothing."""
    found = of_kernels(
        kernel(1, 100, 200, NCCL),
        kernel(2, 150, 180, stream=20),
        kernel(3, 160, 170, stream=21),
        kernel(4, 110, 140, "Memcpy DtoD", stream=22, device_kind="memcpy"),
    )

    assert found == [(70, 30)]


def test_the_kernels_of_one_call_count_each_moment_once() -> None:
    """Two kernels of one call, 100 to 200 and 150 to 250: 150 in all, of which 40 are hidden."""
    found = of_kernels(
        kernel(1, 100, 200, NCCL), kernel(2, 150, 250, NCCL, stream=8), kernel(3, 180, 220, stream=20)
    )

    assert found == [(110, 40)]


def test_other_communication_hides_none() -> None:
    """Two calls at the same time are both exposed: nothing is computed."""
    assert of_kernels(kernel(1, 100, 200, NCCL)) == [(100, 0)]
    assert of_kernels(kernel(1, 100, 200, NCCL), kernel(9, 100, 200, "ncclKernel_SendRecv")) == [
        (100, 0),
        (100, 0),
    ]


def test_an_operator_on_another_thread_hides_a_gloo_call() -> None:
    """110 to 150 computed on the main thread: 60 exposed; what the worker runs inside hides nothing."""
    inner = span("aten::copy_", 160, 170, thread=9)
    assert of_gloo(span("aten::mm", 110, 150)) == [(60, 40)]
    assert of_gloo(span("aten::mm", 110, 150), inner) == [(60, 40)]


def test_two_threads_that_compute_hide_a_moment_once() -> None:
    """110 to 150 and 130 to 160 on two threads: 50 hidden."""
    assert of_gloo(span("aten::mm", 110, 150), span("aten::add", 130, 160, thread=2)) == [(50, 50)]


@pytest.mark.parametrize(
    "name", ["gloo:broadcast", "c10d::barrier", "record_param_comms", "_c10d_functional::wait_tensor"]
)
def test_communication_and_waiting_on_another_thread_hide_nothing(name: str) -> None:
    """Nor does an operator inside one: it belongs to the communication."""
    others = [span(name, 110, 150, thread=3), span("aten::copy_", 120, 130, thread=3)]

    assert of_gloo(*others)[0] == (100, 0)


def test_an_annotation_computes_nothing_but_the_operator_in_it_does() -> None:
    """ProfilerStep holds the whole step; only the time of the operator inside it is computing."""
    step = span("ProfilerStep#1", 0, 300, category="user_annotation")

    assert of_gloo(step, span("aten::mm", 110, 150)) == [(60, 40)]


def test_a_call_whose_time_no_file_tells_has_neither() -> None:
    """NCCL without its kernels was only queued on the host; an execution trace alone has no times."""
    args = '{"op_name": "allreduce"}'
    host_only = linked([span("record_param_comms", 0, 50, comm_args=args), span("nccl:all_reduce", 10, 40)])
    untimed = link_rank(0, [et_file([*roots(), node(5, "c10d::allreduce_", 2)])])

    assert parts(host_only) == [(None, None)]
    assert parts(untimed) == [(None, None)]


def test_a_stream_is_idle_from_the_last_end_before_a_device_op() -> None:
    """Stream 7: first, 10 later, inside a longer one, then 20 after that one's end. Stream 8 by itself."""
    ops = [
        kernel(4, 190, 200),
        kernel(1, 0, 50),
        kernel(2, 60, 170),
        kernel(3, 80, 90),
        kernel(5, 75, 80, stream=8),
        kernel(6, 80, 90, stream=None),
    ]

    found = linked([], [], ops).nodes["Kernel"]["idle_ns"]

    assert found.to_list() == [20, None, 10, 0, None, None]


def test_device_ops_are_told_apart_by_what_they_do() -> None:
    """NCCL and RCCL by name, copies and sets by kind, all others compute."""
    ops = [
        kernel(1, 0, 5),
        kernel(2, 5, 9, NCCL),
        kernel(3, 9, 12, "rcclGenericKernel_4"),
        kernel(4, 12, 13, "Memset (Device)", device_kind="memset"),
    ]

    found = linked([], [], ops).nodes["Kernel"]["work"]

    assert found.to_list() == ["computation", "communication", "communication", "memory"]


def test_a_rank_without_ops_has_no_overlaps() -> None:
    """A Chakra file alone has neither threads nor device ops."""
    graph = link_rank(0, [chakra_file([{"node_id": 0, "name": "a", "ctrl_deps": [], "data_deps": []}])])

    assert parts(graph) == []
