"""What the checks of communication say: what matching the ranks found, entries of dumps, unknown groups.

In:  rows of `cypher/communication/find_*`. Out: drafts of findings.
Decided here: the parts that ranks play in a cause, and what tells two causes apart from check to check. The
sentence of a cause is that of matching (link/matching), told once and kept with the cause.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from graphstore.model.ids import rank_ranges
from graphstore.queries.draft import Context, Draft, Rows, RuleCode, Subject, counted, per_file, per_rank

SUBJECTS = 100  # as the other rules: the first of them are tied to the finding, all are counted


def _causes(rows: Rows, _: Context) -> Iterable[Draft]:
    """One finding for each cause, about its ranks and its collective."""
    seen: Counter[str] = Counter()
    for row in rows:
        subject = _subject(row)
        seen[subject] += 1
        # The same fault on two edges between the same ranks: only their order tells them apart.
        nth = f" nr {seen[subject]}" if seen[subject] > 1 else ""
        nodes = [*_call(row), *_ranks(row)]
        yield Draft(
            rank=row["blamed"][0] if len(row["blamed"] or ()) == 1 else None,
            subject=subject + nth,
            message=row["message"],
            evidence=_evidence(row),
            subjects=tuple(nodes[:SUBJECTS]),
            count=len(nodes),
            confidence=row["confidence"] or "medium",
        )


def _subject(row: Mapping[str, Any]) -> str:
    """Return what tells a cause from others of its run: its rule, its call and its ranks."""
    return f"{row['rule']} {row['group']} #{row['collective_seq_id']} ranks {rank_ranges(row['ranks'] or [])}"


def _evidence(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a cause rests on, with what it says of the call and of who is at fault."""
    said = ("rule", "basis", "ranks", "blamed", "undecided", "group", "collective_seq_id", "site")
    return {**orjson.loads(row["evidence"] or "{}"), **{name: row[name] for name in said}}


def _call(row: Mapping[str, Any]) -> list[Subject]:
    """Return the collective a cause is about, if it is about one."""
    uid = row["collective_uid"]
    return [] if uid is None else [Subject("Collective", uid, "call")]


def _ranks(row: Mapping[str, Any]) -> list[Subject]:
    """Return the ranks of a cause: those at fault, those that may be, then those it only concerns."""
    parts: dict[str, list[Subject]] = {"blamed": [], "undecided": [], "concerned": []}
    for rank, uid in zip(row["found_ranks"], row["rank_uids"], strict=True):
        role = next((role for role in ("blamed", "undecided") if rank in (row[role] or ())), "concerned")
        parts[role].append(Subject("Rank", uid, role))
    return [subject for found in parts.values() for subject in found]


RULES: dict[str, RuleCode] = {
    "communication_fault": _causes,
    "communication_undecided": _causes,
    "entry_join_disagrees": per_file(
        lambda row: (
            f"time and order join {counted(row['disagree'], 'entry', 'entries')} to different calls of the "
            f"traces, so none was joined; {row['joined']:,} were"
        )
    ),
    "group_unknown": per_rank(
        "call",
        "calls",
        lambda row: (
            f"no file says the process group of {row['calls']:,} of "
            f"{counted(row['of'], 'communication call')}"
        ),
    ),
}
