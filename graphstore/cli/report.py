"""How the results of the long verbs are told: rows for stdout, one-line remarks for stderr, exit codes.

In:  the api's results. Out: text. What is decided here: which columns a table shows, and that every file that
could not be read, every subfolder not entered and every reason for leaving records out is named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from graphstore.cli import output
from graphstore.cli.output import Format
from graphstore.errors import InputError
from graphstore.model.schema import LABEL_BY_NAME

if TYPE_CHECKING:  # --help tells nothing of results, and shall not load what makes them
    from graphstore.api import BrowserAt, ImportResult
    from graphstore.queries.findings import Finding
    from graphstore.repairs import Plan

LEDGER_COLUMNS = ("run", "name", "kind", "rank", "records_read", "kept", "left_out")
FINDING_COLUMNS = ("severity", "status", "rank", "rule", "message")
REPAIR_COLUMNS = ("rule", "rank", "safe", "changes", "reason")
PLAN_COLUMNS = ("rule", "rank", "safe", "changes", "example")
SEVERITIES = ("error", "warning", "note")
FINDINGS_EXIT = 1
UNEXPLAINED_SHARE = 0.01  # of the span; more than this is said loudly


def show_imports(results: Sequence[ImportResult], form: Format) -> None:
    """Print the ledger, a row a file; in JSON an object a run, with its ledger, counts and problems."""
    if form in (Format.JSON, Format.JSONL):
        output.show([asdict(result) for result in results], form)
        return
    rows = [
        {"run": result.run, **facts, "left_out": _left_out(facts, form)}
        for result in results
        for facts in result.files
    ]
    output.show(rows, form, LEDGER_COLUMNS)


def say_import(result: ImportResult, quiet: bool) -> None:
    """Say what an import did: the run and its size, files not read or cut off, folders not entered."""
    for problem in result.problems:
        output.say(f"graphstore: {problem}")
    for facts in result.files:
        if facts.get("cut_at"):
            output.say(
                f"graphstore: {facts['path']}: cut off at {facts['cut_at']}; the whole records were read"
            )
    if result.skipped_folders:
        output.say(f"not entered (--recursive does): {', '.join(result.skipped_folders)}", quiet)
    if result.unchanged:
        output.say(f"run {result.run}: these very files are in the archive already; nothing changed", quiet)
        return
    nodes = sum(count for name, count in result.counts.items() if name in LABEL_BY_NAME)
    edges = sum(result.counts.values()) - nodes
    ranks = len({facts["rank"] for facts in result.files if facts.get("rank") is not None})
    counted = ((len(result.files), "file"), (ranks, "rank"), (nodes, "node"), (edges, "edge"))
    output.say(f"run {result.run}: {', '.join(_many(count, noun) for count, noun in counted)}", quiet)


def say_links(results: Sequence[ImportResult], browser: BrowserAt | None) -> None:
    """Say where each run is seen in Neo4j Browser; nothing where the server does not say where that is."""
    if browser is not None:
        for result in results:
            output.say(f"run {result.run}: open in Browser: {browser.run(result.run)}")


def problems_code(results: Sequence[ImportResult]) -> int:
    """Return the exit code of imports: that of bad input when a file could not be read, else 0."""
    return InputError.exit_code if any(result.problems for result in results) else 0


def show_findings(findings: Sequence[Finding], form: Format, browser: BrowserAt | None = None) -> None:
    """Print the findings, the severe ones first; in a table without their evidence and subjects.

    With a Browser each has its link there: as a field `browser`, beside a table on stderr, where it does not
    make the rows too long to read.
    """
    rows = sorted(
        (asdict(finding) for finding in findings), key=lambda row: SEVERITIES.index(row["severity"])
    )
    if browser is not None:
        rows = [row | {"browser": browser.finding(row["fid"])} for row in rows]
    output.show(rows, form, FINDING_COLUMNS)
    if browser is not None and form is Format.TABLE:
        for row in rows:
            rank = "" if row["rank"] is None else f" rank {row['rank']}"
            output.say(f"{row['rule']}{rank}: open in Browser: {row['browser']}")


def say_findings(findings: Sequence[Finding], quiet: bool) -> None:
    """Say how many findings there are of each severity and status."""
    counts = Counter((finding.severity, finding.status) for finding in findings)
    told = [
        f"{_many(counts[severity, status], severity)} {status}"
        for severity in SEVERITIES
        for status in ("open", "repaired")
        if counts[severity, status]
    ]
    output.say(f"findings: {', '.join(told) or 'none'}", quiet)


def strict_code(findings: Sequence[Finding], strict: bool) -> int:
    """Return 1 when `strict` and a finding of severity error is open, else 0."""
    is_open = any(finding.severity == "error" and finding.status == "open" for finding in findings)
    return FINDINGS_EXIT if strict and is_open else 0


def show_plan(plan: Plan, form: Format) -> None:
    """Print a plan: in a table a row for each rule and rank, else a row for each change with its evidence."""
    if form is not Format.TABLE:
        output.show(plan.rows(), form)
        return
    grouped: dict[tuple[str, int, bool], dict[str, Any]] = {}
    for change in plan:
        row = grouped.setdefault(
            (change.rule, change.rank, change.safe),
            {
                "rule": change.rule,
                "rank": change.rank,
                "safe": change.safe,
                "changes": 0,
                "example": change.reason,
            },
        )
        row["changes"] += 1
    output.show(list(grouped.values()), form, PLAN_COLUMNS)


def say_plan(plan: Plan, quiet: bool) -> None:
    """Say how many changes are due, and which words of the command write them."""
    safe, unsafe = len(plan.safe), len(plan.unsafe)
    if not len(plan):
        output.say("nothing to repair", quiet)
        return
    output.say(
        f"nothing is written yet: --apply writes {safe} proven, --apply --unsafe also {unsafe} inferred",
        quiet,
    )


def show_repairs(applied: Sequence[dict[str, Any]], form: Format) -> None:
    """Print applied repairs, one for each rule and rank."""
    output.show(applied, form, REPAIR_COLUMNS)


def say_repairs(applied: Sequence[dict[str, Any]], quiet: bool) -> None:
    """Say what was applied: changes for each rule, proven or inferred."""
    changes: Counter[tuple[str, bool]] = Counter()
    for repair in applied:
        changes[repair["rule"], repair["safe"]] += repair["changes"]
    told = [f"{rule} {count} ({'proven' if safe else 'inferred'})" for (rule, safe), count in changes.items()]
    output.say(f"repairs applied: {', '.join(told) or 'none'}", quiet)


def show_manifest(manifest: dict[str, Any], form: Format) -> None:
    """Print what was written: a row for each rank; in JSON the whole manifest."""
    if form in (Format.JSON, Format.JSONL):
        output.show_record(manifest, form)
        return
    rows = [
        {
            "rank": int(rank),
            "file": entry["file"],
            "nodes": entry["nodes"],
            "communications": entry["communications"],
            **_replayed(entry.get("replay")),
            "size_bytes": manifest["files"][entry["file"]]["size_bytes"],
        }
        for rank, entry in manifest["ranks"].items()
    ]
    output.show(rows, form)


def _replayed(figures: dict[str, Any] | None) -> dict[str, str | None]:
    """Return what a replay of a file says, as shares of the measured span; nothing where no times are."""
    named = {"replay_error": "error", "unexplained": "unexplained"}
    return {column: f"{figures[name]:+.2%}" if figures else None for column, name in named.items()}


def say_export(manifest: dict[str, Any], out: Path, quiet: bool) -> None:
    """Say where the files are, and by reason what could not be written into them."""
    notes: Counter[str] = Counter()
    for entry in manifest["ranks"].values():
        notes.update(entry["notes"])
    for reason, count in notes.items():
        output.say(f"note: {reason}: {count}", quiet)
    for rank, entry in manifest["ranks"].items():
        _say_replay(rank, entry.get("replay"), quiet)
    output.say(f"written to {out}: {len(manifest['files'])} files and manifest.json", quiet)


def _say_replay(rank: str, figures: dict[str, Any] | None, quiet: bool) -> None:
    """Say what a file does not explain, and what in it was chosen by time alone."""
    if not figures:
        return
    if figures["unexplained"] > UNEXPLAINED_SHARE:
        output.say(
            f"warning: rank {rank}: {figures['unexplained']:.0%} of the span is waiting that nothing in the "
            "trace explains (nodes `unexplained wait`): its replay fits, and proves nothing"
        )
    if figures["edges_chosen_by_time"]:
        output.say(
            f"note: rank {rank}: edges chosen by time alone, listed in the manifest: "
            f"{figures['edges_chosen_by_time']}",
            quiet,
        )


def show_tables(written: dict[str, Any], form: Format) -> None:
    """Print what flat tables were written: a row for each; in JSON the whole summary."""
    if form in (Format.JSON, Format.JSONL):
        output.show_record(written, form)
        return
    names = ("file", "rows", "size_bytes")
    rows = [
        {"table": name, **{item: table[item] for item in names}} for name, table in written["tables"].items()
    ]
    output.show(rows, form)


def say_tables(written: dict[str, Any], out: Path, quiet: bool) -> None:
    """Say where the tables are, and how many calls lack what by reason."""
    for reason, count in written["notes"].items():
        output.say(f"note: {reason}: {count}", quiet)
    output.say(f"written to {out}: {len(written['tables'])} files", quiet)


def show_files(written: dict[str, Any], form: Format) -> None:
    """Print what files were written: a row for each; in JSON the whole summary."""
    if form in (Format.JSON, Format.JSONL):
        output.show_record(written, form)
        return
    hidden = ("sha256",) if form is Format.TABLE else ()
    rows = [
        {"file": name, **{key: value for key, value in facts.items() if key not in hidden}}
        for name, facts in written["files"].items()
    ]
    output.show(rows, form)


def say_files(written: dict[str, Any], out: Path, quiet: bool) -> None:
    """Say where the files are, and by reason what they can't hold."""
    for reason, count in written["notes"].items():
        output.say(f"note: {reason}: {count}", quiet)
    output.say(f"written to {out}: {_many(len(written['files']), 'file')}", quiet)


def _left_out(facts: dict[str, Any], form: Format) -> str:
    """Return the reasons of a file's left-out records: readable in a table, as JSON elsewhere."""
    text: str = facts.get("left_out") or "{}"
    if form is not Format.TABLE:
        return text
    reasons = orjson.loads(text)
    return facts.get("problem") or ", ".join(f"{reason} {count}" for reason, count in reasons.items())


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
