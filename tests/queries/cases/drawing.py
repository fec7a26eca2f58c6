"""Cases for the statements that choose what a picture shows."""

from __future__ import annotations

from tests.queries.cases import Case, case
from tests.queries.cases.structure import roots
from tests.queries.graphs import GraphBuilder


@case
def ops_of_a_name(g: GraphBuilder) -> Case:
    """The whole name, on every rank."""
    first = g.op("aten::add")
    g.op("aten::add_")
    other = g.op("aten::add", rank=1)
    rows = [(first, 0), (other, 1)]
    return Case("structure/show_ops_named", g.build(), rows, {"name": "aten::add"})


@case
def ops_of_an_id(g: GraphBuilder) -> Case:
    """An id used twice gives both ops; the call that is the same node does not come."""
    one, two = g.op("a", node_id=5), g.op("b", node_id=5)
    g.op("c", node_id=6)
    kernel = g.node("Kernel", "k", node_id=5, rank=1)
    g.node("CollectiveCall", "all_reduce", node_id=5)
    rows = [(one, 0), (two, 0), (kernel, 1)]
    return Case("structure/show_ops_with_id", g.build(), rows, {"node_id": 5})


@case
def tops_of_the_graph(g: GraphBuilder) -> Case:
    """A root, an orphan, a kernel whose launch is lost, the first node of a Chakra file."""
    thread = roots(g)
    launch = g.op("cudaLaunchKernel", g.op("aten::add", thread), label="RuntimeCall")
    g.edge("LAUNCHES", launch, g.node("Kernel", "launched"))
    orphan = g.op("orphan", node_id=9, parent_id=8)
    lost = g.node("Kernel", "lost", rank=1)
    first, after = g.node("ChakraNode", "first"), g.node("ChakraNode", "after")
    g.edge("DATA", first, after)
    g.node("CollectiveCall", "all_reduce")
    root = g.row(thread)["root"]
    rows = [(root, 0), (orphan, 0), (lost, 1), (first, 0)]
    return Case("structure/show_tops", g.build(), rows)


@case
def edges_that_leave_ops(g: GraphBuilder) -> Case:
    """Of the four types, by their ends; edges into the ops and other types do not come."""
    op = g.op("aten::add", g.op("above"))
    launch = g.op("cudaLaunchKernel", op, label="RuntimeCall")
    kernel = g.node("Kernel", "k")
    g.edge("LAUNCHES", launch, kernel)
    g.edge("SYNC", op, kernel, rule="sync_dep")
    g.edge("SEEN_AS", g.node("CollectiveCall", "c"), op, rule="host_op")
    rows = [(op, launch, "CTRL"), (op, kernel, "SYNC"), (launch, kernel, "LAUNCHES")]
    return Case("structure/show_edges_from_ops", g.build(), rows, {"uids": [launch, op]})


@case
def callers_of_ops(g: GraphBuilder) -> Case:
    """The op above, or the call that launched it; what is waited for is no caller."""
    op = g.op("aten::add")
    launch = g.op("cudaLaunchKernel", op, label="RuntimeCall")
    kernel = g.node("Kernel", "k")
    g.edge("LAUNCHES", launch, kernel)
    g.edge("SYNC", op, kernel, rule="sync_dep")
    rows = [(op, launch), (launch, kernel)]
    return Case("structure/show_callers", g.build(), rows, {"uids": [kernel, launch]})
