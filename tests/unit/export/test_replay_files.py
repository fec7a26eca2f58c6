"""Written files played again: alone, and together with collectives as meetings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from graphstore.chakra.et_def_pb2 import Node, NodeType
from graphstore.errors import InputError
from graphstore.export.replay_files import FileNodes, alone, file_nodes, together

FILE = Path("run.0.et")


def node(number: int, start: int, duration: int, deps: list[int] | None = None, **attributes: Any) -> Node:
    """Return a CPU node, or with `collective` one; attribute values are numbers, texts or truth values."""
    made = Node(
        id=number,
        name=attributes.pop("name", "op"),
        type=NodeType.COMM_COLL_NODE if attributes.pop("collective", False) else NodeType.COMP_NODE,
        start_time_micros=start,
        duration_micros=duration,
        data_deps=deps or [],
    )
    for name, value in ({"is_cpu_op": made.type == NodeType.COMP_NODE} | attributes).items():
        field = {bool: "bool_val", int: "int64_val", str: "string_val"}[type(value)]
        made.attr.add(**{"name": name, field: value})
    return made


def played(*nodes: Node, rank: int = 0) -> FileNodes:
    """Return the nodes of a file."""
    return file_nodes(FILE, rank, nodes)


def test_a_rank_alone_is_held_against_its_measured_span() -> None:
    """Starts 100 and 110, the second misses its dep: it would run from 0, so the span is 10 µs too short."""
    whole = alone(played(node(1, 100, 10), node(2, 110, 20, [1])))
    short = alone(played(node(1, 100, 10), node(2, 110, 20)))

    assert (whole["measured_ns"], whole["simulated_ns"], whole["error"]) == (30_000, 30_000, 0.0)
    assert (short["simulated_ns"], short["error"]) == (20_000, round(20 / 30 - 1, 6))
    assert short["start_error_us"] == {"cpu": {"p50": 5.0, "p95": 9.5}, "gpu": None}
    assert short["simple_reader_ns"] == 30_000  # one CPU op at a time


def test_what_leads_before_a_start_is_no_measured_time() -> None:
    """A kernel measured from 22 to 30 is written from 20 on, and `lead_us` says so."""
    nodes = played(
        node(1, 0, 20),
        node(2, 22, 10, [1], is_cpu_op=False, stream=7, device=0, lead_us=2),
    )

    told = alone(nodes)

    assert (told["measured_ns"], told["simulated_ns"]) == (30_000, 30_000)
    assert told["start_error_us"]["gpu"] == {"p50": 0.0, "p95": 0.0}
    assert told["busy_ns"] == {"device 0 stream 7": 10_000}


def test_unexplained_waiting_is_a_share_of_the_span() -> None:
    """50 of 100 µs."""
    nodes = played(
        node(1, 0, 50, is_cpu_op=False, name="unexplained wait"), node(2, 50, 50, [1], is_cpu_op=False)
    )

    assert alone(nodes)["unexplained"] == 0.5


def test_ids_may_come_in_any_order_and_deps_point_anywhere() -> None:
    """A foreign file: the node of the higher id comes first and is waited for."""
    told = alone(played(node(9, 0, 10), node(3, 10, 5, [9])))

    assert told["simulated_ns"] == 15_000


@pytest.mark.parametrize(
    ("nodes", "says"),
    [
        ([node(1, 0, 1, [4])], "waits for 4, which no node is"),
        ([node(1, 0, 1, [2]), node(2, 0, 1, [1])], "can't be played"),
        ([node(1, 0, 1), node(1, 0, 1)], "used by more than one node"),
    ],
)
def test_a_file_that_no_reader_could_play_is_refused(nodes: list[Node], says: str) -> None:
    """In one line with the remedy."""
    with pytest.raises(InputError, match=says):
        played(*nodes)


def two_ranks(second_starts: int) -> list[FileNodes]:
    """Return ranks that meet in a collective; rank 0 works 10 µs before it, rank 1 until `second_starts`."""
    ends = second_starts + 5  # the transfer takes 5 µs
    return [
        played(node(1, 0, 10), node(2, 10, ends - 10, [1], collective=True), rank=0),
        played(node(1, 0, second_starts), node(2, second_starts, 5, [1], collective=True), rank=1),
    ]


def test_together_the_members_of_a_collective_meet() -> None:
    """Waiting is taken out of the measured duration and found again by the meeting: both end at 45."""
    assert together(two_ranks(40), {}) == {0: 45, 1: 45}


def test_together_a_rank_that_is_late_delays_the_others() -> None:
    """Rank 1 takes 30 µs longer for its work than measured: rank 0 ends 30 µs later, too."""
    ranks = two_ranks(40)
    ranks[1].duration[0] += 30

    assert together(ranks, {}) == {0: 75, 1: 75}


def test_a_rank_that_ended_before_the_last_one_came_did_not_wait_for_it() -> None:
    """The root of a broadcast: it ends at 12, the other starts at 40."""
    ranks = [
        played(node(1, 0, 10), node(2, 10, 2, [1], collective=True), rank=0),
        played(node(1, 0, 40), node(2, 40, 5, [1], collective=True), rank=1),
    ]

    assert together(ranks, {}) == {0: 12, 1: 45}


def test_only_the_members_of_a_group_meet() -> None:
    """Rank 2 is no member of group 1, so its call of that name is left alone."""
    ranks = [
        played(node(1, 0, start), node(2, start, 5, [1], collective=True, pg_name="1"), rank=rank)
        for rank, start in enumerate((10, 10, 90))
    ]

    assert together(ranks, {"1": [0, 1]}) == {0: 15, 1: 15, 2: 95}


def test_collectives_called_in_other_orders_are_refused() -> None:
    """Rank 0 calls a, then b; rank 1 b, then a: together nobody can go on."""
    first = played(
        node(1, 0, 9, collective=True, pg_name="a"), node(2, 9, 9, [1], collective=True, pg_name="b"), rank=0
    )
    second = played(
        node(1, 0, 9, collective=True, pg_name="b"), node(2, 9, 9, [1], collective=True, pg_name="a"), rank=1
    )

    with pytest.raises(InputError, match="in a circle"):
        together([first, second], {})
