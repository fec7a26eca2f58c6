"""The SYNC and DATA edges of a rank and its calls of workers, as places on threads and device ops.

In:  the columns of one rank, the order of its host ops, its launches. Out: one frame, a row an edge.
Decided here (dependencies 4.7 to 4.13): where on a thread each rule joins, and from when the thread was idle.
What waits inside an op (a call that blocks, a thread that handed its work over) is idle from the cut before.
A recorded edge whose source ends while its target runs is waited for inside the target.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from graphstore.export.columns import RankColumns
from graphstore.export.lanes import started
from graphstore.export.launches import Launches
from graphstore.export.order import NEVER, NONE, HostOrder, Ints
from graphstore.export.places import Places, ends_of, places_in

CALL_TO_WORKER, OTHER_THREAD = "call to its worker", "call of another thread"
EARLY_WORKER = "call to its worker that starts before it"
NO_NODE = "edge to or from a record that is no node of its own"
# A source is a device op, a piece of a lane that ends at a time, or a host op on no lane; a target a device
# op, a host op (its first piece), or the piece of a lane that starts at a time. `idle_from`: the lane waited
# from then (NEVER: from the cut before) to `target_time`; null where it did not. `wakes`: the gap before the
# target is no work.
SCHEMA = {
    "rule": pl.String,
    "source_device_op": pl.Int64,
    "source_op": pl.Int64,
    "source_lane": pl.Int64,
    "source_time": pl.Int64,
    "target_device_op": pl.Int64,
    "target_op": pl.Int64,
    "target_lane": pl.Int64,
    "target_time": pl.Int64,
    "idle_from": pl.Int64,
    "wakes": pl.Boolean,
}
Columns = Mapping[str, Ints | pl.Series | bool]


@dataclass(frozen=True)
class _Rank:
    """What every rule asks: times and lanes of host ops, device ops and calls, and where uids stand."""

    places: Places
    launches: Launches
    lane: Ints
    start: Ints
    end: Ints
    timed: Ints
    device_start: Ints
    device_end: Ints

    def host(self, uid: Ints) -> Ints:
        """Return the places of host ops."""
        return places_in(self.places.host, uid)


def find_waits(
    columns: RankColumns, hosts: HostOrder, places: Places, launches: Launches, parent: Ints
) -> tuple[pl.DataFrame, Counter[str]]:
    """Return every wait of a rank, and why edges are left out; columns as SCHEMA says, host ops by place,
    device ops by their own number.
    """
    host, kernels = columns.host, columns.kernels
    begin, device_start = started(hosts), kernels["start_ns"].to_numpy()
    rank = _Rank(
        places,
        launches,
        hosts.lane,
        begin,
        begin + np.maximum(host["duration_ns"].to_numpy(), 0),
        (host["duration_ns"].to_numpy() >= 0).astype(np.int64),
        device_start,
        device_start + np.maximum(kernels["duration_ns"].to_numpy(), 0),
    )
    rows = {rule: part for (rule,), part in columns.waits.partition_by("rule", as_dict=True).items()}
    handed_over = _of_family(rows, "hand_over")
    parts = [pl.DataFrame(schema=SCHEMA)]
    for rule in sorted(rows):
        source, target = rows[rule]["source"].to_numpy(), rows[rule]["target"].to_numpy()
        family = rule.partition(".")[0]
        if family == "host_wait":
            parts.append(_blocking_calls(rank, rule, source, target))
        elif family in ("hand_over", "thread_start"):
            parts.append(_woken(rank, rule, source, target, at_target=family == "hand_over"))
        elif family == "hand_back":
            parts.append(_handed_back(rank, rule, source, target, handed_over))
        elif family == "worker_done":
            parts.append(_resumed(rank, rule, source, target))
        else:
            parts.append(_recorded(rank, rule or "SYNC", source, target))
    data = _between_threads(rank, *ends_of(columns, "DATA"))
    flow = _recorded(rank, "DATA", *data)
    given = columns.waits.height + len(data[0])
    left_out = Counter({NO_NODE: given - flow.height - sum(part.height for part in parts)})
    workers, left_out[EARLY_WORKER] = _workers(rank, columns.call_ops)
    woken = pl.concat([*parts, workers]).filter("wakes")["target_op"].to_numpy()
    others = _other_threads(rank, parent, woken)
    # The stronger rule first: of two for one pair the first stands.
    return pl.concat([*parts, workers, others, flow]), left_out


def _between_threads(rank: _Rank, source: Ints, target: Ints) -> tuple[Ints, Ints]:
    """Return the edges without those within a thread, whose order says as much."""
    before, behind = rank.host(source), rank.host(target)
    lane = np.append(rank.lane, NONE)
    within = (before != NONE) & (behind != NONE) & (lane[before] == lane[behind]) & (lane[before] != NONE)
    return source[~within], target[~within]


def _of_family(rows: Mapping[str, pl.DataFrame], family: str) -> pl.DataFrame:
    found = [part for rule, part in rows.items() if rule.partition(".")[0] == family]
    return pl.concat(found) if found else pl.DataFrame(schema={"source": pl.Int64, "target": pl.Int64})


def _frame(rule: str, columns: Columns) -> pl.DataFrame:
    """Return rows of SCHEMA; columns not given are null."""
    words = {name: value for name, value in columns.items() if isinstance(value, bool)}
    given = pl.DataFrame({name: values for name, values in columns.items() if name not in words})
    given = given.with_columns(pl.lit(value).alias(name) for name, value in ({"rule": rule} | words).items())
    return given.select(
        (pl.col(name) if name in given.columns else pl.lit(None)).cast(kind).alias(name)
        for name, kind in SCHEMA.items()
    )


def _blocking_calls(rank: _Rank, rule: str, source: Ints, target: Ints) -> pl.DataFrame:
    """Calls that block: idle from where they let their own work go until the last op waited for has ended."""
    device_op, call = places_in(rank.places.kernel, source), places_in(rank.places.call, target)
    known = (device_op != NONE) & (call != NONE)
    known[known] = rank.launches.calls.lane[call[known]] != NONE
    device_op, call = device_op[known], call[known]
    calls = rank.launches.calls
    until = np.full(len(calls.start), NEVER, np.int64)
    np.maximum.at(until, call, rank.device_end[device_op])
    until = np.maximum(np.minimum(until, calls.end), calls.start)
    columns = {
        "source_device_op": device_op,
        "target_lane": calls.lane[call],
        "target_time": until[call],
        "idle_from": rank.launches.let_go[call],
    }
    return _frame(rule, columns)


def _woken(rank: _Rank, rule: str, source: Ints, target: Ints, at_target: bool) -> pl.DataFrame:
    """An op of another thread begins: when the source's thread is cut there, or after the source has
    ended.
    """
    giver, taker = rank.host(source), rank.host(target)
    known = (giver != NONE) & (taker != NONE)
    giver, taker = giver[known], taker[known]
    time = rank.start[taker] if at_target else rank.end[giver]
    return _frame(
        rule, {"source_lane": rank.lane[giver], "source_time": time, "target_op": taker, "wakes": True}
    )


def _handed_back(
    rank: _Rank, rule: str, source: Ints, target: Ints, handed_over: pl.DataFrame
) -> pl.DataFrame:
    """A thread takes up its work again: idle since it last handed work over."""
    worker, taker = rank.host(source), rank.host(target)
    known = (worker != NONE) & (taker != NONE)
    worker, taker = worker[known], taker[known]
    giver, first = (rank.host(handed_over[name].to_numpy()) for name in ("source", "target"))
    time, lane = rank.end[worker], rank.lane[taker]
    begins = np.full(len(time), NEVER, np.int64)
    for value in np.unique(lane):
        given = np.sort(rank.start[first[rank.lane[giver] == value]])
        mine = np.flatnonzero(lane == value)
        place = np.searchsorted(given, time[mine], "right") - 1
        begins[mine[place >= 0]] = given[place[place >= 0]]
    columns = {
        "source_lane": rank.lane[worker],
        "source_time": time,
        "target_lane": lane,
        "target_time": time,
        "idle_from": begins,
    }
    return _frame(rule, columns)


def _resumed(rank: _Rank, rule: str, source: Ints, target: Ints) -> pl.DataFrame:
    """A thread waited for a worker's op: idle from the cut before its end."""
    worker, taker = rank.host(source), rank.host(target)
    known = (worker != NONE) & (taker != NONE)
    worker, taker = worker[known], taker[known]
    time = rank.end[worker]
    columns = {
        "source_lane": rank.lane[worker],
        "source_time": time,
        "target_lane": rank.lane[taker],
        "target_time": time,
        "idle_from": np.full(len(time), NEVER, np.int64),
    }
    return _frame(rule, columns)


def _workers(rank: _Rank, call_ops: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """A backend's worker takes up a call: the call is cut where the worker begins, or ends before.

    Also returned: how many workers' ops start before their call, which the times contradict.
    """
    calls, workers = (call_ops.filter(pl.col("role") == role) for role in ("host_op", "worker"))
    joined = calls.join(workers, on="call_uid", suffix="_worker").sort("op_uid_worker", "op_uid")
    call, worker = rank.host(joined["op_uid"].to_numpy()), rank.host(joined["op_uid_worker"].to_numpy())
    known = (call != NONE) & (worker != NONE)
    known[known] = (call[known] != worker[known]) & (rank.lane[call[known]] != rank.lane[worker[known]])
    call, worker = call[known], worker[known]
    timed = (rank.timed[call] & rank.timed[worker]).astype(np.bool_)
    on_time = timed & (rank.start[worker] >= rank.start[call])
    columns = {
        "source_lane": rank.lane[call[on_time]],
        "source_time": np.minimum(rank.start[worker[on_time]], rank.end[call[on_time]]),
        "target_op": worker[on_time],
        "wakes": True,
    }
    untimed = {"source_op": call[~timed], "target_op": worker[~timed]}
    found = pl.concat([_frame(CALL_TO_WORKER, columns), _frame(CALL_TO_WORKER, untimed)])
    return found, int((timed & ~on_time).sum())


def _other_threads(rank: _Rank, parent: Ints, woken: Ints) -> pl.DataFrame:
    """An op of one thread calls one of another: cut where the called one begins.

    Not where another rule says what woke it: the recorded parent of a worker's op can be a stale one.
    """
    child = np.flatnonzero(parent != NONE)
    child = child[~np.isin(child, woken)]
    above = parent[child]
    apart = (rank.lane[child] != rank.lane[above]) & (rank.lane[child] != NONE) & (rank.lane[above] != NONE)
    known = apart & ((rank.timed[child] & rank.timed[above]) == 1) & (rank.start[child] >= rank.start[above])
    child, above = child[known], above[known]
    columns = {
        "source_lane": rank.lane[above],
        "source_time": np.minimum(rank.start[child], rank.end[above]),
        "target_op": child,
    }
    return _frame(OTHER_THREAD, columns)


def _recorded(rank: _Rank, rule: str, source: Ints, target: Ints) -> pl.DataFrame:
    """Edges between ops as recorded or found for device ops: from the end of one to the start of the other.

    Where the source ends while a host op runs that waits for it, it is waited for inside.
    """
    count = len(rank.lane)
    before, behind = rank.places.node_or_caller(source), rank.places.node_or_caller(target)
    known = (before != NONE) & (behind != NONE) & (before != behind)
    before, behind = before[known], behind[known]
    ends, begins, finishes = _end(rank, before), _begin(rank, behind), _end(rank, behind)
    timed = _timed(rank, before) & _timed(rank, behind)
    inside = timed & (behind < count) & (ends > begins) & (ends <= finishes)
    by_lane = timed & (before < count)
    by_lane[by_lane] = rank.lane[before[by_lane]] != NONE
    inside[inside] = rank.lane[behind[inside]] != NONE

    def where(mask: npt.NDArray[np.bool_], values: Ints) -> pl.Series:
        return pl.select(pl.when(pl.Series(mask)).then(pl.Series(values, dtype=pl.Int64))).to_series()

    host_lane = np.append(rank.lane, NONE)
    columns = {
        "source_device_op": where(before >= count, before - count),
        "source_op": where((before < count) & ~by_lane, before),
        "source_lane": where(by_lane, host_lane[np.minimum(before, count)]),
        "source_time": where(by_lane, ends),
        "target_device_op": where(behind >= count, behind - count),
        "target_op": where((behind < count) & ~inside, behind),
        "target_lane": where(inside, host_lane[np.minimum(behind, count)]),
        "target_time": where(inside, ends),
    }
    return _frame(rule, columns)


def _begin(rank: _Rank, node: Ints) -> Ints:
    return np.concatenate([rank.start, rank.device_start])[node]


def _end(rank: _Rank, node: Ints) -> Ints:
    return np.concatenate([rank.end, rank.device_end])[node]


def _timed(rank: _Rank, node: Ints) -> npt.NDArray[np.bool_]:
    timed = np.concatenate([rank.timed, np.ones(len(rank.device_start), np.int64)])
    return timed[node].astype(np.bool_)
