"""A report: one HTML page on a run, for a person to read, send on or print.

In:  a store and a run; nothing else is read, and nothing is written to the store. Out: one file that needs no
network, the same bytes for the same run; and a summary of it.
Decided here: the order of the steps. What a section is made of: contents.py. Its words: page.py and
page.html.jinja. Its pictures: charts.py, layers.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from graphstore.export.files import facts_of, publish, staged
from graphstore.export.report.contents import read_contents
from graphstore.export.report.page import page
from graphstore.store.base import Progress, Store

FORMAT = "graphstore report 1"


def write_report(store: Store, run: str, out: Path, progress: Progress | None = None) -> dict[str, Any]:
    """Write the report of a run as the file `out`; return its size, hash and what it counts.

    Raises UsageError (unknown run, a file that can't be written), QueryTimeoutError, StoreError. Then a file
    that was there is unchanged.
    """
    contents = read_contents(store, run, progress)
    text = page(contents)
    with staged(out.parent) as stage:
        (stage / out.name).write_text(text, encoding="utf-8")
        told = {"findings": sum(contents.findings.counts.values()), "spans": contents.tracks.spans}
        written = {out.name: {**told, **facts_of(stage / out.name)}}
        publish(stage, out.parent, [out.name])
    return {"format": FORMAT, "run": run, "files": written, "notes": {}}
