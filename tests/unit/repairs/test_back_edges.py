from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from graphstore.repairs.back_edges import KINDS, Edges, OrderNodes, cycles_of, plan_back_edges
from graphstore.repairs.change import Change

Edge = tuple[str, int, int]  # kind, source id, target id


def nodes_of(
    spans: dict[int, tuple[int, int] | None], is_chakra: bool = False
) -> tuple[OrderNodes, dict[int, int]]:
    """Return nodes by id with their spans, and the place of each id."""
    ids = list(spans)
    nodes = OrderNodes(
        rank=0,
        uid=np.arange(len(ids)) + 1000,
        node_id=np.asarray(ids),
        start_ns=np.asarray([span[0] if span else 0 for span in spans.values()]),
        duration_ns=np.asarray([span[1] - span[0] if span else -1 for span in spans.values()]),
        is_chakra=np.full(len(ids), is_chakra),
        name=[f"n{node_id}" for node_id in ids],
    )
    return nodes, {node_id: place for place, node_id in enumerate(ids)}


def edges_of(place: dict[int, int], *edges: Edge) -> Edges:
    """Return edges given by kind and node ids."""
    return Edges(
        kind=np.asarray([KINDS.index(kind) for kind, _, _ in edges], dtype=np.int64),
        src=np.asarray([place[src] for _, src, _ in edges], dtype=np.int64),
        dst=np.asarray([place[dst] for _, _, dst in edges], dtype=np.int64),
        rule=["sync_dep"] * len(edges),
    )


def dropped(nodes: OrderNodes, changes: list[Change]) -> dict[Edge, bool]:
    """Return {edge: safe} of the changes, by node ids."""
    id_by_uid = dict(zip(nodes.uid.tolist(), nodes.node_id.tolist(), strict=True))
    return {
        (edge["kind"], id_by_uid[edge["src"]], id_by_uid[edge["dst"]]): change.safe
        for change in changes
        for edge in [change.before["edge"]]
    }


def test_only_the_wait_that_points_back_in_time_is_dropped() -> None:
    """10 cannot wait for 21, which starts after 10 ends; 11 waits for 20 rightly and goes on doing so."""
    nodes, place = nodes_of({10: (100, 150), 11: (170, 300), 20: (120, 160), 21: (180, 250)})
    edges = edges_of(place, ("CTRL", 10, 20), ("CTRL", 11, 21), ("SYNC", 21, 10), ("SYNC", 20, 11))

    changes = plan_back_edges(nodes, edges)

    assert dropped(nodes, changes) == {("SYNC", 21, 10): True}
    assert changes[0].before["edge"]["rule"] == "sync_dep"
    assert changes[0].evidence["target"]["end_ns"] == 150


def test_a_wait_that_ends_after_what_it_waits_for_is_no_fault() -> None:
    """A synchronising call starts before the kernel it waits for; without a cycle nothing is dropped."""
    nodes, place = nodes_of({10: (100, 300), 20: (150, 250)})

    assert plan_back_edges(nodes, edges_of(place, ("SYNC", 20, 10))) == []


def test_an_overlapping_wait_goes_only_where_it_closes_a_cycle() -> None:
    """The call launched the kernel it waits for: as whole nodes the two edges are a cycle; CTRL stays."""
    nodes, place = nodes_of({10: (100, 300), 20: (150, 250)})
    edges = edges_of(place, ("CTRL", 10, 20), ("SYNC", 20, 10))

    assert dropped(nodes, plan_back_edges(nodes, edges)) == {("SYNC", 20, 10): False}


def test_a_cycle_without_times_loses_the_edge_against_the_order_of_ids() -> None:
    """Chakra ids ascend as nodes were made: 6 → 5 goes, the tensor before the call tree."""
    nodes, place = nodes_of({5: None, 6: None}, is_chakra=True)
    edges = edges_of(place, ("CTRL", 5, 6), ("DATA", 6, 5))

    assert dropped(nodes, plan_back_edges(nodes, edges)) == {("DATA", 6, 5): False}


def test_a_node_of_a_chakra_file_cannot_name_itself() -> None:
    """An edge from a node to itself can never be met: dropping it is proven right."""
    nodes, place = nodes_of({5: None, 6: None}, is_chakra=True)
    edges = edges_of(place, ("CTRL", 5, 5), ("DATA", 5, 6))

    assert dropped(nodes, plan_back_edges(nodes, edges)) == {("CTRL", 5, 5): True}


def test_the_call_tree_of_host_ops_is_never_cut() -> None:
    """A parent that starts after its child is the business of wrong parents; the wait of the cycle goes."""
    nodes, place = nodes_of({10: (500, 600), 20: (100, 200)})
    edges = edges_of(place, ("CTRL", 10, 20), ("SYNC", 20, 10))

    assert dropped(nodes, plan_back_edges(nodes, edges)) == {("SYNC", 20, 10): False}


@st.composite
def graphs(draw: st.DrawFn) -> tuple[OrderNodes, Edges]:
    """Return random nodes of a Chakra file and random edges of three kinds between them."""
    size = draw(st.integers(2, 12))
    spans = st.one_of(st.none(), st.tuples(st.integers(0, 9), st.integers(10, 19)))
    nodes, place = nodes_of({node_id: draw(spans) for node_id in range(size)}, is_chakra=True)
    edge = st.tuples(st.sampled_from(KINDS[:3]), st.integers(0, size - 1), st.integers(0, size - 1))
    return nodes, edges_of(place, *draw(st.lists(edge, max_size=30, unique=True)))


@settings(max_examples=200)
@given(graphs())
def test_no_cycle_is_left_and_an_acyclic_graph_is_left_alone(graph: tuple[OrderNodes, Edges]) -> None:
    """After the changes no edge lies in a cycle; edges in no cycle go only where time proves them wrong."""
    nodes, edges = graph
    everything = np.ones(len(edges.src), dtype=np.bool_)
    in_cycle = (cycles_of(len(nodes.uid), edges, everything) >= 0) | (edges.src == edges.dst)

    changes = plan_back_edges(nodes, edges)

    gone = {tuple(change.before["edge"][key] for key in ("kind", "src", "dst")) for change in changes}
    keys = [
        (KINDS[kind], int(nodes.uid[src]), int(nodes.uid[dst]))
        for kind, src, dst in zip(edges.kind, edges.src, edges.dst, strict=True)
    ]
    left = np.asarray([key not in gone for key in keys], dtype=np.bool_)
    assert not (cycles_of(len(nodes.uid), edges, left) >= 0).any()
    assert not (left & (edges.src == edges.dst)).any()
    assert len(gone) == len(changes)
    assert all(change.safe for change in changes if not in_cycle[keys.index(_key(change))])


def _key(change: Change) -> Edge:
    edge = change.before["edge"]
    return edge["kind"], edge["src"], edge["dst"]
