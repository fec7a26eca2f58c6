"""Cases for the checks and looks at structure: parents, components, ids, dependencies, cycles."""

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
    """A merged trace names the parent of a kernel too."""
    roots(g)
    kernel = g.node("Kernel", "sgemm", node_id=20, parent_id=11)
    return Case("structure/find_missing_parents", g.build(), [(0, 11, 1, 1, 0, [kernel])])


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
    span = g.op("ProfilerStep#1")
    g.op("python", span)
    g.op("known to Kineto", thread)
    rows = [
        (0, thread - 1, PROCESS, None, "process root", 3, 1),
        (0, orphan, "forward", 4, "absent parent", 2, 0),
        (0, lost, "unknown", None, "no parent", 1, 0),
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
    rows = [(0, file, 2, 5, [5, 6], [*fives, *sixes])]
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
def deps_on_absent_nodes(g: GraphBuilder) -> Case:
    """Id 0 and id 9 are absent; a ctrl dep that has its node and a node that names itself are not."""
    one = g.node("ChakraNode", "one", node_id=1, ctrl_deps=[0, 1], data_deps=[])
    two = g.node("ChakraNode", "two", node_id=2, ctrl_deps=[1, 0], data_deps=[1, 9])
    g.edge("CTRL", one, one)
    g.edge("CTRL", one, two)
    g.edge("DATA", one, two)
    rows = [(0, "ctrl_deps", 2, [0], 1, [one, two]), (0, "data_deps", 1, [9], 1, [two])]
    return Case("structure/find_dangling_deps", g.build(), rows)


@case
def deps_on_present_nodes(g: GraphBuilder) -> Case:
    """Id 0 is an id like any other: a dep on a node of that id is whole, and so is a node without deps."""
    zero = g.node("ChakraNode", "zero", node_id=0)
    one = g.node("ChakraNode", "one", node_id=1, ctrl_deps=[0], data_deps=[0])
    g.edge("CTRL", zero, one)
    g.edge("DATA", zero, one)
    return Case("structure/find_dangling_deps", g.build(), [])


@case
def deps_named_twice(g: GraphBuilder) -> Case:
    """Two ids twice in one field of one node is one node; the other field is told apart."""
    one = g.node("ChakraNode", "one", node_id=1, data_deps=[2, 2, 3, 3])
    two = g.node("ChakraNode", "two", node_id=2, data_deps=[1, 1], ctrl_deps=[3, 3])
    rows = [(0, "ctrl_deps", 1, [two]), (0, "data_deps", 2, [one, two])]
    return Case("structure/find_repeated_deps", g.build(), rows)


@case
def deps_named_once_a_field(g: GraphBuilder) -> Case:
    """One id in both fields, and one id of two nodes, is no repetition."""
    g.node("ChakraNode", "one", node_id=1, data_deps=[2, 3], ctrl_deps=[2])
    g.node("ChakraNode", "two", node_id=2, data_deps=[3])
    return Case("structure/find_repeated_deps", g.build(), [])


@case
def edges_that_may_close_a_cycle(g: GraphBuilder) -> Case:
    """An op that names itself may; the last edge of a chain leads to an op that nothing follows."""
    one = g.node("ChakraNode", "one", node_id=1)
    two = g.node("ChakraNode", "two", node_id=2)
    last = g.node("ChakraNode", "last", node_id=3)
    g.edge("CTRL", one, one)
    g.edge("DATA", one, two)
    g.edge("DATA", two, last)
    rows = [(0, "CTRL", [one], [one]), (0, "DATA", [one], [two])]
    return Case("structure/find_cycle_edges", g.build(), rows)


@case
def edges_that_close_nothing(g: GraphBuilder) -> Case:
    """In a tree of two levels every edge leads to a leaf; a launch says nothing about order here."""
    thread = g.op(THREAD, node_id=2)
    call = g.op("cudaLaunchKernel", thread, label="RuntimeCall")
    g.edge("LAUNCHES", call, g.node("Kernel", "sgemm"))
    return Case("structure/find_cycle_edges", g.build(), [])


@case
def edges_as_columns(g: GraphBuilder) -> Case:
    """The edges of one rank come as two lists a type, ascending."""
    thread = roots(g)
    call = g.op("cudaLaunchKernel", thread, label="RuntimeCall")
    kernel = g.node("Kernel", "sgemm")
    g.edge("LAUNCHES", call, kernel)
    g.edge("SYNC", kernel, thread, rule="sync_dep")
    roots(g, rank=1)
    rows = [
        ("CTRL", [thread - 1, thread], [thread, call]),
        ("LAUNCHES", [call], [kernel]),
        ("SYNC", [kernel], [thread]),
    ]
    return Case("structure/show_edges", g.build(), rows, {"rank": 0})


@case
def calls_without_a_size(g: GraphBuilder) -> Case:
    """Two of four calls have no size, one of them no type either; 0 is a size."""
    coll = {"chakra_kind": "COMM_COLL_NODE"}
    g.node("ChakraNode", "a", node_id=1, comm_kind="all_reduce", size_bytes=4, **coll)
    g.node("ChakraNode", "b", node_id=2, chakra_kind="COMM_SEND_NODE", size_bytes=0)
    bare = [g.node("ChakraNode", "c", node_id=3, comm_kind="all_gather", **coll)]
    bare.append(g.node("ChakraNode", "of no type", node_id=4, **coll))
    return Case("structure/find_missing_sizes", g.build(), [(0, 2, 4, bare)])


@case
def nodes_that_need_no_size(g: GraphBuilder) -> Case:
    """A barrier carries no bytes, a computation has no size; a sized call is whole."""
    coll = {"chakra_kind": "COMM_COLL_NODE"}
    g.node("ChakraNode", "a", node_id=1, comm_kind="barrier", **coll)
    g.node("ChakraNode", "b", node_id=2, chakra_kind="COMP_NODE")
    g.node("ChakraNode", "c", node_id=3, comm_kind="all_gather", size_bytes=8, **coll)
    return Case("structure/find_missing_sizes", g.build(), [])


def _waiting(g: GraphBuilder, waits_at: int) -> tuple[int, int]:
    """Add a kernel that starts at 180 and an op that waits for it from `waits_at` on."""
    op = g.op("op", node_id=10, **timed(waits_at, 10))
    kernel = g.node("Kernel", "sgemm", node_id=21, start_ns=180, duration_ns=5)
    g.edge("SYNC", kernel, op, rule="sync_dep")
    return op, kernel


@case
def a_wait_back_in_time(g: GraphBuilder) -> Case:
    """The op that waits began 80 ns before what it waits for."""
    op, _ = _waiting(g, 100)
    return Case("structure/find_syncs_back_in_time", g.build(), [(0, 1, 80, [op])])


@case
def a_wait_forward_in_time(g: GraphBuilder) -> Case:
    """At the same moment is not before."""
    _waiting(g, 180)
    return Case("structure/find_syncs_back_in_time", g.build(), [])


@case
def a_wait_back_in_time_with_its_ends(g: GraphBuilder) -> Case:
    """Both ends come with their ids, and what said that one waits."""
    op, kernel = _waiting(g, 100)
    rows = [(0, op, 10, "op", kernel, 21, "sgemm", "sync_dep", 80)]
    return Case("structure/show_syncs_back_in_time", g.build(), rows)


@case
def device_ops_that_are_all_leaves(g: GraphBuilder) -> Case:
    """Three device ops of a merged trace, of a Chakra file on rank 1: none has a successor."""
    op = g.op("op", node_id=10)
    for number in (20, 21, 22):
        g.edge("CTRL", op, g.node("Kernel", "k", node_id=number))
    g.node("ChakraNode", "gpu", node_id=1, is_cpu_op=False, rank=1)
    return Case("structure/find_gpu_leaves", g.build(), [(0, 3, 0), (1, 1, 0)])


@case
def device_ops_with_a_successor(g: GraphBuilder) -> Case:
    """One successor is enough; kernels of a Kineto trace hold no such edges, and CPU nodes are not asked."""
    kernel = g.node("Kernel", "k", node_id=20)
    g.edge("SYNC", kernel, g.op("op", node_id=10), rule="sync_dep")
    g.node("Kernel", "k", node_id=21)
    g.node("Kernel", "of Kineto", rank=1)
    g.node("ChakraNode", "cpu", node_id=1, is_cpu_op=True, rank=2)
    return Case("structure/find_gpu_leaves", g.build(), [])


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
