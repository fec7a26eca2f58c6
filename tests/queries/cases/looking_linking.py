"""Cases for looks a person takes at launches: what launched what, and what is not linked."""

from __future__ import annotations

from tests.queries.cases import Case, case
from tests.queries.cases.structure import timed
from tests.queries.graphs import GraphBuilder


def launched(
    g: GraphBuilder, above: int | None, at: int, name: str, lasts: int, rank: int = 0
) -> tuple[int, int]:
    """Add a launch of 5 ns at `at` and its device op 100 later; return both."""
    call = g.op("cudaLaunchKernel", above, label="RuntimeCall", rank=rank, **timed(at, 5))
    times = {"start_ns": at + 100, "duration_ns": lasts}
    kernel = g.node("Kernel", name, rank=rank, stream=7, work="computation", launch_class="launched", **times)
    g.edge("LAUNCHES", call, kernel)
    return call, kernel


@case
def rates_of_linking(g: GraphBuilder) -> Case:
    """Of three device ops two have a launch, one of these a host op above it: 33 of 100."""
    launched(g, g.op("mm"), 10, "gemm", 30)
    launched(g, None, 20, "gemm", 40)
    g.node("Kernel", "old", launch_class="before_window", duration_ns=5)
    g.node("Kernel", "old", launch_class="before_window", rank=1)
    rows = [(0, 3, 2, 1, 33, 75, 30), (1, 1, 0, 0, 0, 0, 0)]
    return Case("linking/show_link_rates", g.build(), rows)


@case
def device_ops_no_host_op_is_known_for(g: GraphBuilder) -> Case:
    """One without a launch, one whose launch no op made; the longest first."""
    launched(g, g.op("mm"), 10, "gemm", 900)
    _, free = launched(g, None, 20, "gemm", 40)
    lost = g.node("Kernel", "k", launch_class="lost", correlation=9, stream=20, start_ns=3, duration_ns=50)
    rows = [(lost, 0, "k", 20, "lost", 9, 3, 50), (free, 0, "gemm", 7, "launched", None, 120, 40)]
    return Case("linking/show_unlinked_kernels", g.build(), rows)


@case
def launches_without_a_device_op(g: GraphBuilder) -> Case:
    """By start, with the op that made them; one with a device op and a call that launches none are out."""
    op = g.op("mm")
    launched(g, op, 10, "gemm", 30)
    later = g.op("cudaLaunchKernel", op, label="RuntimeCall", correlation=8, **timed(50, 5))
    first = g.op("hipModuleLaunchKernel", label="RuntimeCall", correlation=7, **timed(40, 5))
    g.op("cudaLaunchHostFunc", op, label="RuntimeCall", **timed(60, 5))
    g.op("cudaDeviceSynchronize", op, label="RuntimeCall", **timed(70, 5))
    rows = [
        (first, 0, "hipModuleLaunchKernel", 7, None, 40),
        (later, 0, "cudaLaunchKernel", 8, "mm", 50),
    ]
    return Case("linking/show_unanswered_launches", g.build(), rows)


@case
def runtime_calls_by_name(g: GraphBuilder) -> Case:
    """The name with most time first; how many have a device op."""
    launched(g, None, 10, "gemm", 30)
    g.op("cudaLaunchKernel", label="RuntimeCall", **timed(50, 4))
    g.op("cudaDeviceSynchronize", label="RuntimeCall", **timed(70, 50))
    g.op("cudaDeviceSynchronize", label="RuntimeCall", rank=1, **timed(70, 500))
    rows = [("cudaDeviceSynchronize", 1, 50, 50, 0), ("cudaLaunchKernel", 2, 9, 5, 1)]
    return Case("linking/count_runtime_calls", g.build(), rows, {"rank": 0})


@case
def device_time_of_host_ops(g: GraphBuilder) -> Case:
    """What an op launches itself: the outer op launches nothing through the inner one."""
    outer = g.op("linear")
    inner = g.op("mm", outer)
    launched(g, inner, 10, "gemm", 30)
    launched(g, inner, 20, "splitk", 50)
    launched(g, g.op("mm", rank=1), 20, "gemm", 10, rank=1)
    launched(g, outer, 30, "bias", 7)
    rows = [("mm", 2, 3, 90, 50), ("linear", 1, 1, 7, 7)]
    return Case("linking/show_device_time_of_ops", g.build(), rows)


@case
def device_ops_below_an_op(g: GraphBuilder) -> Case:
    """At any depth, by start, with the op nearest above the launch; another op's are out."""
    outer = g.op("linear")
    inner = g.op("mm", outer)
    _, second = launched(g, outer, 30, "bias", 7)
    _, first = launched(g, inner, 10, "gemm", 30)
    launched(g, g.op("mm"), 20, "gemm", 10)
    rows = [
        (first, "gemm", "computation", "mm", 7, 10, 110, 30),
        (second, "bias", "computation", "linear", 7, 30, 130, 7),
    ]
    return Case("linking/show_kernels_under_op", g.build(), rows, {"op": outer})


@case
def device_ops_below_the_ops_of_a_name(g: GraphBuilder) -> Case:
    """Below an op inside one of the same name: its device op counts once."""
    outer = g.op("mm")
    launched(g, g.op("mm", outer), 10, "gemm", 30)
    launched(g, g.op("mm"), 20, "gemm", 10)
    launched(g, outer, 30, "bias", 7)
    launched(g, g.op("add"), 30, "add", 70)
    rows = [("gemm", "computation", 2, 40), ("bias", "computation", 1, 7)]
    return Case("linking/count_kernels_under_ops", g.build(), rows, {"name": "mm"})
