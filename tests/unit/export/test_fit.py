"""What makes up for latencies, gaps of streams and queues, and what says that nothing explains a wait."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphstore.export.columns import RankColumns
from graphstore.export.fit import Fitted, fitted
from graphstore.export.pieces import BEFORE_WINDOW, GAP_TIME, REST, UNEXPLAINED, pieces
from tests.unit.export.ranks import call, kernel, op, rank_of, timed


@dataclass(frozen=True)
class Shown:
    """Nodes by name (see ranks.Named; those that were added as `before 11` and `unexplained 11`)."""

    times: dict[str, list[float]]  # start and end in µs
    deps: dict[str, list[str]]
    fitted: Fitted


def fit(columns: RankColumns, **options: Any) -> Shown:
    """Return the nodes as written."""
    cut = pieces(columns)
    uids = [*columns.host["uid"].to_list(), *columns.kernels["uid"].to_list()]
    found = fitted(cut, **options)
    names: list[str] = []
    for k, (node, kind) in enumerate(zip(found.node.tolist(), found.kind.tolist(), strict=True)):
        if kind in (BEFORE_WINDOW, UNEXPLAINED):
            names.append(
                f"{'before' if kind == BEFORE_WINDOW else 'unexplained'} {uids[cut.place[found.node[k + 1]]]}"
            )
        else:
            mark = f"{found.measured[k] / 1_000:g}"
            plain = "gap" if kind == GAP_TIME else str(uids[cut.place[node]])
            names.append(plain + {GAP_TIME: f"@{mark}", REST: f"+{mark}"}.get(kind, ""))
    times = (np.stack([found.start, found.end], axis=1) / 1_000).tolist()
    first, ids = found.deps.first.tolist(), found.deps.ids.tolist()
    deps = {name: sorted(names[dep] for dep in ids[first[k] : first[k + 1]]) for k, name in enumerate(names)}
    return Shown(dict(zip(names, times, strict=True)), deps, found)


def us(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row given in µs."""
    return row | {name: round(row[name] * 1_000) for name in ("start_ns", "duration_ns") if name in row}


def stream(*kernels: dict[str, Any], call_end: float = 12) -> RankColumns:
    """Return device ops 11, 12 … in µs; an op from 0 to 20 launches all of them in a call from 10 on."""
    return rank_of(
        [us(timed(1, 0, 20))],
        [us(row) for row in kernels],
        [us(call(21, 10, call_end))],
        CTRL=[(1, 21)],
        LAUNCHES=[(21, row["uid"]) for row in kernels],
    )


def test_a_device_op_that_its_stream_held_lasts_from_the_end_of_the_one_before() -> None:
    """4.6: 10 µs between two kernels of a stream are real time of the second."""
    found = fit(stream(kernel(11, 15, 40), kernel(12, 50, 60)))

    assert (found.times["11"], found.times["12"]) == ([15, 40], [40, 60])


def test_a_longer_gap_of_a_stream_has_another_reason() -> None:
    """10.001 µs are not the stream's own."""
    found = fit(stream(kernel(11, 15, 40), kernel(12, 50.001, 60)))

    assert found.times["12"] == [50.001, 60]


def test_a_device_op_that_something_else_held_starts_when_it_did() -> None:
    """Its launch ends behind the end of the one before: the gap is not the stream's."""
    rank = rank_of(
        [us(timed(1, 0, 100))],
        [us(kernel(11, 15, 40)), us(kernel(12, 45, 60))],
        [us(call(21, 10, 12)), us(call(22, 35, 43))],
        CTRL=[(1, 21), (1, 22)],
        LAUNCHES=[(21, 11), (22, 12)],
    )

    assert fit(rank).times["12"] == [45, 60]


def test_the_first_of_two_that_overlap_on_a_stream_ends_where_the_second_begins() -> None:
    """One runs after the other in every reader; without the cut the second would be late."""
    found = fit(stream(kernel(11, 15, 40), kernel(12, 37, 60)))

    assert (found.times["11"], found.times["12"]) == ([15, 37], [37, 60])


def test_device_ops_that_start_together_do_not_get_a_negative_length() -> None:
    """The one that ends first comes first, and lasts no time."""
    found = fit(stream(kernel(11, 15, 40), kernel(12, 15, 20)))

    assert (found.times["12"], found.times["11"]) == ([15, 15], [15, 40])


def queued(worker_start: float) -> RankColumns:
    """Return a call from 10 to 20 whose worker begins at `worker_start`."""
    ops = [timed(1, 10, 20, "c10d::allreduce_"), timed(2, worker_start, 80, "gloo:all_reduce", thread=2)]
    return rank_of([us(row) for row in ops], call_ops=[("host_op", 31, 1), ("worker", 31, 2)])


def test_what_a_call_waits_in_its_workers_queue_counts_to_the_collective() -> None:
    """4.13: from the hand-over on, however long the queue."""
    assert fit(queued(70)).times["2"] == [20, 80]


def test_a_worker_still_busy_with_the_op_before_is_no_queue_of_this_one() -> None:
    """It begins when that has ended."""
    ops = [
        timed(1, 10, 20, "c10d::allreduce_"),
        timed(3, 0, 50, "gloo:broadcast", thread=2),
        timed(2, 60, 80, "gloo:all_reduce", thread=2),
    ]
    rank = rank_of([us(row) for row in ops], call_ops=[("host_op", 31, 1), ("worker", 31, 2)])

    assert fit(rank).times["2"] == [50, 80]


def waited(release_to_start: float) -> RankColumns:
    """Return an op that launches a kernel, waits for it from 30 on, and goes on at its end, 100, until 200.

    The kernel starts so many µs after its launch.
    """
    return rank_of(
        [us(timed(1, 0, 200))],
        [us(kernel(11, 12 + release_to_start, 100))],
        [us(call(21, 10, 12)), us(call(22, 30, 100))],
        CTRL=[(1, 21), (1, 22)],
        LAUNCHES=[(21, 11)],
        SYNC=[(11, 22, "host_wait.certain")],
    )


def test_latency_is_taken_up_where_a_thread_goes_on_after_a_wait() -> None:
    """4.9: a replay starts the kernel 3 µs early, so the wait ends 3 µs early; the piece behind is longer."""
    found = fit(waited(3))

    assert found.times["1+100"] == [97, 200]
    assert found.fitted.fit_free_ns == 197_000
    assert found.times["11"] == [15, 100]


def test_latency_is_capped() -> None:
    """20 µs are taken up, not more, so that no missing rule is hidden; what is later is unexplained."""
    assert fit(waited(20)).times["1+100"] == [80, 200]
    assert fit(waited(20)).fitted.unexplained_ns == 0


def test_the_cap_holds_where_several_latencies_add_up() -> None:
    """Two kernels, each on its own stream and 15 µs late: 30 µs early, 20 of them are taken up."""
    rank = rank_of(
        [us(timed(1, 0, 200))],
        [us(kernel(11, 27, 50)), us(kernel(12, 65, 100, stream=8))],
        [us(call(21, 10, 12)), us(call(22, 30, 100))],
        CTRL=[(1, 21), (1, 22)],
        LAUNCHES=[(21, 11), (21, 12)],
        SYNC=[(11, 12, "stream_wait.recorded"), (12, 22, "host_wait.certain")],
    )

    assert fit(rank).times["1+100"] == [80, 200]


def test_a_thread_that_did_not_wait_takes_up_nothing() -> None:
    """The kernel is early by its latency, and no one depends on it."""
    found = fit(stream(kernel(11, 15, 40)))

    assert (found.times["1"], found.times["1+12"]) == ([0, 12], [12, 20])


def test_work_from_before_the_window_follows_a_node_that_says_so() -> None:
    """4.15: nothing launched it here; it holds its stream from the start of the window."""
    rank = rank_of([us(timed(1, 5, 20))], [us(kernel(11, 15, 40)), us(kernel(12, 41, 50))])

    found = fit(rank)

    assert found.times["before 11"] == [5, 15]
    assert found.deps["11"] == ["before 11"]
    assert (found.deps["before 11"], found.deps["12"]) == ([], ["11"])
    assert found.fitted.unexplained_ns == 0


def test_work_that_runs_as_the_window_begins_needs_no_such_node() -> None:
    """It starts with the window."""
    assert "before 11" not in fit(rank_of([us(timed(1, 15, 20))], [us(kernel(11, 15, 40))])).times


def test_a_late_device_op_follows_a_node_that_says_nobody_knows_why() -> None:
    """4.15: later than 20 µs after all that is known; the node takes the deps, and the time is counted."""
    found = fit(stream(kernel(11, 15, 40), kernel(12, 60.001, 70)))

    assert found.times["unexplained 12"] == [40, 60.001]
    assert found.deps["unexplained 12"] == ["1", "11"]
    assert found.deps["12"] == ["unexplained 12"]
    assert found.fitted.unexplained_ns == 20_001


def test_a_device_op_20_microseconds_late_is_a_latency_still() -> None:
    """So it only starts early in a replay."""
    found = fit(stream(kernel(11, 15, 40), kernel(12, 60, 70)))

    assert list(found.times) == ["1", "1+12", "11", "12"]
    assert found.fitted.unexplained_ns == 0


def test_a_host_op_that_is_late_is_no_case_of_it() -> None:
    """The time of threads is in gaps."""
    found = fit(rank_of([us(timed(1, 0, 10)), us(timed(2, 90, 95))]))

    assert list(found.times) == ["1", "gap@10", "2"]


def test_without_fit_the_nodes_are_as_measured() -> None:
    """The span of their replay is the one figure that copies nothing."""
    rank = stream(kernel(11, 15, 40), kernel(12, 50, 90))

    plain = fit(rank, fit=False)

    assert plain.times["12"] == [50, 90]
    assert plain.fitted.fit_free_ns == fit(rank).fitted.fit_free_ns == (12 + 25 + 40) * 1_000
    assert plain.fitted.window == (0, 90_000)


def test_a_rank_without_times_is_left_as_it_is() -> None:
    """There is nothing to fit."""
    found = fit(rank_of([op(1, node_id=4, tid=1), op(2, node_id=5, tid=1)])).fitted

    assert not found.timed.any()
    assert (found.fit_free_ns, found.unexplained_ns, found.window) == (0, 0, (0, 0))
