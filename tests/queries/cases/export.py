"""Cases for the statements that give an export its columns: parallel lists, with -1 or '' for null."""

from __future__ import annotations

from typing import Any

from tests.queries.cases import Case, case
from tests.queries.cases.communication import call, group
from tests.queries.cases.structure import roots, timed
from tests.queries.graphs import GraphBuilder

DETAILS: dict[str, Any] = {"input_values": "[1]", "input_shapes": "[[2]]", "input_types": '["Tensor(float)"]'}
DETAILS |= {"output_values": "[3]", "output_shapes": "[[4]]", "output_types": '["Tensor(int)"]'}


def page(first: int, last: int, **more: Any) -> dict[str, Any]:
    """Return the parameters of a page of rank 0 that holds the keys from `first` to `last`."""
    return {"rank": 0, "first": first, "after": last + 1, **more}


@case
def calls_as_columns(g: GraphBuilder) -> Case:
    """Every field of a call, and a call whose file says nothing of it; the other rank's are out."""
    told: dict[str, Any] = {
        "op_name": "allreduce",
        "group": "0[0-1]",
        "pg_name": "0",
        "dtype": "float",
        "size_bytes": 8,
    }
    told |= {
        "in_msg_nelems": 2,
        "out_msg_nelems": 3,
        "peer": 1,
        "peer_rank": 4,
        "tag": 5,
        "root_rank": 0,
        "source": "et",
    }
    told |= {"duration_ns": 9, "wait_ns": 6}
    whole = call(g, collective_seq_id=7, **told)
    bare = g.node("CollectiveCall", "unknown")
    call(g, rank=1)
    rows = [
        (whole, "all_reduce", "allreduce", "0[0-1]", "0", "float", 8, 2, 3, 1, 4, 5, 0, 7, "et", 9, 6),
        (bare, "", "", "", "", "", -1, -1, -1, -1, -1, -1, -1, -1, "", -1, -1),
    ]
    return Case("communication/show_call_columns", g.build(), rows, {"rank": 0}, parallel=True)


@case
def ops_of_calls_as_columns(g: GraphBuilder) -> Case:
    """By the part the op plays."""
    host, kernel = g.op("record_param_comms"), g.node("Kernel", "ncclDevKernel")
    one, two = call(g), call(g)
    g.edge("SEEN_AS", one, host, rule="host_op")
    g.edge("SEEN_AS", one, kernel, rule="kernel")
    g.edge("SEEN_AS", two, host, rule="host_op")
    g.edge("SEEN_AS", call(g, rank=1), host, rule="host_op")
    rows = [("host_op", one, host), ("host_op", two, host), ("kernel", one, kernel)]
    return Case("communication/show_call_ops", g.build(), rows, {"rank": 0}, parallel=True)


@case
def members_of_groups(g: GraphBuilder) -> Case:
    """In the order they were made."""
    group(g, "1[0]", [0], complete=False)
    group(g, "0[0-1]", [0, 1], complete=True)
    rows = [("1[0]", "1", [0], False), ("0[0-1]", "0", [0, 1], True)]
    return Case("communication/show_group_members", g.build(), rows)


@case
def kernels_as_columns(g: GraphBuilder) -> Case:
    """A page: the keys before and behind it are out."""
    g.node("Kernel", "before")
    told = {"start_ns": 5, "duration_ns": 2, "device": 0, "stream": 7, "correlation": 9, "node_id": 30}
    whole = g.node("Kernel", "copy", device_kind="memcpy", size_bytes=64, **told)
    bare = g.node("Kernel", "k")
    g.node("Kernel", "behind")
    rows = [
        (whole, "copy", 5, 2, 0, 7, 9, "memcpy", 64, 30),
        (bare, "k", -1, -1, -1, -1, -1, "", -1, -1),
    ]
    return Case("linking/show_kernel_columns", g.build(), rows, page(whole, bare), parallel=True)


@case
def launches_as_columns(g: GraphBuilder) -> Case:
    """When, how long and where each call ran."""
    whole = g.op("cudaLaunchKernel", label="RuntimeCall", **timed(5, 2))
    bare = g.op("cudaLaunchKernel", label="RuntimeCall")
    g.op("behind", label="RuntimeCall")
    rows = [(whole, 5, 2, 70, 7), (bare, -1, -1, -1, -1)]
    return Case("linking/show_launch_columns", g.build(), rows, page(whole, bare), parallel=True)


@case
def chakra_nodes_as_columns(g: GraphBuilder) -> Case:
    """Ids, times, kind, and how many deps were recorded."""
    told = {"start_ns": 0, "duration_ns": 1000, "chakra_kind": "COMP_NODE"}
    whole = g.node("ChakraNode", "a", node_id=0, ctrl_deps=[4], data_deps=[5, 6], **told)
    bare = g.node("ChakraNode", "b")
    g.node("ChakraNode", "behind")
    rows = [(whole, "a", 0, 0, 1000, "COMP_NODE", 1, 2), (bare, "b", -1, -1, -1, "", 0, 0)]
    return Case("structure/show_chakra_node_columns", g.build(), rows, page(whole, bare), parallel=True)


@case
def chakra_nodes_in_detail(g: GraphBuilder) -> Case:
    """Only those asked for."""
    whole = g.node("ChakraNode", "a", attributes="{}", **DETAILS)
    bare = g.node("ChakraNode", "b")
    g.node("ChakraNode", "not asked for")
    rows = [
        (whole, "{}", *DETAILS.values()),
        (bare, *[""] * 7),
    ]
    parameters = {"uids": [bare, whole]}
    return Case("structure/show_chakra_node_details", g.build(), rows, parameters, parallel=True)


@case
def edges_of_a_page(g: GraphBuilder) -> Case:
    """The edges that leave the page's ops, wherever they lead."""
    thread = roots(g)
    launch = g.op("cudaLaunchKernel", thread, label="RuntimeCall")
    kernel = g.node("Kernel", "k")
    g.edge("LAUNCHES", launch, kernel)
    g.edge("SYNC", kernel, thread, rule="sync_dep")
    g.edge("DATA", kernel, launch)
    rows = [("CTRL", thread, launch), ("LAUNCHES", launch, kernel)]
    return Case("structure/show_edge_columns", g.build(), rows, page(thread, launch), parallel=True)


@case
def host_ops_in_detail(g: GraphBuilder) -> Case:
    """Only those asked for; one that a repair made says so."""
    told: dict[str, Any] = {
        "rf_id": 3,
        "autograd_seq_id": 4,
        "fw_tid": 5,
        "fw_parent": 6,
        "scope": 7,
        "op_schema": "aten::add",
    }
    whole = g.op("aten::add", synthetic=True, **told, **DETAILS)
    bare = g.op("b")
    g.op("not asked for")
    rows = [
        (whole, 3, 4, 5, 6, 7, 1, "aten::add", *DETAILS.values()),
        (bare, -1, -1, -1, -1, -1, 0, *[""] * 7),
    ]
    parameters = {"uids": [bare, whole]}
    return Case("structure/show_host_op_details", g.build(), rows, parameters, parallel=True)


@case
def host_ops_in_their_order(g: GraphBuilder) -> Case:
    """What the order of a page's host ops follows from."""
    step = g.op("ProfilerStep#1", **timed(0, 100))
    told: dict[str, Any] = {"node_id": 5, "external_id": 11, "tid": 1, "encloser": step}
    whole = g.op("aten::add", **told, **timed(5, 2))
    bare = g.op("b")
    g.op("behind")
    rows = [
        (whole, "aten::add", 5, 2, 5, 11, 70, 7, 1, step),
        (bare, "b", -1, -1, -1, -1, -1, -1, -1, -1),
    ]
    return Case("structure/show_host_op_order", g.build(), rows, page(whole, bare), parallel=True)


@case
def ops_by_page_of_keys(g: GraphBuilder) -> Case:
    """By rank, kind and page of as many keys as asked: how many; an empty page does not come."""
    first = g.op("a")
    kernel = g.node("Kernel", "k")
    g.op("b")
    other = g.op("c", rank=1)
    rows = [
        (0, "HostOp", first, 1),
        (0, "HostOp", kernel + 1, 1),
        (0, "Kernel", kernel, 1),
        (1, "HostOp", other, 1),
    ]
    return Case("structure/count_ops_by_page", g.build(), rows, {"page_keys": 1})
