"""Exports of small runs made by hand, on both engines: the files, the manifest, and what goes wrong."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import orjson
import pytest

from graphstore.chakra.et_def_pb2 import Node
from graphstore.errors import InputError, UsageError
from graphstore.export import export_run, read_et
from graphstore.store import Store
from tests.queries.graphs import PROCESS, THREAD, GraphBuilder

RUN = "small"


def timed(start: int, end: int) -> dict[str, Any]:
    """Return the properties of a span on a thread, given in µs."""
    return {"start_ns": start * 1000, "duration_ns": (end - start) * 1000, "process": 70, "thread": 7}


def two_ranks(run: str = RUN, run_no: int = 1) -> GraphBuilder:
    """Return a run of two ranks: an op that launches a kernel and an all-reduce seen as an NCCL kernel."""
    graph = GraphBuilder(run, run_no, world_size=2, ranks=[0, 1])
    group = graph.node("ProcessGroup", "0[0-1]", group="0[0-1]", pg_name="0", members=[0, 1], complete=True)
    for rank in (0, 1):
        process = graph.op(PROCESS, node_id=1, tid=1, rank=rank)
        thread = graph.op(THREAD, process, node_id=2, tid=1, rank=rank)
        linear = graph.op("aten::linear", thread, node_id=3, tid=1, rank=rank, **timed(0, 30))
        params = graph.op("record_param_comms", thread, node_id=5, tid=1, rank=rank, **timed(40, 60))
        for parent, start, name in ((linear, 10, "gemm"), (params, 50, "ncclDevKernel_AllReduce")):
            call = graph.op("cudaLaunchKernel", parent, "RuntimeCall", rank=rank, **timed(start, start + 2))
            times = {"start_ns": start * 1000 + 500, "duration_ns": 90_000}
            kernel = graph.node("Kernel", name, rank=rank, device=0, stream=7, device_kind="kernel", **times)
            graph.edge("LAUNCHES", call, kernel)
        own = {"collective_kind": "all_reduce", "group": "0[0-1]", "pg_name": "0", "size_bytes": 4096}
        made = graph.node("CollectiveCall", "all_reduce", rank=rank, **own)
        graph.edge("SEEN_AS", made, params, rule="host_op")
        graph.edge("SEEN_AS", made, kernel, rule="kernel")
        graph.edge("IN_GROUP", made, group)
    return graph


def chakra_run(deps: list[tuple[int, int]]) -> GraphBuilder:
    """Return a run of one imported Chakra file with nodes 5, 6 and 7, and data deps between their ids."""
    graph = GraphBuilder(RUN)
    uids = {
        n: graph.node("ChakraNode", f"n{n}", node_id=n, chakra_kind="COMP_NODE", attributes="{}")
        for n in (5, 6, 7)
    }
    for source, target in deps:
        graph.edge("DATA", uids[source], uids[target])
    return graph


def shown(node: Node) -> tuple[Any, ...]:
    """Return id, name, deps and times of a node."""
    times = (node.start_time_micros, node.duration_micros)
    return (node.id, node.name, list(node.ctrl_deps), list(node.data_deps), *times)


def test_a_run_becomes_a_file_a_rank_with_groups_and_manifest(store: Store, tmp_path: Path) -> None:
    """Order, launches and streams are data deps; the NCCL kernel is the communication.

    Ops are cut where they launch, time between them is a gap; the kernels overlap on their stream, so the
    first ends where the second begins.
    """
    store.write_run(two_ranks().build())

    manifest = export_run(store, RUN, tmp_path / "out")

    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["comm_groups.json", "manifest.json", "small.0.et", "small.1.et"]
    assert orjson.loads((tmp_path / "out" / "comm_groups.json").read_bytes()) == {"0": [0, 1]}
    assert orjson.loads((tmp_path / "out" / "manifest.json").read_bytes()) == manifest
    _, nodes = read_et(tmp_path / "out" / "small.1.et")
    assert [shown(node) for node in nodes] == [
        (1, PROCESS, [], [], 0, 0),
        (2, THREAD, [1], [1], 0, 0),
        (3, "aten::linear", [2], [2], 0, 11),
        (4, "aten::linear", [], [3], 11, 19),
        (5, "gemm", [3], [3], 11, 40),
        (6, "gap", [], [4], 30, 10),
        (7, "record_param_comms", [2], [6], 40, 11),
        (8, "record_param_comms", [], [7], 51, 9),
        (9, "ncclDevKernel_AllReduce", [7], [5, 7], 51, 90),
    ]
    assert [node.id for node in nodes if any(attr.name == "comm_type" for attr in node.attr)] == [9]


def test_the_manifest_counts_what_went_in_and_came_out(store: Store, tmp_path: Path) -> None:
    """Nothing is silent: folded calls, the origin of the order, the files with their hashes."""
    store.write_run(two_ranks().build())

    manifest = export_run(store, RUN, tmp_path)

    rank = manifest["ranks"]["0"]
    assert rank["in"] == {
        "host_ops": 4,
        "device_ops": 2,
        "runtime_calls": 2,
        "sync_events": 0,
        "communication_calls": 1,
    }
    assert (rank["nodes"], rank["communications"]) == (9, 1)
    assert rank["types"] == {"COMM_COLL_NODE": 1, "COMP_NODE": 8}
    assert rank["pieces"] == {
        "device op": 2,
        "first piece of a host op": 4,
        "further piece of a host op": 2,
        "gap between ops of a thread": 1,
    }
    assert rank["deps_written"] == {
        "call of another thread": 1,  # the thread root behind the process root, which is on no thread
        "launch": 2,
        "parent": 5,
        "stream order": 1,
        "thread order": 5,
    }
    assert rank["deps_left_out"] == {}
    assert rank["folded"] == {"runtime calls, in the own time of the op that made them": 2}
    assert rank["order"] == {
        "threads": {"kineto thread and start": 1},
        "streams": 1,
        "nodes_without_times": 2,
    }
    assert rank["replay"] == {
        "measured_us": 141,
        "simulated_us": 141,
        "error": 0.0,
        # the kernels as measured, one after the other: until 190.5 µs instead of 140.5
        "error_without_fit": 0.355872,
        "error_of_simple_reader": 0.0,
        "start_error_us": {"cpu": {"p50": 0.0, "p95": 0.0}, "gpu": {"p50": 0.0, "p95": 0.0}},
        "unexplained_us": 0.0,
        "unexplained": 0.0,
        "edges_chosen_by_time": 0,
        "chosen_by_time": [],
        "contradictions": 0,
    }
    for name, facts in manifest["files"].items():
        content = (tmp_path / name).read_bytes()
        assert facts == {"sha256": hashlib.sha256(content).hexdigest(), "size_bytes": len(content)}


def test_the_bytes_do_not_depend_on_the_archive(store: Store, tmp_path: Path) -> None:
    """Another run number gives other keys, but the same files; a second export replaces them by the same."""
    store.write_run(two_ranks().build())
    first = export_run(store, RUN, tmp_path)
    again = export_run(store, RUN, tmp_path)
    store.delete_run(RUN)
    moved = GraphBuilder(RUN, run_no=9)
    moved.__dict__.update(_renumbered(two_ranks(), 9).__dict__)
    store.write_run(moved.build())

    other = export_run(store, RUN, tmp_path)

    assert first == again == other


def _renumbered(graph: GraphBuilder, run_no: int) -> GraphBuilder:
    """Return the graph with the keys of another run number."""

    def moved(uid: int) -> int:
        return (run_no << 32) | (uid & 0xFFFFFFFF)

    graph.run_no = run_no
    for rows in graph.rows.values():
        for row in rows:
            row.update({key: moved(row[key]) for key in ("uid", "root", "encloser") if key in row})
    for edges in graph.edges.values():
        for edge in edges:
            edge.update({end: moved(edge[end]) for end in ("src", "dst")})
    return graph


def test_an_imported_chakra_file_is_written_back(store: Store, tmp_path: Path) -> None:
    """Ids stay where every dep points to a smaller one."""
    store.write_run(chakra_run([(5, 6), (5, 7), (6, 7)]).build())

    manifest = export_run(store, RUN, tmp_path)

    _, nodes = read_et(tmp_path / "small.0.et")
    assert [shown(node)[:4] for node in nodes] == [
        (5, "n5", [], []),
        (6, "n6", [], [5]),
        (7, "n7", [], [5, 6]),
    ]
    assert manifest["ranks"]["0"]["order"] == {"ids": "as recorded"}


def test_a_cycle_stops_the_export_and_nothing_is_written(store: Store, tmp_path: Path) -> None:
    """One line names the ids and the remedy; the folder is not even made."""
    store.write_run(chakra_run([(5, 6), (6, 5)]).build())

    with pytest.raises(InputError, match=r"the first 5 → 6 → 5.*graphstore repair small --apply --unsafe"):
        export_run(store, RUN, tmp_path / "out")

    assert not (tmp_path / "out").exists()


def test_an_unknown_run_and_one_without_ops_are_one_line(kglite_store: Store, tmp_path: Path) -> None:
    """A word of the call that fits nothing is a UsageError."""
    graph = GraphBuilder(RUN)
    graph.node("TraceFile", "rank_0", kind="flight_recorder")
    kglite_store.write_run(graph.build())

    with pytest.raises(UsageError, match="no run 'other'"):
        export_run(kglite_store, "other", tmp_path)
    with pytest.raises(UsageError, match="run small holds no ops to write"):
        export_run(kglite_store, RUN, tmp_path)


def test_progress_ends_with_all_ops_of_all_ranks(kglite_store: Store, tmp_path: Path) -> None:
    """Whoever watches sees how far it is: 6 ops a rank, whatever they are cut into."""
    kglite_store.write_run(two_ranks().build())
    seen: list[tuple[str, int, int]] = []

    export_run(kglite_store, RUN, tmp_path, lambda *state: seen.append(state))

    assert seen == [("export", 6, 12), ("export", 12, 12)]
