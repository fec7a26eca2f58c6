"""Flat tables of communication: a run of the store → groups, collectives, calls, transfers, a file each.

In:  a store and a run; nothing else is read. Out: OUT/RUN.TABLE.parquet (or .csv), all of them or none, the
     same bytes for the same run on every engine; and a summary.
Decided here: how a table becomes a file. What stands in it: table_rows.py.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, Literal

import orjson
import polars as pl

from graphstore.errors import UsageError
from graphstore.export import table_rows
from graphstore.export.files import facts_of, publish, staged
from graphstore.export.table_columns import TableColumns, read_table_columns
from graphstore.store.base import Progress, Store

FORMAT = "graphstore tables 1"
TableForm = Literal["parquet", "csv"]


def export_tables(
    store: Store, run: str, out: Path, form: TableForm, progress: Progress | None = None
) -> dict[str, Any]:
    """Write the tables of a run under `out`; return each one's file, rows, size and hash, and what lacks.

    Raises UsageError (no communication in the run, a folder that can't be written), StoreError. Then no file
    of `out` was changed.
    """
    columns = read_table_columns(store, run, progress)
    if not (columns.calls.height or columns.transfers.height or columns.collectives.height):
        raise UsageError(
            f"run {run} holds no communication calls, of which the tables are made: neither its traces nor "
            f"Flight Recorder dumps show any. `graphstore runs show {run}` lists what was imported."
        )
    with staged(out) as stage:
        tables = {name: _written(columns, name, stage / f"{run}.{name}.{form}") for name in table_rows.TABLES}
        publish(stage, out, [table["file"] for table in tables.values()])
    notes = table_rows.notes(columns)
    return {"format": FORMAT, "run": run, "target": form, "tables": tables, "notes": notes}


def _written(columns: TableColumns, name: str, path: Path) -> dict[str, Any]:
    """Write one table, in the form its file is named for; return what the summary says of it."""
    rows = table_rows.TABLES[name](columns)
    content = io.BytesIO()  # polars names a full disk by an error of its own; the file's is an OSError
    if path.suffix == ".csv":
        _flat(rows).write_csv(content)
    else:
        rows.write_parquet(content)
    path.write_bytes(content.getbuffer())
    return {"file": path.name, "rows": rows.height, **facts_of(path)}


def _flat(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with lists as JSON text, as CSV has none."""
    lists = [name for name, kind in rows.schema.items() if kind.is_nested()]
    texts = {
        name: [None if value is None else orjson.dumps(value).decode() for value in rows[name].to_list()]
        for name in lists
    }
    return rows.with_columns(pl.Series(name, text, dtype=pl.String) for name, text in texts.items())
