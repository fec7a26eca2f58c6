"""Written files played again, by readers that know nothing of graphstore: each rank alone, and all together.

In:  Chakra files of the ranks of one run. Out: a `RankReplay` each. Decided here (dependencies 2 and 5): the
time a file was measured to take is from its first start to its last end; played together, the members of a
collective meet: its transfer begins when the last is ready, and lasts on each rank what it lasted after the
last one's start (so the clocks of the ranks must agree). Calls of a group are matched by their order, as
simulators do, and a call without a group is one of all ranks. Sends and recvs last as measured.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from graphstore.chakra.et_def_pb2 import Node, NodeType
from graphstore.errors import InputError
from graphstore.export.order import Bools, Ints, topological_order
from graphstore.export.replay import (
    COMMUNICATION,
    CPU,
    GPU,
    Deps,
    deps_of,
    error,
    in_slots,
    percentiles,
    unlimited,
)

UNEXPLAINED_NAME = "unexplained wait"
COMMUNICATIONS = (NodeType.COMM_COLL_NODE, NodeType.COMM_SEND_NODE, NodeType.COMM_RECV_NODE)


@dataclass
class FileNodes:
    """The nodes of one file, in an order in which every dep comes first, one entry each; times in µs.

    `start` is -1 without times. `slot`: CPU, GPU or COMMUNICATION. `lane`: a number for its thread or stream,
    -1 where the file names none. `meets`: {node: group} of the collectives, in order of issue. `lead`: how
    long before its start a node is written to begin.
    """

    path: str
    rank: int
    start: Ints
    duration: Ints
    lead: Ints
    deps: Deps
    slot: Ints
    lane: Ints
    streams: dict[int, str]
    meets: dict[int, str] = field(default_factory=dict)
    unexplained_us: int = 0

    @property
    def timed(self) -> Bools:
        """Return which nodes have a start."""
        return self.start >= 0

    @property
    def begins(self) -> int:
        """Return the first start, 0 without times."""
        return int(self.start[self.timed].min(initial=np.iinfo(np.int64).max)) if self.timed.any() else 0

    @property
    def ends(self) -> Ints:
        """Return when each node ended as measured."""
        return self.start + self.duration - self.lead

    def measured(self) -> int:
        """Return the span from the first start to the last end."""
        return int(self.ends[self.timed].max()) - self.begins if self.timed.any() else 0


@dataclass
class _Columns:
    """What is kept of each node while a file is read."""

    ids: list[int] = field(default_factory=list)
    start: list[int] = field(default_factory=list)
    duration: list[int] = field(default_factory=list)
    lead: list[int] = field(default_factory=list)
    deps: list[list[int]] = field(default_factory=list)
    slot: list[int] = field(default_factory=list)
    lane: list[tuple[str, int, int] | None] = field(default_factory=list)
    meets: dict[int, str] = field(default_factory=dict)
    unexplained_us: int = 0


def file_nodes(path: Path, rank: int, nodes: Iterable[Node]) -> FileNodes:
    """Return the nodes of a file as columns.

    Raises InputError when a dep is absent or the deps close a cycle: no reader could play such a file.
    """
    told = _Columns()
    for node in nodes:
        _take(node, told)
    place_of = {node_id: place for place, node_id in enumerate(told.ids)}
    if len(place_of) < len(told.ids):
        raise InputError(f"{path}: ids are used by more than one node; `graphstore check {path}` shows them.")
    source, target = _edges(path, told, place_of)
    ids = np.array(told.ids, np.uint64)
    priority = np.empty(len(ids), np.int64)
    priority[np.argsort(ids, kind="stable")] = np.arange(len(ids))
    try:
        order = topological_order(len(ids), source, target, priority)
    except ValueError as error:
        raise InputError(
            f"{path}: can't be played: {error}. `graphstore check {path}` shows the cycles."
        ) from error
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    lanes = {key: n for n, key in enumerate(sorted({lane for lane in told.lane if lane}))}
    moved = {old: int(number[old]) for old in told.meets}
    return FileNodes(
        path=str(path),
        rank=rank,
        start=np.array(told.start, np.int64)[order],
        duration=np.array(told.duration, np.int64)[order],
        lead=np.array(told.lead, np.int64)[order],
        deps=deps_of(number[source], number[target], len(order)),
        slot=np.array(told.slot, np.int64)[order],
        lane=np.array([lanes[lane] if lane else -1 for lane in told.lane], np.int64)[order],
        streams={n: f"device {key[1]} stream {key[2]}" for key, n in lanes.items() if key[0] == "stream"},
        meets=dict(sorted((moved[old], group) for old, group in told.meets.items())),
        unexplained_us=told.unexplained_us,
    )


def _take(node: Node, told: _Columns) -> None:
    """Keep what matters of a node."""
    attributes = {attribute.name: attribute for attribute in node.attr}
    place = len(told.ids)
    is_communication = node.type in COMMUNICATIONS
    on_cpu = "is_cpu_op" in attributes and attributes["is_cpu_op"].bool_val
    told.ids.append(node.id)
    told.start.append(node.start_time_micros if node.start_time_micros or node.duration_micros else -1)
    told.duration.append(node.duration_micros)
    told.lead.append(attributes["lead_us"].int64_val if "lead_us" in attributes else 0)
    told.deps.append(sorted({*node.ctrl_deps, *node.data_deps}))
    told.slot.append(COMMUNICATION if is_communication else CPU if on_cpu else GPU)
    told.lane.append(_lane(attributes))
    if node.type == NodeType.COMM_COLL_NODE:
        told.meets[place] = attributes["pg_name"].string_val if "pg_name" in attributes else ""
    if node.name == UNEXPLAINED_NAME:
        told.unexplained_us += node.duration_micros


def _lane(attributes: Mapping[str, Any]) -> tuple[str, int, int] | None:
    """Return what tells one thread or stream from another, None where a node names neither."""
    if "stream" in attributes:
        device = attributes["device"].int64_val if "device" in attributes else -1
        return "stream", int(device), int(attributes["stream"].int64_val)
    for name in ("thread", "tid"):
        if name in attributes:
            return "thread", -1, int(attributes[name].int64_val)
    return None


def _edges(path: Path, told: _Columns, place_of: Mapping[int, int]) -> tuple[Ints, Ints]:
    """Return source and target places of all deps."""
    source, target = [], []
    for place, deps in enumerate(told.deps):
        for dep in deps:
            if dep not in place_of:
                raise InputError(
                    f"{path}: node {told.ids[place]} waits for {dep}, which no node is; readers refuse "
                    f"such a file. `graphstore check {path}` shows all of them."
                )
            source.append(place_of[dep])
            target.append(place)
    return np.array(source, np.int64), np.array(target, np.int64)


def alone(nodes: FileNodes) -> dict[str, Any]:
    """Return how a rank plays by itself: spans in ns, how far starts are off, busy time of its streams."""
    starts = unlimited(nodes.duration, nodes.deps)
    slots = in_slots(nodes.duration, nodes.deps, nodes.slot)
    ends = starts + nodes.duration
    simulated, simple = int(ends.max(initial=0)), int((slots + nodes.duration).max(initial=0))
    measured = nodes.measured()
    off = np.abs(starts - (nodes.start - nodes.lead - nodes.begins))
    on_cpu = nodes.slot == CPU
    return {
        "measured_ns": measured * 1_000,
        "simulated_ns": simulated * 1_000,
        "error": error(simulated, measured),
        "simple_reader_ns": simple * 1_000,
        "simple_reader_error": error(simple, measured),
        "start_error_us": {
            "cpu": percentiles(off[nodes.timed & on_cpu]),
            "gpu": percentiles(off[nodes.timed & ~on_cpu]),
        },
        "unexplained": round(nodes.unexplained_us / measured, 6) if measured else 0.0,
        "busy_ns": {
            name: int(nodes.duration[nodes.lane == lane].sum()) * 1_000
            for lane, name in nodes.streams.items()
        },
    }


def together(ranks: Sequence[FileNodes], groups: Mapping[str, Sequence[int]]) -> dict[int, int]:
    """Return the span of each rank (µs) when all are played together and collectives meet.

    A rank starts when its file does. Raises InputError when the ranks wait for one another in a circle.
    """
    base = np.cumsum([0, *(len(nodes.start) for nodes in ranks)])
    begin = min((nodes.begins for nodes in ranks if nodes.timed.any()), default=0)
    duration = np.concatenate([nodes.duration for nodes in ranks])
    roots = np.concatenate([np.full(len(nodes.start), nodes.begins - begin) for nodes in ranks])
    before = np.concatenate([nodes.deps.ids + base[n] for n, nodes in enumerate(ranks)])
    after = np.concatenate(
        [
            np.repeat(np.arange(len(nodes.start)), np.diff(nodes.deps.first)) + base[n]
            for n, nodes in enumerate(ranks)
        ]
    )
    before, after, duration, roots = _with_meetings(ranks, groups, base, (before, after, duration, roots))
    try:
        order = topological_order(len(duration), before, after, np.arange(len(duration)))
    except ValueError as failed:
        raise InputError(
            "the ranks can't be played together: their collectives wait for one another in a circle "
            "(`graphstore hang` on the traces shows where their order differs)"
        ) from failed
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    starts = np.empty(len(order), np.int64)
    starts[order] = unlimited(
        duration[order], deps_of(number[before], number[after], len(order)), roots[order]
    )
    ends = starts + duration
    return {
        nodes.rank: int(ends[base[n] : base[n + 1]].max(initial=0)) - (nodes.begins - begin)
        for n, nodes in enumerate(ranks)
    }


def _with_meetings(
    ranks: Sequence[FileNodes],
    groups: Mapping[str, Sequence[int]],
    base: Ints,
    plain: tuple[Ints, Ints, Ints, Ints],
) -> tuple[Ints, Ints, Ints, Ints]:
    """Return source and target of all edges, durations and earliest starts, with two nodes more a meeting.

    A member's deps become those of a node of its own that lasts its lead; all these end before the meeting,
    a node of no length, and the member follows it with its transfer.
    """
    before, after, duration, roots = plain
    meetings = _meetings(ranks, groups)
    member = np.array([base[rank] + node for meeting in meetings for rank, node, _ in meeting], np.int64)
    meeting_of = np.repeat(np.arange(len(meetings)), [len(meeting) for meeting in meetings])
    lead = np.concatenate([nodes.lead for nodes in ranks])[member]
    duration = duration.copy()
    duration[member] = [transfer for meeting in meetings for _, _, transfer in meeting]
    total = len(duration)
    ready = np.arange(total)
    ready[member] = total + np.arange(len(member))
    meets = total + len(member) + meeting_of
    return (
        np.concatenate([before, ready[member], meets]),
        np.concatenate([ready[after], meets, member]),
        np.concatenate([duration, lead, np.zeros(len(meetings), np.int64)]),
        np.concatenate([roots, roots[member], np.zeros(len(meetings), np.int64)]),
    )


def _meetings(
    ranks: Sequence[FileNodes], groups: Mapping[str, Sequence[int]]
) -> list[list[tuple[int, int, int]]]:
    """Return the collectives that ranks meet in, as (place of the rank, node, µs of its transfer).

    The k-th call of a group on each of its ranks is one; a rank that had ended before the last one started
    did not wait for it (the root of a broadcast) and is left out.
    """
    issued: dict[tuple[str, int], list[tuple[int, int]]] = defaultdict(list)
    for place, nodes in enumerate(ranks):
        counted: dict[str, int] = defaultdict(int)
        for node, group in nodes.meets.items():
            if group in groups and nodes.rank not in groups[group]:
                continue
            issued[group, counted[group]].append((place, node))
            counted[group] += 1
    meetings = []
    for members in issued.values():
        latest = max(int(ranks[place].start[node]) for place, node in members)
        meeting = []
        for place, node in members:
            nodes = ranks[place]
            after = int(nodes.ends[node]) - latest
            if after >= 0:
                meeting.append((place, node, after))
        if len(meeting) > 1:
            meetings.append(meeting)
    return meetings
