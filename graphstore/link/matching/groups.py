"""Who is in which process group, and how that is known (matching.md §3).

In:  the dumps of one job by rank. Out: `Groups`: each group once, and the group of each name a rank uses.
Decided here: identity is name and member set; where a rank's own files don't list a group, other ranks'
lists and the ranks seen to use the name stand in, and the origin says so. Shapes prove sizes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from graphstore.link.matching.model import Group, is_default
from graphstore.link.matching.reduce import Pg, Reduced
from graphstore.link.matching.signatures import Signature

# Best first (matching.md §3); `+shapes` is added where shapes complete an inferred one.
ORIGINS = (
    "pg_config",
    "kineto",
    "et_init",
    "communication",
    "peer",
    "unnamed_pg_config",
    "inferred_default",
    "inferred",
)


@dataclass
class Groups:
    """The groups of a job, and the group each rank means by a name; numbers are places in `items`."""

    items: list[Group] = field(default_factory=list)
    of_call: dict[tuple[int, Pg], int] = field(default_factory=dict)
    of_rank: dict[int, set[int]] = field(default_factory=dict)
    _place: dict[tuple[str, tuple[int, ...]], int] = field(default_factory=dict)
    _members: dict[tuple[int, ...], tuple[int, ...]] = field(default_factory=dict)  # as listed → sorted

    def add(self, name: str, desc: str, ranks: Sequence[int], origin: str) -> int:
        """Add a group or improve what is known of it; return its place."""
        order = tuple(ranks)
        members = self._members.setdefault(order, ()) or tuple(sorted(set(order)))
        self._members[order] = members
        place = self._place.setdefault((name, members), len(self.items))
        if place == len(self.items):
            complete = not origin.startswith("inferred")
            self.items.append(Group(name, desc, members, order, origin, complete))
            for rank in members:
                self.of_rank.setdefault(rank, set()).add(place)
        else:
            known = self.items[place]
            known.desc = known.desc or desc
            if ORIGINS.index(origin) < ORIGINS.index(known.origin):
                known.origin = origin
        return place

    @property
    def world(self) -> list[int]:
        """Return all ranks that are a member of some group."""
        return sorted(self.of_rank)

    def named(self, name: str, rank: int) -> list[int]:
        """Return the groups of that name with this rank in them."""
        return [place for place in self.of_rank.get(rank, ()) if self.items[place].name == name]


def find_groups(dumps: dict[int, Reduced]) -> Groups:
    """Return the groups of a job; every name that an entry uses has its group afterwards."""
    groups = Groups()
    own = {rank: _add_listed(groups, dump) for rank, dump in sorted(dumps.items())}
    open_calls = []
    for rank, dump in sorted(dumps.items()):
        for pg in dump.pgs:
            if pg[0] in own[rank]:
                groups.of_call[rank, pg] = own[rank][pg[0]]
            else:
                open_calls.append((rank, pg))
    open_calls = _by_peers(groups, open_calls)
    open_calls = _by_unnamed(groups, dumps, open_calls)
    open_calls = _by_peers(groups, open_calls)
    _by_use(groups, dumps, open_calls)
    for (_, (_, desc)), place in sorted(groups.of_call.items()):
        groups.items[place].desc = groups.items[place].desc or desc
    return groups


def prove_size(group: Group, signatures: Iterable[Signature]) -> None:
    """Take the number of members from the shapes of its calls, if they all say one (matching.md §3).

    out / in of an all_gather and in / out of a reduce_scatter are the number of members. A lower bound of as
    many members becomes complete; more members than that are several groups under one name.
    """
    if group.complete:
        group.size = len(group.members)
        return
    ratios = {ratio for item in signatures if (ratio := _ratio(item)) is not None}
    if len(ratios) != 1:
        return
    group.size = ratios.pop()
    group.is_split = group.size < len(group.members)
    if group.size == len(group.members):
        group.complete = True
        group.origin += "+shapes"


def _ratio(item: Signature) -> int | None:
    if item.kind not in ("all_gather", "reduce_scatter") or not item.has_sizes:
        return None
    small, large = sorted((item.in_count, item.out_count))
    is_right_way = (item.in_count <= item.out_count) == (item.kind == "all_gather") or small == large
    return large // small if small and large % small == 0 and is_right_way else None


def _add_listed(groups: Groups, dump: Reduced) -> dict[str, int]:
    """Add the groups that a rank's files list; return {name: place}, the dump's own list first."""
    own: dict[str, int] = {}
    config = [entry | {"origin": "pg_config"} for entry in dump.flight.get("pg_config") or ()]
    others = sorted(dump.groups, key=lambda entry: ORIGINS.index(entry["origin"]))
    for entry in (*config, *others):
        name, ranks = entry.get("pg_name"), entry.get("ranks")
        if name and ranks:
            place = groups.add(name, entry.get("pg_desc") or "", ranks, entry["origin"])
            if dump.rank is not None and place in groups.of_rank.get(dump.rank, ()):
                own.setdefault(name, place)
    return own


def _by_peers(groups: Groups, calls: list[tuple[int, Pg]]) -> list[tuple[int, Pg]]:
    """Resolve names by the one group of that name which another rank lists with this rank in it."""
    left = []
    for rank, pg in calls:
        found = groups.named(pg[0], rank)
        if len(found) == 1:
            groups.of_call[rank, pg] = found[0]
        else:
            left.append((rank, pg))
    return left


def _by_unnamed(
    groups: Groups, dumps: dict[int, Reduced], calls: list[tuple[int, Pg]]
) -> list[tuple[int, Pg]]:
    """Resolve by gloo's entry without a name, where all entries of the rank are in one group.

    `'[]'` there is broken, not "all ranks".
    """
    left = []
    for rank, pg in calls:
        dump = dumps[rank]
        unnamed = [
            entry["ranks"]
            for entry in dump.flight.get("pg_config") or ()
            if not entry.get("pg_name") and entry.get("ranks") and rank in entry["ranks"]
        ]
        if len(unnamed) == 1 and len(set(dump.pgs)) == 1:
            groups.of_call[rank, pg] = groups.add(*pg, unnamed[0], "unnamed_pg_config")
        else:
            left.append((rank, pg))
    return left


def _by_use(groups: Groups, dumps: dict[int, Reduced], calls: list[tuple[int, Pg]]) -> None:
    """Resolve by the ranks seen to use a name: a lower bound. The default group holds every rank there is."""
    users: dict[Pg, list[int]] = {}
    for rank, pg in calls:
        users.setdefault(pg, []).append(rank)
    everybody = sorted({*dumps, *groups.world})
    for pg, ranks in sorted(users.items()):
        if is_default(*pg):
            place = groups.add(*pg, everybody, "inferred_default")
        else:
            place = groups.add(*pg, ranks, "inferred")
        for rank in ranks:
            groups.of_call[rank, pg] = place
