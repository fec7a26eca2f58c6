"""Cases for who stands in which call, and who is waited for.

The answer of show_awaited_ranks has no order within its two halves: each case has one row of a half.
"""

from __future__ import annotations

from typing import Any

from tests.queries.cases import Case, case
from tests.queries.graphs import GraphBuilder


def rank(g: GraphBuilder, number: int, **properties: Any) -> int:
    """Add a rank."""
    return g.node("Rank", f"rank {number}", rank=number, **properties)


def stands(first_unfinished: str, unfinished: int = 1, site: str | None = "train.py:82") -> dict[str, Any]:
    """Return what matching says of a rank in group 0 that has not finished a call."""
    return {
        "first_unfinished": first_unfinished,
        "first_unfinished_group": "0",
        "first_unfinished_site": site,
        "unfinished": unfinished,
    }


def collective(g: GraphBuilder, seq: int) -> int:
    """Add a collective of the group 0[0-2]."""
    return g.node(
        "Collective",
        f"all_reduce #{seq}",
        group="0[0-2]",
        pg_name="0",
        collective_seq_id=seq,
        verdict="INCOMPLETE",
    )


@case
def ranks_standing_in_a_call(g: GraphBuilder) -> Case:
    """Two in a collective, one in a send without one, by rank; who has finished all does not come."""
    late = rank(g, 2, **stands("all_reduce #6", 3, site=None))
    early = rank(g, 0, **stands("all_reduce #6"))
    sender = rank(g, 1, **stands("send to rank 3"))
    other = rank(g, 3)
    reduced = collective(g, 6)
    for each in (late, early):
        g.edge("WAITS_FOR", each, reduced, wait="in_call")
    g.edge("WAITS_FOR", reduced, sender, wait="never")
    g.edge("WAITS_FOR", sender, other, wait="never")
    rows = [
        (0, "0", "all_reduce #6", "train.py:82", 1, reduced),
        (1, "0", "send to rank 3", "train.py:82", 1, None),
        (2, "0", "all_reduce #6", None, 3, reduced),
    ]
    return Case("communication/show_standing_ranks", g.build(), rows)


@case
def no_rank_is_standing_where_all_have_finished(g: GraphBuilder) -> Case:
    """Ranks that nothing is said of, as in a run of traces."""
    rank(g, 0, unfinished=0)
    rank(g, 1)
    return Case("communication/show_standing_ranks", g.build(), [])


@case
def ranks_awaited_by_a_call_and_by_a_rank(g: GraphBuilder) -> Case:
    """A collective is named by its uid, a rank by its number; who stands in the collective is no answer."""
    first, second, third = (rank(g, number) for number in (0, 1, 2))
    reduced = collective(g, 6)
    g.edge("WAITS_FOR", first, reduced, wait="in_call")
    g.edge("WAITS_FOR", reduced, second, wait="never")
    g.edge("WAITS_FOR", second, third, wait="p2p")
    rows = [("collective", reduced, 1, "never"), ("rank", 1, 2, "p2p")]
    return Case("communication/show_awaited_ranks", g.build(), rows)


@case
def a_rank_awaited_by_a_call_alone(g: GraphBuilder) -> Case:
    """No send or recv is held up; the rank has no dump."""
    reduced = collective(g, 1)
    g.edge("WAITS_FOR", reduced, rank(g, 4), wait="no_dump")
    return Case("communication/show_awaited_ranks", g.build(), [("collective", reduced, 4, "no_dump")])


@case
def a_rank_awaited_by_a_rank_alone(g: GraphBuilder) -> Case:
    """A recv whose sender stands elsewhere, and no collective is held up."""
    g.edge("WAITS_FOR", rank(g, 0), rank(g, 1), wait="queued")
    return Case("communication/show_awaited_ranks", g.build(), [("rank", 0, 1, "queued")])


@case
def nobody_is_awaited_in_a_call_that_all_have_entered(g: GraphBuilder) -> Case:
    """Both stand in it, and it waits for nobody."""
    reduced = collective(g, 2)
    for number in (0, 1):
        g.edge("WAITS_FOR", rank(g, number, **stands("all_reduce #2")), reduced, wait="in_call")
    return Case("communication/show_awaited_ranks", g.build(), [])
