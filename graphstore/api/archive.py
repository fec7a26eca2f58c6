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

ENGINES = ("neo4j", "neo4j-rust-ext", "neomodel", "kglite", "polars", "protobuf")


def list_runs(settings: Settings) -> list[dict[str, Any]]:
    """Return the properties of every ready run, oldest first."""
    with opened(settings) as store:
        return store.runs()


def show_run(run: str | None, settings: Settings) -> dict[str, Any]:
    """Return one run: its properties, its files with their ledger, and the counts per label."""
    with opened(settings) as store:
        run = resolve_run(store, run)
        properties = next(r for r in store.runs() if r["run"] == run)
        files = run_query(store, run, "archive/show_ledger").to_dicts()
        counts = run_query(store, run, "archive/count_labels").to_dicts()
        return {**properties, "files": files, "counts": counts}


def tag_run(run: str, add: list[str], remove: list[str], settings: Settings) -> list[str]:
    """Add and remove tags of a run; return the tags it has now, sorted."""
    with opened(settings) as store:
        run = resolve_run(store, run)
        old = next(r for r in store.runs() if r["run"] == run)["tags"] or []
        tags = sorted((set(old) | set(add)) - set(remove))
        store.set_run(run, {"tags": tags})
        return tags


def delete_run(run: str, settings: Settings) -> None:
    """Delete one run from the archive; the trace files themselves are not touched."""
    with opened(settings) as store:
        store.delete_run(resolve_run(store, run))


def rebuild(settings: Settings) -> dict[str, Any]:
    """Make the archive's index again from its runs, and remove what killed processes left.

    Returns {runs: count, removed: what went, problems: {run: why it can't be read or removed}}.
    """
    with opened(settings) as store:
        return store.rebuild()


def doctor(settings: Settings) -> dict[str, Any]:
    """Return what is there: versions, where the archive lies, whether it answers, and what to do if not.

    An unreachable store is part of the answer (`reachable` false, `remedy`), not an error.
    """
    facts: dict[str, Any] = {
        "graphstore": graphstore.__version__,
        "python": platform.python_version(),
        "packages": {name: version(name) for name in ENGINES},
    }
    try:
        with opened(settings) as store:
            return facts | {"reachable": True} | store.health()
    except StoreError as error:
        return facts | {"reachable": False, "remedy": str(error)}
