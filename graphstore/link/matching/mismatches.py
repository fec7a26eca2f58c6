"""Find the collectives of a group whose members do not agree.

In:  the flat calls of a group. Out: `Mismatch`es in order of their numbers.
Decided here: which calls need a look. What must agree: agreement.py. A call whose content is the same on all
members and fits itself needs none, nor an all_to_all of one tensor each whose sums are equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from graphstore.link.matching.agreement import Members, Misfit, agrees_with_itself, judge
from graphstore.link.matching.calls import Bools
from graphstore.link.matching.cells import Cells, Member, differs
from graphstore.link.matching.model import Group
from graphstore.link.matching.reduce import sizes_of
from graphstore.link.matching.signatures import Signature, SignatureColumns, Signatures


@dataclass
class Mismatch:
    """A collective whose members do not agree: the misfit, and what each rank called at which site."""

    seq: int
    misfit: Misfit
    calls: list[tuple[int, Signature]]
    sites: dict[int, str | None]

    @property
    def by(self) -> dict[str, list[int]]:
        """Return the ranks by what they called, as recorded: name, shapes in and out, element types."""
        out: dict[str, list[int]] = {}
        for rank, item in self.calls:
            out.setdefault(content_text(item), []).append(rank)
        return out


def content_text(item: Signature) -> str:
    """Return a call as recorded: `gloo:all_reduce [[4, 4]] [[4, 4]] Float`."""
    if item.parts:
        return " + ".join(content_text(part) for part in item.parts)
    shapes = [str(sizes_of(text)) for text in (item.in_sizes, item.out_sizes) if text is not None]
    return " ".join([item.op_name, *shapes, *sorted(item.dtypes)])


def find_mismatches(
    cells: Cells, members: list[Member], group: Group, signatures: Signatures, columns: SignatureColumns
) -> list[Mismatch]:
    """Return the mismatches of a group, by rising number."""
    is_whole = (cells.present == len(members)) & np.array(group.complete and not group.unseen)
    suspects = np.flatnonzero(_suspects(cells, group.size, is_whole, signatures.items, columns))
    found = []
    for cell in suspects.tolist():
        seq = int(cells.seqs[cell])
        rows = [(m.rank, m.block, row) for m in members if m.block and (row := m.row(seq)) is not None]
        calls = [(rank, signatures.items[block.sig[row]]) for rank, block, row in rows]
        misfit = judge(calls, Members(group.order, group.size, bool(is_whole[cell])))
        if misfit is not None:
            sites = {rank: signatures.site(int(block.site[row])) for rank, block, row in rows}
            found.append(Mismatch(seq, misfit, calls, sites))
    return found


def _suspects(
    cells: Cells, size: int | None, is_whole: Bools, items: Sequence[Signature], columns: SignatureColumns
) -> Bools:
    """Return the cells that need a look: contents differ, or the content alone cannot be right."""
    codes = np.unique(cells.sig)
    is_odd = np.zeros(len(items), dtype=np.bool_)
    is_odd[codes] = [not agrees_with_itself(items[code], size) for code in codes]
    suspect = np.zeros(cells.seqs.size, dtype=np.bool_)
    suspect[cells.cell[is_odd[cells.sig] | differs(cells, columns.content[cells.sig])]] = True
    return suspect & ~_exchanges_evenly(cells, is_whole, columns)


def _exchanges_evenly(cells: Cells, is_whole: Bools, columns: SignatureColumns) -> Bools:
    """Return the cells that are an all_to_all of one tensor each, of one type, and whose sums agree.

    The sums can only be compared where all members are present.
    """
    is_plain = columns.is_plain_all_to_all[cells.sig]
    other = np.zeros(cells.seqs.size, dtype=np.bool_)
    other[cells.cell[~is_plain | differs(cells, columns.dtypes[cells.sig])]] = True
    surplus = np.zeros(cells.seqs.size, dtype=np.int64)
    np.add.at(surplus, cells.cell, (columns.in_count - columns.out_count)[cells.sig])
    return np.asarray(~other & ((surplus == 0) | ~is_whole))
