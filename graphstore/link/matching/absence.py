"""Why a member's call is not among the kept ones, as ranges of sequence numbers (matching.md §5).

In:  what is known of a member's dump, and the numbers it kept in the group.
Out: `Range`s that together cover every number the member did not keep.
Decided here: the class of an absent call and its proof. Nothing here depends on another member, except that
of an execution trace a later call must show that the rank went past the one that is absent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from graphstore.link.matching.signatures import Ints
from graphstore.link.matching.status import NO_COUNTERS, Counters

EVICTED = "evicted"
LOST = "lost"
FILTERED = "filtered"
NOT_REACHED = "not_reached"
NO_DUMP = "no_dump"
UNDECIDED = "undecided"
WINDOW_ENDED = "window_ended"
PRESENT = "present"
ABSENCES = (EVICTED, LOST, FILTERED, NOT_REACHED, NO_DUMP, UNDECIDED, WINDOW_ENDED)

_BEFORE, _HOLE, _AFTER, _NONE = "before", "hole", "after", "none kept"


@dataclass(frozen=True)
class Knowledge:
    """What a member's dump can say about calls of a group that it did not keep.

    `is_filtered`: only active calls were written. `is_whole`: recorded from the first call of the process
    on, nothing dropped. `in_order`: its collectives end in the order of their numbers (not gloo).
    `passed`: of a trace, the last number that a later call shows the rank to have gone past.
    """

    has_dump: bool = True
    is_empty: bool = False
    is_filtered: bool = False
    is_whole: bool = False
    is_trace: bool = False
    in_order: bool = True
    counters: Counters = NO_COUNTERS
    last_done: int = 0
    passed: int | None = None

    @property
    def done_upto(self) -> int:
        """Return the number up to which all calls are done; 0 for none."""
        return max(self.last_done, self.counters.completed or 0) if self.in_order else 0


@dataclass(frozen=True)
class Range:
    """Sequence numbers first … last that a member did not keep, of one class. `is_done`: they ended."""

    absence: str
    is_done: bool
    first: int
    last: int
    proof: str


def absent_ranges(known: Knowledge, kept: Ints, first: int, last: int) -> list[Range]:
    """Return the classes of the numbers from `first` to `last` that are not in `kept` (rising)."""
    out: list[Range] = []
    for where, low, high in _gaps(kept, first, last):
        for start, end in _pieces(known, low, high):
            absence, proof = _classify(known, where, start, int(kept[-1]) if kept.size else None)
            is_done = start <= known.done_upto or (absence == FILTERED and known.is_filtered)
            out.append(Range(absence, is_done and absence in (EVICTED, LOST, FILTERED), start, end, proof))
    return out


def _gaps(kept: Ints, first: int, last: int) -> Iterator[tuple[str, int, int]]:
    """Yield (where, low, high) of each run of numbers that is not kept."""
    if not kept.size:
        yield _NONE, first, last
        return
    if first < kept[0]:
        yield _BEFORE, first, min(last, int(kept[0]) - 1)
    for at in np.flatnonzero(np.diff(kept) > 1).tolist():
        yield _HOLE, int(kept[at]) + 1, int(kept[at + 1]) - 1
    if kept[-1] < last:
        yield _AFTER, max(first, int(kept[-1]) + 1), last


def _pieces(known: Knowledge, low: int, high: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of low … high within which one class holds: what is known changes at a counter."""
    limits = (known.counters.at_least, known.counters.at_most, known.done_upto, known.passed)
    cuts = sorted({limit + 1 for limit in limits if limit is not None and low <= limit < high})
    starts = [low, *cuts]
    yield from zip(starts, [*(cut - 1 for cut in cuts), high], strict=True)


def _classify(known: Knowledge, where: str, seq: int, last_kept: int | None) -> tuple[str, str]:
    """Return the class of a number that is not kept, and its proof."""
    if not known.has_dump:
        return NO_DUMP, "no readable dump"
    if where in (_BEFORE, _HOLE):
        return _made(known, where, "later calls are kept; numbers count calls")
    at_least, at_most = known.counters.at_least, known.counters.at_most
    if at_least is not None and seq <= at_least:
        return _made(known, where, f"pg_status: at least #{at_least} enqueued")
    if at_most is not None and seq > at_most:
        return NOT_REACHED, f"pg_status: nothing above #{at_most} enqueued"
    if known.is_trace:
        return _in_trace(known, seq)
    if known.is_empty or known.is_filtered:
        return UNDECIDED, "the dump shows no finished calls and no counter of this group"
    if where == _AFTER:
        return NOT_REACHED, f"the dump is whole up to its last call #{last_kept}"
    if known.is_whole:
        return NOT_REACHED, "recorded from the first call on, none in this group"
    return UNDECIDED, "no call of this group is kept, and older calls have been dropped"


def _made(known: Knowledge, where: str, proof: str) -> tuple[str, str]:
    """Return the class of a call that was made and is not kept."""
    if known.is_filtered or known.is_empty:
        return FILTERED, proof
    if where == _BEFORE or (where == _NONE and not known.is_whole):
        return EVICTED, proof
    return LOST, proof


def _in_trace(known: Knowledge, seq: int) -> tuple[str, str]:
    if known.passed is not None and seq <= known.passed:
        return NOT_REACHED, "a call that its peers made later is in the trace"
    return WINDOW_ENDED, "no later call shows that the trace went on"
