"""Plan, apply and undo of random damaged runs in a real store: one tree, then exactly what was there."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from graphstore import queries, repairs
from graphstore.link.forest import paths, tops
from graphstore.model.ids import uid_of
from graphstore.model.records import EdgeTable, RunGraph, complete, edge_frame, node_schema
from graphstore.queries import run_query
from graphstore.repairs.columns import RankOps
from graphstore.repairs.tree import NONE, nodes_on_cycles
from graphstore.settings import Settings
from graphstore.store import Store, open_store
from tests.integration.graph_dump import dump
from tests.unit.repairs.forest import Op, process_root, rank_of, thread_root
from tests.unit.repairs.test_orphans import damaged_traces

RUN = "r"


def run_graph(ops: RankOps, callers: list[int]) -> RunGraph:
    """Return a run of one rank with these host ops, and a runtime call below each place in `callers`."""
    root, depth = tops(ops.parent)
    names = pl.Series(ops.name.tolist(), dtype=pl.String)
    host = pl.DataFrame(
        {
            "uid": ops.uid,
            "node_id": ops.node_id,
            "parent_id": ops.parent_id,
            "tid": ops.tid,
            "rf_id": ops.rf_id,
            "start_ns": np.where(ops.has_time, ops.start_ns, NONE),
            "duration_ns": ops.duration_ns,
            "thread": np.where(ops.has_time, ops.thread, NONE),
            "process": np.where(ops.has_time, 1, NONE),
            "encloser": np.where(ops.encloser != NONE, ops.uid[ops.encloser], NONE),
            "root": np.where(root != NONE, ops.uid[root], NONE),
            "depth": depth,
        }
    ).with_columns(pl.when(pl.all() != NONE).then(pl.all()))
    host = host.with_columns(
        name=names,
        path=paths(names, ops.parent, depth),
        run=pl.lit(RUN),
        kind=pl.lit("HostOp"),
        rank=pl.lit(0),
    )
    first = int(ops.uid[-1]) + 1
    above = host[callers]
    calls = above.select(
        uid=pl.int_range(first, first + len(callers)),
        run="run",
        rank="rank",
        name=pl.lit("cudaLaunchKernel"),
        kind=pl.lit("RuntimeCall"),
        root="root",
        depth=pl.col("depth") + 1,
    )
    called = np.flatnonzero(ops.parent != NONE)
    src = [*ops.uid[ops.parent[called]].tolist(), *above["uid"].to_list()]
    dst = [*ops.uid[called].tolist(), *calls["uid"].to_list()]
    return RunGraph(
        {"uid": uid_of(1, 0), "run": RUN, "name": RUN, "run_no": 1, "world_size": 1, "ranks": [0]},
        {
            "HostOp": complete(host, node_schema("HostOp")),
            "RuntimeCall": complete(calls, node_schema("RuntimeCall")),
        },
        [EdgeTable("CTRL", "Op", "Op", edge_frame("CTRL", {"src": src, "dst": dst}))],
    )


@contextmanager
def stored(graph: RunGraph) -> Iterator[Store]:
    """Give a fresh embedded store that holds the run and the findings of its checks."""
    with tempfile.TemporaryDirectory() as folder, closing(open_store(Settings(store=folder))) as store:
        store.write_run(graph)
        queries.write_findings(store, RUN, queries.check(store, RUN))
        yield store


@st.composite
def looped(draw: st.DrawFn) -> RankOps:
    """Return a damaged trace in which some ops name a later op as their parent: cycles of callers occur."""
    ops = [process_root(), thread_root()]
    for node_id in range(10, 10 + draw(st.integers(1, 8))):
        start = draw(st.integers(0, 50))
        span = draw(st.sampled_from([None, (start, start + draw(st.integers(0, 50)))]))
        ops.append(Op(node_id, f"op{node_id}", draw(st.integers(9, 18)), span))
    return rank_of(ops)


@settings(max_examples=25, deadline=None)
@given(st.one_of(damaged_traces(), looped()), st.data())
def test_any_damaged_run_is_repaired_to_one_tree_and_back_exactly(ops: RankOps, data: st.DataObject) -> None:
    """One component without cycles, places as the import reckons them, a second plan empty, undo exact."""
    if not len(ops):
        return
    callers = data.draw(st.lists(st.integers(0, len(ops) - 1), max_size=5))
    with stored(run_graph(ops, callers)) as store:
        before = dump(store, RUN)

        applied = repairs.apply(store, RUN, repairs.plan(store, RUN), unsafe=True)

        shown = run_query(store, RUN, "structure/show_components")
        assert shown["why"].to_list() == ["process root"] * bool(ops.recorded.any())
        assert_places_follow_edges(store)
        assert len(repairs.plan(store, RUN)) == 0
        assert repairs.undo(store, RUN) == len(applied)
        assert dump(store, RUN) == before


def assert_places_follow_edges(store: Store) -> None:
    """Root, depth and path of every host op and runtime call are those of its CTRL edges."""
    nodes = store.query(
        RUN,
        "MATCH (n:Op) WHERE n.run = $run RETURN n.uid AS uid, n.name AS name, n.kind AS kind, "
        "n.root AS root, n.depth AS depth, n.path AS path ORDER BY uid",
    )
    edges = store.query(RUN, "MATCH (a:Op)-[:CTRL]->(b:Op) WHERE a.run = $run RETURN a.uid AS a, b.uid AS b")
    uid = nodes["uid"].to_numpy()
    parent = np.full(len(uid), NONE)
    parent[np.searchsorted(uid, edges["b"].to_numpy())] = np.searchsorted(uid, edges["a"].to_numpy())
    assert nodes_on_cycles(parent) == []
    root, depth = tops(parent)
    assert nodes["root"].to_list() == uid[root].tolist()
    assert nodes["depth"].to_list() == depth.tolist()
    is_host = nodes["kind"] == "HostOp"
    assert (
        nodes["path"].filter(is_host).to_list()
        == paths(nodes["name"], parent, depth).filter(is_host).to_list()
    )
