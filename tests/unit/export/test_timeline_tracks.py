from __future__ import annotations

from collections.abc import Iterable

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from graphstore.export.timeline_columns import CPU, GPU, OTHER, THREAD
from graphstore.export.timeline_tracks import Layout, Span, lanes, layout
from graphstore.link.nesting import TOLERANCE_NS

SPANS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 30)), max_size=40)


def spans_of(found: Iterable[tuple[int, int]]) -> list[Span]:
    """Return spans of (start, length), sorted as lanes want them."""
    ordered = sorted((start, -length) for start, length in found)
    return [(place, start, start - length) for place, (start, length) in enumerate(ordered)]


def nests(lane: list[Span]) -> bool:
    """Return whether every span lies in one open before it, or begins when that has ended."""
    open_: list[int] = []
    for _, start, end in lane:
        while open_ and open_[-1] <= start:
            open_.pop()
        if open_ and end > open_[-1]:
            return False
        open_.append(end)
    return True


def frame(rows: list[tuple[int, int, int, int, int]]) -> pl.DataFrame:
    """Return spans as (family, part, number, start, end) of owner 70."""
    names = ("family", "part", "number", "start", "end")
    given = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.Int64), orient="row")
    zero = {name: pl.lit(0, pl.Int64) for name in ("kind", "created", "entered")}
    return given.with_columns(
        owner=pl.lit(70, pl.Int64), uid=pl.int_range(pl.len()), row=pl.int_range(pl.len()), **zero
    )


def of(found: Layout) -> list[tuple[int, ...]]:
    """Return pid, tid, start and end of each span, as written."""
    return found.spans.select("pid", "tid", "start", "end").rows()


@given(SPANS)
def test_every_span_lies_on_one_lane_and_nests_there(found: list[tuple[int, int]]) -> None:
    """However they overlap; none is moved by more than the tolerance, and each keeps start before end."""
    spans = spans_of(found)
    recorded = {place: (start, end) for place, start, end in spans}

    made = list(lanes(spans))

    assert sorted(place for lane in made for place, *_ in lane) == sorted(recorded)
    assert all(map(nests, made))
    for lane in made:
        for place, start, end in lane:
            assert recorded[place][0] <= start <= recorded[place][0] + TOLERANCE_NS
            assert recorded[place][1] - TOLERANCE_NS <= end <= recorded[place][1] + TOLERANCE_NS
            assert start <= end


@given(SPANS)
def test_spans_that_nest_need_one_lane(found: list[tuple[int, int]]) -> None:
    """What the first lane took is taken whole again, unmoved."""
    first = next(lanes(spans_of(found)), [])

    again = list(lanes(first))

    assert again == ([first] if first else [])


def test_a_staircase_is_dealt_out_by_what_is_free() -> None:
    """20,000 spans of which 1,000 overlap at a time need 1,000 lanes, and no lane twice at a time."""
    stairs = [(n, n * 10, n * 10 + 10_000) for n in range(20_000)]

    made = list(lanes(stairs))

    assert sum(map(len, made)) == len(stairs)
    assert len(made) == 1_000
    assert all(map(nests, made))


def test_a_child_that_misses_nesting_by_the_clock_is_moved() -> None:
    """2 ns are the clock's error: it ends with its caller; 3 ns are not, and it gets a lane of its own."""
    assert list(lanes([(0, 0, 10), (1, 5, 12)])) == [[(0, 0, 10), (1, 5, 10)]]
    assert list(lanes([(0, 0, 10), (1, 5, 13)])) == [[(0, 0, 10)], [(1, 5, 13)]]


def test_threads_keep_their_numbers_and_what_overlaps_gets_a_free_one() -> None:
    """A thread number of an execution trace is no thread: it gets a free one, too."""
    spans = frame(
        [(CPU, THREAD, 7, 0, 10), (CPU, THREAD, 7, 5, 15), (CPU, OTHER, 1, 0, 3), (GPU, THREAD, 3, 1, 2)]
    )

    found = layout(4, spans, 11, {(70, THREAD, 7): "thread 7 (python)"}, [])

    assert of(found) == [(11, 7, 0, 10), (11, 8, 5, 15), (11, 9, 0, 3), (12, 3, 1, 2)]
    assert [track.name for track in found.tracks] == [
        "thread 7 (python)",
        "thread 7 (python), overlapping 1",
        "thread 1",
        "stream 3",
    ]
    assert found.processes == {11: "rank 4 CPU (pid 70)", 12: "rank 4 GPU 70"}
    assert (found.marks.pid, found.marks.tid, found.moved) == (11, 10, 0)


def test_a_rank_without_spans_is_still_a_process() -> None:
    """It may have findings, or calls of a dump that never ended."""
    found = layout(0, frame([]), 1, {}, [])

    assert found.processes == {1: "rank 0 CPU"}
    assert found.spans.height == 0
