"""What the checks of health say: files cut, unreadable or of unknown schema, ranks assumed or missing, steps.

In:  rows of `cypher/health/find_*`. Out: drafts of findings. Decided here: the sentences.
"""

from __future__ import annotations

from collections.abc import Iterable

from graphstore.model.ids import rank_ranges
from graphstore.queries.draft import Context, Draft, Rows, RuleCode, counted, per_file, subjects, verb


def _no_step_marks(rows: Rows, _: Context) -> Iterable[Draft]:
    """One finding for the run: the ranks without marks, and what that means."""
    ranks = [row["rank"] for row in rows]
    files = sum(row["files"] for row in rows)
    yield Draft(
        rank=ranks[0] if len(ranks) == 1 else None,
        subject="run",
        message=f"{verb(len(ranks), 'rank', 'ranks')} {rank_ranges(ranks)}: no step marks in "
        f"{counted(files, 'file')}, so queries by step are empty",
        evidence={"ranks": ranks, "files": files},
        subjects=subjects([uid for row in rows for uid in row["subjects"]][:100], "file", "TraceFile"),
        count=len(ranks),
    )


def _ranks_missing(rows: Rows, _: Context) -> Iterable[Draft]:
    """One finding for the run: which ranks are loaded, of how many."""
    for row in rows:
        loaded = sorted(row["ranks"])
        absent = sorted(set(range(row["world_size"])) - set(loaded))
        yield Draft(
            rank=None,
            subject="run",
            message=f"{len(loaded)} of {counted(row['world_size'], 'rank')} loaded: {rank_ranges(loaded)}",
            evidence={"world_size": row["world_size"], "loaded": loaded, "absent": rank_ranges(absent)},
            subjects=subjects([row["subject"]], "run", "Run"),
            count=len(absent),
        )


RULES: dict[str, RuleCode] = {
    "file_cut": per_file(lambda row: f"is cut off: it ends at {row['cut_at']}"),
    "no_metadata": per_file(lambda _: "begins with a node in the place of the metadata"),
    "no_nodes": per_file(lambda _: "holds no node"),
    "file_unreadable": per_file(lambda row: f"nothing was read: {row['problem']}"),
    "schema_unknown": per_file(
        lambda row: (
            f"schema {row['schema']!r} is unknown; its fields fit and were read"
            if row["schema"]
            else "names no schema; its fields fit and were read"
        )
    ),
    "rank_assumed": per_file(lambda row: f"nothing says its rank; rank {row['rank']} is assumed"),
    "no_step_marks": _no_step_marks,
    "ranks_missing": _ranks_missing,
}
