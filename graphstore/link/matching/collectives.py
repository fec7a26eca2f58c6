"""Match the collectives of one group: every sequence number that anybody kept gets a verdict.

In:  the calls of a group and what each member's dump can say about absent ones.
Out: `Matched`: columns over the sequence numbers (cells), with who is in which class, as patterns.
Decided here (matching.md §5): the order of verdicts; gloo's "retired" ends a call only if no member is
proven absent; a synchronous call that one member finished was entered by all.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from graphstore.link.matching import absence
from graphstore.link.matching.absence import Knowledge, absent_ranges
from graphstore.link.matching.calls import Block, Bools, GroupCalls
from graphstore.link.matching.cells import Cells, Counts, Member, any_differs, count, flatten
from graphstore.link.matching.mismatches import Mismatch, find_mismatches
from graphstore.link.matching.model import Group
from graphstore.link.matching.reduce import DONE, UNDONE
from graphstore.link.matching.signatures import Ints, SignatureColumns, Signatures


@dataclass(frozen=True)
class Pattern:
    """Who is where in a collective: ranks by class; those that ended it, and those present that did not."""

    classes: dict[str, list[int]]
    done: list[int]
    undone: list[int]


@dataclass
class Unfinished:
    """Per rank with unfinished collectives: the first in order of recording, as (place, seq), and how many.

    `behind` counts those that another member is known to have finished, `first_behind` is the first of them.
    """

    first: dict[int, tuple[int, int]] = field(default_factory=dict)
    count: dict[int, int] = field(default_factory=dict)
    first_behind: dict[int, tuple[int, int]] = field(default_factory=dict)
    behind: dict[int, int] = field(default_factory=dict)


@dataclass
class Matched:
    """The collectives of one group; one cell per sequence number that anybody kept."""

    calls: GroupCalls
    members: list[Member]
    seqs: Ints
    verdict: NDArray[np.object_]
    sig: Ints  # a signature of the call: of the first member that kept it
    is_entered: Bools  # proven to be entered by all, whatever else is unknown
    in_flight: Bools
    site_differs: Bools  # legal: the members called it at different places of the program
    shape_differs: Bools  # legal: the same elements in other shapes
    pattern: Ints  # number of each cell's pattern
    unfinished: Unfinished
    mismatches: list[Mismatch] = field(default_factory=list)
    _patterns: dict[int, Pattern] = field(default_factory=dict)

    @property
    def group(self) -> Group:
        """Return the group."""
        return self.calls.group

    @cached_property
    def member_of(self) -> dict[int, Member]:
        """Return the members by rank."""
        return {member.rank: member for member in self.members}

    def cell(self, seq: int) -> int:
        """Return the cell of a sequence number that somebody kept."""
        return int(np.searchsorted(self.seqs, seq))

    def pattern_at(self, cell: int) -> Pattern:
        """Return who is in which class at a cell."""
        number = int(self.pattern[cell])
        if number not in self._patterns:
            self._patterns[number] = self._read_pattern(cell)
        return self._patterns[number]

    def _read_pattern(self, cell: int) -> Pattern:
        seq = int(self.seqs[cell])
        classes: dict[str, list[int]] = {}
        done, undone = [], []
        for member in self.members:
            row = member.row(seq)
            if row is not None and member.block is not None:
                state, name = int(member.block.state[row]), absence.PRESENT
                is_done = state == DONE
                if state == UNDONE:
                    undone.append(member.rank)
            else:
                part = member.absent_range(seq)
                is_done, name = part.is_done, part.absence
                if name == absence.NOT_REACHED and self.is_entered[cell]:
                    name = absence.LOST
            classes.setdefault(name, []).append(member.rank)
            if is_done:
                done.append(member.rank)
        if self.calls.is_gloo and absence.NOT_REACHED in classes:
            undone, done = classes.get(absence.PRESENT, []), []
        return Pattern(classes, done, undone)


def match_group(
    calls: GroupCalls, known: dict[int, Knowledge], signatures: Signatures, columns: SignatureColumns
) -> Matched | None:
    """Return the matched collectives of a group; None when nobody kept one.

    `known` holds every member. States of `calls` are completed by the counters, in place.
    """
    blocks = [block for block in calls.blocks.values() if block.seq.size]
    if not blocks:
        return None
    for block in blocks:
        _complete_states(block, known[block.rank])
    first, last = min(int(b.seq[0]) for b in blocks), max(int(b.seq[-1]) for b in blocks)
    members = [Member(rank, calls.blocks.get(rank)) for rank in sorted(known)]
    for member in members:
        if member.kept.size != last - first + 1:
            member.absent = absent_ranges(known[member.rank], member.kept, first, last)
    cells = flatten(members, first, last)
    matched = _with_verdicts(calls, members, cells, columns)
    if not calls.is_comparable:
        matched.verdict[:] = "UNDECIDED"
        return matched
    matched.mismatches = find_mismatches(cells, members, calls.group, signatures, columns)
    for mismatch in matched.mismatches:
        matched.verdict[matched.cell(mismatch.seq)] = mismatch.misfit.verdict
    matched.in_flight &= matched.verdict == "MATCHED"
    return matched


def _complete_states(block: Block, known: Knowledge) -> None:
    """Mark the calls done that pg_status says are, where collectives end in order."""
    if known.in_order and known.counters.completed is not None:
        block.state = np.where(block.seq <= known.counters.completed, DONE, block.state).astype(np.int8)


def _with_verdicts(
    calls: GroupCalls, members: list[Member], cells: Cells, columns: SignatureColumns
) -> Matched:
    counts, size = count(members, cells), cells.seqs.size
    sig = np.zeros(size, dtype=np.int64)
    sig[cells.cell[::-1]] = cells.sig[::-1]  # of several the first member's stays
    is_done, is_undone = cells.state == DONE, cells.state == UNDONE
    if calls.is_gloo:
        gave_up = is_done & (counts.absent[absence.NOT_REACHED] > 0)[cells.cell]
        is_done, is_undone = is_done & ~gave_up, is_undone | gave_up
    has_done = np.bincount(cells.cell[is_done], minlength=size) + counts.absent_done > 0
    has_undone = np.bincount(cells.cell[is_undone], minlength=size) > 0
    is_entered = columns.is_synchronous[sig] & has_done & np.array(not calls.is_gloo)
    is_disproved = is_entered & (counts.absent[absence.NOT_REACHED] > 0)  # see _verdicts
    _, pattern = np.unique(counts.alike ^ is_disproved.astype(np.uint64), return_inverse=True)
    verdict = _verdicts(counts, is_entered, calls.group.unseen, has_done, has_undone)
    return Matched(
        calls,
        members,
        cells.seqs,
        verdict,
        sig,
        is_entered,
        ~has_done & has_undone,
        any_differs(cells, cells.site, cells.site >= 0),
        any_differs(cells, columns.shape[cells.sig]),
        pattern,
        _unfinished(members, cells, is_undone, is_undone & has_done[cells.cell]),
    )


def _verdicts(
    counts: Counts, is_entered: Bools, unseen: int, has_done: Bools, has_undone: Bools
) -> NDArray[np.object_]:
    """Return the first verdict that fits each cell; mismatches come on top.

    "Not reached" is disproved where a member finished a synchronous call: that dump was made before.
    """
    is_any = {name: number > 0 for name, number in counts.absent.items()}
    is_missing = is_any[absence.NOT_REACHED] & ~is_entered
    is_lost = is_any[absence.LOST] | (is_any[absence.NOT_REACHED] & is_entered)
    is_unknown = is_any[absence.NO_DUMP] | np.array(unseen > 0)
    is_open = is_unknown | is_any[absence.UNDECIDED] | is_any[absence.WINDOW_ENDED]
    fits = {
        "INCOMPLETE": is_missing,
        "PROGRESS_DIFF": ~is_open & has_done & has_undone,
        "UNDECIDED": is_any[absence.UNDECIDED],
        "NO_DUMP": is_unknown,
        "FILTERED": is_any[absence.FILTERED],
        "LOST": is_lost,
        "EVICTED": is_any[absence.EVICTED],
        "WINDOW_ENDED": is_any[absence.WINDOW_ENDED],
    }
    return np.select(list(fits.values()), list(fits), "MATCHED").astype(object)


def _unfinished(members: list[Member], cells: Cells, is_undone: Bools, is_behind: Bools) -> Unfinished:
    """Return the unfinished calls of each member, and those that others have finished."""
    out = Unfinished()
    for start, end in zip(cells.bounds, cells.bounds[1:], strict=False):
        block = members[int(cells.member[start])].block
        assert block is not None
        for marks, first, number in (
            (is_undone, out.first, out.count),
            (is_behind, out.first_behind, out.behind),
        ):
            rows = np.flatnonzero(marks[start:end])
            if rows.size:
                row = int(rows[np.argmin(block.place[rows])])
                first[block.rank] = (int(block.place[row]), int(block.seq[row]))
                number[block.rank] = int(rows.size)
    return out
