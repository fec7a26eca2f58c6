"""What the checks of single nodes of Chakra files say: attributes, their wire types, marks, types.

In:  rows of `cypher/structure/find_*` on ChakraNode. Out: drafts of findings. Decided here: the sentences.
Ids, deps, cycles and sizes of these files: findings_structure.py. Whether a simulator runs files as they lie:
export/simulator/.
"""

from __future__ import annotations

from collections.abc import Iterable

from graphstore.queries.draft import Context, Draft, Rows, RuleCode, counted, listed, per_rank, subjects, verb


def _lacking(rows: Rows, _: Context) -> Iterable[Draft]:
    """One finding per rank, type and attribute."""
    for row in rows:
        yield Draft(
            rank=row["rank"],
            subject=f"rank {row['rank']} {row['chakra_kind']} {row['attribute']}",
            message=f"rank {row['rank']}: {counted(row['nodes'], row['chakra_kind'])} "
            f"{verb(row['nodes'], 'has', 'have')} no {row['attribute']}",
            evidence={name: row[name] for name in ("chakra_kind", "attribute", "nodes")},
            subjects=subjects(row["subjects"], "node"),
            count=row["nodes"],
        )


def _wire_type(rows: Rows, _: Context) -> Iterable[Draft]:
    """One finding per rank and attribute."""
    for row in rows:
        yield Draft(
            rank=row["rank"],
            subject=f"rank {row['rank']} {row['attribute']}",
            message=f"rank {row['rank']}: {counted(row['nodes'], 'communication node')} "
            f"{verb(row['nodes'], 'holds', 'hold')} {row['attribute']} as a type that not all readers read",
            evidence={name: row[name] for name in ("attribute", "nodes")},
            subjects=subjects(row["subjects"], "node"),
            count=row["nodes"],
        )


def _unsupported(rows: Rows, _: Context) -> Iterable[Draft]:
    """One finding per rank and type of collective."""
    for row in rows:
        yield Draft(
            rank=row["rank"],
            subject=f"rank {row['rank']} {row['comm_kind']}",
            message=f"rank {row['rank']}: {counted(row['nodes'], 'collective')} "
            f"{verb(row['nodes'], 'is', 'are')} {row['comm_kind']}, which ASTRA-sim does not simulate",
            evidence={name: row[name] for name in ("comm_kind", "nodes")},
            subjects=subjects(row["subjects"], "node"),
            count=row["nodes"],
        )


RULES: dict[str, RuleCode] = {
    "incomplete_communication": _lacking,
    "wire_type": _wire_type,
    "unsupported_collective": _unsupported,
    "communication_on_cpu": per_rank(
        "node",
        "nodes",
        lambda row: (
            f"{row['nodes']:,} of {counted(row['of'], 'communication node')} "
            f"{verb(row['nodes'], 'is', 'are')} marked is_cpu_op"
        ),
    ),
    "cpu_under_gpu": per_rank(
        "node",
        "nodes",
        lambda row: (
            f"{counted(row['nodes'], 'CPU node')} {verb(row['nodes'], 'waits', 'wait')} by ctrl_deps "
            "for a GPU kernel"
        ),
    ),
    "no_type": per_rank(
        "node",
        "nodes",
        lambda row: (
            f"{counted(row['nodes'], 'node')} {verb(row['nodes'], 'has', 'have')} no type the format knows"
        ),
    ),
    "group_named_by_text": per_rank(
        "node",
        "nodes",
        lambda row: (
            f"{counted(row['nodes'], 'collective')} {verb(row['nodes'], 'names', 'name')} a group by a text "
            f"that is no number: {listed(row['groups'])}"
        ),
    ),
}
