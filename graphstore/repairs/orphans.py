"""Give every orphan a parent: one ordered rule, from what time proves down to what is merely likely.

In:  `RankOps` and the places of the orphans: recorded ops into which no CTRL edge leads (their parent is
     absent, or unknown in the file). Ops whose recorded callers form a cycle are looked for here: the first
     of each cycle is cut off (`drop_back_edge`, unsafe) and given a parent by the same rule.
Out: an `Adoption`: the changes, and the parents as they are after them. Nothing is written here.
The rule, first that fits: (a) `restore_from_kineto` the absent parent is a span that only Kineto knows: it
gets the absent id; (b) `enclosing_op` the innermost recorded op that encloses the orphan in time on its
thread; (c) `worker_of_call` a gloo worker goes to its c10d call by rf_id; (d) `thread_root` of its tid;
(e) `recreate_root` the process root is absent and made again. (a) to (c) are safe, (d) and (e) unsafe.
An order of execution is never a parent here: that is made at export. No op hangs below itself afterwards:
a candidate in the orphan's own tree is passed over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphstore.model.ids import UID_SHIFT, uid_of
from graphstore.model.markers import PROCESS_ROOTS
from graphstore.repairs.change import Change, Fault
from graphstore.repairs.columns import GLOO, RankOps
from graphstore.repairs.places import Places
from graphstore.repairs.tree import NONE, Forest, Ints, nodes_on_cycles

# "Nearly all" children of an absent id share one span. Measured: 26 of 26, 52 of 52, 45 of 45, 11 of 11.
NEARLY_ALL = 0.9
MIN_CHILDREN = 2
SAFE_RULES = frozenset({"restore_from_kineto", "enclosing_op", "worker_of_call"})
FIRST_ID = 1  # an execution trace's process root


@dataclass(frozen=True)
class Restored:
    """A span known to Kineto only that is proven to be an absent parent, and how many children agree."""

    absent_id: int
    span: int  # place
    children: int  # ops that name the absent id
    counted: int  # of these, with times (gloo workers that nothing encloses do not count)
    agreeing: int  # of these, with the span as innermost encloser


@dataclass
class Adoption:
    """The orphans of one rank while they are given parents."""

    ops: RankOps
    orphans: Ints
    cut: frozenset[int]  # places cut off from their recorded caller, which hangs below them
    restored: dict[int, Restored]  # by absent id
    places: Places
    forest: Forest
    parent: Ints  # as planned so far; one place more than ops, for a process root to be created
    changes: list[Change]


def plan_orphans(ops: RankOps, orphans: Ints) -> Adoption:
    """Return the changes that give each orphan a parent, the parents after them, and where ops may hang.

    The parents have one place more than `ops`: that of a process root which a change creates. An orphan that
    is itself the process root, or has no candidate outside its own tree, keeps its place.
    """
    restored = {found.absent_id: found for found in restorable_spans(ops, orphans)}
    spans = np.asarray([found.span for found in restored.values()], dtype=np.int64)
    recorded = ops.recorded.copy()
    recorded[spans] = True
    cut = _first_of_cycles(ops)
    parent = np.append(ops.parent, NONE)
    parent[[*spans.tolist(), *cut]] = NONE  # placed anew below
    places = Places(ops, recorded)
    adoption = Adoption(ops, orphans, frozenset(cut), restored, places, Forest(parent), parent, [])
    for found in restored.values():
        _place_span(adoption, found)
    for orphan in [*orphans.tolist(), *cut]:
        if orphan not in adoption.places.process_roots:
            _adopt(adoption, orphan)
    if (adoption.parent == len(ops)).any():
        adoption.changes.insert(0, _created_root(adoption))
    return adoption


def _first_of_cycles(ops: RankOps) -> list[int]:
    """Return of each cycle of callers the op entered first: by start where there are times, by id else."""
    return [
        min(cycle, key=lambda place: (not ops.has_time[place], ops.start_ns[place], ops.node_id[place]))
        for cycle in nodes_on_cycles(ops.parent)
    ]


def restorable_spans(ops: RankOps, orphans: Ints) -> list[Restored]:
    """Return the Kineto-only spans that are proven to be absent parents, by absent id.

    Proof: at least two children of the id, and nine tenths of those with times, have this very span as
    innermost encloser on their thread. One span is one op: the id with most children there gets it.
    """
    named = orphans[ops.parent_id[orphans] >= 0]
    named = named[~np.isin(ops.parent_id[named], ops.node_id[ops.recorded])]
    by_parent = named[np.argsort(ops.parent_id[named], kind="stable")]
    starts = np.flatnonzero(np.diff(ops.parent_id[by_parent])) + 1
    candidates: list[Restored] = []
    for children in np.split(by_parent, starts) if by_parent.size else []:
        found = _shared_span(ops, int(ops.parent_id[children[0]]), children)
        if found:
            candidates.append(found)
    best: dict[int, Restored] = {}
    for found in sorted(candidates, key=lambda found: (-found.agreeing, found.absent_id)):
        best.setdefault(found.span, found)
    return sorted(best.values(), key=lambda found: found.absent_id)


def _shared_span(ops: RankOps, absent_id: int, children: Ints) -> Restored | None:
    """Return the Kineto-only span that nearly all children of one absent id share; None without proof."""
    encloser = ops.encloser[children]
    is_loose_worker = np.fromiter(
        (
            ops.name[child].startswith(GLOO) and above == NONE
            for child, above in zip(children, encloser, strict=True)
        ),
        bool,
        len(children),
    )
    counted = encloser[ops.has_time[children] & ~is_loose_worker]
    spans = counted[counted != NONE]
    spans = spans[~ops.recorded[spans]]
    if not spans.size:
        return None
    span, agreeing = Counter(spans.tolist()).most_common(1)[0]
    if agreeing < MIN_CHILDREN or agreeing < NEARLY_ALL * len(counted):
        return None
    return Restored(absent_id, span, len(children), len(counted), agreeing)


def _place_span(adoption: Adoption, found: Restored) -> None:
    """Give a restored span the absent id, and a place below its recorded encloser or its thread root."""
    ops, places = adoption.ops, adoption.places
    agreeing = adoption.orphans[ops.encloser[adoption.orphans] == found.span]
    tid = Counter(ops.tid[agreeing].tolist()).most_common(1)[0][0]
    candidates = [
        *places.enclosers(found.span),
        places.thread_root(tid, found.absent_id),
        places.process_root,
    ]
    for candidate in candidates:
        if candidate != NONE and adoption.forest.join(found.span, candidate):
            adoption.parent[found.span] = candidate
            break
    adoption.changes.append(_restored(adoption, found))
    if adoption.parent[found.span] == len(ops):  # unsafe, so the span waits for it below its old caller
        adoption.changes.append(_span_under_new_root(ops, found.span))


def _restored(adoption: Adoption, found: Restored) -> Change:
    """Return the change that gives a span its id, and moves it unless its caller is to be created."""
    ops = adoption.ops
    old, new = int(ops.parent[found.span]), int(adoption.parent[found.span])
    before: dict[str, Any] = {"node_id": None}
    after: dict[str, Any] = {"node_id": found.absent_id}
    if new not in (old, len(ops)):
        before["parent"], after["parent"] = _uid(ops, old), _uid(ops, new)
    return Change(
        "restore_from_kineto",
        ops.rank,
        int(ops.uid[found.span]),
        True,
        f"{ops.name[found.span]} is the innermost span round {found.agreeing} of {found.counted} timed "
        f"children of absent node {found.absent_id}: it is that op, known to Kineto only",
        _restored_evidence(ops, found),
        before,
        after,
    )


def _span_under_new_root(ops: RankOps, span: int) -> Change:
    """Return the change that hangs a restored span below a process root that is created."""
    return Change(
        "recreate_root",
        ops.rank,
        int(ops.uid[span]),
        False,
        f"{ops.name[span]} has neither a recorded encloser nor a thread node; the process root is absent",
        {"child": ops.span(span)},
        {"parent": _uid(ops, int(ops.parent[span]))},
        {"parent": created_uid(ops)},
    )


def _adopt(adoption: Adoption, orphan: int) -> None:
    """Hang one orphan below the first candidate that is not in its own tree."""
    for rule, candidate in _candidates(adoption, orphan):
        if adoption.forest.join(orphan, candidate):
            adoption.parent[orphan] = candidate
            adoption.changes.append(_adopted(adoption, orphan, rule, candidate))
            return


def _candidates(adoption: Adoption, orphan: int) -> Iterator[tuple[str, int]]:
    """Give (rule, parent) for one orphan, best first."""
    ops, places = adoption.ops, adoption.places
    restored = adoption.restored.get(int(ops.parent_id[orphan]))
    for above in places.enclosers(orphan):
        yield ("restore_from_kineto" if restored and restored.span == above else "enclosing_op"), above
    call = places.call_of_worker(orphan)
    if call != NONE:
        yield "worker_of_call", call
    if (
        restored and not ops.has_time[orphan]
    ):  # its record names the restored id, and no time speaks against it
        yield "restore_from_kineto", restored.span
    if orphan not in places.thread_roots:
        root = places.thread_root(int(ops.tid[orphan]), int(ops.node_id[orphan]))
        if root != NONE:
            yield "thread_root", root
    yield ("thread_root" if places.has_process_root else "recreate_root"), places.process_root


def _adopted(adoption: Adoption, orphan: int, rule: str, parent: int) -> Change:
    """Return the change that hangs `orphan` below `parent`, with its reason and evidence."""
    ops = adoption.ops
    absent_id = (
        int(ops.parent_id[orphan]) if orphan not in adoption.cut and ops.parent_id[orphan] >= 0 else None
    )
    evidence: dict[str, Any] = {"absent_id": absent_id, "child": ops.span(orphan)}
    if rule == "restore_from_kineto":
        evidence |= _restored_evidence(ops, adoption.restored[int(ops.parent_id[orphan])])
    elif parent < len(ops):
        evidence |= {"parent": ops.span(parent), "tid": int(ops.tid[orphan])}
    is_cut = orphan in adoption.cut
    return Change(
        "drop_back_edge" if is_cut else rule,
        ops.rank,
        int(ops.uid[orphan]),
        rule in SAFE_RULES and not is_cut,
        f"{ops.title(orphan)}: {_fault(adoption, orphan, absent_id)}; {_why(adoption, orphan, rule, parent)}",
        evidence,
        {"parent": _uid(ops, int(ops.parent[orphan]))},
        {"parent": _uid(ops, parent)},
        (_answered(adoption, orphan, absent_id),),
    )


def _fault(adoption: Adoption, orphan: int, absent_id: int | None) -> str:
    """Return the half-sentence that says what is wrong with an orphan's recorded parent."""
    if orphan in adoption.cut:
        return f"its recorded parent {adoption.ops.title(int(adoption.ops.parent[orphan]))} hangs below it"
    return "its parent is unknown" if absent_id is None else f"its parent, node {absent_id}, is absent"


def _answered(adoption: Adoption, orphan: int, absent_id: int | None) -> Fault:
    """Return the fault of which an orphan is a case."""
    if orphan in adoption.cut:
        return "cycle", adoption.ops.rank, None
    rule = "unreachable_component" if absent_id is None else "missing_parent"
    return rule, adoption.ops.rank, absent_id


def _why(adoption: Adoption, orphan: int, rule: str, parent: int) -> str:
    """Return the half-sentence that says why `parent` is the one."""
    ops = adoption.ops
    if rule == "recreate_root":
        return "the process root is absent too and is created again"
    if rule == "restore_from_kineto":
        name = f"{ops.name[parent]}, restored under that id"
        return f"{name}, encloses it on its thread" if ops.has_time[orphan] else f"{name}, is it"
    title = ops.title(parent)
    if rule == "enclosing_op":
        return f"{title} is the innermost recorded op that encloses it in time on its thread"
    if rule == "worker_of_call":
        return f"{title} is the call of its kind with the largest rf_id below its own"
    tid = int(ops.tid[orphan])
    if parent == adoption.places.process_root:
        return f"there is no thread node of its own above it (tid {tid}), so it hangs below {title}"
    known = "no recorded op encloses it in time" if ops.has_time[orphan] else "it has no times"
    return f"{known}, so it hangs below {title} of its tid {tid}"


def _restored_evidence(ops: RankOps, found: Restored) -> dict[str, Any]:
    """Return what proves a restored span."""
    return {
        "absent_id": found.absent_id,
        "span": ops.span(found.span),
        "children": found.children,
        "children_counted": found.counted,
        "children_agreeing": found.agreeing,
        "share": round(found.agreeing / found.counted, 4),
    }


def created_uid(ops: RankOps) -> int:
    """Return the uid of the process root a repair creates: counted down from the end of the run's range.

    The same rank always gets the same uid, so that undo and repair again give the same graph.
    """
    return uid_of(int(ops.uid[0]) >> UID_SHIFT, (1 << UID_SHIFT) - 1 - ops.rank)


def _created_root(adoption: Adoption) -> Change:
    """Return the change that creates the absent process root under the id the thread roots name."""
    ops = adoption.ops
    node_id = _root_id(adoption)
    return Change(
        "recreate_root",
        ops.rank,
        created_uid(ops),
        False,
        f"the process root is absent (a process that is killed does not write it); node {node_id} is created",
        {"absent_id": node_id, "children": int((adoption.parent == len(ops)).sum())},
        {"created": None},
        {"created": {"name": PROCESS_ROOTS[0], "node_id": node_id, "rank": ops.rank}},
    )


def _root_id(adoption: Adoption) -> int:
    """Return the id the absent process root has: what its thread roots name, else 1, else a fresh one."""
    ops = adoption.ops
    roots = [place for place in adoption.orphans.tolist() if place in adoption.places.thread_roots]
    named = Counter(int(ops.parent_id[place]) for place in roots if ops.parent_id[place] >= 0)
    taken = {*adoption.restored, *ops.node_id.tolist()}
    for node_id, _ in [*named.most_common(), (FIRST_ID, 0)]:
        if node_id not in taken:
            return node_id
    return int(max(taken)) + 1


def _uid(ops: RankOps, place: int) -> int | None:
    """Return the uid at a place: None for none, that of the created root beyond the end."""
    if place == NONE:
        return None
    return created_uid(ops) if place == len(ops) else int(ops.uid[place])
