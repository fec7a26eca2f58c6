"""What each exported node waits for: call tree, order of threads and streams, launches, recorded waits.

In:  the columns of one rank (columns.py). Out: `Dependencies`: the order of all nodes and what each depends
     on; every dependency stands before the node that has it, so the file is acyclic by construction.
Decided here: which parent is written (dependencies 4.2), what is order (4.1, 4.5, 4.6, 4.13), and what a
recorded edge that contradicts it means: it is left out and counted. The order itself: order.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from graphstore.export.columns import RankColumns
from graphstore.export.order import (
    NEVER,
    NONE,
    Bools,
    HostOrder,
    Ints,
    host_order,
    joint_order,
    pick,
    stream_order,
    topological_order,
)
from graphstore.link.parts import strong_parts
from graphstore.model.markers import GROUP_INIT

ENCLOSING_TOLERANCE_NS = 2  # that of the check for parents that do not enclose their child


@dataclass(frozen=True)
class Dependencies:
    """The order and the dependencies of a rank's nodes. Places: host ops by uid, then device ops by uid.

    `order`: places in the order written. `number`: of each place, its place in that order. `ctrl`: the place
    of the parent, NONE without. `data[data_first[p] : data_first[p + 1]]`: the places that p waits for,
    ascending in the order written, no repeats. `threads` counts lanes by what their order follows from,
    `written` edges by rule, `left_out` edges by reason.
    """

    order: Ints
    number: Ints
    ctrl: Ints
    data: Ints
    data_first: Ints
    threads: dict[str, int]
    streams: int
    written: dict[str, int]
    left_out: dict[str, int]


@dataclass
class _Places:
    """Where a uid stands: the place of a host or device op; a runtime call stands for the op that made it."""

    host: Ints
    kernel: Ints
    call: Ints
    caller: Ints  # per runtime call: the place of its host op, NONE without

    def node(self, uid: Ints) -> Ints:
        """Return the place of each host or device op; NONE for other nodes."""
        kernel = places_in(self.kernel, uid)
        return np.where(kernel == NONE, places_in(self.host, uid), kernel + len(self.host))

    def node_or_caller(self, uid: Ints) -> Ints:
        """Return the place of each op, for a runtime call that of its host op; NONE for other nodes."""
        node, call = self.node(uid), places_in(self.call, uid)
        return np.where(node == NONE, pick(self.caller, call, NONE), node)


@dataclass
class _Edges:
    """Edges collected so far, as places, with their counts."""

    source: list[Ints] = field(default_factory=list)
    target: list[Ints] = field(default_factory=list)
    written: dict[str, int] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)

    def add(self, rule: str, source: Ints, target: Ints) -> None:
        """Add edges of a rule."""
        self.source.append(source)
        self.target.append(target)
        _count(self.written, rule, len(source))

    def both(self) -> tuple[Ints, Ints]:
        """Return all sources and targets."""
        empty = np.zeros(0, np.int64)
        return np.concatenate([empty, *self.source]), np.concatenate([empty, *self.target])


def _count(counts: dict[str, int], name: str, number: int) -> None:
    if number:
        counts[name] = counts.get(name, 0) + number


def places_in(ascending: Ints, wanted: Ints) -> Ints:
    """Return where each of `wanted` lies in `ascending`; NONE for what is not in it."""
    if not len(ascending):
        return np.full(len(wanted), NONE, np.int64)
    place = np.minimum(np.searchsorted(ascending, wanted), len(ascending) - 1)
    return np.where(ascending[place] == wanted, place, NONE)


def dependencies(columns: RankColumns) -> Dependencies:
    """Return the order and the dependencies of a rank's host and device ops."""
    host, kernels = columns.host, columns.kernels
    places, ctrl, launch = _recorded_tree(columns)
    hosts = host_order(host)
    released = launch.copy()
    outside = _op_before_call(columns, hosts, places)
    released[launch == NONE] = outside[launch == NONE]
    streams = stream_order(kernels, pick(hosts.when, released, NEVER))
    priority = joint_order(hosts, streams)
    edges = _Edges()
    parent = _confirmed_parents(host, places, ctrl, edges)
    parent[len(host) :] = np.where(launch == NONE, ctrl[len(host) :], launch)
    parent = _ascending_parents(parent, priority, edges)
    _add_order(edges, hosts, streams.previous, released, launch)
    _add_calls_of_other_threads(edges, host, hosts, parent)
    priority = _add_recorded(edges, columns, places, parent, priority)
    order, number = np.argsort(priority), priority
    data, first = _lists(*edges.both(), number)
    return Dependencies(
        order, number, parent, data, first, hosts.threads, streams.streams, edges.written, edges.left_out
    )


def _ends(columns: RankColumns, *types: str) -> tuple[Ints, Ints]:
    """Return sources and targets (uids) of the rank's edges of the types named."""
    found = columns.edges.filter(pl.col("edge_type").is_in(types))
    return found["source"].to_numpy(), found["target"].to_numpy()


def _recorded_tree(columns: RankColumns) -> tuple[_Places, Ints, Ints]:
    """Return the places, the CTRL parent of every node, and the host op that launched each device op."""
    host, kernel = columns.host["uid"].to_numpy(), columns.kernels["uid"].to_numpy()
    call = columns.launches["uid"].to_numpy()
    places = _Places(host, kernel, call, np.full(len(call), NONE, np.int64))
    source, target = _ends(columns, "CTRL")
    above, below, called = places.node(source), places.node(target), places_in(call, target)
    of_call = (called != NONE) & (above != NONE)
    places.caller[called[of_call]] = above[of_call]
    ctrl = np.full(len(host) + len(kernel), NONE, np.int64)
    of_node = (below != NONE) & (above != NONE)
    ctrl[below[of_node]] = above[of_node]
    source, target = _ends(columns, "LAUNCHES")
    launch = np.where(
        ctrl[len(host) :] < len(host), ctrl[len(host) :], NONE
    )  # merged traces name the op itself
    caller, launched = places.node_or_caller(source), places_in(kernel, target)
    by_call = (caller != NONE) & (launched != NONE)
    launch[launched[by_call]] = caller[by_call]
    return places, ctrl, launch


def _op_before_call(columns: RankColumns, hosts: HostOrder, places: _Places) -> Ints:
    """Return for each device op whose launch lies in no op the last op begun before it on that thread."""
    before = np.full(columns.kernels.height, NONE, np.int64)
    source, target = _ends(columns, "LAUNCHES")
    call, launched = places_in(places.call, source), places_in(places.kernel, target)
    lone = (call != NONE) & (launched != NONE)
    call, launched = call[lone], launched[lone]
    lone = places.caller[call] == NONE
    call, launched = call[lone], launched[lone]
    if not len(call):
        return before
    keys = ("process", "thread")
    ops = columns.host.select(*keys, place=pl.int_range(pl.len()), when=pl.Series(hosts.when))
    ops = (
        ops.with_columns(position=pl.Series(hosts.position)).filter(pl.col("thread") != NONE).sort("position")
    )
    calls = columns.launches[call].select(*keys, when="start_ns", device_op=pl.Series(launched)).sort("when")
    found = calls.join_asof(ops.sort("when", maintain_order=True), on="when", by=keys, check_sortedness=False)
    before[found["device_op"].to_numpy()] = found["place"].fill_null(NONE).to_numpy()
    return before


def _confirmed_parents(host: pl.DataFrame, places: _Places, ctrl: Ints, edges: _Edges) -> Ints:
    """Return the parents to write: as recorded, but the proven encloser where Kineto refutes the recorded
    one.

    Refuted: both are timed, and the parent lies on another thread or does not enclose the child. A `gloo:` op
    on its own thread is no refutation of its `c10d::` call (decision 16).
    """
    count = host.height
    parent, recorded = ctrl.copy(), ctrl[:count]
    inside = (recorded != NONE) & (recorded < count)
    child, above = np.flatnonzero(inside), recorded[inside]
    start, duration, thread, process = (
        host[name].to_numpy() for name in ("start_ns", "duration_ns", "thread", "process")
    )
    end = start + duration
    known = (
        (duration[child] >= 0) & (duration[above] >= 0) & (thread[child] != NONE) & (thread[above] != NONE)
    )
    same = (thread[child] == thread[above]) & (process[child] == process[above])
    encloses = start[above] <= start[child] + ENCLOSING_TOLERANCE_NS
    encloses &= end[above] + ENCLOSING_TOLERANCE_NS >= end[child]
    worker = host["name"].str.starts_with("gloo:").to_numpy()[child]
    worker &= host["name"].str.starts_with("c10d::").to_numpy()[above]
    refuted = known & ~(same & encloses) & ~(worker & ~same)
    proven = places_in(places.host, host["encloser"].to_numpy()[child])
    instead = refuted & (proven != NONE)
    parent[child[instead]] = proven[instead]
    _count(edges.written, "parent by time instead of the recorded one", int(instead.sum()))
    return parent


def _ascending_parents(parent: Ints, priority: Ints, edges: _Edges) -> Ints:
    """Return the parents without those that stand behind their child in the order."""
    named = parent != NONE
    against = named & (pick(priority, parent, NONE) >= priority)
    _count(edges.left_out, "parent that starts after its child", int(against.sum()))
    _count(edges.written, "parent", int((named & ~against).sum()))
    return np.where(against, NONE, parent)


def _add_order(edges: _Edges, hosts: HostOrder, on_stream: Ints, released: Ints, launch: Ints) -> None:
    """Add what always holds: program order of threads, launch before device op, order of streams."""
    count = len(hosts.lane)
    work = np.flatnonzero(hosts.lane != NONE)
    by_lane = work[np.lexsort([hosts.position[work], hosts.lane[work]])]
    follows = hosts.lane[by_lane[1:]] == hosts.lane[by_lane[:-1]]
    edges.add("thread order", by_lane[:-1][follows], by_lane[1:][follows])
    kernel = np.arange(len(released)) + count
    edges.add("launch", released[launch != NONE], kernel[launch != NONE])
    lone = (launch == NONE) & (released != NONE)
    edges.add("launch outside of ops", released[lone], kernel[lone])
    edges.add("stream order", on_stream[on_stream != NONE] + count, kernel[on_stream != NONE])


def _add_calls_of_other_threads(edges: _Edges, host: pl.DataFrame, hosts: HostOrder, parent: Ints) -> None:
    """Add an op's parent as data dep where thread order does not imply it. Metadata is no work: it waits for
    nothing and nothing waits for it (a simulator may leave it out).
    """
    count = host.height
    metadata = np.append((host["name"] == GROUP_INIT).to_numpy(), np.zeros(len(parent) - count, np.bool_))
    lane = np.append(hosts.lane, np.full(len(parent) - count, NONE, np.int64))
    above = np.where(parent == NONE, 0, parent)
    other = (parent != NONE) & ~metadata & ~metadata[above] & ((lane != lane[above]) | (lane == NONE))
    other[count:] &= parent[count:] >= count  # a device op below a device op; its launch is an edge already
    child = np.flatnonzero(other)
    edges.add("call of another thread", parent[child], child)


def _add_recorded(edges: _Edges, columns: RankColumns, places: _Places, parent: Ints, priority: Ints) -> Ints:
    """Add SYNC and DATA edges and those from a call to its worker; return the order they fit in.

    An edge whose source starts after its target has ended is left out; one whose source starts while the
    target still runs (a wait) moves the target back, unless that closes a cycle.
    """
    found = _recorded_edges(columns, places)
    written = (pl.col("source") != NONE) & (pl.col("target") != NONE)
    named = found.filter(written & (pl.col("source") != pl.col("target")))
    inside = found.filter(written).height - named.height
    _count(edges.left_out, "edge between records that are one node of the file", inside)
    absent = found.height - named.height - inside
    _count(edges.left_out, "edge to or from a record that is no node of the file", absent)
    source, target, rule = named["source"].to_numpy(), named["target"].to_numpy(), named["rule"].to_numpy()
    forward, late = priority[source] < priority[target], _starts_after_end(columns, source, target)
    kept = forward
    if not np.all(forward | late):
        kept, priority = _with_waits(_with_parents(edges, parent), source, target, forward, late, priority)
    for name in sorted(set(rule)):
        edges.add(name, source[kept & (rule == name)], target[kept & (rule == name)])
        against = int((~kept & late & (rule == name)).sum())
        _count(edges.left_out, f"{name} whose source starts after its target has ended", against)
        _count(edges.left_out, f"{name} that closes a cycle", int((~kept & ~late & (rule == name)).sum()))
    return priority


def _with_waits(
    base: tuple[Ints, Ints], source: Ints, target: Ints, forward: Bools, late: Bools, priority: Ints
) -> tuple[Bools, Ints]:
    """Return which recorded edges can be kept, and the order in which they and `base` lead forward."""

    def joined(chosen: Bools) -> tuple[Ints, Ints]:
        return np.concatenate([base[0], source[chosen]]), np.concatenate([base[1], target[chosen]])

    tried = forward | ~late
    part = strong_parts(len(priority), *joined(tried))
    kept = forward | (tried & (part[source] != part[target]))
    order = topological_order(len(priority), *joined(kept), priority)
    moved = np.empty_like(order)
    moved[order] = np.arange(len(order))
    return kept, moved


def _recorded_edges(columns: RankColumns, places: _Places) -> pl.DataFrame:
    """Return source, target (places) and rule of SYNC and DATA edges, and of calls and their workers."""
    schema = {"source": pl.Int64, "target": pl.Int64, "rule": pl.String}
    parts = [pl.DataFrame(schema=schema)]
    for edge_type in ("SYNC", "DATA"):
        source, target = _ends(columns, edge_type)
        ends = {"source": places.node_or_caller(source), "target": places.node_or_caller(target)}
        parts.append(pl.DataFrame(ends, schema_overrides=schema).with_columns(rule=pl.lit(edge_type)))
    seen = columns.call_ops
    calls, workers = (seen.filter(pl.col("role") == role) for role in ("host_op", "worker"))
    joined = calls.join(workers, on="call_uid", suffix="_worker").sort("op_uid_worker", "op_uid")
    ends = {
        "source": places.node(joined["op_uid"].to_numpy()),
        "target": places.node(joined["op_uid_worker"].to_numpy()),
    }
    parts.append(pl.DataFrame(ends, schema_overrides=schema).with_columns(rule=pl.lit("call to its worker")))
    return pl.concat(parts)


def _starts_after_end(columns: RankColumns, source: Ints, target: Ints) -> Bools:
    """Return which edges leave a node that starts when the node they lead to has ended, or lack the times."""
    start, duration = (
        np.concatenate([columns.host[name].to_numpy(), columns.kernels[name].to_numpy()])
        for name in ("start_ns", "duration_ns")
    )
    timed = (duration[source] >= 0) & (duration[target] >= 0)
    late = start[source] >= start[target] + duration[target]
    return np.asarray(~timed | late, dtype=np.bool_)


def _with_parents(edges: _Edges, parent: Ints) -> tuple[Ints, Ints]:
    """Return the edges so far and those from parents."""
    source, target = edges.both()
    child = np.flatnonzero(parent != NONE)
    return np.concatenate([source, parent[child]]), np.concatenate([target, child])


def _lists(source: Ints, target: Ints, number: Ints) -> tuple[Ints, Ints]:
    """Return the sources of each target, ascending by their number and without repeats, and where each list
    begins.
    """
    pairs = np.unique(target * len(number) + number[source]) if len(source) else np.zeros(0, np.int64)
    target, numbered = np.divmod(pairs, max(len(number), 1))
    order = np.argsort(number)
    return order[numbered], np.searchsorted(target, np.arange(len(number) + 1))
