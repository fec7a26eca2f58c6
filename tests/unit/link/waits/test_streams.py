"""What a stream waited for: one rule a test, beside its near-miss (dependencies 4.7, 4.8, 4.10)."""

from __future__ import annotations

from tests.data.builders import Row
from tests.unit.link.waits.ranks import call, found, kernel, launch, linked, op, sync, waits

RECORD, WAIT = "cudaEventRecord", "cudaStreamWaitEvent"


def recorded_wait(**more: int) -> list[Row]:
    """Return the event of call 3: stream 8 waits for what call 2 recorded on stream 7."""
    facts = {"stream": 8, "wait_on_stream": 7, "wait_on_record_correlation": 2} | more
    return [sync("Stream Wait Event", 3, **facts)]


def two_streams() -> tuple[list[Row], list[Row]]:
    """Return calls and kernels: a, record, b on stream 7; the wait, then c on stream 8."""
    calls = [
        launch(1, 0),
        call(RECORD, 10, 12, 2),
        launch(4, 20),
        call(WAIT, 30, 32, 3),
        launch(5, 40),
        launch(6, 50),
    ]
    kernels = [
        kernel(1, 5, 100, "a"),
        kernel(4, 100, 130, "b"),
        kernel(5, 101, 120, "c", 8),
        kernel(6, 120, 125, "d", 8),
    ]
    return calls, kernels


def test_a_recorded_wait_joins_the_last_op_before_the_record_to_the_first_behind_the_wait() -> None:
    """b was launched behind the record, d behind c: neither is meant."""
    assert waits([], *two_streams(), recorded_wait()) == [("a", "c", "stream_wait.recorded")]


def test_the_op_that_waits_may_be_launched_by_any_thread() -> None:
    """The wait is called on thread 1, the next launch on its stream comes from thread 2."""
    calls, kernels = two_streams()
    calls[4] |= {"thread": 2}

    assert waits([], calls, kernels, recorded_wait()) == [("a", "c", "stream_wait.recorded")]


def test_a_recorded_wait_without_a_record_correlation_says_nothing() -> None:
    """Kineto writes 0 where it knows none; what the times tell is another rule."""
    found_rules = waits([], *two_streams(), recorded_wait(wait_on_record_correlation=0))

    assert found_rules == [("a", "c", "stream_wait.timing")]


def test_a_recorded_wait_that_the_times_refute_is_left_out_and_counted() -> None:
    """What is waited for cannot end after what waits has started."""
    calls, kernels = two_streams()
    kernels[2] = kernel(5, 60.5, 90, "c", 8)

    graph = linked([], calls, kernels, recorded_wait())

    assert found(graph) == []
    assert graph.waits_left_out == {"stream_wait.recorded": 1}


def test_an_end_may_lie_behind_the_start_by_as_much_as_the_file_is_inexact() -> None:
    """1 µs where all times are whole µs, 50 ns else."""
    calls, kernels = two_streams()
    whole_us = [kernels[0], kernels[1], kernel(5, 99, 120, "c", 8)]
    finer = [kernels[0], kernels[1], kernel(5, 99.5, 120, "c", 8)]

    assert waits([], calls, whole_us, recorded_wait()) == [("a", "c", "stream_wait.recorded")]
    assert waits([], calls, finer, recorded_wait()) == []


def collective(wait_at: float, launch_at: float, start: float = 200) -> tuple[list[Row], ...]:
    """Return an op that launches gemm on stream 7, and a collective that launches its kernel on stream 20."""
    ops = [op("aten::mm", 0, 10), op("record_param_comms", 20, 60), op("nccl:all_reduce", 22, 58)]
    calls = [launch(1, 2), call(WAIT, wait_at, wait_at + 2), launch(2, launch_at)]
    nccl = kernel(2, start, start + 50, "ncclDevKernel_AllReduce", 20)
    return ops, calls, [kernel(1, 10, 200, "gemm"), nccl]


def test_a_wait_in_a_collective_before_its_launch_is_for_the_callers_stream() -> None:
    """4.8 a: the NCCL kernel starts when the last op of the caller's stream has ended."""
    assert waits(*collective(wait_at=30, launch_at=40)) == [
        ("gemm", "ncclDevKernel_AllReduce", "collective_wait.likely")
    ]


def test_a_wait_in_a_collective_behind_its_launch_is_nccls_own() -> None:
    """It says nothing about who waited for whom."""
    assert waits(*collective(wait_at=50, launch_at=30), family="collective_wait") == []


def test_a_wait_in_a_collective_that_the_times_refute_is_left_out_and_counted() -> None:
    """The kernel started at 100 while the caller's last one ran until 200: another event was meant."""
    graph = linked(*collective(wait_at=30, launch_at=40, start=100.5))

    assert found(graph) == []
    assert graph.waits_left_out == {"collective_wait.likely": 1}


def after_a_collective(nccl_end: float, wait_op: str, waiter: int = 1) -> tuple[list[Row], ...]:
    """Return a collective, a wait behind it in `wait_op`, and what stream 7 runs next, of thread `waiter`."""
    ops = [
        op("aten::mm", 0, 10),
        op("record_param_comms", 20, 60),
        op("nccl:all_reduce", 22, 58),
        op(wait_op, 70, 80),
    ]
    calls = [launch(1, 2), launch(2, 30), call(WAIT, 72, 74), launch(3, 90, thread=waiter)]
    kernels = [
        kernel(1, 10, 20, "gemm"),
        kernel(2, 50, nccl_end, "ncclDevKernel_AllReduce", 20),
        kernel(3, 150, 160, "optimizer"),
    ]
    return ops, calls, kernels


def test_a_wait_outside_collectives_is_for_the_last_collective() -> None:
    """4.8 b: what the thread's stream runs next waits for the NCCL kernel; without, 50 µs had no reason."""
    assert waits(*after_a_collective(148, "DDP finalize")) == [
        ("ncclDevKernel_AllReduce", "optimizer", "collective_wait.likely")
    ]


def test_the_next_op_of_the_stream_may_come_from_another_thread() -> None:
    """The wait is called on the autograd thread, the next kernel launched by the main thread."""
    assert waits(*after_a_collective(148, "DDP finalize", waiter=2), family="collective_wait") == [
        ("ncclDevKernel_AllReduce", "optimizer", "collective_wait.likely")
    ]


def test_a_wait_for_a_collective_that_ends_too_late_meant_an_earlier_one() -> None:
    """No edge is made up in its place; it is counted."""
    graph = linked(*after_a_collective(180.5, "DDP finalize"))

    assert found(graph, "collective_wait") == []
    assert graph.waits_left_out == {"collective_wait.likely": 1}


def test_recorded_waits_stand_alone() -> None:
    """Where the file names waits, none is guessed from calls."""
    ops, calls, kernels = collective(wait_at=30, launch_at=40)
    told = [sync("Stream Wait Event", 9, stream=3, wait_on_stream=4, wait_on_record_correlation=8)]

    assert waits(ops, calls, kernels, told, family="collective_wait") == []


def late(start: float, other_end: float, **more: int) -> list[tuple[str, str, str]]:
    """Return the waits of b on stream 8, launched at 10 and started at `start`; a ends at `other_end`."""
    calls = [launch(1, 0), launch(2, 10)]
    return waits([], calls, [kernel(1, 5, other_end, "a", **more), kernel(2, start, 200, "b", 8)])


def test_an_unexplained_start_waits_for_what_ended_just_before_on_another_stream() -> None:
    """4.10: 85 µs after its launch and 4 µs after the end of a."""
    assert late(100, 96) == [("a", "b", "stream_wait.timing")]


def test_a_start_that_the_launch_explains_waits_for_nothing() -> None:
    """20 µs after its launch call ended is a latency still."""
    assert late(35, 33) == []


def test_what_ended_longer_before_is_no_reason() -> None:
    """6 µs between end and start tell nothing."""
    assert late(100, 94) == []


def test_what_ends_behind_the_start_is_no_reason() -> None:
    """Nor does what is still running."""
    assert late(100, 100.5) == []


def test_another_device_is_no_reason() -> None:
    """Streams of two devices do not wait by chance."""
    assert late(100, 96, device=1) == []


def test_a_recorded_wait_explains_a_late_start() -> None:
    """By times alone is the last resort: c is explained, so nothing is added."""
    calls, kernels = two_streams()
    kernels.append(kernel(None, 0, 100.5, "z", 30))

    assert waits([], calls, kernels, recorded_wait(), family="stream_wait.timing") == []
