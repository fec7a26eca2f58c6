"""Cases for the checks and looks at linking: launches, NCCL, pairs of files, ids."""

from __future__ import annotations

from typing import Any

from tests.queries.cases import Case, case
from tests.queries.cases.structure import timed
from tests.queries.graphs import GraphBuilder


def launched(g: GraphBuilder, above: int | None, name: str = "sgemm", **properties: Any) -> tuple[int, int]:
    """Add a launch under `above` and its kernel; return both."""
    launch = g.op("cudaLaunchKernel", above, label="RuntimeCall", **timed(15, 2))
    kernel = g.node("Kernel", name, launch_class="launched", **properties)
    g.edge("LAUNCHES", launch, kernel)
    return launch, kernel


def _classes(g: GraphBuilder) -> dict[str, list[int]]:
    """Add two kernels before the window, one lost, one launched and one of a graph replay."""
    launched(g, None)
    kinds = ("before_window", "before_window", "lost", "graph_replay")
    out: dict[str, list[int]] = {}
    for kind in kinds:
        out.setdefault(kind, []).append(g.node("Kernel", "k", launch_class=kind))
    return out


@case
def kernels_from_before_the_window(g: GraphBuilder) -> Case:
    """Only the class before_window."""
    found = _classes(g)["before_window"]
    return Case("linking/find_launches_before_window", g.build(), [(0, 2, found)])


@case
def kernels_all_launched(g: GraphBuilder) -> Case:
    """A launched kernel is not from before the window."""
    launched(g, None)
    return Case("linking/find_launches_before_window", g.build(), [])


@case
def kernels_whose_launch_is_lost(g: GraphBuilder) -> Case:
    """Only the class lost."""
    found = _classes(g)["lost"]
    return Case("linking/find_lost_launches", g.build(), [(0, 1, found)])


@case
def kernels_whose_launch_is_there(g: GraphBuilder) -> Case:
    """Before the window is a class of its own, not lost."""
    g.node("Kernel", "k", launch_class="before_window")
    launched(g, None)
    return Case("linking/find_lost_launches", g.build(), [])


@case
def launches_without_a_kernel(g: GraphBuilder) -> Case:
    """Launches of kernels and graphs, CUDA, driver and HIP alike."""
    names = ("cudaLaunchKernel", "cuLaunchKernelEx", "hipExtModuleLaunchKernel", "cudaGraphLaunch")
    found = [g.op(name, label="RuntimeCall") for name in names]
    return Case("linking/find_launches_without_kernel", g.build(), [(0, 4, found)])


@case
def calls_that_launch_nothing(g: GraphBuilder) -> Case:
    """A launch with its kernel, a host function, a copy and an event make no finding."""
    launched(g, None)
    for name in ("cudaLaunchHostFunc", "cudaMemcpyAsync", "cudaEventRecord", "cudaDeviceSynchronize"):
        g.op(name, label="RuntimeCall")
    return Case("linking/find_launches_without_kernel", g.build(), [])


@case
def kernels_launched_in_no_op(g: GraphBuilder) -> Case:
    """The launch is there and hangs under nothing."""
    _, kernel = launched(g, None)
    return Case("linking/find_kernels_without_host_op", g.build(), [(0, 1, [kernel])])


@case
def kernels_launched_in_an_op(g: GraphBuilder) -> Case:
    """A launch inside an op is well; a kernel without a launch is another rule's."""
    launched(g, g.op("aten::mm", **timed(0, 50)))
    g.node("Kernel", "k", launch_class="before_window")
    return Case("linking/find_kernels_without_host_op", g.build(), [])


def _nccl(g: GraphBuilder, inner: dict[str, Any]) -> tuple[int, int]:
    """Add record_param_comms with an nccl: op below it; return both."""
    comms = g.op("record_param_comms", **timed(0, 100))
    return comms, g.op("nccl:all_reduce", comms, **inner)


@case
def an_nccl_kernel_past_its_op(g: GraphBuilder) -> Case:
    """The launch lies in nccl:all_reduce in time and hangs off record_param_comms."""
    comms, _ = _nccl(g, timed(10, 20))
    _, kernel = launched(g, comms, "ncclDevKernel", collective_kind="all_reduce")
    return Case("linking/find_links_past_nccl", g.build(), [(0, 1, [kernel])])


@case
def nccl_kernels_under_their_op(g: GraphBuilder) -> Case:
    """Well: under nccl:, beside one that ended before, of another thread, or where there is no nccl: op."""
    _, inner = _nccl(g, timed(10, 20))
    launched(g, inner, "ncclDevKernel", collective_kind="all_reduce")
    over, _ = _nccl(g, timed(0, 5))
    launched(g, over, "ncclDevKernel", collective_kind="all_reduce")
    elsewhere, _ = _nccl(g, timed(10, 20, thread=8))
    launched(g, elsewhere, "ncclDevKernel", collective_kind="all_reduce")
    launched(g, g.op("record_param_comms", **timed(0, 100)), "ncclDevKernel", collective_kind="all_reduce")
    return Case("linking/find_links_past_nccl", g.build(), [])


@case
def a_recorded_nccl_kernel_past_its_op(g: GraphBuilder) -> Case:
    """A merged trace hangs the kernel off record_param_comms and leaves nccl:all_reduce bare."""
    comms, _ = _nccl(g, {})
    kernel = g.node("Kernel", "ncclDevKernel", node_id=30, collective_kind="all_reduce")
    g.edge("CTRL", comms, kernel)
    return Case("linking/find_recorded_links_past_nccl", g.build(), [(0, 1, [kernel])])


@case
def recorded_nccl_kernels_under_their_op(g: GraphBuilder) -> Case:
    """Well: under nccl:, or beside one that has a kernel of its own, or where there is no nccl: op."""
    comms, inner = _nccl(g, {})
    for above in (inner, comms, g.op("record_param_comms")):
        g.edge("CTRL", above, g.node("Kernel", "ncclDevKernel", collective_kind="all_reduce"))
    return Case("linking/find_recorded_links_past_nccl", g.build(), [])


@case
def kernels_by_class(g: GraphBuilder) -> Case:
    """Every class with its count, and how many reach a host op."""
    _classes(g)
    launched(g, g.op("aten::mm", **timed(0, 50)))
    rows = [(0, "before_window", 2, 0), (0, "graph_replay", 1, 0), (0, "launched", 2, 1), (0, "lost", 1, 0)]
    return Case("linking/count_kernels_by_launch", g.build(), rows)


@case
def the_way_from_a_kernel_to_the_top(g: GraphBuilder) -> Case:
    """Launch, op and step above the kernel, nearest first; a second kernel of the op is not in the way."""
    step = g.op("ProfilerStep#1", **timed(0, 100))
    op = g.op("aten::mm", step, **timed(10, 30))
    launch, kernel = launched(g, op)
    launched(g, op)
    rows = [
        (1, launch, "RuntimeCall", "cudaLaunchKernel", 15, 2),
        (2, op, "HostOp", "aten::mm", 10, 30),
        (3, step, "HostOp", "ProfilerStep#1", 0, 100),
    ]
    return Case("linking/show_kernel_path", g.build(), rows, {"kernel": kernel})


@case
def a_way_of_more_than_ten_edges(g: GraphBuilder) -> Case:
    """The embedded engine's unbounded walk ends at 10 edges; the bounded one goes to the top."""
    above = None
    ops = []
    for depth in range(14):
        above = g.op(f"op {depth}", above)
        ops.append(above)
    launch, kernel = launched(g, above)
    rows: list[tuple[Any, ...]] = [(1, launch, "RuntimeCall", "cudaLaunchKernel", 15, 2)]
    rows += [(2 + up, uid, "HostOp", f"op {13 - up}", None, None) for up, uid in enumerate(reversed(ops))]
    return Case("linking/show_kernel_path", g.build(), rows, {"kernel": kernel})


@case
def which_op_launched_which_kernel(g: GraphBuilder) -> Case:
    """By names, the longest device time first."""
    for length in (10, 20):
        launched(g, g.op("aten::mm"), duration_ns=length)
    launched(g, g.op("aten::copy_"), "copy", duration_ns=100)
    rows = [("aten::copy_", "copy", 1, 100), ("aten::mm", "sgemm", 2, 30)]
    return Case("linking/show_kernels_of_ops", g.build(), rows)


def pair(g: GraphBuilder, **kineto: Any) -> int:
    """Add the rank with its execution trace and Kineto trace; return the latter."""
    rank = g.node("Rank", "rank 0", rank=0)
    trace = g.node("TraceFile", "et.json", kind="et", rank=0)
    file = g.node("TraceFile", "kineto.json", kind="kineto", rank=0, **kineto)
    g.edge("ON_RANK", trace, rank)
    g.edge("ON_RANK", file, rank)
    return file


MATCHED = {"partner": "et.json", "link_method": "rf_id", "link_candidates": 10, "link_matched": 10}


@case
def how_files_were_matched(g: GraphBuilder) -> Case:
    """One row a Kineto trace with method and counts."""
    more = {"link_ids_meet": 10, "link_names_agree": 9, "launches_enclosed": 4}
    pair(g, **MATCHED, **more, time_link_disagrees=1, external_id_disagrees=2)
    rows = [(0, "kineto.json", "et.json", "rf_id", 10, 10, 10, 9, 4, 1, 2)]
    return Case("linking/show_links", g.build(), rows)


@case
def files_that_differ(g: GraphBuilder) -> Case:
    """What differs is told with the other file."""
    file = pair(g, **MATCHED, mismatch="pid 1 / 2")
    rows = [(0, file, "kineto.json", "et.json", "pid 1 / 2")]
    return Case("linking/find_different_runs", g.build(), rows)


@case
def files_that_agree(g: GraphBuilder) -> Case:
    """Nothing differs."""
    pair(g, **MATCHED)
    return Case("linking/find_different_runs", g.build(), [])


@case
def ids_that_join_nothing(g: GraphBuilder) -> Case:
    """Record function ids of 0 beside an execution trace."""
    file = pair(g, **MATCHED | {"link_method": "name_order"}, rf_id_verdict="zero")
    rows = [(0, file, "kineto.json", "zero", "et.json", "name_order", 10, 10)]
    return Case("linking/find_unusable_ids", g.build(), rows)


@case
def ids_nobody_needs(g: GraphBuilder) -> Case:
    """Usable ids are well, and a Kineto trace without an execution trace needs none."""
    pair(g, **MATCHED, rf_id_verdict="usable")
    alone = g.node("TraceFile", "alone.json", kind="kineto", rank=1, rf_id_verdict="absent")
    g.edge("ON_RANK", alone, g.node("Rank", "rank 1", rank=1))
    return Case("linking/find_unusable_ids", g.build(), [])


@case
def ops_without_their_event(g: GraphBuilder) -> Case:
    """9 of 10."""
    file = pair(g, **MATCHED | {"link_matched": 9})
    rows = [(0, file, "kineto.json", "et.json", "rf_id", 10, 9)]
    return Case("linking/find_incomplete_links", g.build(), rows)


@case
def ops_all_with_their_event(g: GraphBuilder) -> Case:
    """All of 10; a file that was matched with nothing has no candidates."""
    pair(g, **MATCHED)
    g.node("TraceFile", "alone.json", kind="kineto", rank=1)
    return Case("linking/find_incomplete_links", g.build(), [])


@case
def launches_that_time_alone_misplaces(g: GraphBuilder) -> Case:
    """1 of 2."""
    file = pair(g, launches_enclosed=2, time_link_disagrees=1)
    return Case("linking/find_time_links_that_disagree", g.build(), [(0, file, "kineto.json", 2, 1)])


@case
def launches_that_time_places_well(g: GraphBuilder) -> Case:
    """0 of 2."""
    pair(g, launches_enclosed=2, time_link_disagrees=0)
    return Case("linking/find_time_links_that_disagree", g.build(), [])


@case
def external_ids_that_misplace(g: GraphBuilder) -> Case:
    """2 of 2."""
    file = pair(g, launches_enclosed=2, external_id_disagrees=2)
    return Case("linking/find_external_ids_that_disagree", g.build(), [(0, file, "kineto.json", 2, 2)])


@case
def external_ids_that_agree(g: GraphBuilder) -> Case:
    """0 of 2."""
    pair(g, launches_enclosed=2, external_id_disagrees=0)
    return Case("linking/find_external_ids_that_disagree", g.build(), [])
