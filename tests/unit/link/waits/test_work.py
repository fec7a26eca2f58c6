"""Calls and device ops as columns, and what is asked of them."""

from __future__ import annotations

import numpy as np
import pytest

from graphstore.link.waits.work import BEFORE, NONE, SLACK_NS, WHOLE_US_SLACK_NS, Work, released, work_of
from tests.data.builders import Row, table
from tests.unit.link.waits.ranks import call, kernel, launch


def ints(*values: int) -> np.ndarray:
    """Return a column."""
    return np.array(values, np.int64)


def work(calls: list[Row], kernels: list[Row], launches: list[int]) -> Work:
    """Return the columns; `launches` names the row of the call of each device op."""
    return work_of(
        table("runtime_calls", calls),
        table("kernels", kernels),
        np.zeros(len(calls), np.int64),
        np.full(len(calls), NONE, np.int64),
        np.array(launches, np.int64),
        np.zeros(len(kernels), np.bool_),
    )


@pytest.mark.parametrize(
    ("begins", "ends", "first_start", "let_go"),
    [(10, 15, 12, 12), (10, 15, 20, 15), (10, 15, 2, 10)],
    ids=["starts in the call", "starts behind it", "clock of the device runs early"],
)
def test_a_device_op_is_let_go_at_the_end_of_its_call_or_when_it_starts(
    begins: int, ends: int, first_start: int, let_go: int
) -> None:
    """Never before the call began, though a device's clock may say so."""
    assert released(ints(begins), ints(ends), ints(0), ints(first_start)).tolist() == [let_go]


def test_all_ops_of_a_graph_launch_are_let_go_with_the_first() -> None:
    """One call, three device ops: the earliest start decides; what has no call is from before."""
    found = released(ints(0), ints(50), ints(0, 0, 0, NONE), ints(30, 20, 40, 5))

    assert found.tolist() == [20, 20, 20, BEFORE]


def test_the_last_launched_before_and_the_first_launched_behind_are_told_by_launch_not_by_start() -> None:
    """a is launched first and starts last; c has no call, so it was launched before all."""
    made = work(
        [launch(1, 0), launch(2, 10), launch(3, 20)],
        [kernel(1, 90, 95, "a"), kernel(2, 30, 40, "b"), kernel(3, 50, 60, "d"), kernel(None, 1, 2, "c")],
        [0, 1, 2, NONE],
    )
    on_stream, times = ints(0, 0, 0, 0), ints(0, 10_000, 10_001, 99_000)

    assert made.last_on_stream(on_stream, times).tolist() == [3, 0, 1, 2]
    assert made.first_on_stream(on_stream, times).tolist() == [0, 1, 2, NONE]


def test_a_stream_nobody_knows_has_no_ops() -> None:
    """A device op without a stream is on none, so nothing is found for one."""
    made = work([launch(1, 0)], [kernel(1, 5, 9, "a", None)], [0])

    assert made.stream.tolist() == [NONE]
    assert made.last_on_stream(ints(NONE), ints(99_000)).tolist() == [NONE]
    assert made.first_on_stream(ints(NONE), ints(0)).tolist() == [NONE]


def test_streams_of_two_devices_are_two() -> None:
    """Device 0 and 1 both have a stream 7."""
    other = kernel(2, 5, 9, "b") | {"device": 1}
    made = work([launch(1, 0), launch(2, 10)], [kernel(1, 5, 9, "a"), other], [0, 1])

    assert made.stream_keys == {(0, 7): 0, (1, 7): 1}
    assert made.stream.tolist() == [0, 1]


def test_files_in_whole_microseconds_are_less_exact() -> None:
    """One time that is none shows that the file is finer."""
    coarse = work([launch(1, 0)], [kernel(1, 5, 9, "a")], [0])
    fine = work([launch(1, 0)], [kernel(1, 5.5, 9, "a")], [0])

    assert (coarse.slack_ns, fine.slack_ns) == (WHOLE_US_SLACK_NS, SLACK_NS)


def test_the_makers_word_is_taken_off_the_names_of_calls() -> None:
    """CUDA runtime, CUDA driver and HIP call alike what does the same."""
    names = ["cudaStreamSynchronize", "cuStreamSynchronize", "hipStreamSynchronize", "customCall"]
    made = work([call(name, 0, 1) for name in names], [], [])

    assert made.call_name[:3].tolist() == ["StreamSynchronize"] * 3
