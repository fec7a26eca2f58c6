from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphstore.link.matching.alignment import EXTRA, OTHER, SKIPPED, Edit, edits
from graphstore.link.matching.signatures import Ints

CALLS = st.lists(st.integers(0, 3), max_size=12)


def _ints(text: str) -> Ints:
    return np.array([ord(letter) for letter in text], dtype=np.int64)


def _edits(reference: str, other: str) -> list[tuple[str, int, int]]:
    return [(edit.action, edit.at, edit.at_other) for edit in edits(_ints(reference), _ints(other))]


def test_a_skipped_call_is_found_where_it_was() -> None:
    """`c` is absent from the middle; what follows is as before."""
    assert _edits("abcdef", "abdef") == [(SKIPPED, 2, 2)]


def test_an_extra_call_is_found_where_it_is() -> None:
    """`X` stands before the third call."""
    assert _edits("abcd", "abXcd") == [(EXTRA, 2, 2)]


def test_another_call_in_place_of_one_is_cheaper_than_two_gaps() -> None:
    """`X` instead of `c`, not a call skipped and another added."""
    assert _edits("abcd", "abXd") == [(OTHER, 2, 2)]


def test_a_gap_at_the_end_is_lack_of_progress() -> None:
    """One sequence simply goes on further; nothing was skipped."""
    assert _edits("abcd", "ab") == []
    assert _edits("ab", "abcd") == []


def test_equal_calls_invent_no_early_skip() -> None:
    """Without sites all calls look alike: the gap is put at the end, where it is none."""
    assert _edits("aaaa", "aaa") == []
    assert _edits("baaaab", "baaab") == [(SKIPPED, 4, 4)]  # as late as possible


def test_swapped_calls_are_a_skip_and_an_extra_one() -> None:
    """`bc` made as `cb`: `b` was skipped at its place and made later."""
    assert _edits("abcd", "acbd") == [(SKIPPED, 1, 1), (EXTRA, 3, 2)]


@given(CALLS, CALLS)
def test_edits_and_the_rest_make_one_of_the_other(reference: list[int], other: list[int]) -> None:
    """Played on the reference, and cut where either ends, the edits give the other sequence."""
    found = edits(np.array(reference, dtype=np.int64), np.array(other, dtype=np.int64))

    rebuilt, at = [], 0
    for edit in found:
        rebuilt += reference[at : edit.at]
        at = edit.at + (edit.action != EXTRA)
        if edit.action != SKIPPED:
            rebuilt.append(other[edit.at_other])
    rebuilt += reference[at:]
    shorter = min(len(rebuilt), len(other))
    assert rebuilt[:shorter] == other[:shorter]


@given(CALLS)
def test_equal_sequences_have_no_edits(calls: list[int]) -> None:
    """Nothing to find where nothing differs."""
    sequence = np.array(calls, dtype=np.int64)
    none: list[Edit] = []

    assert edits(sequence, sequence) == none
