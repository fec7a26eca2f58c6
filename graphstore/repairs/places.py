"""Where an op may hang: its enclosers in time, the call a gloo worker works for, the roots of its rank.

In:  `RankOps`. Out: places (-1: none); `len(ops)` is the place of a process root still to be created.
Facts behind it: trace-formats §1 (roots, gloo, ids); which candidate is taken is decided in orphans.py
and wrong_parents.py.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from graphstore.link.forest import nearest_marked
from graphstore.model.collectives import collective_kind
from graphstore.model.markers import PROCESS_ROOTS, THREAD_ROOTS
from graphstore.repairs.columns import GLOO, RankOps
from graphstore.repairs.tree import NONE, Bools, Ints

C10D = "c10d::"
# gloo does a reduce_scatter by an all_reduce
CALL_KINDS_OF_WORKER = {"all_reduce": ("all_reduce", "reduce_scatter")}


class Places:
    """The candidates of one rank. `recorded`: ops with a node_id, and those about to get one."""

    def __init__(self, ops: RankOps, recorded: Bools) -> None:
        """Look up enclosers, calls and roots once."""
        self._ops = ops
        self._encloser = _recorded_encloser(ops.encloser, recorded)
        self._calls = _calls_by_kind(ops)
        roots = ops.named(*PROCESS_ROOTS)
        self.process_roots = frozenset(roots.tolist())
        self.process_root = int(roots[0]) if roots.size else len(ops)
        self._thread_roots = _thread_roots(ops)
        self.thread_roots = frozenset(place for places in self._thread_roots.values() for place in places)

    @property
    def has_process_root(self) -> bool:
        """Return whether the trace holds the process root."""
        return self.process_root < len(self._ops)

    def enclosers(self, place: int) -> Iterator[int]:
        """Give the recorded ops that enclose an op in time on its thread, innermost first."""
        above = int(self._encloser[place])
        while above != NONE:
            yield above
            above = int(self._encloser[above])

    def call_of_worker(self, place: int) -> int:
        """Return the c10d call a gloo op works for; -1 for another op, or when no call fits.

        It is the call of its kind with the largest rf_id below its own: an id is given as the work is queued,
        right after that of the call (so in every pair of the recorded sets). The recorded caller of a worker
        says nothing: it is whatever was open on the main thread (d2: worker 145 below call 149, not 144).
        """
        name = self._ops.name[place]
        rf_id = int(self._ops.rf_id[place])
        if not name.startswith(GLOO) or rf_id < 0:
            return NONE
        kind = collective_kind(name)
        best = NONE
        for call_kind in CALL_KINDS_OF_WORKER.get(kind, (kind,)) if kind else ():
            rf_ids, places = self._calls.get(call_kind, (np.zeros(0, np.int64), np.zeros(0, np.int64)))
            before = int(np.searchsorted(rf_ids, rf_id)) - 1
            if before >= 0 and (best == NONE or rf_ids[before] > self._ops.rf_id[best]):
                best = int(places[before])
        return best

    def thread_root(self, tid: int, node_id: int) -> int:
        """Return the thread root of a tid: the last with an id below `node_id`, else the first; -1: none."""
        roots = self._thread_roots.get(tid, [])
        before = [root for root in roots if self._ops.node_id[root] < node_id]
        return before[-1] if before else roots[0] if roots else NONE


def _recorded_encloser(encloser: Ints, recorded: Bools) -> Ints:
    """Return for each op the innermost recorded op round it, however many Kineto-only spans lie between."""
    if not encloser.size:
        return encloser
    nearest: Ints = nearest_marked(encloser, recorded)
    return np.where(encloser == NONE, NONE, nearest[encloser])


def _calls_by_kind(ops: RankOps) -> dict[str, tuple[Ints, Ints]]:
    """Return {collective_kind: (rf_ids ascending, places)} of the c10d calls with an rf_id."""
    calls = ops.named(C10D)
    calls = calls[ops.rf_id[calls] >= 0]
    calls = calls[np.argsort(ops.rf_id[calls], kind="stable")]
    places_by_kind: dict[str, list[int]] = {}
    for place in calls.tolist():
        kind = collective_kind(ops.name[place])
        if kind:
            places_by_kind.setdefault(kind, []).append(place)
    return {
        kind: (ops.rf_id[places], np.asarray(places, dtype=np.int64))
        for kind, places in places_by_kind.items()
    }


def _thread_roots(ops: RankOps) -> dict[int, list[int]]:
    """Return {tid: places of its thread roots in ascending node_id}."""
    roots = ops.named(*THREAD_ROOTS)
    by_tid: dict[int, list[int]] = {}
    for place in roots[np.argsort(ops.node_id[roots], kind="stable")].tolist():
        by_tid.setdefault(int(ops.tid[place]), []).append(place)
    return by_tid
