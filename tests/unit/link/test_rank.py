from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphstore.errors import InputError, RunMismatchError
from graphstore.link.rank import link_rank
from graphstore.model.records import FileRecords, RankGraph
from tests.data.builders import call, et_file, kernel, kineto_file, node, roots, span
from tests.unit.link.test_comm_ops import said


def names(graph: RankGraph) -> dict[int, str]:
    """Return {number: name} of every node of a rank."""
    return {n: name for frame in graph.nodes.values() for n, name in frame.select("n", "name").iter_rows()}


def edges(graph: RankGraph, kind: str) -> list[tuple[str, str]]:
    """Return the edges of one type by the names of their ends."""
    by_number = names(graph)
    return [
        (by_number[src], by_number[dst]) for src, dst in graph.edges[kind].select("src", "dst").iter_rows()
    ]


def host_op(graph: RankGraph, name: str) -> dict[str, Any]:
    """Return the only host op of that name."""
    return graph.nodes["HostOp"].filter(pl.col("name") == name).row(0, named=True)


def nccl_pair() -> list[FileRecords]:
    """Return both files of a rank with one all_reduce on a GPU, its stream, and a step around all."""
    args = said("allreduce", pg_name="0", pg_size=2, global_rank_start=0, global_rank_stride=1)
    et = et_file(
        [
            node(7, "nccl:all_reduce", 6, rf_id=13),
            node(6, "record_param_comms", 5, rf_id=12, comm_args=args),
            node(5, "c10d::allreduce_", 2, rf_id=11),
            *roots(),
        ]
    )
    kineto = kineto_file(
        [
            span("ProfilerStep#4", 0, 90_000, external_id=1),
            span("c10d::allreduce_", 10_000, 80_000, 11, external_id=2),
            span("record_param_comms", 20_000, 70_000, 12, external_id=3),
            span("nccl:all_reduce", 30_000, 60_000, 13, external_id=4),
        ],
        [call(9, 40_000, 45_000)],
        [kernel(9, 50_000, 120_000, "ncclDevKernel_AllReduce_RING")],
        lowest_runtime_correlation=9,
    )
    return [et, kineto]


def test_the_chain_from_the_call_to_its_kernel() -> None:
    """record_param_comms → nccl:X → launch → kernel, as users expect to walk it."""
    graph = link_rank(3, nccl_pair())

    assert edges(graph, "CTRL")[:3] == [
        ("record_param_comms", "nccl:all_reduce"),
        ("c10d::allreduce_", "record_param_comms"),
        ("[pytorch|profiler|execution_trace|thread]", "c10d::allreduce_"),
    ]
    assert ("nccl:all_reduce", "cudaLaunchKernel") in edges(graph, "CTRL")
    assert edges(graph, "LAUNCHES") == [("cudaLaunchKernel", "ncclDevKernel_AllReduce_RING")]
    assert edges(graph, "SEEN_AS") == [
        ("allreduce", "record_param_comms"),
        ("allreduce", "ncclDevKernel_AllReduce_RING"),
    ]


def test_a_span_without_a_node_hangs_off_its_encloser_and_takes_no_children_from_the_tree() -> None:
    """ProfilerStep#4 of Kineto has no node: it is kept, and ops that name another parent stay there."""
    graph = link_rank(3, nccl_pair())

    step, call_op = host_op(graph, "ProfilerStep#4"), host_op(graph, "c10d::allreduce_")
    assert (step["node_id"], step["root"], step["depth"]) == (None, step["n"], 0)
    assert call_op["encloser"] == step["n"]
    assert call_op["path"].split(" / ")[0] == "[pytorch|profiler|execution_trace|process]"
    assert (call_op["depth"], call_op["step"], call_op["self_ns"]) == (2, 4, 20_000)


def test_the_kineto_file_tells_how_it_was_linked() -> None:
    """Partner, method and rate stand in its facts; the facts given are left alone."""
    files = nccl_pair()

    graph = link_rank(3, files)

    facts = graph.files[1]
    assert (facts["partner"], facts["link_method"], facts["mismatch"]) == ("et.json", "rf_id", None)
    assert (facts["link_candidates"], facts["link_matched"], facts["link_names_agree"]) == (3, 3, 3)
    assert (facts["launches_enclosed"], facts["time_link_disagrees"], facts["rank"]) == (1, 0, 3)
    assert "link_method" not in files[1].facts


def test_an_absent_parent_makes_no_edge() -> None:
    """The op keeps the id it names; it is the root of its own tree."""
    graph = link_rank(0, [et_file([*roots(), node(9, "orphan", 4)])])

    orphan = host_op(graph, "orphan")
    assert (orphan["parent_id"], orphan["root"], orphan["depth"]) == (4, orphan["n"], 0)
    assert len(edges(graph, "CTRL")) == 1


def test_kineto_alone_nests_by_time_on_each_thread() -> None:
    """Without an execution trace the encloser is the caller; runtime calls hang off the innermost op."""
    graph = link_rank(
        0,
        [
            kineto_file(
                [span("outer", 0, 9_000), span("inner", 1_000, 2_000), span("other", 1_000, 2_000, thread=2)],
                [call(5, 1_500, 1_600), call(6, 10_000, 10_100)],
            )
        ],
    )

    assert edges(graph, "CTRL") == [("outer", "inner"), ("inner", "cudaLaunchKernel")]
    calls = graph.nodes["RuntimeCall"]
    assert calls["depth"].to_list() == [2, 0]
    assert calls["root"].to_list() == [host_op(graph, "outer")["n"], calls["n"][1]]


def test_files_of_different_runs_are_refused_unless_allowed() -> None:
    """Ids that meet under other names stop the import; with the flag what agrees is joined, and said."""
    et = et_file([*roots(), *(node(10 + n, f"op{n}", 2, rf_id=n) for n in range(1, 5))])
    kineto = kineto_file([span("op1", 0, 1, 1), *(span("x", n, n + 1, n) for n in range(2, 5))])

    with pytest.raises(RunMismatchError, match=r"et\.json and kineto\.json are of different runs"):
        link_rank(0, [et, kineto])
    graph = link_rank(0, [et, kineto], allow_mismatch=True)

    assert graph.files[1]["mismatch"] == "names of 3 of 4 equal ids"
    assert graph.files[1]["link_matched"] == 1
    assert graph.nodes["HostOp"].height == 6 + 3


def test_two_files_with_the_same_records_are_an_error_that_names_both() -> None:
    """Two execution traces of a rank, or a merged one and the Kineto file in it, can't both count."""
    one, two = et_file(roots()), et_file(roots())
    two.path = "again.json"

    with pytest.raises(InputError, match=r"et\.json and again\.json"):
        link_rank(0, [one, two])
    with pytest.raises(InputError, match=r"et\.json .* kineto\.json"):
        link_rank(0, [et_file(roots(), [kernel(1, 0, 1)]), kineto_file()])


def test_ops_and_calls_without_a_thread_enclose_nothing() -> None:
    """Two spans that name no thread are not nested by time alone, and a call without one has no caller."""
    spans = [span("outer", 0, 9_000, thread=None), span("inner", 10, 20, thread=None)]
    graph = link_rank(0, [kineto_file(spans, [call(1, 12, 13, thread=None)])])

    assert edges(graph, "CTRL") == []
    assert graph.nodes["HostOp"]["self_ns"].to_list() == [9_000, 10]


NODES = st.lists(st.tuples(st.integers(3, 9), st.integers(0, 11), st.integers(0, 6)), max_size=10)
SPANS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 20), st.integers(0, 6)), max_size=10)
CALLS = st.lists(st.tuples(st.integers(1, 5), st.integers(0, 40)), max_size=6)


@settings(deadline=None, max_examples=60)
@given(NODES, SPANS, CALLS)
def test_whatever_the_files_hold_nothing_is_lost_and_the_tree_is_a_tree(
    nodes: list[tuple[int, int, int]], spans: list[tuple[int, int, int]], calls: list[tuple[int, int]]
) -> None:
    """Ids used twice, absent parents, cycles, ids that meet or not: all records stay, with one caller."""
    et = et_file([*roots(), *(node(n, f"op{rf}", parent or None, rf or None) for n, parent, rf in nodes)])
    kineto = kineto_file(
        [span(f"op{rf}", start, start + length, rf or None) for start, length, rf in spans],
        [call(correlation, start, start + 1) for correlation, start in calls],
        [kernel(correlation, start, start + 5) for correlation, start in calls],
    )

    graph = link_rank(0, [et, kineto], allow_mismatch=True)

    host, ctrl = graph.nodes["HostOp"], graph.edges["CTRL"]
    assert host.height == 2 + len(nodes) + len(spans) - graph.files[1]["link_matched"]
    assert ctrl["dst"].n_unique() == ctrl.height
    assert graph.edges["LAUNCHES"].height == len(calls)
    assert graph.nodes["Kernel"]["launch_class"].to_list() == ["launched"] * len(calls)
    parent = dict(ctrl.select("dst", "src").iter_rows())
    for op, root, depth in host.select("n", "root", "depth").iter_rows():
        above = parent.get(op)
        if root is None:
            assert above is not None
        elif above is None:
            assert (root, depth) == (op, 0)
        else:
            assert host.row(above, named=True)["depth"] == depth - 1
