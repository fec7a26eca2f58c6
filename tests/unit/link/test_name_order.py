from __future__ import annotations

import numpy as np

from graphstore.link.host_host import could_be_seen
from graphstore.link.name_order import match_by_name_order
from tests.data.builders import Row, node, roots, span, table


def _match(nodes: list[Row], spans: list[Row]) -> tuple[list[int], int]:
    """Return the Kineto place of each node but the roots, and the number of anchors."""
    et, kineto = table("host_ops", [*roots(), *nodes]), table("host_ops", spans)
    partner, anchors = match_by_name_order(et, kineto, could_be_seen(et))
    return partner[2:].tolist(), anchors


def test_ops_stand_in_the_order_of_their_ids_not_of_the_file() -> None:
    """An execution trace is written at exit; its ids say who was entered first."""
    partner, _ = _match(
        [node(6, "inner", 5), node(5, "outer", 2), node(7, "last", 2)],
        [span("outer", 0, 9), span("inner", 1, 2), span("last", 10, 11)],
    )

    assert partner == [1, 0, 2]


def test_external_id_orders_what_one_microsecond_hides() -> None:
    """Two ops of one start are told apart by External id; by time alone one of them would be lost."""
    spans = [span("b", 5000, 5000, external_id=11), span("a", 5000, 5000, external_id=10)]
    nodes = [node(5, "a", 2), node(6, "b", 2)]

    with_ids, _ = _match(nodes, spans)
    without, _ = _match(nodes, [row | {"external_id": None} for row in spans])

    assert with_ids == [1, 0]
    assert without.count(-1) == 1


def test_threads_are_paired_by_what_runs_on_them() -> None:
    """tid 1 is not the first thread: the pairing under which most names align is taken."""
    forward, backward = ["fwd", "add", "mul"], ["bwd", "sub", "neg", "add"]
    nodes = [node(10 + n, name, 2, tid=1) for n, name in enumerate(forward)]
    nodes += [node(20 + n, name, 2, tid=2) for n, name in enumerate(backward)]
    spans = [span(name, n * 10, n * 10 + 5, thread=4) for n, name in enumerate(backward)]
    spans += [span(name, n * 10, n * 10 + 5, thread=9) for n, name in enumerate(forward)]

    partner, _ = _match(nodes, spans)

    assert partner == [4, 5, 6, 0, 1, 2, 3]


def test_one_tid_may_stand_for_two_threads() -> None:
    """What the first thread leaves over is aligned with the thread still free."""
    nodes = [node(10 + n, name, 2) for n, name in enumerate(["a", "b", "work", "c", "work2", "d"])]
    spans = [span(name, n * 10, n * 10 + 5, thread=1) for n, name in enumerate("abcd")]
    spans += [span(name, n * 10, n * 10 + 5, thread=2) for n, name in enumerate(["work", "work2"])]

    partner, _ = _match(nodes, spans)

    assert partner == [0, 1, 4, 2, 5, 3]


def test_a_thread_that_hardly_fits_is_left_alone() -> None:
    """One name of five in common is chance, not a match."""
    nodes = [node(10 + n, name, 2) for n, name in enumerate("abcde")]
    spans = [span(name, n * 10, n * 10 + 5) for n, name in enumerate("vwxye")]

    assert _match(nodes, spans) == ([-1] * 5, 0)


def test_autograd_numbers_tell_alike_iterations_apart() -> None:
    """One iteration of three is put where its sequence numbers are; without them at the first that fits."""
    names = ["fwd", "add", "bwd"]
    nodes = [node(10 + n, name, 2, autograd_seq_id=200 + n) for n, name in enumerate(names)]
    spans = [
        span(name, 100 * turn + n, 100 * turn + n, autograd_seq_id=100 * turn + n)
        for turn in range(1, 4)
        for n, name in enumerate(names)
    ]

    assert _match(nodes, spans) == ([3, 4, 5], 3)
    assert _match([row | {"autograd_seq_id": None} for row in nodes], spans) == ([0, 1, 2], 0)


def test_no_ops_on_a_side_is_no_match() -> None:
    """An empty table matches nothing and is no error."""
    assert _match([], [span("a", 0, 1)]) == ([], 0)
    assert _match([node(5, "a", 2)], []) == ([-1], 0)
    assert np.array_equal(could_be_seen(table("host_ops", roots())), [False, False])
