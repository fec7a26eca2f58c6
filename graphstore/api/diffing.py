"""The verb diff: two archived runs, compared op by op.

In:  two run ids, settings. Out: a `DiffResult`: frames and notes. The comparison is queries/diffing.
"""

from __future__ import annotations

from graphstore.api.selection import resolve_run
from graphstore.api.verbs import opened
from graphstore.queries.diffing import DiffResult, diff
from graphstore.settings import Settings


def diff_runs(a: str, b: str, settings: Settings, *, rank: int | None = None) -> DiffResult:
    """Return what changed from run `a` to run `b`: on every rank both have, or on `rank` alone.

    Raises UsageError for an unknown run, or runs that have nothing to compare.
    """
    with opened(settings) as store:
        return diff(store, resolve_run(store, a), resolve_run(store, b), rank)
