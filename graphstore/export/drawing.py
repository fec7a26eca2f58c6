"""The part of a run that a picture shows: chosen by rank, op and depth, or by the rows of a query.

In:  a store, a run, what is wanted. Out: a `Drawing`: nodes with what a label needs, and the edges between.
Decided here: from the chosen ops a picture goes down (what they call, launch, feed and hold up) as many steps
as wanted, and up to the top of an op asked for; which columns of a query name ops; and that a picture beyond
the limit is refused, since nobody can read it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from graphstore import queries
from graphstore.errors import UsageError
from graphstore.model.ids import UID_SHIFT
from graphstore.settings import DRAW_DEPTH, DRAW_LIMIT
from graphstore.store.base import Store

KEY_COLUMNS = ("uid", "uids", "path", "subject", "subjects", "source", "sources", "target", "targets", "root")
KEY_ENDINGS = ("_uid", "_uids")


@dataclass(frozen=True)
class DrawOptions:
    """What a picture is of. `op` is an id of the trace or a name. `depth` None: 3, and 0 for a query."""

    rank: int | None = None
    op: str | None = None
    depth: int | None = None
    query: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    limit: int = DRAW_LIMIT


@dataclass(frozen=True)
class DrawnNode:
    """An op of a picture; `number` is its number within the run. Times in ns; None where there is none."""

    number: int
    kind: str
    rank: int
    name: str
    node_id: int | None
    start_ns: int | None
    duration_ns: int | None


@dataclass(frozen=True)
class DrawnEdge:
    """An edge of a picture, between numbers of nodes."""

    source: int
    target: int
    type: str


@dataclass(frozen=True)
class Drawing:
    """Nodes by number, edges by ends and type. `missed`: keys of the query's rows that are no ops."""

    run: str
    nodes: list[DrawnNode]
    edges: list[DrawnEdge]
    missed: int = 0


def drawing(store: Store, run: str, wanted: DrawOptions) -> Drawing:
    """Return what a picture shows.

    Raises UsageError: nothing chosen, or more than `limit` nodes (the message tells how to narrow it).
    """
    first = _queried(store, run, wanted) if wanted.query is not None else _chosen(store, run, wanted)
    shown = dict.fromkeys(first)
    _refuse_many(shown, wanted)
    if wanted.op is not None:
        _add_callers(store, run, shown, first, wanted)
    depth = wanted.depth if wanted.depth is not None else (0 if wanted.query is not None else DRAW_DEPTH)
    reached = list(first)
    for _ in range(depth):
        reached = [uid for uid in _edges(store, run, reached)["target"].to_list() if uid not in shown]
        shown |= dict.fromkeys(reached)
        _refuse_many(shown, wanted)
    rows = queries.run_query(store, run, "structure/show_ops", uids=sorted(shown))
    if wanted.rank is not None:
        rows = rows.filter(pl.col("rank") == wanted.rank)
    if not rows.height:
        raise UsageError(f"nothing to draw: {_of(wanted)} holds no op of run {run}.")
    nodes = [_node(row) for row in rows.unique("uid").sort("uid").iter_rows(named=True)]
    edges = _edges(store, run, rows["uid"].to_list()).filter(pl.col("target").is_in(rows["uid"].implode()))
    drawn = [
        DrawnEdge(_number(source), _number(target), kind)
        for source, target, kind in edges.unique().sort("source", "target", "edge_type").iter_rows()
    ]
    return Drawing(run, nodes, drawn, missed=len(set(first)) - len(set(first) & set(rows["uid"].to_list())))


def _chosen(store: Store, run: str, wanted: DrawOptions) -> list[int]:
    """Return the ops a picture begins with: those of an id or a name, else the tops."""
    name, parameters = _first_question(wanted)
    rows = queries.run_query(store, run, name, **parameters)
    if wanted.rank is not None:
        rows = rows.filter(pl.col("rank") == wanted.rank)
    if not rows.height:
        raise UsageError(
            f"nothing to draw: run {run} has no {_of(wanted)}. `graphstore query show_time_by_name --run "
            f"{run}` lists the names of its ops."
        )
    return rows["uid"].to_list()


def _first_question(wanted: DrawOptions) -> tuple[str, dict[str, Any]]:
    """Return the statement that gives the first ops, with its parameters."""
    if wanted.op is None:
        return "structure/show_tops", {}
    if wanted.op.isascii() and wanted.op.isdigit():
        return "structure/show_ops_with_id", {"node_id": int(wanted.op)}
    return "structure/show_ops_named", {"name": wanted.op}


def _of(wanted: DrawOptions) -> str:
    """Return what was asked for, in words."""
    what = f"op {wanted.op}" if wanted.op is not None else "op"
    if wanted.query is not None:
        what = "the query"
    return what if wanted.rank is None else f"{what} on rank {wanted.rank}"


def _queried(store: Store, run: str, wanted: DrawOptions) -> list[int]:
    """Return the ops that the rows of a query name, in their order."""
    rows = queries.run_any(store, run, wanted.query or "", wanted.parameters)
    names = [name for name in rows.columns if name in KEY_COLUMNS or name.endswith(KEY_ENDINGS)]
    keys = [
        key
        for row in rows.select(names).iter_rows()
        for value in row
        for key in (value if isinstance(value, list) else [value])
        if isinstance(key, int)
    ]
    if not names:
        raise UsageError(
            f"the query's columns ({', '.join(rows.columns)}) name no ops: want one called "
            f"{', '.join(KEY_COLUMNS[:3])} or ending in {' or '.join(KEY_ENDINGS)}."
        )
    if not keys:
        raise UsageError(f"nothing to draw: the query gives no op of run {run}.")
    return list(dict.fromkeys(keys))


def _refuse_many(shown: Sequence[int] | Mapping[int, None], wanted: DrawOptions) -> None:
    if len(shown) > wanted.limit:
        raise UsageError(
            f"more than {wanted.limit} nodes would be drawn, which nobody can read. Narrow it: one --rank, "
            "an --op (id or name), a smaller --depth, or a --query; or raise --limit."
        )


def _add_callers(
    store: Store, run: str, shown: dict[int, None], first: Iterable[int], wanted: DrawOptions
) -> None:
    """Add what called the ops, and what called that, up to the top."""
    reached = list(first)
    while reached:
        above = queries.run_query(store, run, "structure/show_callers", uids=reached)["uid"].unique().sort()
        reached = [uid for uid in above.to_list() if uid not in shown]
        shown |= dict.fromkeys(reached)
        _refuse_many(shown, wanted)


def _edges(store: Store, run: str, uids: list[int]) -> pl.DataFrame:
    """Return the edges that leave the ops."""
    return queries.run_query(store, run, "structure/show_edges_from_ops", uids=uids)


def _number(uid: int) -> int:
    return uid & ((1 << UID_SHIFT) - 1)


def _node(row: dict[str, Any]) -> DrawnNode:
    fields = {name: row[name] for name in ("kind", "rank", "name", "node_id", "start_ns", "duration_ns")}
    return DrawnNode(number=_number(row["uid"]), **fields)
