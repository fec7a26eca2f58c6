"""Which of two ranks that wait for each other goes against the order the other ranks keep (matching.md §8).

In:  two calls in two groups, and the order of calls on all ranks. Out: whether the others make one first.
Decided here: ranks are compared by role: groups of one size whose descriptions differ in trailing digits
only, and calls of one number, kind and size. More than half of the ranks that show both calls decide.
"""

from __future__ import annotations

from graphstore.link.matching.job import JobState
from graphstore.link.matching.model import Group
from graphstore.link.matching.waiting import CallKey

Role = tuple[str, int]


def role_of(group: Group) -> Role:
    """Return the role of a group: its description without trailing digits, and its size."""
    return group.desc.rstrip("0123456789"), len(group.members)


def order_of_others(job: JobState, one: CallKey, other: CallKey, left_out: set[int]) -> tuple[int, int]:
    """Return how many other ranks make the call like `one` first, and how many the call like `other`."""
    roles = [role_of(job.groups.items[group]) for group, _ in (one, other)]
    if roles[0] == roles[1]:
        return 0, 0
    first, second = (_places(job, role, call) for role, call in zip(roles, (one, other), strict=True))
    shown = [rank for rank in first if rank in second and rank not in left_out]
    before = sum(1 for rank in shown if first[rank] < second[rank])
    return before, len(shown) - before


def _places(job: JobState, role: Role, call: CallKey) -> dict[int, int]:
    """Return {rank: place in its record} of the like call in its group of that role, if it has one only."""
    group, seq = call
    token = job.signatures.items[job.matched[group].sig[job.matched[group].cell(seq)]].token
    out: dict[int, int] = {}
    twice: set[int] = set()
    for matched in job.matched.values():
        if role_of(matched.group) != role:
            continue
        for member in matched.members:
            row = member.row(seq)
            if row is None or member.block is None:
                continue
            if job.signatures.items[member.block.sig[row]].token != token:
                continue
            if member.rank in out:
                twice.add(member.rank)
            out[member.rank] = int(member.block.place[row])
    return {rank: place for rank, place in out.items() if rank not in twice}
