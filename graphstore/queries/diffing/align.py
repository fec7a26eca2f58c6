"""Which op of one run is which op of the other: trees laid beside each other, and what is left over.

In:  two `Tree`s of one rank. Out: an `Alignment`: for each row its partner, and which pairs were moved.
Decided here: ops are the same when their names are and their callers are the same ops; among the ops of one
caller the order decides (an alignment with the most equal names, so that one op more in the middle is one op
more, not a change of all that follow). Where the order leaves a choice (one of five equal names is new), the
choice is the one with the most equal subtrees, then with the most similar times. What is then left over on
both sides with an equal subtree was moved. Exchanging the runs exchanges the answer, nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphstore.link.align import align as align_names
from graphstore.link.nesting import Bools, Ints
from graphstore.queries.diffing.trees import Tree

EXACT_CELLS = 1 << 22  # 2,000 x 2,000 children of one caller, 32 MB; beyond that names alone decide
ABSENT = -1


@dataclass(frozen=True)
class Alignment:
    """`partner_a[row of a]` = row of b, -1 for none; `partner_b` the reverse; `moved_a`: whether it moved."""

    partner_a: Ints
    partner_b: Ints
    moved_a: Bools

    def pairs(self) -> tuple[Ints, Ints]:
        """Return the rows of all pairs, in the order of a."""
        at_a = np.flatnonzero(self.partner_a >= 0)
        return at_a, self.partner_a[at_a]


@dataclass(frozen=True)
class Items:
    """A sequence to be aligned: `code` of the name, `shape` of what hangs below, `duration`."""

    code: Ints
    shape: np.ndarray[tuple[int], np.dtype[np.uint64]]
    duration: Ints

    def __getitem__(self, rows: slice) -> Items:
        """Return a part of it."""
        return Items(self.code[rows], self.shape[rows], self.duration[rows])

    def key(self) -> tuple[bytes, bytes]:
        """Return what orders two sequences, so that which of the runs is called A makes no difference."""
        return self.code.tobytes(), self.duration.tobytes()


def align_sequences(a: Items, b: Items) -> tuple[Ints, Ints]:
    """Return the places (in a, in b) of the items that are the same, both rising."""
    if np.array_equal(a.code, b.code):
        every = np.arange(a.code.size)
        return every, every
    if b.key() < a.key():
        at_b, at_a = _aligned(b, a)
        return at_a, at_b
    return _aligned(a, b)


def _aligned(a: Items, b: Items) -> tuple[Ints, Ints]:
    """Align two sequences that differ: ends that are equal in all are taken whole, the middle is chosen."""
    head = _equal_run(a, b)
    tail = _equal_run(_reversed(a[head:]), _reversed(b[head:]))
    middle = (a[head : a.code.size - tail], b[head : b.code.size - tail])
    if middle[0].code.size * middle[1].code.size <= EXACT_CELLS:
        inner = _best(*middle)
    else:
        inner = align_names(middle[0].code, middle[1].code)
    ends = np.arange(tail)
    return (
        np.concatenate([np.arange(head), inner[0] + head, ends + a.code.size - tail]),
        np.concatenate([np.arange(head), inner[1] + head, ends + b.code.size - tail]),
    )


def _reversed(items: Items) -> Items:
    return items[:: -1 if items.code.size else 1]


def _equal_run(a: Items, b: Items) -> int:
    """Return how many items are equal in name, shape and time from the start on."""
    size = min(a.code.size, b.code.size)
    differ = (
        (a.code[:size] != b.code[:size])
        | (a.shape[:size] != b.shape[:size])
        | (a.duration[:size] != b.duration[:size])
    )
    found = np.flatnonzero(differ)
    return int(found[0]) if found.size else size


def _best(a: Items, b: Items) -> tuple[Ints, Ints]:
    """Return the alignment with the most equal names; of these the one most alike in shapes, then in times.

    The usual table of the longest common subsequence, a row at a time: as gaps cost nothing, a row is a
    running maximum. The weights keep the three aims in that order: all shapes weigh less than one name,
    all times less than one shape.
    """
    count = max(min(a.code.size, b.code.size), 1)
    table = np.zeros((a.code.size + 1, b.code.size + 1))
    times_a, times_b = (np.log1p(np.maximum(side.duration, 0).astype(np.float64)) for side in (a, b))
    weights = []
    for i in range(a.code.size):
        alike = np.exp(-np.abs(times_b - times_a[i])) / (4 * count * count)
        weight = np.where(b.code == a.code[i], 1 + (b.shape == a.shape[i]) / (2 * count) + alike, -np.inf)
        weights.append(b.code == a.code[i])
        table[i + 1, 1:] = np.maximum.accumulate(np.maximum(table[i, 1:], table[i, :-1] + weight))
    out = []
    i, j = a.code.size, b.code.size
    while i and j:
        if table[i, j] == table[i - 1, j]:
            i -= 1
        elif table[i, j] == table[i, j - 1]:
            j -= 1
        else:
            i, j = i - 1, j - 1
            out.append((i, j))
    pairs = np.array(out[::-1], dtype=np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def align_trees(a: Tree, b: Tree) -> Alignment:
    """Return which op of `a` is which op of `b`."""
    found = Alignment(
        np.full(a.uid.size, ABSENT, dtype=np.int64),
        np.full(b.uid.size, ABSENT, dtype=np.int64),
        np.zeros(a.uid.size, dtype=np.bool_),
    )
    stack = [_outermost(a, b, role) for role in sorted({*a.role.unique(), *b.role.unique()})]
    while stack:
        rows_a, rows_b = stack.pop()
        at_a, at_b = align_sequences(_items(a, rows_a), _items(b, rows_b))
        for row_a, row_b in zip(rows_a[at_a].tolist(), rows_b[at_b].tolist(), strict=True):
            if a.shape[row_a] == b.shape[row_b]:
                _pair(found, row_a, row_b, int(a.size[row_a]))
            else:
                _pair(found, row_a, row_b, 1)
                stack.append((a.children(row_a), b.children(row_b)))
    _find_moved(a, b, found)
    return found


def _outermost(a: Tree, b: Tree, role: str) -> tuple[Ints, Ints]:
    """Return the outermost ops of the threads of one role, in both runs."""
    first, second = (np.flatnonzero((tree.parent < 0) & (tree.role == role).to_numpy()) for tree in (a, b))
    return first, second


def _items(tree: Tree, rows: Ints) -> Items:
    return Items(tree.code[rows], tree.shape[rows], tree.duration[rows])


def _pair(found: Alignment, row_a: int, row_b: int, size: int) -> None:
    """Pair two subtrees of one shape, op by op."""
    found.partner_a[row_a : row_a + size] = np.arange(row_b, row_b + size)
    found.partner_b[row_b : row_b + size] = np.arange(row_a, row_a + size)


def tops_of(tree: Tree, partner: Ints) -> Ints:
    """Return the rows without a partner whose caller has one, or that have no caller."""
    alone = partner == ABSENT
    above = np.where(tree.parent >= 0, alone[np.maximum(tree.parent, 0)], False) if alone.size else alone
    return np.flatnonzero(alone & ~above)


def _find_moved(a: Tree, b: Tree, found: Alignment) -> None:
    """Pair what is left over on both sides with equal subtrees in the same step, the largest first.

    One of the two has to be a whole addition or removal: what lies inside of both is no move.
    """
    tops_a, tops_b = set(tops_of(a, found.partner_a).tolist()), set(tops_of(b, found.partner_b).tolist())
    places: dict[tuple[int, int], tuple[list[int], list[int]]] = {}
    for side, (tree, partner) in enumerate(((a, found.partner_a), (b, found.partner_b))):
        for row in np.flatnonzero(partner == ABSENT).tolist():
            key = (int(tree.shape[row]), int(tree.step[row]))
            places.setdefault(key, ([], []))[side].append(row)
    both = [rows for rows in places.values() if rows[0] and rows[1]]
    for rows_a, rows_b in sorted(both, key=lambda rows: -int(a.size[rows[0][0]])):
        free_a = [row for row in rows_a if found.partner_a[row] == ABSENT]
        free_b = [row for row in rows_b if found.partner_b[row] == ABSENT]
        for row_a, row_b in zip(free_a, free_b, strict=False):
            if row_a in tops_a or row_b in tops_b:
                size = int(a.size[row_a])
                _pair(found, row_a, row_b, size)
                found.moved_a[row_a : row_a + size] = True
