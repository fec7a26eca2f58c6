"""Write a plan into the graph: all of what was asked for, or nothing.

In:  a store, a run and its `Plan`. Out: the Repair nodes written.
Decided here: a change is due unless a Repair already holds it, so applying twice changes nothing; one Repair
a rule and rank, added to when later changes come; a finding is repaired when every case of its fault is.
What each change writes: edits.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import orjson

from graphstore.queries.columns import RankKeys, read_keys
from graphstore.queries.findings import Finding, finding_statements, findings_of, write_findings
from graphstore.queries.run import run_query
from graphstore.repairs.change import Change, Fault, Plan
from graphstore.repairs.edits import (
    Edits,
    chakra_place_statements,
    dropped_ctrl_edges,
    in_parts,
    place_statements,
    statement,
)
from graphstore.store.base import Statement, Store

Row = dict[str, Any]


def apply(
    store: Store, run: str, plan: Plan, unsafe: bool = False, found: Sequence[Finding] | None = None
) -> list[Row]:
    """Apply the safe changes of a plan, with `unsafe` all; return the properties of the Repairs written.

    `found`, the findings of a check made just now, are kept as write_findings keeps them; by default those
    of the run stand. An empty list means that everything asked for stood already. Everything is written in
    one change of the run: on any error (StoreError, UsageError for an absent run) the graph is what it was.
    """
    standing = {row["rid"]: _read(row) for row in run_query(store, run, "structure/show_repairs").to_dicts()}
    asked = [change for change in plan if change.safe or unsafe]
    done = {rid: _pairs(row["before"], row["after"]) for rid, row in standing.items()}
    due = [change for change in asked if not _stands(change, done.get(_rid(run, change), set()))]
    if not due:
        if found is not None:
            write_findings(store, run, found)
        return []
    repairs = _repairs(run, due, standing)
    statements = [] if found is None else finding_statements(found)
    statements += _edits(run, due).statements()
    ranks = {change.rank for change in due}
    for keys in read_keys(store, run):
        if keys.rank in ranks:
            statements += _places(store, run, keys, due, standing)
    statements += in_parts("repair_keep", [{"rid": row["rid"], "properties": row} for row in repairs])
    statements += _answers(run, due, plan, findings_of(store, run) if found is None else found)
    store.change_run(run, statements)
    return repairs


def entries(changes: Sequence[Change], side: str) -> list[Row]:
    """Return the before or after values of changes as a Repair keeps them, each with its uid."""
    return [{"uid": change.uid, **getattr(change, side)} for change in changes]


def _rid(run: str, change: Change) -> str:
    """Return the key of the Repair a change belongs to."""
    return f"{run}:{change.rule}:{change.rank}"


def _read(row: Row) -> Row:
    """Return a Repair with its JSON read."""
    return row | {name: orjson.loads(row[name]) for name in ("evidence", "before", "after")}


def _pairs(before: Sequence[Row], after: Sequence[Row]) -> set[bytes]:
    """Return old and new values, entry by entry, in a form that compares fast."""
    return {orjson.dumps(pair, option=orjson.OPT_SORT_KEYS) for pair in zip(before, after, strict=True)}


def _stands(change: Change, done: set[bytes]) -> bool:
    """Return whether a change is among those a Repair holds already."""
    return _pairs(entries([change], "before"), entries([change], "after")) <= done


def _edits(run: str, due: Sequence[Change]) -> Edits:
    """Return what the changes write, other than places in the forest."""
    edits = Edits()
    for change in due:
        before, after = change.before, change.after
        if "created" in after:
            edits.created.append({"uid": change.uid, "properties": _created(run, change)})
        if before.get("parent") is not None:
            edits.removed.setdefault("CTRL", []).append({"src": before["parent"], "dst": change.uid})
        if after.get("parent") is not None:
            edits.added.append(
                {
                    "parent": after["parent"],
                    "child": change.uid,
                    "repair": _rid(run, change),
                    "rule": change.rule,
                    "confidence": "high" if change.safe else "medium",
                }
            )
        if "node_id" in after:
            edits.node_ids.append(
                {"uid": change.uid, "node_id": after["node_id"], "node_id_origin": "repair"}
            )
        if before.get("edge") is not None:
            edge = before["edge"]
            edits.removed.setdefault(edge["kind"], []).append({"src": edge["src"], "dst": edge["dst"]})
        if after.get("edge") is not None:
            edge = dict(after["edge"])
            edits.restored.setdefault(edge.pop("kind"), []).append(edge)
    return edits


def _created(run: str, change: Change) -> Row:
    """Return the properties of a synthetic host op: the top of its tree."""
    made: Row = change.after["created"]
    return made | {
        "kind": "HostOp",
        "root": change.uid,
        "depth": 0,
        "path": made["name"],
        "node_id_origin": "repair",
        "synthetic": True,
        "repair": _rid(run, change),
    }


def _places(
    store: Store, run: str, keys: RankKeys, due: Sequence[Change], standing: dict[str, Row]
) -> Iterator[Statement]:
    """Yield what sets the places of the moved ops of one rank."""
    own = [change for change in due if change.rank == keys.rank]
    callers = {change.uid: change.after["parent"] for change in own if "parent" in change.after}
    created = {change.uid: change.after["created"]["name"] for change in own if "created" in change.after}
    if callers:
        yield from place_statements(store, run, keys, callers, created)
    dropped = dropped_ctrl_edges(change.before for change in own)
    if dropped:
        held = dropped_ctrl_edges(entry for row in standing.values() for entry in row["before"])
        yield from chakra_place_statements(store, run, keys.rank, [*dropped, *held])


def _repairs(run: str, due: Sequence[Change], standing: dict[str, Row]) -> list[Row]:
    """Return the properties of the Repairs that hold the due changes, with what they held before."""
    changes_by_rid: dict[str, list[Change]] = {}
    for change in due:
        changes_by_rid.setdefault(_rid(run, change), []).append(change)
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    return [_repair(run, rid, own, standing.get(rid), now) for rid, own in sorted(changes_by_rid.items())]


def _repair(run: str, rid: str, own: Sequence[Change], held: Row | None, now: str) -> Row:
    """Return the properties of one Repair: what it held, and its own changes."""
    first = own[0]
    held = held or {"before": [], "after": [], "evidence": [], "safe": True, "reason": first.reason}
    evidence = list(held["evidence"])
    seen = {orjson.dumps(known) for known in evidence}
    for change in own:
        if orjson.dumps(change.evidence) not in seen:
            seen.add(orjson.dumps(change.evidence))
            evidence.append(change.evidence)
    after = [*held["after"], *entries(own, "after")]
    return {
        "rid": rid,
        "run": run,
        "name": first.rule,
        "rule": first.rule,
        "rank": first.rank,
        "reason": held["reason"],
        "evidence": orjson.dumps(evidence).decode(),
        "before": orjson.dumps([*held["before"], *entries(own, "before")]).decode(),
        "after": orjson.dumps(after).decode(),
        "safe": held["safe"] and all(change.safe for change in own),
        "changes": len(after),
        "applied_at": now,
    }


def _answers(run: str, due: Sequence[Change], plan: Plan, findings: Sequence[Finding]) -> Iterator[Statement]:
    """Yield what ties the Repairs to the findings they answer, and marks those that are wholly repaired."""
    fids_by_fault: dict[Fault, list[str]] = {}
    for finding in findings:
        fids_by_fault.setdefault(_fault(finding), []).append(finding.fid)
    answered = sorted({(_rid(run, change), fault) for change in due for fault in change.answers}, key=str)
    pairs = [{"rid": rid, "fid": fid} for rid, fault in answered for fid in fids_by_fault.get(fault, [])]
    yield from in_parts("repair_answer_findings", pairs)
    mended = Counter(fault for change in due for fault in change.answers)
    cured = [fault for fault, cases in plan.cases.items() if cases and mended[fault] >= cases]
    fids = sorted(fid for fault in cured for fid in fids_by_fault.get(fault, []))
    if fids:
        yield statement("repair_set_finding_status", fids=fids, status="repaired")


def _fault(finding: Finding) -> Fault:
    """Return the fault a finding is about."""
    absent_id = finding.evidence.get("absent_id")
    return finding.rule, -1 if finding.rank is None else finding.rank, absent_id
