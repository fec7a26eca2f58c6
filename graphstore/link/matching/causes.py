"""Why the job stands still: what each end of the chains of waits means (matching.md §8).

In:  a job, its wait-for graph, and the faults found in the calls themselves. Out: all `Cause`s, in order.
Decided here: who is at fault, how sure that is, and what is only a consequence of a fault in the calls.
Ends of several ranks: cycles.py.
"""

from __future__ import annotations

from dataclasses import dataclass

from graphstore.link.matching import absence, messages
from graphstore.link.matching.components import Sink, find_sinks
from graphstore.link.matching.cycles import of_cycle
from graphstore.link.matching.faults import explained, find_faults
from graphstore.link.matching.job import JobState
from graphstore.link.matching.model import Cause
from graphstore.link.matching.quotes import Quote, call_brief, first_call, quote_of
from graphstore.link.matching.remains import in_call, in_flight, uncovered, unseen_members
from graphstore.link.matching.standing import IN_CALL, STUCK, UNKNOWN, standing
from graphstore.link.matching.waiting import NEVER, P2P, QUEUED, CallKey, WaitGraph
from graphstore.link.matching.witnesses import witnesses

# in this order they are told
RULES = (
    "desync",
    "type_mismatch",
    "dtype_mismatch",
    "size_mismatch",
    "never_called",
    "behind",
    "mutual_wait",
    "order_inversion",
    "no_dump",
    "undecided",
    "in_flight",
)


@dataclass
class _Sinks:
    """The ends of all chains, and the ranks that made calls without those proven absent."""

    job: JobState
    graph: WaitGraph
    sinks: list[Sink]
    witnesses: dict[int, set[int]]

    def idle_in(self, call: CallKey) -> list[int]:
        """Return the ranks at the end of a chain that never made a call."""
        single = {sink.ranks[0] for sink in self.sinks if len(sink.ranks) == 1}
        return [rank for rank, kind in self.graph.of_call[call].items() if kind == NEVER and rank in single]


def find_causes(job: JobState, graph: WaitGraph) -> list[Cause]:
    """Return the causes of a job, those that are proven first."""
    causes = find_faults(job)
    sinks = [sink for sink in find_sinks(graph) if not _is_consequence(job, sink)]
    single = {sink.ranks[0] for sink in sinks if len(sink.ranks) == 1}
    known = _Sinks(job, graph, sinks, witnesses(job, single))
    for sink in sinks:
        found = of_cycle(job, graph, sink) if len(sink.ranks) > 1 else _of_rank(known, sink)
        if found is not None and all(_key(found) != _key(other) for other in causes):
            causes.append(found)
    if not causes:
        causes = [*uncovered(job), *unseen_members(job, graph)]
    if not causes:
        causes = in_flight(job, graph)
    return sorted(
        causes, key=lambda cause: (RULES.index(cause.rule), cause.evidence.get("since", 0), cause.ranks)
    )


def _key(cause: Cause) -> tuple[str, list[int], str | None, int | None]:
    """Return what tells one cause from another: several ends of chains can be one undecided wait."""
    return cause.rule, cause.ranks, cause.group, cause.seq


def _is_consequence(job: JobState, sink: Sink) -> bool:
    """Return whether the waits that lead to a sink follow from a fault in the calls of their group."""
    return any(isinstance(source, tuple) and explained(job, *source) for source, _, _ in sink.waits)


def _of_rank(known: _Sinks, sink: Sink) -> Cause | None:
    """Return what it means that chains end at one rank; None when it is no more than a call in flight."""
    rank, kinds = sink.ranks[0], sink.kinds(sink.ranks[0])
    if rank not in known.job.facts.ranks:
        return _no_dump(known, sink)
    doing = standing(known.job, known.graph, rank)
    if doing == IN_CALL:
        return in_call(known.job, known.graph.waiting[rank], sink.held_up)
    if NEVER in kinds:
        return _never(known, sink, doing == UNKNOWN)
    count, first = behind(known.job, rank)
    if count and doing == STUCK:
        return _behind(known.job, sink, count, first)
    return None if kinds == {QUEUED} else _undecided(known, sink)


def behind(job: JobState, rank: int) -> tuple[int, CallKey]:
    """Return how many calls of a rank its peers finished and it did not, and the first of them."""
    found = [
        (matched.unfinished.first_behind[rank], group, matched.unfinished.behind[rank])
        for group, matched in job.matched.items()
        if rank in matched.unfinished.behind
    ]
    if not found:
        return 0, (-1, -1)
    (_, seq), group, _ = min(found)
    return sum(count for _, _, count in found), (group, seq)


def _never(known: _Sinks, sink: Sink, may_wait: bool) -> Cause:
    """Return the cause of a call that a rank never made; `may_wait`: for something that no dump shows."""
    rank = sink.ranks[0]
    quote = quote_of(known.job, known.graph, sink, NEVER)
    idle = known.idle_in(quote.call) if quote.edge is None else [rank]
    is_blamed = not may_wait and len(known.witnesses[rank]) > len(idle)
    ranks = [rank] if is_blamed or may_wait else idle
    line = _never_line(known.job, sink, quote, ranks)
    if may_wait:
        line += f"; whether rank {rank} waits itself, for what no dump shows, cannot be told"
    elif not is_blamed:
        line += "; whether it was due or one too many cannot be told"
    cause = _cause("never_called", ranks, line, quote, sink)
    cause.divergence = quote.divergence("not_reached", quote.of_class(absence.NOT_REACHED) or [rank])
    cause.evidence |= {"witnesses": sorted(known.witnesses[rank]), "proof": quote.proofs(ranks)}
    if is_blamed:
        cause.blamed, cause.confidence, cause.basis = [rank], "high", quote.basis(rank)
    elif not may_wait:
        cause.undecided = sorted({*idle, *known.witnesses[rank]})
    return cause


def _never_line(job: JobState, sink: Sink, quote: Quote, ranks: list[int]) -> str:
    if quote.edge is not None:
        return messages.never_sent(sink.ranks[0], quote.edge, len(sink.held_up))
    also = [rank for rank in quote.of_class(absence.NOT_REACHED) if rank not in set(ranks)]
    own, _ = behind(job, sink.ranks[0])
    return messages.never_called(ranks, quote.text, also, quote.waiters, quote.site, len(sink.held_up), own)


def _no_dump(known: _Sinks, sink: Sink) -> Cause:
    rank = sink.ranks[0]
    quote = quote_of(known.job, known.graph, sink, "no_dump")
    calls = [call_brief(known.job, call) for call in sink.calls(rank, "no_dump")]
    if not calls and quote.edge is not None:
        calls = [messages.transfer_text(quote.edge, quote.waiters[0])]
    cause = _cause("no_dump", [rank], messages.no_dump(rank, sorted(sink.held_up), calls), quote, sink)
    cause.divergence = quote.divergence("no_dump", quote.of_class(absence.NO_DUMP) or [rank])
    cause.group = cause.seq = None  # which of its calls it stopped in is not known
    cause.blamed, cause.confidence = [rank], "low"
    cause.basis = "no dump; every wait chain ends at it"
    return cause


def _behind(job: JobState, sink: Sink, count: int, first: CallKey) -> Cause:
    rank = sink.ranks[0]
    quote = first_call(job, rank, first)
    line = messages.behind(rank, count, quote.text, len(sink.held_up))
    cause = _cause("behind", [rank], line, quote, sink)
    cause.divergence = quote.divergence("behind", [rank])
    cause.blamed, cause.confidence = [rank], "medium"
    cause.basis = f"peers finished {count} calls this rank has not"
    cause.evidence["calls"] = count
    return cause


def _undecided(known: _Sinks, sink: Sink) -> Cause:
    rank = sink.ranks[0]
    kind = "undecided" if "undecided" in sink.kinds(rank) else P2P
    quote = quote_of(known.job, known.graph, sink, kind)
    ranks = [rank]
    if quote.edge is None:
        ends = {other.ranks[0] for other in known.sinks if len(other.ranks) == 1}
        ranks = [other for other, k in known.graph.of_call[quote.call].items() if k == kind and other in ends]
    cause = _cause("undecided", ranks, messages.undecided(quote.waiters, quote.text, ranks), quote, sink)
    cause.group = cause.seq = None
    cause.evidence["proof"] = quote.proofs(ranks)
    return cause


def _cause(rule: str, ranks: list[int], line: str, quote: Quote, sink: Sink) -> Cause:
    """Return a cause at the call that is quoted."""
    return Cause(
        rule,
        ranks,
        line,
        quote.group.name,
        quote.seq,
        quote.site,
        quote.op,
        evidence={"held_up": sorted(sink.held_up), "waiters": quote.waiters, "since": quote.since}
        | quote.windows(),
    )
