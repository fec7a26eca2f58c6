"""The verbs as functions: which steps, in which order. The command line is a skin over these.

```python
from pathlib import Path
from graphstore import api, settings

here = settings.load()
result = api.convert(["run_dir"], Path("out"), api.ImportOptions(), here)
rows = api.query_run(result.imported.run, "structure/find_missing_parents", {}, here).rows
```
"""

from graphstore.api.archive import delete_run, doctor, list_runs, rebuild, show_run, tag_run
from graphstore.api.converting import ConvertResult, DemoResult, convert, demo
from graphstore.api.drawing import Drawn, draw_run
from graphstore.api.hang_run import hang_run
from graphstore.api.hanging import HangResult, hang_files
from graphstore.api.importing import ImportOptions, ImportResult, Imports, import_runs
from graphstore.api.replaying import TOLERANCE, ReplayResult, replay_files
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
    list_queries,
    query_run,
    repair_run,
    show_query,
    undo_repairs,
)
from graphstore.export import TableForm
from graphstore.export.drawing import DEPTH as DRAW_DEPTH
from graphstore.export.drawing import NODES_SHOWN as DRAW_LIMIT
from graphstore.export.drawing import DrawOptions

__all__ = [
    "DRAW_DEPTH",
    "DRAW_LIMIT",
    "TOLERANCE",
    "ConvertResult",
    "DemoResult",
    "DrawOptions",
    "Drawn",
    "HangResult",
    "ImportOptions",
    "ImportResult",
    "Imports",
    "QueryResult",
    "RepairResult",
    "ReplayResult",
    "TableForm",
    "check_files",
    "check_for_simulator",
    "check_run",
    "convert",
    "delete_run",
    "demo",
    "doctor",
    "draw_run",
    "export_et_plus",
    "export_json",
    "export_run",
    "export_tables",
    "export_timeline",
    "hang_files",
    "hang_run",
    "import_runs",
    "list_queries",
    "list_runs",
    "query_run",
    "rebuild",
    "repair_run",
    "replay_files",
    "show_query",
    "show_run",
    "tag_run",
    "undo_repairs",
]
