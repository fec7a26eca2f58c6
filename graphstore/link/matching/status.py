"""How far a rank really came in each group, by the counters of its dump (matching.md §4).

In:  pg_status of the dumps, whose keys are local numbers; groups and kept calls.
Out: `Counters` per rank and group, in collective sequence numbers, where they can mean only that.
Decided here: which group a key means, and whether its number counts collectives or sends and recvs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from graphstore.link.matching.calls import GroupCalls
from graphstore.link.matching.groups import Groups
from graphstore.link.matching.reduce import Reduced

LIMIT = 8  # keys that an assignment is searched for

Raw = tuple[int, int]  # last enqueued, last completed, as recorded
KeyGroups = dict[int, int]  # key of pg_status → group


@dataclass
class Status:
    """The recorded counters of a job by rank and group; those of keys whose group is not known by rank."""

    raw: dict[tuple[int, int], Raw] = field(default_factory=dict)
    unassigned: dict[int, list[Raw]] = field(default_factory=dict)
    largest: dict[int, int] = field(default_factory=dict)

    def has_counters(self, rank: int) -> bool:
        """Return whether the dump of a rank holds any counter."""
        return rank in self.largest


def read_status(dumps: dict[int, Reduced], groups: Groups) -> Status:
    """Return the counters of all dumps by group; one whose group is not known is in `largest` only."""
    keys = {rank: _counters(dump) for rank, dump in dumps.items()}
    known = {rank: _own_pairs(dump, groups, keys[rank]) for rank, dump in dumps.items()}
    in_order = {rank: _by_order(dump, groups, keys[rank]) for rank, dump in dumps.items()}
    if not _contradicts(known, in_order):
        known = {rank: in_order[rank] | pairs for rank, pairs in known.items()}
    for rank, dump in dumps.items():
        _add_certain(known[rank], keys[rank], _groups_of(dump, groups), groups)
    status = Status(largest={rank: max(n for n, _ in c.values()) for rank, c in keys.items() if c})
    for rank, pairs in known.items():
        status.raw |= {(rank, group): keys[rank][key] for key, group in pairs.items()}
    for rank in sorted(dumps):
        _add_only_possible(status, rank, known[rank], keys[rank], _groups_of(dumps[rank], groups))
        status.unassigned[rank] = [raw for key, raw in keys[rank].items() if key not in known[rank]]
    return status


def _counters(dump: Reduced) -> dict[int, Raw]:
    """Return {key: counters} of a dump; a key that is no number is not used."""
    out = {}
    for key, counters in (dump.flight.get("pg_status") or {}).items():
        enqueued = counters.get("last_enqueued_collective")
        completed = counters.get("last_completed_collective")
        if str(key).isdecimal() and enqueued is not None and completed is not None:
            out[int(key)] = (int(enqueued), int(completed))
    return out


def _own_pairs(dump: Reduced, groups: Groups, keys: dict[int, Raw]) -> KeyGroups:
    """Return the groups of the keys that entries of the rank pair with a group."""
    assert dump.rank is not None
    return {
        local: groups.of_call[dump.rank, dump.pgs[place]]
        for local, place in dump.local_ids.items()
        if local in keys
    }


def _groups_of(dump: Reduced, groups: Groups) -> list[int]:
    """Return the groups a rank has, as its own list names them, else as its entries do, in order of name."""
    assert dump.rank is not None
    listed = [
        place
        for entry in dump.flight.get("pg_config") or ()
        if entry.get("pg_name") and entry.get("ranks")
        for place in groups.named(entry["pg_name"], dump.rank)
    ]
    found = set(listed) or {groups.of_call[dump.rank, pg] for pg in dump.pgs}
    return sorted(found, key=lambda place: (len(groups.items[place].name), groups.items[place].name))


def _by_order(dump: Reduced, groups: Groups, keys: dict[int, Raw]) -> KeyGroups:
    """Return the groups of the keys if both, sorted as numbers, are equally many; else none."""
    own = _groups_of(dump, groups)
    names = [groups.items[place].name for place in own]
    if len(own) != len(keys) or not all(name.isdecimal() for name in names) or len(set(names)) != len(names):
        return {}
    return dict(zip(sorted(keys), sorted(own, key=lambda place: int(groups.items[place].name)), strict=True))


def _contradicts(known: dict[int, KeyGroups], in_order: dict[int, KeyGroups]) -> bool:
    """Return whether an entry of any rank pairs a key with another group than the order does."""
    return any(
        in_order[rank].get(key, group) != group
        for rank, pairs in known.items()
        for key, group in pairs.items()
    )


def _add_certain(known: KeyGroups, keys: dict[int, Raw], own: list[int], groups: Groups) -> None:
    """Add key 0 for the default group, then the one key that is left for the one group that is left."""
    default = [place for place in own if groups.items[place].is_default]
    if 0 in keys and 0 not in known and len(default) == 1 and default[0] not in known.values():
        known[0] = default[0]
    keys_left = [key for key in keys if key not in known]
    groups_left = [place for place in own if place not in known.values()]
    if len(keys_left) == len(groups_left) == 1:
        known[keys_left[0]] = groups_left[0]


def _add_only_possible(
    status: Status, rank: int, known: KeyGroups, keys: dict[int, Raw], own: list[int]
) -> None:
    """Add the keys of a rank by the only assignment in which it enqueued what a peer saw completed."""
    keys_left = sorted(key for key in keys if key not in known)
    groups_left = [place for place in own if place not in known.values()]
    if not 1 < len(keys_left) == len(groups_left) <= LIMIT:
        return
    completed = {
        place: max((done for (_, group), (_, done) in status.raw.items() if group == place), default=-1)
        for place in groups_left
    }
    found = _assignments(keys_left, groups_left, lambda key, place: keys[key][0] >= completed[place])
    first = next(found, None)
    if first is not None and next(found, None) is None:
        known |= first
        status.raw |= {(rank, place): keys[key] for key, place in first.items()}


def _assignments(keys: list[int], places: list[int], fits: Callable[[int, int], bool]) -> Iterator[KeyGroups]:
    """Yield all ways to give each key a place that fits it."""
    if not keys:
        yield {}
        return
    for place in places:
        if fits(keys[0], place):
            for rest in _assignments(keys[1:], [other for other in places if other != place], fits):
                yield {keys[0]: place} | rest


@dataclass(frozen=True)
class Counters:
    """How far a rank came in a group, in collective sequence numbers; None = cannot be told.

    Calls up to `at_least` were made, none above `at_most`; `completed` and all before it are done.
    `p2p_enqueued`: the last p2p_seq_id enqueued, where the recorded number can only mean that.
    """

    at_least: int | None = None
    at_most: int | None = None
    completed: int | None = None
    p2p_enqueued: int | None = None

    @classmethod
    def exactly(cls, enqueued: int, completed: int | None = None, p2p: int | None = None) -> Counters:
        """Return counters of a rank whose last call is known."""
        return cls(enqueued, enqueued, completed, p2p)


NO_COUNTERS = Counters()


def counters_of(status: Status, calls: GroupCalls, group: int, rank: int, is_filtered: bool) -> Counters:
    """Return what the recorded counters of a rank say about a group."""
    raw = status.raw.get((rank, group))
    if raw is None:
        return Counters(at_most=None if calls.has_p2p else status.largest.get(rank))
    if calls.is_gloo:
        return _gloo_counters(calls, rank, raw[0])
    if not calls.has_p2p:
        return Counters.exactly(*raw)
    return _mixed_counters(calls, rank, raw[0], is_filtered)


def _mixed_counters(calls: GroupCalls, rank: int, number: int, is_filtered: bool) -> Counters:
    """Return the meaning of a number that collectives share with sends and recvs, if it has only one.

    An unfiltered dump shows what the last call was. Else a number below one that the rank has passed in
    one counter must be of the other; one above all collectives of the group counts sends and recvs.
    """
    last = calls.last_call(rank)
    if last is not None and not is_filtered:
        is_p2p, seq = last
        return Counters.exactly(seq, p2p=number if is_p2p else None)
    own_seq, own_p2p = calls.reached_by(rank)
    if number < own_p2p:
        return Counters.exactly(number)
    if number < own_seq or number > calls.largest_seq:
        return Counters(p2p_enqueued=number)
    return NO_COUNTERS


def _gloo_counters(calls: GroupCalls, rank: int, op_id: int) -> Counters:
    """Return the counters of a gloo rank, which count all operations, sends and recvs (not recorded) too.

    With calls kept, the last one says how many collectives there were. Without, a rank that counts as many
    operations as its peers did at a call is taken to have made that call; no call above the count was made.
    """
    block = calls.blocks.get(rank)
    if block is not None and block.seq.size:
        return Counters.exactly(int(block.seq[-1]))
    needed = calls.operations_at
    made = max((seq for seq, operations in needed.items() if operations <= op_id), default=0)
    return Counters(at_least=made, at_most=op_id)
