from __future__ import annotations

from graphstore.export.report.layers import MARGIN, ROW, STEP, Edge, Layout, Node, Picture, layout


def made(names: str, *edges: tuple[str, str, str]) -> Layout:
    """Return the layout of nodes of one letter."""
    return layout(Picture([Node(name, "HostOp", name) for name in names], [Edge(*edge) for edge in edges]))


def places(found: Layout) -> dict[str, tuple[int, int]]:
    """Return row and step of every node."""
    left = min(placed.x for placed in found.nodes)
    return {p.node.name: ((p.y - MARGIN - 6) // ROW, (p.x - left) // STEP) for p in found.nodes}


def test_each_node_has_a_row_and_stands_a_step_right_of_what_leads_to_it() -> None:
    """Children follow their parent, before its next sibling."""
    found = made("abcd", ("a", "b", "CTRL"), ("a", "d", "CTRL"), ("b", "c", "LAUNCHES"))

    assert places(found) == {"a": (0, 0), "b": (1, 1), "c": (2, 2), "d": (3, 1)}
    assert [placed.word for placed in found.nodes] == ["", "calls", "launches", "calls"]
    assert found.sentences == ["a calls b", "a calls d", "b launches c"]


def test_a_further_edge_is_drawn_and_moves_nothing() -> None:
    """Of two edges to one node the first gives the place; both are lines."""
    found = made("abc", ("a", "b", "CTRL"), ("a", "c", "CTRL"), ("b", "c", "SYNC"))

    assert len(found.lines) == 3
    assert {line.type for line in found.lines} == {"CTRL", "SYNC"}


def test_a_cycle_has_a_place_for_every_node() -> None:
    """Ranks that wait for each other have no top: one of them begins, and the last edge closes it."""
    found = made("abc", ("a", "b", "WAITS_FOR"), ("b", "c", "WAITS_FOR"), ("c", "a", "WAITS_FOR"))

    assert places(found) == {"a": (0, 0), "b": (1, 1), "c": (2, 2)}
    assert len(found.lines) == 3


def test_a_node_that_leads_to_itself_and_no_node_at_all() -> None:
    """Neither fails."""
    assert len(made("a", ("a", "a", "DATA")).nodes) == 1
    assert layout(Picture([], [])).nodes == []


def test_the_picture_is_as_wide_as_its_longest_text() -> None:
    """A name twice as long makes it wider."""
    short, long = (layout(Picture([Node("x", "HostOp", "n" * size)], [])) for size in (20, 40))

    assert long.width > short.width > 20 * 6
