"""Orders: an order that respects every edge, and where each op stands in time among the others.

In:  numpy columns; nodes are places 0 … n-1, -1 stands for none. Out: the same. Pure functions.
Decided here: the one order of a rank's host ops, by start (dependencies 4.1), and where ops without times
stand among those that have some (by ids, which rise with the start, 4.14). Which edges are written:
pieces.py.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from graphstore.model.markers import GROUP_INIT, PROCESS_ROOTS, THREAD_ROOTS

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

NONE = -1
NEVER = -(1 << 62)  # earlier than every start: ops that nothing places in time


def pick(values: Ints, places: Ints, otherwise: int) -> Ints:
    """Return the value at each place, `otherwise` where the place is NONE."""
    out = np.full(len(places), otherwise, np.int64)
    known = places != NONE
    out[known] = values[places[known]]
    return out


def topological_order(count: int, source: Ints, target: Ints, priority: Ints) -> Ints:
    """Return all nodes so that every edge leads forward; among those free, the lowest `priority` comes first.

    `priority` is a different number for every node. Raises ValueError when the edges close a cycle.
    Where the edges already ascend by priority, this is a sort.
    """
    if np.all(priority[source] < priority[target]):
        return np.argsort(priority)
    waiting = np.bincount(target, minlength=count)
    by_source = np.argsort(source, kind="stable")
    first = np.searchsorted(source[by_source], np.arange(count + 1)).tolist()
    followers, awaited = target[by_source].tolist(), waiting.tolist()
    rank = np.empty(count, np.int64)
    rank[np.argsort(priority)] = np.arange(count)
    node_at, place = np.argsort(priority).tolist(), rank.tolist()
    free = [place[node] for node in range(count) if not awaited[node]]
    heapq.heapify(free)
    order: list[int] = []
    while free:
        node = node_at[heapq.heappop(free)]
        order.append(node)
        for follower in followers[first[node] : first[node + 1]]:
            awaited[follower] -= 1
            if not awaited[follower]:
                heapq.heappush(free, place[follower])
    if len(order) < count:
        raise ValueError(f"{count - len(order)} of {count} nodes lie in or behind a cycle")
    return np.array(order, np.int64)


@dataclass(frozen=True)
class HostOrder:
    """The order of a rank's host ops, one entry an op.

    `lane`: number of its thread (NONE for process roots and group metadata, which are no work of a thread).
    `position`: its place in the one order of all host ops. `when`: its start, or that of the op beside which
    it was placed, NEVER where nothing places it. `threads` counts lanes by what they follow from. `lane_of`
    gives the lane of a Kineto thread (process, thread).
    """

    lane: Ints
    position: Ints
    when: Ints
    threads: dict[str, int]
    lane_of: dict[tuple[int, int], int]


def host_order(host: pl.DataFrame) -> HostOrder:
    """Return the order of host ops (columns of show_host_op_order, -1 for null).

    With times: by (start, longest first, External id, node id, uid) on their Kineto thread; without a thread,
    on the execution trace's tid. Without times: by node id, beside the nearest timed op of the same tid. The
    roots of process and threads come first: a repair may hang any op below them.
    """
    start, duration, node_id, uid = (_ints(host, c) for c in ("start_ns", "duration_ns", "node_id", "uid"))
    timed = duration >= 0
    process_root = host["name"].is_in(PROCESS_ROOTS).to_numpy()
    metadata = (host["name"] == GROUP_INIT).to_numpy()
    entered = [uid, node_id, _ints(host, "external_id"), -(start + duration), start]
    by_time = np.flatnonzero(timed)[np.lexsort([key[timed] for key in entered])]
    slot = np.full(host.height, NONE, np.int64)
    slot[by_time] = np.arange(len(by_time))
    side, anchor, same_tid = _beside(host, timed, slot)
    when = np.where(timed, start, pick(start, anchor, NEVER))
    place = np.where(timed, slot, pick(slot, anchor, NONE))
    for rank, roots in enumerate((process_root, host["name"].is_in(THREAD_ROOTS).to_numpy())):
        place[roots & ~timed], when[roots & ~timed] = NONE - 2 + rank, NEVER  # they were there before all ops
    position = np.empty(host.height, np.int64)
    position[np.lexsort([uid, node_id, side, place])] = np.arange(host.height)
    lane, threads, lane_of = _lanes(host, timed, anchor, same_tid, process_root | metadata)
    return HostOrder(lane, position, when, threads, lane_of)


def _ints(frame: pl.DataFrame, name: str) -> Ints:
    """Return a column as numpy integers."""
    return frame[name].to_numpy().astype(np.int64, copy=False)


def _beside(host: pl.DataFrame, timed: Bools, slot: Ints) -> tuple[Ints, Ints, Bools]:
    """Return for each untimed op the timed op it stands beside, on which side, and whether of its tid.

    The timed op of its tid with the next lower id (side +1: behind it), else with the next higher id (-1),
    else any timed op with the next lower id (+1). NONE where there is none.
    """
    ops = pl.DataFrame({"tid": host["tid"], "node_id": host["node_id"], "uid": host["uid"]})
    ops = ops.with_row_index("place").with_columns(
        timed=pl.when(pl.Series(timed)).then(pl.col("place").cast(pl.Int64))
    )
    ops = ops.filter(pl.col("node_id") >= 0).sort("node_id", "uid")
    ops = ops.with_columns(
        before=pl.col("timed").forward_fill().over("tid"),
        after=pl.col("timed").backward_fill().over("tid"),
        any_before=pl.col("timed").forward_fill(),
    )
    ops = ops.filter(pl.col("timed").is_null())
    beside = pl.coalesce("before", "after", "any_before").fill_null(NONE)
    behind = pl.col("before").is_not_null() | pl.col("after").is_null()
    found = ops.select(
        "place",
        beside.alias("beside"),
        pl.when(behind).then(1).otherwise(-1).alias("side"),
        (pl.col("before").is_not_null() | pl.col("after").is_not_null()).alias("same_tid"),
    )
    side, anchor = np.zeros(host.height, np.int64), np.full(host.height, NONE, np.int64)
    same_tid = np.zeros(host.height, np.bool_)
    places = found["place"].to_numpy()
    side[places], anchor[places], same_tid[places] = found["side"], found["beside"], found["same_tid"]
    return side, anchor, same_tid


def _lanes(
    host: pl.DataFrame, timed: Bools, anchor: Ints, same_tid: Bools, none: Bools
) -> tuple[Ints, dict[str, int], dict[tuple[int, int], int]]:
    """Return the lane of each host op, how many lanes follow from what, and the lanes of Kineto threads."""
    thread, process, tid = (_ints(host, c) for c in ("thread", "process", "tid"))
    on_thread = timed & (thread != NONE)
    origin = np.where(on_thread, 0, np.where(timed, 1, 2))
    first, second = np.where(on_thread, process, NONE), np.where(on_thread, thread, tid)
    adopted = ~timed & same_tid
    for column in (origin, first, second):
        column[adopted] = column[anchor[adopted]]
    keys = np.stack([origin, first, second], axis=1)[~none]
    lane = np.full(host.height, NONE, np.int64)
    if not len(keys):
        return lane, {}, {}
    lanes, inverse = np.unique(keys, axis=0, return_inverse=True)
    lane[~none] = inverse.reshape(-1)
    names = ("kineto thread and start", "tid and start", "tid and node id")
    counts = np.bincount(lanes[:, 0], minlength=len(names))
    lane_of = {(first, second): n for n, (of, first, second) in enumerate(lanes.tolist()) if of == 0}
    return lane, {name: int(n) for name, n in zip(names, counts, strict=True) if n}, lane_of
