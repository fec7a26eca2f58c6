"""`graphstore export`: write a run of the archive as files that other tools read."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from graphstore import api, settings
from graphstore.cli import options, output, report
from graphstore.cli.progress import progress
from graphstore.errors import UsageError


class Files(StrEnum):
    """What an export writes."""

    CHAKRA = "chakra"
    JSON = "json"
    ET_PLUS = "et-plus"
    PERFETTO = "perfetto"
    PARQUET = "parquet"
    CSV = "csv"


def run(
    out: options.Out,
    run: options.Run = None,
    files: Annotated[
        Files,
        typer.Option(
            "--format",
            help="What is written to OUT: Chakra files (chakra), their nodes as JSON (json), merged "
            "execution traces (et-plus), a timeline (perfetto), or flat tables of communication (parquet, "
            "csv).",
        ),
    ] = Files.CHAKRA,
    target: options.TargetOption = options.Target.CHAKRA,
    pieces: options.Pieces = options.PieceForm.EXACT,
    store: options.Store = None,
    summary: Annotated[
        output.Format,
        typer.Option(
            "--summary",
            help="How what was written is told on stdout.",
            callback=options.configured_form,
        ),
    ] = output.Format.TABLE,
    quiet: options.Quiet = False,
) -> int:
    """Write a run as files that other tools read: Chakra, merged traces, tables.

    Chakra: one file per rank, the communicator groups and a manifest. json: the same nodes, a JSON object
    per rank. et-plus: the JSON that a trace linker makes of execution trace and Kineto trace. perfetto: all
    ranks on one timeline, with arrows for launches, waits and matched communication, and the findings that
    `check` kept. Tables: the process groups, the collectives with their verdicts, each rank's calls of them,
    and the sends and recvs. All files or none. They are made from the graph as it stands, with the repairs
    that were applied.
    """
    where = settings.load(store)
    if files is Files.CHAKRA:
        with progress(quiet) as bars:
            manifest = api.export_run(run, out, where, target=target.value, form=pieces.value, progress=bars)
        report.show_manifest(manifest, summary)
        report.say_export(manifest, out, quiet)
        return 0
    if target is not options.Target.CHAKRA or pieces is not options.PieceForm.EXACT:
        raise UsageError(
            "--target and --pieces say how Chakra files are written: they go with --format chakra"
        )
    if files not in (Files.PARQUET, Files.CSV):
        write = {
            Files.JSON: api.export_json,
            Files.ET_PLUS: api.export_et_plus,
            Files.PERFETTO: api.export_timeline,
        }[files]
        with progress(quiet) as bars:
            written = write(run, out, where, progress=bars)
        report.show_files(written, summary)
        report.say_files(written, out, quiet)
        return 0
    with progress(quiet) as bars:
        form: api.TableForm = "csv" if files is Files.CSV else "parquet"
        tables = api.export_tables(run, out, where, form=form, progress=bars)
    report.show_tables(tables, summary)
    report.say_tables(tables, out, quiet)
    return 0
