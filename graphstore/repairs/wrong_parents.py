"""Move ops whose parent is present but wrong to the parent that time proves. Only on request (unsafe).

In:  `RankOps`, the places of ops whose named parent does not enclose them in time or ran on another thread
     (a gloo worker below its c10d call is right and not among them), the parents as planned so far.
Out: changes, and the parent array after them.
The proven parent is the innermost recorded op that encloses the op in time on its thread; where nothing
does: for a gloo worker its c10d call by rf_id, else the thread root of its tid. A gloo op that hangs below
its own call stays there, also on one thread: a send outlasts the call that asked for it. The export uses the
proven encloser for order either way, so that nothing rests on this repair but the shape of the tree.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphstore.repairs.change import Change
from graphstore.repairs.columns import RankOps
from graphstore.repairs.places import Places
from graphstore.repairs.tree import NONE, Ints, nodes_on_cycles

RULE = "proven_parent"


def plan_wrong_parents(ops: RankOps, wrong: Ints, planned: Ints, places: Places) -> tuple[list[Change], Ints]:
    """Return the changes for the ops at `wrong`, in their order, and the parents after them.

    `planned` and `places` are those orphans.py gives: one place more than `ops`, restored spans counted. An
    op that an earlier change moves, or whose proven parent lies in its own tree, is left: it stays a finding.
    """
    untouched = wrong[(planned[wrong] == ops.parent[wrong]) & (ops.parent[wrong] != NONE)]
    proven = np.asarray([_proven(ops, places, place) for place in untouched.tolist()], dtype=np.int64)
    is_other = (proven != NONE) & (proven != planned[untouched]) if untouched.size else np.zeros(0, np.bool_)
    moved, parents = untouched[is_other], proven[is_other]
    parent = planned.copy()
    parent[moved] = parents
    _take_back_cycles(parent, planned, moved)
    kept = parent[moved] != planned[moved]
    changes = [
        _change(ops, place, old, new)
        for place, old, new in zip(
            moved[kept].tolist(), planned[moved[kept]].tolist(), parents[kept].tolist(), strict=True
        )
    ]
    return changes, parent


def _proven(ops: RankOps, places: Places, place: int) -> int:
    """Return the place of the parent that time, or else the ids, give an op; -1 for none."""
    call = places.call_of_worker(place)
    if call != NONE and call == ops.parent[place]:
        return call
    above = next(places.enclosers(place), NONE)
    if above == NONE:
        above = call
    if above == NONE:
        above = places.thread_root(int(ops.tid[place]), int(ops.node_id[place]))
    return above


def _take_back_cycles(parent: Ints, planned: Ints, moved: Ints) -> None:
    """Take back, in place, the moves that lie on a cycle. Every cycle has one: `planned` has none."""
    is_moved = np.zeros(len(parent), dtype=np.bool_)
    is_moved[moved] = True
    while cycles := nodes_on_cycles(parent):
        back = np.asarray([place for cycle in cycles for place in cycle if is_moved[place]], dtype=np.int64)
        parent[back] = planned[back]
        is_moved[back] = False


def _change(ops: RankOps, place: int, old: int, new: int) -> Change:
    """Return the change that moves an op from its named parent to the proven one."""
    title = ops.title(new)
    if ops.has_time[new] and ops.thread[new] == ops.thread[place]:
        why = f"{title} is the innermost recorded op that encloses it on its own thread"
    else:
        why = f"no recorded op encloses it on its own thread, and its ids lead to {title}"
    other_thread = ops.thread[old] != ops.thread[place]
    fault = "ran on another thread" if other_thread else "does not enclose it in time"
    evidence: dict[str, Any] = {"child": ops.span(place), "named": ops.span(old), "proven": ops.span(new)}
    return Change(
        RULE,
        ops.rank,
        int(ops.uid[place]),
        False,
        f"{ops.title(place)}: its parent {ops.title(old)} {fault}; {why}",
        evidence,
        {"parent": int(ops.uid[old])},
        {"parent": int(ops.uid[new])},
        (("parent_on_other_thread" if other_thread else "parent_not_enclosing", ops.rank, None),),
    )
