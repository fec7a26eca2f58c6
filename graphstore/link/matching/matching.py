"""Match the calls of all ranks: from dumps to verdicts, waits and causes (matching.md).

In:  a `RankDump` per file. Out: a `Matching`. Pure: no files, no database.
Decided here: the order of the steps only. Nothing depends on the order of the files, and no absent rank
stops the analysis. Cost: about linear in calls; one frame at a time is in memory, then 50 bytes a call.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from graphstore.link.matching.absence import Knowledge
from graphstore.link.matching.calls import GroupCalls, calls_by_group
from graphstore.link.matching.causes import find_causes
from graphstore.link.matching.collectives import match_group
from graphstore.link.matching.divergence import find_divergences
from graphstore.link.matching.edges import find_edges
from graphstore.link.matching.groups import find_groups, prove_size
from graphstore.link.matching.job import JobState
from graphstore.link.matching.jobs import Job, split_jobs
from graphstore.link.matching.knowledge import dump_facts, knowledge_of
from graphstore.link.matching.model import JobMatching, Matching, RankDump
from graphstore.link.matching.offsets import solve
from graphstore.link.matching.old_dumps import with_names
from graphstore.link.matching.reduce import Reduced, reduce_dump
from graphstore.link.matching.signatures import SignatureColumns, Signatures
from graphstore.link.matching.status import counters_of, read_status
from graphstore.link.matching.tables import tables
from graphstore.link.matching.trace_windows import passed
from graphstore.link.matching.waiting import wait_graph


def match_dumps(dumps: Iterable[RankDump]) -> Matching:
    """Return the calls of all dumps, matched across ranks, job by job. `dumps` may be a generator."""
    return match_reduced(reduce_dump(dump) for dump in dumps)


def match_reduced(dumps: Iterable[Reduced]) -> Matching:
    """Return the same from dumps that were reduced before, in another process perhaps."""
    lists: dict[tuple[int, ...], tuple[int, ...]] = {}
    jobs, aside = split_jobs([_with_shared_lists(with_names(dump), lists) for dump in dumps])
    return Matching([_match_job(job) for job in jobs], aside)


def _with_shared_lists(dump: Reduced, lists: dict[tuple[int, ...], tuple[int, ...]]) -> Reduced:
    """Keep one copy of each member list: with 4,096 ranks the same list of 4,096 comes 4,096 times."""
    config = [
        entry | {"ranks": lists.setdefault(key, key)} if (key := tuple(entry.get("ranks") or ())) else entry
        for entry in dump.flight.get("pg_config") or ()
    ]
    dump.flight = dump.flight | {"pg_config": config} if dump.flight else dump.flight
    return dump


def _match_job(dumps: Job) -> JobMatching:
    job = _open_job(dumps)
    columns = SignatureColumns.of(job.signatures.items)
    for number, calls in job.calls.items():
        prove_size(calls.group, (job.signatures.items[code] for code in _codes(calls)))
        known = _known(job, number)
        job.counters[number] = {rank: knowledge.counters for rank, knowledge in known.items()}
        matched = match_group(calls, known, job.signatures, columns)
        if matched is not None:
            job.matched[number] = matched
            job.divergences[number] = find_divergences(matched, job.facts, job.signatures, columns)
        if calls.transfers:
            job.edges[number] = find_edges(calls, job.signatures, columns)
            solve(job.edges[number], calls, job.facts, job.counters[number])
    graph = wait_graph(job)
    return tables(job, graph, find_causes(job, graph))


def _open_job(dumps: Job) -> JobState:
    """Return a job with its groups, calls and counters, the contents of its dumps numbered alike."""
    signatures = Signatures()
    for _, dump in sorted(dumps.items()):
        _renumber(dump, signatures)
    groups, facts = find_groups(dumps), dump_facts(dumps)
    calls = calls_by_group(dumps, groups, signatures)
    return JobState(dumps, signatures, groups, facts, calls, read_status(dumps, groups))


def _renumber(dump: Reduced, signatures: Signatures) -> None:
    """Number the contents and sites of a dump as those of its job, and let go of its own lists."""
    sig, site = signatures.codes(dump.signatures), signatures.site_codes(dump.sites)
    dump.sig = sig[dump.sig].astype(np.int32) if sig.size else dump.sig
    dump.site = np.where(dump.site >= 0, site[dump.site], -1).astype(np.int32) if site.size else dump.site
    dump.signatures, dump.sites = [], []


def _codes(calls: GroupCalls) -> list[int]:
    """Return the signatures of a group's collectives."""
    if calls.group.complete:
        return []
    return sorted({int(code) for block in calls.blocks.values() for code in np.unique(block.sig)})


def _known(job: JobState, number: int) -> dict[int, Knowledge]:
    """Return what the dump of each member says about a group's calls that it does not hold."""
    calls = job.calls[number]
    members = {*calls.group.members, *calls.blocks, *calls.transfers}
    return {rank: _knowledge(job, number, rank) for rank in sorted(members)}


def _knowledge(job: JobState, number: int, rank: int) -> Knowledge:
    calls = job.calls[number]
    if rank not in job.facts.ranks:
        return Knowledge(has_dump=False)
    if rank in job.facts.traces:
        return knowledge_of(rank, calls, job.facts, passed=passed(job.calls, number, rank))
    counters = counters_of(job.status, calls, number, rank, rank in job.facts.filtered)
    return knowledge_of(rank, calls, job.facts, counters=counters)
