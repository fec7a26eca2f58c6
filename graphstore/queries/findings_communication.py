"""What the checks of communication say: calls whose process group is unknown.

In:  rows of `cypher/communication/find_*`. Out: drafts of findings. Decided here: the sentences.
"""

from __future__ import annotations

from graphstore.queries.draft import RuleCode, counted, per_rank

RULES: dict[str, RuleCode] = {
    "group_unknown": per_rank(
        "call",
        "calls",
        lambda row: (
            f"no file says the process group of {row['calls']:,} of "
            f"{counted(row['of'], 'communication call')}"
        ),
    ),
}
