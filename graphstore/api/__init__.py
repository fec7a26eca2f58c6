"""The verbs as functions: which steps, in which order. The command line is a skin over these.

```python
from pathlib import Path
from graphstore import api, settings

here = settings.load()
result = api.convert(["run_dir"], Path("out"), api.ImportOptions(), here)
rows = api.query_run(result.imported.run, "structure/find_missing_parents", {}, here).rows
```

A name is loaded when it is first used: `--help` shall not wait for polars, nor one verb for what others need.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphstore.api.archive import (
        delete_runs,
        doctor,
        list_runs,
        note_run,
        rebuild,
        rename_run,
        show_run,
        tag_run,
        verify_runs,
    )
    from graphstore.api.browsing import (
        Opening,
        browser_at,
        browser_links,
        browser_served,
        write_browser_kit,
    )
    from graphstore.api.catalogue import list_queries, search_queries, show_query
    from graphstore.api.converting import ConvertResult, DemoResult, convert, convert_demo
    from graphstore.api.diffing import diff_runs
    from graphstore.api.drawing import Drawn, draw_run
    from graphstore.api.hanging import HangResult, hang_files
    from graphstore.api.hanging_run import hang_run
    from graphstore.api.importing import ImportOptions, ImportResult, Imports, import_runs
    from graphstore.api.moving import MovedRun, export_archive, import_archive
    from graphstore.api.over_runs import RunsResult, Trend, query_runs, trend_runs
    from graphstore.api.replaying import ReplayResult, replay_files
    from graphstore.api.reporting import write_report
    from graphstore.api.selection import Selection, read_size, read_time
    from graphstore.api.verbs import (
        QueryResult,
        RepairResult,
        check_files,
        check_for_simulator,
        check_run,
        export_et_plus,
        export_json,
        export_run,
        export_tables,
        export_timeline,
        query_run,
        repair_run,
        undo_repairs,
    )
    from graphstore.export import Form, TableForm, Target
    from graphstore.export.browser import BrowserAt
    from graphstore.export.drawing import DrawOptions
    from graphstore.queries.diffing import DiffResult

__all__ = [
    "BrowserAt",
    "ConvertResult",
    "DemoResult",
    "DiffResult",
    "DrawOptions",
    "Drawn",
    "Form",
    "HangResult",
    "ImportOptions",
    "ImportResult",
    "Imports",
    "MovedRun",
    "Opening",
    "QueryResult",
    "RepairResult",
    "ReplayResult",
    "RunsResult",
    "Selection",
    "TableForm",
    "Target",
    "Trend",
    "browser_at",
    "browser_links",
    "browser_served",
    "check_files",
    "check_for_simulator",
    "check_run",
    "convert",
    "convert_demo",
    "delete_runs",
    "diff_runs",
    "doctor",
    "draw_run",
    "export_archive",
    "export_et_plus",
    "export_json",
    "export_run",
    "export_tables",
    "export_timeline",
    "hang_files",
    "hang_run",
    "import_archive",
    "import_runs",
    "list_queries",
    "list_runs",
    "note_run",
    "query_run",
    "query_runs",
    "read_size",
    "read_time",
    "rebuild",
    "rename_run",
    "repair_run",
    "replay_files",
    "search_queries",
    "show_query",
    "show_run",
    "tag_run",
    "trend_runs",
    "undo_repairs",
    "verify_runs",
    "write_browser_kit",
    "write_report",
]

_NAMES_BY_MODULE = {
    "graphstore.api.archive": (
        "delete_runs",
        "doctor",
        "list_runs",
        "note_run",
        "rebuild",
        "rename_run",
        "show_run",
        "tag_run",
        "verify_runs",
    ),
    "graphstore.api.browsing": (
        "Opening",
        "browser_at",
        "browser_links",
        "browser_served",
        "write_browser_kit",
    ),
    "graphstore.api.catalogue": ("list_queries", "search_queries", "show_query"),
    "graphstore.api.converting": ("ConvertResult", "DemoResult", "convert", "convert_demo"),
    "graphstore.api.diffing": ("diff_runs",),
    "graphstore.api.drawing": ("Drawn", "draw_run"),
    "graphstore.api.hanging": ("HangResult", "hang_files"),
    "graphstore.api.hanging_run": ("hang_run",),
    "graphstore.api.importing": ("ImportOptions", "ImportResult", "Imports", "import_runs"),
    "graphstore.api.moving": ("MovedRun", "export_archive", "import_archive"),
    "graphstore.api.over_runs": ("RunsResult", "Trend", "query_runs", "trend_runs"),
    "graphstore.api.replaying": ("ReplayResult", "replay_files"),
    "graphstore.api.reporting": ("write_report",),
    "graphstore.api.selection": ("Selection", "read_size", "read_time"),
    "graphstore.api.verbs": (
        "QueryResult",
        "RepairResult",
        "check_files",
        "check_for_simulator",
        "check_run",
        "export_et_plus",
        "export_json",
        "export_run",
        "export_tables",
        "export_timeline",
        "query_run",
        "repair_run",
        "undo_repairs",
    ),
    "graphstore.export": ("Form", "TableForm", "Target"),
    "graphstore.export.browser": ("BrowserAt",),
    "graphstore.export.drawing": ("DrawOptions",),
    "graphstore.queries.diffing": ("DiffResult",),
}

if not TYPE_CHECKING:  # to a type checker it would say that any name is there

    def __getattr__(name: str) -> Any:
        """Return one of the names above from its module; it stays here, so this is asked once for each."""
        for module, names in _NAMES_BY_MODULE.items():
            if name in names:
                globals()[name] = getattr(import_module(module), name)
                return globals()[name]
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
