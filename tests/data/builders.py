"""Small traces in a line each, as readers give them: rows of tables, and files made of rows.

Times are in ns, ids as written in the file; what is not given is null. `order` is the place among the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from graphstore.model.records import FileRecords, frame

Row = dict[str, Any]

PROCESS_ROOT = "[pytorch|profiler|execution_trace|process]"
THREAD_ROOT = "[pytorch|profiler|execution_trace|thread]"
GROUP_INIT = "## process_group:init ##"
PROCESS = 77  # process id of every span


def node(node_id: int, name: str, parent: int | None = None, rf_id: int | None = None, **more: Any) -> Row:
    """Return a node of an execution trace, on tid 1."""
    return {"node_id": node_id, "name": name, "parent_id": parent, "rf_id": rf_id, "tid": 1} | more


def roots() -> list[Row]:
    """Return the process root (id 1) and one thread root (id 2)."""
    return [node(1, PROCESS_ROOT, tid=0), node(2, THREAD_ROOT, 1)]


def span(
    name: str, start: int, end: int, rf_id: int | None = None, thread: int | None = 1, **more: Any
) -> Row:
    """Return a host op of a Kineto trace."""
    row = {"name": name, "start_ns": start, "duration_ns": end - start, "rf_id": rf_id}
    return row | {"process": PROCESS, "thread": thread, "category": "cpu_op"} | more


def call(correlation: int | None, start: int, end: int, thread: int | None = 1, **more: Any) -> Row:
    """Return a runtime call of a Kineto trace."""
    row = {"name": "cudaLaunchKernel", "correlation": correlation, "start_ns": start}
    return row | {"duration_ns": end - start, "process": PROCESS, "thread": thread} | more


def kernel(correlation: int | None, start: int, end: int, name: str = "gemm", **more: Any) -> Row:
    """Return a device op of a Kineto trace, on device 0 and stream 7."""
    row = {"name": name, "correlation": correlation, "start_ns": start, "duration_ns": end - start}
    return row | {"device": 0, "stream": 7, "device_kind": "kernel"} | more


def et_file(nodes: Sequence[Row], kernels: Sequence[Row] = (), **facts: Any) -> FileRecords:
    """Return an execution trace; with `kernels` a merged one."""
    kind = "et_plus" if kernels else "et"
    tables = {"host_ops": table("host_ops", nodes)}
    if kernels:
        tables["kernels"] = table("kernels", kernels)
    return _file("et.json", tables, {"kind": kind} | facts)


def kineto_file(
    spans: Sequence[Row] = (),
    calls: Sequence[Row] = (),
    kernels: Sequence[Row] = (),
    syncs: Sequence[Row] = (),
    **facts: Any,
) -> FileRecords:
    """Return a Kineto trace."""
    tables = {
        "host_ops": table("host_ops", spans),
        "runtime_calls": table("runtime_calls", calls),
        "kernels": table("kernels", kernels),
        "sync_events": table("sync_events", syncs),
    }
    return _file("kineto.json", tables, {"kind": "kineto"} | facts)


def chakra_file(nodes: Sequence[Row], **facts: Any) -> FileRecords:
    """Return a Chakra trace."""
    return _file("run.0.et", {"chakra_nodes": table("chakra_nodes", nodes)}, {"kind": "chakra_et"} | facts)


def table(name: str, rows: Sequence[Row]) -> pl.DataFrame:
    """Return a table of the rows; a column that a row does not give is null there."""
    placed = [{"order": place} | row for place, row in enumerate(rows)]
    keys = dict.fromkeys(key for row in placed for key in row)
    columns = {key: [row.get(key) for row in placed] for key in keys} or {"order": []}
    return frame(name, columns)


def _file(name: str, tables: dict[str, Any], facts: dict[str, Any]) -> FileRecords:
    records = FileRecords(name, {"path": name, "name": name, "sha256": name} | facts, tables)
    records.tally.read = records.tally.kept = sum(rows.height for rows in tables.values())
    records.facts |= {"records_read": records.tally.read, "kept": records.tally.kept, "left_out": "{}"}
    return records
