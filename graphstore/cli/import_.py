"""`graphstore import`: read the files of a run, link them, write them to the archive, and show the ledger."""

from __future__ import annotations

from graphstore import api, settings
from graphstore.cli import options, output, report
from graphstore.cli.progress import progress
from graphstore.errors import InputError


def run(
    paths: options.Paths,
    run: options.NewRun = None,
    rank: options.Rank = None,
    recursive: options.Recursive = False,
    allow_mismatch: options.AllowMismatch = False,
    detail: options.FullDetail = options.Detail.AUTO,
    store: options.Store = None,
    form: options.Form = output.Format.TABLE,
    quiet: options.Quiet = False,
) -> int:
    """Load the trace files of one run into the archive.

    Prints what was read, kept and left out of each file. A file that can't be read is named in one line;
    the others still make the run, and the exit code is 3. The same files are imported once: a second time
    changes nothing.
    """
    wanted = api.ImportOptions(run, options.rank_flags(rank), allow_mismatch, detail is options.Detail.FULL)
    chosen = settings.load(store)
    with progress(quiet) as bars:
        imports = api.import_runs(
            [str(path) for path in paths],
            wanted,
            chosen,
            recursive=recursive,
            progress=bars,
        )
    report.show_imports(imports.runs, form)
    for result in imports.runs:
        report.say_import(result, quiet)
    if chosen.is_server and not quiet:
        report.say_links(imports.runs, api.browser_at(chosen))
    for line in imports.failed:
        output.say(f"graphstore: {line}")
    return InputError.exit_code if imports.failed else report.problems_code(imports.runs)
