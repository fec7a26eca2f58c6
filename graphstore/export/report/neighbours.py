"""What lies around the ops of findings, and who waits for whom: the small graphs of a report.

In:  a store, a run, the ops of each finding. Out: a `Picture` each.
Decided here: of a finding the first ops, what called them and what they lead to are drawn, no more than can
be read at a glance; the graphs of all findings are read together, a statement for each step.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from graphstore.export.pictures import NAME_LENGTH
from graphstore.export.report.layers import Edge, Node, Picture
from graphstore.model.ids import rank_ranges
from graphstore.queries.draft import duration
from graphstore.queries.run import run_query
from graphstore.store.base import Store

SUBJECTS = 3  # ops of a finding that are drawn
TARGETS = 3  # of what one of them leads to
CALLERS = 2  # steps up
_EDGES: dict[str, type[pl.DataType]] = {"source": pl.Int64, "target": pl.Int64, "edge_type": pl.String}
WAITS = 12  # nodes of the picture of waits


@dataclass(frozen=True)
class Subjects:
    """The ops a finding is about, and the id of a parent that they name and that is absent."""

    uids: Sequence[int]
    absent_id: int | None


def neighbourhoods(store: Store, run: str, about: Mapping[str, Subjects]) -> dict[str, Picture]:
    """Return the picture of each finding, by its key."""
    first = sorted({uid for subjects in about.values() for uid in subjects.uids[:SUBJECTS]})
    if not first:
        return {}
    edges = _edges(store, run, first).group_by("source", maintain_order=True).head(TARGETS)
    up = _callers(store, run, first)
    between = pl.concat([up, edges.select(up.columns)]).unique(maintain_order=True)
    uids = sorted({*first, *between["source"], *between["target"]})
    ops = {row["uid"]: row for row in run_query(store, run, "structure/show_ops", uids=uids).to_dicts()}
    return {fid: _picture(subjects, ops, between) for fid, subjects in about.items()}


def _edges(store: Store, run: str, uids: list[int]) -> pl.DataFrame:
    """Return source, target and type of the edges that leave the ops."""
    rows = run_query(store, run, "structure/show_edges_from_ops", uids=uids)
    # A frame without rows has no types.
    return rows.select(pl.col(name).cast(kind) for name, kind in _EDGES.items())


def _callers(store: Store, run: str, uids: list[int]) -> pl.DataFrame:
    """Return the edges of calls and launches that lead to the ops, step by step up, the top first."""
    steps = [pl.DataFrame(schema=_EDGES)]
    for _ in range(CALLERS):
        above = run_query(store, run, "structure/show_callers", uids=uids)
        if not above.height:
            break
        uids, reached = above["uid"].unique().sort().to_list(), pl.col("target").is_in(uids)
        leads = pl.col("edge_type").is_in(["CTRL", "LAUNCHES"])
        steps.insert(0, _edges(store, run, uids).filter(reached & leads))
    return pl.concat(steps)


def _picture(subjects: Subjects, ops: Mapping[int, dict[str, Any]], edges: pl.DataFrame) -> Picture:
    """Return the part of what was read that belongs to one finding."""
    first = list(subjects.uids[:SUBJECTS])
    above = set(first)
    for _ in range(CALLERS):
        above |= set(
            edges.filter(pl.col("target").is_in(list(above)) & ~pl.col("source").is_in(first))["source"]
        )
    below = set(edges.filter(pl.col("source").is_in(first))["target"])
    shown = [uid for uid in ops if uid in above | below]
    drawn = edges.filter(pl.col("source").is_in(shown) & pl.col("target").is_in(shown))
    nodes = [_node(ops[uid], uid in first) for uid in shown]
    between = [Edge(str(source), str(target), kind) for source, target, kind in drawn.iter_rows()]
    if subjects.absent_id is not None:
        key = f"absent {subjects.absent_id}"
        nodes.insert(0, Node(key, "Absent", f"op {subjects.absent_id}", "absent from the trace"))
        between = [Edge(key, str(uid), "PARENT_OF") for uid in first if uid in ops] + between
    return Picture(nodes, between, left_out=len(subjects.uids) - len(first))


def _node(op: Mapping[str, Any], is_subject: bool) -> Node:
    facts = [op["kind"], f"rank {op['rank']}"]
    facts += [f"#{op['node_id']}"] if op["node_id"] is not None else []
    facts += [duration(op["duration_ns"])] if op["duration_ns"] is not None else []
    return Node(str(op["uid"]), op["kind"], _short(op["name"]), ", ".join(facts), is_subject)


def _short(name: str) -> str:
    return name if len(name) <= NAME_LENGTH else f"{name[: NAME_LENGTH - 1]}…"


def waits_picture(rows: Iterable[Mapping[str, Any]]) -> Picture | None:
    """Return who waits for whom, from the rows of communication/show_waits; None where nobody waits.

    Ranks that stand in one call are one node, and so are the ranks that one call lacks.
    """
    standing: dict[tuple[Any, ...], set[int]] = {}
    lacking: dict[tuple[Any, ...], dict[str, set[int]]] = {}
    for row in rows:
        call = (row["stands_in"], row["group"], row["site"])
        standing.setdefault(call, set()).add(row["rank"])
        if row["awaited_rank"] is not None:
            lacking.setdefault(call, {}).setdefault(row["wait"], set()).add(row["awaited_rank"])
    if not standing:
        return None
    nodes: dict[str, Node] = {}
    edges: list[Edge] = []
    for place, (call, ranks) in enumerate(standing.items()):
        name, group, site = call
        at = f"call {place}"
        facts = ", ".join(word for word in (f"group {group}" if group else "", site or "") if word)
        who = _ranks_node(nodes, ranks, is_subject=False)
        nodes[at] = Node(at, "CollectiveCall", _short(str(name)), facts)
        edges.append(Edge(who, at, "WAITS_IN"))
        for wait, lacked in sorted(lacking.get(call, {}).items()):
            edges.append(Edge(at, _ranks_node(nodes, lacked, is_subject=wait == "never"), "LACKS"))
    kept = dict(list(nodes.items())[:WAITS])
    inside = [edge for edge in edges if edge.source in kept and edge.target in kept]
    return Picture(list(kept.values()), list(dict.fromkeys(inside)), left_out=len(nodes) - len(kept))


def _ranks_node(nodes: dict[str, Node], ranks: set[int], *, is_subject: bool) -> str:
    """Return the key of the node of some ranks, which is made if need be."""
    told = rank_ranges(sorted(ranks))
    key = f"ranks {told}"
    if key not in nodes or (is_subject and not nodes[key].is_subject):
        name = f"rank {told}" if len(ranks) == 1 else key
        nodes[key] = Node(key, "Rank", _short(name), "never called it" if is_subject else "", is_subject)
    return key
