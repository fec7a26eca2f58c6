"""Entries of a Flight Recorder dump to columns, whatever version wrote them.

In:  the value of `entries`, plain data nobody has looked at yet. Out: a frame of the table flight_entries.
Decided here (matching.md 1.4, trace-formats.md 3): fields are told by their presence, not by the version; a
time of 0 is unknown; before 2.0 one `seq_id` counts all calls of a group, and a group has no name but its
number in the process. How the types of the fields are checked: flight_columns.py and flight_tensors.py.
"""

from __future__ import annotations

import re
from typing import Any

import polars as pl

from graphstore.model.collectives import P2P_KINDS, collective_kind
from graphstore.model.records import empty, frame
from graphstore.readers import flight_columns as columns
from graphstore.readers.call_site import call_sites
from graphstore.readers.flight_columns import Fields
from graphstore.readers.flight_pickle import DumpRefusedError
from graphstore.readers.flight_tensors import FIELDS as TENSOR_FIELDS
from graphstore.readers.flight_tensors import tensor_columns

MOST_ENTRIES = 1_000_000
UNNAMED = "entry without profiling_name"
TABLE = "flight_entries"
NS_PER_US = 1_000
MOST_US = (1 << 63) // NS_PER_US - 1  # fits 64 bits as ns
NS_PER_MS = 1_000_000
# profiling_name of a send or recv: "nccl:send 0->1", "nccl:recv 1<-0"; the own place in the group is first
P2P_NAME = re.compile(r"(send|recv)\w* (\d{1,9})(?:->|<-)(\d{1,9})$")

FIELDS = (
    "profiling_name",
    "is_p2p",
    "record_id",
    "op_id",
    "pg_id",
    "collective_seq_id",
    "p2p_seq_id",
    "seq_id",
    "process_group",
    "state",
    "retired",
    "time_created_ns",
    "time_created_us",
    "duration_ms",
    "time_discovered_started_ns",
    "time_discovered_completed_ns",
    "timeout_ms",
    "frames",
    *TENSOR_FIELDS,
)
TOLD = {
    "collective_kind": pl.String,
    "is_coalesced": pl.Boolean,
    "is_p2p": pl.Boolean,
    "group_rank": pl.Int64,
    "peer": pl.Int64,
    "src": pl.Int64,
    "dst": pl.Int64,
}

Columns = dict[str, pl.Series]


def read_entries(value: Any) -> tuple[pl.DataFrame, dict[str, int]]:
    """Return the entries as a frame in file order, and {reason: count} of those left out.

    Raises DumpRefusedError when `value` is no list of entries, or a field is not of its type.
    """
    if value is None:  # absent when there are none
        return empty(TABLE), {}
    if type(value) is not list:
        raise DumpRefusedError(f"entries is {type(value).__name__}, not a list")
    if len(value) > MOST_ENTRIES:
        raise DumpRefusedError(f"there are {len(value):,} entries, more than {MOST_ENTRIES:,}")
    columns.check_types(value, "an entry", {dict}, "a dict")
    names = [entry.get("profiling_name") for entry in value]
    named = [place for place, name in enumerate(names) if name is not None]
    entries = value if len(named) == len(value) else [value[place] for place in named]
    left_out = {UNNAMED: len(value) - len(named)} if len(named) < len(value) else {}
    if not entries:
        return empty(TABLE), left_out
    fields = columns.fields_of(entries, FIELDS)
    found = {"order": pl.Series(named, dtype=pl.Int64)}
    found |= _called(fields)
    found |= _numbered(fields, found["is_p2p"])
    found |= _progress(fields)
    found |= tensor_columns(fields)
    found["site"] = columns.text_series(call_sites(fields["frames"]), "frames")
    found["source"] = pl.Series(["flight_recorder"]).new_from_index(0, len(entries))
    return frame(TABLE, found), left_out


def _called(fields: Fields) -> Columns:
    """Return what was called: the name as written, and what it tells, worked out once per distinct name."""
    names, which = columns.distinct_texts(fields["profiling_name"], "profiling_name")
    told = pl.DataFrame([_told_by_name(name) for name in names], schema=TOLD, orient="row")[which]
    recorded = columns.booleans(fields, "is_p2p")
    is_p2p = recorded.zip_with(recorded.is_not_null(), told["is_p2p"])
    name = names.gather(which)
    return told.to_dict() | {"name": name, "op_name": name, "is_p2p": is_p2p}


def _told_by_name(name: str) -> tuple[Any, ...]:
    """Return kind, whether it closes a block, whether it is P2P, and the places of both ends if it is.

    "nccl:coalesced" says neither what was called nor whether it was P2P.
    """
    kind = collective_kind(name)
    is_coalesced = name.rsplit(":", 1)[-1] == "coalesced"
    is_p2p = None if is_coalesced else kind in P2P_KINDS
    ends = P2P_NAME.search(name)
    if ends is None:
        return kind, is_coalesced, is_p2p, None, None, None, None
    own, peer = int(ends[2]), int(ends[3])
    src, dst = (own, peer) if ends[1] == "send" else (peer, own)
    return kind, is_coalesced, is_p2p, own, peer, src, dst


def _numbered(fields: Fields, is_p2p: pl.Series) -> Columns:
    """Return the numbers of the calls and their groups."""
    found = {name: columns.integers(fields, name) for name in ("record_id", "op_id", "pg_id")}
    collective = columns.integers(fields, "collective_seq_id")
    p2p = columns.integers(fields, "p2p_seq_id")
    pg_name, pg_desc = columns.pairs_of_text(fields, "process_group")
    if collective.null_count() == len(collective):  # before 2.0
        seq = columns.integers(fields, "seq_id")
        counted = pl.DataFrame({"seq": seq, "is_p2p": is_p2p.fill_null(False), "pg_id": found["pg_id"]})
        collective, p2p, pg_name = counted.select(
            pl.when(~pl.col("is_p2p")).then("seq").alias("collective_seq_id"),
            pl.when("is_p2p").then("seq").alias("p2p_seq_id"),
            pl.coalesce(pg_name, pl.col("pg_id").cast(pl.String)).alias("pg_name"),
        )
    return found | {
        "collective_seq_id": collective,
        "p2p_seq_id": p2p,
        "pg_name": pg_name,
        "pg_desc": pg_desc,
    }


def _progress(fields: Fields) -> Columns:
    """Return how far the calls came, and when; times are absolute, in ns, and null where unknown."""
    created = columns.times(fields, "time_created_ns")
    if created.null_count() == len(created):  # the first version
        in_us = columns.times(fields, "time_created_us")
        created = in_us.set(in_us > MOST_US, None) * NS_PER_US
    return {
        "state": columns.texts(fields, "state"),
        "retired": columns.booleans(fields, "retired"),
        "start_ns": created,
        "duration_ns": (columns.numbers(fields, "duration_ms") * NS_PER_MS).round().cast(pl.Int64),
        "started_ns": columns.times(fields, "time_discovered_started_ns"),
        "completed_ns": columns.times(fields, "time_discovered_completed_ns"),
        "timeout_ms": columns.integers(fields, "timeout_ms"),
    }
