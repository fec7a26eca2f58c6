"""Convert: import, check, repair and export in one go; and the demo, which is a convert of a shipped run.

In:  paths, a folder for the result. Out: a `ConvertResult`. Safe and unsafe repairs are both applied, and it
says which.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphstore import export, queries, readers, repairs
from graphstore.api.importing import ImportOptions, ImportResult, import_files
from graphstore.api.verbs import opened, scratch_store
from graphstore.demo import TRACES
from graphstore.queries.findings import Finding
from graphstore.settings import Settings
from graphstore.store.base import Progress, Store


@dataclass(frozen=True)
class ConvertResult:
    """What a convert did: the import, the findings (status: which are repaired), repairs, manifest."""

    imported: ImportResult
    findings: list[Finding]
    repairs: list[dict[str, Any]]
    manifest: dict[str, Any]


def convert(
    paths: Sequence[str],
    out: Path,
    options: ImportOptions,
    settings: Settings,
    *,
    keep: bool = True,
    target: export.Target = "chakra",
    form: export.Form = "exact",
    progress: Progress | None = None,
) -> ConvertResult:
    """Turn the trace files of one run into Chakra files under `out`; archive the run unless `keep` is false.

    Raises what import_runs and export_run raise; `out` gets all of its files or none. `target` and `form` as
    export_run takes them.
    """
    found = readers.find_files(paths, recursive=False)
    with opened(settings) if keep else scratch_store(settings) as store:
        imported = import_files(store, found, options, settings, progress)
        return _finish(store, imported, out, progress, target, form)


def _finish(
    store: Store,
    imported: ImportResult,
    out: Path,
    progress: Progress | None,
    target: export.Target = "chakra",
    form: export.Form = "exact",
) -> ConvertResult:
    run = imported.run
    checked = queries.run_checks(store, run)
    plan = repairs.plan(store, run, checked.rows)
    applied = repairs.apply(store, run, plan, unsafe=True, found=checked.findings)
    manifest = export.export_run(store, run, out, progress, target=target, form=form)
    return ConvertResult(imported, queries.findings_of(store, run), applied, manifest)


@dataclass(frozen=True)
class DemoResult:
    """One row per rank: calls recorded, reached from the root without and with the repair, written."""

    rows: list[dict[str, int]]
    converted: ConvertResult


def convert_demo(out: Path | None, settings: Settings) -> DemoResult:
    """Convert the recorded run that ships with graphstore; nothing is archived.

    Raises StoreError or OSError when there is no room for temporary files.
    """
    with tempfile.TemporaryDirectory(prefix="graphstore-demo-") as scratch, scratch_store(settings) as store:
        found = readers.find_files([str(TRACES)], recursive=False)
        imported = import_files(store, found, ImportOptions(run="demo"), settings)
        before = _reached(store, imported.run)
        converted = _finish(store, imported, out or Path(scratch), None)
        after = _reached(store, imported.run)
    written = {int(rank): counts for rank, counts in converted.manifest["ranks"].items()}
    rows = [
        {
            "rank": rank,
            "calls": calls,
            "without_repair": before[rank][1],
            "with_repair": after[rank][1],
            "written": written[rank]["communications"],
        }
        for rank, (calls, _) in sorted(before.items())
    ]
    return DemoResult(rows, converted)


def _reached(store: Store, run: str) -> dict[int, tuple[int, int]]:
    """Return {rank: (communication calls, those reached from the process root)}."""
    rows = queries.run_query(store, run, "structure/count_reached_calls").to_dicts()
    return {row["rank"]: (row["calls"], row["reached"]) for row in rows}
