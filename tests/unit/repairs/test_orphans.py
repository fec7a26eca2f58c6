from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphstore.repairs.change import Change
from graphstore.repairs.columns import RankOps
from graphstore.repairs.orphans import created_uid, plan_orphans, restorable_spans
from graphstore.repairs.tree import NONE
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


def planned(ops: RankOps) -> list[Change]:
    """Return the changes for all orphans of a rank."""
    return plan_orphans(ops, orphans_of(ops)).changes


def children(count: int, absent_id: int = 4, first: int = 10) -> list[Op]:
    """Return `count` ops of 10 ns each, one after the other from 100 ns, that name an absent parent."""
    return [
        Op(first + place, f"aten::op{place}", absent_id, (100 + 20 * place, 110 + 20 * place), rf_id=place)
        for place in range(count)
    ]


def test_an_absent_parent_that_kineto_shows_is_restored_under_its_own_id() -> None:
    """All children share the innermost span: it gets their parent's id and a place of its own."""
    ops = rank_of([process_root(), thread_root(), *children(3), kineto_only("ProfilerStep#2", 90, 900)])

    changes = planned(ops)

    step = changes[0]
    assert (step.rule, step.safe) == ("restore_from_kineto", True)
    assert step.after == {"node_id": 4, "parent": int(ops.uid[1])}
    assert step.evidence["span"]["name"] == "ProfilerStep#2"
    assert (step.evidence["children"], step.evidence["share"]) == (3, 1.0)
    assert ids_by_child(ops, changes) == {
        4: ("restore_from_kineto", 2),
        **dict.fromkeys((10, 11, 12), ("restore_from_kineto", 4)),
    }
    assert components(carried_out(ops, changes)) == 1


def test_one_child_is_no_proof_that_the_span_is_its_parent() -> None:
    """A single child could lie in any op still open inside the step: its thread root is inferred."""
    ops = rank_of([process_root(), thread_root(), *children(1), kineto_only("ProfilerStep#3", 90, 900)])

    changes = planned(ops)

    assert ids_by_child(ops, changes) == {10: ("thread_root", 2)}
    assert not changes[0].safe


@pytest.mark.parametrize(("inside", "outside", "restored"), [(9, 1, True), (8, 2, False)])
def test_nine_tenths_of_the_children_must_agree(inside: int, outside: int, restored: bool) -> None:
    """One in ten may lie elsewhere (and then hangs where it lies); two may not."""
    strays = [
        Op(50 + place, "aten::stray", 4, (2000 + 20 * place, 2010 + 20 * place)) for place in range(outside)
    ]
    outer = Op(90, "outer", 2, (1990, 3000))
    step = kineto_only("ProfilerStep#1", 90, 900)
    ops = rank_of([process_root(), thread_root(), *children(inside), *strays, outer, step])

    found = ids_by_child(ops, planned(ops))

    assert (4 in found) == restored
    assert found[10] == (("restore_from_kineto", 4) if restored else ("thread_root", 2))
    assert found[50] == ("enclosing_op", 90)


def test_children_of_one_absent_id_with_different_enclosers_each_get_their_own() -> None:
    """A stale stack entry adopts later ops of other parents: each goes to the op that encloses it."""
    ops = rank_of(
        [
            process_root(),
            thread_root(),
            Op(20, "forward", 2, (100, 200)),
            Op(21, "backward", 2, (300, 400)),
            Op(22, "aten::a", 9, (110, 120)),
            Op(23, "aten::b", 9, (310, 320)),
        ]
    )

    found = ids_by_child(ops, planned(ops))

    assert found == {22: ("enclosing_op", 20), 23: ("enclosing_op", 21)}


def test_a_kineto_only_encloser_is_climbed_to_the_next_recorded_op() -> None:
    """A component counts recorded ops: a lone child under an unproven span hangs below what is round both."""
    ops = rank_of(
        [
            process_root(),
            thread_root(),
            Op(20, "outer", 2, (50, 1000)),
            kineto_only("annotation", 90, 900),
            Op(22, "aten::a", 9, (110, 120)),
        ]
    )

    assert ids_by_child(ops, planned(ops)) == {22: ("enclosing_op", 20)}


def test_a_restored_span_hangs_below_the_recorded_op_that_encloses_it() -> None:
    """It gets its thread root only where no recorded op is round it; a Kineto-only caller is passed over."""
    ops = rank_of(
        [
            process_root(),
            thread_root(),
            Op(20, "outer", 2, (50, 1000)),
            kineto_only("between", 80, 950),
            kineto_only("step", 90, 900),
            *children(2),
        ]
    )

    changes = planned(ops)

    assert changes[0].before == {"node_id": None, "parent": int(ops.uid[3])}
    assert changes[0].after == {"node_id": 4, "parent": int(ops.uid[2])}
    assert components(carried_out(ops, changes)) == 1


def test_a_gloo_worker_that_nothing_encloses_goes_to_its_call_and_is_no_counter_proof() -> None:
    """The worker belongs to the call of its kind with the largest rf_id below its own."""
    ops = rank_of(
        [
            process_root(),
            thread_root(),
            Op(10, "c10d::allreduce_", 4, (100, 110), rf_id=5),
            Op(11, "c10d::allreduce_", 4, (120, 130), rf_id=7),
            Op(12, "c10d::broadcast_", 4, (140, 150), rf_id=8),
            Op(13, "gloo:all_reduce", 4, (145, 160), rf_id=9, thread=7),
            kineto_only("ProfilerStep#2", 90, 900),
        ]
    )

    changes = planned(ops)

    assert ids_by_child(ops, changes)[13] == ("worker_of_call", 11)
    assert changes[0].evidence["share"] == 1.0
    assert changes[0].evidence["children_counted"] == 3


def test_a_gloo_all_reduce_may_work_for_a_reduce_scatter() -> None:
    """gloo has no reduce_scatter of its own; the nearer call of the two kinds is meant."""
    ops = rank_of(
        [
            process_root(),
            thread_root(),
            Op(10, "c10d::allreduce_", 2, rf_id=5),
            Op(11, "c10d::_reduce_scatter_base_", 2, rf_id=6),
            Op(12, "gloo:all_reduce", 99, rf_id=7),
        ]
    )

    assert ids_by_child(ops, planned(ops)) == {12: ("worker_of_call", 11)}


def test_a_gloo_worker_before_every_call_of_its_kind_falls_back_to_its_thread_root() -> None:
    """A call cannot come after its worker: no call is guessed."""
    ops = rank_of(
        [
            process_root(),
            thread_root(),
            Op(12, "gloo:all_reduce", 99, rf_id=3),
            Op(10, "c10d::allreduce_", 2, rf_id=5),
        ]
    )

    assert ids_by_child(ops, planned(ops)) == {12: ("thread_root", 2)}


def test_the_recorded_workers_of_a_call_say_nothing_about_whose_it_is() -> None:
    """With work queued ahead a worker is recorded below a later call; ids follow the order of queueing."""
    ops = rank_of(
        [
            process_root(),
            thread_root(),
            Op(206, "c10d::allreduce_", 2, rf_id=144),
            Op(212, "c10d::allreduce_", 2, rf_id=149),
            Op(213, "gloo:all_reduce", 212, rf_id=145, thread=7),
            Op(214, "gloo:all_reduce", 99, rf_id=150, thread=7),
        ]
    )

    assert ids_by_child(ops, planned(ops)) == {214: ("worker_of_call", 212)}


def test_without_times_orphans_hang_below_the_thread_root_of_their_tid() -> None:
    """Each goes to its own thread; an op of a thread without a root goes to the process root."""
    ops = rank_of(
        [
            process_root(),
            thread_root(),
            thread_root(3, tid=2),
            Op(10, "a", 9),
            Op(11, "b", 9, tid=2),
            Op(12, "c", 9, tid=5),
        ]
    )

    changes = planned(ops)

    assert ids_by_child(ops, changes) == {
        10: ("thread_root", 2),
        11: ("thread_root", 3),
        12: ("thread_root", 1),
    }
    assert not any(change.safe for change in changes)


def test_of_two_thread_roots_the_one_entered_before_the_orphan_is_taken() -> None:
    """A second observer window writes the roots anew, with higher ids."""
    ops = rank_of([process_root(), thread_root(2), thread_root(40), Op(10, "a", 9), Op(50, "b", 41)])

    assert ids_by_child(ops, planned(ops)) == {10: ("thread_root", 2), 50: ("thread_root", 40)}


def test_a_child_without_times_of_a_restored_span_stays_with_the_id_its_record_names() -> None:
    """Another Python thread has no times in Kineto; its record is not contradicted by any."""
    ops = rank_of(
        [
            process_root(),
            thread_root(),
            *children(3),
            Op(20, "timeless", 4, tid=3),
            kineto_only("step", 90, 900),
        ]
    )

    assert ids_by_child(ops, planned(ops))[20] == ("restore_from_kineto", 4)


def test_an_absent_process_root_is_created_only_as_inferred() -> None:
    """A killed process writes no root: it is made again under the id its thread roots name."""
    ops = rank_of([thread_root(), Op(10, "a", 2)])

    changes = planned(ops)

    assert [(change.rule, change.safe) for change in changes] == [("recreate_root", False)] * 2
    assert changes[0].after["created"]["node_id"] == 1
    assert changes[0].uid == changes[1].after["parent"] == created_uid(ops)
    assert components(carried_out(ops, changes)) == 1


def test_a_created_root_does_not_take_an_id_in_use() -> None:
    """Where no thread root tells and 1 is taken, the id is a fresh one."""
    ops = rank_of([Op(1, "a", 77), Op(5, "b", 77)])

    created = planned(ops)[0].after["created"]

    assert created["node_id"] not in (1, 5)


def test_two_absent_ids_cannot_be_one_span() -> None:
    """The id with more children there gets the span; the other's children hang below it by enclosure."""
    few = [Op(30 + place, "late", 25, (500 + 20 * place, 510 + 20 * place)) for place in range(2)]
    step = kineto_only("ProfilerStep#1", 90, 900)
    ops = rank_of([process_root(), thread_root(), *children(4), *few, step])

    found = ids_by_child(ops, planned(ops))

    assert [restored.absent_id for restored in restorable_spans(ops, orphans_of(ops))] == [4]
    assert found[30] == ("enclosing_op", 4)


def test_each_absent_id_gets_the_span_its_own_children_share() -> None:
    """Children of two absent ids lie mixed in the file; which are recorded stays as it was."""
    spans = [kineto_only("ProfilerStep#1", 90, 900), kineto_only("ProfilerStep#2", 1000, 1900)]
    mixed = [
        Op(10 * n + absent, "op", absent, (1000 * absent + 95 + n, 1000 * absent + 96 + n))
        for n in range(3, 6)
        for absent in (1, 0)
    ]
    ops = rank_of([*mixed, *spans])
    recorded = ops.recorded.tolist()

    found = restorable_spans(ops, orphans_of(ops))
    planned(ops)

    assert [(restored.absent_id, restored.span, restored.children) for restored in found] == [
        (0, 6, 3),
        (1, 7, 3),
    ]
    assert ops.recorded.tolist() == recorded


def test_an_orphan_is_never_hung_below_its_own_descendant() -> None:
    """A wrongly recorded parent can put the encloser inside the orphan's tree: it is passed over."""
    ops = rank_of(
        [
            process_root(),
            thread_root(),
            Op(20, "outer", 2, (0, 1000)),
            Op(21, "encloser, recorded below its own child", 22, (50, 500)),
            Op(22, "orphan", 9, (100, 200)),
        ]
    )

    changes = planned(ops)

    assert ids_by_child(ops, changes) == {22: ("enclosing_op", 20)}
    assert components(carried_out(ops, changes)) == 1


def test_two_orphans_are_not_hung_below_each_other() -> None:
    """Each encloses something of the other's tree; the second takes the next candidate."""
    ops = rank_of(
        [
            process_root(),
            thread_root(),
            Op(20, "a", 9, (100, 300)),
            Op(21, "in a's tree, round b", 20, (400, 900)),
            Op(22, "b", 8, (500, 600)),
            Op(23, "in b's tree, round a", 22, (50, 350)),
        ]
    )

    changes = planned(ops)

    assert {change.rule for change in changes} == {"enclosing_op", "thread_root"}
    assert components(carried_out(ops, changes)) == 1


def test_an_unknown_parent_is_mended_like_an_absent_one() -> None:
    """Parent 0 is "unknown" in the file: the op is a tree of its own until time gives it a place."""
    ops = rank_of([process_root(), thread_root(), Op(20, "outer", 2, (0, 99)), Op(21, "lone", None, (5, 9))])

    changes = planned(ops)

    assert ids_by_child(ops, changes) == {21: ("enclosing_op", 20)}
    assert changes[0].evidence["absent_id"] is None


def test_a_cycle_of_callers_is_cut_above_the_op_entered_first() -> None:
    """10 and 11 name each other: 10 began first, so 11 cannot have called it. It is inferred, never safe."""
    ops = rank_of(
        [
            process_root(),
            thread_root(),
            Op(9, "outer", 2, (0, 500)),
            Op(11, "inner", 10, (20, 30)),
            Op(10, "first", 11, (10, 90)),
        ]
    )

    changes = planned(ops)

    assert [(change.rule, change.safe, change.answers) for change in changes] == [
        ("drop_back_edge", False, (("cycle", 0, None),))
    ]
    assert changes[0].before == {"parent": int(ops.uid[3])}
    assert ids_by_child(ops, changes) == {10: ("drop_back_edge", 9)}
    assert components(carried_out(ops, changes)) == 1


def test_a_sound_trace_gives_no_change() -> None:
    """Kineto-only spans without a caller are no orphans."""
    ops = rank_of([process_root(), thread_root(), Op(5, "a", 2, (10, 20)), kineto_only("step", 0, 99)])

    assert planned(ops) == []


@st.composite
def damaged_traces(draw: st.DrawFn) -> RankOps:
    """Return a rank of nested random spans on two threads, from which random ops are absent.

    An absent op is known to Kineto only, or to nobody; some parents are recorded wrong.
    """
    whole: list[Op] = [process_root(), thread_root(2, 1), thread_root(3, 2)]
    for tid in (1, 2):
        _fill(draw, whole, parent=1 + tid, tid=tid, start=0, end=draw(st.integers(20, 400)), depth=0)
    kept = [_fate(draw, op, whole) for op in whole]
    return rank_of(draw(st.permutations([op for op in kept if op is not None])))


def _fill(draw: st.DrawFn, out: list[Op], parent: int, tid: int, start: int, end: int, depth: int) -> None:
    """Append random ops between start and end, each with random ops inside."""
    at = start
    while at < end and len(out) < 40 and draw(st.booleans()):
        stop = draw(st.integers(at, end))
        node_id = 10 + len(out)
        name = draw(st.sampled_from(["aten::mm", "c10d::allreduce_", "gloo:all_reduce"]))
        has_time = draw(st.sampled_from([True, True, True, False]))
        span = (at, stop) if has_time else None
        out.append(Op(node_id, name, parent, span, tid, thread=tid, rf_id=node_id))
        if depth < 4:
            _fill(draw, out, node_id, tid, at, stop, depth + 1)
        at = stop + 1


def _fate(draw: st.DrawFn, op: Op, whole: Sequence[Op]) -> Op | None:
    """Return the op as the damaged files hold it: whole, misplaced, in Kineto only, or not at all."""
    fate = draw(st.sampled_from(["whole"] * 6 + ["absent", "absent", "wrong parent"]))
    if fate == "whole":
        return op
    if fate == "wrong parent" and op.node_id is not None and op.node_id >= 10:
        # a later id can't be a parent's: ids are given on entry, so recorded trees have no cycles
        earlier = [
            other.node_id for other in whole if other.node_id is not None and other.node_id < op.node_id
        ]
        return Op(op.node_id, op.name, draw(st.sampled_from(earlier)), op.span, op.tid, op.thread, op.rf_id)
    if fate == "absent" and op.node_id is not None:
        return None if op.span is None or draw(st.booleans()) else kineto_only(op.name, *op.span, op.thread)
    return op


@settings(max_examples=300, deadline=None)
@given(damaged_traces())
def test_any_damaged_trace_becomes_one_tree_and_stays_one(ops: RankOps) -> None:
    """One component, no cycle, no lost op, every recorded edge kept; a second plan is empty."""
    changes = planned(ops)

    after = carried_out(ops, changes)
    assert components(after) <= 1 if ops.recorded.any() else not changes
    recorded_edge = ops.recorded & (ops.parent != NONE)
    assert np.array_equal(after.parent[: len(ops)][recorded_edge], ops.parent[recorded_edge])
    assert np.array_equal(after.start_ns[: len(ops)], ops.start_ns)
    assert len(after) - len(ops) == sum("created" in change.after for change in changes)
    assert planned(after) == []


@settings(max_examples=150, deadline=None)
@given(damaged_traces())
def test_the_safe_changes_alone_are_a_forest_too(ops: RankOps) -> None:
    """Whoever applies only what is proven gets no cycle, and no proven change is found afterwards."""
    safe = [change for change in planned(ops) if change.safe]

    after = carried_out(ops, safe)

    assert components(after) >= 0
    assert not [change for change in planned(after) if change.safe]
