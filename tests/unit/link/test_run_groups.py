from __future__ import annotations

from typing import Any

import pytest

from graphstore.link.assemble import assemble
from graphstore.link.rank import link_rank
from graphstore.link.run_groups import run_groups
from graphstore.model.ids import rank_ranges
from graphstore.model.records import FileRecords, RunGraph
from tests.data.builders import et_file, node, roots
from tests.unit.link.test_comm_ops import said


def _named(
    rank: int, pg_name: str, pg_size: int, groups: list[dict[str, object]] | None = None
) -> FileRecords:
    args = said("allreduce", pg_name=pg_name, pg_size=pg_size)
    file = et_file([*roots(), node(5, "record_param_comms", 2, rf_id=rank + 1, comm_args=args)])
    file.groups = groups or []
    return file


def _groups(run: RunGraph) -> tuple[list[tuple[object, ...]], list[object]]:
    rows = run.nodes["ProcessGroup"].select("group", "origin", "complete", "listed_by").rows()
    return rows, run.nodes["CollectiveCall"]["group"].to_list()


def test_a_group_that_another_rank_lists_is_known_to_its_members() -> None:
    """Rank 1 does not list group 4, rank 0 does, with rank 1 in it: that one is meant."""
    group = {"pg_name": "4", "ranks": [0, 1], "group_size": 2, "origin": "kineto"}
    graphs = [link_rank(0, [_named(0, "4", 2, [group])]), link_rank(1, [_named(1, "4", 2)])]

    assert _groups(assemble("r", 1, "r", graphs, [])) == ([("4[0-1]", "kineto", True, [0])], ["4[0-1]"] * 2)


@pytest.mark.parametrize(("size", "complete"), [(2, True), (8, False)])
def test_a_group_known_by_name_alone_has_its_users_as_members(size: int, complete: bool) -> None:
    """The ranks seen to use the name are a lower bound; whole when as many as the size recorded."""
    graphs = [link_rank(rank, [_named(rank, "4", size)]) for rank in (0, 3)]

    run = assemble("r", 1, "r", graphs, [])

    assert _groups(run) == ([("4[0,3]", "inferred", complete, [])], ["4[0,3]"] * 2)
    assert run.nodes["CollectiveCall"]["group_origin"].to_list() == ["recorded"] * 2


def test_a_name_with_two_member_sets_around_a_rank_is_left_open() -> None:
    """Two listed groups of one name and one size: nothing says which a call means, so nothing is said."""
    listed = [
        {"pg_name": "4", "ranks": ranks, "group_size": 2, "origin": "et_init"} for ranks in ([0, 1], [0, 2])
    ]

    run = assemble("r", 1, "r", [link_rank(0, [_named(0, "4", 2, listed)])], [])

    assert run.nodes["CollectiveCall"]["group"].to_list() == [None]


def _matched(pg_name: str, members: list[int], origin: str, **more: object) -> dict[str, Any]:
    """Return a group as matching the ranks found it."""
    key = f"{pg_name}[{rank_ranges(members)}]"
    row = {"name": key, "group": key, "pg_name": pg_name, "pg_desc": None, "members": members}
    return (
        row
        | {"group_size": None, "backend": None, "origin": origin, "complete": True, "listed_by": []}
        | more
    )


def test_a_group_that_only_the_dumps_list_is_a_group_of_the_run() -> None:
    """Its rows come from matching as they are, in their place by name."""
    graphs = [link_rank(rank, [_named(rank, "4", 2)]) for rank in (0, 1)]

    found = run_groups(graphs, [_matched("10", [0, 1], "pg_config"), _matched("3", [0, 1], "peer")])

    assert [(group["group"], group["origin"]) for group in found] == [
        ("3[0-1]", "peer"),
        ("4[0-1]", "inferred"),
        ("10[0-1]", "pg_config"),
    ]


@pytest.mark.parametrize(
    ("origin", "complete", "told"),
    [
        ("inferred", False, ("inferred", False)),
        ("inferred+shapes", True, ("inferred+shapes", True)),
        ("pg_config", True, ("pg_config", True)),
    ],
)
def test_a_group_that_both_know_bears_the_better_proof(
    origin: str, complete: bool, told: tuple[str, bool]
) -> None:
    """By its users alone it is a lower bound; the dumps' list or the shapes of calls may prove it whole."""
    graphs = [link_rank(rank, [_named(rank, "4", 8)]) for rank in (0, 3)]

    (group,) = run_groups(graphs, [_matched("4", [0, 3], origin, complete=complete, pg_desc="tp")])

    assert (group["origin"], group["complete"]) == told
    assert (group["pg_desc"], group["group_size"]) == ("tp", 8)


def test_what_the_traces_list_outdoes_what_dumps_infer() -> None:
    """The rank's own list stays, with who lists it; matching saw the same members by their use only."""
    listed = {"pg_name": "4", "pg_desc": "dp", "ranks": [0, 1], "group_size": 2, "origin": "kineto"}

    (group,) = run_groups(
        [link_rank(0, [_named(0, "4", 2, [listed])])], [_matched("4", [0, 1], "inferred", complete=False)]
    )

    said = ("origin", "complete", "pg_desc", "listed_by", "members")
    assert [group[name] for name in said] == ["kineto", True, "dp", [0], [0, 1]]


def test_groups_stand_in_order_of_their_numbers_and_know_who_lists_them() -> None:
    """Group 10 comes after group 9, and names after numbers; a group is listed by each rank that lists it."""
    names = ("10", "tp", "9")
    groups = [{"pg_name": n, "ranks": [0, 1], "group_size": 2, "origin": "kineto"} for n in names]
    graphs = [link_rank(rank, [_named(rank, "9", 2, groups)]) for rank in (0, 1)]

    found = run_groups(graphs)

    assert [(group["pg_name"], group["listed_by"]) for group in found] == [
        ("9", [0, 1]),
        ("10", [0, 1]),
        ("tp", [0, 1]),
    ]
