"""FileRecords as bytes, from the process that read a file to the one that asked for it.

In and out: a stream. A message is its length (8 bytes), a JSON header, and the tables in Arrow form.
Decided here: nothing is unpickled; what goes over is text, numbers and columns. Tables of other columns than
those of model/records.py go over as they are.
"""

from __future__ import annotations

import io
from functools import lru_cache
from typing import IO, Any

import orjson
import polars as pl

from graphstore.model.records import TABLE_LABEL, FileRecords, complete, table_schema
from graphstore.model.tally import Tally

LENGTH_BYTES = 8


def send_message(stream: IO[bytes], content: bytes) -> None:
    """Write one message."""
    stream.write(len(content).to_bytes(LENGTH_BYTES, "big"))
    stream.write(content)
    stream.flush()


def receive_message(stream: IO[bytes]) -> bytes | None:
    """Return the next message; None where the stream ends, be it inside one."""
    head = stream.read(LENGTH_BYTES)
    if len(head) < LENGTH_BYTES:
        return None
    size = int.from_bytes(head, "big")
    content = stream.read(size)
    return content if len(content) == size else None


def send_records(stream: IO[bytes], records: FileRecords) -> None:
    """Write the records of a file."""
    tables = {name: _arrow(name, table) for name, table in records.tables.items()}
    header = {
        "path": records.path,
        "facts": records.facts,
        "groups": records.groups,
        "thread_names": [[*thread, name] for thread, name in records.thread_names.items()],
        "tally": [records.tally.read, records.tally.kept, records.tally.left_out],
        "tables": list(tables),
        "flight": records.flight,
    }
    send_message(stream, orjson.dumps(header))
    for content in tables.values():
        send_message(stream, content)


def receive_records(stream: IO[bytes], header: dict[str, Any]) -> FileRecords | None:
    """Return the records `header` begins; None where the stream ends inside them."""
    records = FileRecords(header["path"], header["facts"], groups=header["groups"])
    records.thread_names = {(process, thread): name for process, thread, name in header["thread_names"]}
    records.tally = Tally(*header["tally"])
    records.flight = _flight(header["flight"])
    for name in header["tables"]:
        content = receive_message(stream)
        if content is None:
            return None
        table = pl.read_ipc(content)
        # Absent columns come as one null for all rows; written out they would be a third of the memory.
        records.tables[name] = complete(table, table_schema(name)) if name in TABLE_LABEL else table
    return records


def _flight(told: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return what a dump holds beside its entries as its reader gave it."""
    if told is None:
        return None
    for group in told["pg_config"]:
        if group["ranks"] is not None:
            group["ranks"] = _shared(tuple(group["ranks"]))
    return told | {"version": tuple(told["version"])}


@lru_cache(maxsize=64)
def _shared(ranks: tuple[int, ...]) -> list[int]:
    """Return the same list each time: all dumps of a job list the same groups, some of them all ranks."""
    return list(ranks)


def _arrow(name: str, table: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    if name in TABLE_LABEL:
        table = table.select(column for column in table if column.null_count() < table.height)
    table.write_ipc(buffer)
    return buffer.getvalue()
