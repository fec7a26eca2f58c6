from __future__ import annotations

from typing import Any

import pytest

from graphstore.link.process_groups import Group, Groups, listed_groups, spelled_group

CALL = {"pg_name": "3", "pg_size": 2, "global_rank_start": 1, "global_rank_stride": 2}


def listed(pg_name: str, ranks: list[int], origin: str = "et_init", **more: Any) -> Group:
    """Return a group as a reader gives it."""
    return {"pg_name": pg_name, "ranks": ranks, "group_size": len(ranks), "origin": origin} | more


def test_no_ranks_means_all_ranks() -> None:
    """`ranks: []` of a group of four are ranks 0 to 3; neither ranks nor size say nothing."""
    groups = listed_groups([listed("0", []) | {"group_size": 4}, listed("9", []) | {"group_size": 0}])

    assert [(group["group"], group["ranks"]) for group in groups] == [("0[0-3]", [0, 1, 2, 3])]


def test_a_group_listed_twice_is_one_and_keeps_the_better_origin() -> None:
    """Two init nodes and Kineto list one group: it is one, and each says what the other leaves open."""
    groups = listed_groups(
        [listed("1", [1, 0], "kineto", backend="gloo", pg_desc=None), listed("1", [0, 1], pg_desc="tp_0")]
    )

    assert len(groups) == 1
    assert (groups[0]["origin"], groups[0]["backend"], groups[0]["pg_desc"]) == ("et_init", "gloo", "tp_0")


def test_one_name_with_two_member_sets_is_two_groups() -> None:
    """A name is no identity."""
    assert len(listed_groups([listed("1", [0, 1]), listed("1", [2, 3])])) == 2


@pytest.mark.parametrize(
    ("change", "ranks"),
    [
        ({}, [1, 3]),
        ({"global_rank_stride": -1}, None),
        ({"global_rank_stride": 0}, None),
        ({"global_rank_stride": 0, "pg_size": 1}, [1]),
        ({"global_rank_start": -1}, None),
        ({"pg_ranks": [5, 2]}, [2, 5]),
        ({"pg_ranks": [5, 2, 1]}, None),
        ({"pg_size": None}, None),
        ({"pg_name": ""}, None),
    ],
)
def test_a_call_spells_its_group_out_or_not(change: dict[str, Any], ranks: list[int] | None) -> None:
    """First rank, stride and size say the members, and so does a list of them; -1 and gaps say nothing."""
    group = spelled_group(CALL | change)

    assert (group and group["ranks"]) == ranks


def test_a_call_belongs_to_the_group_it_names() -> None:
    """The listed group of that name is taken, with its listed members."""
    groups = Groups(listed_groups([listed("0", [0, 1, 2, 3]), listed("3", [1, 3])]))

    assert groups.of_call([CALL]) == ("3[1,3]", "recorded", CALL)
    assert [group["origin"] for group in groups.known()] == ["et_init", "et_init"]


def test_a_group_no_file_lists_is_known_from_the_call() -> None:
    """What the call spells out becomes a group of origin communication, once."""
    groups = Groups([])

    assert groups.of_call([CALL]) == groups.of_call([CALL]) == ("3[1,3]", "recorded", CALL)
    assert [(group["group"], group["origin"]) for group in groups.known()] == [("3[1,3]", "communication")]


def test_a_name_listed_twice_is_settled_by_size_or_members() -> None:
    """Where neither size nor members decide, the group stays unknown."""
    groups = Groups(listed_groups([listed("3", [1, 3]), listed("3", [0, 1, 2]), listed("3", [0, 2])]))

    assert groups.of_call([{"pg_name": "3", "pg_size": 3}])[:2] == ("3[0-2]", "recorded")
    assert groups.of_call([CALL]) == ("3[1,3]", "recorded", CALL)
    assert groups.of_call([{"pg_name": "3", "pg_size": 2}])[:2] == (None, None)


def test_a_call_without_a_name_belongs_to_the_only_group_there_is() -> None:
    """gloo records no group: with one group listed it is that one, with two or none it is unknown."""
    one, two = [listed("0", [0, 1])], [listed("0", [0, 1]), listed("1", [0, 1])]

    assert Groups(listed_groups(one)).of_call([{}]) == ("0[0-1]", "only_group", {})
    assert Groups(listed_groups(two)).of_call([{}]) == (None, None, {})
    assert Groups([]).of_call([{}]) == (None, None, {})


def _told(calls: list[dict[str, Any]], world_size: int | None, listed: list[Group] | None = None) -> Any:
    """Return what is said of the first call when all of them have been looked at."""
    groups = Groups(listed_groups(listed or []), world_size)
    groups.look_for_world(calls)
    return groups.of_call([calls[0]])[:2]


def test_splits_for_every_rank_prove_the_world() -> None:
    """An all_to_all over 4 parts in a job of 4: all calls through its pointer are of the world."""
    reduce, split = {"pg_handle": 7}, {"pg_handle": 7, "in_split": [1, 1, 1, 1], "out_split": [2, 0, 1, 1]}

    assert _told([reduce, split], 4) == ("[0-3]", "splits")
    assert _told([split], 4) == ("[0-3]", "splits")


def test_splits_that_prove_no_world_leave_the_group_unknown() -> None:
    """Another pointer, other sizes, two pointers that both could be, an unknown world: nothing is guessed."""
    reduce, split = {"pg_handle": 7}, {"pg_handle": 7, "in_split": [1, 1, 1, 1]}
    beside = {"pg_handle": 9, "in_split": [1, 1, 1, 1]}

    assert _told([reduce, beside], 4) == (None, None)
    assert _told([reduce, split], 8) == (None, None)
    assert _told([reduce, split, beside], 4) == (None, None)
    assert _told([reduce, split], None) == (None, None)
    assert _told([{}, split], 4) == (None, None)


def test_splits_are_not_asked_where_groups_are_listed() -> None:
    """A file that lists groups names them, too; pointers are of traces that do not."""
    pair = [listed("0", [0, 1]), listed("1", [0, 1])]

    assert _told([{"pg_handle": 7, "in_split": [1, 1]}], 2, pair) == (None, None)


def test_two_sources_are_not_mixed() -> None:
    """One file says a group of 1, the other one of 2, which is listed: the listed one is taken whole."""
    groups = Groups(listed_groups([listed("0", [0, 1], "kineto")]))
    alone = {"pg_name": "0", "pg_size": 1, "global_rank_start": 0, "global_rank_stride": 1}
    pair = {"pg_name": "0", "pg_size": 2, "pg_ranks": [0, 1]}

    assert groups.of_call([alone, pair]) == ("0[0-1]", "recorded", pair)
    assert groups.of_call([alone])[0] == "0[0]"
