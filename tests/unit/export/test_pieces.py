"""The nodes of a file: where threads are cut, what is no work, and what each node waits for."""

from __future__ import annotations

import numpy as np
import pytest

from graphstore.export.columns import RankColumns
from graphstore.model.markers import GROUP_INIT
from tests.unit.export.ranks import PROCESS_ROOT, THREAD_ROOT, call, kernel, named, op, rank_of, timed

WAITS = "host_wait.certain"


def test_ops_of_a_thread_follow_each_other_by_start() -> None:
    """4.1: each piece after the one before; where two begin together, the longer one encloses the other."""
    found = named(rank_of([timed(1, 40, 60), timed(2, 0, 40), timed(3, 0, 100), timed(4, 0, 10, thread=2)]))

    assert found.deps == {"3": [], "4": [], "2": ["3"], "1": ["2"], "3+60": ["1"]}
    assert found.times["3"] == (0, 0)


def test_an_op_is_written_in_the_pieces_that_are_its_own() -> None:
    """4.3: its time stays where it was, before, between and behind what it encloses."""
    found = named(rank_of([timed(1, 0, 100), timed(2, 20, 30), timed(3, 50, 90)]))

    assert found.times == {
        "1": (0, 20),
        "2": (20, 30),
        "1+30": (30, 50),
        "3": (50, 90),
        "1+90": (90, 100),
    }


def test_time_of_no_op_is_a_piece_of_its_own() -> None:
    """4.4: it is Python's, so it is work."""
    found = named(rank_of([timed(1, 0, 10), timed(2, 30, 40)]))

    assert found.times == {"1": (0, 10), "gap@10": (10, 30), "2": (30, 40)}
    assert found.deps["2"] == ["gap@10"]


def test_a_call_outside_all_ops_stretches_the_time_of_its_thread() -> None:
    """What launches before the first op, or behind the last, has a piece to follow."""
    rank = rank_of(
        [timed(1, 20, 30)],
        [kernel(11, 10, 15), kernel(12, 60, 70)],
        [call(21, 5, 8), call(22, 40, 50)],
        LAUNCHES=[(21, 11), (22, 12)],
    )

    found = named(rank)

    assert [time for name, time in found.times.items() if name.startswith("gap")] == [
        (5, 8),
        (8, 20),
        (30, 50),
    ]
    assert (found.deps["11"], found.deps["12"]) == (["gap@5"], ["11", "gap@30"])


def test_ops_without_times_follow_by_node_id_on_their_tid() -> None:
    """Without Kineto, ids rise with the start: each op after the op before it of that tid."""
    found = named(
        rank_of(
            [
                op(1, PROCESS_ROOT, node_id=1, tid=1),
                op(2, node_id=9, tid=1),
                op(3, node_id=4, tid=1),
                op(4, node_id=6, tid=2),
                op(5, THREAD_ROOT, node_id=2, tid=1),
            ],
            CTRL=[(1, 5), (5, 3), (5, 2), (1, 4)],
        )
    )

    assert found.deps == {"1": [], "5": ["1"], "3": ["5"], "2": ["3"], "4": ["1"]}
    assert not found.cut.timed.any()


def test_an_op_without_times_is_a_piece_of_no_length_beside_its_neighbour() -> None:
    """A half-matched trace keeps its order: ids place what Kineto does not show."""
    found = named(
        rank_of(
            [
                op(1, "before", node_id=1, tid=5),
                timed(2, 100, 200, node_id=3, tid=5),
                op(3, node_id=4, tid=5),
                timed(4, 150, 160, node_id=6, tid=5),
                timed(5, 0, 10, node_id=8, tid=6, thread=2),
            ]
        )
    )

    assert [name for name in found.times if "+" not in name] == ["5", "1", "2", "3", "4"]
    assert found.deps["2"] == ["1"]
    assert found.deps["4"] == ["2+100"]
    assert found.times["3"] == (100, 100)


def test_roots_come_first_though_a_repair_hangs_an_earlier_op_below_them() -> None:
    """A restored ProfilerStep has no tid and begins before the first op that has the thread root's."""
    found = named(
        rank_of(
            [
                op(1, PROCESS_ROOT, node_id=1, tid=1),
                op(2, THREAD_ROOT, node_id=2, tid=1),
                timed(3, 0, 100, "ProfilerStep#1", node_id=4),
                timed(4, 10, 20, node_id=5, tid=1),
            ],
            CTRL=[(1, 2), (2, 3), (3, 4)],
        )
    )

    assert list(found.times) == ["1", "2", "3", "4", "3+20"]
    assert found.parents == {"2": "1", "3": "2", "4": "3"}


def test_group_metadata_is_no_work_and_nothing_waits_for_it() -> None:
    """process_group:init keeps its place in the tree; data deps go round it."""
    found = named(
        rank_of(
            [
                op(1, PROCESS_ROOT, node_id=1, tid=1),
                op(2, THREAD_ROOT, node_id=2, tid=1),
                op(3, GROUP_INIT, node_id=3, tid=1),
                op(4, node_id=4, tid=1),
            ],
            CTRL=[(1, 2), (2, 3), (2, 4)],
        )
    )

    assert found.deps == {"1": [], "2": ["1"], "4": ["2"], "3": []}
    assert found.parents["3"] == "2"


def launched(call_end: int = 60, start: int = 80) -> RankColumns:
    """Return an op 0-100 with a call 50 to `call_end` that launches a device op at `start`."""
    return rank_of(
        [timed(1, 0, 100)],
        [kernel(11, start, start + 50)],
        [call(21, 50, call_end)],
        CTRL=[(1, 21)],
        LAUNCHES=[(21, 11)],
    )


def test_a_device_op_follows_the_piece_that_ends_with_its_launch() -> None:
    """4.5: the call is cut at its end; the ctrl dep names the op that launched."""
    found = named(launched())

    assert found.times == {"1": (0, 60), "1+60": (60, 100), "11": (80, 130)}
    assert found.deps == {"1": [], "1+60": ["1"], "11": ["1"]}
    assert found.parents == {"11": "1"}


def test_a_device_op_that_starts_within_its_call_follows_the_piece_up_to_there() -> None:
    """The call goes on while the device op runs."""
    found = named(launched(call_end=90, start=70))

    assert found.times["1"] == (0, 70)
    assert found.deps["11"] == ["1"]


def test_a_clock_of_the_device_that_runs_early_does_not_put_it_before_its_launch() -> None:
    """The launch stands whatever the clocks say: the piece before the call began is waited for."""
    found = named(launched(start=40))

    assert found.times["1"] == (0, 50)
    assert found.deps["11"] == ["1"]
    assert list(found.times) == ["1", "11", "1+50"]


def test_a_launch_as_its_thread_begins_waits_for_nothing_of_it() -> None:
    """Whole µs: the call begins and ends with the first op. What the op does behind it is not waited for."""
    rank = rank_of(
        [timed(1, 0, 100)], [kernel(11, 20, 90)], [call(21, 0, 0)], CTRL=[(1, 21)], LAUNCHES=[(21, 11)]
    )

    found = named(rank)

    assert found.times == {"1": (0, 0), "1+0": (0, 100), "11": (20, 90)}
    assert found.deps["11"] == ["1"]


def test_all_device_ops_of_a_graph_hang_off_its_call() -> None:
    """The stream orders them."""
    rank = rank_of(
        [timed(1, 0, 100)],
        [kernel(11, 70, 80), kernel(12, 80, 90), kernel(13, 75, 95, stream=8)],
        [call(21, 50, 60)],
        LAUNCHES=[(21, 11), (21, 12), (21, 13)],
    )

    found = named(rank)

    assert (found.deps["11"], found.deps["12"], found.deps["13"]) == (["1"], ["1", "11"], ["1"])


def test_a_merged_trace_names_the_op_that_launched() -> None:
    """No call is known: the op is cut where the device op starts, at its end at the latest."""
    found = named(rank_of([timed(1, 0, 100), timed(2, 100, 150)], [kernel(11, 120, 130)], CTRL=[(1, 11)]))

    assert found.deps["11"] == ["1"]
    assert found.parents == {"11": "1"}


def test_a_launch_without_a_known_thread_follows_the_op_that_made_the_call() -> None:
    """Its first piece, for want of anything better."""
    rank = rank_of(
        [timed(1, 0, 100)],
        [kernel(11, 120, 130)],
        [{"uid": 21, "start_ns": 50, "duration_ns": 5}],
        CTRL=[(1, 21)],
        LAUNCHES=[(21, 11)],
    )

    assert named(rank).deps["11"] == ["1"]


def test_device_ops_of_a_stream_follow_each_other() -> None:
    """4.6: by start; those of no known stream follow their launch alone."""
    found = named(
        rank_of([], [kernel(11, 5, 9), kernel(12, 0, 5), kernel(13, 9, 10, -1), kernel(14, 9, 9, 8)])
    )

    assert found.deps == {"12": [], "11": ["12"], "13": [], "14": []}
    assert found.cut.streams == 2


def waiting(call_start: int, awaited_end: int, call_end: int) -> RankColumns:
    """Return an op 0-100 in which a call waits for a device op that ends at `awaited_end`."""
    return rank_of(
        [timed(1, 0, 100)],
        [kernel(11, 5, awaited_end)],
        [call(21, 1, 3), call(22, call_start, call_end)],
        CTRL=[(1, 21), (1, 22)],
        LAUNCHES=[(21, 11)],
        SYNC=[(11, 22, WAITS)],
    )


def test_the_time_a_call_waits_is_cut_out() -> None:
    """4.11: up to the call it works, from the end of what it awaited on it works again."""
    found = named(waiting(20, 70, 80))

    assert found.times == {"1": (0, 3), "1+3": (3, 20), "11": (5, 70), "1+70": (70, 100)}
    assert found.deps["1+70"] == ["1+3", "11"]
    assert found.rules["11", "1+70"] == WAITS
    assert found.resumes == ["1+70"]


def test_a_call_whose_awaited_op_has_ended_before_waits_no_time() -> None:
    """From max(awaited end, call start): nothing is cut out, and the edge is there."""
    found = named(waiting(60, 40, 80))

    assert found.times == {"1": (0, 3), "1+3": (3, 60), "11": (5, 40), "1+60": (60, 100)}
    assert found.deps["1+60"] == ["1+3", "11"]


def test_a_call_waits_for_the_last_of_several() -> None:
    """Two streams: it goes on when the later one has ended, and depends on both."""
    rank = rank_of(
        [timed(1, 0, 100)],
        [kernel(11, 5, 40), kernel(12, 5, 70, stream=8)],
        [call(22, 20, 80)],
        SYNC=[(11, 22, WAITS), (12, 22, WAITS)],
    )

    found = named(rank)

    assert found.deps["1+70"] == ["1", "11", "12"]
    assert found.times["1"] == (0, 20)


def test_a_copy_call_works_up_to_its_release_and_waits_from_there() -> None:
    """Its own copy: 20-30 it works, 30-70 the copy runs, then it returns."""
    rank = rank_of(
        [timed(1, 0, 100)],
        [kernel(11, 30, 70)],
        [call(21, 20, 75)],
        CTRL=[(1, 21)],
        LAUNCHES=[(21, 11)],
        SYNC=[(11, 21, WAITS)],
    )

    found = named(rank)

    assert found.times == {"1": (0, 30), "11": (30, 70), "1+70": (70, 100)}
    assert found.deps == {"1": [], "11": ["1"], "1+70": ["1", "11"]}


def test_an_op_that_does_nothing_but_wait_keeps_a_first_piece() -> None:
    """Each op is a node: what is left of it lasts no time."""
    rank = rank_of(
        [timed(1, 0, 20), timed(2, 20, 70), timed(3, 70, 90)],
        [kernel(11, 5, 70)],
        [call(22, 20, 70)],
        SYNC=[(11, 22, WAITS)],
    )

    found = named(rank)

    assert found.times["2"] == (20, 20)
    assert found.deps["3"] == ["11", "2"]


def test_a_wait_that_ends_where_an_op_of_no_length_stands_is_cut_out_all_the_same() -> None:
    """Whole-µs files are full of ops of no length: one that begins as the wait ends hides nothing."""
    rank = rank_of(
        [
            timed(1, 0, 10, "c10d::barrier"),
            timed(3, 10, 100, "sync"),
            timed(4, 70, 70),
            timed(2, 5, 70, "gloo:barrier", thread=2),
        ],
        SYNC=[(2, 3, "worker_done.likely")],
        call_ops=[("host_op", 31, 1), ("worker", 31, 2)],
    )

    found = named(rank)

    assert found.times["3"] == (10, 10)
    assert found.deps["4"] == ["2", "3"]


def test_a_thread_that_hands_its_work_over_waits_until_it_takes_it_back() -> None:
    """4.12: up to the worker's start it works, then from the worker's end on; the worker's gap is dropped."""
    rank = rank_of(
        [timed(1, 0, 50), timed(2, 200, 250), timed(3, 0, 10, thread=2), timed(4, 60, 190, thread=2)],
        SYNC=[(1, 4, "hand_over.likely"), (4, 2, "hand_back.likely")],
    )

    found = named(rank)

    assert found.times == {
        "1": (0, 50),
        "3": (0, 10),
        "gap@50": (50, 60),
        "4": (60, 190),
        "gap@190": (190, 200),
        "2": (200, 250),
    }
    assert found.deps["4"] == ["3", "gap@50"]
    assert found.deps["gap@190"] == ["4", "gap@50"]
    assert found.resumes == ["4", "gap@190"]


def test_a_call_is_cut_where_its_worker_begins() -> None:
    """4.13: the worker waits for the piece that ends there, and its own gap is no work."""
    rank = rank_of(
        [
            timed(2, 10, 50, "c10d::allreduce_"),
            timed(4, 0, 5, "gloo:broadcast", thread=2),
            timed(3, 30, 80, "gloo:all_reduce", thread=2),
        ],
        call_ops=[("host_op", 31, 2), ("worker", 31, 3)],
    )

    found = named(rank)

    assert found.times["2"] == (10, 30)
    assert found.deps["3"] == ["2", "4"]
    assert "gap@5" not in found.times


def test_a_worker_that_begins_behind_its_call_waits_for_its_end() -> None:
    """The call returned at once."""
    rank = rank_of(
        [timed(2, 10, 20, "c10d::allreduce_"), timed(3, 30, 80, "gloo:all_reduce", thread=2)],
        call_ops=[("host_op", 31, 2), ("worker", 31, 3)],
    )

    assert named(rank).deps["3"] == ["2"]


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

    assert named(rank).deps["3"] == ["2"]


def test_a_thread_waits_for_the_op_of_its_worker() -> None:
    """4.13: the piece before the worker's end is waiting, the one behind goes on."""
    rank = rank_of(
        [
            timed(1, 0, 10, "c10d::barrier"),
            timed(3, 20, 100, "sync"),
            timed(2, 5, 70, "gloo:barrier", thread=2),
        ],
        call_ops=[("host_op", 31, 1), ("worker", 31, 2)],
        SYNC=[(2, 3, "worker_done.likely")],
    )

    found = named(rank)

    assert found.times["3"] == (20, 20)
    assert found.times["3+70"] == (70, 100)
    assert found.deps["3+70"] == ["2", "3"]


def test_an_op_of_a_thread_nobody_woke_follows_what_ended_before() -> None:
    """4.13, thread_start: from the end of one op to the first piece of the other."""
    rank = rank_of(
        [timed(1, 0, 10), timed(2, 10, 90), timed(3, 30, 40, thread=2)],
        SYNC=[(1, 3, "thread_start.timing")],
    )

    assert named(rank).deps["3"] == ["1"]


def test_a_thread_that_begins_with_a_gap_follows_what_ended_before() -> None:
    """It has calls but no op before its first: nothing else says when it began."""
    rank = rank_of(
        [timed(1, 0, 10), timed(2, 50, 60, thread=2)],
        [kernel(11, 35, 40)],
        [call(21, 30, 33, thread=2)],
        LAUNCHES=[(21, 11)],
    )

    found = named(rank)

    assert found.deps["gap@30"] == ["1"]
    assert found.rules["1", "gap@30"] == "thread_start.timing"


def test_a_device_op_waits_for_one_of_another_stream() -> None:
    """4.7, 4.8, 4.10: from the end of the one to the start of the other."""
    rank = rank_of(
        [], [kernel(11, 0, 50), kernel(12, 60, 70, stream=8)], SYNC=[(11, 12, "stream_wait.recorded")]
    )

    assert named(rank).deps["12"] == ["11"]


def test_a_wait_against_the_times_is_left_out_and_counted() -> None:
    """The source runs on when the target has long started."""
    kernels = [kernel(11, 0, 5_000), kernel(12, 3_000, 7_000, stream=8)]
    rank = rank_of([], kernels, SYNC=[(11, 12, "collective_wait.likely")])

    found = named(rank)

    assert found.deps["12"] == []
    assert found.cut.kept.left_out == {"collective_wait.likely that ends after what waits for it starts": 1}


def test_a_recorded_edge_to_an_op_that_runs_on_is_waited_for_inside() -> None:
    """A merged trace says which op waited, not when: it is cut where what it waits for has ended."""
    found = named(
        rank_of(
            [timed(1, 0, 10), timed(2, 20, 100)],
            [kernel(11, 12, 90)],
            CTRL=[(1, 11)],
            SYNC=[(11, 2, "sync_dep")],
        )
    )

    assert found.times["2"] == (20, 90)
    assert found.deps["2+90"] == ["11", "2"]


def test_an_op_may_wait_for_what_it_launched_itself() -> None:
    """One node an op could not say that; pieces can."""
    found = named(
        rank_of([timed(1, 0, 100)], [kernel(11, 50, 90)], CTRL=[(1, 11)], SYNC=[(11, 1, "sync_dep")])
    )

    assert found.deps == {"1": [], "11": ["1"], "1+50": ["1"], "1+90": ["1+50", "11"]}


def test_a_recorded_edge_to_a_runtime_call_stands_for_the_op_that_made_it() -> None:
    """Runtime calls are no nodes of the file."""
    rank = rank_of(
        [timed(1, 0, 10), timed(2, 50, 90)],
        [kernel(11, 5, 40)],
        [call(21, 55, 60)],
        CTRL=[(1, 11), (2, 21)],
        SYNC=[(11, 21, "sync_dep")],
    )

    assert "11" in named(rank).deps["2"]


@pytest.mark.parametrize("edge", [(11, 99), (99, 11)], ids=["to", "from"])
def test_an_edge_to_or_from_a_record_that_is_no_node_is_counted(edge: tuple[int, int]) -> None:
    """A SyncEvent, say: nothing of the file stands for it, and nothing is lost silently."""
    found = named(rank_of([timed(1, 0, 10)], [kernel(11, 5, 40)], SYNC=[(*edge, "sync_dep")]))

    assert found.cut.kept.left_out == {"edge to or from a record that is no node of its own": 1}


def test_a_rank_without_device_ops_and_one_without_host_ops_have_nodes() -> None:
    """Either side may be empty, or both."""
    assert list(named(rank_of([timed(1, 0, 1)])).times) == ["1"]
    assert list(named(rank_of([], [kernel(1, 3, 4), kernel(2, 1, 2)])).times) == ["2", "1"]
    assert named(rank_of([])).times == {}


def test_how_exact_times_are_says_what_contradicts() -> None:
    """Whole µs may be off by one."""
    assert named(rank_of([timed(1, 0, 10_000)])).cut.slack_ns == 1_010
    assert named(rank_of([timed(1, 0, 10), timed(2, 500, 900)])).cut.slack_ns == 50


def test_threads_are_counted_by_what_their_order_follows_from() -> None:
    """A tid without any timed op is its own lane, placed by ids among all others."""
    rank = rank_of([timed(1, 0, 10, tid=1), op(2, node_id=7, tid=2), op(3, node_id=8, tid=2)])

    found = named(rank)

    assert found.deps["3"] == ["2"]
    assert found.cut.threads == {"kineto thread and start": 1, "tid and node id": 1}
    assert np.unique(found.cut.lane).tolist() == [0, 1]


def test_a_worker_that_starts_before_its_call_is_not_tied_to_it_and_counted() -> None:
    """The times contradict it, so something else is wrong with the pair."""
    ops = [timed(1, 50, 90, "c10d::allreduce_"), timed(2, 10, 80, "gloo:all_reduce", thread=2)]

    found = named(rank_of(ops, call_ops=[("host_op", 31, 1), ("worker", 31, 2)]))

    assert "1" not in found.deps["2"]
    assert found.cut.kept.left_out == {"call to its worker that starts before it": 1}
