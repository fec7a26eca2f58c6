"""The nodes of a rank's file: pieces of its threads and device ops, with all they depend on.

In:  the columns of one rank. Out: `Pieces`: times, what each belongs to, edges by rule, the order of ids.
Decided here (dependencies 4): where threads are cut, what is waiting and so no work, and which piece or
device op each edge of the graph joins. Orders of threads and streams follow from the times and are made
here; what fits the times: edges.py; what makes up for latencies: fit.py.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from graphstore.export.columns import RankColumns
from graphstore.export.edges import Edges, Kept, kept_edges
from graphstore.export.lanes import Lanes, lanes_of, started
from graphstore.export.launches import Launches, find_launches
from graphstore.export.order import NEVER, NONE, Bools, HostOrder, Ints, host_order, pick
from graphstore.export.parents import calls_of_other_threads, confirmed_parents
from graphstore.export.places import places_of
from graphstore.export.waits import OTHER_THREAD, find_waits
from graphstore.link.segments import GAP
from graphstore.model.markers import GROUP_INIT

FIRST, REST, GAP_TIME, DEVICE, BEFORE_WINDOW, UNEXPLAINED, CLOSING = range(7)
THREAD_ORDER, STREAM_ORDER, LAUNCH = "thread order", "stream order", "launch"
WHOLE_US_SLACK_NS, SLACK_NS = 1_010, 50  # how far an end may lie behind a start that waits for it


@dataclass
class Pieces:
    """The nodes of a file, one entry each: host ops on no thread, pieces of threads, then device ops.

    Times in ns since the run's origin, meaningless where not `timed`. `kind`: FIRST and REST of a host op,
    GAP_TIME, DEVICE, and what fit.py and astra_nodes.py add. `place`: of the op, host ops by uid, then
    device ops by uid; NONE for a gap. `lane`: threads, then streams; NONE for neither. `resumes`: it begins
    where a wait ends. `ctrl`: the node of the parent, NONE without. `kept`: the edges, and the order of the
    nodes. `first`: the first node of each host op. `threads` counts threads by what their order follows from.
    """

    start: Ints
    end: Ints
    timed: Bools
    kind: Ints
    place: Ints
    lane: Ints
    resumes: Bools
    ctrl: Ints
    kept: Kept
    first: Ints
    slack_ns: int
    threads: dict[str, int]
    streams: int


@dataclass(frozen=True)
class _Nodes:
    """Where things stand among the nodes: pieces from `shift` on, device ops from `devices` on."""

    line: Lanes
    shift: int
    devices: int
    first: Ints  # of each host op

    def ending(self, lane: Ints, time: Ints) -> Ints:
        """Return the last piece of each lane that has ended by a time."""
        return _moved(self.line.ending(lane, time), self.shift)

    def starting(self, lane: Ints, time: Ints) -> Ints:
        """Return the first piece of each lane that starts no earlier."""
        return _moved(self.line.starting(lane, time), self.shift)


def pieces(columns: RankColumns) -> Pieces:
    """Return the nodes of a rank and what each depends on."""
    host, kernels = columns.host, columns.kernels
    hosts, places = host_order(host), places_of(columns)
    launches = find_launches(columns, hosts, places)
    parent, instead = confirmed_parents(host, places)
    waits, left_out = find_waits(columns, hosts, places, launches, parent)
    line = _line(host, hosts, launches, waits)
    apart = np.flatnonzero(hosts.lane == NONE)
    apart = apart[np.argsort(hosts.position[apart])]
    shift, devices = len(apart), len(apart) + len(line.lane)
    first = _moved(line.first_pieces(host.height), shift)
    first[apart] = np.arange(shift)
    nodes = _Nodes(line, shift, devices, first)

    owner = np.concatenate([apart, line.owner])
    opens = np.concatenate([np.ones(shift, np.bool_), line.opens])
    start, end, timed = _times(host, kernels, started(hosts), apart, owner, line)
    stream, streams = _streams(kernels)
    lanes = int(max(line.lane.max(initial=NONE), launches.calls.lane.max(initial=NONE))) + 1
    edges = Edges(left_out=left_out)
    _add_orders(edges, nodes, stream, start, end)
    _add_launches(edges, nodes, launches)
    resumes = _add_waits(edges, nodes, waits, len(start))
    _add_thread_starts(edges, nodes)
    woken = np.isin(np.arange(host.height), waits["target_op"].drop_nulls().to_numpy())
    above, child = calls_of_other_threads(host, hosts, parent, woken)
    edges.add(OTHER_THREAD, first[above], first[child])
    slack = WHOLE_US_SLACK_NS if _whole_us(start[timed]) else SLACK_NS
    tie, metadata = np.arange(len(start)), first[(host["name"] == GROUP_INIT).to_numpy()]
    tie[metadata] += len(start)  # it is called by a thread's root
    kept = kept_edges(edges, start, end, timed, slack, tie)
    ctrl = np.concatenate(
        [np.where(opens, pick(pick(first, parent, NONE), owner, NONE), NONE), pick(first, launches.op, NONE)]
    )
    lane = np.concatenate([np.full(shift, NONE), line.lane, _moved(stream, lanes)])
    found = Pieces(
        start=start,
        end=end,
        timed=timed,
        kind=np.concatenate(
            [
                np.where(owner == GAP, GAP_TIME, np.where(opens, FIRST, REST)),
                np.full(kernels.height, DEVICE),
            ]
        ),
        place=np.concatenate([owner, np.arange(kernels.height) + host.height]),
        lane=lane,
        resumes=resumes,
        ctrl=_repeated(ctrl, kept, lane, metadata),
        kept=kept,
        first=first,
        slack_ns=slack,
        threads=hosts.threads,
        streams=streams,
    )
    if instead:
        kept.written["parent by time instead of the recorded one"] = instead
    return found


def _line(host: pl.DataFrame, hosts: HostOrder, launches: Launches, waits: pl.DataFrame) -> Lanes:
    """Return the threads cut where anything joins them, without what was waiting."""
    calls = launches.calls
    line = lanes_of(
        hosts, host["duration_ns"].to_numpy(), np.where(calls.acts, calls.lane, NONE), calls.start, calls.end
    )
    lanes, times = [launches.lane], [launches.time]
    for lane, time in (
        ("source_lane", "source_time"),
        ("target_lane", "target_time"),
        ("target_lane", "idle_from"),
    ):
        joined = waits.select(lane, time).drop_nulls()
        lanes.append(joined[lane].to_numpy())
        times.append(joined[time].to_numpy())
    cut_lane, cut_time = np.concatenate(lanes), np.concatenate(times)
    known = (cut_lane != NONE) & (cut_time != NEVER)
    line = line.cut(cut_lane[known], cut_time[known])
    idle = waits.drop_nulls("idle_from")
    line = line.without(*(idle[name].to_numpy() for name in ("target_lane", "idle_from", "target_time")))
    return line.without_gaps(_gaps_before(line, waits.filter("wakes")["target_op"].to_numpy()))


def _gaps_before(line: Lanes, ops: Ints) -> Bools:
    """Return which pieces lie right before the first piece of one of these host ops, on its lane."""
    first = np.flatnonzero(line.opens & np.isin(line.owner, ops))
    first = first[first > 0]
    before = first[line.lane[first - 1] == line.lane[first]] - 1
    gone = np.zeros(len(line.lane), np.bool_)
    gone[before] = True
    return gone


def _times(
    host: pl.DataFrame, kernels: pl.DataFrame, begin: Ints, apart: Ints, owner: Ints, line: Lanes
) -> tuple[Ints, Ints, Bools]:
    """Return start and end of all nodes, and which of them have times."""
    lasts = host["duration_ns"].to_numpy()
    kernel_start, kernel_lasts = kernels["start_ns"].to_numpy(), kernels["duration_ns"].to_numpy()
    start = np.concatenate([begin[apart], line.start, kernel_start])
    apart_end = begin[apart] + np.maximum(lasts[apart], 0)
    end = np.concatenate([apart_end, line.end, kernel_start + np.maximum(kernel_lasts, 0)])
    return start, end, np.concatenate([pick(lasts, owner, 0) >= 0, kernel_lasts >= 0])


def _streams(kernels: pl.DataFrame) -> tuple[Ints, int]:
    """Return a number for the stream of each device op, NONE where none is recorded; and how many there
    are.
    """
    keys = kernels.select("device", "stream")
    number = (
        keys.select(pl.struct("device", "stream").rank("dense").cast(pl.Int64) - 1).to_series().to_numpy()
    )
    stream = np.where(keys["stream"].to_numpy() == NONE, NONE, number)
    return stream, len(np.unique(stream[stream != NONE]))


def _add_orders(edges: Edges, nodes: _Nodes, stream: Ints, start: Ints, end: Ints) -> None:
    """Add what always holds: each piece of a thread and each device op of a stream after the one before."""
    lane = nodes.line.lane
    follows = np.flatnonzero(lane[1:] == lane[:-1]) + nodes.shift
    edges.add(THREAD_ORDER, follows, follows + 1, always=True)
    device_op = np.arange(len(stream)) + nodes.devices
    by_stream = np.lexsort((device_op, end[device_op], start[device_op], stream))
    same = (stream[by_stream[1:]] == stream[by_stream[:-1]]) & (stream[by_stream[1:]] != NONE)
    edges.add(STREAM_ORDER, device_op[by_stream[:-1][same]], device_op[by_stream[1:][same]], always=True)


def _add_launches(edges: Edges, nodes: _Nodes, launches: Launches) -> None:
    """Add launches: from the piece that ends when the device op was let go, else from the op that
    launched.
    """
    device_op = np.arange(len(launches.op)) + nodes.devices
    on_time = launches.lane != NONE
    source = np.full(len(device_op), NONE, np.int64)
    source[on_time] = nodes.ending(launches.lane[on_time], launches.time[on_time])
    source = np.where(source == NONE, pick(nodes.first, launches.op, NONE), source)
    known = source != NONE
    edges.add(LAUNCH, source[known], device_op[known], always=True)


def _add_waits(edges: Edges, nodes: _Nodes, waits: pl.DataFrame, count: int) -> Bools:
    """Add the waits by rule; return which nodes begin where a thread goes on after waiting."""
    columns = {
        name: waits[name].fill_null(NONE).to_numpy()
        for name in waits.columns
        if name not in ("rule", "wakes")
    }
    on_device = _moved(columns["source_device_op"], nodes.devices)
    source = np.where(on_device == NONE, pick(nodes.first, columns["source_op"], NONE), on_device)
    by_lane = columns["source_lane"] != NONE
    source[by_lane] = nodes.ending(columns["source_lane"][by_lane], columns["source_time"][by_lane])
    on_device = _moved(columns["target_device_op"], nodes.devices)
    target = np.where(on_device == NONE, pick(nodes.first, columns["target_op"], NONE), on_device)
    by_lane = columns["target_lane"] != NONE
    target[by_lane] = nodes.starting(columns["target_lane"][by_lane], columns["target_time"][by_lane])
    known = (source != NONE) & (target != NONE)
    rules = waits["rule"].to_numpy()
    for rule in waits["rule"].unique(maintain_order=True):
        mine = known & (rules == rule)
        edges.add(rule, source[mine], target[mine])
    lost = int(((target != NONE) & (source == NONE)).sum())
    edges.left_out["edge from a record that is no node of the file"] += lost
    edges.left_out["wait that nothing follows"] += int((target == NONE).sum())
    resumes = np.zeros(count, np.bool_)
    resumes[target[known & (by_lane | waits["wakes"].fill_null(False).to_numpy())]] = True
    return resumes


def _add_thread_starts(edges: Edges, nodes: _Nodes) -> None:
    """Add for a thread that begins with a gap what last ended before it: no op says who started it."""
    line = nodes.line
    if not len(line.lane):
        return
    opening = np.flatnonzero(np.concatenate([[True], np.diff(line.lane) != 0]))
    opening = opening[(line.owner[opening] == GAP) & (line.start[opening] > line.start.min())]
    by_end = np.argsort(line.end, kind="stable")
    place = np.searchsorted(line.end[by_end], line.start[opening], "right") - 1
    known = place >= 0
    edges.add("thread_start.timing", by_end[place[known]] + nodes.shift, opening[known] + nodes.shift)


def _repeated(ctrl: Ints, kept: Kept, lane: Ints, metadata: Ints) -> Ints:
    """Return the parents that the edges put before their child, too; the others are counted.

    A reader that takes ctrl deps for order must find none in them that data deps do not say (§6): a parent on
    another thread may well have run on when its child began. Nothing follows metadata, so it keeps its own.
    """
    named, number = ctrl != NONE, kept.number
    against = named & (pick(number, ctrl, NONE) >= number)
    above = ctrl[kept.target]
    behind = (
        (lane[kept.source] == lane[above]) & (lane[above] != NONE) & (number[kept.source] >= number[above])
    )
    said = np.zeros(len(ctrl), np.bool_)
    said[kept.target[(above != NONE) & (behind | (kept.source == above))]] = True
    said[metadata] = True
    for reason, left_out in (
        ("parent that starts after its child", against),
        ("parent on another thread that nothing but the tree puts before its child", ~against & ~said),
    ):
        if (named & left_out).any():
            kept.left_out[reason] = int((named & left_out).sum())
    kept.written["parent"] = int((named & ~against & said).sum())
    return np.where(~against & said, ctrl, NONE)


def _moved(places: Ints, by: int) -> Ints:
    """Return places + by, NONE where there is none."""
    return np.where(places == NONE, NONE, places + by)


def _whole_us(start: Ints) -> bool:
    """Return whether all times are whole µs from one another."""
    return not len(start) or bool(np.all((start - start[0]) % 1_000 == 0))
