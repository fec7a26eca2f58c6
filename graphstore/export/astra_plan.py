"""What ASTRA-sim can take of a run's communication: decided over all ranks together, before any file is
written.

In:  the communications of all ranks, the members of the groups. Out: a `Plan`: for each rank how each call is
written and in which order, and the numbered groups. Decided here (simulator-requirements): the k-th call of
each member of a group must be the same operation, so calls are put side by side by their sequence number,
else by order, and one that a member lacks is written as computation by all; kinds the simulator does not
know are written as ones it knows; one order of all collectives holds on every rank. Whatever is changed is
counted.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from graphstore.chakra import comm_type_of
from graphstore.chakra.et_def_pb2 import NodeType
from graphstore.export.communication import P2P, Attribute, Communication
from graphstore.export.order import NONE, topological_order

SMALLEST_BYTES = 64  # an all-gather of fewer bytes than its chunks never ends; other kinds are padded up
KNOWN_KINDS = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast")
WRITTEN_AS = {"barrier": "all_reduce", "reduce": "broadcast", "gather": "broadcast", "scatter": "broadcast"}
AS_COMPUTATION = ", written as COMP for astra-sim"
WORLD = ""  # key of the calls whose group no file names: simulators take them for calls of all ranks


@dataclass(frozen=True)
class Call:
    """One rank's call: the place of its op, what it is, and when its node was measured to start, in ns."""

    rank: int
    place: int
    start_ns: int
    communication: Communication

    @property
    def kind(self) -> str:
        """Return its collective kind."""
        return self.communication.kind


@dataclass
class Plan:
    """`calls`: {rank: {place: how it is written, None as computation}}; `order`: {rank: places of
    collectives}; `groups`: {number: members}; `recorded`: {number: recorded name}; `notes`: what was
    changed, by rank.
    """

    calls: dict[int, dict[int, Communication | None]] = field(default_factory=lambda: defaultdict(dict))
    order: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    groups: dict[str, list[int]] = field(default_factory=dict)
    recorded: dict[str, str] = field(default_factory=dict)
    notes: dict[int, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def left_as_computation(self, calls: Iterable[Call], why: str) -> None:
        """Write calls as computation of their measured duration, and say why."""
        for call in calls:
            self.calls[call.rank][call.place] = None
            self.notes[call.rank][why + AS_COMPUTATION] += 1

    def note(self, calls: Iterable[Call], what: str) -> None:
        """Count what was changed of these calls."""
        for call in calls:
            self.notes[call.rank][what] += 1


def plan(calls: Sequence[Call], ranks: Sequence[int], members: Mapping[str, Sequence[int]]) -> Plan:
    """Return how the calls of a run are written; `members` are the global ranks of each group key."""
    out = Plan()
    _transfers(out, [call for call in calls if call.kind in P2P], set(ranks))
    meetings = _meetings(out, [call for call in calls if call.kind not in P2P], ranks, members)
    used = sorted({key for key, _ in meetings})
    everyone = sorted(ranks)
    numbered = any(sorted(_members(key, ranks, members)) != everyone for key in used) or len(used) > 1
    number_of = {key: str(place) for place, key in enumerate(used, start=1)} if numbered else {}
    out.groups = {number: sorted(_members(key, ranks, members)) for key, number in number_of.items()}
    out.recorded = {number: key or "of no recorded group" for key, number in number_of.items()}
    for key, meeting in meetings:
        _write(out, meeting, number_of.get(key))
    for _, meeting in _in_one_order(meetings):
        for call in meeting:
            out.order[call.rank].append(call.place)
    return out


def _members(key: str, ranks: Sequence[int], members: Mapping[str, Sequence[int]]) -> Sequence[int]:
    return members.get(key) or ranks


def _transfers(out: Plan, calls: Sequence[Call], ranks: set[int]) -> None:
    """Pair sends and recvs by source, target and tag, first in first out; each pair gets a tag of its own."""
    waiting: dict[tuple[int, int, int], dict[str, list[Call]]] = defaultdict(lambda: defaultdict(list))
    for call in sorted(calls, key=lambda call: (call.start_ns, call.place)):
        said = call.communication
        if said.peer not in ranks or said.peer == call.rank:
            out.left_as_computation([call], f"{call.kind} whose peer is no other rank of the run")
            continue
        ends = (call.rank, said.peer) if call.kind == "send" else (said.peer, call.rank)
        waiting[(*ends, said.tag)][call.kind].append(call)
    next_tag: Counter[tuple[int, int]] = Counter()
    for (source, target, _), sides in sorted(waiting.items()):
        sends, recvs = sides["send"], sides["recv"]
        paired = min(len(sends), len(recvs))
        out.left_as_computation([*sends[paired:], *recvs[paired:]], "send or recv without its other side")
        for send, recv in zip(sends, recvs, strict=False):
            _write_pair(out, send, recv, next_tag[source, target])
            next_tag[source, target] += 1


def _write_pair(out: Plan, send: Call, recv: Call, tag: int) -> None:
    size = max(send.communication.size_bytes, 0) or max(recv.communication.size_bytes, 0)
    if size != recv.communication.size_bytes:
        out.note([recv], "recv written with the bytes of its send")
    if not size:
        out.note([send, recv], f"send or recv of unknown size, written with {SMALLEST_BYTES} bytes")
    if tag != send.communication.tag:
        out.note([send, recv], "send or recv given a tag of its own")
    for call in (send, recv):
        changed: dict[str, Attribute] = {
            "comm_size": ("comm_size", "int64_val", size or SMALLEST_BYTES),
            "comm_tag": ("comm_tag", "int32_val", tag),
        }
        out.calls[call.rank][call.place] = _changed(call.communication, changed)


def _meetings(
    out: Plan, calls: Sequence[Call], ranks: Sequence[int], members: Mapping[str, Sequence[int]]
) -> list[tuple[str, list[Call]]]:
    """Return the collectives that all members of their group call alike, as (group key, calls)."""
    by_group: dict[str, dict[int, list[Call]]] = defaultdict(lambda: defaultdict(list))
    for call in sorted(calls, key=lambda call: (call.start_ns, call.place)):
        key = call.communication.group if call.communication.group in members else WORLD
        by_group[key][call.rank].append(call)
    found = []
    for key, by_rank in sorted(by_group.items()):
        wanted = _members(key, ranks, members)
        for meeting in _side_by_side(by_rank):
            if len(wanted) < 2:
                out.left_as_computation(meeting, "collective of a group of one rank")
            elif {call.rank for call in meeting} != set(wanted):
                out.left_as_computation(meeting, "collective that a member of its group does not call")
            elif len({call.kind for call in meeting}) > 1:
                out.left_as_computation(meeting, "collective of another kind on another rank")
            else:
                found.append((key, meeting))
    return found


def _side_by_side(by_rank: Mapping[int, Sequence[Call]]) -> list[list[Call]]:
    """Return the calls of a group that belong together: by sequence number where all have one, else by
    order.
    """
    numbered = all(call.communication.seq_id != NONE for calls in by_rank.values() for call in calls)
    together: dict[tuple[int, int], list[Call]] = defaultdict(list)
    for calls in by_rank.values():
        seen: Counter[int] = Counter()
        for place, call in enumerate(calls):
            number = call.communication.seq_id if numbered else place
            together[number, seen[number]].append(call)  # a coalesced block has several of one number
            seen[number] += 1
    return [together[number] for number in sorted(together)]


def _write(out: Plan, meeting: Sequence[Call], number: str | None) -> None:
    """Decide how the calls of one collective are written."""
    kind = meeting[0].kind
    written = kind if kind in KNOWN_KINDS else WRITTEN_AS.get(kind, "broadcast")
    if written != kind:
        out.note(meeting, f"{kind} written as {written}")
    sizes = {call.communication.size_bytes for call in meeting}
    size = max(sizes)
    if len(sizes) > 1:
        out.note(meeting, "collective of other sizes on other ranks, written with the largest")
    if size < SMALLEST_BYTES and written != "broadcast":
        if size <= 0 and written == "all_gather":
            written = "all_reduce"
        out.note(meeting, f"collective of fewer than {SMALLEST_BYTES} bytes, written with {SMALLEST_BYTES}")
        size = SMALLEST_BYTES
    changed: dict[str, Attribute | None] = {
        "comm_type": ("comm_type", "int64_val", comm_type_of(written)),
        "comm_size": ("comm_size", "int64_val", max(size, 1)),
        "pg_name": ("pg_name", "string_val", number) if number else None,
    }
    for call in meeting:
        out.calls[call.rank][call.place] = _changed(call.communication, changed)


def _changed(said: Communication, changed: Mapping[str, Attribute | None]) -> Communication:
    """Return a communication with other attributes; the recorded group name stays beside a number."""
    kept = [attribute for attribute in said.attributes if attribute[0] not in changed]
    names = [value for name, _, value in said.attributes if name == "pg_name"]
    recorded: list[Attribute] = [("recorded_pg_name", "string_val", name) for name in names]
    new = [attribute for attribute in changed.values() if attribute is not None]
    is_collective = said.node_type == NodeType.COMM_COLL_NODE
    return replace(said, attributes=(*new, *kept, *(recorded if is_collective else ())))


def _in_one_order(meetings: Sequence[tuple[str, list[Call]]]) -> list[tuple[str, list[Call]]]:
    """Return the collectives in an order in which every rank called them; by their last start where ranks
    differ.
    """
    latest = np.array([max(call.start_ns for call in meeting) for _, meeting in meetings], np.int64)
    priority = np.empty(len(meetings), np.int64)
    priority[np.argsort(latest, kind="stable")] = np.arange(len(meetings))
    by_rank: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for place, (_, meeting) in enumerate(meetings):
        for call in meeting:
            by_rank[call.rank].append((call.start_ns, call.place, place))
    pairs = [
        (before[2], after[2])
        for own in by_rank.values()
        for before, after in zip(sorted(own), sorted(own)[1:], strict=False)
    ]
    source, target = (np.array([pair[side] for pair in pairs], np.int64) for side in (0, 1))
    try:
        order = topological_order(len(meetings), source, target, priority)
    except ValueError:  # ranks call two of them in another order: no order is everybody's
        order = np.argsort(priority)
    return [meetings[place] for place in order.tolist()]
