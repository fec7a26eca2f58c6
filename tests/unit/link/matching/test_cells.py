from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphstore.link.matching.absence import ABSENCES, Knowledge, absent_ranges
from graphstore.link.matching.calls import Block
from graphstore.link.matching.cells import Member, any_differs, count, flatten

KEPT = st.lists(st.sets(st.integers(1, 9)), min_size=2, max_size=4).filter(any)
KNOWN = st.sampled_from((Knowledge(), Knowledge(is_whole=True), Knowledge(is_filtered=True, last_done=4)))


def _member(rank: int, kept: Sequence[int], known: Knowledge = Knowledge()) -> Member:  # noqa: B008
    seq = np.array(sorted(kept), dtype=np.int64)
    codes = (seq % 2).astype(np.int32)
    block = Block(rank, seq, codes, codes, np.full(seq.size, 2, dtype=np.int8), seq, seq, seq)
    return Member(rank, block, absent_ranges(known, seq, 1, 9))


def test_a_cell_is_a_number_that_somebody_kept() -> None:
    """Numbers nobody kept have none, be they close together or far apart."""
    near = flatten([_member(0, [2, 3]), _member(1, [3, 7])], 1, 9)
    far = flatten([_member(0, [2, 3]), _member(1, [3, 10**12])], 2, 10**12)

    assert (near.seqs.tolist(), near.cell.tolist()) == ([2, 3, 7], [0, 1, 1, 2])
    assert (far.seqs.tolist(), far.cell.tolist()) == ([2, 3, 10**12], [0, 1, 1, 2])
    assert (near.bounds, near.present.tolist()) == ([0, 2, 4], [1, 2, 1])


def test_a_member_knows_its_rows_and_its_absences() -> None:
    """Row 1 is call 5; call 3 lies in a hole."""
    member = _member(0, [2, 5])

    assert (member.row(5), member.row(3)) == (1, None)
    assert member.absent_range(3).absence == "lost"
    assert Member(1, None).row(5) is None


def test_values_that_differ_within_a_cell_are_found_where_selected() -> None:
    """Cells 0 and 1 hold two calls each; in cell 0 they differ, unless one of them is left out."""
    cells = flatten([_member(0, [1, 2]), _member(1, [1, 2])], 1, 9)
    values = np.array([5, 7, 6, 7])

    assert any_differs(cells, values).tolist() == [True, False]
    assert any_differs(cells, values, values != 6).tolist() == [False, False]


@given(KEPT, st.lists(KNOWN, min_size=4, max_size=4))
def test_counts_are_those_of_asking_every_member_at_every_cell(
    kept: list[set[int]], known: list[Knowledge]
) -> None:
    """Sums of range ends equal a look at each member; cells alike are in the same classes."""
    members = [_member(rank, list(seqs), known[rank]) for rank, seqs in enumerate(kept)]
    cells = flatten(members, 1, 9)

    counts = count(members, cells)

    patterns: dict[int, list[str]] = {}
    for at, seq in enumerate(cells.seqs.tolist()):
        parts = [None if member.row(seq) is not None else member.absent_range(seq) for member in members]
        for name in ABSENCES:
            assert counts.absent[name][at] == sum(part is not None and part.absence == name for part in parts)
        assert counts.absent_done[at] == sum(part is not None and part.is_done for part in parts)
        pattern = [f"{part and (part.absence, part.is_done)}" for part in parts]
        assert patterns.setdefault(int(counts.alike[at]), pattern) == pattern
