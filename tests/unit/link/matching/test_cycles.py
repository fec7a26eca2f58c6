from __future__ import annotations

from collections.abc import Sequence

from graphstore.link.matching.matching import match_dumps
from graphstore.link.matching.model import Cause, Group, JobMatching
from graphstore.link.matching.roles import role_of
from tests.data.flight import Row, call, dump, recv, send, waiting

# two kinds of groups of two, told apart by their descriptions
GRID = {"1": [0, 1], "2": [2, 3], "11": [0, 2], "12": [1, 3]}
ROLE = {"1": "tp_0", "2": "tp_1", "3": "tp_2", "11": "dp_0", "12": "dp_1", "13": "dp_2"}


def _job(*calls: Sequence[Row], groups: dict[str, list[int]] | None = None) -> JobMatching:
    listed = groups or GRID
    dumps = [dump(rank, [row | _described(row) for row in rows], listed) for rank, rows in enumerate(calls)]
    for one in dumps:
        for entry in one.flight["pg_config"]:
            entry["pg_desc"] = ROLE.get(entry["pg_name"], entry["pg_desc"])
    (job,) = match_dumps(dumps).jobs
    return job


def _described(row: Row) -> Row:
    return {"pg_desc": ROLE[row["pg_name"]]} if row["pg_name"] in ROLE else {}


def _only(job: JobMatching) -> Cause:
    (cause,) = job.causes
    return cause


def test_two_calls_issued_in_two_orders_are_a_hazard_of_which_nobody_is_blamed() -> None:
    """Ranks 0 and 1 share two groups and queued one call in each, in different orders."""
    groups = {"1": [0, 1], "5": [0, 1]}
    one = [waiting(group="1"), waiting(group="5")]

    job = _job(one, one[::-1], groups=groups)

    cause = _only(job)
    assert (cause.rule, cause.ranks, cause.blamed, cause.undecided) == ("order_inversion", [0, 1], [], [0, 1])
    assert cause.message == (
        "rank 0 in all_reduce #1 on tp_0[0,1] and rank 1 in all_reduce #1 on group_5[0,1] made these calls "
        "in different orders, a deadlock hazard; 0 more held up"
    )
    assert job.healthy is False


def test_a_ring_of_waits_over_three_groups_is_one_cause() -> None:
    """Each rank is one call ahead in one group and behind in the next."""
    groups = {"1": [0, 1], "2": [1, 2], "11": [0, 2]}
    calls = [
        [waiting(group="1"), waiting(group="11")],
        [waiting(group="2"), waiting(group="1")],
        [waiting(group="11"), waiting(group="2")],
    ]

    assert _only(_job(*calls, groups=groups)).ranks == [0, 1, 2]


def _against_order(*others: Sequence[Row]) -> Cause:
    """Return the cause where rank 0 is in its tp call and rank 1 in its dp call, never made by the other."""
    grid = {"1": [0, 1], "2": [2, 3], "3": [4, 5], "11": [0, 1], "12": [2, 3], "13": [4, 5]}
    return _only(_job([waiting(group="1")], [waiting(group="11")], *others, groups=grid))


def test_the_rank_against_the_order_of_the_others_is_at_fault() -> None:
    """The other pairs call tp before dp, as rank 0 did; rank 1 called dp first."""
    pairs = [
        [call(group=tp), call(group=dp)] for tp, dp in (("2", "12"), ("2", "12"), ("3", "13"), ("3", "13"))
    ]

    cause = _against_order(*pairs)

    assert (cause.rule, cause.blamed, cause.confidence) == ("mutual_wait", [1], "medium")
    assert cause.basis == "4 of 4 ranks in like groups make the calls in the other order"


def test_a_divided_order_of_the_others_blames_nobody() -> None:
    """Two make tp first, two dp."""
    pairs = [[call(group="2"), call(group="12")]] * 2 + [[call(group="13"), call(group="3")]] * 2

    cause = _against_order(*pairs)

    assert (cause.rule, cause.blamed, cause.undecided) == ("mutual_wait", [], [0, 1])


def test_without_an_order_of_others_nobody_is_at_fault() -> None:
    """Two ranks, each in a call the other never made, and no other rank to compare with."""
    groups = {"1": [0, 1], "5": [0, 1]}

    cause = _only(_job([waiting(group="1")], [waiting(group="5")], groups=groups))

    assert (cause.rule, cause.blamed, cause.undecided) == ("mutual_wait", [], [0, 1])


def test_transfers_whose_partners_are_unproven_decide_nothing() -> None:
    """Both ranks recv first, or so it seems: what they dropped before is not known."""
    pair = {"1": [0, 1], "2": [0, 1]}
    bare = {"op_id": None}
    calls = [
        [recv(1, 0, "1"), recv(1, 0, "1", state="scheduled"), send(0, 1, "1", state="scheduled")],
        [recv(0, 1, "1"), recv(0, 1, "1", state="scheduled"), send(1, 0, "1", state="scheduled")],
    ]
    dumps = [dump(rank, [row | bare for row in rows], pair, first=1) for rank, rows in enumerate(calls)]

    (job,) = match_dumps(dumps).jobs

    cause = _only(job)
    assert (cause.rule, cause.blamed, job.healthy) == ("undecided", [], None)


def test_a_role_is_a_description_without_its_number_and_a_size() -> None:
    """tp_0 and tp_1 play the same part; a group of another size does not."""
    groups = [
        Group("1", desc, tuple(members), (), "pg_config", True)
        for desc, members in (
            ("tp_0", [0, 1]),
            ("tp_1", [2, 3]),
            ("tp_2", [4, 5, 6]),
        )
    ]

    roles = [role_of(group) for group in groups]

    assert roles[0] == roles[1] != roles[2]
