"""Import: files → records → linked ranks → one run in the store.

In:  paths a person names. Out: an `ImportResult` per run, with the ledger of every file.
Decided here: the order of the steps, which files form a run, and that the same files are imported once.
Reading is readers/, linking is link/, writing is store/; this module only joins them.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graphstore import readers
from graphstore.errors import InputError, NoTraceError, UsageError
from graphstore.link.assemble import assemble
from graphstore.link.rank import link_rank
from graphstore.link.run_matching import match_run, reduce_dumps
from graphstore.model import ids
from graphstore.model.records import FileRecords, RankGraph, RunGraph
from graphstore.settings import Settings
from graphstore.store import open_store
from graphstore.store.base import Progress, Store

WANTED = "execution traces, Kineto traces or .et files"


@dataclass(frozen=True)
class ImportOptions:
    """What a person may say about the files: an id for the run, ranks, that a mismatch is meant, and that
    every entry of very large dumps becomes a node.
    """

    run: str | None = None
    rank_flags: dict[str, int] = field(default_factory=dict)
    allow_mismatch: bool = False
    full_detail: bool = False


@dataclass(frozen=True)
class ImportResult:
    """What an import did: the run, the facts of each file (the ledger), and what could not be read.

    `files` are properties of the TraceFile nodes; `counts` {label or relationship type: number}; `problems`
    one line for each file that was named or looked like a trace and could not be read (the run is made of
    the others all the same); `skipped_folders` the subfolders that were not entered.
    """

    run: str
    unchanged: bool
    files: list[dict[str, Any]]
    counts: dict[str, int]
    problems: list[str]
    skipped_folders: list[str]


@dataclass(frozen=True)
class Imports:
    """The runs made of the paths of one call, and a line for each folder that no run could be made of."""

    runs: list[ImportResult]
    failed: list[str] = field(default_factory=list)


def import_runs(
    paths: Sequence[str],
    options: ImportOptions,
    settings: Settings,
    *,
    recursive: bool = False,
    progress: Progress | None = None,
) -> Imports:
    """Import the files of `paths` as one run, or with `recursive` each folder that holds traces as a run.

    Raises InputError (nothing readable), RankError, RunMismatchError, UsageError or StoreError; then nothing
    is stored. With `recursive` a folder whose files are wrong is listed as failed, and the others go on.
    """
    found = readers.find_files(paths, recursive=recursive)
    with closing(open_store(settings)) as store:
        if recursive:
            return _import_folders(store, found, options, settings, progress)
        return Imports([import_files(store, found, options, settings, progress)])


def _import_folders(
    store: Store,
    found: readers.FoundFiles,
    options: ImportOptions,
    settings: Settings,
    progress: Progress | None,
) -> Imports:
    folders = _by_folder(found.files)
    if options.run is not None and len(folders) > 1:
        raise UsageError(
            f"--run {options.run} names one run, but {len(folders)} folders hold files. Leave --run out."
        )
    done = Imports([])
    without_trace: list[NoTraceError] = []
    for folder, files in folders.items():
        try:
            given = readers.FoundFiles(files, found.explicit)
            done.runs.append(import_files(store, given, options, settings, progress))
        except NoTraceError as error:
            without_trace.append(error)
        except InputError as error:
            done.failed.append(f"{folder}: no run was made of it: {error}")
    if not (done.runs or done.failed):
        raise without_trace[0]
    return done


def import_files(
    store: Store,
    found: readers.FoundFiles,
    options: ImportOptions,
    settings: Settings,
    progress: Progress | None = None,
) -> ImportResult:
    """Import the files found as one run into an open store; the same files a second time change nothing."""
    content = ids.content_hash(_sha256(path, settings) for path in found.files)
    run = _run_id(found.files, options.run, content)
    known = next((r for r in store.runs() if r["run"] == run), None)
    if known is not None and known["content_hash"] == content:
        return ImportResult(run, True, [], {}, [], found.skipped_folders)
    if known is not None:
        raise UsageError(
            f"--run {run}: a run of this id with other files is in the archive. Take another id, or "
            f"`graphstore runs delete {run}` first. Nothing was imported."
        )
    records = readers.read_files(found.files, settings, found.explicit, progress)
    for record in records:  # so that `runs verify` finds the files from any folder
        record.facts["path"] = str(Path(record.path).absolute())
    problems = [str(r.facts["problem"]) for r in records if r.facts.get("problem")]
    graph = link_records(store, run, content, records, options, settings)
    counts = graph.counts()
    store.write_run(graph.handed_over(), progress)
    return ImportResult(run, False, [r.facts for r in records], counts, problems, found.skipped_folders)


def link_records(
    store: Store,
    run: str,
    content: str,
    records: list[FileRecords],
    options: ImportOptions,
    settings: Settings,
) -> RunGraph:
    """Return the linked run of what the readers gave; the tables of `records` are used up.

    Raises InputError when no file of the run is a trace that could be read.
    """
    if not any(r.facts["kind"] != "not_a_trace" and not r.facts.get("problem") for r in records):
        raise nothing_readable(records, WANTED)
    readers.assign_ranks(records, options.rank_flags)
    dumps = reduce_dumps(records)
    by_rank: dict[int, list[FileRecords]] = defaultdict(list)
    others = []
    for record in records:
        if record.facts.get("rank") is None or record.facts.get("problem"):
            others.append(record)
        else:
            by_rank[record.facts["rank"]].append(record)

    def link_one(rank: int) -> RankGraph:
        graph = link_rank(rank, by_rank[rank], allow_mismatch=options.allow_mismatch)
        for record in by_rank[rank]:
            record.tables.clear()
        return graph

    with ThreadPoolExecutor(settings.processes) as pool:  # the work is in polars and numpy, outside the GIL
        ranks = list(pool.map(link_one, sorted(by_rank)))
    matched = match_run(dumps, ranks)
    graph = assemble(run, store.allocate_run_no(), run, ranks, others, matched, options.full_detail)
    graph.run["content_hash"] = content
    return graph


def _by_folder(files: Sequence[str]) -> dict[str, list[str]]:
    folders: dict[str, list[str]] = defaultdict(list)
    for path in files:
        folders[str(Path(path).parent)].append(path)
    return dict(sorted(folders.items()))


def _run_id(files: Sequence[str], given: str | None, content: str) -> str:
    """Return the id of the run: the one given, else the folder's name (or the only file's) and the hash."""
    if given is not None:
        if not ids.RUN_ID.fullmatch(given):
            raise UsageError(
                f"--run {given}: want at most 100 letters, digits, '.', '_' or '-'. Nothing was imported."
            )
        return given
    first = Path(files[0]).resolve()
    name = first.name.split(".")[0] if len(files) == 1 else first.parent.name
    return ids.default_run_id(name, content)


def _sha256(path: str, settings: Settings) -> str:
    """Return the sha256 of a file; one that cannot be read counts by its path, and its reader says why."""
    try:
        with readers.open_source(path, settings) as source:
            return str(source.facts()["sha256"])
    except InputError:
        return hashlib.sha256(path.encode(errors="surrogateescape")).hexdigest()


def nothing_readable(records: Sequence[FileRecords], wanted: str) -> InputError:
    """Return the error of files none of which can be used: the first problem, or what is `wanted` of them."""
    problems = [str(r.facts["problem"]) for r in records if r.facts.get("problem")]
    if problems:
        more = f" ({len(problems) - 1} more files have problems)" if len(problems) > 1 else ""
        return InputError(f"{problems[0]}{more}")
    folder = Path(records[0].path).parent
    return NoTraceError(f"{folder}: no trace among {len(records)} files. Want {wanted}.")
