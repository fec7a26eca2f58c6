"""`graphstore convert`: import, check, repair and export in one go."""

from __future__ import annotations

from typing import Annotated

import typer

from graphstore import api, settings
from graphstore.cli import options, output, report
from graphstore.cli.progress import progress


def run(
    paths: options.Paths,
    out: options.Out,
    run: options.NewRun = None,
    rank: options.Rank = None,
    allow_mismatch: options.AllowMismatch = False,
    target: options.TargetOption = options.Target.CHAKRA,
    pieces: options.Pieces = options.PieceForm.EXACT,
    keep: Annotated[
        bool, typer.Option("--keep/--no-keep", help="Whether the run stays in the archive.")
    ] = True,
    strict: options.Strict = False,
    store: options.Store = None,
    form: options.Form = output.Format.TABLE,
    quiet: options.Quiet = False,
) -> int:
    """Turn the traces of a run into one valid Chakra file per rank.

    Imports, checks, repairs and exports. Repairs are applied, proven ones and inferred ones, and named.
    All files are written to OUT, or none.
    """
    wanted = api.ImportOptions(run, options.rank_flags(rank), allow_mismatch)
    with progress(quiet) as bars:
        result = api.convert(
            [str(path) for path in paths],
            out,
            wanted,
            settings.load(store),
            keep=keep,
            target=target.value,
            form=pieces.value,
            progress=bars,
        )
    report.show_manifest(result.manifest, form)
    report.say_import(result.imported, quiet)
    report.say_findings(result.findings, quiet)
    report.say_repairs(result.repairs, quiet)
    report.say_export(result.manifest, out, quiet)
    return report.problems_code([result.imported]) or report.strict_code(result.findings, strict)
