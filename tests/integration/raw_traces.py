"""Traces as plain Python reads them from their JSON: what the answers of the catalogue are checked by.

Nothing of the package is used here. Times are ns since the first event of any rank of the set, which is
where a run begins.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any

HOST = ("cpu_op", "user_annotation")
RUNTIME = ("cuda_runtime", "cuda_driver")
DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")


@dataclass(eq=False)
class Event:
    """A span of a Kineto trace: `lane` is the thread, on a device the stream. `inside`: the op around it."""

    name: str
    cat: str
    start: int
    end: int
    lane: Any
    args: dict[str, Any]
    inside: Event | None = None
    own: int = 0

    @property
    def lasts(self) -> int:
        """How long it lasts."""
        return self.end - self.start

    @property
    def correlation(self) -> int:
        """What joins runtime call and device op."""
        return int(self.args["correlation"])


@dataclass
class Rank:
    """The files of one rank: nodes of the execution trace by id, and the events of the Kineto trace."""

    nodes: dict[int, dict[str, Any]]
    events: list[Event] = field(default_factory=list)

    def of(self, *cats: str) -> list[Event]:
        """Return the events of some categories."""
        return [event for event in self.events if event.cat in cats]

    @cached_property
    def launches(self) -> list[tuple[Event, Event]]:
        """The device ops that have a runtime call, each with it."""
        calls = {call.correlation: call for call in self.of(*RUNTIME)}
        return [(calls[op.correlation], op) for op in self.of(*DEVICE) if op.correlation in calls]

    @cached_property
    def host_ops(self) -> list[Event]:
        """The host ops, each with the op around it on its thread and its own time."""
        ops = self.of(*HOST)
        # a longer op is entered first; in whole µs the External id, which counts up, tells more
        ops.sort(key=lambda op: (op.lane, op.start, op.args["External id"]))
        open_: list[Event] = []
        for op in ops:
            while open_ and (open_[-1].lane != op.lane or open_[-1].end < op.end):
                open_.pop()
            op.inside = open_[-1] if open_ else None
            op.own = op.lasts
            if op.inside is not None:
                op.inside.own -= op.lasts
            open_.append(op)
        return ops

    def caller(self, call: Event) -> Event | None:
        """Return the host op that a runtime call starts in: the one entered last that goes on then."""
        near = [op for op in self.host_ops if op.lane == call.lane and op.start <= call.start <= op.end]
        going_on = [op for op in near if op.end > call.start]
        return max(going_on or near, key=lambda op: (op.start, op.args["External id"]), default=None)

    def above(self, node_id: int) -> list[int]:
        """Return the ids from the parent of a node up to the process root, which names itself."""
        found = []
        while (parent := self.nodes[node_id]["parent"]) in self.nodes and parent != node_id:
            node_id = parent
            found.append(node_id)
        return found


def read_ranks(pairs: Iterable[tuple[Path, Path]]) -> list[Rank]:
    """Return the ranks of a set from their files (execution trace, Kineto trace), in order."""
    ranks = [Rank(_nodes(trace), read_events(kineto)) for trace, kineto in pairs]
    first = min(event.start for rank in ranks for event in rank.events)
    for event in (event for rank in ranks for event in rank.events):
        event.start -= first
        event.end -= first
    return ranks


def _load(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()), parse_float=Decimal)
    return document


def _nodes(path: Path) -> dict[int, dict[str, Any]]:
    """Return {id: name, parent, rf_id, seq_id, shapes}; schema 1.0.1 says `parent`, later `ctrl_deps`."""
    out = {}
    for node in _load(path)["nodes"]:
        attributes = {attribute["name"]: attribute["value"] for attribute in node.get("attrs", [])}
        out[node["id"]] = {
            "name": node["name"],
            "parent": node.get("ctrl_deps", node.get("parent")),
            "rf_id": attributes.get("rf_id", node.get("rf_id")),
            "seq_id": attributes.get("seq_id", node.get("seq_id")),
            "shapes": node["input_shapes"] if "input_shapes" in node else node["inputs"]["shapes"],
        }
    return out


def read_events(path: Path) -> list[Event]:
    """Return the spans of host and device in a Kineto file, in its absolute time."""
    return [
        Event(
            event["name"],
            event["cat"].lower(),
            ns(event["ts"]),
            ns(event["ts"]) + ns(event["dur"]),
            event["args"]["stream"] if event["cat"].lower() in DEVICE else event["tid"],
            event["args"],
        )
        for event in _load(path)["traceEvents"]
        if event.get("ph") == "X" and event.get("cat", "").lower() in (*HOST, *RUNTIME, *DEVICE)
    ]


def ns(us: int | Decimal) -> int:
    """Return µs as ns; a float would lose the last digits of an absolute time."""
    return round(us * 1_000)


def covered(events: Iterable[Event]) -> int:
    """Return how long any of the events ran."""
    total, reach = 0, 0
    for event in sorted(events, key=lambda event: event.start):
        total += max(0, event.end - max(event.start, reach))
        reach = max(reach, event.end)
    return total
