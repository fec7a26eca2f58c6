"""Findings: what the checks say, one for each cause, with the evidence.

In:  a store and a run. Out: `Finding`s; on request they are kept in the run, for repairs and people.
Each check is a `find_` file whose rule names the code that makes findings of its rows, and that decides what
the sentences say: findings_structure, findings_chakra, findings_linking, findings_health,
findings_communication.
Decided here: ids, severities (from the file's header), what happens to a finding that is found no more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
import polars as pl

from graphstore.errors import UsageError
from graphstore.model.ids import finding_id
from graphstore.queries import findings_chakra as chakra
from graphstore.queries import findings_communication as communication
from graphstore.queries import findings_health as health
from graphstore.queries import findings_linking as linking
from graphstore.queries import findings_structure as structure
from graphstore.queries.catalog import SEVERITIES, Query, checks, get
from graphstore.queries.draft import Context, Draft, RuleCode, Subject
from graphstore.queries.run import run_query
from graphstore.store.base import Statement, Store

CODE_BY_RULE: dict[str, RuleCode] = {
    **structure.RULES,
    **chakra.RULES,
    **linking.RULES,
    **health.RULES,
    **communication.RULES,
}
# The label of a subject → the statement that ties findings to subjects of that label.
_TIE_BY_LABEL = {
    "Op": "health/write_subject_ops",
    "TraceFile": "health/write_subject_files",
    "Rank": "health/write_subject_ranks",
    "Collective": "health/write_subject_collectives",
    "Run": "health/write_subject_run",
}


@dataclass(frozen=True)
class Finding:
    """One cause of trouble. `fid` is the same in every check of the run; `evidence` is what it rests on.

    `count` is the number of nodes concerned, `subjects` the first 100 of them; `rank` None = the whole run.
    """

    fid: str
    run: str
    rule: str
    severity: str
    confidence: str
    message: str
    evidence: dict[str, Any]
    rank: int | None
    status: str = "open"
    count: int = 0
    subjects: tuple[Subject, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class Checked:
    """What checks found: the findings, and the rows that each of their queries gave, by its name.

    A repair plan made right after it counts its cases in these rows.
    """

    findings: list[Finding]
    rows: dict[str, pl.DataFrame]


def check(store: Store, run: str, topic: str | None = None) -> list[Finding]:
    """Return the findings of every check of a run, or of one topic: errors first, then by rule and rank.

    Nothing is written. Raises UsageError for an unknown topic, QueryTimeoutError, StoreError.
    """
    return run_checks(store, run, topic).findings


def run_checks(store: Store, run: str, topic: str | None = None) -> Checked:
    """Return what `check` returns, and the rows it is made of."""
    context = Context(store, run)
    rows: dict[str, pl.DataFrame] = {}
    rows_by_rule: dict[str, list[dict[str, Any]]] = {}
    query_by_rule: dict[str, Query] = {}
    for query in checks(topic):
        if query.rule not in CODE_BY_RULE:
            raise UsageError(f"{query.name}: no code makes findings of rule {query.rule}")
        rows[query.name] = run_query(store, run, query.name)
        rows_by_rule.setdefault(query.rule, []).extend(rows[query.name].iter_rows(named=True))
        query_by_rule[query.rule] = query
    found = [
        _finding(run, rule, query_by_rule[rule].severity or "note", draft)
        for rule, rows in rows_by_rule.items()
        if rows
        for draft in CODE_BY_RULE[rule](rows, context)
    ]
    return Checked(sorted(found, key=_place), rows)


def write_findings(store: Store, run: str, findings: Sequence[Finding]) -> None:
    """Keep `findings` in the run in place of those of an earlier check; all or nothing.

    A finding that is found no more is removed; where a repair answers it, it stays with status 'repaired'.
    Nothing is written when the run holds these findings already.
    """
    if findings_of(store, run) != list(findings):
        store.change_run(run, finding_statements(findings))


def findings_of(store: Store, run: str) -> list[Finding]:
    """Return the findings kept in a run, in the order of `check`; subjects are in the graph (ABOUT)."""
    rows = run_query(store, run, "health/show_findings").iter_rows(named=True)
    found = [Finding(**{**row, "run": run, "evidence": orjson.loads(row["evidence"])}) for row in rows]
    return sorted(found, key=_place)


def _finding(run: str, rule: str, severity: str, draft: Draft) -> Finding:
    """Return a draft as a finding of its rule."""
    return Finding(
        fid=finding_id(run, rule, draft.subject),
        run=run,
        rule=rule,
        severity=severity,
        confidence=draft.confidence,
        message=draft.message,
        evidence=draft.evidence,
        rank=draft.rank,
        count=draft.count if draft.count is not None else len(draft.subjects),
        subjects=draft.subjects,
    )


def finding_statements(findings: Sequence[Finding]) -> list[Statement]:
    """Return what keeps `findings` in place of those of an earlier check, for a change that writes more."""
    return list(_statements(findings))


def _statements(findings: Sequence[Finding]) -> Iterator[Statement]:
    """Yield the statements that put `findings` in place of those kept before, in their order."""
    fids = [finding.fid for finding in findings]
    for name in ("answered_findings", "stale_findings", "untied_findings"):
        yield Statement(get(f"health/write_{name}").text, {"fids": fids})
    rows = [{"fid": finding.fid, "properties": _properties(finding)} for finding in findings]
    yield Statement(get("health/write_findings").text, {"rows": rows})
    for label, name in _TIE_BY_LABEL.items():
        tied = [
            {"fid": finding.fid, "uid": subject.key, "role": subject.role}
            for finding in findings
            for subject in finding.subjects
            if subject.label == label
        ]
        if tied:
            yield Statement(get(name).text, {"rows": tied})


def _properties(finding: Finding) -> dict[str, Any]:
    """Return the properties of the Finding node."""
    return {
        "run": finding.run,
        "name": finding.rule,
        "rule": finding.rule,
        "severity": finding.severity,
        "confidence": finding.confidence,
        "message": finding.message,
        "evidence": orjson.dumps(finding.evidence, option=orjson.OPT_SORT_KEYS).decode(),
        "rank": finding.rank,
        "status": finding.status,
        "subjects": finding.count,
    }


def _place(finding: Finding) -> tuple[int, str, int, str]:
    """Return the place of a finding among others."""
    rank = -1 if finding.rank is None else finding.rank
    return SEVERITIES.index(finding.severity), finding.rule, rank, finding.fid
