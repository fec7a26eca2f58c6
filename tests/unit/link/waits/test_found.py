"""Waits as they are gathered."""

from __future__ import annotations

import numpy as np

from graphstore.link.waits.found import CALL, KERNEL, SCHEMA, Found


def test_of_two_rules_for_one_pair_the_first_stands() -> None:
    """Strong rules are asked first; the same two rows of other labels are another pair."""
    found, rows = Found(), np.array([4], np.int64)
    found.add("strong", (KERNEL, rows), (CALL, rows))
    found.add("weak", (KERNEL, rows), (CALL, rows))
    found.add("other", (KERNEL, rows), (KERNEL, rows))

    assert found.frame()["rule"].to_list() == ["strong", "other"]


def test_what_is_not_kept_is_counted_by_rule() -> None:
    """A wait against the times is no edge, but a number."""
    found = Found()
    found.add("r", (KERNEL, np.array([1, 2])), (CALL, np.array([3, 4])), np.array([True, False]))

    assert found.frame().rows() == [(KERNEL, 1, CALL, 3, "r")]
    assert found.left_out == {"r": 1}


def test_nothing_found_is_a_frame_with_its_columns() -> None:
    """Callers need no special case."""
    assert dict(Found().frame().schema) == SCHEMA
