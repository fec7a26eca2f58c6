from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphstore.repairs.tree import NONE, Forest, Ints, below, moved_calls, moved_ops, nodes_on_cycles


def parents(*values: int) -> Ints:
    """Return a parent array."""
    return np.asarray(values, dtype=np.int64)


@st.composite
def forests(draw: st.DrawFn) -> Ints:
    """Return a parent array without cycles: every parent lies before its child."""
    size = draw(st.integers(1, 40))
    return parents(*(draw(st.integers(NONE, place - 1)) for place in range(size)))


def test_a_cycle_is_walked_from_child_to_parent_and_what_hangs_off_it_is_not_part() -> None:
    """1 → 2 → 3 → 1 is one cycle; 4 below it and the sound tree 0, 5 are none."""
    parent = parents(NONE, 3, 1, 2, 2, 0)

    assert nodes_on_cycles(parent) == [[1, 3, 2]]


def test_a_node_that_is_its_own_parent_is_a_cycle() -> None:
    """The smallest cycle has one node."""
    assert nodes_on_cycles(parents(NONE, 1)) == [[1]]


@given(forests())
def test_a_forest_has_no_cycle(parent: Ints) -> None:
    """Nothing is reported on a sound forest."""
    assert nodes_on_cycles(parent) == []


@given(forests(), st.data())
def test_below_marks_whole_subtrees(parent: Ints, data: st.DataObject) -> None:
    """A node is below a mark exactly if the mark is met on its way up."""
    marked = np.asarray(data.draw(st.lists(st.booleans(), min_size=len(parent), max_size=len(parent))))

    result = below(parent, marked)

    for place in range(len(parent)):
        above = place
        while above != NONE and not marked[above]:
            above = int(parent[above])
        assert result[place] == (above != NONE)


def test_a_tree_cannot_be_joined_below_itself() -> None:
    """Joining 0 below 3 joins 1 … with it; 3's top below 1 would make a cycle and is refused."""
    forest = Forest(parents(NONE, 0, NONE, 2))

    assert forest.join(0, 3)
    assert not forest.join(2, 1)
    assert forest.top(1) == 2


def test_a_moved_tree_gets_top_depth_and_path_of_its_new_place() -> None:
    """2 moved below 1 takes 3 with it; what did not move is not written; a call follows its op."""
    uid = np.asarray([10, 11, 12, 13])
    moved = np.asarray([False, False, True, False])

    ops = moved_ops(uid, ["root", "thread", "a", "b"], parents(NONE, 0, 1, 2), moved)

    assert ops == [
        {"uid": 12, "root": 10, "depth": 2, "path": "root / thread / a"},
        {"uid": 13, "root": 10, "depth": 3, "path": "root / thread / a / b"},
    ]
    calls = moved_calls(ops, np.asarray([20, 21]), np.asarray([13, 11]))
    assert calls == [{"uid": 20, "root": 10, "depth": 4}]


def test_an_op_put_back_into_a_cycle_has_no_place() -> None:
    """As the import leaves it: undo of a cut cycle gives null, not a number."""
    ops = moved_ops(np.asarray([10, 11]), ["a", "b"], parents(1, 0), np.asarray([True, False]))

    assert [(op["root"], op["depth"], op["path"]) for op in ops] == [(None, None, None)] * 2
    assert moved_calls(ops, np.asarray([20]), np.asarray([11])) == [{"uid": 20, "root": None, "depth": None}]
