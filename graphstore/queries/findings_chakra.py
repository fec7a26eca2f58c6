"""What the checks of single nodes of Chakra files say: attributes, their wire types, marks, types.

In:  rows of `cypher/structure/find_*` on ChakraNode. Out: drafts of findings. Decided here: the sentences.
Ids, deps, cycles and sizes of these files: findings_structure.py. Whether a simulator runs files as they lie:
export/simulator/.
"""

from __future__ import annotations

from graphstore.queries.draft import RuleCode, counted, listed, per_rank, verb

RULES: dict[str, RuleCode] = {
    "incomplete_communication": per_rank(
        "node",
        "nodes",
        lambda row: (
            f"{counted(row['nodes'], row['chakra_kind'])} {verb(row['nodes'], 'has', 'have')} "
            f"no {row['attribute']}"
        ),
        by=("chakra_kind", "attribute"),
    ),
    "wire_type": per_rank(
        "node",
        "nodes",
        lambda row: (
            f"{counted(row['nodes'], 'communication node')} {verb(row['nodes'], 'holds', 'hold')} "
            f"{row['attribute']} as a type that not all readers read"
        ),
        by=("attribute",),
    ),
    "unsupported_collective": per_rank(
        "node",
        "nodes",
        lambda row: (
            f"{counted(row['nodes'], 'collective')} {verb(row['nodes'], 'is', 'are')} {row['comm_kind']}, "
            "which ASTRA-sim does not simulate"
        ),
        by=("comm_kind",),
    ),
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
