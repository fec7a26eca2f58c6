"""Where a uid stands among the ops of a rank."""

from __future__ import annotations

import numpy as np

from graphstore.export.order import NONE
from graphstore.export.places import places_in, places_of
from tests.unit.export.ranks import call, kernel, rank_of, timed

RANK = rank_of(
    [timed(1, 0, 10), timed(2, 2, 5)],
    [kernel(11, 6, 7)],
    [call(21, 3, 4), call(22, 8, 9)],
    CTRL=[(1, 2), (2, 21), (1, 11)],
)


def test_host_ops_come_first_then_device_ops() -> None:
    """By uid; a runtime call is no node, so it stands for the op that made it, if one did."""
    places, uids = places_of(RANK), np.array([1, 2, 11, 21, 22, 99])

    assert places.node(uids).tolist() == [0, 1, 2, NONE, NONE, NONE]
    assert places.node_or_caller(uids).tolist() == [0, 1, 2, 1, NONE, NONE]


def test_parents_and_callers_are_those_recorded() -> None:
    """Per host and device op the op above, per call the op around."""
    places = places_of(RANK)

    assert places.ctrl.tolist() == [NONE, 0, 0]
    assert places.caller.tolist() == [1, NONE]


def test_nothing_is_found_among_nothing() -> None:
    """A rank without device ops."""
    assert places_in(np.array([], np.int64), np.array([4])).tolist() == [NONE]
