"""The verbs on a run: check, repair, undo, export, query. Each opens the store, does one job, closes it.

In:  a run id and settings. Out: findings, plans, manifests, frames: plain data.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from graphstore import export, queries, readers, repairs
from graphstore.api.importing import ImportOptions, ImportResult, import_files
from graphstore.api.selection import resolve_run
from graphstore.errors import NoTraceError
from graphstore.queries.findings import Finding
from graphstore.repairs import Plan
from graphstore.settings import Settings
from graphstore.store import open_store
from graphstore.store.base import Progress, Store


@contextmanager
def opened(settings: Settings) -> Iterator[Store]:
    """Yield the store of `settings`, closed afterwards. Raises StoreError when it can't be reached."""
    with closing(open_store(settings)) as store:
        yield store


@contextmanager
def scratch_store(settings: Settings) -> Iterator[Store]:
    """Yield an embedded store in a temporary folder: for files that are looked at but not kept."""
    with (
        tempfile.TemporaryDirectory(prefix="graphstore-") as folder,
        opened(replace(settings, store=folder)) as store,
    ):
        yield store


def check_run(run: str | None, settings: Settings, *, topic: str | None = None) -> list[Finding]:
    """Return the findings of every check on an archived run, and keep them there.

    With `topic` only those of the checks of one topic, which are not kept. A finding is one cause: its rule,
    severity (error, warning, note), confidence, message, evidence, and status (open, repaired). Raises
    UsageError for a run or topic that is not there, StoreError.
    """
    with opened(settings) as store:
        run = resolve_run(store, run)
        found = queries.check(store, run, topic=topic)
        if topic is None:
            queries.write_findings(store, run, found)
        return found


def check_files(
    paths: Sequence[str],
    options: ImportOptions,
    settings: Settings,
    *,
    topic: str | None = None,
    progress: Progress | None = None,
) -> tuple[list[Finding], ImportResult]:
    """Return the findings on trace files, checked in a graph that is thrown away, and what was read.

    `topic` as check_run takes it. Raises what import_runs raises.
    """
    found = readers.find_files(paths, recursive=False)
    with scratch_store(settings) as store:
        result = import_files(store, found, options, settings, progress)
        return queries.check(store, result.run, topic=topic), result


def check_for_simulator(
    paths: Sequence[str], settings: Settings, *, progress: Progress | None = None
) -> tuple[list[Finding], list[str]]:
    """Return what keeps ASTRA-sim from running Chakra files, as they lie, and the paths passed over.

    A folder stands for the `.et` files in it. Raises InputError when there is none, or one is damaged.
    """
    found = readers.find_files(paths, recursive=False)
    chosen = [path for path in found.files if path.endswith(".et") or _is_chakra(path, settings)]
    if not chosen:
        raise NoTraceError(
            f"{found.files[0]}: no Chakra file among {len(found.files)} files. Want PREFIX.RANK.et."
        )
    passed_over = sorted(set(found.files) - set(chosen)) + found.skipped_folders
    findings = export.check_for_simulator([Path(path) for path in chosen], settings, progress)
    return findings, [path for path in passed_over if Path(path).name != export.GROUP_FILE]


def _is_chakra(path: str, settings: Settings) -> bool:
    """Return whether a file of another name is a Chakra file all the same."""
    with readers.open_source(path, settings) as source:
        return readers.detect(source).kind == "chakra_et"


@dataclass(frozen=True)
class RepairResult:
    """A plan, and what of it was applied (properties of the Repair nodes; empty when only planned)."""

    run: str
    plan: Plan
    applied: list[dict[str, Any]]


def repair_run(
    run: str | None, settings: Settings, *, apply: bool = False, unsafe: bool = False
) -> RepairResult:
    """Return the repairs of a run; with `apply` write the safe ones, with `unsafe` the inferred ones too.

    Without `apply` nothing is written, whatever `unsafe` says. All that is asked for is written, or nothing;
    applying twice changes nothing. Raises UsageError for a run that is not there, StoreError.
    """
    with opened(settings) as store:
        run = resolve_run(store, run)
        plan = repairs.plan(store, run)
        applied = repairs.apply(store, run, plan, unsafe=unsafe) if apply else []
        return RepairResult(run, plan, applied)


def undo_repairs(run: str | None, settings: Settings) -> tuple[str, int]:
    """Take back every repair of a run; return its id and the number of repairs undone.

    The graph is then what it was before the first. Raises UsageError for a run that is not there, StoreError.
    """
    with opened(settings) as store:
        run = resolve_run(store, run)
        return run, repairs.undo(store, run)


def export_run(
    run: str | None,
    out: Path,
    settings: Settings,
    *,
    target: export.Target = "chakra",
    form: export.Form = "exact",
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Write a Chakra file per rank, the communicator groups and the manifest; return the manifest.

    `target`: `astra-sim` leaves out what that simulator can't take. `form`: `compact` joins pieces of host
    time of at most 10 µs. All files or none. Raises UsageError for a run that is not there, a graph that
    can't be written validly or a folder that can't be written; StoreError.
    """
    with opened(settings) as store:
        return export.export_run(store, resolve_run(store, run), out, progress, target=target, form=form)


def export_tables(
    run: str | None,
    out: Path,
    settings: Settings,
    *,
    form: export.TableForm = "parquet",
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Write groups, collectives, calls and transfers of a run as flat tables; return what was written.

    Their columns are in docs/tables.md. All files or none. Raises UsageError for a run that is not there or a
    folder that can't be written; StoreError.
    """
    with opened(settings) as store:
        return export.export_tables(store, resolve_run(store, run), out, form, progress)


def export_et_plus(
    run: str | None, out: Path, settings: Settings, *, progress: Progress | None = None
) -> dict[str, Any]:
    """Write the merged execution trace of each rank; return what was written, and what it can't hold.

    All files or none. Raises as export_tables does.
    """
    with opened(settings) as store:
        return export.export_et_plus(store, resolve_run(store, run), out, progress)


def export_json(
    run: str | None, out: Path, settings: Settings, *, progress: Progress | None = None
) -> dict[str, Any]:
    """Write the nodes of each rank's Chakra file as JSON; return what was written.

    All files or none. Raises as export_run does.
    """
    with opened(settings) as store:
        return export.export_json(store, resolve_run(store, run), out, progress)


def export_timeline(
    run: str | None, out: Path, settings: Settings, *, progress: Progress | None = None
) -> dict[str, Any]:
    """Write the timeline of a run for Perfetto; return what was written, and what it can't show.

    All files or none. Raises as export_tables does.
    """
    with opened(settings) as store:
        return export.export_timeline(store, resolve_run(store, run), out, progress)


@dataclass(frozen=True)
class QueryResult:
    """Rows of a query, and whether the row limit cut them."""

    run: str
    rows: pl.DataFrame
    cut: bool


def query_run(
    run: str | None,
    query: str,
    parameters: dict[str, Any],
    settings: Settings,
    *,
    row_limit: int | None = None,
    timeout_s: float | None = None,
) -> QueryResult:
    """Return the rows of a catalogue query, a .cypher file or a Cypher text on one run. It cannot write.

    `row_limit` and `timeout_s` default to the settings; `$run` is bound, and `$runs` of a query over many
    runs to this one alone. Raises QueryError for a text that is wrong or would write, QueryTimeoutError,
    UsageError for an unknown name, run or parameter, StoreError.
    """
    limit = settings.row_limit if row_limit is None else row_limit
    time_limit = settings.query_timeout_s if timeout_s is None else timeout_s
    with opened(settings) as store:
        run = resolve_run(store, run)
        limits: dict[str, Any] = {"row_limit": limit, "timeout_s": time_limit}
        if queries.is_over_runs(query):
            rows = queries.run_any_over_archive(store, [run], query, parameters, **limits)
        else:
            rows = queries.run_any(store, run, query, parameters, **limits)
        return QueryResult(run, rows.head(limit), rows.height > limit)
