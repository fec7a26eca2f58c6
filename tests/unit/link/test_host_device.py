from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from graphstore.link.host_device import find_callers, find_launches, launch_facts
from graphstore.link.nesting import Spans, sort_spans
from tests.data.builders import call, kernel, table


def _classes(kernels: list[int | None], calls: list[int | None]) -> list[str]:
    launches = find_launches(
        table("kernels", [kernel(correlation, 50, 60) for correlation in kernels]),
        table("runtime_calls", [call(correlation, 0, 1) for correlation in calls]),
    )
    return launches.launch_class.to_list()


def test_before_the_window_is_below_the_lowest_correlation() -> None:
    """Below it: launched before the window; within the range: the call is lost; no id: said so (mini 10)."""
    classes = _classes([7001, 7003, 7010, 7011, 7012, None], [7010, 7012])

    assert classes == ["before_window", "before_window", "launched", "lost", "launched", "no_correlation"]


def test_a_file_without_calls_loses_none() -> None:
    """Where no runtime calls were recorded nothing is said about the launches."""
    assert _classes([7001, None], []) == ["no_runtime_calls", "no_runtime_calls"]


def test_calls_without_correlation_launch_nothing() -> None:
    """A null correlation joins nothing, not even another null."""
    assert _classes([5, None], [None]) == ["lost", "no_correlation"]


def test_all_device_ops_of_a_graph_hang_off_its_launch() -> None:
    """One call, many kernels of one correlation: each has the call, and the class says replay."""
    launches = find_launches(
        table("kernels", [kernel(9, 50, 60), kernel(9, 60, 70), kernel(8, 1, 2)]),
        table("runtime_calls", [call(8, 0, 1), call(9, 40, 45, name="hipGraphLaunch")]),
    )

    assert launches.call.tolist() == [1, 1, 0]
    assert launches.launch_class.to_list() == ["graph_replay", "graph_replay", "launched"]


def test_of_a_runtime_call_and_the_driver_call_in_it_the_inner_launched() -> None:
    """Two calls with one correlation: the one that starts last is the launch, whatever the file's order."""
    calls = [call(9, 44, 48, name="cuLaunchKernel"), call(9, 40, 50)]

    launches = find_launches(table("kernels", [kernel(9, 50, 60)]), table("runtime_calls", calls))

    assert launches.call.tolist() == [0]


@settings(deadline=None)
@given(
    st.lists(st.integers(1, 8) | st.none(), max_size=12), st.lists(st.integers(3, 9) | st.none(), max_size=12)
)
def test_every_device_op_has_one_class_and_the_call_of_its_correlation(
    kernels: list[int | None], calls: list[int | None]
) -> None:
    """Whatever the correlations: launched if and only if a call has it, and no device op is left out."""
    launches = find_launches(
        table("kernels", [kernel(correlation, 50, 60) for correlation in kernels]),
        table("runtime_calls", [call(correlation, n, n + 1) for n, correlation in enumerate(calls)]),
    )

    assert len(launches.launch_class) == launches.call.size == len(kernels)
    for correlation, at, launch_class in zip(kernels, launches.call, launches.launch_class, strict=True):
        if correlation is not None and correlation in calls:
            last = max(n for n, other in enumerate(calls) if other == correlation)
            assert (at, launch_class) == (last, "launched")
        else:
            assert at == -1
            assert launch_class in ("before_window", "lost", "no_correlation", "no_runtime_calls")


def _spans(*spans: tuple[int, int, int]) -> Spans:
    group, start, end = np.array(spans, dtype=np.int64).reshape(-1, 3).T
    return sort_spans(group, start, end, None, np.arange(group.size))


def test_the_launching_op_is_on_the_thread_of_the_call() -> None:
    """A later op of another thread does not take the launch; both other ways of linking are counted (02)."""
    spans = _spans((0, 100_000, 200_000), (1, 148_000, 178_000))
    calls = table("runtime_calls", [call(1, 150_000, 153_000), call(2, 160_000, 163_000, thread=2)])
    kernels = table(
        "kernels", [kernel(1, 170_000, 179_000, external_id=601), kernel(2, 1, 2, external_id=601)]
    )
    launches = find_launches(kernels, calls)

    caller = find_callers(calls, np.array([0, 1]), spans)
    facts = launch_facts(kernels, calls, pl.Series([601, 602]), launches, caller, spans)

    assert caller.tolist() == [0, 1]
    assert facts == {"launches_enclosed": 2, "time_link_disagrees": 1, "external_id_disagrees": 1}


def test_a_call_outside_of_every_op_has_no_caller() -> None:
    """The op that ended just before is not taken for the caller; nor is a call without a time placed."""
    calls = table("runtime_calls", [call(1, 300_000, 301_000), call(2, 0, 0) | {"start_ns": None}])

    assert find_callers(calls, np.array([0, 0]), _spans((0, 0, 200_000))).tolist() == [-1, -1]
