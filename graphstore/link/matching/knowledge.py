"""What each dump of a job can say about calls it does not hold (matching.md §5, "Filtered dump").

In:  the dumps of a job, its groups, calls and counters. Out: `Knowledge` per rank and group.
Decided here: which dumps hold active entries only, and which were recorded from the start.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from graphstore.link.matching.absence import Knowledge
from graphstore.link.matching.calls import GroupCalls
from graphstore.link.matching.reduce import DONE, Reduced
from graphstore.link.matching.status import NO_COUNTERS, Counters


@dataclass
class DumpFacts:
    """What is known of each dump as a whole, by rank; a rank in none of the sets has a plain one."""

    ranks: set[int] = field(default_factory=set)
    empty: set[int] = field(default_factory=set)
    filtered: set[int] = field(default_factory=set)
    whole: set[int] = field(default_factory=set)
    traces: set[int] = field(default_factory=set)


def dump_facts(dumps: dict[int, Reduced]) -> DumpFacts:
    """Return the facts of all dumps.

    Filtered: nothing finished kept and numbers missing between the records, or nothing finished while
    another dump of the job is so. Whole: the first record of the process and all after it are kept.
    """
    facts = DumpFacts(ranks=set(dumps))
    facts.traces = {rank for rank, dump in dumps.items() if dump.is_trace}
    recorded = {rank: dump for rank, dump in dumps.items() if rank not in facts.traces}
    facts.empty = {rank for rank, dump in recorded.items() if not dump.size}
    has_gaps = {rank for rank, dump in recorded.items() if dump.has_gaps}
    nothing_finished = {rank for rank, dump in recorded.items() if dump.nothing_finished}
    if has_gaps & nothing_finished:
        facts.filtered = nothing_finished
    facts.whole = {
        rank
        for rank, dump in recorded.items()
        if dump.starts_at_zero and rank not in has_gaps and rank not in facts.filtered
    }
    return facts


def knowledge_of(
    rank: int,
    calls: GroupCalls,
    facts: DumpFacts,
    counters: Counters = NO_COUNTERS,
    passed: int | None = None,
) -> Knowledge:
    """Return what the dump of a rank can say about a group's calls that it does not hold.

    `counters` are those of pg_status; `passed` is, of a trace, the number it has gone past.
    """
    block = calls.blocks.get(rank)
    done = block.seq[block.state == DONE] if block is not None else np.zeros(0, dtype=np.int64)
    return Knowledge(
        is_empty=rank in facts.empty,
        is_filtered=rank in facts.filtered,
        is_whole=rank in facts.whole,
        is_trace=rank in facts.traces,
        in_order=not calls.is_gloo and rank not in facts.traces,
        counters=_with_calls(counters, rank, calls, facts),
        last_done=int(done[-1]) if done.size else 0,
        passed=passed,
    )


def _with_calls(counters: Counters, rank: int, calls: GroupCalls, facts: DumpFacts) -> Counters:
    """Return the counters together with what the rank's sends and recvs in the group show.

    They carry the number of the last collective before them: that one and all before it were made. In an
    unfiltered dump the last one also says that none was made after it.
    """
    transfers = calls.transfers.get(rank)
    if transfers is None or not transfers.seq.size or rank in facts.traces:
        return counters
    made, _ = calls.reached_by(rank)
    at_least = max(made, counters.at_least or 0)
    at_most = made if counters.at_most is None and rank not in facts.filtered else counters.at_most
    return replace(counters, at_least=at_least, at_most=at_most)
