"""A rank's host ops in a line each, and changes carried out in memory: no store is needed to test a plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from graphstore.link.forest import tops
from graphstore.model.markers import PROCESS_ROOTS, THREAD_ROOTS
from graphstore.repairs.change import Change
from graphstore.repairs.columns import RankOps, rank_ops
from graphstore.repairs.tree import NONE, Ints, nodes_on_cycles

FIRST_UID = (1 << 32) + 10


@dataclass(frozen=True)
class Op:
    """One host op: ids as recorded (None: not recorded), span (start, end) in ns or None."""

    node_id: int | None
    name: str
    parent: int | None = None
    span: tuple[int, int] | None = None
    tid: int = 1
    thread: int = 1
    rf_id: int | None = None


def process_root() -> Op:
    """Return the process root, node 1."""
    return Op(1, PROCESS_ROOTS[0], tid=0)


def thread_root(node_id: int = 2, tid: int = 1, parent: int = 1) -> Op:
    """Return the thread root of `tid`."""
    return Op(node_id, THREAD_ROOTS[0], parent=parent, tid=tid)


def kineto_only(name: str, start: int, end: int, thread: int = 1) -> Op:
    """Return a span that only Kineto knows."""
    return Op(None, name, span=(start, end), thread=thread)


def rank_of(ops: Sequence[Op], rank: int = 0) -> RankOps:
    """Return the columns of `ops`, uids ascending as they stand, callers and enclosers as link finds them."""
    uid = [FIRST_UID + place for place in range(len(ops))]
    encloser = [_encloser(ops, place) for place in range(len(ops))]
    caller = [_caller(ops, place, above) for place, above in enumerate(encloser)]
    columns: dict[str, list[Any]] = {
        "uid": uid,
        "node_id": [_or_none(op.node_id) for op in ops],
        "parent_id": [_or_none(op.parent) for op in ops],
        "tid": [op.tid for op in ops],
        "rf_id": [_or_none(op.rf_id) for op in ops],
        "start_ns": [op.span[0] if op.span else 0 for op in ops],
        "duration_ns": [op.span[1] - op.span[0] if op.span else -1 for op in ops],
        "thread": [op.thread for op in ops],
        "encloser": [NONE if above is None else uid[above] for above in encloser],
        "name": [op.name for op in ops],
    }
    called = [place for place, above in enumerate(caller) if above is not None]
    callers = [uid[above] for above in caller if above is not None]
    calls = {"uid": [uid[place] for place in called], "caller": callers}
    schema = {name: pl.String if name == "name" else pl.Int64 for name in columns}
    return rank_ops(
        rank,
        pl.DataFrame(columns, schema=schema),
        pl.DataFrame(calls, schema={"uid": pl.Int64, "caller": pl.Int64}),
    )


def _or_none(value: int | None) -> int:
    return NONE if value is None else value


def _encloser(ops: Sequence[Op], place: int) -> int | None:
    """Return the shortest other span on the thread that encloses an op's; of equal spans, the earlier op."""
    span = ops[place].span
    if span is None:
        return None
    around = [
        other
        for other, op in enumerate(ops)
        if other != place
        and op.span is not None
        and op.thread == ops[place].thread
        and op.span[0] <= span[0]
        and span[1] <= op.span[1]
        and (op.span != span or other < place)
    ]
    return min(around, key=lambda other: (_length(ops[other]), -other), default=None)


def _length(op: Op) -> int:
    return op.span[1] - op.span[0] if op.span else 0


def _caller(ops: Sequence[Op], place: int, encloser: int | None) -> int | None:
    """Return the place of the caller: the named parent, or the encloser of a Kineto-only op."""
    if ops[place].node_id is None:
        return encloser
    named = ops[place].parent
    if named is None:
        return None
    same = [other for other, op in enumerate(ops) if op.node_id == named]
    after = [other for other in same if other > place]
    return after[0] if after else same[-1] if same else None


def orphans_of(ops: RankOps) -> Ints:
    """Return the recorded ops with no CTRL edge in that are not the process root."""
    is_root = np.asarray([name == PROCESS_ROOTS[0] for name in ops.name], dtype=np.bool_)
    return np.flatnonzero(ops.recorded & ~ops.called & ~is_root)


def carried_out(ops: RankOps, changes: Sequence[Change]) -> RankOps:
    """Return the ops as they are after the changes, a created process root last."""
    created = [change.after["created"] for change in changes if "created" in change.after]
    if created:
        uid = next(change.uid for change in changes if "created" in change.after)
        ops = _with_root(ops, uid, created[0])
    place_by_uid = {int(uid): place for place, uid in enumerate(ops.uid)}
    parent, node_id = ops.parent.copy(), ops.node_id.copy()
    for change in changes:
        place = place_by_uid[change.uid]
        if "parent" in change.after:
            above = change.after["parent"]
            parent[place] = NONE if above is None else place_by_uid[above]
        if "node_id" in change.after:
            node_id[place] = change.after["node_id"]
    return replace(ops, parent=parent, node_id=node_id, called=parent != NONE)


def _with_root(ops: RankOps, uid: int, properties: dict[str, Any]) -> RankOps:
    """Return the ops with a created root, which lies last because its uid counts down from the end."""
    more: dict[str, Any] = {
        name: np.append(getattr(ops, name), value)
        for name, value in {
            "uid": uid,
            "node_id": properties["node_id"],
            "parent_id": NONE,
            "tid": NONE,
            "rf_id": NONE,
            "start_ns": 0,
            "duration_ns": -1,
            "thread": NONE,
            "encloser": NONE,
            "parent": NONE,
            "called": False,
            "name": properties["name"],
        }.items()
    }
    return replace(ops, **more)


def components(ops: RankOps) -> int:
    """Return the number of trees over recorded ops (Kineto-only ones and edges to them do not count)."""
    recorded = ops.recorded
    joined = ops.parent.copy()
    joined[(joined != NONE) & ~recorded[joined]] = NONE
    assert not nodes_on_cycles(joined)
    top, _ = tops(joined)
    return len(np.unique(top[recorded]))


def ids_by_child(ops: RankOps, changes: Sequence[Change]) -> dict[int, tuple[str, int | None]]:
    """Return {node_id: (rule, new parent's node_id)} of the ops that are moved, ids as after the changes."""
    after = carried_out(ops, changes)
    id_by_uid = dict(zip(after.uid.tolist(), after.node_id.tolist(), strict=True))
    return {
        id_by_uid[change.uid]: (change.rule, id_by_uid.get(change.after["parent"]))
        for change in changes
        if "parent" in change.after
    }
