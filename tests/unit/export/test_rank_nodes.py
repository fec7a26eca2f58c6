"""The nodes of a file ready to be written: whole µs, communications, what waits for whom."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphstore.chakra.et_def_pb2 import NodeType
from graphstore.export.chakra import RankNodes
from graphstore.export.columns import RankColumns
from graphstore.export.communication import Communication
from graphstore.export.rank_nodes import microseconds, rank_nodes
from tests.unit.export.ranks import call, kernel, op, rank_of, timed

CALL = Communication(NodeType.COMM_COLL_NODE, ())


def ready(columns: RankColumns, *communications: int) -> RankNodes:
    """Return the nodes; `communications` are places of ops."""
    return rank_nodes(columns, dict.fromkeys(communications, CALL))[0]


def test_halves_are_rounded_upwards_at_every_edge() -> None:
    """Never to even, which would pull two neighbours apart."""
    assert microseconds(np.array([499, 500, 1_500, 2_500, 2_499])).tolist() == [0, 1, 2, 3, 2]


def test_a_short_op_is_rounded_not_cut() -> None:
    """0.9 µs is 1 µs; the converter that cut it to 0 lost up to 6 % of a span."""
    rank = ready(rank_of([], kernels=[kernel(1, 0, 900), kernel(2, 900, 1_800)]))

    assert rank.duration_us.tolist() == [1, 1]


@given(st.lists(st.integers(1, 4_000), min_size=1, max_size=30))
def test_the_nodes_of_a_thread_add_up_to_its_rounded_span(lengths: list[int]) -> None:
    """However many pieces there are, the sum is off by less than 1 µs: dependencies 4.16."""
    edges = [0, *np.cumsum(lengths).tolist()]
    inner = [timed(uid, edges[k], edges[k + 1]) for uid, k in enumerate(range(0, len(lengths), 2), start=2)]

    rank = ready(rank_of([timed(1, 0, edges[-1]), *inner]))

    assert rank.duration_us.sum() == (edges[-1] + 500) // 1_000
    assert (rank.start_us[1:] == (rank.start_us + rank.duration_us)[:-1]).all()


def test_the_first_piece_tells_what_the_op_did_in_all() -> None:
    """Its own work, without what it encloses and without waiting; and its whole duration."""
    rank = ready(
        rank_of(
            [timed(1, 0, 10_000), timed(2, 1_000, 3_000)],
            [kernel(11, 0, 8_000)],
            [call(21, 4_000, 8_500)],
            SYNC=[(11, 21, "host_wait.certain")],
        )
    )

    own = dict(zip(rank.place.tolist(), rank.self_us.tolist(), strict=True))
    assert rank.self_us[0] == 1 + 1 + 2  # up to 1, from 3 to 4, from 8 to 10
    assert rank.total_us[0] == 10
    assert [value == value for value in rank.self_us] == [kind == 0 for kind in rank.nodes.kind.tolist()]
    assert own[1] == 2


def test_further_pieces_name_the_place_of_the_first() -> None:
    """For `part_of`; gaps and device ops are part of nothing."""
    rank = ready(rank_of([timed(1, 0, 100), timed(2, 20, 30), timed(3, 200, 210)], [kernel(11, 0, 5)]))

    by_place = list(zip(rank.place.tolist(), rank.first.tolist(), strict=True))
    assert by_place == [(0, 0), (3, -1), (1, 2), (0, 0), (-1, -1), (2, 5)]


def test_a_communication_is_the_longest_piece_of_its_op() -> None:
    """An op in three pieces of 2, 5 and 5 µs is one communication: the first of the longest."""
    rank = ready(rank_of([timed(1, 0, 14_000), timed(2, 2_000, 3_000), timed(3, 8_000, 9_000)]), 0)

    assert rank.place.tolist() == [0, 1, 0, 2, 0]
    assert list(rank.communications) == [2]


def test_a_communication_that_is_a_device_op_is_its_node() -> None:
    """Host ops come first among the places."""
    rank = ready(rank_of([timed(1, 0, 5_000)], [kernel(11, 2_000, 3_000)]), 1)

    assert [rank.place[node] for node in rank.communications] == [1]


def test_a_node_names_all_rules_that_make_it_wait() -> None:
    """Orders and launches are no reason to name."""
    rank = ready(
        rank_of(
            [timed(1, 0, 1_000)],
            [kernel(11, 500, 20_000), kernel(12, 600, 21_000, 8), kernel(13, 22_000, 23_000, 9)],
            [call(21, 100, 200)],
            LAUNCHES=[(21, 11), (21, 12), (21, 13)],
            SYNC=[(11, 13, "stream_wait.recorded"), (12, 13, "collective_wait.likely")],
        )
    )

    assert rank.rule[-1] == "collective_wait.likely, stream_wait.recorded"
    assert set(rank.rule[:-1]) == {""}


def test_an_op_without_times_has_neither_start_nor_duration() -> None:
    """Nothing is invented where the files hold no times."""
    rank = ready(rank_of([op(1), timed(2, 5_000, 6_000)]))

    shown = dict(zip(rank.place.tolist(), zip(rank.start_us, rank.duration_us, strict=True), strict=True))
    assert shown == {0: (-1, -1), 1: (5, 1)}
    assert np.isnan(rank.self_us[rank.place == 0]).all()
