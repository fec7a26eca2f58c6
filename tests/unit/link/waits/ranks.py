"""Small Kineto ranks in µs, linked, and the waits found in them as (awaited, waits, rule)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphstore.link.rank import link_rank
from graphstore.model.records import RankGraph
from tests.data import builders
from tests.data.builders import Row

Wait = tuple[str, str, str]


def ns(us: float) -> int:
    """Return µs in ns."""
    return round(us * 1_000)


def op(name: str, start: float, end: float, thread: int = 1, **more: Any) -> Row:
    """Return a host op."""
    return builders.span(name, ns(start), ns(end), thread=thread, **more)


def annotation(name: str, start: float, end: float, thread: int = 1) -> Row:
    """Return a range that a user marked."""
    return op(name, start, end, thread, category="user_annotation")


def call(name: str, start: float, end: float, correlation: int | None = None, thread: int = 1) -> Row:
    """Return a runtime call; it is known by its name and start."""
    return builders.call(correlation, ns(start), ns(end), thread, name=name)


def launch(correlation: int, start: float, end: float | None = None, thread: int = 1) -> Row:
    """Return a launch call, of 5 µs unless told."""
    return call("cudaLaunchKernel", start, start + 5 if end is None else end, correlation, thread)


def kernel(
    correlation: int | None, start: float, end: float, name: str, stream: int | None = 7, **more: Any
) -> Row:
    """Return a device op."""
    return builders.kernel(correlation, ns(start), ns(end), name, stream=stream, **more)


def sync(kind: str, correlation: int, **more: Any) -> Row:
    """Return a cuda_sync event of device 0."""
    return {"name": kind, "sync_kind": kind, "correlation": correlation, "device": 0} | more


def linked(
    ops: Sequence[Row] = (), calls: Sequence[Row] = (), kernels: Sequence[Row] = (), syncs: Sequence[Row] = ()
) -> RankGraph:
    """Return the rank made of one Kineto trace."""
    return link_rank(0, [builders.kineto_file(ops, calls, kernels, syncs)])


def found(graph: RankGraph, family: str = "") -> list[Wait]:
    """Return the waits of a rank whose rule begins with `family`, sorted; calls as name@start in µs."""
    names: dict[int, str] = {}
    for label, frame in graph.nodes.items():
        if label in ("HostOp", "RuntimeCall", "Kernel"):
            for n, name, start in frame.select("n", "name", "start_ns").iter_rows():
                names[n] = f"{name}@{start // 1_000}" if label == "RuntimeCall" else name
    rows = graph.edges["SYNC"].select("src", "dst", "rule").iter_rows()
    return sorted((names[src], names[dst], rule) for src, dst, rule in rows if rule.startswith(family))


def waits(*tables: Sequence[Row], family: str = "") -> list[Wait]:
    """Return the waits of a rank made of these tables: ops, calls, kernels, sync events."""
    return found(linked(*tables), family)
