"""How many calls were dropped before each queue of sends and recvs: the anchors of matching.md §7.

In:  the edges of a group, its calls and what is known of the dumps.
Out: the edges, settled where they can be.
Decided here: which anchors prove (recorded from the start; two-member counters) and which only confirm
(the counter equation, which no edge that nobody kept may spoil; equal totals of finished queues).
"""

from __future__ import annotations

import numpy as np

from graphstore.link.matching.calls import GroupCalls
from graphstore.link.matching.edges import (
    COMPLETE,
    COUNTERS,
    IN_ORDER,
    MISSING,
    NO_DUMP,
    TAIL,
    TWO_MEMBERS,
    Edge,
    settle,
)
from graphstore.link.matching.knowledge import DumpFacts
from graphstore.link.matching.reduce import ABSENT, DONE
from graphstore.link.matching.signatures import Ints
from graphstore.link.matching.status import Counters

Dropped = dict[tuple[int, bool], int]  # (place of the edge, send side?) → calls dropped there


def solve(edges: list[Edge], calls: GroupCalls, facts: DumpFacts, counters: dict[int, Counters]) -> None:
    """Settle the edges of a group, in place. `counters` holds what pg_status says of each member."""
    total = {
        rank: dropped_transfers(calls, rank, facts) for rank in {r for e in edges for r in (e.src, e.dst)}
    }
    known, by = _spread(edges, total, facts)
    for at, edge in enumerate(edges):
        if edge.src not in facts.ranks or edge.dst not in facts.ranks:
            edge.verdict, edge.ambiguous = "NO_DUMP", 0
            for side, peer in ((edge.sends, edge.dst), (edge.recvs, edge.src)):
                if peer not in facts.ranks:
                    side.partner[:] = NO_DUMP
            continue
        edge.dropped = (known.get((at, True)), known.get((at, False)))
        if total[edge.src] == total[edge.dst] == 0:
            settle(edge, 0, COMPLETE)
        elif edge.dropped[0] is not None and edge.dropped[1] is not None:
            settle(edge, edge.dropped[1] - edge.dropped[0], by.get(at, COUNTERS))
        elif _ends_alike(edge, facts):
            settle(edge, edge.sends.size - edge.recvs.size, TAIL)
        elif {edge.src, edge.dst} <= facts.traces and edge.sends.size == edge.recvs.size:
            settle(edge, 0, IN_ORDER)
        if edge.is_open:
            edge.limits = _limits(edge, total)
            _by_two_members(edge, edges, calls, counters)


def dropped_transfers(calls: GroupCalls, rank: int, facts: DumpFacts) -> int | None:
    """Return how many sends and recvs a rank made in the group before its first kept call; None if unknown.

    op_id counts every operation, collective_seq_id the collectives among them. Not in filtered dumps, which
    lack later calls too, nor where recorders don't count operations.
    """
    if rank in facts.whole:
        return 0
    first = calls.first_call(rank)
    if first is None or rank not in facts.ranks or rank in facts.filtered or rank in facts.traces:
        return None
    is_p2p, seq, op_id = first
    if op_id == ABSENT:
        return None
    dropped = op_id - 1 - (seq if is_p2p else seq - 1)
    block = calls.blocks.get(rank)
    if dropped and block is not None and block.has_blocks:
        return None  # op_id counts each call of a coalesced block, the sequence number the block once
    return max(dropped, 0)


def _spread(
    edges: list[Edge], total: dict[int, int | None], facts: DumpFacts
) -> tuple[Dropped, dict[int, str]]:
    """Return the dropped calls of each queue that the equations give, and which edges rest on a tail.

    The queues of a rank add up to its total; two queues whose kept calls have all ended are equally long.
    """
    queues: dict[int, list[tuple[int, bool]]] = {}
    for at, edge in enumerate(edges):
        queues.setdefault(edge.src, []).append((at, True))
        queues.setdefault(edge.dst, []).append((at, False))
    known: Dropped = {}
    by: dict[int, str] = {}
    while True:
        before = len(known)
        for rank, own in queues.items():
            _sum_up(known, own, total[rank])
        for at, edge in enumerate(edges):
            if _ends_alike(edge, facts):
                _equal_ends(known, by, at, edge)
        if len(known) == before:
            return known, by


def _sum_up(known: Dropped, own: list[tuple[int, bool]], total: int | None) -> None:
    """Take the one unknown queue of a rank from its total; all are 0 where the total is."""
    if total is None:
        return
    unknown = [queue for queue in own if queue not in known]
    if total == 0:
        known.update(dict.fromkeys(unknown, 0))
    elif len(unknown) == 1:
        left = total - sum(known[queue] for queue in own if queue in known)
        if left >= 0:
            known[unknown[0]] = left


def _equal_ends(known: Dropped, by: dict[int, str], at: int, edge: Edge) -> None:
    """Take the dropped calls of one side from the other: both sides made equally many calls in all."""
    sent, received = known.get((at, True)), known.get((at, False))
    surplus = edge.sends.size - edge.recvs.size
    if sent is not None and received is None and sent + surplus >= 0:
        known[at, False] = sent + surplus
        by[at] = f"{COUNTERS}, {TAIL}"
    elif received is not None and sent is None and received - surplus >= 0:
        known[at, True] = received - surplus
        by[at] = f"{COUNTERS}, {TAIL}"


def _ends_alike(edge: Edge, facts: DumpFacts) -> bool:
    """Return whether both queues can be taken to end with the same transfer: an assumption.

    A small send may end before its recv exists, so that this holds only as long as nothing contradicts it.
    """
    unfit = facts.filtered | facts.traces
    return edge.sends.is_done and edge.recvs.is_done and edge.src not in unfit and edge.dst not in unfit


def _limits(edge: Edge, total: dict[int, int | None]) -> tuple[int | None, int | None]:
    """Return the smallest and largest offset possible: no queue lacks more calls than its rank in all."""
    before_sends, before_recvs = total[edge.src], total[edge.dst]
    return (None if before_sends is None else -before_sends, before_recvs)


def _by_two_members(edge: Edge, edges: list[Edge], calls: GroupCalls, counters: dict[int, Counters]) -> None:
    """Find calls without a partner in a group of two, where both ranks' p2p_seq_ids count the same calls.

    Unfinished calls beyond the peer's last enqueued one have none. Not with batches, which count once; nor
    where a rank has unfinished calls in both directions, for then it is open which of them lack theirs.
    """
    if len(calls.group.members) != 2 or not calls.group.complete:
        return
    if any((side.batch >= 0).any() for other in edges for side in other.sides):
        return
    found = False
    for side, peer in ((edge.sends, edge.dst), (edge.recvs, edge.src)):
        reached = counters[peer].p2p_enqueued if peer in counters else None
        if reached is None or _open_calls(edges, side.rank).size != (side.state != DONE).sum():
            continue
        side.partner[(side.state != DONE) & (side.p2p_seq > reached)] = MISSING
        found |= bool((side.partner == MISSING).any())
    if found:
        edge.verdict, edge.how = "INCOMPLETE", TWO_MEMBERS
        edge.send_only = int((edge.sends.partner == MISSING).sum())
        edge.recv_only = int((edge.recvs.partner == MISSING).sum())
        edge.ambiguous -= edge.send_only + edge.recv_only


def _open_calls(edges: list[Edge], rank: int) -> Ints:
    """Return the places of all unfinished sends and recvs of a rank."""
    sides = [side for edge in edges for side in edge.sides if side.rank == rank]
    return np.concatenate([side.place[side.state != DONE] for side in sides])
