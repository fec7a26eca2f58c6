"""What a rank at the end of a chain of waits is doing itself: nothing, or something it cannot be blamed for.

In:  a job and its waits. Out: a word per rank.
Decided here: a rank that stands in a call which all its members have made is not idle, and what stopped that
call is not known; nor is it idle where the dumps cannot show what it waits for: a group whose members are a
lower bound, a send whose peer is not known, a send or recv of gloo, which records none.
"""

from __future__ import annotations

from graphstore.link.matching.edges import ENDED
from graphstore.link.matching.job import JobState
from graphstore.link.matching.waiting import WaitGraph, Waiting

IDLE = "idle"
STUCK = "stuck"  # in a call that its peers have finished
IN_CALL = "in_call"  # in a call that all members have made, and nobody has finished
UNKNOWN = "unknown"  # perhaps waiting for what no dump shows


def standing(job: JobState, graph: WaitGraph, rank: int) -> str:
    """Return what a rank that is seen to wait for nobody is doing."""
    waiting = graph.waiting.get(rank)
    hidden = _first_unplaced(job, rank)
    if hidden is not None and (waiting is None or hidden < waiting.place):
        return UNKNOWN
    if waiting is None:
        return UNKNOWN if _may_transfer_unrecorded(job, rank) else IDLE
    if waiting.seq is None:
        return _in_transfer(waiting)
    matched = job.matched[waiting.group]
    cell = matched.cell(waiting.seq)
    if matched.is_entered[cell] or matched.pattern_at(cell).done:
        return STUCK
    return IN_CALL if matched.group.complete else UNKNOWN


def _in_transfer(waiting: Waiting) -> str:
    """Return STUCK where every partner has ended its side, else IN_CALL: both stand at the two ends."""
    ended = all(side.partner[row] == ENDED for _, side, row in waiting.transfers)
    return STUCK if ended else IN_CALL


def _first_unplaced(job: JobState, rank: int) -> int | None:
    """Return the place of the first unfinished send or recv whose peer is not known."""
    found = [calls.open_unplaced[rank] for calls in job.calls.values() if rank in calls.open_unplaced]
    return min(found, default=None)


def _may_transfer_unrecorded(job: JobState, rank: int) -> bool:
    """Return whether a gloo rank may be in a send or recv: its counters do not show that all has ended."""
    own = job.groups.of_rank.get(rank, set())
    if not any(number in job.calls and job.calls[number].is_gloo for number in own):
        return False
    if not job.status.has_counters(rank):
        return True
    for number in own:
        calls, counters = job.calls.get(number), job.status.raw.get((rank, number))
        if counters is None or (calls is not None and not calls.is_gloo):
            continue
        block = calls.blocks.get(rank) if calls is not None else None
        last = int(block.op_id[-1]) if block is not None and block.op_id.size else 0
        if counters[0] > max(counters[1], last):
            return True
    return any(enqueued > completed for enqueued, completed in job.status.unassigned.get(rank, ()))
