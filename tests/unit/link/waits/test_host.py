"""What calls that block wait for: each row of the table of dependencies 4.11, and its near-miss."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.data.builders import Row
from tests.unit.link.waits.ranks import Wait, call, found, kernel, launch, linked, op, sync, waits


def blocked(
    name: str,
    start: float = 50,
    end: float = 300,
    calls: Sequence[Row] = (),
    kernels: Sequence[Row] = (),
    syncs: Sequence[Row] = (),
) -> list[Wait]:
    """Return what call 9 waits for: a runs 10-100 on stream 7, b 20-250 on stream 8, both launched before."""
    every = [launch(1, 0), launch(2, 10), call(name, start, end, 9), *calls]
    device = [kernel(1, 10, 100, "a"), kernel(2, 20, 250, "b", 8), *kernels]
    return waits([], every, device, syncs, family="host_wait")


@pytest.mark.parametrize("name", ["cudaDeviceSynchronize", "cuCtxSynchronize", "hipDeviceSynchronize"])
def test_a_device_synchronisation_waits_for_the_last_op_of_every_stream(name: str) -> None:
    """No other reading exists; the maker's word before the name does not matter."""
    assert blocked(name) == [
        ("a", f"{name}@50", "host_wait.certain"),
        ("b", f"{name}@50", "host_wait.certain"),
    ]


def test_a_device_synchronisation_waits_for_work_from_before_the_window() -> None:
    """c has no launch in the file: it was launched before all that is in it."""
    before = [kernel(None, 0, 280, "c", 9)]

    assert ("c", "cudaDeviceSynchronize@50", "host_wait.certain") in blocked(
        "cudaDeviceSynchronize", kernels=before
    )


def test_a_device_synchronisation_waits_for_no_other_device() -> None:
    """One process with two GPUs: the thread launched on device 0 last, thread 2 works on device 1."""
    other = kernel(3, 10, 280, "d") | {"device": 1}

    found = blocked("cudaDeviceSynchronize", calls=[launch(3, 5, thread=2)], kernels=[other])

    assert [awaited for awaited, _, _ in found] == ["a", "b"]


def test_a_device_synchronisation_does_not_wait_for_what_is_launched_later() -> None:
    """d, launched by another thread meanwhile, is not its business."""
    later = blocked(
        "cudaDeviceSynchronize", calls=[launch(3, 60, thread=2)], kernels=[kernel(3, 100, 200, "d")]
    )

    assert [awaited for awaited, _, _ in later] == ["a", "b"]


def test_freeing_memory_waits_for_what_ends_inside_the_call() -> None:
    """b ends when it has long returned: it did not wait for b."""
    assert blocked("cudaFree", end=150) == [("a", "cudaFree@50", "host_wait.certain")]


def test_a_device_synchronisation_that_returns_too_early_is_left_out_and_counted() -> None:
    """The times contradict: no edge, but the count shows it."""
    calls = [launch(1, 0), call("cudaDeviceSynchronize", 50, 90.5)]

    graph = linked([], calls, [kernel(1, 10, 100, "a")])

    assert found(graph) == []
    assert graph.waits_left_out == {"host_wait.certain": 1}


def test_a_recorded_stream_synchronisation_names_the_stream() -> None:
    """b ends last, but the event says stream 7."""
    assert blocked("cudaStreamSynchronize", syncs=[sync("Stream Sync", 9, stream=7)]) == [
        ("a", "cudaStreamSynchronize@50", "host_wait.recorded")
    ]


def test_a_recorded_event_synchronisation_waits_for_what_was_launched_before_the_record() -> None:
    """c was launched on the same stream after the record; the call did not wait for it."""
    told = {"wait_on_stream": 7, "wait_on_record_correlation": 5}

    awaited = blocked(
        "cudaEventSynchronize",
        calls=[call("cudaEventRecord", 20, 22, 5), launch(3, 30)],
        kernels=[kernel(3, 100, 280, "c")],
        syncs=[sync("Event Sync", 9, **told)],
    )

    assert awaited == [("a", "cudaEventSynchronize@50", "host_wait.recorded")]


def test_a_query_never_blocks() -> None:
    """Kineto writes an Event Sync for cudaEventQuery, too."""
    told = {"wait_on_stream": 7, "wait_on_record_correlation": 5}
    record, event = call("cudaEventRecord", 20, 22, 5), sync("Event Sync", 9, **told)

    assert blocked("cudaEventQuery", calls=[record], syncs=[event]) == []


def test_a_stream_synchronisation_without_a_record_is_for_the_stream_of_the_last_launch() -> None:
    """The thread launched b last, on stream 8, and b ends inside the call."""
    assert blocked("cudaStreamSynchronize") == [("b", "cudaStreamSynchronize@50", "host_wait.likely")]


def test_launches_of_a_collective_do_not_make_its_stream_the_threads_own() -> None:
    """NCCL has a stream of its own: the thread synchronises that of its last launch outside."""
    ops = [op("aten::mm", 0, 8), op("record_param_comms", 9, 20), op("nccl:all_reduce", 9.5, 19)]
    calls = [launch(1, 0), launch(2, 10), call("cudaStreamSynchronize", 50, 300)]
    kernels = [kernel(1, 10, 100, "gemm"), kernel(2, 20, 250, "ncclDevKernel_AllReduce", 20)]

    assert waits(ops, calls, kernels, family="host_wait") == [
        ("gemm", "cudaStreamSynchronize@50", "host_wait.likely")
    ]


def test_a_stream_synchronisation_whose_stream_does_not_end_inside_is_told_by_time() -> None:
    """b, of the stream launched on last, runs on: what ends inside is a, on another stream."""
    assert blocked("cudaStreamSynchronize", end=120) == [
        ("a", "cudaStreamSynchronize@50", "host_wait.timing")
    ]


def test_of_the_stream_that_runs_on_nothing_was_awaited() -> None:
    """c ends inside on the stream of b, which runs on: the call was for another stream, so for a."""
    c = kernel(3, 15, 110, "c", 8)

    awaited = blocked("cudaStreamSynchronize", end=120, calls=[launch(3, 5)], kernels=[c])

    assert awaited == [("a", "cudaStreamSynchronize@50", "host_wait.timing")]


def test_an_event_synchronisation_without_a_record_waits_for_what_ends_last_inside() -> None:
    """b ends at 250, a at 100, both inside."""
    assert blocked("cudaEventSynchronize") == [("b", "cudaEventSynchronize@50", "host_wait.timing")]


def test_an_event_synchronisation_inside_which_nothing_ends_did_not_wait() -> None:
    """The event had come before."""
    assert blocked("cudaEventSynchronize", start=110, end=200) == []


def test_what_is_launched_inside_a_call_is_not_awaited_by_it() -> None:
    """c, launched by another thread while the call waits, ends last inside it: b is meant."""
    c = kernel(3, 260, 280, "c", 9)

    awaited = blocked("cudaEventSynchronize", calls=[launch(3, 60, thread=2)], kernels=[c])

    assert awaited == [("b", "cudaEventSynchronize@50", "host_wait.timing")]


@pytest.mark.parametrize("name", ["cudaMemcpyAsync", "hipMemcpyWithStream"])
def test_a_copy_call_that_outlasts_its_own_copy_waited_for_it(name: str) -> None:
    """Pageable memory: the call returns when the copy is done."""
    calls = [call(name, 0, 50, 1)]

    assert waits([], calls, [kernel(1, 10, 40, "Memcpy HtoD")]) == [
        ("Memcpy HtoD", f"{name}@0", "host_wait.certain")
    ]


def test_a_copy_call_that_returns_before_its_copy_ends_did_not_wait() -> None:
    """Pinned memory; and a launch that outlasts its kernel is no copy."""
    assert waits([], [call("cudaMemcpyAsync", 0, 20, 1)], [kernel(1, 10, 40, "Memcpy HtoD")]) == []
    assert waits([], [launch(1, 0, 50)], [kernel(1, 10, 40, "a")]) == []


def test_a_device_op_of_no_known_stream_is_on_nobodys_stream() -> None:
    """A thread that launched nothing has no stream: what has none recorded is not the same stream."""
    calls = [launch(1, 0, thread=2), call("cudaStreamSynchronize", 50, 300, 9)]

    assert waits([], calls, [kernel(1, 10, 100, "a", None)], family="host_wait.likely") == []
