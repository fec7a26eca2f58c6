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
    count = len(lane)
    above = np.full(count, GAP, np.int64)
    times: list[int] = []  # where the owner of a lane changes, and to whom: count + place where a span opens
    owners: list[int] = []
    open_ends: list[int] = []
    open_places: list[int] = []

    def leave(time: int) -> None:
        open_ends.pop()
        open_places.pop()
        times.append(time)
        owners.append(open_places[-1] if open_places else GAP)

    first = np.flatnonzero(np.diff(lane, prepend=lane[:1] - 1))
    sizes: list[int] = []  # how many boundaries each lane has
    behind = np.append(first, count)[1:]
    for low, high in zip(first.tolist(), behind.tolist(), strict=True):
        before = len(times)
        spans = zip(range(low, high), start[low:high].tolist(), end[low:high].tolist(), strict=True)
        for place, begin, finish in spans:
            while open_ends:
                outer_end = open_ends[-1]
                if outer_end <= begin:
                    leave(outer_end)
                elif outer_end < finish <= outer_end + ROUNDING_NS:
                    leave(begin)
                else:
                    finish = min(finish, outer_end)
                    above[place] = open_places[-1]
                    break
            times.append(begin)
            owners.append(count + place)
            open_ends.append(finish)
            open_places.append(place)
        while open_ends:
            leave(open_ends[-1])
        sizes.append(len(times) - before)
    return _between(lane[first], np.array(sizes, np.int64), times, owners, above)


def _between(lanes: Ints, sizes: Ints, times: list[int], owners: list[int], above: Ints) -> Segments:
    """Return what lies between the boundaries of each lane, without what neither lasts nor opens an op.

    A boundary never comes before the one before it: an op cut short may end before one inside it.
    """
    lane, time, owner = np.repeat(lanes, sizes), np.array(times, np.int64), np.array(owners, np.int64)
    behind = np.cumsum(sizes)
    for low, high in zip((behind - sizes).tolist(), behind.tolist(), strict=True):
        time[low:high] = np.maximum.accumulate(time[low:high])
    opens = owner >= len(above)
    owner = np.where(opens, owner - len(above), owner)
    inside = lane[1:] == lane[:-1]
    kept = np.flatnonzero(inside & (opens[:-1] | (time[1:] > time[:-1])))
    return Segments(lane[kept], time[kept], time[kept + 1], owner[kept], opens[kept], above)
