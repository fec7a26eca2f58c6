"""`graphstore export`: write a run of the archive as Chakra files, or its communication as flat tables."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from graphstore import api, settings
from graphstore.cli import options, output, report
from graphstore.cli.progress import progress


class Files(StrEnum):
    """What an export writes."""

    CHAKRA = "chakra"
    PARQUET = "parquet"
    CSV = "csv"


def run(
    out: options.Out,
    run: options.Run = None,
    files: Annotated[
        Files, typer.Option("--format", help="What is written to OUT: Chakra files, or tables of that form.")
    ] = Files.CHAKRA,
    target: options.TargetOption = options.Target.CHAKRA,
    pieces: options.Pieces = options.PieceForm.EXACT,
    store: options.Store = None,
    summary: Annotated[
        output.Format, typer.Option("--summary", help="How what was written is told on stdout.")
    ] = output.Format.TABLE,
    quiet: options.Quiet = False,
) -> int:
    """Write a run as Chakra files, or its communication as flat tables.

    Chakra: one file per rank, the communicator groups and a manifest. Tables: the process groups, the
    collectives with their verdicts, each rank's calls of them, and the sends and recvs. All files or none.
    They are made from the graph as it stands, with the repairs that were applied.
    """
    where = settings.load(store)
    if files is Files.CHAKRA:
        with progress(quiet) as bars:
            manifest = api.export_run(run, out, where, target=target.value, form=pieces.value, progress=bars)
        report.show_manifest(manifest, summary)
        report.say_export(manifest, out, quiet)
        return 0
    with progress(quiet) as bars:
        form: api.TableForm = "csv" if files is Files.CSV else "parquet"
        tables = api.export_tables(run, out, where, form=form, progress=bars)
    report.show_tables(tables, summary)
    report.say_tables(tables, out, quiet)
    return 0
