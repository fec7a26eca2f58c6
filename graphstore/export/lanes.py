"""The CPU threads of a rank as pieces of time: cut at every op, launch, wait and hand-over.

In:  host ops in order, with their lanes; runtime calls; times to cut at, and waits. Out: `Lanes`.
Decided here (dependencies 4.1, 4.3, 4.4): each piece belongs to the innermost op, or to none (a gap: the time
of Python); runtime calls outside all ops stretch the gaps of their thread to where they lie. An op without
times is a piece of no length beside the ops around it. What is waiting is taken out, and never an op's first
piece, which then lasts no time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from graphstore.export.order import NEVER, NONE, Bools, HostOrder, Ints
from graphstore.link.segments import GAP, segments


@dataclass(frozen=True)
class Lanes:
    """Pieces of all lanes, one entry each, ascending in lane and time.

    `owner`: place of the host op, GAP for none. `opens`: whether it is the op's first piece.
    """

    lane: Ints
    start: Ints
    end: Ints
    owner: Ints
    opens: Bools

    def cut(self, lane: Ints, time: Ints) -> Lanes:
        """Return the pieces cut at these times of these lanes, where a time lies inside a piece.

        A cut where a lane begins makes a piece of no length: what joins there has a piece that has ended.
        """
        points = np.unique(np.stack([lane, time], axis=1), axis=0)
        lane, time = points[:, 0], points[:, 1]
        behind = self._until(lane, time, self.start, "left")
        piece = np.where(behind == np.searchsorted(self.lane, lane), behind, behind - 1)
        inside = piece < len(self.lane)
        within = piece[inside]
        inside[inside] = (
            (self.lane[within] == lane[inside])
            & (self.start[within] <= time[inside])
            & (time[inside] < self.end[within])
        )
        piece, time = piece[inside], time[inside]
        count = len(self.lane)
        of = np.concatenate([np.arange(count), piece])
        start = np.concatenate([self.start, time])
        is_cut = np.concatenate([np.zeros(count, np.bool_), np.ones(len(piece), np.bool_)])
        order = np.lexsort((is_cut, start, of))
        of, start, is_cut = of[order], start[order], is_cut[order]
        end = self.end[of]
        goes_on = np.flatnonzero(of[1:] == of[:-1])
        end[goes_on] = start[goes_on + 1]
        return Lanes(self.lane[of], start, end, self.owner[of], self.opens[of] & ~is_cut)

    def without(self, lane: Ints, begins: Ints, ends: Ints) -> Lanes:
        """Return the pieces without those that lie in these waits; a wait that begins NEVER is one piece.

        An op of no length that stands where a wait ends is not part of it. Where an op begins inside a wait,
        the thread was at work until then, and the wait is what comes after.
        """
        last = self._until(lane, ends, self.start, "left") - 1
        known = last >= 0
        known[known] = (self.lane[last[known]] == lane[known]) & (self.end[last[known]] == ends[known])
        last, lane, begins = last[known], lane[known], begins[known]
        first = np.where(begins == NEVER, last, self.starting(lane, begins))
        gone = np.zeros(len(self.lane), np.bool_)
        opening = np.flatnonzero(self.opens)
        begun = opening[np.maximum(np.searchsorted(opening, last, "right") - 1, 0)] if len(opening) else first
        for low, high in zip(np.maximum(first, np.minimum(begun, last)).tolist(), last.tolist(), strict=True):
            gone[low : high + 1] = True
        return self._left(gone)

    def without_gaps(self, gone: Bools) -> Lanes:
        """Return the pieces without those gaps that are `gone`."""
        return self._left(gone & (self.owner == GAP))

    def _left(self, gone: Bools) -> Lanes:
        shrunk = replace(self, end=np.where(gone & self.opens, self.start, self.end))
        return shrunk._chosen(np.flatnonzero(~gone | self.opens))

    def _chosen(self, which: Ints) -> Lanes:
        """Return these pieces, in this order."""
        return Lanes(
            self.lane[which], self.start[which], self.end[which], self.owner[which], self.opens[which]
        )

    def ending(self, lane: Ints, time: Ints) -> Ints:
        """Return the last piece of each lane that has ended by a time, NONE where there is none."""
        piece = self._until(lane, time, self.end, "right") - 1
        known = piece >= 0
        known[known] = self.lane[piece[known]] == lane[known]
        return np.where(known, piece, NONE)

    def starting(self, lane: Ints, time: Ints) -> Ints:
        """Return the first piece of each lane that starts no earlier than a time, NONE where there is
        none.
        """
        piece = self._until(lane, time, self.start, "left")
        known = piece < len(self.lane)
        known[known] = self.lane[piece[known]] == lane[known]
        return np.where(known, piece, NONE)

    def _until(self, lane: Ints, time: Ints, times: Ints, side: str) -> Ints:
        """Return how many pieces lie before each (lane, time), by `times` of the pieces."""
        out = np.zeros(len(lane), np.int64)
        for value in np.unique(lane):
            low, high = np.searchsorted(self.lane, [value, value + 1])
            mine = lane == value
            found = np.searchsorted(times[low:high], time[mine], "left" if side == "left" else "right")
            out[mine] = low + found
        return out

    def first_pieces(self, count: int) -> Ints:
        """Return the first piece of each of `count` host ops, NONE for those on no lane."""
        first = np.full(count, NONE, np.int64)
        opening = np.flatnonzero(self.opens)
        first[self.owner[opening]] = opening
        return first


def lanes_of(hosts: HostOrder, duration: Ints, call_lane: Ints, call_start: Ints, call_end: Ints) -> Lanes:
    """Return the pieces of all lanes; `duration` is per host op in ns (-1 without times)."""
    work = np.flatnonzero(hosts.lane != NONE)
    work = work[np.lexsort([hosts.position[work], hosts.lane[work]])]
    start = started(hosts)[work]
    found = segments(hosts.lane[work], start, start + np.maximum(duration[work], 0))
    owner = np.where(found.owner == GAP, GAP, work[np.maximum(found.owner, 0)] if len(work) else GAP)
    line = Lanes(found.lane, found.start, found.end, owner, found.opens)
    return _stretched(line, call_lane, call_start, call_end)


def started(hosts: HostOrder) -> Ints:
    """Return the start of each op: its own, else that of the op it stands beside, else the rank's first."""
    known = hosts.when != NEVER
    earliest = int(hosts.when[known].min()) if known.any() else 0
    return np.where(known, hosts.when, earliest)


def _stretched(line: Lanes, call_lane: Ints, call_start: Ints, call_end: Ints) -> Lanes:
    """Return the lanes with gaps before and behind, as far as their runtime calls reach."""
    gaps: list[tuple[int, int, int]] = []
    for lane in np.unique(call_lane[call_lane != NONE]).tolist():
        mine = call_lane == lane
        first, last = int(call_start[mine].min()), int(call_end[mine].max())
        low, high = np.searchsorted(line.lane, [lane, lane + 1])
        if low == high:
            gaps.append((lane, first, last))
            continue
        begin, end = int(line.start[low]), int(line.end[high - 1])
        gaps += [(lane, first, begin)] if first < begin else []
        gaps += [(lane, end, last)] if last > end else []
    if not gaps:
        return line
    more = np.array(gaps, np.int64)
    whole = Lanes(
        np.append(line.lane, more[:, 0]),
        np.append(line.start, more[:, 1]),
        np.append(line.end, more[:, 2]),
        np.append(line.owner, np.full(len(more), GAP)),
        np.append(line.opens, np.zeros(len(more), np.bool_)),
    )
    return whole._chosen(np.lexsort((np.arange(len(whole.lane)), whole.start, whole.lane)))
