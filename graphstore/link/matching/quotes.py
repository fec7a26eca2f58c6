"""The call that a cause is shown at: of several, the one that has been waited in longest.

In:  a job, its waits and an end of them. Out: a `Quote`: the call, who waits in it, where, since when.
Decided here: collectives are quoted before sends and recvs; host clocks only choose which of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from graphstore.link.matching import absence, messages
from graphstore.link.matching.collectives import Matched
from graphstore.link.matching.components import Sink
from graphstore.link.matching.edges import Edge
from graphstore.link.matching.job import JobState
from graphstore.link.matching.model import Group
from graphstore.link.matching.waiting import CallKey, WaitGraph, Waiting


@dataclass
class Quote:
    """A collective (`seq`) or a transfer (`edge`) that ranks wait in."""

    job: JobState
    number: int  # of the group
    waiters: list[int]
    op: str
    word: str
    site: str | None
    since: int
    seq: int | None = None
    edge: Edge | None = None
    _matched: Matched | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        """Look up the matched group of a collective."""
        self._matched = self.job.matched.get(self.number) if self.seq is not None else None

    @property
    def group(self) -> Group:
        """Return the group of the call."""
        return self.job.groups.items[self.number]

    @property
    def call(self) -> CallKey:
        """Return the key of a collective."""
        return self.number, -1 if self.seq is None else self.seq

    @property
    def text(self) -> str:
        """Return the call as a message names it."""
        if self.edge is not None:
            return messages.transfer_text(self.edge, self.waiters[0])
        return messages.call_text(self.word, self.call[1], self.group)

    def of_class(self, name: str) -> list[int]:
        """Return the members that are in a class in this call."""
        if self._matched is None or self.seq is None:
            return []
        return self._matched.pattern_at(self._matched.cell(self.seq)).classes.get(name, [])

    def proofs(self, ranks: list[int]) -> dict[str, str]:
        """Return {rank: why its call is known to be absent}."""
        if self._matched is None or self.seq is None:
            return {}
        members = {rank: self._matched.member_of[rank] for rank in ranks}
        return {str(r): m.absent_range(self.seq).proof for r, m in members.items() if m.row(self.seq) is None}

    def basis(self, rank: int) -> str:
        """Return what proves that a rank did not make the call."""
        counters = self.job.counters.get(self.number, {}).get(rank)
        has_counter = counters is not None and (counters.at_most is not None or self.edge is not None)
        return "proven by pg_status and the dump" if has_counter else "proven by the dump"

    def windows(self) -> dict[str, Any]:
        """Return the numbers each member kept in the group, as evidence."""
        if self._matched is None:
            return {}
        kept = [(member.rank, member.kept) for member in self._matched.members if member.kept.size]
        return {"windows": {str(rank): [int(seq[0]), int(seq[-1])] for rank, seq in kept}}

    def divergence(self, kind: str, ranks: list[int]) -> dict[str, Any]:
        """Return the call as the place where the ranks first differ."""
        return {
            "group": self.group.name,
            "members": list(self.group.members),
            "seq": self.seq,
            "ranks": ranks,
            "kind": kind,
            "op": self.op,
            "site": self.site,
        }


def quote_of(job: JobState, graph: WaitGraph, sink: Sink, kind: str) -> Quote:
    """Return the earliest call in which a sink's only rank is waited for in a way."""
    rank = sink.ranks[0]
    found = [_collective(job, graph, call) for call in sink.calls(rank, kind)]
    if not found:
        found = [
            _transfer(job, graph.waiting[source], rank)
            for source, target, of in sink.waits
            if target == rank and of == kind and isinstance(source, int)
        ]
    return min(found, key=lambda quote: (quote.since, quote.number, quote.seq or 0, quote.waiters))


def first_call(job: JobState, rank: int, call: CallKey) -> Quote:
    """Return a collective that a rank made, as the call to be quoted."""
    member = job.matched[call[0]].member_of[rank]
    row, block = member.row(call[1]), member.block
    assert row is not None
    assert block is not None
    item = job.signatures.items[block.sig[row]]
    site = job.signatures.site(int(block.site[row]))
    return Quote(job, call[0], [rank], item.op_name, item.word, site, int(block.start[row]), seq=call[1])


def call_brief(job: JobState, call: CallKey) -> str:
    """Return a collective as a message names it: `all_reduce #6 on default_pg[0-3]`."""
    matched = job.matched[call[0]]
    item = job.signatures.items[matched.sig[matched.cell(call[1])]]
    return messages.call_text(item.word, call[1], matched.group)


def _collective(job: JobState, graph: WaitGraph, call: CallKey) -> Quote:
    """Return a call that is waited in, with the ranks whose first unfinished call it is."""
    matched = job.matched[call[0]]
    present = matched.pattern_at(matched.cell(call[1])).classes.get(absence.PRESENT, [])
    waiters = [w for rank in present if (w := graph.waiting.get(rank)) and (w.group, w.seq) == call]
    earliest = min(waiters, key=lambda waiting: (waiting.start, waiting.rank))
    first = min(waiters, key=lambda waiting: waiting.rank)
    item = job.signatures.items[first.sig]
    ranks = [waiting.rank for waiting in waiters]
    site = job.signatures.site(first.site)
    return Quote(job, call[0], ranks, item.op_name, item.word, site, earliest.start, seq=call[1])


def _transfer(job: JobState, waiting: Waiting, peer: int) -> Quote:
    """Return a send or recv that a rank waits in, on the edge to its peer."""
    edge = next(edge for edge, _, _ in waiting.transfers if peer in (edge.src, edge.dst))
    item = job.signatures.items[waiting.sig]
    site = job.signatures.site(waiting.site)
    return Quote(job, waiting.group, [waiting.rank], item.op_name, item.word, site, waiting.start, edge=edge)
