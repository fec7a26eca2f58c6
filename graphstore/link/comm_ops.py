"""Which host ops are communication, and which of them belong to one call.

In:  the host ops of a rank (names, arguments, entry), their callers and enclosers, by row.
Out: `CommOps`: the row that is each call, the backend op that did its work, and what hangs below it.
Decided here (`decisions.md` 8): NCCL: record_param_comms, never `wait`; others: c10d::X with none below it;
a backend op (`gloo:X`, `nccl:X`) nested in neither joins the c10d::X it works for, and is a call of its own
where that is absent. Edges and properties of the calls: collectives.py.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import orjson
import polars as pl

from graphstore.link.forest import nearest_marked
from graphstore.link.nesting import Bools, Ints
from graphstore.model.collectives import collective_kind

PARAM_COMMS = "record_param_comms"
C10D = "c10d::"
# titles of c10d's backends: one colon, c10d's own word behind it
BACKEND_OP = r"^(nccl|gloo|mpi|ucc|xccl|hccl):[^:]"
# A backend may do one kind by another: gloo reduces and scatters by an all_reduce.
EMULATED_BY = {"reduce_scatter": "all_reduce"}

Args = dict[str, Any]


@dataclass
class CommOp:
    """One host op that has to do with communication."""

    row: int
    name: str
    kind: str | None
    rf_id: int | None
    start_ns: int
    args: list[Args]  # as recorded, best source first
    above: list[int] = field(default_factory=list)  # rows of comm ops it lies in: by caller, by time

    @property
    def is_backend_op(self) -> bool:
        """Return whether it is a backend's own op (gloo:X), neither record_param_comms nor c10d::X."""
        return self.name != PARAM_COMMS and not self.name.startswith(C10D)


@dataclass
class CommOps:
    """The communication among the host ops of a rank."""

    by_row: dict[int, CommOp]
    worker_of_call: dict[int, int | None]  # row of each call → row of the backend op joined to it
    call_of: dict[int, int]  # row of any comm op that belongs to a call → row of the call


def find_comm_ops(host: pl.DataFrame, parent: Ints, encloser: Ints) -> CommOps:
    """Return the communication among the host ops.

    `host` has name, rf_id, start_ns, comm_args and comm_args_kineto; `parent` and `encloser` hold rows.
    """
    is_comm = host.select(
        (pl.col("name") == PARAM_COMMS)
        | pl.col("name").str.starts_with(C10D)
        | pl.col("name").str.contains(BACKEND_OP)
    ).to_series()
    ops = _read_ops(host, is_comm)
    _nest(ops, is_comm.to_numpy(), parent, encloser)
    call_of = _calls_with_params(ops)
    covered = {above for row in call_of if ops[row].name == PARAM_COMMS for above in ops[row].above}
    calls = [op for op in ops.values() if op.name.startswith(C10D) and op.kind and op.row not in covered]
    call_of |= {op.row: op.row for op in calls}
    worker_of_call: dict[int, int | None] = dict.fromkeys(call_of.values())
    waiting = _Waiting(calls, worker_of_call)
    for op in sorted(ops.values(), key=lambda op: (op.start_ns, op.rf_id or 0, op.row)):
        if op.is_backend_op and op.kind and op.row not in call_of:
            call = waiting.call_worked_for(op, ops)
            call_of[op.row] = op.row if call is None else call
            if call is None:
                worker_of_call[op.row] = None
            elif worker_of_call[call] is None:
                worker_of_call[call] = op.row
    return CommOps(ops, worker_of_call, call_of)


def read_args(*texts: str | None) -> list[Args]:
    """Return the recorded arguments of a communication, one dict for each text that is not null."""
    return [orjson.loads(text) for text in texts if text]


def _read_ops(host: pl.DataFrame, is_comm: pl.Series) -> dict[int, CommOp]:
    rows = host.select(
        pl.int_range(pl.len()).alias("row"), "name", "rf_id", "start_ns", "comm_args", "comm_args_kineto"
    ).filter(is_comm)
    ops = {}
    for row, name, rf_id, start, *texts in rows.iter_rows():
        args = read_args(*texts)
        title = name if name != PARAM_COMMS else next((a["op_name"] for a in args if a.get("op_name")), None)
        kind = collective_kind(str(title)) if title else None
        ops[row] = CommOp(row, name, kind, rf_id, start or 0, args)
    return ops


def _nest(ops: dict[int, CommOp], is_comm: Bools, parent: Ints, encloser: Ints) -> None:
    """Set `above` of each op: the nearest comm op among its callers, and among its enclosers in time."""
    rows = np.fromiter(ops, dtype=np.int64, count=len(ops))
    for up in (parent, encloser):
        nearest = nearest_marked(up, is_comm)
        start = up[rows]
        found = np.where(start >= 0, nearest[np.maximum(start, 0)], -1) if up.size else start
        for row, above in zip(rows.tolist(), found.tolist(), strict=True):
            if above >= 0:
                ops[row].above.append(above)


def _calls_with_params(ops: dict[int, CommOp]) -> dict[int, int]:
    """Return {row: row of its call} of the record_param_comms that are calls, and the backend ops in them.

    One without arguments (Kineto before 2024) is a call where a backend op lies in it, whose kind it takes;
    else it can't be told from a `wait`.
    """
    inside: dict[int, CommOp] = {}
    for op in ops.values():
        if op.is_backend_op:
            for above in op.above:
                inside.setdefault(above, op)
    calls = {}
    for op in ops.values():
        if op.name == PARAM_COMMS and not any(a.get("is_wait") for a in op.args):
            if op.row in inside and not any(a.get("op_name") for a in op.args):
                op.kind = inside[op.row].kind
            if op.kind is not None:
                calls[op.row] = op.row
    nested = {
        op.row: above for op in ops.values() if op.is_backend_op for above in op.above[::-1] if above in calls
    }
    return calls | nested


class _Waiting:
    """The c10d calls for whose work a backend op is sought."""

    def __init__(self, calls: list[CommOp], worker_of_call: dict[int, int | None]) -> None:
        """Start with `calls`; `worker_of_call` tells, as it grows, which have found theirs."""
        self._worker_of_call = worker_of_call
        self._by_id: dict[str, list[tuple[int, int]]] = {}  # kind → (rf_id, row), rising
        self._by_time: dict[str, deque[CommOp]] = {}  # kind → calls without rf_id, in order of start
        for op in sorted(calls, key=lambda op: (op.start_ns, op.row)):
            for kind in _done_by(op.kind):
                if op.rf_id is None:
                    self._by_time.setdefault(kind, deque()).append(op)
                else:
                    insort(self._by_id.setdefault(kind, []), (op.rf_id, op.row))

    def call_worked_for(self, op: CommOp, ops: dict[int, CommOp]) -> int | None:
        """Return the row of the call that backend op `op` does the work of, None where that is absent.

        By id: ids are given on the calling thread as the work is queued, so it is the last call of its kind
        before it; a second op for one call only if it is recorded below it (coalesced calls). The recorded
        parent is no proof: a worker may bear a stale one (in d2 even that of a call made after it).
        Without ids: the call it lies in, else the earliest of its kind without a worker that began before
        it (`dependencies.md` 4.13: a backend's threads work in order).
        """
        kind = op.kind or ""
        if op.rf_id is not None:
            queue = self._by_id.get(kind, [])
            at = bisect_left(queue, (op.rf_id, -1)) - 1
            call = queue[at][1] if at >= 0 else None
            is_free = call is not None and (self._worker_of_call[call] is None or call in op.above)
            return call if is_free else None
        for above in op.above:
            if above in self._worker_of_call and kind in _done_by(ops[above].kind):
                return above
        waiting = self._by_time.get(kind, deque())
        while waiting and self._worker_of_call[waiting[0].row] is not None:
            waiting.popleft()
        return waiting[0].row if waiting and waiting[0].start_ns <= op.start_ns else None


def _done_by(kind: str | None) -> set[str]:
    """Return the kinds of backend op that can do a call of `kind`."""
    return {kind, EMULATED_BY.get(kind, kind)} if kind else set()
