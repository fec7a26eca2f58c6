"""What launched each device op, and when it was let go (dependencies 4.5)."""

from __future__ import annotations

from graphstore.export.columns import RankColumns
from graphstore.export.launches import Launches, find_launches
from graphstore.export.order import NEVER, NONE, host_order
from graphstore.export.places import places_of
from tests.unit.export.ranks import call, kernel, op, rank_of, timed


def launches(columns: RankColumns) -> Launches:
    """Return the launches of a rank."""
    return find_launches(columns, host_order(columns.host), places_of(columns))


def test_a_device_op_is_let_go_at_the_end_of_its_call() -> None:
    """The host op that made the call launched it."""
    found = launches(
        rank_of(
            [timed(1, 0, 100)], [kernel(11, 80, 90)], [call(21, 50, 60)], CTRL=[(1, 21)], LAUNCHES=[(21, 11)]
        )
    )

    assert (found.call.tolist(), found.op.tolist()) == ([0], [0])
    assert (found.lane.tolist(), found.time.tolist()) == ([0], [60])
    assert found.let_go.tolist() == [60]


def test_one_that_starts_within_its_call_was_let_go_then() -> None:
    """Of several, the first decides."""
    kernels = [kernel(11, 80, 90), kernel(12, 55, 60, stream=8)]
    found = launches(rank_of([timed(1, 0, 100)], kernels, [call(21, 50, 60)], LAUNCHES=[(21, 11), (21, 12)]))

    assert found.time.tolist() == [55, 55]


def test_a_call_that_launches_nothing_lets_go_when_it_starts() -> None:
    """So a call that only waits does so from its start; it does not act unless something waits for it."""
    found = launches(rank_of([timed(1, 0, 100)], [], [call(21, 50, 60), call(22, 70, 80)]))

    assert found.let_go.tolist() == [50, 70]
    assert found.calls.acts.tolist() == [False, False]


def test_a_call_acts_when_it_launches_or_waits() -> None:
    """Only then was its thread certainly at work there."""
    rank = rank_of(
        [timed(1, 0, 100)],
        [kernel(11, 60, 70)],
        [call(21, 50, 55), call(22, 60, 80), call(23, 90, 95)],
        LAUNCHES=[(21, 11)],
        SYNC=[(11, 22, "host_wait.certain")],
    )

    assert launches(rank).calls.acts.tolist() == [True, True, False]


def test_a_thread_that_has_calls_alone_is_a_lane_of_its_own() -> None:
    """Thread 9 shows no op; a call of no known thread is on none."""
    unknown = {"uid": 23, "start_ns": 5, "duration_ns": 1}
    found = launches(rank_of([timed(1, 0, 100)], [], [call(21, 50, 60), call(22, 5, 6, thread=9), unknown]))

    assert found.calls.lane.tolist() == [0, 1, NONE]


def test_a_merged_trace_cuts_the_op_that_launched() -> None:
    """At its end, or where the device op starts."""
    kernels = [kernel(11, 30, 40), kernel(12, 130, 140)]
    found = launches(rank_of([timed(1, 0, 100), timed(2, 100, 110)], kernels, CTRL=[(1, 11), (2, 12)]))

    assert (found.op.tolist(), found.time.tolist()) == ([0, 1], [30, 110])


def test_without_times_only_the_op_is_known() -> None:
    """Nothing can be cut: the device op follows the op's first piece."""
    found = launches(rank_of([op(1, node_id=4, tid=1)], [kernel(11, 30, 40)], CTRL=[(1, 11)]))

    assert (found.op.tolist(), found.lane.tolist(), found.time.tolist()) == ([0], [NONE], [NEVER])


def test_a_device_op_from_before_the_window_was_launched_by_nobody() -> None:
    """Nothing is invented."""
    found = launches(rank_of([timed(1, 0, 100)], [kernel(11, 30, 40)]))

    assert (found.call.tolist(), found.op.tolist(), found.time.tolist()) == ([NONE], [NONE], [NEVER])
