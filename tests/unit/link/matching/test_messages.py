from __future__ import annotations

from graphstore.link.matching.matching import match_dumps
from graphstore.link.matching.messages import (
    behind,
    call_text,
    content_brief,
    in_flight,
    never_called,
    no_dump,
    ranks_text,
    undecided,
)
from graphstore.link.matching.model import Group
from graphstore.link.matching.reduce import signature_of
from tests.data.flight import call, dump

WORLD = Group("0", "default_pg", (0, 1, 2, 3), (0, 1, 2, 3), "pg_config", True)


def test_the_line_of_a_call_that_was_never_made() -> None:
    """Who, what, where, who suffers: as the design writes it."""
    text = never_called([3], call_text("all_reduce", 6, WORLD), [], [0, 1, 2], "gen_fr.py:82", 3, 0)

    assert text == (
        "rank 3 never called all_reduce #6 on default_pg[0-3]; ranks 0-2 wait in it at gen_fr.py:82; "
        "3 ranks are held up in all"
    )


def test_the_line_of_a_rank_behind_its_peers() -> None:
    """Its calls are issued; what stopped is its device or its recorder."""
    assert behind(14, 14, "all_gather #42806 on TP[14,15]", 11) == (
        "rank 14 issued its calls but has not finished the last 14 calls that its peers finished (first: "
        "all_gather #42806 on TP[14,15]): its device or its recorder stopped there; 11 ranks are held up"
    )


def test_the_line_of_a_rank_without_a_dump() -> None:
    """Calls beyond the first four are counted."""
    calls = [f"all_reduce #{number} on A[0,2]" for number in range(6)]

    assert no_dump(2, [0, 1, 3], calls[:1]) == (
        "rank 2 has no readable dump, and ranks 0,1,3 wait for it (first: all_reduce #0 on A[0,2]); "
        "whether it made the call cannot be told"
    )
    assert no_dump(2, [0], calls).endswith("#3 on A[0,2]; 2 more); whether it made the call cannot be told")


def test_the_lines_of_what_is_open() -> None:
    """One rank or several, verbs agree."""
    assert (
        undecided([0], "x #4", [1])
        == "rank 0 is in x #4; rank 1's dump does not show whether it made the call"
    )
    assert undecided([0, 1], "x #4", [2, 3]).endswith(
        "the dumps of ranks 2,3 do not show whether they made the call"
    )
    assert in_flight([0, 1], "x #4").startswith("ranks 0,1 are in calls that all members have made")


def test_ranks_are_short() -> None:
    """Three in a row are a range, two are not."""
    assert [ranks_text(ranks) for ranks in ([7], [1, 0], [2, 0, 1], [8, 10, 11, 12, 13, 15])] == [
        "rank 7",
        "ranks 0,1",
        "ranks 0-2",
        "ranks 8,10-13,15",
    ]


def test_contents_are_short() -> None:
    """Kind, shapes without the outer brackets, types."""
    rows = [call("broadcast", size=4), call("barrier", size=[]), call(size=[2, 3])]

    briefs = [content_brief(signature_of(row | {"src": None, "dst": None})) for row in rows]

    assert briefs == ["broadcast [4] Float", "barrier", "all_reduce [2],[3] Float"]


def test_the_line_of_a_mismatch_names_the_odd_one_first() -> None:
    """One rank against three, at which lines."""
    rows = [call(site="gen.py:100"), call("broadcast", site="gen.py:99")]
    groups = {"0": [0, 1, 2, 3]}

    (cause,) = match_dumps(dump(rank, [rows[rank == 2]], groups) for rank in range(4)).jobs[0].causes

    assert cause.message == (
        "#1 on default_pg[0-3]: rank 2 called broadcast [4] Float at gen.py:99; "
        "ranks 0,1,3 called all_reduce [4] Float at gen.py:100"
    )


def test_the_line_of_a_mismatch_without_a_majority_says_so() -> None:
    """Two ranks, two sizes."""
    (cause,) = match_dumps(dump(rank, [call(size=4 + rank)]) for rank in (0, 1)).jobs[0].causes

    assert cause.message == (
        "#1 on default_pg[0,1]: rank 0 called all_reduce [4] Float; rank 1 called all_reduce [5] Float; "
        "no majority, so none is named"
    )
