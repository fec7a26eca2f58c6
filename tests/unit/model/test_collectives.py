from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphstore.model.collectives import (
    COLLECTIVE_KINDS,
    P2P_KINDS,
    collective_kind,
    collective_kind_of_kernel,
    is_collective_kernel,
)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("allreduce", "all_reduce"),
        ("all_reduce", "all_reduce"),
        ("allreduce_coalesced", "all_reduce"),
        ("nccl:all_reduce_coalesced", "all_reduce"),
        ("c10d::allreduce_", "all_reduce"),
        ("gloo:all_reduce", "all_reduce"),
        ("_c10d_functional::all_reduce", "all_reduce"),
        ("gloo:sparse_all_reduce", "all_reduce"),
        ("_allgather_base", "all_gather"),
        ("c10d::_allgather_base_", "all_gather"),
        ("nccl:_all_gather_base", "all_gather"),
        ("all_gather_into_tensor_coalesced", "all_gather"),
        ("allgather_into_tensor_coalesced_", "all_gather"),
        ("c10d::allgather_", "all_gather"),
        ("nccl:ALLGATHER_coalesced", "all_gather"),
        ("_reduce_scatter_base", "reduce_scatter"),
        ("reduce_scatter_tensor", "reduce_scatter"),
        ("reduce_scatter_tensor_coalesced", "reduce_scatter"),
        ("broadcast", "broadcast"),
        ("_broadcast_oop", "broadcast"),
        ("c10d::broadcast_", "broadcast"),
        ("alltoall_base", "all_to_all"),
        ("c10d::alltoall_base_", "all_to_all"),
        ("all_to_allv", "all_to_all"),
        ("all_to_all_single", "all_to_all"),
        ("barrier", "barrier"),
        ("monitored_barrier", "barrier"),
        ("c10d::monitored_barrier_", "barrier"),
        ("nccl:all_reduce_barrier", "barrier"),
        ("_reduce_oop", "reduce"),
        ("c10d::reduce_", "reduce"),
        ("gather", "gather"),
        ("c10d::scatter_", "scatter"),
        ("c10d::send", "send"),
        ("nccl:send 0->1", "send"),
        ("c10d::recv_", "recv"),
        ("nccl:recv 1<-0", "recv"),
        ("recv_any_source", "recv"),
        ("c10d::recv_any_source_", "recv"),
    ],
)
def test_every_spelling_of_a_collective_has_one_kind(name: str, kind: str) -> None:
    """Names of c10d, its backends and ATen for one operation give the same word."""
    assert collective_kind(name) == kind


@pytest.mark.parametrize(
    "name", ["wait", "init", "coalesced", "nccl:coalesced", "aten::add_", "wait_tensor", "", ":", "tensor"]
)
def test_what_is_no_collective_has_no_kind(name: str) -> None:
    """Waits, group set-up and names of nothing are not given a kind."""
    assert collective_kind(name) is None


@pytest.mark.parametrize(
    ("kernel", "kind"),
    [
        ("ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "all_gather"),
        ("ncclDevKernel_AllReduce_Sum_f32_RING_LL(inv)", "all_reduce"),
        ("ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)", "all_reduce"),
        ("ncclKernel_Broadcast_RING_LL_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)", "broadcast"),
        ("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "reduce_scatter"),
        ("ncclDevKernel_Reduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "reduce"),
        ("ncclAllReduceRingLLKernel_sum_f32(ncclColl)", "all_reduce"),
        ("ncclSymkDevKernel_AllReduce_AGxLL_R_sum_f32", "all_reduce"),
        ("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", None),
        ("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*)", None),
        ("ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)", None),
    ],
)
def test_an_nccl_kernel_tells_its_kind_where_its_name_does(kernel: str, kind: str | None) -> None:
    """The kind is read out of the kernel's name; Generic and SendRecv stand for several and tell none."""
    assert is_collective_kernel(kernel)
    assert collective_kind_of_kernel(kernel) == kind


@pytest.mark.parametrize("kernel", ["void at::native::reduce_kernel<512>", "Memset (Device)", "gatherTopK"])
def test_other_kernels_are_no_collectives(kernel: str) -> None:
    """A kernel that reduces or gathers on one device is no communication."""
    assert not is_collective_kernel(kernel)
    assert collective_kind_of_kernel(kernel) is None


@given(
    kind=st.sampled_from([*COLLECTIVE_KINDS, *P2P_KINDS]),
    before=st.sampled_from(["", "c10d::", "gloo:", "nccl:", "_", "c10d::_"]),
    after=st.sampled_from(["", "_", "_coalesced", "_base_", "_coalesced_", "_tensor"]),
    joined=st.booleans(),
)
def test_prefixes_and_variants_do_not_change_the_kind(
    kind: str, before: str, after: str, joined: bool
) -> None:
    """Whatever namespace, underscore or variant stands around a kind, the kind is found."""
    word = kind.replace("_", "") if joined else kind

    assert collective_kind(before + word + after) == kind
