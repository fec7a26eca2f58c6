from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphstore.link import align as aligning
from graphstore.link.align import Pairs, align, longest_common
from graphstore.link.nesting import Ints

NAMES = st.lists(st.integers(0, 3), max_size=14).map(lambda names: np.array(names, dtype=np.int64))


def _length(left: Ints, right: Ints) -> int:
    """Return the length of a longest common subsequence, by the table."""
    table = np.zeros((left.size + 1, right.size + 1), dtype=int)
    for i in range(left.size):
        for j in range(right.size):
            same = left[i] == right[j]
            table[i + 1, j + 1] = table[i, j] + 1 if same else max(table[i, j + 1], table[i + 1, j])
    return int(table[-1, -1])


def _assert_valid(left: Ints, right: Ints, pairs: Pairs) -> None:
    assert (left[pairs[0]] == right[pairs[1]]).all()
    assert (np.diff(pairs[0]) > 0).all()
    assert (np.diff(pairs[1]) > 0).all()


@settings(deadline=None)
@given(NAMES, NAMES)
def test_longest_common_is_longest(left: Ints, right: Ints) -> None:
    """The bit-parallel rows give a common subsequence as long as the table's."""
    pairs = longest_common(left, right)

    _assert_valid(left, right, pairs)
    assert pairs[0].size == _length(left, right)


@settings(deadline=None)
@given(NAMES, NAMES)
def test_short_sequences_are_aligned_exactly(left: Ints, right: Ints) -> None:
    """Taking equal ends first costs nothing."""
    pairs = align(left, right)

    _assert_valid(left, right, pairs)
    assert pairs[0].size == _length(left, right)


@settings(deadline=None)
@given(NAMES, NAMES, st.data())
def test_anchors_hold_and_those_that_cross_are_dropped(left: Ints, right: Ints, data: st.DataObject) -> None:
    """Whatever anchors are given, the pairs rise on both sides and hold a longest rising run of anchors."""
    places = [(i, j) for i in range(left.size) for j in range(right.size) if left[i] == right[j]]
    chosen = data.draw(st.lists(st.sampled_from(places), max_size=6, unique=True)) if places else []
    anchors = np.array(chosen, dtype=np.int64).reshape(-1, 2).T

    pairs = align(left, right, (anchors[0], anchors[1]))

    _assert_valid(left, right, pairs)
    kept = set(zip(pairs[0].tolist(), pairs[1].tolist(), strict=True)) & set(chosen)
    assert len(kept) >= _longest_run(chosen)


def _longest_run(points: list[tuple[int, int]]) -> int:
    points = sorted(points)
    best: list[int] = []
    for k, point in enumerate(points):
        below = [best[m] for m in range(k) if points[m][0] < point[0] and points[m][1] < point[1]]
        best.append(1 + max(below, default=0))
    return max(best, default=0)


def test_a_part_is_found_whole_in_the_longer_sequence() -> None:
    """One iteration of many alike is put at the first that fits, all of it."""
    iteration = np.arange(50)
    left, right = iteration, np.tile(iteration, 40)[7:]

    pairs = align(left, right)

    assert pairs[0].tolist() == list(range(50))
    assert pairs[1].tolist() == list(range(43, 93))


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let sequences of some hundred names count as long."""
    monkeypatch.setattr(aligning, "EXACT_CELLS", 100)
    monkeypatch.setattr(aligning, "WINDOW", 16)
    monkeypatch.setattr(aligning, "PROBES", (32, 8))


@pytest.mark.usefixtures("small_limits")
def test_long_sequences_with_a_few_differences_align_in_windows() -> None:
    """Of 1,000 names with 10 taken out on one side, all that are left align."""
    rng = np.random.default_rng(3)
    right = rng.integers(0, 30, 1000)
    left = np.delete(right, rng.choice(1000, 10, replace=False))

    pairs = align(left, right)

    _assert_valid(left, right, pairs)
    assert pairs[0].size == left.size


@pytest.mark.usefixtures("small_limits")
def test_a_part_with_differences_is_placed_by_a_piece_of_it() -> None:
    """A part of a much longer sequence, one name lost at each end, is found by its middle."""
    right = np.random.default_rng(4).integers(0, 30, 3000)
    left = np.delete(right[1000:1200], [5, 190])

    pairs = align(left, right)

    assert pairs[0].size == left.size
    assert pairs[1].min() >= 1000


@pytest.mark.usefixtures("small_limits")
def test_long_sequences_without_anything_in_common_end() -> None:
    """Nothing in common: no pairs, and no endless search."""
    assert align(np.zeros(500, dtype=np.int64), np.ones(500, dtype=np.int64))[0].size == 0
