"""`graphstore diff`: two archived runs compared op by op, for a person or for CI."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from graphstore import api, settings
from graphstore.cli import options, output
from graphstore.cli.diff_table import change_rows, headline, kind_rows, remarks, verdict
from graphstore.cli.output import Format
from graphstore.cli.report import FINDINGS_EXIT
from graphstore.errors import InputError, UsageError

PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*%?")
SHOWN = 20


def run(
    a: Annotated[
        str,
        typer.Argument(metavar="A", help="The run to measure by.", autocompletion=options.complete_run),
    ],
    b: Annotated[
        str,
        typer.Argument(metavar="B", help="The run that is judged.", autocompletion=options.complete_run),
    ],
    rank: Annotated[int | None, typer.Option("--rank", metavar="RANK", min=0, help="Only this rank.")] = None,
    fail_over: Annotated[
        str | None,
        typer.Option(
            "--fail-over",
            metavar="PERCENT",
            help="Exit 1 when B is slower than A by more than this, as in 5%: by the median step, without "
            "steps by the span of the run, of the rank that lost the most.",
        ),
    ] = None,
    top: Annotated[
        int,
        typer.Option("--top", metavar="N", min=0, help="Lines of the table; the rest is counted. 0: all."),
    ] = SHOWN,
    store: options.Store = None,
    form: options.Form = Format.TABLE,
    quiet: options.Quiet = False,
) -> int:
    """Say what changed from run A to run B: ops, device ops and calls added, removed, moved, slower, faster.

    Ops are aligned by call path and order, never by id. A change of time is told at its cause, and only above
    the noise of the two runs. With another format than table: a row a change and rank.
    """
    limit = _percent(fail_over)
    result = api.diff_runs(a, b, settings.load(store), rank=rank)
    if form is Format.TABLE:
        _show(result, top)
    else:
        output.show(result.changes, form)
        output.say(headline(result), quiet)
    for line in remarks(result):
        output.say(line, quiet)
    return 0 if limit is None else _judge(result, limit)


def _percent(word: str | None) -> float | None:
    """Return the limit as a number; UsageError for what is none."""
    if word is None:
        return None
    found = PERCENT.fullmatch(word.strip())
    if not found:
        raise UsageError(f"--fail-over {word}: want a percentage, as in --fail-over 5%.")
    return float(found[1])


def _show(result: api.DiffResult, top: int) -> None:
    """Print the summary, then the changes, then what was compared."""
    output.show_text("\n".join(output.printable(line) for line in (headline(result), *verdict(result))))
    rows = change_rows(result)
    shown = rows[: top or None]
    for part in (shown, kind_rows(result)):
        if part:
            output.show_text("")
            output.show(part, Format.TABLE)
    if len(shown) < len(rows):
        output.show_text(f"\n{len(rows) - len(shown):,} more with smaller effects: --top 0 shows all")


def _judge(result: api.DiffResult, limit: float) -> int:
    """Return the exit code of --fail-over, and say the figure it rests on when it fails."""
    worst = result.worst
    if worst is None:
        raise InputError(f"--fail-over: {result.a} and {result.b} hold no times of one rank to compare.")
    if worst["percent"] <= limit:
        return 0
    output.say(f"graphstore: slower by more than {limit:g} %: {headline(result)}")
    return FINDINGS_EXIT
