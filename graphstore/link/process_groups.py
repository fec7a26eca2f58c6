"""Process groups: who is in them, where that was read, and which group a call names.

In:  what the files list (process_group:init, Kineto's distributedInfo) and the arguments of calls.
Out: groups as dicts {pg_name, pg_desc, ranks, group_size, backend, origin, group}; a group key per call.
Decided here: identity is name and member set (`matching.md` §3). `ranks: []` = all ranks of the group's size.
A member set is never guessed from a name: where the files don't say, the ranks seen to use the name are a
lower bound (origin inferred), which assemble.py makes once all ranks are known. Old traces name no group but
hold a pointer to it: where one call through that pointer has a split for every rank of the job, the group is
the job's whole world (c10d refuses splits that are not one for each member), and so for all its calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from graphstore.model.ids import group_key

# Best first. The first two list the whole set; start and stride of a call say it, too.
ORIGINS = ("et_init", "kineto", "communication", "inferred")
LISTED = ("et_init", "kineto")

Group = dict[str, Any]


def listed_groups(groups: Iterable[Group]) -> list[Group]:
    """Return the groups a rank's files list, each once, with `group` (its key) and resolved `ranks`.

    An entry with neither ranks nor a size says nothing about its members and is left out.
    """
    found: dict[str, Group] = {}
    for entry in groups:
        ranks = list(entry.get("ranks") or range(entry.get("group_size") or 0))
        if ranks:
            _keep_best(found, entry | {"ranks": sorted(set(ranks))})
    return list(found.values())


def spelled_group(args: dict[str, Any]) -> Group | None:
    """Return the group a call's arguments spell out, by its ranks or by first rank and stride, else None.

    c10d writes stride -1 where the members are not evenly spaced, 0 for a group of one.
    """
    name, size, ranks = args.get("pg_name"), args.get("pg_size"), args.get("pg_ranks")
    start, stride = args.get("global_rank_start"), args.get("global_rank_stride")
    if not name or not isinstance(size, int) or size < 1:
        return None
    if not ranks and isinstance(start, int) and isinstance(stride, int) and start >= 0:
        ranks = [start + stride * place for place in range(size)] if stride > 0 or size == 1 else None
    if not ranks or len(ranks) != size:
        return None
    return {
        "pg_name": name,
        "pg_desc": args.get("pg_desc"),
        "ranks": sorted(ranks),
        "group_size": size,
        "backend": None,
        "origin": "communication",
    }


def world_handle(calls: Iterable[dict[str, Any]], world_size: int | None) -> int | None:
    """Return the pg_handle through which a rank's calls reach the whole world, by the splits of one of them.

    `calls` are the arguments of the rank's calls. None where none proves it, or several do: two groups of the
    same members cannot be told apart without names.
    """
    found = {
        args["pg_handle"]
        for args in calls
        if args.get("pg_handle")
        and not args.get("pg_name")
        and world_size in (len(args.get("in_split") or ()), len(args.get("out_split") or ()))
    }
    return found.pop() if len(found) == 1 else None


class Groups:
    """The groups known on one rank: those its files list, and those its calls spell out."""

    def __init__(self, listed: list[Group], world_size: int | None = None) -> None:
        """Start with the groups that the files list (`listed_groups`); `world_size` ranks are of the job."""
        self.listed = listed
        self._world_size = world_size
        self._world_handle: int | None = None
        self._found: dict[str, Group] = {group["group"]: group for group in listed}
        self._by_name: dict[str, list[Group]] = {}
        for group in listed:
            self._by_name.setdefault(group["pg_name"], []).append(group)

    def known(self) -> list[Group]:
        """Return all groups known so far."""
        return list(self._found.values())

    def look_for_world(self, calls: Iterable[dict[str, Any]]) -> None:
        """Look in the arguments of all the rank's calls for a pointer that proves to be the world's group."""
        if not self.listed:
            self._world_handle = world_handle(calls, self._world_size)

    def of_call(self, sources: Sequence[dict[str, Any]]) -> tuple[str | None, str | None, dict[str, Any]]:
        """Return (group key, origin of the join, the source that says so): group_origin of CollectiveCall.

        `sources` are what each file says of one call, best first; names, sizes and ranks of two sources are
        not mixed, since the files may be of two runs. A group that is listed goes before one that only the
        call spells out. A call that names no group (gloo) belongs to the only group there is, if the files
        list exactly one.
        """
        naming = [source for source in sources if source.get("pg_name")]
        for source in naming:
            group = self._listed_group(source)
            if group is not None:
                return group["group"], "recorded", source
        for source in naming:
            spelled = spelled_group(source)
            if spelled is not None:
                return _keep_best(self._found, spelled)["group"], "recorded", source
        if naming:
            return None, None, naming[0]
        if self._world_handle in [source["pg_handle"] for source in sources if source.get("pg_handle")]:
            return _keep_best(self._found, _world(self._world_size or 0))["group"], "splits", {}
        return (self.listed[0]["group"], "only_group", {}) if len(self.listed) == 1 else (None, None, {})

    def _listed_group(self, source: dict[str, Any]) -> Group | None:
        """Return the listed group a source names; of several of one name the one of its size and members."""
        fitting = self._by_name.get(source["pg_name"], [])
        size, spelled = source.get("pg_size"), spelled_group(source)
        if size is not None:
            fitting = [group for group in fitting if len(group["ranks"]) == size]
        if spelled is not None:
            fitting = [group for group in fitting if group["ranks"] == spelled["ranks"]]
        return fitting[0] if len(fitting) == 1 else None


def _world(size: int) -> Group:
    """Return the group of all ranks, whose name the files do not say."""
    return {
        "pg_name": "",
        "pg_desc": None,
        "ranks": list(range(size)),
        "group_size": size,
        "backend": None,
        "origin": "communication",
    }


def _keep_best(found: dict[str, Group], group: Group) -> Group:
    """Keep `group` in `found` under its key, the better origin first; return the one kept."""
    key = group_key(group["pg_name"], group["ranks"])
    known = found.get(key)
    if known is None:
        found[key] = group | {"group": key}
    elif ORIGINS.index(group["origin"]) < ORIGINS.index(known["origin"]):
        found[key] = known | {k: v for k, v in group.items() if v is not None}
    return found[key]
