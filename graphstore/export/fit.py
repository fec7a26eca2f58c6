"""Make a rank's nodes last what they took: latencies, the gaps of streams, and time nothing explains.

In:  `Pieces`. Out: `Fitted`: the same nodes in the order of their ids, and some more. Decided here:
- a device op that only its stream held lasts from the end of the one before (dependencies 4.6);
- a worker's op lasts from when it was handed its call: queueing is part of it (4.13);
- a thread that goes on after a wait does so as early as the replay is early there, at most 20 µs (4.9);
- device work launched before the window follows a node `before the window`, and a device op that starts later
  than all that is known says, a node `unexplained wait` (4.15). Neither is hidden: both are counted and
  shown.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from graphstore.export.order import NONE, Bools, Ints, pick
from graphstore.export.pieces import BEFORE_WINDOW, DEVICE, STREAM_ORDER, UNEXPLAINED, Pieces
from graphstore.export.replay import Deps, deps_of, unlimited
from graphstore.export.waits import CALL_TO_WORKER

GAP_OF_STREAM_NS = 10_000
UNEXPLAINED_NS = 20_000
LATENCY_NS = 20_000


@dataclass(frozen=True)
class Fitted:
    """The nodes of a file in the order of their ids, one entry each; times in ns since the run's origin.

    `node`: which of the `Pieces` it is, NONE for those added here. `start` and `end` are those written, so
    that end - start is how long the node lasts. `measured`: when it started as recorded. `deps` and `ctrl`
    name places in this order. `fit_free_ns`: the span of a replay before anything was fitted.
    """

    node: Ints
    kind: Ints
    lane: Ints
    start: Ints
    end: Ints
    measured: Ints
    timed: Bools
    deps: Deps
    ctrl: Ints
    fit_free_ns: int
    unexplained_ns: int
    window: tuple[int, int]


def fitted(pieces: Pieces, fit: bool = True) -> Fitted:
    """Return the nodes as they are written; without `fit` as they were measured."""
    order = np.argsort(pieces.kept.number)
    count = len(order)
    number = pieces.kept.number
    source, target = number[pieces.kept.source], number[pieces.kept.target]
    deps = deps_of(source, target, count)
    start, end, timed = pieces.start[order], pieces.end[order], pieces.timed[order]
    end = np.where(timed, end, start)
    window = _window(start, end, timed)
    roots = np.full(count, window[0], np.int64)
    free = unlimited(end - start, deps, roots) + (end - start)
    plain = Fitted(
        order,
        pieces.kind[order],
        pieces.lane[order],
        start,
        end,
        start,
        timed,
        deps,
        pick(number, pieces.ctrl[order], NONE),
        int(free.max(initial=window[0])) - window[0],
        0,
        window,
    )
    if not fit or not timed.any():
        return plain
    begins, ends = _stretched(pieces, plain)
    late = _late(plain, ends)
    nodes = _with_added(replace(plain, start=begins, end=ends), late)
    resumes = (nodes.node != NONE) & pieces.resumes[np.maximum(nodes.node, 0)]
    return replace(nodes, start=_with_latency(nodes, resumes))


def _window(start: Ints, end: Ints, timed: Bools) -> tuple[int, int]:
    """Return when the first node starts and the last one ends."""
    if not timed.any():
        return 0, 0
    return int(start[timed].min()), int(end[timed].max())


def _latest(deps: Deps, end: Ints, otherwise: int) -> Ints:
    """Return the latest end among the deps of each node."""
    out = np.full(len(deps.first) - 1, otherwise, np.int64)
    has = np.flatnonzero(np.diff(deps.first) > 0)
    if len(has):
        out[has] = np.maximum.reduceat(end[deps.ids], deps.first[has])
    return out


def _stretched(pieces: Pieces, plain: Fitted) -> tuple[Ints, Ints]:
    """Return starts and ends with the gaps of streams and of workers' queues taken up, overlaps cut."""
    start, end = plain.start.copy(), plain.end.copy()
    kept, number = pieces.kept, pieces.kept.number
    stream = kept.rule == kept.rules.index(STREAM_ORDER) if STREAM_ORDER in kept.rules else None
    if stream is not None:
        before, after = number[kept.source[stream]], number[kept.target[stream]]
        end[before] = np.maximum(np.minimum(end[before], start[after]), start[before])
        latest = _latest(plain.deps, end, plain.window[0])[after]
        gap = start[after] - end[before]
        held = (gap >= 0) & (gap <= GAP_OF_STREAM_NS) & (end[before] >= latest)
        start[after[held]] = end[before[held]]
    if CALL_TO_WORKER in kept.rules:
        worker = number[kept.target[kept.rule == kept.rules.index(CALL_TO_WORKER)]]
        worker = worker[plain.timed[worker]]
        start[worker] = np.minimum(start[worker], _latest(plain.deps, end, plain.window[0])[worker])
    return start, end


def _late(plain: Fitted, end: Ints) -> Bools:
    """Return which device ops start later than all they wait for, by more than latency can explain."""
    latest = _latest(plain.deps, end, plain.window[0])
    without = np.diff(plain.deps.first) == 0
    late = (
        (plain.kind == DEVICE) & plain.timed & (plain.start - latest > np.where(without, 0, UNEXPLAINED_NS))
    )
    return np.asarray(late, np.bool_)


def _with_latency(nodes: Fitted, resumes: Bools) -> Ints:
    """Return the starts, earlier where a thread goes on after a wait and the replay is early there.

    What is early is taken up at the first such node, so the replay is on time behind it.
    """
    first, ids = nodes.deps.first.tolist(), nodes.deps.ids.tolist()
    begin, finish, after = nodes.start.tolist(), nodes.end.tolist(), resumes.tolist()
    ends, low = [0] * len(begin), 0
    for node in range(len(begin)):
        at, high = nodes.window[0], first[node + 1]
        for dep in ids[low:high]:
            if ends[dep] > at:
                at = ends[dep]
        if after[node] and at < begin[node]:
            begin[node] -= min(begin[node] - at, LATENCY_NS)
        ends[node] = at + finish[node] - begin[node]
        low = high
    return np.array(begin, np.int64)


def _with_added(plain: Fitted, late: Bools) -> Fitted:
    """Return the nodes with one added before each `late` one, which takes its deps."""
    target = np.flatnonzero(late)
    latest = _latest(plain.deps, plain.end, plain.window[0])
    without = np.diff(plain.deps.first)[target] == 0
    count, more = len(plain.node), len(target)
    shift = np.cumsum(late)  # each node moves behind those added up to it
    place = np.arange(count) + shift
    added = place[target] - 1
    node_of = np.repeat(np.arange(count), np.diff(plain.deps.first))
    waiting = np.where(late[node_of], place[node_of] - 1, place[node_of])
    deps = deps_of(
        np.concatenate([place[plain.deps.ids], added]),
        np.concatenate([waiting, place[target]]),
        count + more,
    )

    def merged(values: npt.NDArray[Any], extra: npt.NDArray[Any]) -> npt.NDArray[Any]:
        out = np.empty(count + more, values.dtype)
        out[place], out[added] = values, extra
        return out

    begins = latest[target]
    ends = np.maximum(plain.start[target], begins)
    nobody = np.full(more, NONE, np.int64)
    ctrl = merged(plain.ctrl, nobody)
    return replace(
        plain,
        node=merged(plain.node, nobody),
        kind=merged(plain.kind, np.where(without, BEFORE_WINDOW, UNEXPLAINED)),
        lane=merged(plain.lane, plain.lane[target]),
        start=merged(plain.start, begins),
        end=merged(plain.end, ends),
        measured=merged(plain.measured, begins),
        timed=merged(plain.timed, np.ones(more, np.bool_)),
        deps=deps,
        ctrl=pick(place, ctrl, NONE),
        unexplained_ns=int((ends - begins)[~without].sum()),
    )
