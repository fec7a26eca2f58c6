"""Which thread waited for which: hand-overs to autograd threads, calls of backend workers, threads woken.

In:  the host ops of a rank with their threads, its segments, and which worker op each collective call had.
Out: waits between host ops. Decided here (dependencies 4.12, 4.13): which threads work for others (by the
names of their outermost ops), and which undisturbed time of another thread was waiting for them.
The names of the forward op (fw_tid, fwdbwd flows) say nothing about who woke a thread and are not used.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from graphstore.link.nesting import Bools, Ints
from graphstore.link.segments import GAP, Segments
from graphstore.link.waits.found import HOST_OP, Found

HAND_OVER, HAND_BACK = "hand_over.likely", "hand_back.likely"
WORKER_DONE, THREAD_START = "worker_done.likely", "thread_start.timing"
AUTOGRAD = "autograd::engine"
BACKEND_OP = "^(gloo|mpi|ucc):"  # of backends that run a call on a thread of their own
UNDISTURBED_NS = 20_000  # waiting shorter than this is not told from work
RESUMES_NS = 200_000  # a thread that waited goes on this soon after, or within a quarter of its wait
WORKING_OP = r"^(Optimizer\.|ProfilerStep)"  # no thread that only works for others runs these
MOST = 0.5
WORKS, AUTOGRAD_WORKER, BACKEND_WORKER = 0, 1, 2


@dataclass(frozen=True)
class Threads:
    """The timed host ops of a rank in the order of its segments (lane, then entry).

    `row`: row of each op in the table of host ops. `role`: per lane WORKS, AUTOGRAD_WORKER or BACKEND_WORKER.
    """

    row: Ints
    lane: Ints
    start: Ints
    end: Ints
    name: pl.Series
    is_annotation: Bools
    segments: Segments
    role: dict[int, int]

    def roles(self, lane: Ints) -> Ints:
        """Return the role of each lane."""
        return np.array([self.role[value] for value in lane.tolist()], np.int64)


def threads_of(host: pl.DataFrame, row: Ints, lane: Ints, cut: Segments) -> Threads:
    """Return the threads of a rank; `row` and `lane` are those of the ops that `cut` was made of."""
    some = host.select("name", "category", "start_ns", "duration_ns")[row]
    start = some["start_ns"].to_numpy()
    return Threads(
        row,
        lane,
        start,
        start + some["duration_ns"].fill_null(0).to_numpy(),
        some["name"],
        (some["category"] == "user_annotation").fill_null(False).to_numpy(),
        cut,
        _roles(some["name"], lane, some["duration_ns"].fill_null(0).to_numpy(), cut.above == GAP),
    )


def _roles(name: pl.Series, lane: Ints, lasts: Ints, outermost: Bools) -> dict[int, int]:
    """Return {lane: role}: most of the time of its outermost ops is the engine's, or a backend's."""
    told = pl.DataFrame(
        {
            "lane": lane,
            "time": np.where(outermost, lasts + 1, 0),  # ops of no length count, too
            "engine": name.str.starts_with(AUTOGRAD),
            "backend": name.str.contains(BACKEND_OP),
            "works": name.str.contains(WORKING_OP),
        }
    )
    of_lane = told.group_by("lane").agg(
        (pl.col("time").filter("engine").sum() / pl.col("time").sum()).alias("engine_share"),
        (pl.col("time").filter("backend").sum() / pl.col("time").sum()).alias("backend_share"),
        pl.col("works").any(),
    )
    roles = {}
    for lane_number, engine, backend, works in of_lane.iter_rows():
        worker = AUTOGRAD_WORKER if engine > MOST and not works else WORKS
        roles[lane_number] = BACKEND_WORKER if backend > MOST else worker
    return roles


def find_thread_waits(threads: Threads, calls: pl.DataFrame, found: Found) -> None:
    """Add hand-overs, ends of worker ops that a thread waited for, and starts of threads nobody woke.

    `calls` is the table of communication calls, with the rows host_n and worker_n.
    """
    woken = [_hand_overs(threads, found), _worker_calls(threads, calls, found)]
    _thread_starts(threads, np.concatenate(woken), found)


def _hand_overs(threads: Threads, found: Found) -> Ints:
    """Add what passes between a thread and an autograd thread that works for it; return the ops woken."""
    cut = threads.segments
    idle = _idle(threads, cut.end - cut.start > UNDISTURBED_NS)
    workers = [lane for lane, role in threads.role.items() if role == AUTOGRAD_WORKER]
    outermost = np.flatnonzero(np.isin(threads.lane, workers) & (cut.above == GAP))
    inside = _shortest_around(cut, idle, threads.start[outermost], threads.end[outermost])
    same = (inside[1:] == inside[:-1]) & (threads.lane[outermost[1:]] == threads.lane[outermost[:-1]])
    known = inside != GAP
    begins = np.append(True, ~same)[: len(inside)] & known
    ends = np.append(~same, True)[: len(inside)] & known
    first: Ints = outermost[begins]
    last: Ints = outermost[ends]
    before, after = _around(threads, inside[begins])
    found.add(HAND_OVER, (HOST_OP, threads.row[before]), (HOST_OP, threads.row[first]))
    found.add(HAND_BACK, (HOST_OP, threads.row[last]), (HOST_OP, threads.row[after]))
    return first


def _idle(threads: Threads, long: Bools) -> Ints:
    """Return the segments in which a thread may have waited: its gaps, and own time of user annotations."""
    cut = threads.segments
    gap = cut.owner == GAP
    waiting = gap | threads.is_annotation[np.maximum(cut.owner, 0)]
    return np.flatnonzero(long & waiting & (threads.roles(cut.lane) == WORKS))


def _shortest_around(cut: Segments, idle: Ints, start: Ints, end: Ints) -> Ints:
    """Return for each span the shortest of the idle segments that hold it whole, GAP for none."""
    best = np.full(len(start), GAP, np.int64)
    length = np.full(len(start), np.iinfo(np.int64).max, np.int64)
    for lane in np.unique(cut.lane[idle]).tolist():
        mine = idle[cut.lane[idle] == lane]
        place = np.searchsorted(cut.start[mine], start, "right") - 1
        segment = mine[np.maximum(place, 0)]
        size = cut.end[segment] - cut.start[segment]
        better = (place >= 0) & (end <= cut.end[segment]) & (size < length)
        best[better], length[better] = segment[better], size[better]
    return best


def _around(threads: Threads, segment: Ints) -> tuple[Ints, Ints]:
    """Return the ops that gave work away and took it back around each segment.

    The op that owns it; around a gap the op before and the op behind.
    """
    cut = threads.segments
    if not len(segment):
        return segment, segment
    owner = cut.owner[segment]
    before = np.where(owner == GAP, cut.owner[np.maximum(segment - 1, 0)], owner)
    after = np.where(owner == GAP, cut.owner[np.minimum(segment + 1, len(cut.owner) - 1)], owner)
    return before, after


def _worker_calls(threads: Threads, calls: pl.DataFrame, found: Found) -> Ints:
    """Add waits of calling threads for the ops of backend workers; return the worker ops that have a call."""
    pairs = calls.select("host_n", "worker_n").drop_nulls()
    place = np.full(int(threads.row.max(initial=-1)) + 1, GAP, np.int64)
    place[threads.row] = np.arange(len(threads.row))
    call, worker = (_places(place, pairs[name].to_numpy()) for name in ("host_n", "worker_n"))
    timed = (call != GAP) & (worker != GAP)
    call, worker = call[timed], worker[timed]
    apart = threads.lane[call] != threads.lane[worker]
    call, woken = call[apart], np.asarray(worker[apart], np.int64)
    segment = segment_at(threads.segments, threads.lane[call], threads.end[woken])
    waited = _waited(threads, segment, threads.end[woken])
    _, after = _around(threads, segment[waited])
    found.add(WORKER_DONE, (HOST_OP, threads.row[woken[waited]]), (HOST_OP, threads.row[after]))
    return woken


def _places(place: Ints, rows: Ints) -> Ints:
    """Return the place of each row, GAP for rows that have none."""
    found = np.full(len(rows), GAP, np.int64)
    inside = rows < len(place)
    found[inside] = place[rows[inside]]
    return found


def _waited(threads: Threads, segment: Ints, end: Ints) -> Bools:
    """Return whether each segment was waiting until `end`: long before it, resumed soon after.

    Only gaps, user annotations, collective calls and the engine's ops wait.
    """
    cut = threads.segments
    known = segment != GAP
    at = np.maximum(segment, 0)
    before, after = end - cut.start[at], cut.end[at] - end
    owner = cut.owner[at]
    names = threads.name[np.maximum(owner, 0)]
    calls = (names.str.starts_with("c10d::") | names.str.starts_with("autograd")).to_numpy()
    idle = calls | threads.is_annotation[np.maximum(owner, 0)] | (owner == GAP)
    resumed = after <= np.maximum(RESUMES_NS, before // 4)
    waited: Bools = known & idle & (before > UNDISTURBED_NS) & resumed
    return waited


def segment_at(cut: Segments, lane: Ints, time: Ints) -> Ints:
    """Return the segment of each lane that holds each time (ends count as inside), GAP for none."""
    out = np.full(len(lane), GAP, np.int64)
    for value in np.unique(lane):
        low, high = np.searchsorted(cut.lane, [value, value + 1])
        mine = np.flatnonzero(lane == value)
        place = low + np.searchsorted(cut.start[low:high], time[mine], "left") - 1
        place = np.maximum(place, low)
        inside = (place < high) & (cut.start[place] <= time[mine]) & (time[mine] <= cut.end[place])
        out[mine[inside]] = place[inside]
    return out


def _thread_starts(threads: Threads, woken: Ints, found: Found) -> None:
    """Add for the first op of a thread, and each of a backend's, what last ended before it on a working
    thread.

    Only for those that nobody is known to have woken, and not for the thread that began the trace.
    """
    if not len(threads.row):
        return
    begins = np.concatenate([[True], np.diff(threads.lane) != 0])
    begins |= (threads.segments.above == GAP) & (threads.roles(threads.lane) == BACKEND_WORKER)
    first = np.flatnonzero(begins)
    earliest = threads.start.min()
    first = first[~np.isin(first, woken) & (threads.start[first] > earliest)]
    working = np.flatnonzero(threads.roles(threads.lane) == WORKS)
    by_end = working[np.argsort(threads.end[working], kind="stable")]
    place = np.searchsorted(threads.end[by_end], threads.start[first], "right") - 1
    known = place >= 0
    source, first = by_end[place[known]], first[known]
    apart = threads.lane[source] != threads.lane[first]
    source, first = source[apart], first[apart]
    found.add(THREAD_START, (HOST_OP, threads.row[source]), (HOST_OP, threads.row[first]))
