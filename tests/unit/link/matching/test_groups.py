from __future__ import annotations

from collections.abc import Sequence

from graphstore.link.matching.groups import Groups, find_groups, prove_size
from graphstore.link.matching.matching import match_dumps
from graphstore.link.matching.model import Group, RankDump
from graphstore.link.matching.reduce import reduce_dump
from graphstore.link.matching.signatures import Signature
from tests.data.flight import call, dump

NO_LIST = {"": None}


def _groups(dumps: Sequence[RankDump]) -> Groups:
    return find_groups({one.rank: reduce_dump(one) for one in dumps if one.rank is not None})


def _told(groups: Groups) -> list[tuple[str, str, bool]]:
    return sorted((group.key, group.origin, group.complete) for group in groups.items)


def test_identity_is_name_and_member_set() -> None:
    """One name with two member sets is two groups; one set listed in another order is one."""
    dumps = [
        dump(0, [call(group="5")], {"5": [0, 1]}),
        dump(1, [call(group="5")], {"5": [1, 0]}),
        dump(2, [call(group="5")], {"5": [2, 3]}),
    ]

    groups = _groups(dumps)

    assert _told(groups) == [("5[0-1]", "pg_config", True), ("5[2-3]", "pg_config", True)]
    assert {groups.items[groups.of_call[rank, ("5", "group_5")]].key for rank in (0, 1)} == {"5[0-1]"}


def test_a_trace_of_the_rank_lists_what_its_dump_does_not() -> None:
    """Kineto first, then the execution trace; both are whole lists."""
    known = [{"pg_name": "0", "pg_desc": "default_pg", "ranks": [0, 1, 2], "origin": "et_init"}]
    better = [known[0] | {"origin": "kineto"}]

    assert _told(_groups([dump(0, [call()], NO_LIST, known=known)])) == [("0[0-2]", "et_init", True)]
    assert _told(_groups([dump(0, [call()], NO_LIST, known=known + better)])) == [("0[0-2]", "kineto", True)]


def test_a_peer_that_lists_one_group_of_the_name_with_the_rank_in_it_stands_in() -> None:
    """Rank 1's own list is broken; rank 0 lists the group."""
    dumps = [dump(0, [call(group="5")], {"5": [0, 1]}), dump(1, [call(group="5")], NO_LIST)]

    groups = _groups(dumps)

    assert groups.items[groups.of_call[1, ("5", "group_5")]].key == "5[0-1]"
    assert _told(groups) == [("5[0-1]", "pg_config", True)]


def test_a_list_without_a_name_counts_only_if_the_rank_used_one_group() -> None:
    """gloo's entry '' with ranks: of which group, if the rank was in two, it does not say."""
    one = [dump(0, [call()], {"": [0, 1]}), dump(1, [call()], {"": [0, 1]})]
    two = [dump(0, [call(), call(group="1")], {"": [0, 1]})]

    assert _told(_groups(one)) == [("0[0-1]", "unnamed_pg_config", True)]
    assert _told(_groups(two)) == [("0[0]", "inferred_default", False), ("1[0]", "inferred", False)]


def test_an_empty_list_of_ranks_is_broken_not_everybody() -> None:
    """The default group is then every rank with a dump, any other the ranks that use it: lower bounds."""
    dumps = [dump(0, [call(), call(group="1")], NO_LIST), dump(1, [call()], NO_LIST)]

    assert _told(_groups(dumps)) == [("0[0-1]", "inferred_default", False), ("1[0]", "inferred", False)]


def _gathers(part: int, whole: int) -> Signature:
    return Signature("gloo:all_gather", "all_gather", in_nelems=(part,), out_nelems=(whole,))


def _inferred(*members: int) -> Group:
    return Group("1", "tp", members, members, "inferred", False)


def test_shapes_prove_a_size() -> None:
    """out / in of an all_gather and in / out of a reduce_scatter, if all say the same."""
    group = _inferred(0, 1)
    scatters = Signature("gloo:reduce_scatter", "reduce_scatter", in_nelems=(8,), out_nelems=(4,))

    prove_size(group, [_gathers(4, 8), scatters, Signature("gloo:barrier", "barrier")])

    assert (group.size, group.complete, group.origin) == (2, True, "inferred+shapes")


def test_shapes_that_disagree_prove_nothing() -> None:
    """One of the two calls is wrong; which is not for the size to decide."""
    group = _inferred(0, 1)

    prove_size(group, [_gathers(4, 8), _gathers(4, 12)])

    assert (group.size, group.complete) == (None, False)


def test_shapes_that_prove_more_members_leave_some_unseen() -> None:
    """Three members, two of them in the files: nobody can say what the third did."""
    group = _inferred(0, 1)

    prove_size(group, [_gathers(4, 12)])

    assert (group.complete, group.unseen) == (False, 1)


def test_one_name_for_several_groups_is_not_compared() -> None:
    """Four ranks use a name whose shapes prove groups of two: their numbers are not of one group."""
    dumps = [
        dump(rank, [call("all_gather", 4, 8, "1"), call(size=size, group="1")], NO_LIST)
        for rank, size in enumerate((4, 4, 5, 5))
    ]

    job = match_dumps(dumps).jobs[0]

    assert set(job.collectives["verdict"]) == {"UNDECIDED"}
    assert (job.healthy, job.causes) == (None, [])
    assert "GROUP_SPLIT name 1: used by several groups of 2 that no file lists" in job.notes
