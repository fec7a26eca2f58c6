from __future__ import annotations

from typing import Any

from graphstore.export.report.layers import Picture
from graphstore.export.report.neighbours import WAITS, waits_picture


def wait(rank: int, call: str, kind: str, awaited: int | None) -> dict[str, Any]:
    """Return a row of communication/show_waits."""
    return {
        "rank": rank,
        "stands_in": call,
        "site": "train.py:7",
        "group": "0[0-3]",
        "wait": kind,
        "awaited_rank": awaited,
    }


def told(picture: Picture | None) -> list[tuple[str, str, str]]:
    """Return the edges by the names of their nodes."""
    assert picture is not None
    name = {node.key: node.name for node in picture.nodes}
    return [(name[edge.source], edge.type, name[edge.target]) for edge in picture.edges]


def test_ranks_that_stand_in_one_call_are_one_node() -> None:
    """Three ranks wait for the fourth, which never called: it is what the picture is about."""
    picture = waits_picture([wait(rank, "all_reduce #6", "never", 3) for rank in (0, 1, 2)])

    assert told(picture) == [("ranks 0-2", "WAITS_IN", "all_reduce #6"), ("all_reduce #6", "LACKS", "rank 3")]
    assert picture is not None
    assert [node.name for node in picture.nodes if node.is_subject] == ["rank 3"]


def test_ranks_that_wait_in_a_ring_are_drawn_as_one() -> None:
    """0 lacks 1 and 1 lacks 0: both ranks are one node each, met from both sides."""
    picture = waits_picture([wait(0, "a #1", "queued", 1), wait(1, "b #1", "queued", 0)])

    assert told(picture) == [
        ("rank 0", "WAITS_IN", "a #1"),
        ("a #1", "LACKS", "rank 1"),
        ("rank 1", "WAITS_IN", "b #1"),
        ("b #1", "LACKS", "rank 0"),
    ]


def test_a_call_that_lacks_nobody_known_and_no_waits() -> None:
    """The rank stands in it, and that is all; without waits there is no picture."""
    assert told(waits_picture([wait(0, "a #1", "in_call", None)])) == [("rank 0", "WAITS_IN", "a #1")]
    assert waits_picture([]) is None


def test_a_large_job_makes_a_small_picture() -> None:
    """1,000 ranks that stand in 1,000 calls: the first nodes are drawn, the others counted."""
    picture = waits_picture([wait(rank, f"send #{rank}", "p2p", rank + 1) for rank in range(1000)])

    assert picture is not None
    assert len(picture.nodes) == WAITS
    assert picture.left_out > 1000
