from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from graphstore.link.call_times import TIMES, CallTimes, Offset, call_times
from graphstore.model.records import RankGraph, complete, edge_frame, node_schema
from tests.data.builders import Row

SCHEMA = {"n": pl.Int64} | node_schema("CollectiveCall")
PLACES = {"rank": pl.Int64, "n": pl.Int64, "group": pl.String, "seq": pl.Int64}


def seen(seq: int, start: int | None, end: int | None = None, **more: Any) -> Row:
    """Return the call of a collective that one kernel was seen of; `of` are other rules of SEEN_AS."""
    length = None if start is None or end is None else end - start
    made = {"seq": seq, "group": "0[0-1]", "collective_kind": "all_reduce", "of": ("kernel",)}
    return made | {"start_ns": start, "duration_ns": length} | more


def told(seq: int, start: int | None, completed: int | None = None, **more: Any) -> Row:
    """Return the call of a collective as a dump tells it: made on the host, ended on the device."""
    return seen(seq, start, completed_ns=completed, of=(), **more)


def times(calls: Mapping[int, Sequence[Row]]) -> CallTimes:
    """Return the times of the calls of each rank; their numbers count from 0."""
    graphs, places = [], []
    for rank, rows in calls.items():
        made = [row | {"n": n, "rank": rank} for n, row in enumerate(rows)]
        frame = pl.DataFrame([{name: row.get(name) for name in SCHEMA} for row in made], schema=SCHEMA)
        ends = [(n, rule) for n, row in enumerate(rows) for rule in row["of"]]
        columns = {"src": [n for n, _ in ends], "dst": [0 for _ in ends], "rule": [rule for _, rule in ends]}
        edges = {"SEEN_AS": edge_frame("SEEN_AS", columns)}
        graphs.append(RankGraph(rank, {"CollectiveCall": complete(frame, SCHEMA)}, edges))
        places += [{name: row[name] for name in PLACES} for row in made]
    return call_times(graphs, pl.DataFrame(places, schema=PLACES))


def waits(found: CallTimes) -> dict[tuple[int, int], int]:
    """Return {(rank, number of the call): its wait}."""
    return {(rank, n): wait for rank, n, wait in found.waits.select("rank", "n", "wait_ns").iter_rows()}


def collectives(found: CallTimes) -> dict[int, tuple[int, int, int | None]]:
    """Return {seq: (skew, last rank, transfer)}."""
    return {seq: tuple(rest) for _, seq, *rest in found.collectives.sort("seq").iter_rows()}


def test_ends_at_one_moment_tell_the_clocks() -> None:
    """Rank 1's clock is 1,000 ahead: it entered 20 later, not 1,020, and the work took the 50 after that."""
    found = times({0: [seen(1, 100, 170)], 1: [seen(1, 1_120, 1_170)]})

    assert found.offsets == {0: Offset(), 1: Offset(1_000, 1, 0)}
    assert waits(found) == {(0, 0): 20, (1, 0): 0}
    assert collectives(found) == {1: (20, 1, 50)}


def test_the_middle_of_the_differences_counts() -> None:
    """One end that was seen late moves no clock."""
    ends = (1_000, 1_000, 5_000)
    found = times(
        {
            0: [seen(n, 100 * n, 100 * n + 50) for n in range(3)],
            1: [seen(n, 100 * n + late, 100 * n + 50 + late) for n, late in enumerate(ends)],
        }
    )

    assert found.offsets[1] == Offset(1_000, 3, 4_000)


def test_ends_in_either_order_are_of_one_clock() -> None:
    """Rank 1 ends 10 later, then 30 earlier: noise, of which nothing is taken off."""
    found = times({0: [seen(1, 0, 50), seen(2, 100, 150)], 1: [seen(1, 20, 60), seen(2, 105, 120)]})

    assert found.offsets[1] == Offset(0, 2, 40)
    assert collectives(found) == {1: (20, 1, 30), 2: (5, 1, 15)}


def test_a_broadcast_tells_no_clock() -> None:
    """Its source may leave before the others have come."""
    found = times({rank: [seen(1, 0, 50 + rank, collective_kind="broadcast")] for rank in (0, 1)})

    assert (found.offsets, waits(found)) == ({}, {(0, 0): 0, (1, 0): 0})


def test_the_host_op_of_a_call_tells_no_end() -> None:
    """It returns while the work goes on; its start is one all the same."""
    found = times({rank: [seen(1, 10 * rank, 50, of=("host_op",))] for rank in (0, 1)})

    assert (found.offsets, collectives(found)) == ({}, {1: (10, 1, None)})


def test_the_end_that_a_dump_tells_counts() -> None:
    """time_discovered_completed of both ranks, 500 apart."""
    found = times({0: [told(1, 0, 100)], 1: [told(1, 510, 600)]})

    assert (found.offsets[1].ns, collectives(found)) == (500, {1: (10, 1, 90)})


def test_of_several_kernels_none_tells_the_end() -> None:
    """A call's span is that of its first kernel; which of them waits for the others is not known."""
    found = times({rank: [seen(1, 10 * rank, 50, of=("kernel", "kernel"))] for rank in (0, 1)})

    assert (found.offsets, collectives(found)) == ({}, {1: (10, 1, None)})


def test_starts_of_a_kernel_and_of_a_call_are_not_compared() -> None:
    """Rank 1's trace lacks the kernel: its call was made 900 before the kernel ran, and it was not early."""
    found = times({0: [seen(1, 1_000, 1_100)], 1: [seen(1, 100, 130, of=("host_op",))]})

    assert (waits(found), collectives(found)) == ({}, {})


def test_what_a_dump_and_a_host_op_say_is_the_host() -> None:
    """An entry is made while its op runs: rank 0 has a trace, rank 1 only a dump."""
    found = times({0: [seen(1, 100, 130, of=("host_op",))], 1: [told(1, 105)]})

    assert waits(found) == {(0, 0): 5, (1, 0): 0}


def test_a_worker_s_op_is_compared_with_workers() -> None:
    """gloo: the worker does the work, and its end is the end."""
    found = times({rank: [seen(1, 10 * rank, 50, of=("host_op", "worker"))] for rank in (0, 1)})

    assert (found.offsets[1], collectives(found)) == (Offset(0, 1, 0), {1: (10, 1, 40)})


def test_ranks_without_a_common_collective_are_reached_over_others() -> None:
    """0 and 1 meet in one group, 1 and 2 in another: 300 and 40 more."""
    found = times(
        {
            0: [seen(1, 0, 100)],
            1: [seen(1, 300, 400), seen(1, 1_300, 1_400, group="1[1-2]")],
            2: [seen(1, 1_340, 1_440, group="1[1-2]")],
        }
    )

    assert {rank: offset.ns for rank, offset in found.offsets.items()} == {0: 0, 1: 300, 2: 340}


def test_ranks_that_meet_nobody_have_no_offset() -> None:
    """Two pairs that never meet: each clock is told against the first pair only."""
    found = times(
        {
            0: [seen(1, 0, 100)],
            1: [seen(1, 300, 400)],
            2: [seen(1, 0, 100, group="1[2-3]")],
            3: [seen(1, 9, 109, group="1[2-3]")],
        }
    )

    assert set(found.offsets) == {0, 1}


def test_a_block_begins_with_its_first_call_and_ends_with_its_last() -> None:
    """Rank 0 made two calls with one number; the wait is that of the first."""
    found = times({0: [seen(1, 0, 20), seen(1, 30, 90)], 1: [seen(1, 10, 90)]})

    assert (waits(found), collectives(found)) == ({(0, 0): 10, (1, 0): 0}, {1: (10, 1, 80)})


def test_one_member_alone_waits_for_nobody() -> None:
    """The other ranks' calls have no start, as in an execution trace, or are not there."""
    found = times({0: [seen(1, 5, 9), seen(2, 20, 30)], 1: [seen(1, None)]})

    assert (found.offsets, waits(found), collectives(found)) == ({}, {}, {})


def test_ends_before_the_last_start_tell_no_transfer() -> None:
    """Ends in either order give no offset, and what ended before all had begun is of another clock."""
    found = times({0: [seen(1, 0, 50), seen(2, 100, 150)], 1: [seen(1, 60, 70), seen(2, 90, 140)]})

    assert collectives(found) == {1: (60, 1, 10), 2: (10, 0, 40)}


def test_without_ranks_or_places_the_tables_are_there() -> None:
    """A run of files that belong to no rank, and one whose calls belong nowhere."""
    for found in (times({}), call_times([], pl.DataFrame(schema=PLACES))):
        assert (found.offsets, found.waits.height, found.collectives.height) == ({}, 0, 0)
        assert dict(found.collectives.schema) == TIMES


@st.composite
def meetings(draw: st.DrawFn) -> dict[int, list[Row]]:
    """Draw 2 to 4 ranks in one to five collectives, an odd number, of one true clock.

    Each collective ends on all ranks within 50 after the last start; some ranks have no call of it.
    """
    world = draw(st.integers(2, 4))
    calls: dict[int, list[Row]] = {rank: [] for rank in range(world)}
    for seq in range(draw(st.sampled_from((1, 3, 5)))):
        starts = [seq * 1_000 + draw(st.integers(0, 300)) for _ in range(world)]
        for rank, start in enumerate(starts):
            calls[rank].append(seen(seq, start, max(starts) + draw(st.integers(0, 50))))
    return calls


def moved(calls: Mapping[int, Sequence[Row]], clocks: Mapping[int, int]) -> dict[int, list[Row]]:
    """Return the calls as ranks with these clocks record them."""
    return {
        rank: [row | {"start_ns": row["start_ns"] + clocks[rank]} for row in rows]
        for rank, rows in calls.items()
    }


@given(meetings(), st.lists(st.integers(0, 10**9), min_size=3, max_size=3))
def test_a_clock_that_is_put_forward_changes_its_offset_and_nothing_else(
    calls: dict[int, list[Row]], more: list[int]
) -> None:
    """All clocks are apart by more than the ends are spread; each is put forward by some constant."""
    apart = {rank: 1_000 * rank for rank in calls}
    later = {rank: apart[rank] + (more[rank - 1] if rank else 0) for rank in calls}

    one, other = times(moved(calls, apart)), times(moved(calls, later))

    assert {rank: offset.ns - one.offsets[rank].ns for rank, offset in other.offsets.items()} == {
        rank: later[rank] - apart[rank] for rank in calls
    }
    assert [offset.spread_ns for offset in one.offsets.values()] == [
        offset.spread_ns for offset in other.offsets.values()
    ]
    assert waits(one) == waits(other)
    assert collectives(one) == collectives(other)


@given(meetings(), st.data())
def test_the_order_of_ranks_changes_nothing(calls: dict[int, list[Row]], data: st.DataObject) -> None:
    """Nor does it matter for waits: none is negative, and in each collective someone waits for nobody."""
    order = data.draw(st.permutations(sorted(calls)))

    one, other = times(calls), times({rank: calls[rank] for rank in order})

    assert (one.offsets, waits(one), collectives(one)) == (other.offsets, waits(other), collectives(other))
    assert min(waits(one).values()) == 0
    for seq, (skew, last, transfer) in collectives(one).items():
        assert skew == max(waits(one)[rank, seq] for rank in calls)
        assert waits(one)[last, seq] == 0
        assert transfer is None or transfer >= 0
