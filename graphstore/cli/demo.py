"""`graphstore demo`: the main job on the recorded run that ships with graphstore."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    result = api.convert_demo(out, settings.load())
    output.show(result.rows, form)
    report.say_findings(result.converted.findings, quiet)
    report.say_repairs(result.converted.repairs, quiet)
    output.say(sentence(result.rows), quiet)
    return 0


def sentence(rows: Sequence[Mapping[str, int]]) -> str:
    """Return in one sentence what the rows of the demo show."""
    recorded = sum(row["calls"] for row in rows)
    lost = recorded - sum(row["without_repair"] for row in rows)
    written = sum(row["written"] for row in rows)
    return (
        f"Without the repair {lost} of {recorded} communication calls are lost; with it {written} are kept."
    )
