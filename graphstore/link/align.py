"""Align two sequences of names: the execution trace's ops of a thread and Kineto's.

In:  two int arrays (name codes) and, where known, anchors: pairs of places that are surely one op.
Out: the pairs of places that belong together, both rising. Decided here: what is exact and what is not.
Equal runs are taken whole; what lies between is a longest common subsequence, exact up to EXACT_CELLS,
beyond that in windows, so that a million ops that differ here and there cost no more than n log n.
"""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

from graphstore.link.nesting import Ints

EXACT_CELLS = 1 << 29  # 64 MB of rows: 23,000 x 23,000 names
WINDOW = 4096  # names looked at on each side of a difference in longer sequences
PROBES = (4096, 512, 64)  # lengths of the pieces looked for when one sequence is a part of the other

Pairs = tuple[Ints, Ints]
_NONE = np.empty(0, dtype=np.int64)


def align(left: Ints, right: Ints, anchors: Pairs = (_NONE, _NONE)) -> Pairs:
    """Return the places (in `left`, in `right`) of the names aligned, both strictly rising.

    Anchors that cross others are dropped (longest rising run). Without anchors, a `left` found whole in
    `right` is put at its first place there.
    """
    at_left, at_right = _rising(*anchors)
    if not at_left.size:
        at_left, at_right = _seed(left, right)
    if not at_left.size:
        return _align_gap(left, right)
    parts: list[Pairs] = [(at_left, at_right), _before(left[: at_left[0]], right[: at_right[0]])]
    # an anchor is often followed by the next one: only true gaps are aligned
    gaps = np.flatnonzero((np.diff(at_left) > 1) & (np.diff(at_right) > 1))
    for gap in gaps.tolist():
        i, j = int(at_left[gap]) + 1, int(at_right[gap]) + 1
        found = _align_gap(left[i : at_left[gap + 1]], right[j : at_right[gap + 1]])
        parts.append((found[0] + i, found[1] + j))
    i, j = int(at_left[-1]) + 1, int(at_right[-1]) + 1
    found = _after(left[i:], right[j:])
    parts.append((found[0] + i, found[1] + j))
    return np.sort(np.concatenate([p[0] for p in parts])), np.sort(np.concatenate([p[1] for p in parts]))


def _after(left: Ints, right: Ints) -> Pairs:
    """Align what lies behind the last anchor: the other sequence may go on long after this one ends."""
    return _align_gap(left, right[: 2 * left.size + WINDOW])


def _before(left: Ints, right: Ints) -> Pairs:
    """Align what lies before the first anchor, from the anchor backwards."""
    found = _after(left[::-1], right[::-1])
    return left.size - 1 - found[0], right.size - 1 - found[1]


def _rising(at_left: Ints, at_right: Ints) -> Pairs:
    """Return the longest run of anchors that rises on both sides (patience sorting, n log n)."""
    order = np.lexsort((-at_right, at_left))
    at_left, at_right = at_left[order], at_right[order]
    if at_left.size < 2 or bool(np.all((np.diff(at_left) > 0) & (np.diff(at_right) > 0))):
        return at_left, at_right
    values: list[int] = []  # lowest end of a rising run, by its length
    tails: list[int] = []  # the anchor that ends it
    before = []
    for k, value in enumerate(at_right.tolist()):
        length = bisect_left(values, value)
        before.append(tails[length - 1] if length else -1)
        values[length : length + 1], tails[length : length + 1] = [value], [k]
    kept = []
    k = tails[-1]
    while k >= 0:
        kept.append(k)
        k = before[k]
    return at_left[kept[::-1]], at_right[kept[::-1]]


def _seed(left: Ints, right: Ints) -> Pairs:
    """Return anchors from a piece of `left` that stands in `right`; none where the exact way is affordable.

    The whole of `left` first, then ever shorter pieces from its middle.
    """
    if 0 < left.size <= right.size and (at := _find(left, right)) >= 0:
        return np.arange(left.size), np.arange(at, at + left.size)
    if left.size * right.size <= EXACT_CELLS or abs(left.size - right.size) < min(left.size, right.size) // 2:
        return _NONE, _NONE
    for length in PROBES:
        for start in (left.size // 2, left.size // 4, 0):
            piece = left[start : start + length]
            # from `start` on, so that what comes before the piece has room too
            if piece.size == length and (at := _find(piece, right, start)) >= 0:
                return np.arange(start, start + length), np.arange(at, at + length)
    return _NONE, _NONE


def _find(piece: Ints, whole: Ints, start: int = 0) -> int:
    """Return the first place ≥ `start` of `piece` in `whole`, -1 for none; linear (bytes.find, two-way)."""
    needle, haystack = piece.astype(np.int32).tobytes(), whole.astype(np.int32).tobytes()
    at = haystack.find(needle, 4 * start)
    while at > 0 and at % 4:
        at = haystack.find(needle, at + 1)
    return at // 4 if at >= 0 else -1


def _align_gap(left: Ints, right: Ints) -> Pairs:
    """Align what lies between two anchors: equal ends, then the longest common subsequence of the rest."""
    head = _equal_run(left, right)
    tail = _equal_run(left[head:][::-1], right[head:][::-1])
    middle_left, middle_right = left[head : left.size - tail], right[head : right.size - tail]
    if middle_left.size * middle_right.size <= EXACT_CELLS:
        inner = longest_common(middle_left, middle_right)
    else:
        inner = _in_windows(middle_left, middle_right)
    ends = np.arange(tail)
    return (
        np.concatenate([np.arange(head), inner[0] + head, ends + left.size - tail]),
        np.concatenate([np.arange(head), inner[1] + head, ends + right.size - tail]),
    )


def _equal_run(left: Ints, right: Ints) -> int:
    """Return how many names are equal from the start on."""
    size = min(left.size, right.size)
    for start in range(0, size, 1 << 16):
        stop = min(start + (1 << 16), size)
        differ = np.flatnonzero(left[start:stop] != right[start:stop])
        if differ.size:
            return start + int(differ[0])
    return size


def _in_windows(left: Ints, right: Ints) -> Pairs:
    """Align long sequences: equal runs whole, and at each difference the best of a window of both.

    Of a window only the first half is believed: its end has not seen what comes after.
    """
    parts: list[Pairs] = []
    i = j = 0
    while i < left.size and j < right.size:
        run = _equal_run(left[i:], right[j:])
        if run:
            parts.append((np.arange(i, i + run), np.arange(j, j + run)))
            i, j = i + run, j + run
            continue
        found = longest_common(left[i : i + WINDOW], right[j : j + WINDOW])
        kept = max(1, found[0].size // 2) if found[0].size else 0
        if not kept:
            i, j = i + WINDOW, j + WINDOW
            continue
        parts.append((found[0][:kept] + i, found[1][:kept] + j))
        i, j = int(parts[-1][0][-1]) + 1, int(parts[-1][1][-1]) + 1
    if not parts:
        return _NONE, _NONE
    return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])


def longest_common(left: Ints, right: Ints) -> Pairs:
    """Return one longest common subsequence as places in both.

    Bit-parallel (Crochemore and others 2001): a row of the table is one integer of right.size bits whose
    zeros mark where the length grows; the rows are kept and walked back.
    """
    if not left.size or not right.size:
        return _NONE, _NONE
    places = {
        name: int.from_bytes(np.packbits(right == name, bitorder="little").tobytes(), "little")
        for name in np.unique(left).tolist()
    }
    size = -(-right.size // 8)
    full = row = (1 << right.size) - 1
    rows = []
    for name in left.tolist():
        match = places[name]
        row = ((row + (row & match)) | (row & ~match)) & full
        rows.append(row.to_bytes(size, "little"))
    pairs = _walk_back(rows, right.size)
    return np.array([p[0] for p in pairs], dtype=np.int64), np.array([p[1] for p in pairs], dtype=np.int64)


def _walk_back(rows: list[bytes], width: int) -> list[tuple[int, int]]:
    """Return the pairs of a longest common subsequence from the rows of its table.

    In row i a zero at bit j says that the length of (left up to i, right up to j) exceeds that up to j - 1.
    """
    out = []
    i, j = len(rows) - 1, width - 1
    while i >= 0 and j >= 0:
        byte, bit = j >> 3, 1 << (j & 7)
        if rows[i][byte] & bit:
            j -= 1
        elif i and not rows[i - 1][byte] & bit:
            i -= 1
        else:
            out.append((i, j))
            i, j = i - 1, j - 1
    return out[::-1]
