"""What a Kineto file says about itself: rank, device, groups, step marks, and whether its ids can be used.

In:  the members of the document beside its events, and the tables made of these. Out: properties of a
TraceFile, process groups. What cannot be told is None; nothing is taken from the file's name (ranks.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import polars as pl

from graphstore.model.markers import STEP_NAME
from graphstore.readers.groups import count, group_members, integer, listed_ranks, parsed
from graphstore.readers.rf_ids import rf_id_verdict

KNOWN_SCHEMAS = ("1",)
EARLIEST_DATE_NS = 1_262_304_000_000_000_000  # 2010: a smaller time counts from something else than 1970


def base_ns(members: Mapping[str, Any]) -> int:
    """Return baseTimeNanoseconds, to which times are relative; 0 where the file has none (before 2024)."""
    return integer(members.get("baseTimeNanoseconds")) or 0


def facts_of(members: Mapping[str, Any], tables: Mapping[str, pl.DataFrame], rf_zeros: int) -> dict[str, Any]:
    """Return the facts of a Kineto file (properties of TraceFile), but for what the bytes tell.

    `recorded_at` is the first start as UTC text: Kineto writes no date beside the times. `host_pids` with
    more than one member means that ranks were merged into one file. `rf_zeros`: host ops whose record
    function id is 0.
    """
    job = _distributed(members)
    host = tables["host_ops"]
    schema = members.get("schemaVersion")
    devices = members.get("deviceProperties")
    device = devices[0] if isinstance(devices, list) and devices and isinstance(devices[0], dict) else {}
    pids = host["process"].drop_nulls().value_counts(sort=True)["process"].to_list()
    return {
        "kind": "kineto",
        "schema": None if schema is None else str(schema),
        "schema_known": None if schema is None else str(schema) in KNOWN_SCHEMAS,
        "rank": count(job.get("rank")),
        "world_size": count(job.get("world_size")) or None,
        "backend": _text(job.get("backend")),
        "pid": pids[0] if pids else None,
        "host_pids": sorted(pids),
        "recorded_at": _recorded_at(tables),
        "host": _text(members.get("host_name")),
        "device_name": _text(device.get("name")),
        "step_marks": host["name"].filter(host["name"].str.contains(STEP_NAME)).n_unique(),
        "rf_id_verdict": rf_id_verdict(host["rf_id"], rf_zeros) if host.height else "no host ops",
        "lowest_runtime_correlation": tables["runtime_calls"]["correlation"].min(),
    }


def process_groups(members: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the process groups of distributedInfo.pg_config, each as FileRecords.groups wants it.

    `ranks: []` means all ranks, as in an execution trace. Kineto lists only groups this rank belongs to.
    """
    listed = _distributed(members).get("pg_config")
    if isinstance(listed, str):
        listed = parsed(listed)
    if not isinstance(listed, list):
        return []
    return [_group(entry) for entry in listed if isinstance(entry, dict) and entry.get("pg_name") is not None]


def _group(entry: Mapping[str, Any]) -> dict[str, Any]:
    size = count(entry.get("pg_size"))
    return {
        "pg_name": str(entry["pg_name"]),
        "pg_desc": _text(entry.get("pg_desc")),
        "ranks": group_members(entry.get("ranks"), size),
        "group_size": size if size is not None else len(listed_ranks(entry.get("ranks"))) or None,
        "backend": _text(entry.get("backend_config")),
        "origin": "kineto",
    }


def _recorded_at(tables: Mapping[str, pl.DataFrame]) -> str | None:
    """Return the first start as ISO 8601 UTC; None where times do not count from 1970."""
    starts = [start for table in tables.values() if (start := table["start_ns"].min()) is not None]
    first = min(starts, default=None)
    if not isinstance(first, int) or first < EARLIEST_DATE_NS:
        return None
    return datetime.fromtimestamp(first // 1_000_000_000, UTC).isoformat()


def _distributed(members: Mapping[str, Any]) -> Mapping[str, Any]:
    info = members.get("distributedInfo")
    return info if isinstance(info, dict) else {}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
