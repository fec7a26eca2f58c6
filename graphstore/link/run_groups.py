"""Process groups of a whole run: what the ranks list, joined, and what only all ranks together tell.

In:  the groups and communication calls of every rank. Out: rows of ProcessGroup, calls with their group.
Decided here (`matching.md` §3): a call that names a group its own rank does not list belongs to the one
group of that name which another rank lists with this rank in it; else the ranks seen to use the name are a
lower bound of its members, whole only if as many as the group's recorded size.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from graphstore.link.matching.groups import ORIGINS as PROOFS
from graphstore.link.process_groups import LISTED, ORIGINS, Group
from graphstore.model.ids import group_key, name_order
from graphstore.model.records import RankGraph

BY_GROUP = "group"  # peer_origin of a send or recv that names its group


def run_groups(ranks: Sequence[RankGraph], matched: Sequence[Group] = ()) -> list[Group]:
    """Return the ProcessGroups of a run as rows, each group once, in order of name and members.

    `matched` are rows of the groups that matching the ranks found: dumps list groups, too, and shapes of
    calls may prove a lower bound whole.
    """
    found: dict[str, Group] = {}
    for graph in ranks:
        for group in graph.groups:
            _join(found, group, [graph.rank] if group["origin"] in LISTED else [])
    for group in _inferred(ranks, list(found.values())):
        _join(found, group, [])
    for group in matched:
        known = found.setdefault(group["group"], group)
        known["origin"] = min(group["origin"], known["origin"], key=_trust)
        known["complete"] = known["complete"] or group["complete"]
        known["pg_desc"] = known["pg_desc"] or group["pg_desc"]
    return sorted(found.values(), key=lambda group: (name_order(group["pg_name"]), group["members"]))


def calls_with_groups(graph: RankGraph, groups: Sequence[Group]) -> pl.DataFrame:
    """Return the rank's communication calls, those that name a group without members joined to it."""
    calls = graph.nodes["CollectiveCall"]
    found = {name: _settled(name, graph.rank, groups) for name in _open_names(calls)}
    known = {name: key for name, key in found.items() if key is not None}
    if not known:
        return calls
    is_open = pl.col("group").is_null() & pl.col("pg_name").is_in(list(known))
    return calls.with_columns(
        pl.when(is_open)
        .then(pl.col("pg_name").replace_strict(known, default=None))
        .otherwise("group")
        .alias("group"),
        pl.when(is_open).then(pl.lit("recorded")).otherwise("group_origin").alias("group_origin"),
    )


def with_peer_ranks(calls: pl.DataFrame, groups: Sequence[Group]) -> pl.DataFrame:
    """Return the calls, each send and recv of a group with the member at the place it names as peer_rank."""
    named = calls.select("group", "peer").drop_nulls().unique()
    if named.is_empty():
        return calls
    members = {group["group"]: group["members"] for group in groups if group["complete"]}
    rows = [(*pair, _member(members.get(pair[0], []), pair[1])) for pair in named.iter_rows()]
    schema = {"group": pl.String, "peer": pl.Int64, "member": pl.Int64}
    joined = calls.join(
        pl.DataFrame(rows, schema=schema, orient="row"),
        on=["group", "peer"],
        how="left",
        maintain_order="left",
    )
    is_new = pl.col("peer_rank").is_null() & pl.col("member").is_not_null()
    return joined.with_columns(
        pl.coalesce("peer_rank", "member").alias("peer_rank"),
        pl.when(is_new).then(pl.lit(BY_GROUP)).otherwise("peer_origin").alias("peer_origin"),
    ).select(calls.columns)


def _member(members: Sequence[int], place: int) -> int | None:
    return members[place] if 0 <= place < len(members) else None


def _trust(origin: str) -> tuple[int, bool]:
    """Return the place of an origin among all, the best first; shapes that prove the size add to it."""
    proof, _, shapes = origin.partition("+")
    return PROOFS.index(proof), not shapes


def _join(found: dict[str, Group], group: Group, listed_by: list[int]) -> None:
    """Add a group to those found; of two records of one group the better origin's words are kept."""
    row = _row(group)
    known = found.get(row["group"])
    if known is not None:
        listed_by = sorted({*known["listed_by"], *listed_by})
        if ORIGINS.index(known["origin"]) <= ORIGINS.index(row["origin"]):
            row = row | {key: value for key, value in known.items() if value is not None}
        else:
            row = known | {key: value for key, value in row.items() if value is not None}
    found[row["group"]] = row | {"listed_by": listed_by}


def _row(group: Group) -> dict[str, Any]:
    members = sorted(group["ranks"])
    key = group_key(group["pg_name"], members)
    return {
        "name": key,
        "group": key,
        "pg_name": group["pg_name"],
        "pg_desc": group.get("pg_desc"),
        "members": members,
        "group_size": group.get("group_size"),
        "backend": group.get("backend"),
        "origin": group["origin"],
        "complete": group["origin"] != "inferred" or group.get("group_size") == len(members),
        "listed_by": [],
    }


def _open_names(calls: pl.DataFrame) -> list[str]:
    """Return the group names of calls whose members are not known."""
    return calls.filter(pl.col("group").is_null())["pg_name"].drop_nulls().unique().sort().to_list()


def _settled(name: str, rank: int, groups: Sequence[Group]) -> str | None:
    """Return the key of the one group of that name with this rank in it, None for none or several."""
    fitting = [group["group"] for group in groups if group["pg_name"] == name and rank in group["members"]]
    return fitting[0] if len(fitting) == 1 else None


def _inferred(ranks: Sequence[RankGraph], known: list[Group]) -> list[Group]:
    """Return the groups that are known by name alone: the ranks that use it, on which nobody says more."""
    users: dict[str, list[tuple[int, Any, Any]]] = {}
    for graph in ranks:
        calls = graph.nodes["CollectiveCall"]
        for name in _open_names(calls):
            # a name with several member sets around this rank is ambiguous: no guess
            if not any(group["pg_name"] == name and graph.rank in group["members"] for group in known):
                first = calls.filter(pl.col("pg_name") == name).row(0, named=True)
                users.setdefault(name, []).append((graph.rank, first["pg_desc"], first["pg_size"]))
    return [
        {
            "pg_name": name,
            "pg_desc": seen[0][1],
            "ranks": [rank for rank, _, _ in seen],
            "group_size": seen[0][2],
            "backend": None,
            "origin": "inferred",
        }
        for name, seen in users.items()
    ]
