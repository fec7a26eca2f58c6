"""Cases for the checks and looks at structure: parents, components, ids. Dependencies: dependencies.py."""

from __future__ import annotations

from typing import Any

from tests.queries.cases import Case, case
from tests.queries.graphs import PROCESS, THREAD, GraphBuilder


def roots(g: GraphBuilder, rank: int = 0) -> int:
    """Add process and thread root of a rank; return the thread."""
    process = g.op(PROCESS, node_id=1, rank=rank)
    return g.op(THREAD, process, node_id=2, parent_id=1, rank=rank)


def timed(start: int, length: int, thread: int = 7) -> dict[str, Any]:
    """Return the properties of an op that ran on a thread."""
    return {"start_ns": start, "duration_ns": length, "thread": thread, "process": 70}


@case
def two_children_of_an_absent_parent(g: GraphBuilder) -> Case:
    """Both children of absent id 4 count, with the call below one of them; rank 1 has its own id 4."""
    thread = roots(g)
    g.op("aten::add", thread, node_id=9, parent_id=2)
    first = g.op("forward", node_id=5, parent_id=4)
    g.op("c10d::allreduce_", first, node_id=6, parent_id=5, comm_kind="all_reduce")
    second = g.op("backward", node_id=7, parent_id=4)
    roots(g, rank=1)
    other = g.op("forward", node_id=5, parent_id=4, rank=1)
    rows = [(0, 4, 2, 3, 1, [first, second]), (1, 4, 1, 1, 0, [other])]
    return Case("structure/find_missing_parents", g.build(), rows)


@case
def a_device_op_of_a_merged_trace_under_an_absent_parent(g: GraphBuilder) -> Case:
    """A merged trace names the parent of a kernel too; kernels below a hidden op are hidden with it."""
    roots(g)
    kernel = g.node("Kernel", "sgemm", node_id=20, parent_id=11)
    op = g.op("aten::mm", node_id=12, parent_id=9)
    for number in (21, 22):
        g.edge("CTRL", op, g.node("Kernel", "sgemm", node_id=number, parent_id=12))
    rows = [(0, 9, 1, 3, 0, [op]), (0, 11, 1, 1, 0, [kernel])]
    return Case("structure/find_missing_parents", g.build(), rows)


@case
def parents_that_are_there(g: GraphBuilder) -> Case:
    """No absent parent: roots, an op a repair gave a parent, a span of Kineto alone, a launched kernel."""
    thread = roots(g)
    g.op("repaired", node_id=5, parent_id=4, root=thread)
    g.edge("CTRL", thread, thread + 1, repair="r", rule="thread_root", confidence="low")
    span = g.op("ProfilerStep#1", **timed(0, 9))
    call = g.op("cudaLaunchKernel", span, label="RuntimeCall")
    g.edge("LAUNCHES", call, g.node("Kernel", "sgemm"))
    return Case("structure/find_missing_parents", g.build(), [])


@case
def children_of_one_absent_id(g: GraphBuilder) -> Case:
    """The children of rank 0's absent id 4 come with what encloses them; those of other ids do not."""
    roots(g)
    step = g.op("ProfilerStep#1", **timed(0, 100))
    inside = g.op("forward", node_id=5, parent_id=4, tid=1, encloser=step, **timed(10, 20))
    untimed = g.op("backward", node_id=6, parent_id=4, tid=2)
    g.op("elsewhere", node_id=8, parent_id=7)
    g.op("other rank", node_id=5, parent_id=4, rank=1)
    rows = [
        (inside, 5, "forward", 1, 10, step, None, "ProfilerStep#1"),
        (untimed, 6, "backward", 2, None, None, None, None),
    ]
    return Case("structure/show_children_of_absent", g.build(), rows, {"rank": 0, "absent_id": 4})


@case
def enclosers_of_orphans(g: GraphBuilder) -> Case:
    """Orphans are counted by what encloses them: a span of Kineto alone, a recorded op, nothing."""
    thread = roots(g)
    step = g.op("ProfilerStep#1", **timed(0, 100))
    known = g.op("loop", thread, node_id=3, parent_id=2, **timed(0, 100))
    g.op("a", node_id=5, parent_id=4, encloser=step)
    g.op("b", node_id=6, parent_id=4, encloser=step)
    g.op("c", node_id=7, parent_id=4, encloser=known)
    g.op("d", node_id=8, parent_id=4)
    rows = [(0, 4, "ProfilerStep#1", True, 2), (0, 4, "loop", False, 1), (0, 4, None, False, 1)]
    return Case("structure/count_enclosers_of_orphans", g.build(), rows)


@case
def calls_below_an_absent_parent(g: GraphBuilder) -> Case:
    """A hidden call comes with its group and its first kernel; one in reach of the root does not come."""
    thread = roots(g)
    g.op("c10d::broadcast_", thread, node_id=3, parent_id=2, comm_kind="broadcast")
    top = g.op("forward", node_id=5, parent_id=4)
    host = g.op("record_param_comms", top, node_id=6, parent_id=5, comm_kind="all_reduce")
    alone = g.op("c10d::send", top, node_id=7, parent_id=5, comm_kind="send")
    late = g.node("Kernel", "ncclKernel", correlation=12)
    early = g.node("Kernel", "ncclKernel", correlation=11)
    call = g.node("CollectiveCall", "all_reduce", group="0[0-1]")
    for seen, rule in ((host, "host_op"), (early, "kernel"), (late, "kernel")):
        g.edge("SEEN_AS", call, seen, rule=rule)
    rows = [
        (0, 4, host, 6, "all_reduce", "0[0-1]", late, 12),
        (0, 4, alone, 7, "send", None, None, None),
    ]
    return Case("structure/show_hidden_calls", g.build(), rows)


@case
def components_and_why(g: GraphBuilder) -> Case:
    """The tree of the root, an orphan's, one without a parent; spans of Kineto alone are no component."""
    thread = roots(g)
    g.op("c10d::broadcast_", thread, node_id=3, parent_id=2, comm_kind="broadcast")
    orphan = g.op("forward", node_id=5, parent_id=4)
    g.op("aten::add", orphan, node_id=6, parent_id=5)
    lost = g.op("unknown", node_id=8)
    circle = g.op("its own caller", node_id=20, parent_id=20, root=None)
    g.edge("CTRL", circle, circle)
    span = g.op("ProfilerStep#1")
    g.op("python", span)
    g.op("known to Kineto", thread)
    g.edge("CTRL", lost, g.node("Kernel", "of a merged trace", node_id=30, parent_id=8))
    rows = [
        (0, thread - 1, PROCESS, None, "process root", 3, 1),
        (0, orphan, "forward", 4, "absent parent", 2, 0),
        (0, lost, "unknown", None, "no parent", 2, 0),
        (0, circle, "its own caller", 20, "in a circle", 1, 0),
    ]
    return Case("structure/show_components", g.build(), rows)


@case
def tops_without_a_parent(g: GraphBuilder) -> Case:
    """Two trees whose tops name no parent and are no process root; the call below one counts."""
    roots(g)
    one = g.op("unknown", node_id=8)
    g.op("c10d::send", one, node_id=9, parent_id=8, comm_kind="send")
    two = g.op("unknown", node_id=10)
    return Case("structure/find_unreachable_components", g.build(), [(0, 2, 3, 1, [one, two])])


@case
def tops_that_are_explained(g: GraphBuilder) -> Case:
    """The process root of either spelling, an orphan and a Kineto span are not unreachable components."""
    roots(g)
    g.op("[pytorch|profiler|execution_graph|process]", node_id=1, rank=1)
    g.op("forward", node_id=5, parent_id=4)
    g.op("ProfilerStep#1")
    return Case("structure/find_unreachable_components", g.build(), [])


@case
def ids_used_twice(g: GraphBuilder) -> Case:
    """Ids 5 and 6 of one file are used by two and three records."""
    file = g.node("TraceFile", "et.json", kind="et")
    thread = roots(g)
    fives = [g.op("a", thread, node_id=5, parent_id=2, trace_file=file) for _ in range(2)]
    sixes = [g.op("b", thread, node_id=6, parent_id=2, trace_file=file) for _ in range(3)]
    g.op("c", thread, node_id=7, parent_id=2, trace_file=file)
    rows = [(0, file, 2, 5, [5, 6], [fives[0], sixes[0], fives[-1], sixes[-1]])]
    return Case("structure/find_duplicate_ids", g.build(), rows)


@case
def ids_used_once_a_rank(g: GraphBuilder) -> Case:
    """The same id on two ranks, in two files, and on a call beside its host op is no duplicate."""
    roots(g)
    roots(g, rank=1)
    g.op("a", node_id=5, trace_file=1)
    g.op("a", node_id=5, trace_file=2)
    g.node("CollectiveCall", "all_reduce", node_id=5, trace_file=1)
    return Case("structure/find_duplicate_ids", g.build(), [])


@case
def children_outside_their_parents(g: GraphBuilder) -> Case:
    """A child that began 3 ns early and one that ended 5 ns late lie outside."""
    parent = g.op("parent", node_id=3, **timed(100, 100))
    early = g.op("early", parent, node_id=4, parent_id=3, **timed(97, 20))
    late = g.op("late", parent, node_id=5, parent_id=3, **timed(150, 55))
    return Case("structure/find_parents_not_enclosing", g.build(), [(0, 2, 5, [early, late])])


@case
def children_inside_their_parents(g: GraphBuilder) -> Case:
    """2 ns outside is the clock's grain; another thread, no times or a repaired parent are not judged."""
    parent = g.op("parent", node_id=3, **timed(100, 100))
    g.op("grain", parent, node_id=4, parent_id=3, **timed(98, 104))
    g.op("thread", parent, node_id=5, parent_id=3, **timed(0, 500, thread=8))
    g.op("untimed", parent, node_id=6, parent_id=3)
    g.op("moved", parent, node_id=7, parent_id=99, **timed(0, 500))
    return Case("structure/find_parents_not_enclosing", g.build(), [])


@case
def parents_on_another_thread(g: GraphBuilder) -> Case:
    """An op on thread 8 under one on thread 7, and one of another process on a thread of the same number."""
    parent = g.op("parent", node_id=3, **timed(0, 100))
    one = g.op("child", parent, node_id=4, parent_id=3, **timed(0, 5, thread=8))
    two = g.op("child", parent, node_id=5, parent_id=3, **timed(0, 5) | {"process": 71})
    return Case("structure/find_parents_on_other_thread", g.build(), [(0, 2, [one, two])])


@case
def parents_on_the_same_thread(g: GraphBuilder) -> Case:
    """A worker's gloo: op under its c10d:: call is right; so is a child that is only late."""
    call = g.op("c10d::allreduce_", node_id=3, **timed(0, 100))
    g.op("gloo:all_reduce", call, node_id=4, parent_id=3, **timed(50, 500, thread=8))
    g.op("late", call, node_id=5, parent_id=3, **timed(50, 500))
    g.op("untimed", call, node_id=6, parent_id=3)
    return Case("structure/find_parents_on_other_thread", g.build(), [])


@case
def parents_by_their_place_in_time(g: GraphBuilder) -> Case:
    """Every child with times is in one of four places."""
    call = g.op("c10d::allreduce_", node_id=3, **timed(0, 100))
    g.op("gloo:all_reduce", call, node_id=4, parent_id=3, **timed(50, 500, thread=8))
    g.op("late", call, node_id=5, parent_id=3, **timed(50, 500))
    g.op("inside", call, node_id=6, parent_id=3, **timed(50, 50))
    g.op("thread", call, node_id=7, parent_id=3, **timed(50, 50, thread=9))
    g.op("untimed", call, node_id=8, parent_id=3)
    places = ("enclosing", "not enclosing", "other thread", "worker of a call")
    return Case("structure/count_parents_in_time", g.build(), [(0, place, 1) for place in places])


@case
def ops_by_uid(g: GraphBuilder) -> Case:
    """Ops come ascending, whatever the order asked; one of no run does not come."""
    thread = roots(g)
    kernel = g.node("Kernel", "sgemm", start_ns=5, duration_ns=2)
    rows = [
        (thread, 0, "HostOp", 2, THREAD, None, None),
        (kernel, 0, "Kernel", None, "sgemm", 5, 2),
    ]
    return Case("structure/show_ops", g.build(), rows, {"uids": [kernel, thread, 999]})


@case
def threads_with_their_ops(g: GraphBuilder) -> Case:
    """A thread of Kineto by its id, ops without times by the trace's own number."""
    g.op("a", **timed(5, 10), tid=1)
    g.op("b", **timed(10, 20), tid=1)
    g.op("c", tid=2)
    rows = [(0, 70, 7, None, 2, 5, 30), (0, None, None, 2, 1, None, None)]
    return Case("structure/show_threads", g.build(), rows)


@case
def calls_a_walk_from_the_root_meets(g: GraphBuilder) -> Case:
    """A call under an absent parent is counted and not met; one that Kineto alone knows is not counted."""
    thread = roots(g)
    g.op("c10d::allreduce_", thread, node_id=5, parent_id=2, comm_kind="all_reduce")
    orphan = g.op("forward", node_id=7, parent_id=4)
    g.op("c10d::send", orphan, node_id=8, parent_id=7, comm_kind="send")
    g.op("c10d::recv_", **timed(0, 9), comm_kind="recv")
    roots(g, rank=1)
    return Case("structure/count_reached_calls", g.build(), [(0, 2, 1)])
