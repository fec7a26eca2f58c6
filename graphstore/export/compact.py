"""A smaller file of the same timing: short pieces joined to what ran before them on their thread.

In:  `Pieces`. Out: `Pieces`, fewer. Decided here (dependencies §6): a further piece or a gap of at most 10
µs is joined to the piece before it, where no edge but the order of the thread meets between the two. Host
time is then credited to another op now and then; `self_us` keeps the true one.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from graphstore.export.edges import Kept
from graphstore.export.order import NONE, Bools, pick
from graphstore.export.pieces import GAP_TIME, REST, THREAD_ORDER, Pieces

JOINED_NS = 10_000


def compact(pieces: Pieces, whole: Bools) -> Pieces:
    """Return the pieces with short ones joined; nothing is joined to those that are `whole`
    (communications).
    """
    joined = _joined(pieces, whole)
    leader = np.arange(len(joined))
    leader[joined] = NONE
    leader = np.maximum.accumulate(leader)  # pieces of a lane follow one another
    kept = np.flatnonzero(~joined)
    end = pieces.end.copy()
    np.maximum.at(end, leader, pieces.end)
    number = np.empty(len(joined), np.int64)
    number[kept[np.argsort(pieces.kept.number[kept])]] = np.arange(len(kept))
    place = np.cumsum(~joined) - 1
    moved = place[leader]
    inside = moved[pieces.kept.source] == moved[pieces.kept.target]
    edges = Kept(
        source=moved[pieces.kept.source][~inside],
        target=moved[pieces.kept.target][~inside],
        rule=pieces.kept.rule[~inside],
        rules=pieces.kept.rules,
        number=number[kept],
        written=pieces.kept.written | {THREAD_ORDER: pieces.kept.written[THREAD_ORDER] - int(joined.sum())}
        if joined.any()
        else pieces.kept.written,
        left_out=pieces.kept.left_out,
    )
    return replace(
        pieces,
        **{
            name: getattr(pieces, name)[kept]
            for name in ("start", "timed", "kind", "place", "lane", "resumes")
        },
        end=end[kept],
        ctrl=pick(moved, pieces.ctrl[kept], NONE),
        first=pick(moved, pieces.first, NONE),
        kept=edges,
    )


def _joined(pieces: Pieces, whole: Bools) -> Bools:
    """Return which pieces are joined to the one before them."""
    edges = pieces.kept
    other = edges.rule != edges.rules.index(THREAD_ORDER) if THREAD_ORDER in edges.rules else edges.rule >= 0
    meets = np.zeros(len(pieces.start), np.bool_)
    meets[edges.target[other]] = True
    gives = np.zeros(len(pieces.start), np.bool_)
    gives[edges.source[other]] = True
    short = np.isin(pieces.kind, (REST, GAP_TIME)) & (pieces.end - pieces.start <= JOINED_NS) & pieces.timed
    follows = np.zeros(len(short), np.bool_)
    follows[1:] = (pieces.lane[1:] == pieces.lane[:-1]) & (pieces.start[1:] == pieces.end[:-1])
    follows[1:] &= ~gives[:-1] & ~whole[:-1] & pieces.timed[:-1]
    return short & follows & ~meets & ~whole & ~pieces.resumes
