from __future__ import annotations

import numpy as np

from graphstore.repairs.change import Change
from graphstore.repairs.columns import RankOps
from graphstore.repairs.orphans import plan_orphans
from graphstore.repairs.places import Places
from graphstore.repairs.tree import NONE, nodes_on_cycles
from graphstore.repairs.wrong_parents import plan_wrong_parents
from tests.unit.repairs.forest import (
    Op,
    carried_out,
    components,
    ids_by_child,
    kineto_only,
    orphans_of,
    process_root,
    rank_of,
    thread_root,
)


def planned(ops: RankOps, *wrong_ids: int) -> list[Change]:
    """Return the changes for the ops with these ids; whatever they are, no cycle comes of them."""
    wrong = np.flatnonzero(np.isin(ops.node_id, wrong_ids))
    places = Places(ops, ops.recorded)
    changes, parent = plan_wrong_parents(ops, wrong, np.append(ops.parent, NONE), places)
    assert nodes_on_cycles(parent) == []
    return changes


def test_an_op_moves_to_the_recorded_op_that_encloses_it() -> None:
    """The named parent had ended before the op began: time says whose it is. It is inferred, never safe."""
    ops = rank_of(
        [
            process_root(),
            thread_root(),
            Op(10, "ended", 2, (0, 50)),
            Op(11, "encloses", 2, (60, 200)),
            Op(12, "child", 10, (70, 80)),
        ]
    )

    changes = planned(ops, 12)

    assert ids_by_child(ops, changes) == {12: ("proven_parent", 11)}
    assert not changes[0].safe
    assert changes[0].evidence["named"]["end_ns"] == 50
    assert "does not enclose it in time" in changes[0].reason


def test_an_op_that_nothing_encloses_moves_to_its_thread_root_or_its_call() -> None:
    """A top-level op of its thread hangs off the thread's root; a gloo worker off its call."""
    ops = rank_of(
        [
            process_root(),
            thread_root(),
            Op(10, "ended", 2, (0, 50)),
            Op(12, "child", 10, (70, 80)),
            Op(13, "c10d::allreduce_", 2, (81, 82), rf_id=4),
            Op(14, "gloo:all_reduce", 10, (81, 90), rf_id=5, thread=9),
        ]
    )

    changes = planned(ops, 12, 14)

    assert ids_by_child(ops, changes) == {12: ("proven_parent", 2), 14: ("proven_parent", 13)}
    assert "ran on another thread" in changes[1].reason


def test_a_send_stays_below_the_call_that_asked_for_it() -> None:
    """The work outlasts its c10d call on the same thread; by rf_id it is that call's all the same."""
    ops = rank_of(
        [
            process_root(),
            thread_root(),
            Op(9, "forward", 2, (0, 200)),
            Op(10, "c10d::send", 9, (10, 50), rf_id=4),
            Op(11, "gloo:send", 10, (40, 90), rf_id=5),
        ]
    )

    assert planned(ops, 11) == []


def test_an_op_without_a_better_parent_stays() -> None:
    """No encloser, no thread root: nothing is proven, the finding stays."""
    ops = rank_of([process_root(), Op(10, "ended", 1, (0, 50)), Op(12, "child", 10, (70, 80), tid=4)])

    assert planned(ops, 12) == []


def test_moves_that_would_close_a_cycle_are_taken_back() -> None:
    """The encloser hangs below the op itself by a record nobody calls wrong: the op stays where it is."""
    ops = rank_of(
        [
            process_root(),
            thread_root(),
            Op(10, "ended", 2, (0, 50)),
            Op(12, "child", 10, (70, 80)),
            Op(13, "round it, recorded below it", 12, (60, 90)),
        ]
    )

    assert planned(ops, 12) == []


def test_two_moves_that_cross_leave_a_forest() -> None:
    """If both ops are moved rightly, no cycle is left, whatever lay between them."""
    ops = rank_of(
        [
            process_root(),
            thread_root(),
            Op(12, "child", 13, (70, 80)),
            Op(13, "parent by record only", 2, (0, 10)),
            Op(14, "round the child", 13, (60, 90)),
        ]
    )

    changes = planned(ops, 12, 14)

    assert ids_by_child(ops, changes) == {12: ("proven_parent", 14), 14: ("proven_parent", 2)}
    assert components(carried_out(ops, changes)) == 1


def test_an_op_may_move_into_a_span_that_is_restored_in_the_same_plan() -> None:
    """The step becomes a recorded op by the rule before: it is the innermost that encloses the op."""
    ops = rank_of(
        [
            process_root(),
            thread_root(),
            Op(10, "aten::a", 4, (100, 110)),
            Op(11, "aten::b", 4, (120, 130)),
            Op(12, "aten::c", 10, (140, 150)),
            kineto_only("ProfilerStep#1", 90, 900),
        ]
    )

    adopted = plan_orphans(ops, orphans_of(ops))
    changes, _ = plan_wrong_parents(ops, np.asarray([4]), adopted.parent, adopted.places)

    assert [change.after for change in changes] == [{"parent": int(ops.uid[5])}]
