"""Short pieces are joined to what ran before them; the timing stays."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphstore.export.columns import RankColumns
from graphstore.export.compact import compact
from graphstore.export.fit import fitted
from graphstore.export.pieces import FIRST, pieces
from graphstore.export.replay import unlimited
from tests.unit.export.ranks import call, kernel, rank_of, timed


def us(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row given in µs."""
    return row | {name: round(row[name] * 1_000) for name in ("start_ns", "duration_ns")}


def joined(columns: RankColumns, whole: tuple[int, ...] = ()) -> list[tuple[float, float]]:
    """Return start and end (µs) of the pieces of a rank without device ops, short ones joined."""
    exact = pieces(columns)
    found = compact(exact, np.isin(exact.place, whole))
    order = np.argsort(found.kept.number)
    return list(zip((found.start[order] / 1_000).tolist(), (found.end[order] / 1_000).tolist(), strict=True))


def test_a_rest_of_at_most_10_us_is_joined_to_the_op_before_it() -> None:
    """Op 1 goes on from 30 to 40 behind op 2: 10 µs that op 2's node takes over. 11 µs stay a node."""
    short = rank_of([us(timed(1, 0, 40)), us(timed(2, 10, 30))])
    long = rank_of([us(timed(1, 0, 41)), us(timed(2, 10, 30))])

    assert joined(short) == [(0, 10), (10, 40)]
    assert joined(long) == [(0, 10), (10, 30), (30, 41)]


def test_a_short_gap_is_joined() -> None:
    """Python's own 5 µs between two ops."""
    assert joined(rank_of([us(timed(1, 0, 20)), us(timed(2, 25, 40))])) == [(0, 25), (25, 40)]


def test_nothing_is_joined_across_a_launch() -> None:
    """The device op waits for the cut at 12; joined, it would start 8 µs late."""
    columns = rank_of(
        [us(timed(1, 0, 20))],
        [us(kernel(11, 14, 30))],
        [us(call(21, 10, 12))],
        CTRL=[(1, 21)],
        LAUNCHES=[(21, 11)],
    )

    assert (0, 12) in joined(columns)
    assert (12, 20) in joined(columns)


def test_nothing_is_joined_to_a_communication() -> None:
    """Its node says how long the call took: op 2 (place 1) keeps its end, and the rest stays a node."""
    columns = rank_of([us(timed(1, 0, 40)), us(timed(2, 10, 35))])

    assert joined(columns, whole=(1,)) == [(0, 10), (10, 35), (35, 40)]


@given(st.lists(st.tuples(st.integers(0, 300), st.integers(1, 120), st.integers(1, 2)), max_size=12))
def test_every_op_keeps_its_first_piece_and_the_replay_its_span(ops: list[tuple[int, int, int]]) -> None:
    """Compact is a smaller file of the same timing, whatever the ops."""
    columns = rank_of(
        [us(timed(n, start, start + length, thread=thread)) for n, (start, length, thread) in enumerate(ops)]
    )
    exact = pieces(columns)
    small = compact(exact, np.zeros(len(exact.place), np.bool_))
    nodes, fewer = fitted(exact), fitted(small)

    assert sorted(small.place[small.kind == FIRST].tolist()) == list(range(len(ops)))
    assert len(fewer.start) <= len(nodes.start)
    spans = [
        int((unlimited(each.end - each.start, each.deps) + each.end - each.start).max(initial=0))
        for each in (nodes, fewer)
    ]
    assert spans[0] == spans[1]
