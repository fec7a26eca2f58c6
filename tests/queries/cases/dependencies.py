"""Cases for the checks of dependencies: dangling, repeated, cycles, sizes, waits back in time, leaves."""

from __future__ import annotations

from typing import Any

from tests.queries.cases import Case, case
from tests.queries.cases.structure import roots, timed
from tests.queries.graphs import THREAD, GraphBuilder


@case
def deps_on_absent_nodes(g: GraphBuilder) -> Case:
    """Id 0 and id 9 are absent; a ctrl dep that has its node and a node that names itself are not."""
    one = g.node("ChakraNode", "one", node_id=1, ctrl_deps=[0, 1], data_deps=[])
    two = g.node("ChakraNode", "two", node_id=2, ctrl_deps=[1, 0], data_deps=[1, 9])
    g.edge("CTRL", one, one)
    g.edge("CTRL", one, two)
    g.edge("DATA", one, two)
    rows = [(0, "ctrl_deps", 2, 1, [0], [one]), (0, "data_deps", 1, 1, [9], [two])]
    return Case("structure/find_dangling_deps", g.build(), rows)


@case
def deps_on_present_nodes(g: GraphBuilder) -> Case:
    """Id 0 is an id like any other: a dep on a node of that id is whole, and so is a node without deps."""
    zero = g.node("ChakraNode", "zero", node_id=0)
    one = g.node("ChakraNode", "one", node_id=1, ctrl_deps=[0], data_deps=[0])
    g.edge("CTRL", zero, one)  # a repair dropped the DATA edge
    g.node("ChakraNode", "elsewhere", node_id=5, ctrl_deps=[5], rank=1)
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
def ranks_that_could_hold_a_cycle(g: GraphBuilder) -> Case:
    """Nodes of a Chakra file, edges beside the call tree, ops whose callers run in a circle."""
    g.node("ChakraNode", "one", node_id=1)
    g.edge("SYNC", g.node("Kernel", "k", rank=1), g.op("op", rank=1), rule="sync_dep")
    g.op("in a circle", root=None, rank=2)
    return Case("structure/find_possible_cycles", g.build(), [(1, 1), (0, 1), (2, 1)])


@case
def ranks_that_hold_no_cycle(g: GraphBuilder) -> Case:
    """A forest and launches close nothing; waits found from times fit them."""
    call = g.op("cudaLaunchKernel", g.op(THREAD, node_id=2), label="RuntimeCall")
    kernel = g.node("Kernel", "sgemm")
    g.edge("LAUNCHES", call, kernel)
    g.edge("SYNC", kernel, call, rule="host_wait.certain")
    return Case("structure/find_possible_cycles", g.build(), [])


@case
def edges_as_columns(g: GraphBuilder) -> Case:
    """The recorded edges of one rank come as two parallel lists a type; waits found from times are out."""
    thread = roots(g)
    call = g.op("cudaLaunchKernel", thread, label="RuntimeCall")
    kernel = g.node("Kernel", "sgemm")
    g.edge("LAUNCHES", call, kernel)
    g.edge("SYNC", kernel, thread, rule="sync_dep")
    g.edge("SYNC", kernel, call, rule="host_wait.certain")
    roots(g, rank=1)
    rows = [
        ("CTRL", thread - 1, thread),
        ("CTRL", thread, call),
        ("LAUNCHES", call, kernel),
        ("SYNC", kernel, thread),
    ]
    return Case("structure/show_edges", g.build(), rows, {"rank": 0}, parallel=True)


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


def _waiting(g: GraphBuilder, waits_at: int, rule: str = "sync_dep") -> tuple[int, int]:
    """Add a kernel that starts at 180 and an op that waits for it from `waits_at` on."""
    op = g.op("op", node_id=10, **timed(waits_at, 10))
    kernel = g.node("Kernel", "sgemm", node_id=21, start_ns=180, duration_ns=5)
    g.edge("SYNC", kernel, op, rule=rule)
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
def a_wait_that_was_found_inside_of_an_op(g: GraphBuilder) -> Case:
    """It began before what it waited for, and waited inside: nothing points back."""
    _waiting(g, 100, "hand_back.likely")
    return Case("structure/find_syncs_back_in_time", g.build(), [])


@case
def a_wait_back_in_time_with_its_ends(g: GraphBuilder) -> Case:
    """Both ends come with their ids, and what said that one waits."""
    op, kernel = _waiting(g, 100)
    _waiting(g, 100, "hand_back.likely")  # found, not recorded
    rows = [(0, op, 10, "op", kernel, 21, "sgemm", "sync_dep", 80)]
    return Case("structure/show_syncs_back_in_time", g.build(), rows)


@case
def device_ops_that_are_all_leaves(g: GraphBuilder) -> Case:
    """Three device ops of a merged trace, of a Chakra file on rank 1: none has a successor in the file.

    A wait found from times is no record of a successor.
    """
    op = g.op("op", node_id=10)
    kernels = [g.node("Kernel", "k", node_id=number) for number in (20, 21, 22)]
    for kernel in kernels:
        g.edge("CTRL", op, kernel)
    g.edge("SYNC", kernels[0], kernels[1], rule="stream_wait.timing")
    node = g.node("ChakraNode", "gpu", node_id=1, is_cpu_op=False, rank=1)
    rows = [(0, 3, 0, kernels), (1, 1, 0, [node])]
    return Case("structure/find_gpu_leaves", g.build(), rows)


@case
def device_ops_with_a_successor(g: GraphBuilder) -> Case:
    """One successor is enough; kernels of a Kineto trace hold no such edges, and CPU nodes are not asked."""
    kernel = g.node("Kernel", "k", node_id=20)
    g.edge("SYNC", kernel, g.op("op", node_id=10), rule="sync_dep")
    g.node("Kernel", "k", node_id=21)
    g.node("Kernel", "of Kineto", rank=1)
    g.node("ChakraNode", "cpu", node_id=1, is_cpu_op=True, rank=2)
    return Case("structure/find_gpu_leaves", g.build(), [])


def comm(g: GraphBuilder, kind: str, attributes: str = "", **properties: Any) -> int:
    """Add a communication node with attributes as `"name":[type,value],…`; return its uid."""
    return g.node(
        "ChakraNode", "c", chakra_kind=f"COMM_{kind}_NODE", attributes=f"{{{attributes}}}", **properties
    )


@case
def communications_that_lack_an_attribute(g: GraphBuilder) -> Case:
    """Each type needs its own: a recv without comm_dst is whole, a send without it is not."""
    first = comm(g, "COLL", '"comm_size":["int64",8]')
    send = comm(g, "SEND", '"comm_src":["int32",0],"comm_tag":["int32",0]')
    recv = comm(g, "RECV", '"comm_src":["int32",0]')
    bare = comm(g, "COLL", attributes="")
    rows = [
        (0, "COMM_COLL_NODE", "comm_type", 2, [first, bare]),
        (0, "COMM_RECV_NODE", "comm_tag", 1, [recv]),
        (0, "COMM_SEND_NODE", "comm_dst", 1, [send]),
    ]
    return Case("structure/find_incomplete_communications", g.build(), rows)


@case
def communications_that_lack_nothing(g: GraphBuilder) -> Case:
    """A size is another check's, and a computation needs none of it."""
    comm(g, "COLL", '"comm_type":["int64",0]')
    comm(g, "RECV", '"comm_src":["int32",0],"comm_tag":["int32",0]')
    g.node("ChakraNode", "n", chakra_kind="COMP_NODE", attributes="{}")
    return Case("structure/find_incomplete_communications", g.build(), [])


@case
def attributes_of_other_wire_types(g: GraphBuilder) -> Case:
    """mini 13 d: an unsigned comm_size; and a comm_type of 32 bits."""
    size = comm(g, "COLL", '"comm_type":["int64",0],"comm_size":["uint64",4096]')
    kind = comm(g, "COLL", '"comm_type":["int32",0],"comm_size":["int64",4096]', rank=1)
    rows = [(0, "comm_size", 1, [size]), (1, "comm_type", 1, [kind])]
    return Case("structure/find_wire_types", g.build(), rows)


@case
def attributes_of_the_usual_wire_types(g: GraphBuilder) -> Case:
    """Peers and tags of 32 or 64 bits, an absent attribute, and a text that only looks like one."""
    comm(g, "SEND", '"comm_dst":["int32",1],"comm_tag":["int64",0],"comm_size":["int64",8]')
    comm(g, "COLL", '"op_schema":["string","{\\"comm_size\\":[\\"uint64\\",8]}"]')
    return Case("structure/find_wire_types", g.build(), [])


@case
def communications_marked_as_cpu_ops(g: GraphBuilder) -> Case:
    """One of two; a computation on the CPU is none."""
    marked = comm(g, "COLL", is_cpu_op=True)
    comm(g, "SEND", is_cpu_op=False)
    g.node("ChakraNode", "n", chakra_kind="COMP_NODE", is_cpu_op=True)
    return Case("structure/find_communications_on_cpu", g.build(), [(0, 1, 2, [marked])])


@case
def communications_on_the_device(g: GraphBuilder) -> Case:
    """Without the mark a node is a device's."""
    comm(g, "COLL")
    comm(g, "RECV", is_cpu_op=False)
    return Case("structure/find_communications_on_cpu", g.build(), [])


@case
def collectives_no_simulator_knows(g: GraphBuilder) -> Case:
    """A barrier, and REDUCE_SCATTER_BLOCK, which reads as reduce_scatter."""
    barrier = comm(g, "COLL", '"comm_type":["int64",9]', comm_kind="barrier")
    block = comm(g, "COLL", '"comm_type":["int64",8]', comm_kind="reduce_scatter")
    rows = [(0, "barrier", 1, [barrier]), (0, "reduce_scatter_block", 1, [block])]
    return Case("structure/find_unsupported_collectives", g.build(), rows)


@case
def collectives_simulators_know(g: GraphBuilder) -> Case:
    """The five, and a node whose size is 8."""
    for kind in ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast"):
        comm(g, "COLL", '"comm_type":["int64",7],"comm_size":["int64",8]', comm_kind=kind)
    return Case("structure/find_unsupported_collectives", g.build(), [])


@case
def a_cpu_node_under_a_kernel(g: GraphBuilder) -> Case:
    """Under two kernels it counts once; under a CPU node it is right, and so is a kernel under a kernel."""
    kernels = [g.node("ChakraNode", "k", chakra_kind="COMP_NODE", is_cpu_op=False) for _ in range(3)]
    under, right = (g.node("ChakraNode", "c", is_cpu_op=True) for _ in range(2))
    g.edge("CTRL", kernels[0], under)
    g.edge("CTRL", kernels[1], under)
    g.edge("CTRL", kernels[1], kernels[2])
    g.edge("CTRL", under, right)
    return Case("structure/find_cpu_nodes_under_gpu", g.build(), [(0, 1, [under])])


@case
def a_cpu_node_that_awaits_a_kernel_by_data(g: GraphBuilder) -> Case:
    """The host waits for the device: that is no nesting. A collective that a host op calls nests others."""
    kernel = g.node("ChakraNode", "k", chakra_kind="COMP_NODE", is_cpu_op=False)
    host = g.node("ChakraNode", "c", is_cpu_op=True)
    g.edge("DATA", kernel, host)
    g.edge("CTRL", g.node("ChakraNode", "n", chakra_kind="COMP_NODE"), host)
    g.edge("CTRL", comm(g, "COLL", is_cpu_op=False), host)
    return Case("structure/find_cpu_nodes_under_gpu", g.build(), [])


@case
def nodes_without_a_type(g: GraphBuilder) -> Case:
    """INVALID, and a number the schema has no name for."""
    nodes = [g.node("ChakraNode", "n", chakra_kind=kind) for kind in ("INVALID_NODE", "9", "COMP_NODE")]
    return Case("structure/find_untyped_nodes", g.build(), [(0, 2, nodes[:2])])


@case
def nodes_with_a_type(g: GraphBuilder) -> Case:
    """Every type of the schema but INVALID."""
    for kind in ("METADATA", "MEM_LOAD", "MEM_STORE", "COMP", "COMM_SEND", "COMM_RECV", "COMM_COLL"):
        g.node("ChakraNode", "n", chakra_kind=f"{kind}_NODE")
    return Case("structure/find_untyped_nodes", g.build(), [])


@case
def groups_called_by_a_text(g: GraphBuilder) -> Case:
    """Two names of three calls; a send is read without its group."""
    first = comm(g, "COLL", pg_name="tp_0")
    comm(g, "COLL", pg_name="default")
    comm(g, "COLL", pg_name="tp_0")
    comm(g, "SEND", pg_name="tp_0")
    return Case("structure/find_groups_named_by_text", g.build(), [(0, ["default", "tp_0"], 3, [first])])


@case
def groups_called_by_a_number(g: GraphBuilder) -> Case:
    """A number, all ranks, and no name at all."""
    for name in ("12", "0", "", None):
        comm(g, "COLL", pg_name=name)
    return Case("structure/find_groups_named_by_text", g.build(), [])


@case
def waits_that_the_times_contradict(g: GraphBuilder) -> Case:
    """Counted at import, by rule; a rank without such waits is out."""
    told = '{"collective_wait.likely":2}'
    facts = {"waits_against_times": 2, "waits_against_times_by_rule": told}
    rank = g.node("Rank", "rank 3", rank=3, **facts)
    g.node("Rank", "rank 4", rank=4)
    return Case("structure/find_waits_against_times", g.build(), [(3, rank, 2, told)])


@case
def no_waits_that_the_times_contradict(g: GraphBuilder) -> Case:
    """Null and 0 are none."""
    g.node("Rank", "rank 0", rank=0)
    g.node("Rank", "rank 1", rank=1, waits_against_times=0)
    return Case("structure/find_waits_against_times", g.build(), [])


@case
def waits_of_a_rank(g: GraphBuilder) -> Case:
    """Recorded and found, by start of what waits; one inside of an op lies before the end of the other."""
    kernel = g.node("Kernel", "sgemm", start_ns=180, duration_ns=5)
    later = g.op("later", **timed(200, 10))
    around = g.op("around", **timed(100, 150))
    g.edge("SYNC", kernel, later, rule="stream_wait.recorded")
    g.edge("SYNC", kernel, around, rule="host_wait.certain")
    other = g.op("other", rank=1, **timed(0, 10))
    g.edge("SYNC", other, g.op("waits there", rank=1, **timed(20, 10)), rule="sync_dep")
    rows = [
        (kernel, "sgemm", around, "around", "host_wait.certain", -85),
        (kernel, "sgemm", later, "later", "stream_wait.recorded", 15),
    ]
    return Case("structure/show_rank_waits", g.build(), rows, {"rank": 0})
