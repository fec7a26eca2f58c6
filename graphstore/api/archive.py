"""The archive as a whole: list, show, tag, note, rename, verify and delete runs; what `doctor` tells.

In:  settings, words for runs (selection.py). Out: plain dicts and lists.
"""

from __future__ import annotations

import hashlib
import platform
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import graphstore
from graphstore.api.selection import Selection, resolve_run, select_runs, some_runs
from graphstore.api.verbs import opened
from graphstore.errors import StoreError, UsageError
from graphstore.queries import run_over_archive, run_query
from graphstore.settings import Settings
from graphstore.settings.config import KEYS
from graphstore.store import open_store
from graphstore.store.base import Store

ENGINES = ("neo4j", "neo4j-rust-ext", "neomodel", "kglite", "polars", "protobuf")
WHOLE = "(the run itself)"  # what `verify` calls the graph, beside the files it was read from
NAME_LENGTH = 200


def list_runs(settings: Settings, selection: Selection | None = None) -> list[dict[str, Any]]:
    """Return the ready runs that meet a selection (by default all), oldest first.

    Each has the properties of its Run; stored_bytes, what it takes in the archive (None where the engine does
    not tell); errors, warnings and notes, its open findings by severity as the last check kept them. Raises
    StoreError.
    """
    with opened(settings) as store:
        runs = select_runs(store, selection or Selection())
        sizes = store.sizes()
        names = [run["run"] for run in runs]
        counts = run_over_archive(store, names, "archive/count_open_findings").rows() if names else []
        open_ = Counter({(run, severity): findings for run, severity, findings in counts})
        return [
            run
            | {"stored_bytes": sizes.get(run["run"])}
            | {f"{severity}s": open_[run["run"], severity] for severity in ("error", "warning", "note")}
            for run in runs
        ]


def show_run(run: str | None, settings: Settings) -> dict[str, Any]:
    """Return one run: its properties, `files` with their ledger, and `counts` of nodes per label.

    Raises UsageError for a run that is not there, StoreError.
    """
    with opened(settings) as store:
        run = resolve_run(store, run)
        files = run_query(store, run, "archive/show_ledger").to_dicts()
        counts = run_query(store, run, "archive/count_labels").to_dicts()
        stored = {"stored_bytes": store.sizes().get(run)}
        return {**_properties(store, run), **stored, "files": files, "counts": counts}


def tag_run(run: str, add: list[str], remove: list[str], settings: Settings) -> dict[str, Any]:
    """Add and remove tags of a run; return {run: its id, tags: those it has now, sorted}.

    Raises UsageError for a run that is not there, StoreError.
    """
    with opened(settings) as store:
        run = resolve_run(store, run)
        tags = sorted((set(_properties(store, run)["tags"] or ()) | set(add)) - set(remove))
        store.set_run(run, {"tags": tags})
        return {"run": run, "tags": tags}


def note_run(run: str, note: str, settings: Settings) -> dict[str, Any]:
    """Set the note of a run in place of the one it has, '' for none; return {run: its id, note}.

    Raises UsageError for a run that is not there, StoreError.
    """
    with opened(settings) as store:
        run = resolve_run(store, run)
        kept = {"note": note or None}
        store.set_run(run, kept)
        return {"run": run, **kept}


def rename_run(run: str, name: str, settings: Settings) -> dict[str, Any]:
    """Give a run a display name; its id stays. Return {run: its id, name}.

    Raises UsageError for a name that is empty, spans lines, or is the id of another run.
    """
    if not name.strip() or len(name) > NAME_LENGTH or not name.isprintable():
        raise UsageError(f"a name is one line of 1 to {NAME_LENGTH} characters")
    with opened(settings) as store:
        run = resolve_run(store, run)
        if name != run and any(other["run"] == name for other in store.runs()):
            raise UsageError(f"{name!r} is the id of another run; take another name")
        store.set_run(run, {"name": name})
        return {"run": run, "name": name}


def delete_runs(runs: Sequence[str], settings: Settings) -> list[str]:
    """Delete runs from the archive; return their ids. The trace files themselves are not touched.

    A run whose file is damaged is deleted as well. Raises UsageError before anything is deleted when one of
    the words means no run.
    """
    with opened(settings) as store:
        names = list(dict.fromkeys(_deletable(store, run) for run in runs))
        for name in names:
            store.delete_run(name)
        return names


def _deletable(store: Store, run: str) -> str:
    """Return the id of a run; a damaged one is known by its id only."""
    try:
        return resolve_run(store, run)
    except StoreError:
        return run  # where the store itself is the trouble, deleting says so again


def verify_runs(settings: Settings, selection: Selection | None = None) -> list[dict[str, Any]]:
    """Return a row for each run and each of its files: whether they still are what was imported.

    Keys: run, file (WHOLE for the graph), path, status, problem. Files are hashed again: ok, changed, missing
    or unreadable. A graph is read through: ok or damaged; without a selection so is every file of the store
    that can't be read. Raises UsageError when the selection is no run.
    """
    with opened(settings) as store:
        rows = []
        if selection is None or selection == Selection():
            rows = [_row("", WHOLE, None, "damaged", problem) for problem in store.health()["problems"]]
        chosen = select_runs(store, Selection()) if rows else some_runs(store, selection or Selection())
        return rows + [row for run in chosen for row in _verified(store, str(run["run"]))]


def _verified(store: Store, run: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of one run."""
    try:
        run_query(store, run, "archive/count_edges")
        files = run_query(store, run, "archive/show_hashes")
    except StoreError as error:
        yield _row(run, WHOLE, None, "damaged", str(error))
        return
    yield _row(run, WHOLE, None, "ok")
    for name, path, sha256 in files.rows():
        yield _row(run, name, path, *_compared(path, sha256))


def _compared(path: str, sha256: str | None) -> tuple[str, str | None]:
    """Return the status of a file, and what is wrong with it."""
    try:
        with Path(path).open("rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
    except FileNotFoundError:
        return "missing", "no such file any more"
    except OSError as error:
        return "unreadable", error.strerror or str(error)
    if sha256 is None:
        return "unreadable", "it could not be read when it was imported, so no hash is known"
    return ("ok", None) if found == sha256 else ("changed", f"sha256 was {sha256[:12]}…, is {found[:12]}…")


def _row(run: str, file: str, path: str | None, status: str, problem: str | None = None) -> dict[str, Any]:
    return {"run": run, "file": file, "path": path, "status": status, "problem": problem}


def _properties(store: Store, run: str) -> dict[str, Any]:
    """Return the properties of a ready run."""
    return next(each for each in store.runs() if each["run"] == run)


def rebuild(settings: Settings) -> dict[str, Any]:
    """Make the archive's index again from its runs, and remove what killed processes left.

    Returns {runs: count, removed: what went, problems: {run: why it can't be read or removed}}. Raises
    StoreError.
    """
    with opened(settings) as store:
        return store.rebuild()


def doctor(settings: Settings) -> dict[str, Any]:
    """Return versions, settings, where the archive lies, whether it answers, and what to do if not.

    `settings` holds for each value where it came from; a password is never among them, only whether one is
    set. An unreachable store is part of the answer (`reachable` false, `remedy`), not an error: raises
    nothing.
    """
    facts: dict[str, Any] = {
        "graphstore": graphstore.__version__,
        "python": platform.python_version(),
        "packages": {name: version(name) for name in ENGINES},
        "settings": _told(settings),
        "config_files": list(settings.config_files),
        "config_files_passed_over": list(settings.passed_over),
    }
    try:
        with opened(settings) as store:
            return facts | {"reachable": True} | store.health()
    except StoreError as error:
        return facts | {"reachable": False, "remedy": str(error)}


def _told(settings: Settings) -> dict[str, dict[str, Any]]:
    """Return {name: {value, from}} of what a person may set, without secrets."""
    told = {key.name: getattr(settings, key.name) for key in KEYS}
    told["store"] = open_store(settings).address  # a URI may hold a password
    told["password"] = "set" if settings.password else None
    return {name: {"value": value, "from": settings.origin(name)} for name, value in told.items()}
