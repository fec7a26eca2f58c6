"""Who waits for whom: the first unfinished call of each rank, and what it waits for (matching.md §8).

In:  the matched collectives and edges of a job. Out: a `WaitGraph`.
Decided here: the kinds of wait (never, queued, p2p, no_dump, undecided). A rank waits in one call and the
call for ranks, so that 4,000 ranks in one call are 4,000 edges. A call that waits for nobody has none.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from graphstore.link.matching import absence
from graphstore.link.matching.collectives import Matched
from graphstore.link.matching.edges import ENDED, MISSING, NO_DUMP, OPEN, UNPROVEN, Edge, Side
from graphstore.link.matching.job import JobState
from graphstore.link.matching.reduce import UNDONE

NEVER, QUEUED, P2P, UNDECIDED, WITHOUT_DUMP = "never", "queued", "p2p", "undecided", "no_dump"

CallKey = tuple[int, int]  # group and collective_seq_id
Waits = dict[int, str]  # rank waited for → kind

_OF_ABSENCE = {
    absence.NOT_REACHED: NEVER,
    absence.NO_DUMP: WITHOUT_DUMP,
    absence.UNDECIDED: UNDECIDED,
    absence.WINDOW_ENDED: UNDECIDED,
}


@dataclass
class Waiting:
    """The first unfinished call of a rank: a collective (`seq`), or a send, recv or batch of them.

    `transfers` are the unfinished calls of that batch as (edge, side, row). `count` counts the rank's
    unfinished calls in all.
    """

    rank: int
    group: int
    place: int
    sig: int
    site: int
    start: int
    count: int = 0
    seq: int | None = None
    transfers: list[tuple[Edge, Side, int]] = field(default_factory=list)

    @property
    def ends(self) -> tuple[int, int]:
        """Return source and destination of the first of its transfers."""
        edge = self.transfers[0][0]
        return edge.src, edge.dst


@dataclass
class WaitGraph:
    """First unfinished calls, and what they wait for. `of_call` and `of_rank` hold no empty ones."""

    waiting: dict[int, Waiting]
    of_call: dict[CallKey, Waits] = field(default_factory=dict)
    of_rank: dict[int, Waits] = field(default_factory=dict)

    def waits_of(self, rank: int) -> Waits:
        """Return the ranks that a rank waits for; ranks in one call share one dict."""
        waiting = self.waiting.get(rank)
        if waiting is None:
            return {}
        if waiting.seq is None:
            return self.of_rank.get(rank, {})
        return self.of_call.get((waiting.group, waiting.seq), {})


def wait_graph(job: JobState) -> WaitGraph:
    """Return who waits for whom in a job."""
    graph = WaitGraph(_first_unfinished(job))
    for rank, waiting in graph.waiting.items():
        if waiting.seq is None:
            waits = _transfer_waits(waiting, graph.waiting)
            if waits:
                graph.of_rank[rank] = waits
        elif (key := (waiting.group, waiting.seq)) not in graph.of_call:
            graph.of_call[key] = _call_waits(job.matched[waiting.group], key, graph.waiting)
    graph.of_call = {key: waits for key, waits in graph.of_call.items() if waits}
    return graph


def _first_unfinished(job: JobState) -> dict[int, Waiting]:
    """Return the first unfinished call of each rank, in order of recording, and count all of them."""
    first: dict[int, Waiting] = {}
    count: dict[int, int] = {}
    for group, matched in job.matched.items():
        for rank, (place, seq) in matched.unfinished.first.items():
            count[rank] = count.get(rank, 0) + matched.unfinished.count[rank]
            if rank not in first or place < first[rank].place:
                first[rank] = _collective(matched, group, rank, place, seq)
    for group, edges in job.edges.items():
        for edge in edges:
            for side in edge.sides:
                rows = np.flatnonzero(side.state == UNDONE)
                if not rows.size:
                    continue
                count[side.rank] = count.get(side.rank, 0) + int(rows.size)
                known = first.get(side.rank)
                if known is None or side.place[rows[0]] < known.place:
                    first[side.rank] = _transfer(group, side, int(rows[0]))
    for rank, waiting in first.items():
        waiting.count = count[rank]
        if waiting.seq is None:
            waiting.transfers = _batch(job.edges[waiting.group], waiting)
    return dict(sorted(first.items()))


def _collective(matched: Matched, group: int, rank: int, place: int, seq: int) -> Waiting:
    member = matched.member_of[rank]
    row, block = member.row(seq), member.block
    assert row is not None
    assert block is not None
    return Waiting(
        rank, group, place, int(block.sig[row]), int(block.site[row]), int(block.start[row]), seq=seq
    )


def _transfer(group: int, side: Side, row: int) -> Waiting:
    place, sig, site, start = (int(c[row]) for c in (side.place, side.sig, side.site, side.start))
    return Waiting(side.rank, group, place, sig, site, start)


def _batch(edges: list[Edge], waiting: Waiting) -> list[tuple[Edge, Side, int]]:
    """Return the unfinished transfers that run together with the first one, that one first."""
    own = [(edge, side) for edge in edges for side in edge.sides if side.rank == waiting.rank]
    first = [
        (edge, side, int(row)) for edge, side in own for row in np.flatnonzero(side.place == waiting.place)
    ]
    batch = int(first[0][1].batch[first[0][2]])
    if batch < 0:
        return first
    others = [
        (edge, side, int(row))
        for edge, side in own
        for row in np.flatnonzero((side.batch == batch) & (side.state == UNDONE))
        if side.place[row] != waiting.place
    ]
    return first + others


def _call_waits(matched: Matched, key: CallKey, waiting: dict[int, Waiting]) -> Waits:
    """Return whom a collective waits for: members that never made it, or that are held up before it."""
    cell = matched.cell(key[1])
    if matched.is_entered[cell] or not matched.calls.is_comparable:
        return {}
    pattern = matched.pattern_at(cell)
    waits = {
        rank: _OF_ABSENCE[name]
        for name, ranks in pattern.classes.items()
        if name in _OF_ABSENCE
        for rank in ranks
    }
    for rank in pattern.undone:
        other = waiting.get(rank)
        if other is not None and (other.group, other.seq) != key:
            waits[rank] = QUEUED
    return dict(sorted(waits.items()))


def _transfer_waits(waiting: Waiting, everybody: dict[int, Waiting]) -> Waits:
    """Return whom a send, recv or batch waits for."""
    waits: Waits = {}
    for edge, side, row in waiting.transfers:
        peer = edge.dst if side is edge.sends else edge.src
        kind = _transfer_wait(int(side.partner[row]), edge, everybody.get(peer))
        if kind is not None:
            waits[peer] = kind
    waits.pop(waiting.rank, None)
    return dict(sorted(waits.items()))


def _transfer_wait(partner: int, edge: Edge, other: Waiting | None) -> str | None:
    """Return the kind of one wait; None where both stand at the two ends of the edge, or the other ended."""
    stands_there = other is not None and any(edge is theirs for theirs, _, _ in other.transfers)
    if partner == ENDED or (stands_there and partner in (OPEN, UNPROVEN)):
        return None
    return {MISSING: NEVER, NO_DUMP: WITHOUT_DUMP, OPEN: QUEUED, UNPROVEN: P2P}[partner]
