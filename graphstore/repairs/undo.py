"""Take back every repair of a run: the graph is then what the import wrote.

In:  the Repairs of the run, with their before and after values. Out: how many were taken back.
All in one change of the run. Edges that repairs made go, recorded edges that they removed come back,
node ids are what they were, synthetic ops are removed, places in the forest are reckoned again by the rules
of the import, and the findings are open. A node's caller is changed by one Repair at most (no rule takes up
an op that another has placed), so the order among Repairs does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import orjson

from graphstore.queries.columns import RankKeys, read_keys
from graphstore.queries.run import run_query
from graphstore.repairs.edits import (
    Edits,
    chakra_place_statements,
    dropped_ctrl_edges,
    place_statements,
    statement,
)
from graphstore.store.base import Statement, Store

Row = dict[str, Any]


def undo(store: Store, run: str) -> int:
    """Take back all repairs of a run; return their number, 0 where none stand.

    On any error (StoreError, UsageError for an absent run) nothing is changed.
    """
    repairs = run_query(store, run, "structure/show_repairs").to_dicts()
    if not repairs:
        return 0
    before: dict[int, list[Row]] = {}
    after: list[Row] = []
    for repair in repairs:
        before.setdefault(repair["rank"], []).extend(orjson.loads(repair["before"]))
        after += orjson.loads(repair["after"])
    statements = [statement("repair_remove_made_edges")]
    statements += _edits([entry for entries in before.values() for entry in entries], after).statements()
    for keys in read_keys(store, run):
        statements += _places(store, run, keys, before.get(keys.rank, []))
    statements.append(statement("repair_remove_host_ops"))
    fids = sorted({fid for repair in repairs for fid in repair["findings"]})
    if fids:
        statements.append(statement("repair_set_finding_status", fids=fids, status="open"))
    statements.append(statement("repair_remove_repairs"))
    store.change_run(run, statements)
    return len(repairs)


def _edits(before: Sequence[Row], after: Sequence[Row]) -> Edits:
    """Return what brings the old values back and takes the added edges away."""
    edits = Edits()
    for edge in (entry["edge"] for entry in after if entry.get("edge") is not None):
        edits.removed.setdefault(edge["kind"], []).append({"src": edge["src"], "dst": edge["dst"]})
    for entry in before:
        if entry.get("parent") is not None:
            edits.restored.setdefault("CTRL", []).append({"src": entry["parent"], "dst": entry["uid"]})
        if entry.get("edge") is not None:
            edge = dict(entry["edge"])
            edits.restored.setdefault(edge.pop("kind"), []).append(edge)
        if "node_id" in entry:
            edits.node_ids.append({"uid": entry["uid"], "node_id": entry["node_id"], "node_id_origin": None})
    return edits


def _places(store: Store, run: str, keys: RankKeys, before: Sequence[Row]) -> Iterator[Statement]:
    """Yield what sets the old places of the ops of one rank that repairs had moved."""
    callers = {entry["uid"]: entry["parent"] for entry in before if "parent" in entry}
    if callers:
        yield from place_statements(store, run, keys, callers, {})
    if dropped_ctrl_edges(before):
        yield from chakra_place_statements(store, run, keys.rank, [])
