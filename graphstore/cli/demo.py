"""`graphstore demo`: the main job on the recorded run that ships with graphstore."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphstore import api, settings
from graphstore.cli import options, output, report


def run(
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="OUT", help="Keep the Chakra files here.", file_okay=False),
    ] = None,
    form: options.Form = output.Format.TABLE,
    quiet: options.Quiet = False,
) -> int:
    """Convert a recorded run: what repair keeps that is lost else.

    For each rank: the communication calls recorded, those a walk from the root of the call tree reaches
    without and with the repair, and those in the Chakra file. Nothing is archived.
    """
    result = api.demo(out, settings.load())
    output.show(result.rows, form)
    report.say_findings(result.converted.findings, quiet)
    report.say_repairs(result.converted.repairs, quiet)
    recorded = sum(row["calls"] for row in result.rows)
    lost = recorded - sum(row["without_repair"] for row in result.rows)
    kept = sum(row["written"] for row in result.rows)
    output.say(
        f"Without the repair {lost} of {recorded} communication calls are lost; with it {kept} are kept.",
        quiet,
    )
    return 0
