"""Pieces of threads: cut, and without what was waiting."""

from __future__ import annotations

import numpy as np
import pytest

from graphstore.export.lanes import Lanes
from graphstore.export.order import NEVER, NONE
from graphstore.link.segments import GAP


def ints(*values: int) -> np.ndarray:
    """Return a column."""
    return np.array(values, np.int64)


def line(*pieces: tuple[int, int, int, int, bool]) -> Lanes:
    """Return pieces given as (lane, start, end, owner, opens)."""
    lane, start, end, owner, opens = (np.array([p[k] for p in pieces]) for k in range(5))
    return Lanes(lane, start, end, owner, opens)


def shown(found: Lanes) -> list[tuple[int, int, int, int, bool]]:
    """Return the pieces as given."""
    columns = (found.lane, found.start, found.end, found.owner, found.opens)
    return list(zip(*(column.tolist() for column in columns), strict=True))


# Lane 0: op 0, a gap, op 1 round op 2 of no length. Lane 1: op 3.
OPS = (
    (0, 0, 10, 0, True),
    (0, 10, 30, GAP, False),
    (0, 30, 50, 1, True),
    (0, 50, 50, 2, True),
    (0, 50, 90, 1, False),
    (1, 5, 95, 3, True),
)


def test_a_cut_inside_a_piece_makes_two_of_it() -> None:
    """Only the first of them opens the op."""
    found = line(*OPS).cut(ints(0, 1), ints(40, 40))

    assert shown(found)[2:4] == [(0, 30, 40, 1, True), (0, 40, 50, 1, False)]
    assert shown(found)[-2:] == [(1, 5, 40, 3, True), (1, 40, 95, 3, False)]
    assert len(found.lane) == len(OPS) + 2


def test_cuts_at_edges_outside_and_twice_change_nothing_more() -> None:
    """Where a piece begins or ends it is cut already; before and behind all pieces there is nothing."""
    found = line(*OPS).cut(ints(0, 0, 0, 0, 1, 1, 1, 7), ints(-1, 30, 50, 90, 4, 60, 60, 60))

    assert len(found.lane) == len(OPS) + 1


def test_a_cut_where_a_lane_begins_makes_a_piece_of_no_length() -> None:
    """What is launched at that very moment follows it, and not all that the thread does first."""
    found = line(*OPS).cut(ints(1, 0), ints(5, 0))

    assert shown(found)[:2] == [(0, 0, 0, 0, True), (0, 0, 10, 0, False)]
    assert shown(found)[-2:] == [(1, 5, 5, 3, True), (1, 5, 95, 3, False)]
    assert shown(found.cut(ints(1), ints(5))) == shown(found)


def test_several_cuts_of_one_piece_follow_each_other() -> None:
    """They are given in any order."""
    found = line((0, 0, 100, 0, True)).cut(ints(0, 0, 0), ints(80, 20, 50))

    assert [(start, end) for _, start, end, _, _ in shown(found)] == [(0, 20), (20, 50), (50, 80), (80, 100)]
    assert found.opens.tolist() == [True, False, False, False]


def test_what_was_waiting_is_taken_out() -> None:
    """From 10 to 30: the gap is gone, nothing else."""
    found = line(*OPS).without(ints(0), ints(10), ints(30))

    assert shown(found) == [OPS[0], *OPS[2:]]


def test_a_wait_that_begins_never_is_the_one_piece_before_its_end() -> None:
    """The gap again; op 0 before it stays."""
    found = line(*OPS).without(ints(0), ints(NEVER), ints(30))

    assert shown(found) == [OPS[0], *OPS[2:]]


def test_the_first_piece_of_an_op_is_never_taken_out_but_lasts_no_time() -> None:
    """Every op is a node of the file."""
    found = line(*OPS).without(ints(0), ints(30), ints(50))

    assert shown(found)[:4] == [*OPS[:2], (0, 30, 30, 1, True), (0, 50, 50, 2, True)]


def test_a_thread_that_began_an_op_was_not_waiting_yet() -> None:
    """A wait said to go from 0 to 50 is one from 30 on, where op 1 began."""
    found = line(*OPS).without(ints(0), ints(0), ints(50))

    assert shown(found)[:3] == [*OPS[:2], (0, 30, 30, 1, True)]


def test_an_op_of_no_length_where_a_wait_ends_is_not_the_wait() -> None:
    """Op 2 stands at 50, the wait is the piece of op 1 before."""
    found = line(*OPS).without(ints(0), ints(NEVER), ints(50))

    assert shown(found)[2:5] == [(0, 30, 30, 1, True), (0, 50, 50, 2, True), (0, 50, 90, 1, False)]


def test_a_wait_whose_end_is_no_edge_takes_nothing_out() -> None:
    """It was to be cut there first; a lane without pieces has no waits."""
    assert shown(line(*OPS).without(ints(0, 7), ints(NEVER, NEVER), ints(45, 30))) == list(OPS)


def test_only_gaps_are_taken_out_as_gaps() -> None:
    """Time before a worker was woken is none; an op is always work."""
    everything = np.ones(len(OPS), np.bool_)

    assert shown(line(*OPS).without_gaps(everything)) == [OPS[0], *OPS[2:]]


@pytest.mark.parametrize(("time", "piece"), [(9, NONE), (10, 0), (29, 0), (30, 1), (50, 3), (95, 4)], ids=str)
def test_the_last_piece_that_has_ended(time: int, piece: int) -> None:
    """Of its lane; among those that end together the last."""
    assert line(*OPS).ending(ints(0), ints(time)).tolist() == [piece]


@pytest.mark.parametrize(("time", "piece"), [(0, 0), (1, 1), (50, 3), (51, NONE)], ids=str)
def test_the_first_piece_that_starts_no_earlier(time: int, piece: int) -> None:
    """Of its lane; among those that start together the first."""
    assert line(*OPS).starting(ints(0), ints(time)).tolist() == [piece]


def test_first_pieces_are_told_by_op() -> None:
    """An op on no lane has none."""
    assert line(*OPS).first_pieces(5).tolist() == [0, 2, 3, 5, NONE]
