"""What the checks of structure say: absent parents, components, ids, wrong parents, dependencies, cycles.

In:  rows of `cypher/structure/find_*`. Out: drafts of findings. Decided here: the sentences, and
which cycle is named first. Cycles themselves are found by components.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import orjson

from graphstore.queries.components import Cycle, Edges, cycles, self_edges
from graphstore.queries.draft import (
    Context,
    Draft,
    Rows,
    RuleCode,
    Subject,
    counted,
    duration,
    listed,
    per_rank,
    subjects,
    verb,
)

LISTED = 100  # calls, cycles and the like that an evidence lists; the rest are counted


def _missing_parent(rows: Rows, context: Context) -> Iterable[Draft]:
    """One finding per rank and absent id: its children, what they hide, what encloses them in time."""
    hidden: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for call in context.rows("structure/show_hidden_calls"):
        hidden.setdefault((call.pop("rank"), call.pop("absent_id")), []).append(call)
    around: dict[tuple[int, int], dict[str, int]] = {}
    for found in context.rows("structure/count_enclosers_of_orphans"):
        named = around.setdefault((found["rank"], found["absent_id"]), {})
        named[_encloser(found)] = named.get(_encloser(found), 0) + found["children"]
    for row in rows:
        key = (row["rank"], row["absent_id"])
        calls = hidden.get(key, [])
        yield Draft(
            rank=row["rank"],
            subject=f"rank {row['rank']} absent {row['absent_id']}",
            message=_missing_parent_message(row, calls),
            evidence={
                "absent_id": row["absent_id"],
                "children": row["children"],
                "hidden_ops": row["hidden_ops"],
                "hidden_calls": row["hidden_calls"],
                "hidden_calls_by_kind": dict(sorted(Counter(c["comm_kind"] for c in calls).items())),
                "hidden": calls[:LISTED],
                "enclosed_by": around.get(key, {}),
            },
            subjects=subjects(row["subjects"], "orphan"),
            count=row["children"],
        )


def _encloser(row: Mapping[str, Any]) -> str:
    """Return what encloses an orphan in time, as the evidence names it."""
    if row["encloser_name"] is None:
        return "nothing"
    return f"{row['encloser_name']} (in Kineto only)" if row["in_kineto_only"] else str(row["encloser_name"])


def _missing_parent_message(row: Mapping[str, Any], calls: Sequence[Mapping[str, Any]]) -> str:
    """Return the sentence on one absent parent."""
    kinds = Counter(call["comm_kind"] for call in calls)
    by_kind = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    lost = counted(row["hidden_calls"], "communication call") + (f" ({by_kind})" if by_kind else "")
    return (
        f"rank {row['rank']}: {counted(row['children'], 'op')} "
        f"{verb(row['children'], 'names', 'name')} parent {row['absent_id']}, which is absent; "
        f"{counted(row['hidden_ops'], 'op')} and {lost} hang below"
    )


def _duplicate_id(rows: Rows, context: Context) -> Iterable[Draft]:
    """One finding per rank and file."""
    for row in rows:
        name = context.files.get(row["trace_file"], "its file")
        yield Draft(
            rank=row["rank"],
            subject=f"rank {row['rank']} file {name}",
            message=f"rank {row['rank']}: {counted(row['ids'], 'id')} of {name} "
            f"{verb(row['ids'], 'is', 'are')} used by {row['records']:,} records: "
            f"{listed(row['first_ids'], row['ids'])}",
            evidence={"ids": row["ids"], "records": row["records"], "first_ids": row["first_ids"]},
            subjects=subjects(row["subjects"], "record"),
            count=row["records"],
        )


def _dangling_dep(rows: Rows, _: Context) -> Iterable[Draft]:
    """One finding per rank and field."""
    for row in rows:
        ids = row["absent_ids"]
        yield Draft(
            rank=row["rank"],
            subject=f"rank {row['rank']} {row['field']}",
            message=f"rank {row['rank']}: {row['deps']:,} of {row['field']} "
            f"{verb(row['deps'], 'names', 'name')} {counted(row['absent'], 'absent id')}: "
            f"{listed(ids, row['absent'])}",
            evidence={
                "field": row["field"],
                "deps": row["deps"],
                "absent": row["absent"],
                "absent_ids": ids,
            },
            subjects=subjects(row["subjects"], "waiting"),
            count=row["deps"],
        )


def _linked_syncs(rows: Rows, context: Context) -> Iterable[Draft]:
    """One finding per rank: the waits that point back in time, the first of them with their ids."""
    shown = context.rows("structure/show_syncs_back_in_time")
    for row in rows:
        own = [edge for edge in shown if edge["rank"] == row["rank"]]
        first = f"{_name(own[0], 'waits')} waits for {_name(own[0], 'awaited')}"
        yield Draft(
            rank=row["rank"],
            subject=f"rank {row['rank']}",
            message=f"rank {row['rank']}: {counted(row['edges'], 'SYNC edge')} "
            f"{verb(row['edges'], 'points', 'point')} back in time, by up to {duration(row['back_ns'])}: "
            f"{first}{' …' if row['edges'] > 1 else ''}",
            evidence={"edges": row["edges"], "back_ns": row["back_ns"], "first": own[:LISTED]},
            subjects=subjects(row["subjects"], "waiting"),
            count=row["edges"],
        )


def _name(row: Mapping[str, Any], role: str) -> str:
    """Return the id of one end of an edge, or its name where it has none."""
    return str(row[f"{role}_name"] if row[f"{role}_node_id"] is None else row[f"{role}_node_id"])


def _waits_against_times(rows: Rows, _: Context) -> Iterable[Draft]:
    """One finding per rank: the waits that no edge was made of, by rule."""
    for row in rows:
        by_rule = orjson.loads(row["by_rule"])
        told = ", ".join(f"{rule} {number}" for rule, number in by_rule.items())
        yield Draft(
            rank=row["rank"],
            subject=f"rank {row['rank']}",
            message=f"rank {row['rank']}: {counted(row['waits'], 'wait')} "
            f"{verb(row['waits'], 'contradicts the times and is', 'contradict the times and are')} "
            f"left out ({told})",
            evidence={"waits": row["waits"], "by_rule": by_rule},
            subjects=(Subject("Rank", row["subject"], "rank"),),
            count=row["waits"],
        )


def _cycle(rows: Rows, context: Context) -> Iterable[Draft]:
    """One finding per rank that has a cycle: each cycle as ids in order with the types of its edges."""
    for rank in sorted({row["rank"] for row in rows}):
        own = context.rows("structure/show_edges", rank=rank)
        edges = Edges(
            np.array([uid for row in own for uid in row["sources"]], dtype=np.int64),
            np.array([uid for row in own for uid in row["targets"]], dtype=np.int64),
            np.array([row["edge_type"] for row in own for _ in row["sources"]], dtype=object),
        )
        found, selves = cycles(edges), self_edges(edges).tolist()
        if found or selves:
            yield _cycle_draft(rank, found, selves, context)


def _cycle_draft(rank: int, found: list[Cycle], selves: list[int], context: Context) -> Draft:
    """Return the finding on the cycles of one rank."""
    listed_uids = sorted({u for cycle in found[:LISTED] for u in cycle.nodes} | set(selves[:LISTED]))
    name_by_uid = {
        op["uid"]: op["name"] if op["node_id"] is None else op["node_id"]
        for op in context.rows("structure/show_ops", uids=listed_uids)
    }
    shown = [
        {
            "ids": [name_by_uid[u] for u in c.nodes],
            "uids": list(c.nodes),
            "types": list(c.types),
            "size": c.size,
        }
        for c in found[:LISTED]
    ]
    inside = sum(cycle.size for cycle in found)
    return Draft(
        rank=rank,
        subject=f"rank {rank}",
        message=f"rank {rank}: {_cycle_sentence(found, selves, name_by_uid, inside)}",
        evidence={
            "cycles": len(found),
            "nodes": inside,
            "nodes_that_name_themselves": len(selves),
            "first_cycles": shown,
            "first_that_name_themselves": [name_by_uid[u] for u in selves[:LISTED]],
        },
        subjects=subjects(listed_uids[:LISTED], "in cycle"),
        count=inside + len(selves),
    )


def _cycle_sentence(
    found: list[Cycle], selves: list[int], name_by_uid: Mapping[int, Any], inside: int
) -> str:
    """Return the words on cycles and on nodes that name themselves."""
    parts = []
    if found:
        steps = [
            f"{name_by_uid[u]} -{type}->" for u, type in zip(found[0].nodes, found[0].types, strict=True)
        ]
        way = " ".join([*steps, str(name_by_uid[found[0].nodes[0]])])
        one = f"cycle {way}" if found[0].size == inside else f"the first {way}"
        parts.append(one if len(found) == 1 else f"{len(found):,} cycles over {inside:,} nodes, {one}")
    if selves:
        parts.append(f"{counted(len(selves), 'node')} {verb(len(selves), 'names itself', 'name themselves')}")
    return "; ".join(parts)


RULES: dict[str, RuleCode] = {
    "waits_against_times": _waits_against_times,
    "missing_parent": _missing_parent,
    "unreachable_component": per_rank(
        "top",
        "components",
        lambda row: (
            f"{counted(row['components'], 'component')} whose top names no parent "
            f"{verb(row['components'], 'hangs', 'hang')} below no process root: "
            f"{counted(row['hidden_ops'], 'op')}, {counted(row['hidden_calls'], 'communication call')}"
        ),
    ),
    "duplicate_id": _duplicate_id,
    "parent_not_enclosing": per_rank(
        "child",
        "children",
        lambda row: (
            f"{counted(row['children'], 'op')} {verb(row['children'], 'lies', 'lie')} outside "
            f"{verb(row['children'], 'its', 'their')} recorded parent in time, "
            f"by up to {duration(row['outside_ns'])}"
        ),
    ),
    "parent_on_other_thread": per_rank(
        "child",
        "children",
        lambda row: (
            f"{counted(row['children'], 'op')} {verb(row['children'], 'has', 'have')} "
            f"a recorded parent on another thread"
        ),
    ),
    "dangling_dep": _dangling_dep,
    "repeated_dep": per_rank(
        "waiting",
        "nodes",
        lambda row: (
            f"{counted(row['nodes'], 'node')} {verb(row['nodes'], 'names', 'name')} an id twice in "
            f"{row['field']}"
        ),
        by=("field",),
    ),
    "cycle": _cycle,
    "missing_size": per_rank(
        "node",
        "nodes",
        lambda row: (
            f"{row['nodes']:,} of {counted(row['of'], 'communication node')} "
            f"{verb(row['nodes'], 'has', 'have')} no size"
        ),
    ),
    "sync_back_in_time": _linked_syncs,
    "gpu_leaves": per_rank(
        "device op",
        "gpu_nodes",
        lambda row: f"GPU nodes with successors: {row['with_successors']} of {row['gpu_nodes']:,}",
    ),
}
