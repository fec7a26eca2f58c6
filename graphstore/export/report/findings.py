"""The findings of a report: grouped by rule, with their evidence and small pictures of what they are about.

In:  a store and a run. Out: `FindingGroup`s, the severe ones first; and whether they were kept in the run.
Decided here: findings that `check` kept are told as they stand there; where none were kept, the checks are
asked now, and nothing is written. How many are told in full; of each rule the first finding about ops has a
picture.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import orjson

from graphstore import queries
from graphstore.export.report.layers import Layout, layout
from graphstore.export.report.neighbours import Subjects, neighbourhoods
from graphstore.queries.catalog import checks
from graphstore.queries.draft import duration
from graphstore.queries.findings import Finding
from graphstore.store.base import Store

TOLD = 12  # findings of one rule told with their evidence; of the others the message
LINES = 200  # messages of one rule
VALUE_LENGTH = 600  # letters of one item of evidence


@dataclass(frozen=True)
class Told:
    """A finding, its evidence as (name, text), and its picture."""

    finding: Finding
    evidence: list[tuple[str, str]]
    picture: Layout | None


@dataclass(frozen=True)
class FindingGroup:
    """The findings of one rule. `meaning`: what the rule looks for. `more`: those told by message alone."""

    rule: str
    severity: str
    meaning: str
    told: list[Told]
    more: list[Finding]
    left_out: int

    @property
    def count(self) -> int:
        """How many findings there are of the rule."""
        return len(self.told) + len(self.more) + self.left_out


@dataclass(frozen=True)
class Findings:
    """All findings. `were_kept`: whether `check` had kept them in the run."""

    groups: list[FindingGroup]
    were_kept: bool
    counts: dict[tuple[str, str], int]  # by severity and status


def read_findings(store: Store, run: str) -> Findings:
    """Return the findings of a run. Raises QueryTimeoutError, StoreError."""
    kept = queries.findings_of(store, run)
    found = kept or queries.check(store, run)
    ops = _ops_kept(store, run) if kept else _ops_of(found)
    grouped = [list(group) for _, group in groupby(found, key=lambda finding: finding.rule)]
    with_ops = [[finding for finding in group if ops.get(finding.fid)] for group in grouped]
    chosen = [group[0] for group in with_ops if group]
    about = {f.fid: Subjects(ops[f.fid], _absent_id(f)) for f in chosen}
    pictures = {fid: layout(picture) for fid, picture in neighbourhoods(store, run, about).items()}
    meanings = {query.rule: query.meaning for query in reversed(checks(None))}
    counts: dict[tuple[str, str], int] = {}
    for finding in found:
        key = finding.severity, finding.status
        counts[key] = counts.get(key, 0) + 1
    groups = [_group(group, meanings.get(group[0].rule) or "", pictures) for group in grouped]
    return Findings(groups, bool(kept), counts)


def _absent_id(finding: Finding) -> int | None:
    """Return the id that the ops of a finding name as parent and that is absent; a repair brings it back."""
    return finding.evidence.get("absent_id") if finding.status == "open" else None


def _ops_kept(store: Store, run: str) -> dict[str, list[int]]:
    """Return the ops that each kept finding is tied to."""
    ops: dict[str, list[int]] = {}
    for fid, uid in queries.run_query(store, run, "health/show_finding_ops").select("fid", "uid").iter_rows():
        ops.setdefault(fid, []).append(uid)
    return ops


def _ops_of(found: list[Finding]) -> dict[str, list[int]]:
    return {f.fid: [subject.key for subject in f.subjects if subject.label == "Op"] for f in found}


def _group(group: list[Finding], meaning: str, pictures: Mapping[str, Layout]) -> FindingGroup:
    first = group[0]
    told = [Told(f, evidence_lines(f.evidence), pictures.get(f.fid)) for f in group[:TOLD]]
    more = group[TOLD:LINES]
    return FindingGroup(first.rule, first.severity, meaning, told, more, len(group) - len(told) - len(more))


def evidence_lines(evidence: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return each item of evidence as name and text: times in their unit, lists as JSON, long ones cut."""
    return [(name, _text(name, value)) for name, value in evidence.items() if value is not None]


def _text(name: str, value: Any) -> str:
    if name.endswith("_ns") and isinstance(value, int) and 0 <= value < 10**15:  # beyond: a date
        return f"{duration(value)} ({value:,} ns)"
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    return text if len(text) <= VALUE_LENGTH else f"{text[:VALUE_LENGTH]}… ({len(text):,} characters)"
