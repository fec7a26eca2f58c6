from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from graphstore.link.peers.flow import possible_pairs


def found(
    sends: list[int], recvs: list[int], pairs: list[tuple[int, int]]
) -> tuple[list[bool], list[tuple[int, int]]]:
    """Return which sends are satisfied, and the pairs that are possible."""
    source, target = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    satisfied, possible = possible_pairs(np.array(sends), np.array(recvs), source, target)
    return satisfied.tolist(), [pair for pair, is_used in zip(pairs, possible, strict=True) if is_used]


def test_a_class_that_only_one_other_fits_takes_it_from_the_rest() -> None:
    """Sends 1 fit recvs 1 only, so that sends 0 are left with recvs 0."""
    assert found([2, 3], [2, 3], [(0, 0), (0, 1), (1, 1)]) == ([True, True], [(0, 0), (1, 1)])


def test_what_can_be_exchanged_is_possible() -> None:
    """Both fit both."""
    pairs = [(0, 0), (0, 1), (1, 0), (1, 1)]

    assert found([1, 1], [1, 1], pairs) == ([True, True], pairs)


def test_sends_without_enough_recvs_are_not_satisfied() -> None:
    """Two sends, one recv; and nothing fits nothing."""
    assert found([2], [1], [(0, 0)])[0] == [False]
    assert found([1], [], [])[0] == [False]


@settings(max_examples=200)
@given(st.data())
def test_every_pair_that_some_complete_pairing_uses_is_possible_and_no_other(data: st.DataObject) -> None:
    """Compared with trying all flows of up to three classes on each side."""
    counts = st.lists(st.integers(1, 2), min_size=1, max_size=3)
    sends, recvs = data.draw(counts), data.draw(counts)
    every = list(product(range(len(sends)), range(len(recvs))))
    pairs = sorted(data.draw(st.sets(st.sampled_from(every), min_size=1)))
    used: set[tuple[int, int]] = set()
    for flow in product(range(3), repeat=len(pairs)):
        taken = dict(zip(pairs, flow, strict=True))
        outs = [sum(n for (s, _), n in taken.items() if s == at) for at in range(len(sends))]
        ins = [sum(n for (_, r), n in taken.items() if r == at) for at in range(len(recvs))]
        if outs == sends and ins == recvs:
            used |= {pair for pair, n in taken.items() if n}

    satisfied, possible = found(sends, recvs, pairs)

    if sum(sends) == sum(recvs):
        assert all(satisfied) == bool(used)
    if used:
        assert possible == sorted(used)
