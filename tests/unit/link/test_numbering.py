from __future__ import annotations

import polars as pl

from graphstore.link.rank import link_rank
from graphstore.model.records import FileRecords, node_schema
from tests.data.builders import chakra_file, et_file, kernel, node, roots
from tests.unit.link.test_rank import edges, host_op, nccl_pair


def test_every_label_has_its_columns_and_numbers_without_a_gap() -> None:
    """Frames hold `n` and the properties of their label; n counts over all of them."""
    graph = link_rank(3, nccl_pair())

    for label, frame in graph.nodes.items():
        assert frame.schema == {"n": pl.Int64} | node_schema(label)
        assert frame["rank"].to_list() == [3] * frame.height
        assert frame["kind"].to_list() == [label] * frame.height
    numbers = [n for frame in graph.nodes.values() for n in frame["n"]]
    assert numbers == list(range(len(numbers)))


def test_a_cycle_of_recorded_parents_ends_and_has_no_root() -> None:
    """Two ops that name each other keep their edges; neither has a root, depth or path."""
    graph = link_rank(0, [et_file([*roots(), node(8, "a", 9), node(9, "b", 8), node(10, "self", 10)])])

    assert {("a", "b"), ("b", "a"), ("self", "self")} <= set(edges(graph, "CTRL"))
    for name in ("a", "b", "self"):
        op = host_op(graph, name)
        assert (op["root"], op["depth"], op["path"]) == (None, None, None)


def test_a_merged_trace_has_its_device_ops_below_their_ops_and_its_recorded_waits() -> None:
    """ET+ names the parent of a kernel and what waits for it; there are no runtime calls to lose."""
    nodes = [
        *roots(),
        node(10, "aten::addmm", 2, start_ns=100, duration_ns=20, order=2, sync_deps=[21]),
        node(11, "aten::item", 2, start_ns=140, duration_ns=60, order=4, sync_deps=[20, 99]),
    ]
    kernels = [
        kernel(9, 130, 170, "gemm", node_id=20, parent_id=10, order=3),
        kernel(10, 180, 185, "copy", node_id=21, parent_id=11, order=5),
    ]

    graph = link_rank(0, [et_file(nodes, kernels)])

    assert ("aten::addmm", "gemm") in edges(graph, "CTRL")
    assert edges(graph, "SYNC") == [("copy", "aten::addmm"), ("gemm", "aten::item")]
    assert graph.edges["SYNC"]["rule"].to_list() == ["sync_dep", "sync_dep"]
    assert graph.nodes["Kernel"]["launch_class"].to_list() == ["no_runtime_calls"] * 2
    assert host_op(graph, "aten::addmm")["encloser"] is None


def test_a_chakra_file_keeps_its_shape() -> None:
    """Ctrl deps are CTRL, data deps DATA, both from the awaited node; a node naming itself keeps its edge."""
    nodes = [
        {"node_id": 0, "name": "a", "ctrl_deps": [], "data_deps": []},
        {"node_id": 1, "name": "b", "ctrl_deps": [0, 7], "data_deps": [0, 1]},
    ]

    graph = link_rank(0, [chakra_file(nodes)])

    assert edges(graph, "CTRL") == [("a", "b")]
    assert edges(graph, "DATA") == [("a", "b"), ("b", "b")]
    assert graph.nodes["ChakraNode"].select("root", "depth").rows() == [(0, 0), (0, 1)]


def test_a_rank_of_files_without_tables_is_empty() -> None:
    """A Flight Recorder dump, not linked yet, is a file of the rank and nothing more."""
    dump = FileRecords("rank_0", {"kind": "flight_recorder", "name": "rank_0", "path": "rank_0"})

    graph = link_rank(0, [dump])

    assert [frame.height for frame in graph.nodes.values()] == [0] * 6
    assert [frame.height for frame in graph.edges.values()] == [0] * 5
