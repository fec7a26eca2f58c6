"""Cases for the statements that repairs read by and write with."""

from __future__ import annotations

from typing import Any

from tests.queries.cases import Case, case
from tests.queries.cases.export import page
from tests.queries.cases.health import answered, kept, shown
from tests.queries.graphs import PROCESS, THREAD, GraphBuilder

ONE = {"rank": 0}


def tree(g: GraphBuilder) -> tuple[int, int, int]:
    """Add process root 1, thread root 2 and an op 5 that names the absent 4; return their uids."""
    root = g.op(PROCESS, node_id=1)
    thread = g.op(THREAD, root, node_id=2, parent_id=1, tid=1)
    return root, thread, g.op("aten::add", node_id=5, parent_id=4, tid=1)


@case
def host_ops_as_columns(g: GraphBuilder) -> Case:
    """Nulls are -1; a time of 0 is a time, as its duration says; other ranks and pages are left out."""
    _, thread, op = tree(g)
    span = g.op("ProfilerStep#1", start_ns=0, duration_ns=9, thread=7)
    g.row(op).update(start_ns=3, duration_ns=0, thread=7, encloser=span, rf_id=6)
    g.op("elsewhere", rank=1, node_id=1)
    g.op("later", node_id=7)
    rows = [
        (thread - 1, 1, -1, -1, -1, 0, -1, -1, -1, PROCESS),
        (thread, 2, 1, 1, -1, 0, -1, -1, -1, THREAD),
        (op, 5, 4, 1, 6, 3, 0, 7, span, "aten::add"),
        (span, -1, -1, -1, -1, 0, 9, 7, -1, "ProfilerStep#1"),
    ]
    return Case("structure/show_host_op_columns", g.build(), rows, page(thread - 1, span + 1), parallel=True)


@case
def host_ops_with_their_callers(g: GraphBuilder) -> Case:
    """Of the page's ops; a top has none, wherever the caller's key lies."""
    root, thread, op = tree(g)
    below = g.op("aten::mul", op, node_id=6, parent_id=5)
    g.op("aten::sub", op, node_id=7, parent_id=5)
    g.op("cudaLaunchKernel", op, "RuntimeCall")
    rows = [(thread, root), (below, op)]
    return Case("structure/show_caller_columns", g.build(), rows, page(thread, below), parallel=True)


@case
def runtime_calls_with_their_callers(g: GraphBuilder) -> Case:
    """A call outside of every op has no caller and is left out, as are those of the next page."""
    _, _, op = tree(g)
    call = g.op("cudaLaunchKernel", op, "RuntimeCall")
    last = g.op("cudaMalloc", label="RuntimeCall")
    g.op("cudaLaunchKernel", op, "RuntimeCall")
    rows = [(call, op)]
    return Case("structure/show_runtime_call_columns", g.build(), rows, page(call, last), parallel=True)


@case
def children_of_parents_that_time_denies(g: GraphBuilder) -> Case:
    """One outside its parent, one on another thread; 2 ns are rounding; a gloo op below its call is right."""
    above = g.op("c10d::allreduce_", node_id=3, start_ns=10, duration_ns=20, thread=7, process=1)
    outside = _below(g, above, "aten::add", start_ns=5, duration_ns=9)
    _below(g, above, "aten::mul", start_ns=8, duration_ns=24)
    away = _below(g, above, "aten::sub", start_ns=12, duration_ns=2, thread=8)
    _below(g, above, "gloo:all_reduce", start_ns=12, duration_ns=90, thread=9)
    rows = [(0, "parent_not_enclosing", [outside]), (0, "parent_on_other_thread", [away])]
    return Case("structure/show_wrong_parents", g.build(), rows)


def _below(g: GraphBuilder, above: int, name: str, **properties: Any) -> int:
    """Add an op that names node 3 as its parent."""
    return g.op(name, above, **{"parent_id": 3, "thread": 7, "process": 1, "node_id": 4, **properties})


@case
def ranks_with_a_wait(g: GraphBuilder) -> Case:
    """Rank 1 has a recorded SYNC edge; rank 0 is a forest in which one was found from times."""
    tree(g)
    g.edge("SYNC", g.op("c"), g.op("d"), rule="thread_start.timing")
    one, two = g.op("a", rank=1), g.op("b", rank=1)
    g.edge("SYNC", one, two, rule="sync_dep")
    return Case("structure/show_ranks_with_order", g.build(), [(1, "edges")])


@case
def ranks_with_an_op_that_has_no_top(g: GraphBuilder) -> Case:
    """Callers in a cycle have no top."""
    g.op("a", root=None, depth=None)
    return Case("structure/show_ranks_with_order", g.build(), [(0, "no top")])


@case
def ranks_of_a_chakra_file(g: GraphBuilder) -> Case:
    """Its deps may say anything."""
    g.op("a", label="ChakraNode", node_id=5)
    return Case("structure/show_ranks_with_order", g.build(), [(0, "chakra nodes")])


@case
def nodes_that_edges_order(g: GraphBuilder) -> Case:
    """Calls and sync events have no such edges; the next page is not asked."""
    op = g.op("aten::mm", node_id=5, start_ns=4, duration_ns=2)
    kernel = g.node("Kernel", "k")
    g.node("CollectiveCall", "allreduce")
    last = g.node("SyncEvent", "Event Sync")
    g.node("Kernel", "later")
    rows = [(op, 5, 4, 2, "HostOp", "aten::mm"), (kernel, -1, 0, -1, "Kernel", "k")]
    return Case("structure/show_order_node_columns", g.build(), rows, page(op, last), parallel=True)


@case
def waits_as_columns(g: GraphBuilder) -> Case:
    """From what is waited for, if on the page, to what waits, with what says so."""
    one, two, three = g.op("a"), g.op("b"), g.op("c")
    g.edge("SYNC", one, two, rule="sync_dep")
    g.edge("SYNC", two, three)
    g.edge("SYNC", three, one)
    rows = [(one, two, "sync_dep"), (two, three, "")]
    return Case("structure/show_sync_columns", g.build(), rows, page(one, two), parallel=True)


@case
def device_ops_with_ids_of_their_own(g: GraphBuilder) -> Case:
    """A kernel of Kineto has no id; a node on the host, without stream or start, or beyond is not asked."""
    kernel = g.node("Kernel", "k", node_id=20, device=0, stream=7, start_ns=5, duration_ns=2)
    node = g.op("n", label="ChakraNode", node_id=3, is_cpu_op=False, stream=1, start_ns=0)
    g.node("Kernel", "k", device=0, stream=7, start_ns=9)
    g.op("n", label="ChakraNode", node_id=4, is_cpu_op=True, stream=1, start_ns=1)
    g.op("n", label="ChakraNode", node_id=5, is_cpu_op=False, start_ns=1)
    last = g.op("n", label="ChakraNode", node_id=6, is_cpu_op=False, stream=1)
    g.node("Kernel", "later", node_id=21, device=0, stream=7, start_ns=9)
    rows = [(kernel, 0, 7, 5, 2, "k"), (node, -1, 1, 0, -1, "n")]
    return Case("structure/show_device_op_columns", g.build(), rows, page(kernel, last), parallel=True)


@case
def chakra_nodes_with_their_trees(g: GraphBuilder) -> Case:
    """Recorded deps, also of absent nodes; top and depth as stored."""
    top = g.op("a", label="ChakraNode", node_id=1, ctrl_deps=[])
    below = g.op("b", top, "ChakraNode", node_id=2, ctrl_deps=[1, 99])
    rows = [(top, 1, [], top, 0), (below, 2, [1, 99], top, 1)]
    return Case("structure/show_chakra_trees", g.build(), rows, ONE)


def repair(g: GraphBuilder, **properties: Any) -> dict[str, Any]:
    """Return a row of repair_keep."""
    own = {"name": "thread_root", "rule": "thread_root", "rank": 0, "safe": False, "changes": 1}
    own |= {"reason": "no time", "evidence": "[]", "before": "[]", "after": "[]", "applied_at": "now"}
    return {"rid": f"{g.run}:thread_root:0", "properties": own | properties}


def shown_repair(g: GraphBuilder, *findings: str, reason: str = "no time") -> tuple[Any, ...]:
    """Return the row of show_repairs for such a repair."""
    rid = f"{g.run}:thread_root:0"
    return (rid, "thread_root", 0, False, 1, reason, "[]", "[]", "[]", "now", list(findings))


@case
def repairs_and_what_they_answer(g: GraphBuilder) -> Case:
    """One repair, one finding."""
    tree(g)
    rid = f"{g.run}:thread_root:0"
    tie = ("structure/repair_answer_findings", {"rows": [{"rid": rid, "fid": f"{g.run}:a"}]})
    before = (kept(g, "a", "b"), ("structure/repair_keep", {"rows": [repair(g)]}), tie)
    return Case("structure/show_repairs", g.build(), [shown_repair(g, f"{g.run}:a")], before=before)


@case
def a_repair_kept_twice(g: GraphBuilder) -> Case:
    """The second values replace the first."""
    tree(g)
    return Case(
        "structure/repair_keep",
        g.build(),
        [(1,)],
        {"rows": [repair(g, reason="later")]},
        before=(("structure/repair_keep", {"rows": [repair(g)]}),),
        after="structure/show_repairs",
        then=[shown_repair(g, reason="later")],
    )


@case
def a_finding_answered_twice(g: GraphBuilder) -> Case:
    """One edge all the same."""
    tree(g)
    tie = answered(g, "a")
    return Case(
        "structure/repair_answer_findings",
        g.build(),
        [(1,)],
        tie[1][1],
        before=(kept(g, "a"), ("structure/repair_keep", {"rows": [repair(g)]}), tie[1]),
        after="structure/show_repairs",
        then=[shown_repair(g, f"{g.run}:a")],
    )


@case
def a_finding_marked_as_repaired(g: GraphBuilder) -> Case:
    """Only the one named."""
    tree(g)
    return Case(
        "structure/repair_set_finding_status",
        g.build(),
        [(1,)],
        {"fids": [f"{g.run}:a"], "status": "repaired"},
        before=(kept(g, "a", "b"),),
        after="health/show_findings",
        then=[shown(g, "a", status="repaired"), shown(g, "b")],
    )


@case
def repairs_removed(g: GraphBuilder) -> Case:
    """With what they answered, though not the finding."""
    tree(g)
    return Case(
        "structure/repair_remove_repairs",
        g.build(),
        [(1,)],
        before=(kept(g, "a"), *answered(g, "a")),
        after="structure/show_repairs",
    )


def new_edge(g: GraphBuilder, parent: int, child: int) -> tuple[str, dict[str, Any]]:
    """Return the writing of an edge that a repair makes."""
    row = {"parent": parent, "child": child, "rule": "thread_root", "confidence": "medium"}
    return (
        "structure/repair_add_ctrl_edges",
        {"rows": [row | {"repair": f"{g.run}:thread_root:0"}]},
    )


@case
def a_ctrl_edge_added(g: GraphBuilder) -> Case:
    """The orphan has a parent."""
    _, thread, op = tree(g)
    name, parameters = new_edge(g, thread, op)
    then = [("CTRL", "HostOp", "HostOp", 2)]
    return Case(name, g.build(), [(1,)], parameters, after="archive/count_edges", then=then)


@case
def ctrl_edges_that_repairs_made_removed(g: GraphBuilder) -> Case:
    """Recorded edges stay."""
    _, thread, op = tree(g)
    return Case(
        "structure/repair_remove_made_edges",
        g.build(),
        [(1,)],
        before=(new_edge(g, thread, op),),
        after="archive/count_edges",
        then=[("CTRL", "HostOp", "HostOp", 1)],
    )


def removed(g: GraphBuilder, kind: str, **properties: Any) -> Case:
    """Return the case of removing one of two edges of a kind."""
    one, two, three = g.op("a"), g.op("b"), g.op("c")
    g.edge(kind, one, two, **properties)
    g.edge(kind, one, three, **properties)
    return Case(
        f"structure/repair_remove_{kind.lower()}_edges",
        g.build(),
        [(1,)],
        {"rows": [{"src": one, "dst": two}]},
        after="archive/count_edges",
        then=[(kind, "HostOp", "HostOp", 1)],
    )


def restored(g: GraphBuilder, kind: str, **properties: Any) -> Case:
    """Return the case of making an edge of a kind."""
    one, two = g.op("a"), g.op("b")
    return Case(
        f"structure/repair_restore_{kind.lower()}_edges",
        g.build(),
        [(1,)],
        {"rows": [{"src": one, "dst": two, **properties}]},
        after="archive/count_edges",
        then=[(kind, "HostOp", "HostOp", 1)],
    )


@case
def a_ctrl_edge_removed(g: GraphBuilder) -> Case:
    """The other edge of the caller stays."""
    return removed(g, "CTRL")


@case
def a_data_edge_removed(g: GraphBuilder) -> Case:
    """The other consumer keeps its edge."""
    return removed(g, "DATA")


@case
def a_sync_edge_removed(g: GraphBuilder) -> Case:
    """The other wait stays."""
    return removed(g, "SYNC", rule="sync_dep")


@case
def a_ctrl_edge_restored(g: GraphBuilder) -> Case:
    """As the import wrote it."""
    return restored(g, "CTRL")


@case
def a_data_edge_restored(g: GraphBuilder) -> Case:
    """As the import wrote it."""
    return restored(g, "DATA")


@case
def a_sync_edge_restored(g: GraphBuilder) -> Case:
    """As the import wrote it, with its rule."""
    return restored(g, "SYNC", rule="sync_dep")


@case
def a_span_restored_under_an_absent_id(g: GraphBuilder) -> Case:
    """It counts as recorded from then on."""
    span = g.op("ProfilerStep#1")
    return Case(
        "structure/repair_set_node_ids",
        g.build(),
        [(1,)],
        {"rows": [{"uid": span, "node_id": 4, "node_id_origin": "repair"}]},
        after="structure/show_components",
        then=[(0, span, "ProfilerStep#1", None, "no parent", 1, 0)],
    )


@case
def host_ops_moved_into_another_tree(g: GraphBuilder) -> Case:
    """By the stored root they are of one component."""
    root, thread, op = tree(g)
    return Case(
        "structure/repair_set_host_op_places",
        g.build(),
        [(1,)],
        {"rows": [{"uid": op, "root": root, "depth": 2, "path": f"{PROCESS} / {THREAD} / aten::add"}]},
        before=(new_edge(g, thread, op),),
        after="structure/show_components",
        then=[(0, root, PROCESS, None, "process root", 3, 0)],
    )


@case
def a_chakra_node_moved_into_another_tree(g: GraphBuilder) -> Case:
    """Its path is none; the number of nodes changed comes back."""
    top, node = g.op("a", label="ChakraNode", node_id=1), g.op("b", label="ChakraNode", node_id=2)
    return Case(
        "structure/repair_set_places",
        g.build(),
        [(1,)],
        {"rows": [{"uid": node, "root": top, "depth": 1}]},
        after="archive/count_labels",
        then=[("ChakraNode", 2), ("Run", 1)],
    )


def made_root(g: GraphBuilder, uid: int) -> tuple[str, dict[str, Any]]:
    """Return the writing of a process root that a repair makes."""
    own = {"rank": 0, "kind": "HostOp", "name": PROCESS, "node_id": 1, "root": uid, "synthetic": True}
    return ("structure/repair_create_host_ops", {"rows": [{"uid": uid, "properties": own}]})


@case
def a_process_root_created(g: GraphBuilder) -> Case:
    """It is a component of its own until something hangs below it."""
    op = g.op("aten::add", node_id=5, parent_id=1)
    name, parameters = made_root(g, op + 1000)
    rows = [
        (0, op, "aten::add", 1, "absent parent", 1, 0),
        (0, op + 1000, PROCESS, None, "process root", 1, 0),
    ]
    return Case(name, g.build(), [(1,)], parameters, after="structure/show_components", then=rows)


@case
def synthetic_ops_removed(g: GraphBuilder) -> Case:
    """With the edges they have; recorded ops stay."""
    op = g.op("aten::add", node_id=5, parent_id=1)
    return Case(
        "structure/repair_remove_host_ops",
        g.build(),
        [(1,)],
        before=(made_root(g, op + 1000), new_edge(g, op + 1000, op)),
        after="archive/count_labels",
        then=[("HostOp", 1), ("Run", 1)],
    )
