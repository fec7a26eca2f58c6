"""How far the window of an execution or Kineto trace reached in a group (matching.md §11).

In:  the calls of all ranks that have a trace, by group. Out: the last number each rank has gone past.
Decided here: a trace ends when its observer stops, so that a call behind its last one in a group proves
nothing, unless the trace holds a call which a peer made after the one that is absent.
"""

from __future__ import annotations

from graphstore.link.matching.calls import Block, GroupCalls


def passed(calls: dict[int, GroupCalls], group: int, rank: int) -> int | None:
    """Return the last number of a group that a rank's later calls in other groups show it has gone past."""
    own = {number: part.blocks[rank] for number, part in calls.items() if rank in part.blocks}
    limits = [
        limit
        for peer, block in calls[group].blocks.items()
        if peer != rank and (limit := _passed_by(calls, own, peer, block)) is not None
    ]
    return max(limits, default=None)


def _passed_by(calls: dict[int, GroupCalls], own: dict[int, Block], peer: int, block: Block) -> int | None:
    """Return the last number that a peer made before a call of its own which the rank made, too."""
    latest = -1
    for number, mine in own.items():
        theirs = calls[number].blocks.get(peer)
        if theirs is None or not mine.seq.size:
            continue
        shared = theirs.place[theirs.seq <= mine.seq[-1]]
        latest = max(latest, int(shared.max()) if shared.size else -1)
    before = block.seq[block.place < latest]
    return int(before.max()) if before.size else None
