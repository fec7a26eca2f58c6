"""Which parent is written, and what waits for one on another thread (dependencies 4.2, decision 16)."""

from __future__ import annotations

import pytest

from graphstore.model.markers import GROUP_INIT
from tests.unit.export.ranks import THREAD_ROOT, named, op, rank_of, timed


def test_the_proven_encloser_stands_for_a_parent_that_does_not_enclose() -> None:
    """Kineto refutes the recorded parent: the export takes the encloser, and says so."""
    rank = rank_of([timed(1, 0, 10), timed(2, 20, 90), timed(3, 30, 40, encloser=2)], CTRL=[(1, 2), (1, 3)])

    found = named(rank)

    assert found.parents["3"] == "2"
    assert found.cut.kept.written["parent by time instead of the recorded one"] == 1


@pytest.mark.parametrize(("thread", "end"), [(1, 42), (2, 60)], ids=["ends too early", "other thread"])
def test_a_parent_is_refuted_by_its_end_and_by_its_thread(thread: int, end: int) -> None:
    """2 ns of rounding are no refutation, 3 are."""
    rank = rank_of(
        [timed(1, 20, end, thread=thread), timed(2, 0, 90), timed(3, 30, 45, encloser=2)], CTRL=[(1, 3)]
    )

    assert named(rank).parents["3"] == "2"


def test_a_parent_that_ends_two_nanoseconds_early_still_encloses() -> None:
    """Kineto's clock is as exact as that."""
    rank = rank_of([timed(1, 20, 43), timed(2, 0, 90), timed(3, 30, 45, encloser=2)], CTRL=[(1, 3)])

    assert named(rank).parents["3"] == "1"


def test_a_parent_that_encloses_is_kept_though_it_is_not_the_innermost() -> None:
    """An outer op is an ancestor, so the recorded parent is not refuted."""
    rank = rank_of([timed(1, 0, 100), timed(2, 20, 90), timed(3, 30, 40, encloser=2)], CTRL=[(1, 3)])

    assert named(rank).parents["3"] == "1"


def test_a_gloo_op_on_its_own_thread_keeps_its_call_as_parent_and_waits_for_it() -> None:
    """`gloo:X` under `c10d::X` on another thread is right, and order between threads goes into data deps."""
    rank = rank_of(
        [timed(1, 0, 10, "c10d::allreduce_"), timed(2, 15, 50, "gloo:all_reduce", thread=2)], CTRL=[(1, 2)]
    )

    found = named(rank)

    assert (found.parents["2"], found.deps["2"]) == ("1", ["1"])


def test_a_parent_on_another_thread_that_runs_on_is_cut_where_its_child_begins() -> None:
    """The child waits for what the parent had done by then, and runs beside the rest."""
    ops = [timed(1, 0, 50_000), timed(2, 20_000, 90_000, thread=2)]

    found = named(rank_of(ops, CTRL=[(1, 2)]))

    assert found.times["1"] == (0, 20_000)
    assert (found.parents, found.deps["2"]) == ({"2": "1"}, ["1"])
    assert found.cut.kept.left_out == {}


def test_a_parent_that_its_childs_deps_come_behind_is_written() -> None:
    """The worker waits for a later piece of the thread of its parent, whose first piece is before that."""
    ops = [timed(1, 0, 90), timed(2, 10, 20, "c10d::allreduce_"), timed(3, 30, 50, "gloo:x", thread=2)]
    rank = rank_of(ops, call_ops=[("host_op", 31, 2), ("worker", 31, 3)], CTRL=[(1, 2), (1, 3)])

    found = named(rank)

    assert (found.parents["3"], found.deps["3"]) == ("1", ["2"])


def test_a_parent_on_another_thread_is_no_order_where_something_woke_the_child() -> None:
    """The hand-over says when it began; the parent says only who called."""
    rank = rank_of(
        [timed(1, 0, 50), timed(2, 60, 70), timed(3, 80, 90, thread=2)],
        CTRL=[(1, 3)],
        SYNC=[(2, 3, "thread_start.timing")],
    )

    found = named(rank)

    assert (found.parents["3"], found.deps["3"]) == ("1", ["2"])


def test_a_parent_that_starts_after_its_child_is_left_out_and_counted() -> None:
    """A recorded tree edge against time would be a cycle with program order."""
    found = named(rank_of([op(1, node_id=5, tid=1), op(2, node_id=3, tid=1)], CTRL=[(1, 2)]))

    assert found.parents == {}
    assert found.cut.kept.left_out == {"parent that starts after its child": 1}


def test_nothing_waits_for_metadata() -> None:
    """A simulator may leave the node out."""
    rank = rank_of(
        [
            op(1, THREAD_ROOT, node_id=2, tid=1),
            op(2, GROUP_INIT, node_id=3, tid=1),
            timed(3, 5, 9, node_id=4),
        ],
        CTRL=[(1, 2), (2, 3)],
    )

    found = named(rank)

    assert "2" not in found.deps["3"]
    assert found.deps["2"] == []
