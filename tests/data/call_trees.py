"""Small programs as call trees, laid out in time: what comparing two runs is tested with, without an engine.

In:  `Call`s, a program of one main thread. Out: the columns of one rank as the store gives them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl
from hypothesis import strategies as st

from graphstore.queries.diffing.columns import RankColumns
from graphstore.queries.diffing.trees import STEP

THREAD = 7
NAMES = ("aten::add", "aten::mm", "aten::copy_", "aten::linear")
HOST = ("uid", "name", "start_ns", "duration_ns", "process", "thread", "tid", "node_id", "external_id")
_CALLS = {
    "uid": pl.Int64, "name": pl.String, "start_ns": pl.Int64, "duration_ns": pl.Int64, "group": pl.String,
    "collective_kind": pl.String, "collective_seq_id": pl.Int64, "state": pl.String, "source": pl.String,
    "collective": pl.Int64, "op_name": pl.String, "peer": pl.Int64, "root_rank": pl.Int64,
    "size_bytes": pl.Int64, "wait_ns": pl.Int64,
}  # fmt: skip


@dataclass(frozen=True)
class Call:
    """An op: its own time before each child and after the last, the gap before it, device ops it launches."""

    name: str
    own: tuple[int, ...]
    children: tuple[Call, ...] = ()
    gap: int = 0
    kernels: tuple[tuple[str, int], ...] = ()
    category: str = "cpu_op"


def leaf(name: str, own: int, gap: int = 0, **more: Any) -> Call:
    """Return an op without children."""
    return Call(name, (own,), gap=gap, **more)


def around(name: str, *children: Call, own: int = 100, **more: Any) -> Call:
    """Return an op around others, with `own` before each child and at the end."""
    return Call(name, (own,) * (len(children) + 1), children, **more)


def step(*children: Call) -> Call:
    """Return a step mark around ops."""
    return around(f"{STEP}#1", *children, own=0, category="user_annotation")


@dataclass
class _Laid:
    """What is laid out so far."""

    host: list[dict[str, Any]] = field(default_factory=list)
    kernels: list[dict[str, Any]] = field(default_factory=list)


def columns(program: Sequence[Call], rank: int = 0, first_uid: int = 1, start: int = 0) -> RankColumns:
    """Return the columns of a rank that runs a program from `start` on."""
    laid = _Laid()
    time, steps = start, 0
    for call in program:
        steps += call.name.startswith(STEP)
        number = steps if call.name.startswith(STEP) else -1
        time = _lay(laid, call, time + call.gap, -1, number, first_uid)
    host = (
        pl.DataFrame(laid.host) if laid.host else pl.DataFrame(schema=dict.fromkeys(_HOST_SCHEMA, pl.Int64))
    )
    kernels = pl.DataFrame(laid.kernels, schema=_KERNELS)
    none = pl.DataFrame(schema=_CALLS)
    seen = pl.DataFrame(schema={"role": pl.String, "call_uid": pl.Int64, "op_uid": pl.Int64})
    return RankColumns(rank, host, kernels, none, seen)


_HOST_SCHEMA = (*HOST, "category", "self_ns", "step", "encloser", "caller")
_KERNELS = {
    "uid": pl.Int64, "name": pl.String, "start_ns": pl.Int64, "duration_ns": pl.Int64, "stream": pl.Int64,
    "size_bytes": pl.Int64, "launcher": pl.Int64,
}  # fmt: skip


def _lay(laid: _Laid, call: Call, start: int, caller: int, number: int, first_uid: int) -> int:
    """Lay out an op and what it calls; return when it ends."""
    uid = first_uid + 10 * len(laid.host)
    name = f"{STEP}#{number + 100}" if call.name.startswith(STEP) else call.name
    row: dict[str, Any] = {
        "uid": uid,
        "name": name,
        "start_ns": start,
        "duration_ns": 0,
        "process": 1,
        "thread": THREAD,
    }
    row |= {"tid": 1, "node_id": len(laid.host), "external_id": -1, "category": call.category}
    row |= {"self_ns": sum(call.own), "step": number, "encloser": caller, "caller": caller}
    laid.host.append(row)
    time = start
    for own, child in zip(call.own, call.children, strict=False):
        row["self_ns"] += child.gap
        time = _lay(laid, child, time + own + child.gap, uid, number, first_uid)
    for name, duration in call.kernels:
        one: dict[str, Any] = {
            "uid": 1_000_000 + first_uid + len(laid.kernels),
            "name": name,
            "start_ns": time,
            "stream": 7,
        }
        laid.kernels.append(one | {"duration_ns": duration, "size_bytes": -1, "launcher": uid})
    row["duration_ns"] = time + call.own[-1] - start
    return time + call.own[-1]


_TIMES = st.integers(1, 50_000)


@st.composite
def calls(draw: st.DrawFn, depth: int = 3) -> Call:
    """Draw an op with what it calls."""
    children = tuple(draw(st.lists(calls(depth - 1), max_size=3))) if depth else ()
    own = tuple(draw(_TIMES) for _ in range(len(children) + 1))
    kernels = tuple(
        (draw(st.sampled_from(["gemm", "relu"])), draw(_TIMES)) for _ in range(draw(st.integers(0, 2)))
    )
    return Call(draw(st.sampled_from(NAMES)), own, children, draw(_TIMES), kernels)


def programs(least: int = 1) -> st.SearchStrategy[list[Call]]:
    """Draw a program of a few outermost ops."""
    return st.lists(calls(), min_size=least, max_size=4)


Place = tuple[int, ...]


def places(program: Sequence[Call]) -> list[Place]:
    """Return the place of each op: which outermost op, which child of it, and so on; callers first."""
    out: list[Place] = []
    for at, call in enumerate(program):
        out.append((at,))
        out += [(at, *below) for below in places(call.children)]
    return out


def at_place(program: Sequence[Call], place: Place) -> Call:
    """Return the op at a place."""
    call = program[place[0]]
    return at_place(call.children, place[1:]) if place[1:] else call


def changed(program: Sequence[Call], place: Place, call: Call) -> list[Call]:
    """Return the program with another op at a place."""
    out = list(program)
    if place[1:]:
        inner = changed(out[place[0]].children, place[1:], call)
        call = replace(out[place[0]], children=tuple(inner))
    out[place[0]] = call
    return out


def with_child(call: Call, child: Call, at: int) -> Call:
    """Return the op with one child more, which takes its time from nobody: the op is longer by it."""
    children = (*call.children[:at], child, *call.children[at:])
    return replace(call, children=children, own=(*call.own[:at], 0, *call.own[at:]))
