"""`graphstore doctor`: versions, where the archive lies, whether it answers, and what to do if not."""

from __future__ import annotations

from graphstore import api, settings
from graphstore.cli import options, output
from graphstore.errors import StoreError


def run(store: options.Store = None, form: options.Form = output.Format.TABLE) -> int:
    """Tell versions, where the archive lies and whether it answers.

    If it does not: what to do, and exit code 4.
    """
    facts = api.doctor(settings.load(store))
    output.show_record(facts, form)
    return 0 if facts["reachable"] else StoreError.exit_code
