from __future__ import annotations

from typing import Any

import polars as pl

from graphstore.export.report.communication import COLUMNS, OPERATIONS, RANKS, communication_of

EXPOSED = pl.DataFrame(
    {
        "rank": [0, 0, 1],
        "group": ["0", None, "0"],
        "collective_kind": ["all_reduce", "send", "all_reduce"],
        "calls": [2, 1, 2],
        "duration_ns": [30, 5, 40],
        "exposed_ns": [10, 5, 40],
        "overlapped_ns": [20, 0, 0],
    }
)


def call(
    rank: int, seq: int, wait: int, transfer: int, group: str = "0", kind: str = "all_reduce"
) -> dict[str, Any]:
    """Return a row of communication/show_wait_and_transfer; the collective begins at 100 times its number."""
    return {
        "rank": rank,
        "group": group,
        "collective_kind": kind,
        "collective": seq,
        "start_ns": 100 * seq + rank,
        "duration_ns": wait + transfer,
        "wait_ns": wait,
        "transfer_ns": transfer,
    }


def test_calls_are_summed_by_rank_and_operation() -> None:
    """Wait and transfer add up to the measured time, as they do in each call."""
    found = communication_of(pl.DataFrame([call(0, 1, 7, 3), call(0, 2, 0, 3), call(1, 1, 0, 3)]), EXPOSED)

    assert found.split.rows() == [
        (0, "all_reduce, group 0", 2, 13, 7, 6),
        (1, "all_reduce, group 0", 1, 3, 0, 3),
    ]
    assert found.exposed.select("rank", "operation", "exposed_ns").rows() == [
        (0, "all_reduce, group 0", 10),
        (0, "send", 5),
        (1, "all_reduce, group 0", 40),
    ]


def test_more_operations_than_columns_are_summed_by_kind() -> None:
    """With a group too many the groups are no longer told apart."""
    few = communication_of(
        pl.DataFrame([call(0, n, 1, 1, group=f"g{n}") for n in range(OPERATIONS)]), EXPOSED
    )
    many = communication_of(
        pl.DataFrame([call(0, n, 1, 1, group=f"g{n}") for n in range(OPERATIONS + 1)]), EXPOSED
    )

    assert few.split.height == OPERATIONS
    assert many.split.select("operation", "calls").rows() == [("all_reduce", OPERATIONS + 1)]


def test_collectives_stand_in_the_order_in_which_they_began() -> None:
    """The numbers of the keys don't matter; where there are too many, several share a column."""
    few = communication_of(pl.DataFrame([call(0, 9, 5, 1), call(0, 3, 4, 1)]), EXPOSED)
    many = communication_of(pl.DataFrame([call(0, n, 1, 1) for n in range(2 * COLUMNS + 1)]), EXPOSED)

    assert few.in_order.rows() == [(0, 1, 4), (0, 2, 5)]
    assert (many.together, many.in_order["place"].max(), many.in_order["wait_ns"].sum()) == (3, 81, 241)


def test_the_ranks_that_waited_longest_are_drawn() -> None:
    """Of more ranks than rows those with the least wait are left out."""
    found = communication_of(pl.DataFrame([call(rank, 1, rank, 1) for rank in range(RANKS + 2)]), EXPOSED)

    assert found.waiting_ranks == list(range(2, RANKS + 2))


def test_without_a_call_there_is_nothing() -> None:
    """Frames as a store gives them when no row is there: without types."""
    nothing = communication_of(pl.DataFrame(schema=dict.fromkeys(call(0, 1, 1, 1))), EXPOSED.clear())

    assert (nothing.split.height, nothing.exposed.height, nothing.in_order.height) == (0, 0, 0)
