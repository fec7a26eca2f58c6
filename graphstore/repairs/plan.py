"""Plan the repairs of a run: what the queries found, rank by rank, through the rules in their order.

In:  a store and a run. Out: a `Plan`; nothing is written.
Faults and their cases are counted by the queries of the catalogue; a rank they find sound is not looked at.
Order of the rules: shared ids first (the others name ops by id), then orphans, then wrong parents, then
edges back in time over the call tree as it will be, then the order of streams. Each rule has its own module.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import polars as pl

from graphstore.queries.columns import RankKeys, read_keys
from graphstore.queries.run import run_query
from graphstore.repairs.back_edges import plan_back_edges
from graphstore.repairs.change import Change, Fault, Plan
from graphstore.repairs.columns import RankOps, read_device_ops, read_edges, read_order_nodes, read_rank
from graphstore.repairs.duplicates import plan_duplicates
from graphstore.repairs.orphans import plan_orphans
from graphstore.repairs.stream_order import plan_stream_order
from graphstore.repairs.tree import NONE, Ints
from graphstore.repairs.wrong_parents import plan_wrong_parents
from graphstore.store.base import Store

# finding → (query, column that counts its cases); duplicates: all records of an id but its first are cases
CASES = {
    "missing_parent": ("structure/find_missing_parents", pl.col("children")),
    "unreachable_component": ("structure/find_unreachable_components", pl.col("components")),
    "duplicate_id": ("structure/find_duplicate_ids", pl.col("records") - pl.col("ids")),
    "sync_back_in_time": ("structure/find_syncs_back_in_time", pl.col("edges")),
}
# gone once every change that answers them is applied; their cases are not counted one by one
MENDED_AS_A_WHOLE = ("cycle", "gpu_leaves")


def plan(store: Store, run: str, known: Mapping[str, pl.DataFrame] | None = None) -> Plan:
    """Return the changes due for a run, safe and unsafe; empty for a sound one, or after all are applied.

    `known` are rows of a check made just now, by query: those queries are not run again.
    """
    cases = _count_cases(store, run, known or {})
    wrong = {
        (str(fault), int(rank)): children
        for rank, fault, children in run_query(store, run, "structure/show_wrong_parents").iter_rows()
    }
    cases |= {(fault, rank, None): len(children) for (fault, rank), children in wrong.items()}
    ordered = set(run_query(store, run, "structure/show_ranks_with_order")["rank"].to_list())
    keys_by_rank = {keys.rank: keys for keys in read_keys(store, run)}
    changes: list[Change] = []
    for rank in sorted({rank for _, rank, _ in cases} | ordered):
        uids = sorted(uid for (_, of), children in wrong.items() if of == rank for uid in children)
        changes += _plan_rank(store, run, keys_by_rank[rank], uids, rank in ordered)
    for rank in run_query(store, run, "structure/find_gpu_leaves")["rank"].to_list():
        changes += plan_stream_order(read_device_ops(store, run, keys_by_rank[rank]))
    answers = Counter(fault for change in changes for fault in change.answers)
    return Plan(run, tuple(changes), cases | {f: n for f, n in answers.items() if f[0] in MENDED_AS_A_WHOLE})


def _count_cases(store: Store, run: str, known: Mapping[str, pl.DataFrame]) -> dict[Fault, int]:
    """Return {fault: cases} as the queries count them."""
    cases: dict[Fault, int] = {}
    for rule, (query, count) in CASES.items():
        rows = known[query] if query in known else run_query(store, run, query)
        absent = pl.col("absent_id") if "absent_id" in rows.columns else pl.lit(None, dtype=pl.Int64)
        for rank, absent_id, number in rows.select("rank", absent, count).iter_rows():
            fault = (rule, int(rank), absent_id)
            cases[fault] = cases.get(fault, 0) + int(number)
    return cases


def _plan_rank(store: Store, run: str, keys: RankKeys, wrong_uids: list[int], ordered: bool) -> list[Change]:
    """Return the changes of one rank, in the order of the rules."""
    ops = read_rank(store, run, keys)
    changes = plan_duplicates(ops)
    ops = _renumbered(ops, changes)
    adopted = plan_orphans(ops, np.flatnonzero(ops.recorded & ~ops.called))
    wrong = np.searchsorted(ops.uid, wrong_uids)
    moves, parent = plan_wrong_parents(ops, wrong, adopted.parent, adopted.places)
    changes += [*adopted.changes, *moves]
    if ordered:
        nodes = read_order_nodes(store, run, keys)
        changes += plan_back_edges(nodes, read_edges(store, run, keys, nodes, _callers(ops, parent)))
    return changes


def _renumbered(ops: RankOps, changes: list[Change]) -> RankOps:
    """Return the ops with the ids that `changes` give them."""
    node_id = ops.node_id.copy()
    node_id[np.searchsorted(ops.uid, [change.uid for change in changes])] = [
        change.after["node_id"] for change in changes
    ]
    return replace(ops, node_id=node_id)


def _callers(ops: RankOps, parent: Ints) -> dict[int, int]:
    """Return {uid of a host op: uid of its caller as planned}, for those whose caller changes.

    A process root still to be created is left out: nothing leads into it, so it is in no cycle.
    """
    inside = parent[: len(ops)]
    moved = np.flatnonzero((inside != ops.parent) & (inside != NONE) & (inside < len(ops)))
    return dict(zip(ops.uid[moved].tolist(), ops.uid[inside[moved]].tolist(), strict=True))
