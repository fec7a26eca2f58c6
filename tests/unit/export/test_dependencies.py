"""What an exported node waits for, case by case, and for every rank that can be made."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphstore.export.columns import RankColumns
from graphstore.export.dependencies import Dependencies, dependencies
from graphstore.model.markers import GROUP_INIT
from tests.unit.export.ranks import PROCESS_ROOT, THREAD_ROOT, kernel, op, rank_of, timed


def uids(columns: RankColumns) -> list[int]:
    """Return the uid at each place."""
    return [*columns.host["uid"].to_list(), *columns.kernels["uid"].to_list()]


def order(columns: RankColumns) -> list[int]:
    """Return the uids in the order written."""
    known = uids(columns)
    return [known[place] for place in dependencies(columns).order]


def deps(columns: RankColumns) -> dict[int, list[int]]:
    """Return the data deps of each node, as uids."""
    known, plan = uids(columns), dependencies(columns)
    return {
        uid: [known[p] for p in plan.data[plan.data_first[place] : plan.data_first[place + 1]]]
        for place, uid in enumerate(known)
    }


def parents(columns: RankColumns) -> dict[int, int | None]:
    """Return the ctrl dep of each node, as uid."""
    known, plan = uids(columns), dependencies(columns)
    return {uid: None if plan.ctrl[p] < 0 else known[plan.ctrl[p]] for p, uid in enumerate(known)}


def test_ops_of_a_thread_follow_each_other_by_start() -> None:
    """Program order is a chain; where two begin together, the longer one, which encloses, comes first."""
    rank = rank_of([timed(1, 50, 60), timed(2, 0, 40), timed(3, 0, 100), timed(4, 0, 10, thread=2)])

    found = deps(rank)

    assert found == {3: [], 2: [3], 1: [2], 4: []}


def test_the_entry_counter_orders_ops_with_equal_times() -> None:
    """Whole-µs files are full of ties: External id, which counts entries, decides before anything else."""
    rank = rank_of([timed(1, 5, 5, external_id=9), timed(2, 5, 5, external_id=8)])

    assert order(rank) == [2, 1]


def test_ops_without_times_follow_by_node_id_on_their_tid() -> None:
    """Without Kineto, ids rise with the start: each op after the op before it of that tid."""
    rank = rank_of(
        [
            op(1, PROCESS_ROOT, node_id=1, tid=1),
            op(2, node_id=9, tid=1),
            op(3, node_id=4, tid=1),
            op(4, node_id=6, tid=2),
            op(5, THREAD_ROOT, node_id=2, tid=1),
        ],
        CTRL=[(1, 5), (5, 3), (5, 2), (1, 4)],
    )

    assert order(rank) == [1, 5, 3, 4, 2]
    assert deps(rank) == {1: [], 5: [1], 3: [5], 2: [3], 4: [1]}


def test_an_op_without_times_stands_behind_the_timed_op_of_its_tid_with_the_next_lower_id() -> None:
    """A half-matched trace keeps its order: ids place what Kineto does not show."""
    rank = rank_of(
        [
            op(1, "before", node_id=1, tid=5),
            timed(2, 100, 200, node_id=3, tid=5),
            op(3, node_id=4, tid=5),
            timed(4, 150, 160, node_id=6, tid=5),
            timed(5, 0, 10, node_id=8, tid=6, thread=2),
        ]
    )

    assert order(rank) == [5, 1, 2, 3, 4]
    assert deps(rank) == {1: [], 2: [1], 3: [2], 4: [3], 5: []}


def test_roots_come_first_though_a_repair_hangs_an_earlier_op_below_them() -> None:
    """A restored ProfilerStep has no tid and begins before the first op that has the thread root's."""
    rank = rank_of(
        [
            op(1, PROCESS_ROOT, node_id=1, tid=1),
            op(2, THREAD_ROOT, node_id=2, tid=1),
            timed(3, 0, 100, "ProfilerStep#1", node_id=4),
            timed(4, 10, 20, node_id=5, tid=1),
        ],
        CTRL=[(1, 2), (2, 3), (3, 4)],
    )

    assert order(rank) == [1, 2, 3, 4]
    assert deps(rank) == {1: [], 2: [1], 3: [2], 4: [3]}


def test_an_op_of_a_thread_kineto_does_not_see_has_a_lane_of_its_own() -> None:
    """A tid without any timed op is its own chain, placed by ids among all others."""
    rank = rank_of([timed(1, 0, 10, tid=1), op(2, node_id=7, tid=2), op(3, node_id=8, tid=2)])

    assert deps(rank) == {1: [], 2: [], 3: [2]}
    assert dependencies(rank).threads == {"kineto thread and start": 1, "tid and node id": 1}


def test_a_kernel_waits_for_the_op_that_launched_it_and_for_its_stream() -> None:
    """Launch → kernel and same-stream order are data deps; the ctrl dep repeats the launch."""
    rank = rank_of(
        [timed(1, 0, 100), timed(2, 200, 300)],
        kernels=[kernel(11, 150, 400), kernel(12, 400, 410), kernel(13, 310, 320, stream=20)],
        launches=[{"uid": 21, "start_ns": 50}, {"uid": 22, "start_ns": 250}, {"uid": 23, "start_ns": 260}],
        CTRL=[(1, 21), (2, 22), (2, 23)],
        LAUNCHES=[(21, 11), (22, 12), (23, 13)],
    )

    assert deps(rank) == {
        1: [],
        2: [1],
        11: [1],
        12: [11, 2],
        13: [2],
    }
    assert parents(rank) == {1: None, 2: None, 11: 1, 12: 2, 13: 2}


def test_a_device_clock_that_runs_early_does_not_put_a_kernel_before_its_launch() -> None:
    """The launch stands before the kernel whatever the clocks say, and the stream keeps its order."""
    rank = rank_of(
        [timed(1, 100, 200)],
        kernels=[kernel(11, 90, 95), kernel(12, 96, 97)],
        launches=[{"uid": 21, "start_ns": 150}],
        CTRL=[(1, 21)],
        LAUNCHES=[(21, 11)],
    )

    assert order(rank) == [1, 11, 12]
    assert deps(rank)[12] == [11]


def test_a_launch_outside_of_ops_follows_the_op_before_it_on_its_thread() -> None:
    """A call inside no op is still called in program order."""
    rank = rank_of(
        [timed(1, 0, 10), timed(2, 20, 30), timed(3, 100, 110), timed(4, 40, 45, thread=2)],
        kernels=[kernel(11, 60, 70)],
        launches=[{"uid": 21, "start_ns": 50, "process": 1, "thread": 1}],
        LAUNCHES=[(21, 11)],
    )

    assert deps(rank)[11] == [2]
    assert parents(rank)[11] is None


def test_kernels_launched_before_the_window_follow_their_stream_alone() -> None:
    """No launch is known: nothing is invented."""
    rank = rank_of([timed(1, 0, 10)], kernels=[kernel(11, 0, 5), kernel(12, 5, 9)])

    assert deps(rank) == {1: [], 11: [], 12: [11]}


def test_the_proven_encloser_stands_for_a_parent_that_does_not_enclose() -> None:
    """Kineto refutes the recorded parent: the export takes the encloser, and says so."""
    rank = rank_of([timed(1, 0, 10), timed(2, 20, 90), timed(3, 30, 40, encloser=2)], CTRL=[(1, 2), (1, 3)])

    assert parents(rank)[3] == 2
    assert dependencies(rank).written["parent by time instead of the recorded one"] == 1


def test_a_parent_that_encloses_is_kept_though_it_is_not_the_innermost() -> None:
    """An outer op is an ancestor, so the recorded parent is not refuted."""
    rank = rank_of([timed(1, 0, 100), timed(2, 20, 90), timed(3, 30, 40, encloser=2)], CTRL=[(1, 3)])

    assert parents(rank)[3] == 1


def test_a_gloo_op_on_its_own_thread_keeps_its_call_as_parent_and_waits_for_it() -> None:
    """`gloo:X` under `c10d::X` on another thread is right, and order between threads goes into data deps."""
    rank = rank_of(
        [timed(1, 0, 10, "c10d::allreduce_"), timed(2, 15, 50, "gloo:all_reduce", thread=2)], CTRL=[(1, 2)]
    )

    assert parents(rank)[2] == 1
    assert deps(rank)[2] == [1]


def test_a_worker_waits_for_its_call_wherever_the_trace_hangs_it() -> None:
    """The trace may name the caller's parent instead of the call: SEEN_AS knows better."""
    rank = rank_of(
        [
            timed(1, 0, 90),
            timed(2, 10, 20, "c10d::allreduce_"),
            timed(3, 30, 50, "gloo:all_reduce", thread=2),
        ],
        call_ops=[("host_op", 31, 2), ("worker", 31, 3)],
        CTRL=[(1, 2), (1, 3)],
    )

    assert deps(rank)[3] == [1, 2]


def test_a_parent_that_starts_after_its_child_is_left_out_and_counted() -> None:
    """A recorded tree edge against time would be a cycle with program order."""
    rank = rank_of([op(1, node_id=5, tid=1), op(2, node_id=3, tid=1)], CTRL=[(1, 2)])

    assert parents(rank)[2] is None
    assert dependencies(rank).left_out == {"parent that starts after its child": 1}


def test_group_metadata_is_no_work_and_nothing_waits_for_it() -> None:
    """process_group:init keeps its place in the tree; data deps go round it."""
    rank = rank_of(
        [
            op(1, PROCESS_ROOT, node_id=1, tid=1),
            op(2, THREAD_ROOT, node_id=2, tid=1),
            op(3, GROUP_INIT, node_id=3, tid=1),
            op(4, node_id=4, tid=1),
        ],
        CTRL=[(1, 2), (2, 3), (2, 4)],
    )

    assert deps(rank) == {1: [], 2: [1], 3: [], 4: [2]}
    assert parents(rank)[3] == 2


@pytest.fixture
def mini_03() -> RankColumns:
    """Two sync edges: one to an op that had ended when its source began, one that fits."""
    return rank_of(
        [timed(10, 100, 150), timed(11, 160, 170)],
        kernels=[kernel(20, 120, 155), kernel(21, 180, 190)],
        SYNC=[(21, 10), (20, 11)],
        CTRL=[(10, 20), (11, 21)],
    )


def test_a_sync_edge_against_time_is_left_out_and_the_one_that_fits_is_kept(mini_03: RankColumns) -> None:
    """The edge that would close the cycle is the one that points back in time."""
    assert deps(mini_03) == {10: [], 11: [10, 20], 20: [10], 21: [20, 11]}
    assert dependencies(mini_03).left_out == {"SYNC whose source starts after its target has ended": 1}


def test_an_op_that_waits_while_it_runs_is_written_behind_what_it_waits_for() -> None:
    """A synchronising op starts before the kernel it waits for: the order gives way, nothing is lost."""
    rank = rank_of(
        [timed(1, 0, 10), timed(2, 20, 100), timed(3, 110, 120)],
        kernels=[kernel(11, 50, 90)],
        CTRL=[(1, 11)],
        SYNC=[(11, 2)],
    )

    assert order(rank) == [1, 11, 2, 3]
    assert deps(rank) == {1: [], 2: [1, 11], 3: [2], 11: [1]}


def test_a_wait_for_what_the_waiting_op_launches_itself_is_left_out() -> None:
    """An op that launches and awaits would wait for itself: with one node an op, that cannot be written."""
    rank = rank_of([timed(1, 0, 100)], kernels=[kernel(11, 50, 90)], CTRL=[(1, 11)], SYNC=[(11, 1)])

    assert deps(rank) == {1: [], 11: [1]}
    assert dependencies(rank).left_out == {"SYNC that closes a cycle": 1}


def test_a_recorded_edge_to_a_runtime_call_stands_for_the_op_that_made_it() -> None:
    """Runtime calls are no nodes of the file; edges to records that are folded nowhere are counted."""
    rank = rank_of(
        [timed(1, 0, 10), timed(2, 50, 90)],
        kernels=[kernel(11, 5, 40)],
        launches=[{"uid": 21, "start_ns": 55}],
        CTRL=[(1, 11), (2, 21)],
        SYNC=[(11, 21), (11, 99), (21, 2)],
    )

    assert deps(rank)[2] == [1, 11]
    assert dependencies(rank).left_out == {
        "edge to or from a record that is no node of the file": 1,
        "edge between records that are one node of the file": 1,
    }


def test_a_rank_without_device_ops_and_one_without_host_ops_have_an_order() -> None:
    """Either side may be empty."""
    assert order(rank_of([timed(1, 0, 1)])) == [1]
    assert order(rank_of([], kernels=[kernel(1, 3, 4), kernel(2, 1, 2)])) == [2, 1]


# --- every rank ---------------------------------------------------------------------------------------------


@st.composite
def ranks(draw: st.DrawFn) -> RankColumns:
    """Any rank: timed and untimed ops, wrong trees, launches, streams, waits in any direction."""
    numbers = st.integers(0, 60)
    n_host, n_kernel = draw(st.integers(0, 12)), draw(st.integers(0, 8))
    host: list[dict[str, Any]] = []
    for uid in range(1, n_host + 1):
        start, tid = draw(numbers), draw(st.integers(1, 2))
        has_time = draw(st.booleans())
        thread, node_id = draw(st.integers(1, 2)), draw(st.sampled_from([-1, uid, uid + 3]))
        end = start + draw(st.integers(0, 20))
        host.append(
            timed(uid, start, end, thread=thread, tid=tid, node_id=node_id)
            if has_time
            else op(uid, tid=tid, node_id=draw(st.integers(1, 20)))
        )
    kernels: list[dict[str, Any]] = [
        kernel(100 + k, start := draw(numbers), start + draw(st.integers(0, 9)), draw(st.integers(-1, 1)))
        for k in range(n_kernel)
    ]
    launches = [
        {"uid": 200 + k, "start_ns": draw(numbers), "process": 1, "thread": 1} for k in range(n_kernel)
    ]
    ops, device = [row["uid"] for row in host], [row["uid"] for row in kernels]
    everything = [*ops, *device, *[row["uid"] for row in launches]]
    ends = st.sampled_from(everything or [0])
    ctrl = {
        child: draw(st.sampled_from(ops))
        for child in [*ops, *range(200, 200 + n_kernel)]
        if len(ops) > 1 and draw(st.booleans())
    }
    made = [(200 + k, 100 + k) for k in range(n_kernel) if draw(st.booleans())]
    return rank_of(
        host,
        kernels,
        launches,
        CTRL=[(parent, child) for child, parent in ctrl.items() if parent != child],
        LAUNCHES=made,
        SYNC=draw(st.lists(st.tuples(ends, ends), max_size=6)),
    )


def edges_of(plan: Dependencies) -> list[tuple[int, int]]:
    """Return (dep, node) of every ctrl and data dep, as places."""
    ctrl = [(int(parent), child) for child, parent in enumerate(plan.ctrl) if parent >= 0]
    data = [
        (int(dep), node)
        for node in range(len(plan.ctrl))
        for dep in plan.data[plan.data_first[node] : plan.data_first[node + 1]]
    ]
    return ctrl + data


@given(ranks())
@settings(max_examples=200, deadline=None)
def test_every_dep_of_every_rank_points_back_and_is_named_once(rank: RankColumns) -> None:
    """Whatever the traces say, the file is acyclic by construction and repeats nothing."""
    plan = dependencies(rank)

    assert sorted(plan.order.tolist()) == list(range(len(uids(rank))))
    assert all(plan.number[dep] < plan.number[node] for dep, node in edges_of(plan))
    lists = [plan.data[plan.data_first[n] : plan.data_first[n + 1]].tolist() for n in range(len(plan.ctrl))]
    assert all(len(found) == len(set(found)) for found in lists)
    assert plan.data_first[-1] == len(plan.data)


@given(ranks())
@settings(max_examples=100, deadline=None)
def test_threads_and_streams_of_every_rank_are_chains_in_the_order_of_starts(rank: RankColumns) -> None:
    """Timed ops of a thread, and device ops of a stream, reach each other in order over data deps alone."""
    plan = dependencies(rank)
    before: list[set[int]] = [set() for _ in plan.ctrl]
    for node in plan.order:
        for dep in plan.data[plan.data_first[node] : plan.data_first[node + 1]]:
            before[node] |= before[dep] | {int(dep)}
    host, kernels = rank.host.to_dicts(), rank.kernels.to_dicts()
    lanes = [
        (a, b)
        for a, x in enumerate(host)
        for b, y in enumerate(host)
        if min(x["duration_ns"], y["duration_ns"]) >= 0
        and x["thread"] == y["thread"]
        and x["start_ns"] < y["start_ns"]
    ]
    streams = [
        (a + len(host), b + len(host))
        for a, x in enumerate(kernels)
        for b, y in enumerate(kernels)
        if x["stream"] == y["stream"] >= 0 and x["start_ns"] < y["start_ns"]
    ]

    assert all(a in before[b] for a, b in lanes + streams)


@given(ranks())
@settings(max_examples=60, deadline=None)
def test_the_keys_of_another_archive_give_the_same_order(rank: RankColumns) -> None:
    """uids carry the number of the run: adding to all of them changes nothing that is written."""

    def moved(frame: pl.DataFrame) -> pl.DataFrame:
        keys = [name for name in ("uid", "source", "target") if frame.schema.get(name) == pl.Int64]
        return frame.with_columns(pl.col(keys) + (7 << 32))

    frames = (moved(frame) for frame in (rank.host, rank.kernels, rank.launches, rank.edges, rank.calls))
    host, kernels, launches, edges, calls = frames
    other_rank = RankColumns(0, host, kernels, launches, edges, calls, rank.call_ops)

    one, other = dependencies(rank), dependencies(other_rank)

    assert np.array_equal(one.order, other.order)
    assert np.array_equal(one.data, other.data)
    assert np.array_equal(one.ctrl, other.ctrl)
