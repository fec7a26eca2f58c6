"""Cases for looks at the time of host ops: by rank, name, shape, thread, step, and between moments."""

from __future__ import annotations

from tests.queries.cases import Case, case
from tests.queries.cases.looking_linking import launched
from tests.queries.cases.structure import timed
from tests.queries.graphs import GraphBuilder


@case
def time_by_name_of_one_rank(g: GraphBuilder) -> Case:
    """The other rank does not count."""
    g.op("a", self_ns=1, duration_ns=10)
    g.op("a", self_ns=5, duration_ns=50, rank=1)
    return Case("time/show_time_by_name", g.build(), [("a", 1, 50, 5, 50)], {"rank": 1})


@case
def top_ops_of_one_rank(g: GraphBuilder) -> Case:
    """The other rank does not count; without a count at most twenty."""
    g.op("a", self_ns=9, duration_ns=10)
    ops = [g.op("b", self_ns=5, duration_ns=50, rank=1) for _ in range(21)]
    return Case("time/show_top_ops", g.build(), [(op, 1, "b", 5, 50) for op in ops[:20]], {"rank": 1})


@case
def ops_that_last_longest(g: GraphBuilder) -> Case:
    """From start to end, whatever is inside; one without times is out."""
    step = g.op("step", self_ns=1, step=3, **timed(0, 90))
    mm = g.op("mm", step, self_ns=70, step=3, **timed(5, 70))
    g.op("short", self_ns=2, **timed(5, 2))
    g.op("untimed")
    rows = [(step, 0, "step", 3, 0, 90, 1), (mm, 0, "mm", 3, 5, 70, 70)]
    return Case("time/show_longest_ops", g.build(), rows, {"count": 2})


@case
def time_of_a_name_by_rank(g: GraphBuilder) -> Case:
    """Kinds apart: a host op and a device op may share a name. The mean is rounded down."""
    for lasts, rank in ((10, 0), (15, 0), (40, 1)):
        g.op("mm", rank=rank, duration_ns=lasts)
    g.node("Kernel", "mm", duration_ns=3)
    g.op("add", duration_ns=1)
    rows = [(0, "HostOp", 2, 25, 12, 10, 15), (0, "Kernel", 1, 3, 3, 3, 3), (1, "HostOp", 1, 40, 40, 40, 40)]
    return Case("time/show_time_by_rank", g.build(), rows, {"name": "mm"})


@case
def time_of_a_name_by_shape(g: GraphBuilder) -> Case:
    """By the shapes as text; ops without them share a row."""
    g.op("mm", input_shapes="[[2,3]]", duration_ns=10, self_ns=4)
    g.op("mm", input_shapes="[[2,3]]", duration_ns=20, self_ns=4, rank=1)
    g.op("mm", input_shapes="[[9,9]]", duration_ns=30, self_ns=30)
    g.op("mm", duration_ns=1, self_ns=1)
    rows = [("[[9,9]]", 1, 30, 30, 30), ("[[2,3]]", 2, 30, 8, 20), (None, 1, 1, 1, 1)]
    return Case("time/show_time_by_shape", g.build(), rows, {"name": "mm"})


@case
def time_by_thread(g: GraphBuilder) -> Case:
    """Own time of annotations is apart: no operator ran in it."""
    g.op("ProfilerStep#1", category="user_annotation", self_ns=30, **timed(0, 100))
    g.op("mm", category="cpu_op", self_ns=70, **timed(10, 70))
    g.op("backward", self_ns=5, **timed(200, 5, thread=8))
    g.op("untimed")
    rows = [(0, 70, 7, 2, 70, 30, 0, 100), (0, 70, 8, 1, 5, 0, 200, 205)]
    return Case("time/show_time_by_thread", g.build(), rows)


@case
def marked_ranges(g: GraphBuilder) -> Case:
    """Annotations by name, over all ranks; operators are out."""
    for rank, lasts in ((0, 50), (0, 60), (1, 70)):
        g.op("forward", category="user_annotation", rank=rank, duration_ns=lasts, self_ns=10)
    g.op("mm", category="cpu_op", duration_ns=900)
    return Case("time/show_annotations", g.build(), [("forward", 3, 180, 30, 70, 2)])


@case
def the_slowest_steps(g: GraphBuilder) -> Case:
    """From the first start to the last end, of whatever thread."""
    g.op("a", step=1, **timed(0, 10))
    g.op("b", step=1, **timed(30, 20, thread=8))
    g.op("a", step=2, **timed(60, 10))
    g.op("a", step=1, rank=1, **timed(5, 40))
    g.op("outside", **timed(0, 900))
    rows = [(0, 1, 50, 0, 2), (1, 1, 40, 5, 1)]
    return Case("time/show_slowest_steps", g.build(), rows, {"count": 2})


@case
def what_steps_are_made_of(g: GraphBuilder) -> Case:
    """Own time, calls, and what the step launched: 0 for one without launches; no own time without times."""
    mm = g.op("mm", step=1, self_ns=10, **timed(0, 10))
    launched(g, mm, 1, "gemm", 30)
    launched(g, mm, 2, "splitk", 4)
    g.op("record_param_comms", step=1, self_ns=5, comm_kind="all_reduce", **timed(20, 5))
    g.op("mm", step=2, self_ns=7, **timed(60, 7))
    launched(g, g.op("outside"), 3, "gemm", 500)
    g.op("untimed", step=3)
    rows = [(0, 1, 2, 15, 1, 2, 34), (0, 2, 1, 7, 0, 0, 0), (0, 3, 1, None, 0, 0, 0)]
    return Case("time/show_time_by_step", g.build(), rows)


@case
def what_ran_between_two_moments(g: GraphBuilder) -> Case:
    """All that reaches into the time, whole or in part; what only ends before or begins after is out."""
    around = g.op("around", **timed(0, 100))
    g.op("before", **timed(0, 9))
    ends = g.op("ends", **timed(5, 6))
    g.op("after", **timed(21, 5))
    kernel = g.node("Kernel", "gemm", stream=7, start_ns=15, duration_ns=90)
    g.op("elsewhere", rank=1, **timed(0, 100))
    rows = [
        (around, "HostOp", "around", 7, None, 0, 100),
        (ends, "HostOp", "ends", 7, None, 5, 6),
        (kernel, "Kernel", "gemm", None, 7, 15, 90),
    ]
    return Case("time/show_ops_between", g.build(), rows, {"rank": 0, "from_ns": 10, "to_ns": 20})


@case
def ranks_side_by_side(g: GraphBuilder) -> Case:
    """Sums of host ops and calls; a rank without device ops or calls has none of their times."""
    g.node("Rank", "rank 0", rank=0, device_busy_ns=80, computing_ns=60)
    g.node("Rank", "rank 1", rank=1)
    g.op("a", self_ns=10, **timed(5, 10))
    g.op("b", self_ns=20, **timed(30, 20))
    g.node(
        "CollectiveCall", "allreduce", exposed_ns=7, overlapped_ns=3, wait_ns=2, start_ns=900, duration_ns=10
    )
    g.node("CollectiveCall", "allreduce", start_ns=950)
    g.op("a", rank=1, self_ns=1, **timed(6, 1))
    rows = [(0, 2, 5, 50, 30, 80, 60, 2, 7, 2), (1, 1, 6, 7, 1, None, None, 0, None, None)]
    return Case("time/show_ranks", g.build(), rows)
