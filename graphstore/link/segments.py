"""What a CPU thread was doing when: its time cut at every start and end of an op.

In:  spans sorted by lane (a thread) and entry. Out: `Segments`, each the time of the innermost op (or of
none: a gap), in order of lane and time. Decided here (dependencies 4.1): an op that outlasts the one around
it by at most 1 µs follows it, for whole-µs files round; by more, its end is cut to that of the op around it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphstore.link.nesting import Bools, Ints

ROUNDING_NS = 1_000  # whole-µs files: ends are off by as much
GAP = -1


@dataclass(frozen=True)
class Segments:
    """Pieces of time, one entry each, ascending in lane and time; those of a lane follow without holes.

    `owner`: place of the innermost op in the spans given, GAP for none. `opens`: whether the op begins here,
    so each op opens exactly one segment, if need be of no length; others always last. `above` is per span:
    the place of the span around it, GAP for an outermost one.
    """

    lane: Ints
    start: Ints
    end: Ints
    owner: Ints
    opens: Bools
    above: Ints


def segments(lane: Ints, start: Ints, end: Ints) -> Segments:
    """Return the segments of spans sorted by lane and entry (starts ascend within a lane).

    Each span is entered and left once, so time grows with the number of spans.
    """
    boundaries = _Boundaries()
    above = np.full(len(lane), GAP, np.int64)
    current = None
    stack: list[tuple[int, int]] = []  # end and place of the open spans
    for place, (of, begin, finish) in enumerate(
        zip(lane.tolist(), start.tolist(), end.tolist(), strict=True)
    ):
        if of != current:
            boundaries.close(current, stack)
            current = of
        while stack:
            outer_end = stack[-1][0]
            if outer_end <= begin:
                boundaries.add(of, outer_end, _owner_below(stack))
            elif finish > outer_end and finish - outer_end <= ROUNDING_NS:
                boundaries.add(of, begin, _owner_below(stack))
            else:
                finish = min(finish, outer_end)
                above[place] = stack[-1][1]
                break
        boundaries.add(of, begin, place, opens=True)
        stack.append((finish, place))
    boundaries.close(current, stack)
    return boundaries.segments(above)


def _owner_below(stack: list[tuple[int, int]]) -> int:
    """Leave the innermost open span; return the one that goes on."""
    stack.pop()
    return stack[-1][1] if stack else GAP


class _Boundaries:
    """Where the owner of a lane changes, in order."""

    def __init__(self) -> None:
        self._lane: list[int] = []
        self._time: list[int] = []
        self._owner: list[int] = []
        self._opens: list[bool] = []

    def add(self, lane: int, time: int, owner: int, opens: bool = False) -> None:
        """Let `owner` (GAP for none) have the lane from `time` on, never before the last boundary."""
        if self._lane and self._lane[-1] == lane:
            time = max(time, self._time[-1])
        self._lane.append(lane)
        self._time.append(time)
        self._owner.append(owner)
        self._opens.append(opens)

    def close(self, lane: int | None, stack: list[tuple[int, int]]) -> None:
        """End all open spans of a lane."""
        while lane is not None and stack:
            end = stack[-1][0]
            self.add(lane, end, _owner_below(stack))

    def segments(self, above: Ints) -> Segments:
        """Return what lies between the boundaries, without what neither lasts nor opens an op."""
        lane, time = np.array(self._lane, np.int64), np.array(self._time, np.int64)
        owner, opens = np.array(self._owner, np.int64), np.array(self._opens, np.bool_)
        inside = lane[1:] == lane[:-1]
        start, end = time[:-1], time[1:]
        kept = np.flatnonzero(inside & (opens[:-1] | (end > start)))
        return Segments(lane[kept], start[kept], end[kept], owner[kept], opens[kept], above)
