"""`graphstore replay`: play written Chakra files and hold the result against the measured run."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from graphstore import api, settings
from graphstore.cli import options, output
from graphstore.cli.output import Format
from graphstore.cli.progress import progress
from graphstore.cli.report import FINDINGS_EXIT
from graphstore.errors import UsageError


def run(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="OUT|FILE", help="The .et files of one run, or the folder that holds them."),
    ],
    expected: Annotated[
        list[str] | None,
        typer.Option(
            "--expected",
            metavar="RANK=NS",
            help="A span in ns to hold a rank against instead of the measured one; may be repeated.",
        ),
    ] = None,
    tolerance: Annotated[
        float, typer.Option("--tolerance", min=0.0, help="The error that is allowed, as a share of the span.")
    ] = settings.REPLAY_TOLERANCE,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit 1 when a rank is over the tolerance.")
    ] = False,
    form: options.Form = Format.TABLE,
    quiet: options.Quiet = False,
) -> int:
    """Play the files of a run again: alone, all ranks together, and as a simple reader does.

    Each node starts when what it depends on has ended; together, the members of a collective meet. A simple
    reader runs one CPU op, one GPU op and one communication of a rank at a time.
    """
    with progress(quiet) as bars:
        result = api.replay_files(
            paths, tolerance=tolerance, expected_ns=_expected(expected or []), progress=bars
        )
    if form is Format.TABLE:
        output.show([_told(row) for row in result.rows], form)
    else:
        output.show(result.rows, form)
    for row in result.rows:
        if row["unexplained"] > result.tolerance:
            output.say(
                f"rank {row['rank']}: {row['unexplained']:.0%} of the span is waiting that nothing in the "
                "trace explains; the span alone proves nothing there"
            )
    if result.over:
        ranks = ", ".join(map(str, result.over))
        output.say(f"over the tolerance of {result.tolerance:.2%}: rank {ranks}", quiet and not strict)
    return FINDINGS_EXIT if strict and result.over else 0


def _told(row: dict[str, Any]) -> dict[str, Any]:
    """Return the columns of a table, in µs and per cent."""
    told = {
        "rank": row["rank"],
        "measured_us": row["measured_ns"] // 1_000,
        "simulated_us": row["simulated_ns"] // 1_000,
        "error": _share(row["error"]),
        "together": _share(row.get("joint_error")),
        "simple_reader": _share(row["simple_reader_error"]),
        "unexplained": _share(row["unexplained"]),
    }
    for side, off in row["start_error_us"].items():
        told[f"{side}_start_p95_us"] = off["p95"] if off else None
    if "expected_ns" in row:
        told["expected_us"] = row["expected_ns"] // 1_000
        told["to_expected"] = _share(row["expected_error"])
    return told


def _share(value: float | None) -> str | None:
    return None if value is None else f"{value:+.2%}"


def _expected(words: list[str]) -> dict[int, int]:
    """Return {rank: ns} from `RANK=NS` words. Raises UsageError for any other form or a second span."""
    spans: dict[int, int] = {}
    for word in words:
        rank, sign, span = word.partition("=")
        if not (
            sign and rank.isascii() and rank.isdigit() and span.isascii() and span.isdigit() and int(span)
        ):
            raise UsageError(f"--expected {word}: want RANK=NS, as in --expected 0=14504000.")
        if spans.setdefault(int(rank), int(span)) != int(span):
            raise UsageError(f"--expected {word}: rank {rank} was given {spans[int(rank)]} before.")
    return spans
