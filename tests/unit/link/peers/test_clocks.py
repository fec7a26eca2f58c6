from __future__ import annotations

import polars as pl

from graphstore.link.peers.clocks import clock_bounds
from tests.data.transfers import Meeting, Program, traces

PAIRS = pl.DataFrame({"src": [0, 1], "dst": [1, 0]})


def bounds(*meetings: Meeting, clocks: dict[int, int]) -> dict[tuple[int, int], int]:
    """Return {(src, dst): by how much the clock of dst is ahead at least}."""
    graphs, places, _ = traces(Program({"0": [0, 1]}, [], meetings, clocks))
    found = clock_bounds(graphs, places, PAIRS)
    return {(src, dst): ahead for src, dst, ahead in found.iter_rows()}


def test_nobody_leaves_before_everybody_has_entered() -> None:
    """Rank 1 is 1,000 ahead. It entered at 100, rank 0 left at 150: ahead by 950 or more; and by 1,060 or
    less, for rank 0 entered at 90 what rank 1 left at 150."""
    found = bounds(Meeting({0: (90, 150), 1: (100, 150)}), clocks={1: 1_000})

    assert found == {(0, 1): 950, (1, 0): -1_060}


def test_the_tightest_collective_counts() -> None:
    """One of 60, one of 4."""
    wide, narrow = Meeting({0: (90, 150), 1: (100, 150)}), Meeting({0: (200, 204), 1: (200, 204)})

    assert bounds(wide, narrow, clocks={1: 1_000}) == {(0, 1): 996, (1, 0): -1_004}


def test_without_numbered_collectives_nothing_bounds_the_clocks() -> None:
    """Those of gloo's traces alone have none."""
    assert bounds(clocks={}) == {}
