"""Align two sequences of calls: which calls of one the other skipped, added or replaced (matching.md §6).

In:  two sequences of numbers, equal for equal steps of the program. Out: the edits, in order.
Decided here: a replaced call costs 1.5 of a skipped one; of equally cheap ways the one with the gaps as late
as possible, so that equal calls don't invent an early skip. A gap at the end is lack of progress, no edit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphstore.link.matching.signatures import Ints

SKIPPED, EXTRA, OTHER = "skipped", "extra", "other"
_GAP, _REPLACE = 2, 3


@dataclass(frozen=True)
class Edit:
    """One difference: what happened, and the places in the reference and in the other sequence."""

    action: str
    at: int
    at_other: int


def edits(reference: Ints, other: Ints) -> list[Edit]:
    """Return what makes `other` of `reference`: calls skipped, extra ones, and others in their place.

    What lies behind the end of one of the two is not an edit. Cost: the product of both lengths.
    """
    shorter = min(reference.size, other.size)
    unlike = np.flatnonzero(reference[:shorter] != other[:shorter])
    same = int(unlike[0]) if unlike.size else shorter
    cost = _costs(reference[same:], other[same:])
    found = _walk_back(cost, reference[same:], other[same:])
    ends = (reference.size, other.size)
    shifted = [Edit(edit.action, edit.at + same, edit.at_other + same) for edit in found]
    return [edit for edit in shifted if not _is_trailing(edit, ends)]


def _is_trailing(edit: Edit, ends: tuple[int, int]) -> bool:
    if edit.action == SKIPPED:
        return edit.at_other >= ends[1]
    return edit.action == EXTRA and edit.at >= ends[0]


def _costs(reference: Ints, other: Ints) -> NDArray[np.int32]:
    """Return the table of cheapest costs of all pairs of beginnings."""
    columns = np.arange(other.size + 1, dtype=np.int32) * _GAP
    cost = np.empty((reference.size + 1, other.size + 1), dtype=np.int32)
    cost[0] = columns
    for row in range(1, reference.size + 1):
        above = cost[row - 1]
        best = above + _GAP
        replace = np.where(other == reference[row - 1], 0, _REPLACE)
        best[1:] = np.minimum(best[1:], above[:-1] + replace)
        cost[row] = np.minimum.accumulate(best - columns) + columns  # any number of extra calls in between
    return cost


def _walk_back(cost: NDArray[np.int32], reference: Ints, other: Ints) -> list[Edit]:
    """Return the edits of the cheapest way, gaps as late as possible: from the end, a gap is taken first."""
    found = []
    row, column = reference.size, other.size
    while row or column:
        here = cost[row, column]
        if column and here == cost[row, column - 1] + _GAP:
            column -= 1
            found.append(Edit(EXTRA, row, column))
        elif row and here == cost[row - 1, column] + _GAP:
            row -= 1
            found.append(Edit(SKIPPED, row, column))
        else:
            row, column = row - 1, column - 1
            if reference[row] != other[column]:
                found.append(Edit(OTHER, row, column))
    return found[::-1]
