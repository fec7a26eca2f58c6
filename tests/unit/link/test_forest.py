from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from graphstore.link.forest import PATH_NAMES, nearest_marked, paths, rows_named, tops

PARENTS = st.lists(st.integers(-1, 19), max_size=20).map(
    lambda parents: [parent if parent < len(parents) else -1 for parent in parents]
)


def _walk(parents: list[int], row: int) -> tuple[int, int]:
    """Return (root, depth) by walking up; (-1, -1) where the walk never ends."""
    depth = 0
    while parents[row] >= 0:
        row, depth = parents[row], depth + 1
        if depth > len(parents):
            return -1, -1
    return row, depth


@settings(deadline=None)
@given(PARENTS)
def test_root_and_depth_equal_a_walk_upwards(parents: list[int]) -> None:
    """Doubling finds what walking finds, also under cycles and self edges, where there is no root."""
    root, depth = tops(np.array(parents, dtype=np.int64))

    assert list(zip(root.tolist(), depth.tolist(), strict=True)) == [
        _walk(parents, row) for row in range(len(parents))
    ]


@settings(deadline=None)
@given(PARENTS, st.data())
def test_nearest_marked_equals_a_walk_upwards(parents: list[int], data: st.DataObject) -> None:
    """The nearest marked ancestor, the row itself included, is found; -1 where the way up holds none."""
    marked = np.array(
        data.draw(st.lists(st.booleans(), min_size=len(parents), max_size=len(parents))), dtype=bool
    )

    found = nearest_marked(np.array(parents, dtype=np.int64), marked)

    for row in range(len(parents)):
        at, steps = row, 0
        while at >= 0 and not marked[at] and steps <= len(parents):
            at, steps = parents[at], steps + 1
        assert found[row] == (at if at >= 0 and marked[at] else -1)


@settings(deadline=None)
@given(PARENTS, st.data())
def test_paths_join_the_names_from_the_top(parents: list[int], data: st.DataObject) -> None:
    """Each path is that of the parent and the own name; a row in or under a cycle has none."""
    names = data.draw(st.lists(st.sampled_from("abc"), min_size=len(parents), max_size=len(parents)))
    parent = np.array(parents, dtype=np.int64)
    root, depth = tops(parent)

    found = paths(pl.Series(names, dtype=pl.String), parent, depth).to_list()

    for row in range(len(parents)):
        if root[row] < 0:
            assert found[row] is None
        elif parents[row] < 0:
            assert found[row] == names[row]
        else:
            assert found[row] == f"{found[parents[row]]} / {names[row]}"


def test_a_deep_path_is_shortened_and_a_deep_forest_is_quick() -> None:
    """In a chain of 50,000 ops a path holds 64 names, a mark for those left out, and the op's own."""
    size = 50_000
    parent = np.arange(-1, size - 1)
    root, depth = tops(parent)

    found = paths(pl.Series([f"op{n}" for n in range(size)]), parent, depth)

    assert (root.max(), depth.max()) == (0, size - 1)
    assert found[PATH_NAMES - 1] == " / ".join(f"op{n}" for n in range(PATH_NAMES))
    assert found[size - 1] == f"{found[PATH_NAMES - 1]} / … / op{size - 1}"


def test_of_two_nodes_with_one_id_the_first_written_after_the_child_is_meant() -> None:
    """Nodes are written at exit, a parent after its child; the last one before is second best."""
    node_id, order = np.array([7, 8, 7, 9, 7, 6]), np.arange(6)
    wanted = np.array([7, 7, 7, 3, 9])
    asked_at = np.array([1, 3, 5, 0, 5])
    known = np.array([True, True, True, True, True])

    found = rows_named(node_id, order, wanted, asked_at, known)

    assert found.tolist() == [2, 4, 4, -1, 3]


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), max_size=15))
def test_rows_named_equals_a_search(nodes: list[tuple[int, int]]) -> None:
    """With ids repeated at will, every child finds what a search through the file finds."""
    ids, wanted = np.array(nodes, dtype=np.int64).reshape(-1, 2).T
    order = np.arange(ids.size)

    found = rows_named(ids, order, wanted, order, np.ones(ids.size, dtype=np.bool_))

    for child in range(ids.size):
        same = [row for row in range(ids.size) if ids[row] == wanted[child]]
        after = [row for row in same if row > child]
        assert found[child] == (min(after) if after else max(same, default=-1))


def test_an_unknown_parent_is_not_looked_for_and_no_nodes_are_no_trouble() -> None:
    """A child whose parent is null has no caller; without nodes nobody has."""
    none = np.empty(0, dtype=np.int64)

    assert rows_named(
        np.array([0]), np.array([0]), np.array([0]), np.array([0]), np.array([False])
    ).tolist() == [-1]
    assert rows_named(none, none, np.array([3]), np.array([0]), np.array([True])).tolist() == [-1]
    assert tops(none)[0].size == 0
