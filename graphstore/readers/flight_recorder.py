"""Read a Flight Recorder dump of NCCL or c10d: the calls a rank made last, and how far it came in each group.

In:  an open `Source` (a pickle of protocol 2 to 5, or JSON). Out: FileRecords with the table flight_entries;
`flight` holds version (numbers), pg_config [{pg_name, pg_desc, ranks as listed or None}], pg_status
{number of the group in its process: {last_enqueued_collective, …}}, entries_total (records made so far, most
of them perhaps dropped), file_rank_candidates {pg_config, p2p, file_name}, and form (pickle or json).
Decided here (matching.md 1 and 2): a file that fails a check is refused as a whole; which rank the content
proves. Checks: flight_pickle.py, flight_columns.py. The meaning across ranks: link/matching.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import orjson
import polars as pl

from graphstore.errors import TraceFormatError
from graphstore.model.records import FileRecords
from graphstore.model.tally import Tally
from graphstore.readers.flight_entries import TABLE, read_entries
from graphstore.readers.flight_groups import (
    Group,
    rank_by_groups,
    rank_by_p2p,
    read_groups,
    read_status,
    read_version,
)
from graphstore.readers.flight_pickle import MOST_CONTAINERS, DumpRefusedError, load_pickle, one_line
from graphstore.readers.ranks import rank_in_dump_name
from graphstore.readers.source import Source

NEWEST_VERSION = (2, 10)
PARTS = {"entries", "pg_config", "version"}
DEFAULT_GROUP = ("0", "default_pg")


def read_flight_recorder(source: Source) -> FileRecords:
    """Return the records of a dump. Raises TraceFormatError when it is refused; nothing of it is ever run."""
    try:
        with _without_gc():
            return _read(source)
    except DumpRefusedError as error:
        raise TraceFormatError(
            f"{source.path}: {error}. Nothing of it was loaded or run. Is it a whole Flight Recorder dump?"
        ) from error


@contextmanager
def _without_gc() -> Iterator[None]:
    """Stop looking for cycles: among the many containers of a dump that doubles the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _read(source: Source) -> FileRecords:
    form, value = _load(_bytes(source))
    if type(value) is list:  # the first version: entries, and nothing else
        value = {"entries": value}
    if type(value) is not dict or PARTS.isdisjoint(key for key in value if type(key) is str):
        raise DumpRefusedError(f"it holds none of {', '.join(sorted(PARTS))}")
    entries, left_out = read_entries(value.get("entries"))
    written, version = read_version(value.get("version"))
    groups = read_groups(value.get("pg_config"))
    candidates = {
        "pg_config": rank_by_groups(groups),
        "p2p": rank_by_p2p(groups, entries),
        "file_name": rank_in_dump_name(source.name),
    }
    flight = {
        "version": version,
        "pg_config": groups,
        "pg_status": read_status(value.get("pg_status")),
        "entries_total": _total(entries),
        "file_rank_candidates": candidates,
        "form": form,
    }
    facts = source.facts() | {
        "kind": "flight_recorder",
        "schema": written,
        "schema_known": len(version) == 2 and (1, 0) <= version <= NEWEST_VERSION,
        "world_size": _world_size(groups),
        "rank": proven_rank(candidates),
    }
    tally = Tally(entries.height, entries.height)
    for reason, count in left_out.items():
        tally.read += count
        tally.leave_out(reason, count)
    return FileRecords(source.path, facts, tables={TABLE: entries}, tally=tally, flight=flight)


def proven_rank(candidates: dict[str, int | None]) -> int | None:
    """Return the rank the content proves, or None: then the file's name has to do.

    The place in a send or recv stands first. The rank common to all groups counts unless the name says
    another: then a listed group lacks that one, and may be none of the dump's own (matching.md 2).
    """
    if candidates["p2p"] is not None:
        return candidates["p2p"]
    return candidates["pg_config"] if candidates["file_name"] in (None, candidates["pg_config"]) else None


def _bytes(source: Source) -> bytes:
    """Return the whole content, within the limit of a dump: it is loaded at once, and grows tenfold by it."""
    most = source.settings.max_dump_bytes
    blocks = []
    size = 0
    for block in source.blocks():
        blocks.append(block)
        size += len(block)
        if size > most:
            raise DumpRefusedError(f"it holds more than {most:,} bytes, the limit of a dump")
    if source.damage:
        raise DumpRefusedError(source.damage)
    return b"".join(blocks)


def _load(data: bytes) -> tuple[str, Any]:
    """Return the form of the dump and its value, plain data whatever the file holds."""
    if data[:1] == b"\x80":
        return "pickle", load_pickle(data)
    if len(data) > MOST_CONTAINERS and data.count(b"[") + data.count(b"{") > MOST_CONTAINERS:
        raise DumpRefusedError(f"the JSON holds more than {MOST_CONTAINERS:,} lists and objects")
    try:
        return "json", orjson.loads(data.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError as error:
        raise DumpRefusedError(f"the JSON cannot be read: {one_line(str(error))}") from error


def _total(entries: pl.DataFrame) -> int | None:
    """Return how many records the process made until the dump; None where they are not numbered."""
    highest = entries["record_id"].max()
    return highest + 1 if isinstance(highest, int) else None


def _world_size(groups: list[Group]) -> int | None:
    """Return the size of the default group, if it is listed."""
    name, desc = DEFAULT_GROUP
    found = [
        g["ranks"] for g in groups if g["pg_name"] == name and g["pg_desc"] in (desc, None) and g["ranks"]
    ]
    return len(found[0]) if found else None
