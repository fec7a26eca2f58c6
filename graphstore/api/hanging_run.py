"""Hang, asked of a run of the archive: what matching said when it was imported, read from the graph.

In:  a run id and settings. Out: the `HangResult` that `hang` gives for the files of the run.
Decided here: nothing of the judgement. Collectives, windows and waits are nodes and edges; what concerns the
run as a whole (notes, versions, what would decide it) stands in a property of the Run.
"""

from __future__ import annotations

from typing import Any

import orjson
import polars as pl

from graphstore import queries
from graphstore.api.hanging import HangResult
from graphstore.api.selection import resolve_run
from graphstore.api.verbs import opened
from graphstore.errors import UsageError
from graphstore.link.matching.evidence import EVIDENCE, KEPT
from graphstore.link.matching.model import group_label
from graphstore.model.ids import name_order
from graphstore.settings import Settings
from graphstore.store.base import Store

Row = dict[str, Any]
AREA = "communication"


def hang_run(run: str | None, settings: Settings) -> HangResult:
    """Return who stopped the job of an archived run, as far as its files proved it when they were imported.

    Raises UsageError for an unknown run, or one whose files hold no communication that could be matched.
    """
    with opened(settings) as store:
        run = resolve_run(store, run)
        matched = _rows(store, run, "show_matching")[0]
        if matched["matching"] is None:
            raise UsageError(
                f"run {run} holds no communication that could be matched across ranks. Import its Flight "
                "Recorder dumps or traces of several ranks."
            )
        return _result(store, run, matched)


def _rows(store: Store, run: str, name: str) -> list[Row]:
    return queries.run_query(store, run, f"{AREA}/{name}").to_dicts()


def _result(store: Store, run: str, matched: Row) -> HangResult:
    told = orjson.loads(matched["matching"])
    groups = sorted(_rows(store, run, "show_groups"), key=lambda g: (name_order(g["pg_name"]), g["members"]))
    causes = _rows(store, run, "show_causes")
    standing = _rows(store, run, "show_standing_ranks")
    windows = _windows(groups, _rows(store, run, "show_progress"), standing)
    evidence = pl.DataFrame(windows, schema=EVIDENCE, orient="row")
    files = queries.run_query(store, run, "archive/show_files").to_dicts()
    record = {
        "healthy": matched["healthy"],
        "culprits": [
            {"rank": rank, "confidence": cause["confidence"], "basis": cause["basis"]}
            for cause in causes
            for rank in cause["blamed"]
        ],
        "undecided_between": sorted({rank for cause in causes for rank in cause["undecided"]}),
        "findings": [_finding(cause, groups) for cause in causes],
        "would_decide": told["would_decide"],
        "groups": [_group(group) for group in groups],
        "verdicts": _summed(_rows(store, run, "count_collectives_by_verdict"), "collectives"),
        "p2p_verdicts": _summed([row | {"n": 1} for row in _rows(store, run, "show_channels")], "n"),
        "windows": evidence.to_dicts(),
        "waits": _waits(groups, standing, _rows(store, run, "show_awaited_ranks")),
        "jobs": _jobs(told, matched["healthy"]),
        "notes": told.get("notes", []),
        "source": matched["matched_from"],
        "set_aside": told["set_aside"],
        "refused": [file["problem"] for file in files if file["problem"]],
        "skipped_folders": [],
    }
    return HangResult(record, evidence)


def _jobs(told: Row, healthy: bool | None) -> list[Row]:
    """Return the one job of the run; none where no file could be matched."""
    parts = ("calls", "ranks", "versions", "files", "first_divergence")
    if "ranks" not in told:
        return []
    return [{"job": 1, "healthy": healthy} | {part: told[part] for part in parts}]


def _group(group: Row) -> Row:
    return {
        "job": 1,
        "group": _label(group),
        "pg_name": group["pg_name"],
        "pg_desc": group["pg_desc"] or "",
        "ranks": group["members"],
        "origin": group["origin"],
        "complete": group["complete"],
    }


def _label(group: Row) -> str:
    return group_label(group["pg_name"], group["pg_desc"], group["members"])


def _finding(cause: Row, groups: list[Row]) -> Row:
    """Return a cause as it is told of files: its group by name."""
    name = next((group["pg_name"] for group in groups if group["group"] == cause["group"]), None)
    return {
        "job": 1,
        "rule": cause["rule"],
        "ranks": cause["ranks"],
        "message": cause["message"],
        "group": name,
        "seq": cause["collective_seq_id"],
        "site": cause["site"],
        "op": cause["op_name"],
        "confidence": cause["confidence"],
        "basis": cause["basis"],
        "blamed": cause["blamed"],
        "undecided": cause["undecided"],
        "divergence": None if cause["divergence"] is None else orjson.loads(cause["divergence"]),
        "evidence": orjson.loads(cause["evidence"]),
    }


def _summed(rows: list[Row], count: str) -> dict[str, int]:
    """Return {verdict: sum of a count}."""
    out: dict[str, int] = {}
    for row in rows:
        out[row["verdict"]] = out.get(row["verdict"], 0) + row[count]
    return out


def _windows(groups: list[Row], progress: list[Row], standing: list[Row]) -> list[Row]:
    """Return a row per group and member of whom something is told; of a group nothing is told of, none."""
    first = {row["rank"]: row for row in standing}
    by_group: dict[str, list[Row]] = {}
    for row in progress:
        by_group.setdefault(row["group"], []).append(row)
    out = []
    for group in groups:
        rows = [(row, _facts(group, row, first.get(row["rank"]))) for row in by_group.get(group["group"], [])]
        if any(facts for _, facts in rows):
            out += [
                {"job": 1, "group": _label(group), "pg_name": group["pg_name"], "rank": row["rank"]}
                | {"calls": row["dump"] or KEPT}
                | facts
                for row, facts in rows
                if facts or (row["dump"] or KEPT) != KEPT
            ]
    return out


def _facts(group: Row, progress: Row, standing: Row | None) -> Row:
    """Return what is told of a rank in a group beside its name."""
    names = ("first_kept", "last_kept", "last_enqueued", "last_completed")
    facts = {name: progress[name] for name in names if progress[name] is not None}
    if standing is not None and standing["pg_name"] == group["pg_name"]:
        facts |= {"first_unfinished": standing["first_unfinished"], "site": standing["site"]}
    return facts


def _waits(groups: list[Row], standing: list[Row], awaited: list[Row]) -> list[Row]:
    """Return a row per unfinished call: the ranks that stand in it first, and whom they wait for."""
    of: dict[tuple[str, int], dict[str, str]] = {}  # (collective or rank, its key) → {rank: wait}
    for row in sorted(awaited, key=lambda row: int(row["rank"])):
        of.setdefault((row["waiting"], row["key"]), {})[str(row["rank"])] = row["wait"]
    calls: dict[tuple[str, str, tuple[tuple[str, str], ...]], Row] = {}
    for row in standing:
        in_call = row["collective"] is not None
        waits = of.get(("collective", row["collective"]) if in_call else ("rank", row["rank"]), {})
        key = row["pg_name"], row["first_unfinished"], tuple(sorted(waits.items()))
        label = next(
            (_label(g) for g in groups if g["pg_name"] == row["pg_name"] and row["rank"] in g["members"]),
            row["pg_name"],
        )
        shown = {"job": 1, "group": label, "call": row["first_unfinished"], "site": row["site"]}
        calls.setdefault(key, shown | {"ranks": [], "waits_for": waits})["ranks"].append(row["rank"])
    return list(calls.values())
