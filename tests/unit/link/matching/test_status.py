from __future__ import annotations

from collections.abc import Sequence

from graphstore.link.matching.groups import find_groups
from graphstore.link.matching.matching import match_dumps
from graphstore.link.matching.model import RankDump
from graphstore.link.matching.reduce import reduce_dump
from graphstore.link.matching.status import Status, read_status
from tests.data.flight import Row, call, closing, dump, gloo, send

WORLD = {"0": [0, 1]}


def _status(dumps: Sequence[RankDump]) -> dict[tuple[int, str], tuple[int, int]]:
    reduced = {one.rank: reduce_dump(one) for one in dumps if one.rank is not None}
    groups = find_groups(reduced)
    status: Status = read_status(reduced, groups)
    return {(rank, groups.items[group].name): raw for (rank, group), raw in status.raw.items()}


def _numbered(group: str, pg_id: int, seq: int) -> Row:
    return call(group=group, pg_id=pg_id, collective_seq_id=seq)


def _classes(dumps: Sequence[RankDump]) -> list[str]:
    """Return the classes of each call of the only group, in order of numbers."""
    return list(match_dumps(dumps).jobs[0].collectives["classes"])


def test_entries_tell_the_group_of_a_key() -> None:
    """pg_id 7 is group 31 on this rank: its own calls say so."""
    calls = [call(group="31", pg_id=7)]

    assert _status([dump(0, calls, {"31": [0, 1]}, {7: (1, 1)})]) == {(0, "31"): (1, 1)}


def test_keys_and_names_in_order_are_the_same_groups_if_equally_many() -> None:
    """An empty dump with three keys and three groups: sorted as numbers, 2 before 10."""
    groups = {"0": [0, 1], "10": [0, 1], "2": [0, 1]}

    status = _status([dump(0, [], groups, {0: (5, 5), 1: (6, 6), 4: (7, 7)})])

    assert status == {(0, "0"): (5, 5), (0, "2"): (6, 6), (0, "10"): (7, 7)}


def test_one_contradiction_on_any_rank_turns_the_order_off() -> None:
    """Rank 1's calls pair key 2 with the group that would be its first: nobody's order can be trusted."""
    groups = {"5": [0, 1], "6": [0, 1]}
    dumps = [
        dump(0, [], groups, {1: (5, 5), 2: (6, 6)}),
        dump(1, [call(group="5", pg_id=2)], groups, {1: (9, 9), 2: (1, 1)}),
    ]

    status = _status(dumps)

    assert {key for key in status if key[0] == 0} == set()
    assert status[1, "5"] == (1, 1)
    assert status[1, "6"] == (9, 9)  # the one key that is left is of the one group that is left


def test_key_0_is_the_default_group() -> None:
    """More keys than groups: only the first is certain."""
    assert _status([dump(0, [], WORLD, {0: (5, 5), 1: (6, 6)})]) == {(0, "0"): (5, 5)}


def test_the_only_assignment_that_fits_what_peers_completed_is_taken() -> None:
    """The order is off; peers completed 80 in one group, so the key that came to 40 is of the other."""
    groups = {"0": [0, 1], "32": [0, 1], "41": [0, 1]}
    swapped = [_numbered("32", 2, 40), _numbered("41", 1, 80)]
    counters = {0: (12, 12), 1: (80, 80), 2: (40, 40)}

    status = _status([dump(0, [], groups, counters), dump(1, swapped, groups, counters)])

    assert status[0, "41"] == (80, 80)
    assert status[0, "32"] == (40, 40)


def test_two_possible_assignments_are_none() -> None:
    """Both keys came far enough for either group."""
    groups = {"32": [0, 1], "41": [0, 1]}
    swapped = [_numbered("32", 2, 4), _numbered("41", 1, 8)]

    status = _status(
        [dump(0, [], groups, {1: (80, 80), 2: (40, 40)}), dump(1, swapped, groups, {1: (8, 8), 2: (4, 4)})]
    )

    assert {key for key in status if key[0] == 0} == set()


def test_above_the_largest_counter_nothing_was_reached() -> None:
    """Which key is whose is not known, and none of them came to call 9."""
    groups = {"5": [0, 1], "6": [0, 1]}
    calls = [call(group="5", pg_id=2, collective_seq_id=9, state="scheduled")]
    dumps = [dump(0, calls, groups, {1: (3, 3), 2: (9, 8)}), dump(1, [], groups, {1: (4, 4), 2: (8, 8)})]

    assert _classes(dumps) == ['{"present":"0","not_reached":"1"}']


def test_a_largest_counter_that_may_count_sends_says_nothing() -> None:
    """The same with a send in the group: the number may be its p2p_seq_id."""
    groups = {"5": [0, 1], "6": [0, 1]}
    calls = [
        send(0, 1, "5", pg_id=2),
        call(group="5", pg_id=2, collective_seq_id=9, state="scheduled"),
    ]
    dumps = [dump(0, calls, groups, {1: (3, 3), 2: (9, 8)}), dump(1, [], groups, {1: (4, 4), 2: (8, 8)})]

    assert _classes(dumps) == ['{"present":"0","undecided":"1"}']


def test_a_number_shared_with_sends_counts_where_it_can_mean_one_thing() -> None:
    """An empty dump says 900, and no collective of the group is above 2: these are sends and recvs."""
    calls = [send(0, 1, p2p_seq_id=901), call(), call(state="scheduled")]
    dumps = [dump(0, calls, WORLD, {0: (2, 1)}), dump(1, [], WORLD, {0: (900, 900)})]

    assert _classes(dumps) == ['{"present":"0","undecided":"1"}'] * 2


def test_a_number_below_the_sends_kept_counts_collectives() -> None:
    """An active send is number 7, the counter says 3: it is a collective's."""
    active = [send(0, 1, p2p_seq_id=7, collective_seq_id=0, state="scheduled"), call(), call(), call()]
    waiting = [call(collective_seq_id=number, state="scheduled") for number in (3, 4)]
    dumps = [
        dump(0, active, WORLD, {0: (3, 3)}, keep=[0]),
        dump(1, [call(), *waiting], WORLD, {0: (4, 2)}, keep=[1, 2], first=0),
        dump(2, [call(), call(), call(state="scheduled")], {"9": [2, 3]}, keep=[0, 2]),
    ]

    by_number = dict(
        match_dumps(dumps)
        .jobs[0]
        .collectives.filter(pg_name="0")
        .select("collective_seq_id", "classes")
        .rows()
    )

    assert by_number[4] == '{"not_reached":"0","present":"1"}'


def test_gloo_counts_operations() -> None:
    """An empty dump with as many operations as its peer at call 2 made that call; fewer cannot be told."""
    calls = [gloo(), gloo(op_id=4)]  # two sends between them, not recorded

    def classes(op_id: int) -> list[str]:
        return _classes([dump(0, calls, WORLD), dump(1, [], WORLD, {0: (op_id, op_id)})])

    assert classes(4) == ['{"present":"0","filtered":"1"}'] * 2
    assert classes(2) == ['{"present":"0","filtered":"1"}', '{"present":"0","undecided":"1"}']
    assert classes(1) == ['{"present":"0","filtered":"1"}', '{"present":"0","not_reached":"1"}']


def test_a_counter_completes_calls_whose_records_are_behind() -> None:
    """The recorder still says started; last_completed says that call 2 and all before it are done."""
    calls = [call(state="started"), call(state="started"), call(state="started")]
    dumps = [dump(rank, calls, WORLD, {0: (3, 2)}) for rank in (0, 1)]

    job = match_dumps(dumps).jobs[0]

    assert job.collectives["in_flight"].to_list() == [False, False, True]
    assert job.first_unfinished[0]["at"] == 3


def test_a_closing_entry_is_no_call_of_its_own() -> None:
    """A batch of sends between two collectives leaves the counter of collectives as it is."""
    calls = [call(), send(0, 1, block=True), closing(is_p2p=True), call()]

    assert match_dumps([dump(0, calls)]).jobs[0].windows == {"0[0-1]": {0: (1, 2, 2)}}
