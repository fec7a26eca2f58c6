"""What launched each device op, on which thread, and when it was let go.

In:  the columns of one rank, the order of its host ops. Out: `Launches`. Decided here (dependencies 4.5): the
call is cut where its first device op could start, and the device op waits for the piece that ends there. A
merged trace names the op that launched instead of a call; then that op is cut.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphstore.export.columns import RankColumns
from graphstore.export.order import NEVER, NONE, Bools, HostOrder, Ints, pick
from graphstore.export.places import Places, ends_of, places_in
from graphstore.link.waits.work import released


@dataclass(frozen=True)
class Calls:
    """The runtime calls of a rank: the lane of each (NONE where its thread is unknown), start and end in ns.

    `acts`: it launches something or waits, so its thread was at work there.
    """

    lane: Ints
    start: Ints
    end: Ints
    acts: Bools


@dataclass(frozen=True)
class Launches:
    """Per device op: the runtime call (`call`) and the host op (`op`) that launched it, NONE without; `lane`
    and `time` of the cut it waits for, NONE and NEVER where no thread shows it.

    `let_go` is per call: when the first device op of it could start, its start for calls that launch nothing.
    """

    calls: Calls
    call: Ints
    op: Ints
    lane: Ints
    time: Ints
    let_go: Ints


def find_launches(columns: RankColumns, hosts: HostOrder, places: Places) -> Launches:
    """Return what launched each device op of a rank."""
    host, kernels = columns.host, columns.kernels
    calls = _calls(columns, hosts, places)
    call = np.full(kernels.height, NONE, np.int64)
    op = places.ctrl[host.height :]
    op = np.where(op < host.height, op, NONE)  # merged traces name the op itself
    source, target = ends_of(columns, "LAUNCHES")
    launcher, launched = places_in(places.call, source), places_in(places.kernel, target)
    known = (launcher != NONE) & (launched != NONE)
    call[launched[known]] = launcher[known]
    op = np.where(call == NONE, op, pick(places.caller, call, NONE))
    start = kernels["start_ns"].to_numpy()
    by_call = released(calls.start, calls.end, call, start)
    let_go = calls.start.copy()
    let_go[call[call != NONE]] = by_call[call != NONE]
    timed = (host["duration_ns"].to_numpy() >= 0) & (hosts.lane != NONE)
    by_op = np.where(
        (call == NONE) & (op != NONE) & pick(timed.astype(np.int64), op, 0).astype(bool), op, NONE
    )
    begin = host["start_ns"].to_numpy()
    op_end = begin + np.maximum(host["duration_ns"].to_numpy(), 0)
    by_op_time = released(begin, op_end, by_op, start)
    lane = np.where(call == NONE, pick(hosts.lane, by_op, NONE), pick(calls.lane, call, NONE))
    time = np.where(call == NONE, by_op_time, by_call)
    return Launches(calls, call, op, lane, np.where(lane == NONE, NEVER, time), let_go)


def _calls(columns: RankColumns, hosts: HostOrder, places: Places) -> Calls:
    """Return the lanes and times of the runtime calls; a thread without host ops gets a lane of its own."""
    launches = columns.launches
    lane_of = dict(hosts.lane_of)
    next_lane = int(hosts.lane.max(initial=NONE)) + 1
    threads = launches.select("process", "thread").unique().sort("process", "thread")
    for key in threads.iter_rows():
        if key[1] != NONE and key not in lane_of:
            lane_of[key] = next_lane
            next_lane += 1
    keys = launches.select("process", "thread").iter_rows()
    lane = np.array([lane_of.get(key, NONE) for key in keys], np.int64)
    start = launches["start_ns"].to_numpy()
    duration = np.maximum(launches["duration_ns"].to_numpy(), 0)
    acts = np.isin(places.call, np.concatenate([ends_of(columns, "LAUNCHES")[0], columns.waits["target"]]))
    return Calls(np.where(start == NONE, NONE, lane), start, start + duration, acts)
