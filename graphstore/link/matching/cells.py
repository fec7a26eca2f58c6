"""The calls of one group side by side: a cell per sequence number that anybody kept.

In:  the kept calls of each member and the ranges of its absent ones.
Out: flat columns of the kept calls with their cells, and counts of members per class at each cell.
Decided here: nothing; these are the sums that verdicts are read from. Cost: linear in calls and ranges.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from graphstore.link.matching import absence
from graphstore.link.matching.absence import Range
from graphstore.link.matching.calls import Block, Bools, Codes
from graphstore.link.matching.signatures import Ints

_STATES = 3  # unknown, not done, done
_SEED = 5  # of the weights that tell patterns apart: any, but the same in every run


@dataclass
class Member:
    """One member of a group: its kept calls and the ranges of absent ones."""

    rank: int
    block: Block | None
    absent: list[Range] = field(default_factory=list)

    @property
    def kept(self) -> Ints:
        """Return the numbers of the kept calls, rising."""
        return self.block.seq if self.block is not None else np.zeros(0, dtype=np.int64)

    def row(self, seq: int) -> int | None:
        """Return the row of a kept call; None when it is not kept."""
        row = int(np.searchsorted(self.kept, seq))
        return row if row < self.kept.size and self.kept[row] == seq else None

    def absent_range(self, seq: int) -> Range:
        """Return the range of an absent call."""
        return next(part for part in self.absent if part.first <= seq <= part.last)


@dataclass
class Cells:
    """The kept calls of a group, flat, member by member; `cell` is the place in `seqs`.

    `bounds` says where the calls of each member begin, and where the last end.
    """

    seqs: Ints
    cell: Ints
    member: Ints
    sig: Codes
    site: Codes
    state: NDArray[np.int8]
    bounds: list[int]

    @property
    def present(self) -> Ints:
        """Return how many members kept each call."""
        return np.bincount(self.cell, minlength=self.seqs.size)


@dataclass
class Counts:
    """Members per class at each cell; `alike` is equal at cells where all members are in the same classes."""

    absent: dict[str, Ints]
    absent_done: Ints
    alike: NDArray[np.uint64]


def flatten(members: list[Member], first: int, last: int) -> Cells:
    """Return the kept calls of all members, whose numbers lie in first … last."""
    blocks = [(at, m.block) for at, m in enumerate(members) if m.block is not None and m.block.seq.size]
    seq = np.concatenate([block.seq for _, block in blocks])
    sizes = [block.seq.size for _, block in blocks]
    if last - first < 4 * seq.size + 1024:  # a table over all numbers is cheaper than sorting the calls
        is_kept = np.zeros(last - first + 1, dtype=np.bool_)
        is_kept[seq - first] = True
        seqs, cell = np.flatnonzero(is_kept) + first, (np.cumsum(is_kept) - 1)[seq - first]
    else:
        seqs, cell = np.unique(seq, return_inverse=True)
    return Cells(
        seqs,
        cell,
        np.repeat(np.array([at for at, _ in blocks], dtype=np.int64), sizes),
        np.concatenate([block.sig for _, block in blocks]),
        np.concatenate([block.site for _, block in blocks]),
        np.concatenate([block.state for _, block in blocks]),
        [0, *np.cumsum(sizes).tolist()],
    )


def differs(cells: Cells, values: Ints | Codes) -> Bools:
    """Return the calls whose value is not that of another call of the same cell."""
    reference = np.zeros(cells.seqs.size, dtype=values.dtype)
    reference[cells.cell] = values
    return np.asarray(values != reference[cells.cell])


def any_differs(cells: Cells, values: Ints | Codes, where: Bools | None = None) -> Bools:
    """Return the cells whose calls do not all have the same value, of those calls that `where` selects."""
    reference, out = np.zeros(cells.seqs.size, dtype=values.dtype), np.zeros(cells.seqs.size, dtype=np.bool_)
    rows = slice(None) if where is None else where
    cell, chosen = cells.cell[rows], values[rows]
    reference[cell] = chosen
    out[cell[chosen != reference[cell]]] = True
    return out


def count(members: list[Member], cells: Cells) -> Counts:
    """Count the classes at each cell. A range is added at its two ends, and all are summed up once."""
    size = cells.seqs.size
    absent = {name: np.zeros(size + 1, dtype=np.int64) for name in absence.ABSENCES}
    done = np.zeros(size + 1, dtype=np.int64)
    alike = np.zeros(size + 1, dtype=np.uint64)
    kinds = _STATES + 2 * len(absence.ABSENCES)
    weights = np.random.default_rng(_SEED).integers(0, 2**63, (len(members), kinds), dtype=np.uint64)
    for at, member in enumerate(members):
        for part in member.absent:
            low, high = np.searchsorted(cells.seqs, [part.first, part.last + 1]).tolist()
            kind = _STATES + 2 * absence.ABSENCES.index(part.absence) + part.is_done
            for column, change in ((absent[part.absence], 1), (done, int(part.is_done))):
                column[low] += change
                column[high] -= change
            alike[low : low + 1] += weights[at, kind]  # slices wrap around silently, as is wanted here
            alike[high : high + 1] -= weights[at, kind]
    alike = np.cumsum(alike[:-1], dtype=np.uint64)
    np.add.at(alike, cells.cell, weights[cells.member, cells.state])
    return Counts({name: np.cumsum(ends[:-1]) for name, ends in absent.items()}, np.cumsum(done[:-1]), alike)
