"""What a verb prints: rows as a table, JSON, JSON lines, CSV or Parquet on stdout; all the rest on stderr.

In:  a polars frame, or rows as dicts. Out: bytes on stdout. What is decided here: how a value looks in each
format. Tables are drawn by rich on a terminal only, long ones in the pager, and where the columns don't fit a
row is a block of lines; elsewhere they are plain aligned text, so that a pipe sees no escape codes. Nested
values are JSON text in CSV, lists in JSON and Parquet.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TextIO

import orjson

from graphstore.cli.pager import screen
from graphstore.errors import UsageError

if TYPE_CHECKING:
    import polars as pl
    from rich.table import Table

Row = Mapping[str, Any]
TEXT_WIDTH = 10  # a column of longer texts is drawn no narrower: that would be letters below each other
JSON_OPTIONS = orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY


class Format(StrEnum):
    """The forms of `--format`."""

    TABLE = "table"
    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"
    PARQUET = "parquet"


def show(rows: pl.DataFrame | Sequence[Row], form: Format, columns: Sequence[str] = ()) -> None:
    """Write `rows` to stdout in the form asked for.

    `columns` names the columns of a table (the other formats give all). Raises UsageError when Parquet,
    which is binary, would go to a terminal.
    """
    refuse_terminal(form)
    if form is Format.TABLE:
        _show_table(_records(rows), list(columns) or _column_names(rows))
        return
    _write(encode(rows, form))


def refuse_terminal(form: Format) -> None:
    """Raise UsageError when Parquet, which is binary, would go to a terminal."""
    if form is Format.PARQUET and sys.stdout.isatty():
        raise UsageError(
            "--format parquet is binary: send it to a file, as in `… --format parquet > rows.parquet`"
        )


def show_record(record: Row, form: Format) -> None:
    """Write one record: in a table an item a line, in JSON one object, else as one row."""
    if form is Format.JSON:
        _write(orjson.dumps(record, option=JSON_OPTIONS | orjson.OPT_INDENT_2) + b"\n")
    elif form is Format.TABLE:
        show([{"item": name, "value": value} for name, value in _items(record)], form)
    else:
        show([record], form)


def encode(rows: pl.DataFrame | Sequence[Row], form: Format) -> bytes:
    """Return `rows` as the bytes of a machine-readable form (all but TABLE)."""
    if form is Format.JSON:
        return orjson.dumps(_records(rows), option=JSON_OPTIONS | orjson.OPT_INDENT_2) + b"\n"
    if form is Format.JSONL:
        return b"".join(orjson.dumps(row, option=JSON_OPTIONS) + b"\n" for row in _records(rows))
    buffer = io.BytesIO()
    if form is Format.CSV:
        _flat(_frame(rows)).write_csv(buffer)
    else:
        _frame(rows).write_parquet(buffer)
    return buffer.getvalue()


def show_text(text: str) -> None:
    """Write a text that is the result itself (the text of a query) to stdout."""
    if sys.stdout.isatty():
        screen.show(text.rstrip("\n") + "\n")
    else:
        _write(text.rstrip("\n").encode() + b"\n")


def say(message: str, quiet: bool = False) -> None:
    """Write one line for the person to stderr, unless `quiet`."""
    if not quiet:
        print(printable(message), file=sys.stderr)


def printable(text: str) -> str:
    """Return `text` with control characters as escapes: a name in a trace may not drive the terminal."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def cell(value: object) -> str:
    """Return a value as the text of one table cell; null is empty, nested values are JSON."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return f"{value:.6g}"
    return printable(value if isinstance(value, str) else _json_text(value))


def plain_table(columns: Sequence[str], rows: Sequence[Sequence[object]], out: TextIO) -> None:
    """Write aligned columns without any drawing: names first, then the rows, numbers to the right."""
    texts = [[cell(value) for value in row] for row in rows]
    widths = [max(len(name), *(len(text[i]) for text in texts), 0) for i, name in enumerate(columns)]
    right = [_is_numeric([row[i] for row in rows]) for i in range(len(columns))]
    for line in [list(columns), *texts]:
        padded = [
            text.rjust(width) if to_right else text.ljust(width)
            for text, width, to_right in zip(line, widths, right, strict=True)
        ]
        out.write("  ".join(padded).rstrip() + "\n")


def drawn_table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> Table:
    """Return rows as a table for rich to draw; the texts are taken as they are, not as markup."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
    for i, name in enumerate(columns):
        numeric = _is_numeric([row[i] for row in rows])
        table.add_column(Text(name), justify="right" if numeric else "left", overflow="fold", no_wrap=numeric)
    for row in rows:
        table.add_row(*(Text(cell(value)) for value in row))
    return table


def needed_width(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> int:
    """Return how wide a terminal must be for drawn_table to be readable: numbers whole, texts in part."""
    widths = []
    for i, name in enumerate(columns):
        given = [row[i] for row in rows]
        widest = max(len(name), *(len(cell(value)) for value in given), 0)
        widths.append(widest if _is_numeric(given) else min(widest, TEXT_WIDTH))
    return sum(widths) + 3 * len(widths) - 1  # what rich puts between columns, and at both ends


def drawn_blocks(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> Table:
    """Return rows for rich to draw below each other: a column a line, an empty line between rows."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", overflow="fold")
    table.add_column(overflow="fold")
    for number, row in enumerate(rows):
        if number:
            table.add_row()
        for name, value in zip(columns, row, strict=True):
            table.add_row(Text(name), Text(cell(value)))
    return table


def _show_table(rows: Sequence[Row], columns: list[str]) -> None:
    values = [[row.get(name) for name in columns] for row in rows]
    if sys.stdout.isatty():
        from rich.console import Console

        console = Console()
        fits = not values or needed_width(columns, values) <= console.width
        with console.capture() as drawn:
            console.print((drawn_table if fits else drawn_blocks)(columns, values))
        screen.show(drawn.get())
    else:
        plain_table(columns, values, sys.stdout)
        sys.stdout.flush()


def _is_numeric(values: Sequence[object]) -> bool:
    given = [value for value in values if value is not None]
    return bool(given) and all(isinstance(v, int | float) and not isinstance(v, bool) for v in given)


def _items(record: Row, prefix: str = "") -> Iterator[tuple[str, object]]:
    """Yield the items of a record, those of a dict inside as `outer.inner`."""
    for name, value in record.items():
        if isinstance(value, Mapping):
            yield from _items(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _column_names(rows: pl.DataFrame | Sequence[Row]) -> list[str]:
    if isinstance(rows, Sequence):
        return list(dict.fromkeys(name for row in rows for name in row))
    return rows.columns


def _records(rows: pl.DataFrame | Sequence[Row]) -> list[Row]:
    return list(rows) if isinstance(rows, Sequence) else list(rows.iter_rows(named=True))


def _frame(rows: pl.DataFrame | Sequence[Row]) -> pl.DataFrame:
    """Return rows as a frame; nested dicts become JSON text, since their keys differ from row to row."""
    if not isinstance(rows, Sequence):
        return rows
    import polars as pl  # 0.1 s to import, and most rows are printed without it

    flat = [{k: _json_text(v) if isinstance(v, dict) else v for k, v in row.items()} for row in rows]
    return pl.DataFrame(flat, infer_schema_length=None, strict=False)


def _flat(frame: pl.DataFrame) -> pl.DataFrame:
    """Return `frame` with nested columns as JSON text, as CSV has no lists."""
    import polars as pl

    nested = [name for name, kind in frame.schema.items() if kind.is_nested() or kind == pl.Object]
    return frame.with_columns(
        pl.Series(
            name, [None if v is None else _json_text(v) for v in frame[name].to_list()], dtype=pl.String
        )
        for name in nested
    )


def _json_text(value: object) -> str:
    return orjson.dumps(value, option=JSON_OPTIONS, default=str).decode()


def _write(data: bytes) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
