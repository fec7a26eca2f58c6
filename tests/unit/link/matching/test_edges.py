from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from graphstore.link.matching.edges import (
    COMPLETE,
    COUNTERS,
    ENDED,
    MISSING,
    OPEN,
    UNPROVEN,
    Edge,
    Side,
    settle,
)
from graphstore.link.matching.model import Group
from graphstore.link.matching.reduce import DONE, UNDONE

GROUP = Group("0", "default_pg", (0, 1), (0, 1), "pg_config", True)


def _side(payload: Sequence[int], open_from: int | None = None) -> Side:
    """Return calls of these contents, those from a place on not ended."""
    size, rows = len(payload), np.arange(len(payload), dtype=np.int64)
    state = np.full(size, DONE, dtype=np.int8)
    if open_from is not None:
        state[open_from:] = UNDONE
    codes = rows.astype(np.int32)
    return Side(0, rows, codes, codes, state, rows, rows, rows, rows, np.array(payload, dtype=np.int64))


def _edge(sends: Side, recvs: Side) -> Edge:
    return Edge(GROUP, 0, 1, sends, recvs)


def test_an_edge_starts_with_everything_open() -> None:
    """No offset, no pairs, all calls ambiguous."""
    edge = _edge(_side([4, 4]), _side([4]))

    assert (edge.verdict, edge.ambiguous, edge.pairs()[0].size) == ("AMBIGUOUS", 3, 0)


def test_proof_pairs_all_and_finds_what_has_no_partner() -> None:
    """Two pairs, one of them open on both sides, and a send that nobody takes."""
    edge = _edge(_side([4, 4, 4], open_from=1), _side([4, 4], open_from=1))

    settle(edge, 0, COMPLETE)

    assert (edge.verdict, edge.paired, edge.send_only, edge.in_flight) == ("INCOMPLETE", 2, 1, True)
    assert edge.sends.partner.tolist() == [ENDED, OPEN, MISSING]
    assert edge.recvs.partner.tolist() == [ENDED, OPEN]


@pytest.mark.parametrize(("offset", "pairs"), [(0, [(0, 0)]), (1, [(1, 0)]), (-1, [(0, 1)])])
def test_an_offset_says_which_recv_is_a_sends(offset: int, pairs: list[tuple[int, int]]) -> None:
    """Positive: the first sends have partners that were dropped."""
    edge = _edge(_side([4, 4][: 1 + (offset > 0)]), _side([4, 4][: 1 + (offset < 0)]))

    settle(edge, offset, COUNTERS)

    assert [tuple(map(int, pair)) for pair in zip(*edge.pairs(), strict=True)] == pairs
    assert edge.verdict == "SOLVED"


def test_an_assumption_only_confirms() -> None:
    """Unequal contents, or a recv that ended without its send, refute the offset."""
    unequal, ended = _edge(_side([4]), _side([8])), _edge(_side([4]), _side([4, 4]))

    settle(unequal, 0, COUNTERS)
    settle(ended, 0, COUNTERS)

    for edge in (unequal, ended):
        assert (edge.verdict, edge.offset, edge.how, edge.misfits) == ("AMBIGUOUS", None, None, 0)
        assert set(edge.sends.partner) == {UNPROVEN}


def test_under_an_assumption_calls_left_over_stay_open() -> None:
    """One pair is solved; whether the second send has a recv is not."""
    edge = _edge(_side([4, 4], open_from=1), _side([4]))

    settle(edge, 0, COUNTERS)

    assert (edge.verdict, edge.paired, edge.ambiguous, edge.send_only) == ("AMBIGUOUS", 1, 1, 0)


def test_contents_that_were_not_recorded_are_not_compared() -> None:
    """-1 is equal to anything."""
    edge = _edge(_side([-1, 4]), _side([8, -1]))

    settle(edge, 0, COMPLETE)

    assert edge.verdict == "MATCHED"
