"""`graphstore doctor`: versions, where the archive lies, whether it answers, and what to do if not."""

from __future__ import annotations

from typing import Annotated

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
    """Tell versions, where the archive lies and whether it answers.

    If it does not: what to do, and exit code 4.
    """
    chosen = settings.load(store)
    rebuilt = {"rebuilt": api.rebuild(chosen)} if rebuild else {}
    facts = api.doctor(chosen)
    output.show_record(facts | rebuilt, form)
    return 0 if facts["reachable"] else StoreError.exit_code
