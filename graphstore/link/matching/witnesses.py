"""What stands for and against a rank that never made a call.

In:  the matched collectives and edges of a job. Out: for ranks proven absent, who made calls without them.
Decided here: a rank is blamed for an absent call only if more ranks made calls without it than there are
ranks idle like it in that call. One against one, either may be wrong: the call can be one too many.
"""

from __future__ import annotations

import numpy as np

from graphstore.link.matching import absence
from graphstore.link.matching.edges import MISSING
from graphstore.link.matching.job import JobState


def witnesses(job: JobState, suspects: set[int]) -> dict[int, set[int]]:
    """Return {suspect: ranks that made a call which the suspect is proven not to have made}."""
    out: dict[int, set[int]] = {rank: set() for rank in suspects}
    if not suspects:
        return out
    for matched in job.matched.values():
        cells = np.flatnonzero(matched.verdict == "INCOMPLETE")
        _, firsts = np.unique(matched.pattern[cells], return_index=True)
        for cell in cells[firsts].tolist():
            classes = matched.pattern_at(cell).classes
            for rank in suspects.intersection(classes.get(absence.NOT_REACHED, ())):
                out[rank].update(classes.get(absence.PRESENT, ()))
    for edges in job.edges.values():
        for edge in edges:
            for side, peer in ((edge.sends, edge.dst), (edge.recvs, edge.src)):
                if peer in suspects and (side.partner == MISSING).any():
                    out[peer].add(side.rank)
    return out
