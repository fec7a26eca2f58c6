from __future__ import annotations

from graphstore.link.chakra_edges import dependency_edges, first_parents
from tests.data.builders import Row, table


def chakra(node_id: int, ctrl: list[int], data: list[int] | None = None) -> Row:
    """Return a Chakra node with its deps."""
    return {"node_id": node_id, "name": f"node {node_id}", "ctrl_deps": ctrl, "data_deps": data}


def _edges(nodes: list[Row], column: str = "ctrl_deps") -> list[tuple[int, int]]:
    awaited, waiting = dependency_edges(table("chakra_nodes", nodes), column)
    return list(zip(awaited.tolist(), waiting.tolist(), strict=True))


def test_an_edge_leads_from_the_awaited_to_the_waiting_node() -> None:
    """Ctrl and data deps are apart; id 0 is an id like any other."""
    nodes = [chakra(0, []), chakra(5, [0], [0]), chakra(6, [5, 0], None)]

    assert _edges(nodes) == [(0, 1), (1, 2), (0, 2)]
    assert _edges(nodes, "data_deps") == [(0, 1)]


def test_absent_repeated_and_self_deps() -> None:
    """A dep on an absent node makes no edge, a repeated one a single edge, a node naming itself keeps it."""
    assert _edges([chakra(1, [9, 1, 1, 2, 2]), chakra(2, [])]) == [(0, 0), (1, 0)]


def test_an_id_used_twice_means_its_first_node() -> None:
    """The waiting node hangs off one of two namesakes, not off both."""
    assert _edges([chakra(3, []), chakra(3, []), chakra(4, [3])]) == [(0, 2)]


def test_no_nodes_no_edges() -> None:
    """An empty table is no error."""
    assert _edges([]) == []


def test_the_tree_follows_the_first_dep() -> None:
    """Of several ctrl deps the first recorded one leads to the root."""
    awaited, waiting = dependency_edges(
        table("chakra_nodes", [chakra(1, []), chakra(2, []), chakra(3, [2, 1])]), "ctrl_deps"
    )

    assert first_parents(awaited, waiting, 3).tolist() == [-1, -1, 1]
