"""Ranks that wait for each other: calls made in different orders (matching.md §8).

In:  a sink of several ranks. Out: a `Cause`.
Decided here: all of them queued is an order inversion, a deadlock hazard of which nobody is blamed. Where a
call was never made, the order that the other ranks keep tells who went against it, if they keep one.
"""

from __future__ import annotations

from graphstore.link.matching import messages
from graphstore.link.matching.components import Sink
from graphstore.link.matching.job import JobState
from graphstore.link.matching.model import Cause
from graphstore.link.matching.quotes import call_brief
from graphstore.link.matching.roles import order_of_others
from graphstore.link.matching.waiting import NEVER, QUEUED, CallKey, WaitGraph


def of_cycle(job: JobState, graph: WaitGraph, sink: Sink) -> Cause:
    """Return what it means that ranks wait for each other."""
    inside = set(sink.ranks)
    kinds = {kind for source, _, kind in sink.waits if _is_inside(graph, source, inside)}
    if kinds == {QUEUED}:
        cause = _cause(job, graph, sink, "order_inversion")
        cause.undecided = sink.ranks
    elif kinds <= {QUEUED, NEVER}:
        cause = _cause(job, graph, sink, "mutual_wait")
        _blame_against_order(job, graph, sink, cause)
    else:
        cause = _cause(job, graph, sink, "undecided")
    return cause


def _is_inside(graph: WaitGraph, source: CallKey | int, inside: set[int]) -> bool:
    """Return whether a wait starts at one of the ranks, or in a call that one of them waits in."""
    if isinstance(source, int):
        return source in inside
    return source in {call for rank in inside if (call := _call(graph, rank)) is not None}


def _call(graph: WaitGraph, rank: int) -> CallKey | None:
    waiting = graph.waiting[rank]
    return None if waiting.seq is None else (waiting.group, waiting.seq)


def _cause(job: JobState, graph: WaitGraph, sink: Sink, rule: str) -> Cause:
    """Return the cause with its line: who waits in what for each other."""
    said: dict[str, list[int]] = {}
    for rank in sink.ranks:
        said.setdefault(_text(job, graph, rank), []).append(rank)
    line = " and ".join(f"{messages.ranks_text(ranks)} in {call}" for call, ranks in said.items())
    hazard = {
        "order_inversion": "made these calls in different orders, a deadlock hazard",
        "mutual_wait": "wait for each other",
        "undecided": "may wait for each other; what the other side did cannot be told",
    }[rule]
    waiting = graph.waiting[sink.ranks[0]]
    return Cause(
        rule,
        sink.ranks,
        f"{line} {hazard}; {len(sink.held_up)} more held up",
        job.groups.items[waiting.group].name if rule != "undecided" else None,
        waiting.seq if rule != "undecided" else None,
        job.signatures.site(waiting.site),
        evidence={
            "held_up": sorted(sink.held_up),
            "since": min(graph.waiting[rank].start for rank in sink.ranks),
            "waits": {str(rank): _text(job, graph, rank) for rank in sink.ranks},
        },
    )


def _text(job: JobState, graph: WaitGraph, rank: int) -> str:
    waiting, call = graph.waiting[rank], _call(graph, rank)
    if call is not None:
        return call_brief(job, call)
    return messages.transfer_text(waiting.transfers[0][0], rank)


def _blame_against_order(job: JobState, graph: WaitGraph, sink: Sink, cause: Cause) -> None:
    """Blame the rank whose first call the other ranks make second; without a majority nobody."""
    calls = sorted({call for rank in sink.ranks if (call := _call(graph, rank)) is not None})
    cause.undecided = sink.ranks
    if len(calls) != 2:
        return
    one_first, other_first = order_of_others(job, calls[0], calls[1], set(sink.ranks))
    if 2 * max(one_first, other_first) <= one_first + other_first:
        return
    wrong = calls[1] if one_first > other_first else calls[0]
    against = [rank for rank in sink.ranks if _call(graph, rank) == wrong]
    if len(against) != 1:
        return
    cause.blamed, cause.undecided, cause.confidence = against, [], "medium"
    most = max(one_first, other_first)
    cause.basis = (
        f"{most} of {one_first + other_first} ranks in like groups make the calls in the other order"
    )
    cause.message += f"; rank {against[0]} goes against the order that {most} other ranks keep"
