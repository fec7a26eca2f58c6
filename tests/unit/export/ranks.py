"""Small ranks by hand: the frames an export pulls, in a line an op. Columns not named are null (-1 or '')."""

from __future__ import annotations

from typing import Any

import polars as pl

from graphstore import queries
from graphstore.export.columns import RankColumns

PROCESS_ROOT = "[pytorch|profiler|execution_trace|process]"
THREAD_ROOT = "[pytorch|profiler|execution_trace|thread]"
Rows = list[dict[str, Any]]


def table(query: str, rows: Rows) -> pl.DataFrame:
    """Return the rows as a statement's columns, ascending by uid."""
    kinds = {field.name: field.type for field in queries.get(query).columns}
    types = {name: pl.Int64 if kind == "list[int]" else pl.String for name, kind in kinds.items()}
    null = {name: -1 if kind == "list[int]" else "" for name, kind in kinds.items()}
    unknown = {name for row in rows for name in row} - set(kinds)
    assert not unknown, unknown
    return pl.DataFrame([null | row for row in rows], schema=types).sort("uid")


def op(uid: int, name: str = "aten::add", **columns: int) -> dict[str, Any]:
    """Return a host op; `start_ns` and `duration_ns` make it a timed one."""
    return {"uid": uid, "name": name} | columns


def timed(uid: int, start: int, end: int, name: str = "aten::add", **columns: int) -> dict[str, Any]:
    """Return a host op of thread 1 of process 1, unless told otherwise."""
    times = {"start_ns": start, "duration_ns": end - start, "process": 1, "thread": 1}
    return {"uid": uid, "name": name, "node_id": uid} | times | columns


def kernel(
    uid: int, start: int, end: int, stream: int = 7, name: str = "gemm", **columns: Any
) -> dict[str, Any]:
    """Return a device op on device 0."""
    times = {"start_ns": start, "duration_ns": end - start, "device": 0, "stream": stream}
    return {"uid": uid, "name": name, "device_kind": "kernel"} | times | columns


def rank_of(
    host: Rows,
    kernels: Rows = [],  # noqa: B006 - never changed
    launches: Rows = [],  # noqa: B006
    calls: Rows = [],  # noqa: B006
    call_ops: list[tuple[str, int, int]] = [],  # noqa: B006
    **edges: list[tuple[int, int]],
) -> RankColumns:
    """Return a rank; edges by type: CTRL=[(parent, child)], LAUNCHES, DATA, SYNC."""
    pairs = [(kind, *pair) for kind, found in edges.items() for pair in found]
    edge_schema = {"edge_type": pl.String, "source": pl.Int64, "target": pl.Int64}
    seen_schema = {"role": pl.String, "call_uid": pl.Int64, "op_uid": pl.Int64}
    return RankColumns(
        rank=0,
        host=table("structure/show_host_op_order", host),
        kernels=table("linking/show_kernel_columns", kernels),
        launches=table("linking/show_launch_columns", launches),
        edges=pl.DataFrame(pairs, schema=edge_schema, orient="row"),
        calls=table("communication/show_call_columns", calls),
        call_ops=pl.DataFrame(call_ops, schema=seen_schema, orient="row"),
    )
