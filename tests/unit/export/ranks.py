"""Small ranks by hand: the frames an export pulls, in a line an op. Columns not named are null (-1 or '')."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from graphstore import queries
from graphstore.chakra import MessageReader, Node
from graphstore.chakra.wire import Block
from graphstore.export.columns import RankColumns
from graphstore.export.pieces import GAP_TIME, REST, Pieces, pieces

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


def timed(uid: int, start: float, end: float, name: str = "aten::add", **columns: int) -> dict[str, Any]:
    """Return a host op of thread 1 of process 1, unless told otherwise."""
    times = {"start_ns": start, "duration_ns": end - start, "process": 1, "thread": 1}
    return {"uid": uid, "name": name, "node_id": uid} | times | columns


def kernel(
    uid: int, start: float, end: float, stream: int = 7, name: str = "gemm", **columns: Any
) -> dict[str, Any]:
    """Return a device op on device 0."""
    times = {"start_ns": start, "duration_ns": end - start, "device": 0, "stream": stream}
    return {"uid": uid, "name": name, "device_kind": "kernel"} | times | columns


def call(uid: int, start: float, end: float, thread: int = 1) -> dict[str, Any]:
    """Return a runtime call of a thread of process 1."""
    return {"uid": uid, "start_ns": start, "duration_ns": end - start, "process": 1, "thread": thread}


def rank_of(
    host: Rows,
    kernels: Rows = [],  # noqa: B006 - never changed
    launches: Rows = [],  # noqa: B006
    calls: Rows = [],  # noqa: B006
    call_ops: list[tuple[str, int, int]] = [],  # noqa: B006
    **edges: Any,
) -> RankColumns:
    """Return a rank; edges by type: CTRL=[(parent, child)], LAUNCHES, DATA; SYNC=[(awaited, waits, rule)]."""
    waits = edges.pop("SYNC", [])
    pairs = [(kind, *pair) for kind, found in edges.items() for pair in found]
    wait_schema = {"source": pl.Int64, "target": pl.Int64, "rule": pl.String}
    edge_schema = {"edge_type": pl.String, "source": pl.Int64, "target": pl.Int64}
    seen_schema = {"role": pl.String, "call_uid": pl.Int64, "op_uid": pl.Int64}
    return RankColumns(
        rank=0,
        host=table("structure/show_host_op_order", host),
        kernels=table("linking/show_kernel_columns", kernels),
        launches=table("linking/show_launch_columns", launches),
        edges=pl.DataFrame(pairs, schema=edge_schema, orient="row"),
        waits=pl.DataFrame(waits, schema=wait_schema, orient="row"),
        calls=table("communication/show_call_columns", calls),
        call_ops=pl.DataFrame(call_ops, schema=seen_schema, orient="row"),
    )


@dataclass(frozen=True)
class Named:
    """The nodes of a rank by names: uid of the first piece of an op and of a device op (`5`), further pieces
    `5+10` with the time they start at, `gap@10`.

    `times`: (start, end) in the order of the ids. `deps`: {node: [deps]}, by name. `rules`: {(dep,
    node): rule}. `parents`: {node: parent}. `resumes`: nodes that begin where a wait ends.
    """

    times: dict[str, tuple[int, int]]
    deps: dict[str, list[str]]
    rules: dict[tuple[str, str], str]
    parents: dict[str, str]
    resumes: list[str]
    cut: Pieces


def named(columns: RankColumns) -> Named:
    """Return the pieces of a rank by names."""
    cut = pieces(columns)
    uids = [*columns.host["uid"].to_list(), *columns.kernels["uid"].to_list()]
    names: list[str] = []
    for kind, place, start in zip(cut.kind.tolist(), cut.place.tolist(), cut.start.tolist(), strict=True):
        name = "gap" if kind == GAP_TIME else str(uids[place])
        mark = {GAP_TIME: f"@{start}", REST: f"+{start}"}.get(kind, "")
        names.append(name + mark)
    order = np.argsort(cut.kept.number).tolist()
    pairs = zip(cut.kept.source.tolist(), cut.kept.target.tolist(), cut.kept.rule.tolist(), strict=True)
    rules = {(names[dep], names[node]): cut.kept.rules[rule] for dep, node, rule in pairs}
    deps: dict[str, list[str]] = {names[node]: [] for node in order}
    for dep, node in rules:
        deps[node].append(dep)
    return Named(
        times={names[n]: (int(cut.start[n]), int(cut.end[n])) for n in order},
        deps={node: sorted(found) for node, found in deps.items()},
        rules=rules,
        parents={names[n]: names[above] for n, above in enumerate(cut.ctrl.tolist()) if above >= 0},
        resumes=[names[n] for n in order if cut.resumes[n]],
        cut=cut,
    )


def nodes_of(blocks: Iterable[Block]) -> list[Node]:
    """Return the nodes that blocks of messages hold."""
    return [Node.FromString(message) for message in MessageReader((one.data for one in blocks), "blocks")]
