"""`graphstore repair`: show the plan of a run's repairs, write them, or take them back."""

from __future__ import annotations

from typing import Annotated

import typer

from graphstore import api, settings
from graphstore.cli import options, output, report
from graphstore.errors import UsageError


def run(
    run: options.Run = None,
    apply: Annotated[bool, typer.Option("--apply", help="Write the repairs that are proven.")] = False,
    unsafe: Annotated[bool, typer.Option("--unsafe", help="With --apply: the inferred ones, too.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Take back every repair of the run.")] = False,
    store: options.Store = None,
    form: options.Form = output.Format.TABLE,
    quiet: options.Quiet = False,
) -> int:
    """Show the repairs of a run and why; write them, or take them back.

    Each repair stays in the graph as a node with its reason and evidence. Applying twice changes nothing.
    """
    if undo and (apply or unsafe):
        raise UsageError("--undo takes repairs back; leave out --apply and --unsafe.")
    if unsafe and not apply:
        raise UsageError("--unsafe says what --apply may write; the plan shows both kinds without it.")
    chosen = settings.load(store)
    if undo:
        name, undone = api.undo_repairs(run, chosen)
        output.show_record({"run": name, "undone": undone}, form)
        return 0
    result = api.repair_run(run, chosen, apply=apply, unsafe=unsafe)
    if apply:
        report.show_repairs(result.applied, form)
        report.say_repairs(result.applied, quiet)
    else:
        report.show_plan(result.plan, form)
        report.say_plan(result.plan, quiet)
    return 0
