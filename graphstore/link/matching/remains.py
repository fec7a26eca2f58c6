"""What is left to say where no chain of waits ends at a cause.

In:  a job without causes so far. Out: `Cause`s for absent calls nobody waits in, and for calls in flight.
Decided here: a call that the files prove absent is told even if no state says that anybody waits (traces);
unfinished calls with all members in are neither sound nor anybody's fault.
"""

from __future__ import annotations

import numpy as np

from graphstore.link.matching import absence, messages
from graphstore.link.matching.edges import MISSING
from graphstore.link.matching.job import JobState
from graphstore.link.matching.model import Cause
from graphstore.link.matching.quotes import call_brief, first_call
from graphstore.link.matching.reduce import UNDONE
from graphstore.link.matching.waiting import WaitGraph, Waiting


def uncovered(job: JobState) -> list[Cause]:
    """Return a cause for the first incomplete call of each group, and for transfers without a partner."""
    causes = []
    for number, matched in job.matched.items():
        cells = np.flatnonzero(matched.verdict == "INCOMPLETE")
        if not cells.size or matched.pattern_at(int(cells[0])).undone:
            continue  # none, or somebody waits in it, behind another call
        seq, classes = int(matched.seqs[cells[0]]), matched.pattern_at(int(cells[0])).classes
        missing, made = classes[absence.NOT_REACHED], classes[absence.PRESENT]
        quote = first_call(job, made[0], (number, seq))
        line = messages.never_called(missing, quote.text, [], [], None, 0, 0)
        line += f"; {messages.ranks_text(made)} made it{messages.at_site(quote.site)}"
        cause = Cause("never_called", missing, line, matched.group.name, seq, quote.site, quote.op)
        cause.divergence = quote.divergence("not_reached", missing)
        cause.evidence = {"made": made, "proof": quote.proofs(missing)} | quote.windows()
        if len(made) > len(missing):
            cause.blamed, cause.confidence, cause.basis = missing, "medium", quote.basis(missing[0])
        else:
            cause.undecided = sorted([*missing, *made])
        causes.append(cause)
    for edges in job.edges.values():
        for edge in edges:
            for side, peer in ((edge.sends, edge.dst), (edge.recvs, edge.src)):
                if ((side.partner == MISSING) & (side.state != UNDONE)).any():
                    line = messages.never_sent(peer, edge, 0)
                    ranks = sorted({edge.src, edge.dst})
                    causes.append(Cause("never_called", [peer], line, edge.group.name, undecided=ranks))
    return causes


def unseen_members(job: JobState, graph: WaitGraph) -> list[Cause]:
    """Return a cause for each group with members that no file names, in whose calls ranks wait."""
    causes = []
    for number, matched in job.matched.items():
        group = matched.group
        waiting = [w for w in graph.waiting.values() if w.group == number and w.seq is not None]
        if not group.unseen or not waiting:
            continue
        first = min(waiting, key=lambda one: (one.start, one.rank))
        ranks = [one.rank for one in waiting]
        line = messages.unseen(ranks, call_brief(job, (number, first.seq or 0)), group)
        causes.append(Cause("undecided", ranks, line, evidence={"size": group.size}))
    return causes


def in_call(job: JobState, waiting: Waiting, held_up: set[int]) -> Cause:
    """Return the cause of ranks held up by one that is in a call which all members have made."""
    if waiting.seq is None:
        edge = waiting.transfers[0][0]
        ranks, call = sorted({edge.src, edge.dst}), messages.transfer_text(edge, waiting.rank)
    else:
        matched = job.matched[waiting.group]
        ranks = matched.pattern_at(matched.cell(waiting.seq)).undone
        call = call_brief(job, (waiting.group, waiting.seq))
    evidence = {"held_up": sorted(held_up), "since": waiting.start}
    return Cause("in_flight", ranks, messages.in_flight(ranks, call), evidence=evidence)


def in_flight(job: JobState, graph: WaitGraph) -> list[Cause]:
    """Return one cause for all unfinished calls whose members are all in them; none if there are none."""
    calls = [
        (number, int(seq))
        for number, matched in job.matched.items()
        for seq in matched.seqs[matched.in_flight]
    ]
    edges = [edge for edges in job.edges.values() for edge in edges if edge.in_flight]
    if not calls and not edges:
        return []
    ranks = sorted(graph.waiting)
    first = call_brief(job, calls[0]) if calls else messages.transfer_text(edges[0], edges[0].src)
    line = messages.in_flight(ranks, first)
    return [Cause("in_flight", ranks, line, evidence={"calls": len(calls), "edges": len(edges)})]
