"""Which thread waited for which: one rule a test, beside its near-miss (dependencies 4.12, 4.13)."""

from __future__ import annotations

from tests.data.builders import Row
from tests.unit.link.waits.ranks import Wait, annotation, op, waits

MAIN, AUTOGRAD, WORKER = 1, 2, 3
ENGINE = "autograd::engine::evaluate_function: MulBackward0"


def backward(start: float, end: float, name: str = ENGINE) -> Row:
    """Return an op of the autograd thread."""
    return op(name, start, end, AUTOGRAD)


def in_a_gap(first: float, last: float, **names: str) -> list[Wait]:
    """Return the waits of a main thread that is idle from 50 to 200, and of two ops of another thread."""
    ops = [
        op("forward", 0, 50),
        op("step", 200, 250),
        backward(first, first + 10, names.get("one", ENGINE)),
        backward(last - 10, last, ENGINE + "1"),
    ]
    return waits(ops)


def test_work_in_a_gap_is_handed_over_and_back() -> None:
    """4.12: first the worker's first op behind what the main thread did, then its next op behind the last."""
    assert in_a_gap(60, 190) == [
        (ENGINE + "1", "step", "hand_back.likely"),
        ("forward", ENGINE, "hand_over.likely"),
    ]


def test_a_worker_that_sticks_out_of_the_gap_was_not_waited_for() -> None:
    """Its last op ends when the main thread is at work again: only the op that lies inside was."""
    handed = [wait for wait in in_a_gap(60, 230) if wait[2].startswith("hand")]

    assert handed == [(ENGINE, "step", "hand_back.likely"), ("forward", ENGINE, "hand_over.likely")]


def test_a_worker_that_began_before_the_gap_was_not_woken_by_it() -> None:
    """It overlaps the main thread's work, so neither waited."""
    ops = [op("forward", 0, 50), op("step", 200, 250), backward(40, 190)]

    assert [wait for wait in waits(ops) if wait[2].startswith("hand")] == []


def test_own_time_of_an_annotation_is_waiting_too() -> None:
    """ProfilerStep encloses all of a step: its own time is where backward() waits."""
    ops = [
        annotation("ProfilerStep#1", 0, 300),
        op("forward", 0, 50),
        op("step", 200, 250),
        backward(60, 190),
    ]

    assert waits(ops) == [
        ("ProfilerStep#1", ENGINE, "hand_over.likely"),
        (ENGINE, "ProfilerStep#1", "hand_back.likely"),
    ]


def test_own_time_of_an_op_is_work() -> None:
    """An op that is no annotation works: nobody waits in it."""
    ops = [op("aten::mm", 0, 300), op("forward", 0, 50), op("step", 200, 250), backward(60, 190)]

    assert [wait for wait in waits(ops) if wait[2].startswith("hand")] == []


def test_waiting_of_20_microseconds_is_not_told_from_work() -> None:
    """It has to be longer."""
    short = [op("forward", 0, 50), op("step", 70, 90), backward(55, 65)]
    longer = [op("forward", 0, 50), op("step", 70.1, 90), backward(55, 65)]

    assert [rule for *_, rule in waits(short) if rule.startswith("hand")] == []
    assert [rule for *_, rule in waits(longer)] == ["hand_back.likely", "hand_over.likely"]


def test_a_thread_that_runs_an_optimizer_works_for_itself() -> None:
    """The main thread of a script may well run the engine most of the time."""
    ops = [op("forward", 0, 50), op("step", 200, 250), backward(60, 190)]
    ops.append(op("Optimizer.step#SGD.step", 195, 199, AUTOGRAD))

    assert [wait for wait in waits(ops) if wait[2].startswith("hand")] == []


def test_a_thread_that_mostly_does_other_things_is_no_autograd_thread() -> None:
    """Most of the time of its outermost ops decides."""
    ops = [op("forward", 0, 50), op("step", 200, 250), backward(60, 90), backward(100, 190, "aten::mm")]

    assert [wait for wait in waits(ops) if wait[2].startswith("hand")] == []


def test_work_is_waited_for_by_the_thread_that_was_idle_for_the_shortest_time() -> None:
    """Two threads are idle meanwhile: the longer sleep has another reason."""
    ops = [op("forward", 0, 50), op("step", 200, 250), backward(60, 190)]
    ops += [op("load", 0, 10, 4), op("load more", 400, 410, 4)]

    assert [wait for wait in waits(ops) if wait[2].startswith("hand")] == [
        (ENGINE, "step", "hand_back.likely"),
        ("forward", ENGINE, "hand_over.likely"),
    ]


def gloo(end: float, resumed: float, around: str = "c10d::allreduce_", begin: float = 12) -> list[Wait]:
    """Return the waits around a gloo op: called 0-10, run `begin`-`end` by a worker; `around` lasts 15 on."""
    ops = [
        op("c10d::allreduce_", 0, 10),
        op("gloo:all_reduce", begin, end, WORKER),
        op(around, 15, resumed, category="user_annotation" if around == "sync" else "cpu_op"),
        op("next", resumed, resumed + 50),
    ]
    return waits(ops)


def test_a_thread_waits_for_its_worker_in_an_annotation() -> None:
    """4.13: 85 µs of `sync` lie before the end of the op, 10 behind."""
    assert gloo(100, 110, "sync") == [("gloo:all_reduce", "sync", "worker_done.likely")]


def test_a_thread_waits_for_its_worker_in_a_gap() -> None:
    """Between two ops: the one behind the gap goes on."""
    ops = [
        op("c10d::allreduce_", 0, 10),
        op("gloo:all_reduce", 12, 100, WORKER),
        op("next", 110, 160),
    ]

    assert waits(ops) == [("gloo:all_reduce", "next", "worker_done.likely")]


def test_a_thread_waits_for_its_worker_in_the_call_itself() -> None:
    """A synchronous collective: the call outlasts the worker's op."""
    ops = [op("c10d::barrier", 0, 110), op("gloo:barrier", 12, 100, WORKER), op("next", 120, 130)]

    assert waits(ops, family="worker_done") == [("gloo:barrier", "c10d::barrier", "worker_done.likely")]


def test_time_of_any_other_op_is_work_meanwhile() -> None:
    """aten::mm computes while the worker communicates."""
    assert gloo(100, 110, "aten::mm") == []


def test_who_goes_on_long_behind_the_end_did_not_wait_for_it() -> None:
    """At most 200 µs or a quarter of the wait: 85 µs before and 201 behind are no wait, 200 are."""
    assert gloo(100, 300, "sync") == [("gloo:all_reduce", "sync", "worker_done.likely")]
    assert gloo(100, 301, "sync") == []


def test_a_quarter_of_a_long_wait_may_pass_before_the_thread_goes_on() -> None:
    """985 µs before, 246 behind."""
    assert gloo(1_000, 1_246, "sync") == [("gloo:all_reduce", "sync", "worker_done.likely")]
    assert gloo(1_000, 1_247, "sync") == []


def test_a_wait_of_20_microseconds_is_not_told_from_work() -> None:
    """The worker ends 20 µs after `sync` has begun."""
    assert gloo(35, 40, "sync") == []


def test_the_first_op_of_a_thread_nobody_woke_follows_what_ended_before() -> None:
    """thread_start: chosen by times alone, and it says so."""
    ops = [op("load", 0, 10), op("still running", 12, 100), op("first", 20, 30, 5), op("second", 40, 50, 5)]

    assert waits(ops) == [("load", "first", "thread_start.timing")]


def test_a_worker_op_without_a_call_follows_what_ended_before() -> None:
    """Each op of a backend's thread needs a reason: the second one's call is not in the file."""
    ops = [
        op("c10d::allreduce_", 0, 10),
        op("gloo:all_reduce", 12, 30, WORKER),
        op("aten::mm", 12, 40),
        op("gloo:broadcast", 50, 60, WORKER),
    ]

    assert waits(ops, family="thread_start") == [("aten::mm", "gloo:broadcast", "thread_start.timing")]


def test_the_thread_that_begins_the_trace_was_woken_by_nobody() -> None:
    """Nothing came before it."""
    assert waits([op("first", 0, 10), op("second", 20, 30)]) == []
