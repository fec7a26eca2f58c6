"""`graphstore doctor`: versions, settings, where the archive lies, whether it answers, what to do if not."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from graphstore import api, settings
from graphstore.cli import options, output
from graphstore.errors import StoreError


def run(
    rebuild: Annotated[
        bool,
        typer.Option(
            "--rebuild",
            help="First make the index anew from the runs, and remove what killed processes left.",
        ),
    ] = False,
    store: options.Store = None,
    form: options.Form = output.Format.TABLE,
) -> int:
    """Tell versions, settings and whence, where the archive lies and whether it answers.

    If it does not: what to do, and exit code 4.
    """
    chosen = settings.load(store)
    rebuilt = {"rebuilt": api.rebuild(chosen)} if rebuild else {}
    facts = api.doctor(chosen)
    if form is output.Format.TABLE:
        facts |= {"settings": {name: _told(**setting) for name, setting in facts["settings"].items()}}
    output.show_record(facts | rebuilt, form)
    return 0 if facts["reachable"] else StoreError.exit_code


def _told(**setting: Any) -> str:
    """Return a setting and where it came from, as one cell."""
    return f"{output.cell(setting['value'])} ({setting['from']})".lstrip()
