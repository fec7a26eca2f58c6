"""`graphstore export`: write a run of the archive as Chakra files."""

from __future__ import annotations

from graphstore import api, settings
from graphstore.cli import options, output, report
from graphstore.cli.progress import progress


def run(
    out: options.Out,
    run: options.Run = None,
    store: options.Store = None,
    form: options.Form = output.Format.TABLE,
    quiet: options.Quiet = False,
) -> int:
    """Write a run of the archive as Chakra files.

    One file per rank, the communicator groups and a manifest: all of them, or none. They are made from the
    graph as it stands, with the repairs that were applied.
    """
    with progress(quiet) as bars:
        manifest = api.export_run(run, out, settings.load(store), progress=bars)
    report.show_manifest(manifest, form)
    report.say_export(manifest, out, quiet)
    return 0
