"""Where the ranks of a group first took different ways, by aligning their sequences of calls (§6).

In:  the matched collectives of a group that has a mismatch or a missing call.
Out: `Divergence`s: who skipped or added which call, at which site, as which number.
Decided here: which ranks can be compared, what the majority called, and when a difference in call sites
alone counts: only if it leaves a rank with a call too few or too many. With no majority nobody is blamed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from graphstore.link.matching import absence
from graphstore.link.matching.alignment import EXTRA, OTHER, SKIPPED, Edit, edits
from graphstore.link.matching.calls import Block, Bools
from graphstore.link.matching.collectives import Matched
from graphstore.link.matching.knowledge import DumpFacts
from graphstore.link.matching.signatures import Ints, SignatureColumns, Signatures

BEFORE, LONGEST = 8, 512  # calls before the first difference, and calls aligned at most
_END = -1  # in a table of sequences: no call any more


@dataclass
class Divergence:
    """A call that some ranks made and others did not, as number `seq` of those that made it.

    `action` is skipped or extra, as seen from the ranks in `differing`; with no majority it is None, and
    `differing` are those without the call.
    """

    seq: int
    action: str | None
    word: str
    site: str | None
    differing: list[int]
    others: list[int]
    is_swapped: bool = False
    explains: list[int] = field(default_factory=list)  # numbers from `seq` on that misfit or miss somebody

    @property
    def blamed(self) -> list[int]:
        """Return the ranks at fault: those that a majority stands against."""
        return self.differing if self.action else []


@dataclass
class _Sequences:
    """The calls of the comparable ranks from number `first` on, a row per rank, padded with _END."""

    first: int
    ranks: list[int]
    blocks: list[Block]
    table: Ints
    is_cut: bool  # some sequence goes on behind the table


def find_divergences(
    matched: Matched, facts: DumpFacts, signatures: Signatures, columns: SignatureColumns
) -> list[Divergence]:
    """Return the divergences of a group, by number; none where its sequences are alike as far as they go."""
    trouble = [int(seq) for seq in matched.seqs[_is_trouble(matched)]]
    sequences = _sequences(matched, facts, columns, trouble[0]) if trouble else None
    if sequences is None:
        return []
    majority = _majority(sequences.table)
    if majority is None:
        found = _without_majority(matched, sequences, signatures)
    else:
        found = _against(matched, sequences, majority, signatures)
    for divergence in found:
        divergence.explains = [seq for seq in trouble if seq >= divergence.seq]
    return sorted(found, key=lambda divergence: (divergence.seq, divergence.differing))


def _is_trouble(matched: Matched) -> Bools:
    wrong = {mismatch.seq for mismatch in matched.mismatches}
    return np.asarray((matched.verdict == "INCOMPLETE") | np.isin(matched.seqs, sorted(wrong)))


def _sequences(
    matched: Matched, facts: DumpFacts, columns: SignatureColumns, trouble: int
) -> _Sequences | None:
    """Return the comparable calls from BEFORE the first difference on; None where all are alike.

    Comparable are unfiltered dumps that reach back to the first trouble and have no hole behind it. Sites
    are compared only if all of them are recorded.
    """
    blocks = [
        member.block
        for member in matched.members
        if member.block is not None and member.kept.size and member.rank not in facts.filtered
    ]
    blocks = [block for block in blocks if block.seq[0] <= trouble and not (np.diff(block.seq) > 1).any()]
    if len(blocks) < 2:
        return None
    first = max(int(block.seq[0]) for block in blocks)
    with_sites = all((block.site >= 0).all() for block in blocks)
    rows = [_tokens(block, columns, with_sites)[first - int(block.seq[0]) :] for block in blocks]
    longest = max(rows, key=len)
    unlike = [np.flatnonzero(row != longest[: row.size]) for row in rows]
    differs_at = [int(places[0]) for places in unlike if places.size]
    if not differs_at:
        return None
    start = max(0, min(differs_at) - BEFORE)
    table = np.full((len(rows), min(LONGEST, longest.size - start)), _END, dtype=np.int64)
    for at, row in enumerate(rows):
        part = row[start : start + LONGEST]
        table[at, : part.size] = part
    is_cut = longest.size - start > LONGEST
    return _Sequences(first + start, [block.rank for block in blocks], blocks, table, is_cut)


def _tokens(block: Block, columns: SignatureColumns, with_sites: bool) -> Ints:
    tokens = columns.token[block.sig]
    return tokens * 2**32 + block.site if with_sites else tokens


def _majority(table: Ints) -> Ints | None:
    """Return what more than half of the ranks called, as far as any of them went; None where they split."""
    total, length = table.shape
    agreeing = np.ones(total, dtype=np.bool_)
    out = []
    for column in range(length):
        values = table[:, column]
        going = agreeing & (values != _END)
        if not going.any():
            break
        tokens, number = np.unique(values[going], return_counts=True)
        best = int(number.argmax())
        agreeing &= (values == tokens[best]) | (values == _END)
        if 2 * number[best] <= going.sum() or 2 * agreeing.sum() <= total:
            return None
        out.append(int(tokens[best]))
    return np.array(out, dtype=np.int64)


def _against(
    matched: Matched, sequences: _Sequences, majority: Ints, signatures: Signatures
) -> list[Divergence]:
    """Return how the ranks differ that the majority does not agree with, each distinct sequence once."""
    by_row: dict[bytes, list[int]] = {}
    for at, row in enumerate(sequences.table):
        size = int((row != _END).sum())
        if size > majority.size or (row[:size] != majority[:size]).any():
            by_row.setdefault(row.tobytes(), []).append(at)
    like = [at for at in range(len(sequences.ranks)) if all(at not in places for places in by_row.values())]
    out = []
    for places in by_row.values():
        found = edits(majority, _calls(sequences, places[0]))
        edit = _first_real(matched, sequences, found, places)
        if edit is not None:
            out.append(_divergence(sequences, edit, like, places, found, signatures))
    return out


def _without_majority(matched: Matched, sequences: _Sequences, signatures: Signatures) -> list[Divergence]:
    """Return how the most common sequence and the next that differs from it differ; neither is blamed."""
    by_row: dict[bytes, list[int]] = {}
    for at, row in enumerate(sequences.table):
        by_row.setdefault(row.tobytes(), []).append(at)
    first, *rest = sorted(by_row.values(), key=lambda places: (-len(places), places))
    reference = _calls(sequences, first[0])
    for second in rest:
        found = edits(reference, _calls(sequences, second[0]))
        edit = _first_real(matched, sequences, found, second)
        if edit is not None:
            divergence = _divergence(sequences, edit, first, second, found, signatures)
            if divergence.action == EXTRA:
                divergence.differing, divergence.others = divergence.others, divergence.differing
            divergence.action = None
            return [divergence]
    return []


def _calls(sequences: _Sequences, at: int) -> Ints:
    row: Ints = sequences.table[at]
    return np.compress(row != _END, row)


def _first_real(matched: Matched, sequences: _Sequences, found: list[Edit], places: list[int]) -> Edit | None:
    """Return the first call skipped or added, if it is the cause of a trouble of these ranks.

    It is if contents misfit from there on, or if it leaves a call too few or too many at the end.
    """
    gaps = [edit for edit in found if edit.action != OTHER]
    if not gaps:
        return None
    seq = sequences.first + (gaps[0].at if gaps[0].action == SKIPPED else gaps[0].at_other)
    ranks = {sequences.ranks[at] for at in places}
    if any(
        mismatch.seq >= seq and not ranks.isdisjoint(dict(mismatch.calls)) for mismatch in matched.mismatches
    ):
        return gaps[0]
    left_over = sum(1 if edit.action == SKIPPED else -1 for edit in gaps)
    if not left_over or sequences.is_cut:
        return None
    return gaps[0] if _leaves_gap(matched, seq, ranks, left_over > 0) else None


def _leaves_gap(matched: Matched, seq: int, ranks: set[int], too_few: bool) -> bool:
    """Return whether a later call misses one of these ranks, or (too many) they wait in one alone."""
    where = absence.NOT_REACHED if too_few else absence.PRESENT
    cells = np.flatnonzero((matched.verdict == "INCOMPLETE") & (matched.seqs >= seq))
    return any(not ranks.isdisjoint(matched.pattern_at(int(cell)).classes.get(where, ())) for cell in cells)


def _divergence(
    sequences: _Sequences,
    edit: Edit,
    like: list[int],
    unlike: list[int],
    found: list[Edit],
    signatures: Signatures,
) -> Divergence:
    is_skip = edit.action == SKIPPED
    seq = sequences.first + (edit.at if is_skip else edit.at_other)
    block = next(
        sequences.blocks[at]
        for at in (like if is_skip else unlike)
        if sequences.table[at, seq - sequences.first] != _END
    )
    row = seq - int(block.seq[0])
    return Divergence(
        seq,
        edit.action,
        signatures.items[block.sig[row]].word,
        signatures.site(int(block.site[row])),
        [sequences.ranks[at] for at in unlike],
        [sequences.ranks[at] for at in like],
        is_swapped={e.action for e in found if e.action != OTHER} == {SKIPPED, EXTRA},
    )
