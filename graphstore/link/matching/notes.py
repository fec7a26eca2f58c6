"""Notes and health: what a job's files lack without being wrong, and whether the job is sound.

In:  a matched job with its causes. Out: one-line notes, and true, false or None.
Decided here (matching.md §8, §10): sound only if every call is settled; unsound only if a problem is proven.
"""

from __future__ import annotations

import numpy as np

from graphstore.link.matching.job import JobState
from graphstore.link.matching.model import HEALTHY_VERDICTS, MISMATCHES, Cause, short_ranges
from graphstore.link.matching.reduce import ABSENT, Reduced


def is_healthy(job: JobState, causes: list[Cause]) -> bool | None:
    """Return false if a problem is proven, true if every call is settled and nobody is in one, else None."""
    verdicts = {
        v for matched in job.matched.values() for v in np.unique(matched.verdict.astype(str)).tolist()
    }
    edges = [edge for edges in job.edges.values() for edge in edges]
    verdicts |= {edge.verdict for edge in edges}
    if verdicts & {*MISMATCHES, "INCOMPLETE"} or any(cause.is_proven for cause in causes):
        return False
    in_flight = any(m.in_flight.any() for m in job.matched.values()) or any(e.in_flight for e in edges)
    unplaced = any(calls.unplaced for calls in job.calls.values())
    if not verdicts or causes or in_flight or unplaced or not verdicts <= HEALTHY_VERDICTS:
        return None
    return True


def notes(job: JobState) -> list[str]:
    """Return the notes of a job, by what they are about."""
    facts = job.facts
    out = [f"EMPTY_DUMP rank {rank}" for rank in sorted(facts.empty)]
    out += [f"NO_DUMP rank {rank}" for rank in job.world if rank not in facts.ranks]
    if facts.filtered:
        out.append(f"ACTIVE_ENTRIES_ONLY ranks {short_ranges(sorted(facts.filtered))}")
    out += [note for _, dump in sorted(job.dumps.items()) for note in _other_name(dump)]
    versions = version_texts(job)
    if len(versions) > 1:
        out.append(f"VERSIONS_MIXED {'/'.join(versions)}")
    for number, calls in sorted(job.calls.items()):
        name = calls.group.name
        if calls.is_gloo:
            out += _unrecorded(job, number, name)
        if calls.unplaced:
            out.append(f"P2P_UNPLACED group {name}: {calls.unplaced} sends or recvs whose peer is not known")
        if calls.group.unseen:
            out.append(f"MEMBERS_UNKNOWN group {name}: {calls.group.unseen} of {calls.group.size}")
        if calls.is_miscounted:
            out.append(f"NUMBERS_MIXED group {name}: collectives are counted together with sends and recvs")
        if calls.group.is_split:
            out.append(
                f"GROUP_SPLIT name {name}: used by several groups of {calls.group.size} that no file lists"
            )
    return out + _lost(job)


def _other_name(dump: Reduced) -> list[str]:
    """Return a note where the file's name says another rank than its content, which wins."""
    named = (dump.flight.get("file_rank_candidates") or {}).get("file_name")
    if named in (None, dump.rank):
        return []
    return [f"NAME_DISAGREES {dump.file}: rank {dump.rank} by its content, {named} by its name"]


def version_texts(job: JobState) -> list[str]:
    """Return the versions of the dumps as text, sorted as text."""
    versions = {dump.flight.get("version") for dump in job.dumps.values() if dump.flight}
    return sorted(".".join(str(part) for part in version) for version in versions if version)


def _unrecorded(job: JobState, number: int, name: str) -> list[str]:
    """Return notes on gloo's sends and recvs, which are counted in op_id but not recorded."""
    by_count: dict[int, list[int]] = {}
    for rank, block in job.calls[number].blocks.items():
        if block.seq.size and block.op_id[-1] != ABSENT and not block.has_blocks:
            by_count.setdefault(int(block.op_id[-1] - block.seq[-1]), []).append(rank)
    return [
        f"UNRECORDED_P2P group {name} ranks {short_ranges(ranks)}: {count} logical ops"
        for count, ranks in sorted(by_count.items())
        if count > 0
    ]


def _lost(job: JobState) -> list[str]:
    """Return notes on calls that were made but whose records are not in the file."""
    return [
        f"LOST group {matched.group.name} rank {member.rank} #{part.first}-{part.last}"
        for _, matched in sorted(job.matched.items())
        for member in matched.members
        for part in member.absent
        if part.absence == "lost"
    ]
