"""The archive as a whole: list, show, tag and delete runs; what `doctor` tells.

In:  settings. Out: plain dicts and lists.
"""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import Any

import graphstore
from graphstore.api.verbs import opened, resolve_run
from graphstore.errors import StoreError
from graphstore.queries import run_query
from graphstore.settings import Settings
from graphstore.settings.config import KEYS
from graphstore.store import open_store

ENGINES = ("neo4j", "neo4j-rust-ext", "neomodel", "kglite", "polars", "protobuf")


def list_runs(settings: Settings) -> list[dict[str, Any]]:
    """Return the properties of every ready run, oldest first: a dict each, as `Run` of the schema lists them.

    Raises StoreError.
    """
    with opened(settings) as store:
        return store.runs()


def show_run(run: str | None, settings: Settings) -> dict[str, Any]:
    """Return one run: its properties, `files` with their ledger, and `counts` of nodes per label.

    Raises UsageError for a run that is not there, StoreError.
    """
    with opened(settings) as store:
        run = resolve_run(store, run)
        properties = next(r for r in store.runs() if r["run"] == run)
        files = run_query(store, run, "archive/show_ledger").to_dicts()
        counts = run_query(store, run, "archive/count_labels").to_dicts()
        return {**properties, "files": files, "counts": counts}


def tag_run(run: str, add: list[str], remove: list[str], settings: Settings) -> list[str]:
    """Add and remove tags of a run; return the tags it has now, sorted. Raises UsageError, StoreError."""
    with opened(settings) as store:
        run = resolve_run(store, run)
        old = next(r for r in store.runs() if r["run"] == run)["tags"] or []
        tags = sorted((set(old) | set(add)) - set(remove))
        store.set_run(run, {"tags": tags})
        return tags


def delete_run(run: str, settings: Settings) -> None:
    """Delete one run from the archive; the trace files themselves are not touched.

    Raises UsageError for a run that is not there, StoreError when another process writes it.
    """
    with opened(settings) as store:
        store.delete_run(resolve_run(store, run))


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
