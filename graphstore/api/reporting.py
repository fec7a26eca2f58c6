"""The verb report: a run as one HTML page.

In:  a run id, a file, settings. Out: what was written.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from graphstore.api.selection import resolve_run
from graphstore.api.verbs import opened
from graphstore.export import report
from graphstore.settings import Settings
from graphstore.store.base import Progress


def write_report(
    run: str | None, out: Path | None, settings: Settings, *, progress: Progress | None = None
) -> dict[str, Any]:
    """Write the report of a run as the file `out` (None: RUN.html in the current folder); return its facts.

    A file that is there is replaced. Raises UsageError: unknown run, a file that can't be written.
    """
    with opened(settings) as store:
        run = resolve_run(store, run)
        return report.write_report(store, run, out or Path(f"{run}.html"), progress)
