"""Cases for the looks at memory: copies, tensors, who returned them and who takes them."""

from __future__ import annotations

from typing import Any

from tests.queries.cases import Case, case
from tests.queries.cases.structure import timed
from tests.queries.graphs import GraphBuilder


def copy(g: GraphBuilder, name: str, size: int | None, lasts: int | None, **properties: Any) -> int:
    """Add a copy."""
    own = {"device_kind": "memcpy", "size_bytes": size, "duration_ns": lasts}
    return g.node("Kernel", name, **{**own, **properties})


@case
def copies_by_direction(g: GraphBuilder) -> Case:
    """As CUDA and ROCm spell it; without a duration there is no speed."""
    copy(g, "Memcpy HtoD (Pageable -> Device)", 100, 10)
    copy(g, "CopyHostToDevice", 300, 40)
    copy(g, "Memcpy DtoH (Device -> Pinned)", 8, None)
    copy(g, "Memcpy DtoD (Device -> Device)", 6, 2, rank=1)
    copy(g, "Memcpy PtoP (Device -> Device)", 6, 3, rank=1)
    copy(g, "Memcpy HtoH (Pinned -> Pinned)", None, 3, rank=1)
    copy(g, "CopyKernel", 5, 1, rank=1)
    copy(g, "Memset (Device)", 4, 1, device_kind="memset")
    copy(g, "gemm", None, 1, device_kind="kernel")
    rows = [
        (0, "DtoH", 1, 8, 0, 8, None),
        (0, "HtoD", 2, 400, 50, 300, 8.0),
        (0, "set", 1, 4, 1, 4, 4.0),
        (1, "DtoD", 1, 6, 2, 6, 3.0),
        (1, "HtoH", 1, 0, 3, None, 0.0),
        (1, "PtoP", 1, 6, 3, 6, 2.0),
        (1, "other", 1, 5, 1, 5, 5.0),
    ]
    return Case("memory/show_copies_by_direction", g.build(), rows)


@case
def the_largest_copies(g: GraphBuilder) -> Case:
    """With the op that asked for each, where it is known; no more than asked for."""
    large = copy(g, "Memcpy HtoD", 100, 10, stream=7, start_ns=3)
    lone = copy(g, "Memcpy DtoH", 50, 10)
    copy(g, "Memcpy DtoH", 49, 10)
    copy(g, "Memcpy DtoH", None, 10)
    copy(g, "Memset", 900, 10, device_kind="memset")
    op = g.op("aten::copy_")
    g.edge("LAUNCHES", g.op("cudaMemcpyAsync", op, "RuntimeCall"), large)
    rows = [
        (0, 100, "Memcpy HtoD", 7, 3, 10, "aten::copy_", op, large),
        (0, 50, "Memcpy DtoH", None, None, 10, None, None, lone),
    ]
    return Case("memory/show_largest_copies", g.build(), rows, {"count": 2})


def chain(g: GraphBuilder) -> tuple[int, int, int]:
    """Add an op whose tensors two others take, the first of which hands on to the second."""
    made = g.op("aten::linear", node_id=3, output_bytes=64, input_bytes=8, **timed(10, 5))
    early = g.op("aten::relu", node_id=4, output_bytes=64, input_bytes=64, **timed(20, 5))
    late = g.op("ReluBackward", node_id=9, output_bytes=1, input_bytes=128, **timed(90, 5))
    for source, target in ((made, early), (made, late), (early, late)):
        g.edge("DATA", source, target)
    return made, early, late


@case
def producers_of_an_op(g: GraphBuilder) -> Case:
    """The latest first, with how long before the op they had ended."""
    made, early, late = chain(g)
    rows = [(early, "aten::relu", 4, 64, 20, 65), (made, "aten::linear", 3, 64, 10, 75)]
    return Case("memory/show_producers", g.build(), rows, {"op": late})


@case
def consumers_of_an_op(g: GraphBuilder) -> Case:
    """In order of time."""
    made, early, late = chain(g)
    rows = [(early, "aten::relu", 4, 64, 20, 5), (late, "ReluBackward", 9, 128, 90, 75)]
    return Case("memory/show_consumers", g.build(), rows, {"op": made})


@case
def consumers_without_times(g: GraphBuilder) -> Case:
    """An execution trace alone: who, but not when."""
    made, taken = g.op("a"), g.op("b")
    g.edge("DATA", made, taken)
    return Case("memory/show_consumers", g.build(), [(taken, "b", None, None, None, None)], {"op": made})


@case
def flows_by_name(g: GraphBuilder) -> Case:
    """Pairs of names, the most frequent first; over two ranks."""
    for rank in (0, 0, 1):
        g.edge("DATA", g.op("aten::mm", rank=rank), g.op("aten::add", rank=rank))
    g.edge("DATA", g.op("aten::add"), g.op("aten::mm"))
    rows = [("aten::mm", "aten::add", 3, 2), ("aten::add", "aten::mm", 1, 1)]
    return Case("memory/show_tensor_flow", g.build(), rows)


@case
def the_largest_tensors(g: GraphBuilder) -> Case:
    """What the outermost op returns; the inner one that returns as many bytes is the same tensor."""
    outer = g.op("aten::linear", output_bytes=64, output_shapes="[[4,4]]", output_types='["Tensor(float)"]')
    g.op("aten::addmm", outer, output_bytes=64)
    inner = g.op("aten::empty", outer, output_bytes=32, node_id=7, **timed(4, 1))
    g.op("aten::size", output_bytes=0)
    g.op("known to Kineto only")
    rows = [
        (0, 64, "aten::linear", "[[4,4]]", '["Tensor(float)"]', None, None, outer),
        (0, 32, "aten::empty", None, None, 7, 4, inner),
    ]
    return Case("memory/show_largest_tensors", g.build(), rows)


@case
def bytes_of_ops_by_name(g: GraphBuilder) -> Case:
    """Innermost ops only, those that read most first."""
    outer = g.op("aten::linear", input_bytes=900, output_bytes=900)
    g.op("aten::addmm", outer, input_bytes=80, output_bytes=16, self_ns=5)
    g.op("aten::addmm", outer, input_bytes=20, output_bytes=16, self_ns=6)
    g.op("aten::empty", outer, input_bytes=0, output_bytes=16, self_ns=1)
    g.op("aten::size", input_bytes=0, output_bytes=0)
    g.op("known to Kineto only")
    rows = [("aten::addmm", 2, 100, 32, 80, 11), ("aten::empty", 1, 0, 16, 0, 1)]
    return Case("memory/show_bytes_by_op", g.build(), rows)


@case
def tensors_kept_longest(g: GraphBuilder) -> Case:
    """From the end of the producer to the start of the last consumer; ops without times do not come."""
    made, early, late = chain(g)
    g.edge("DATA", g.op("a"), g.op("b"))
    rows = [
        (0, 75, 64, "aten::linear", "ReluBackward", 2, made, late),
        (0, 65, 64, "aten::relu", "ReluBackward", 1, early, late),
    ]
    return Case("memory/show_longest_kept", g.build(), rows)


@case
def ops_taken_from_most(g: GraphBuilder) -> Case:
    """By the number of ops that take from it."""
    made, early, _ = chain(g)
    rows = [(0, 2, "aten::linear", 64, 3, 10, made), (0, 1, "aten::relu", 64, 4, 20, early)]
    return Case("memory/show_most_read", g.build(), rows)
