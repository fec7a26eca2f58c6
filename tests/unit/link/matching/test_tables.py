from __future__ import annotations

from graphstore.link.matching.matching import match_dumps
from graphstore.link.matching.tables import COLLECTIVES, COUNTERS, P2P, PAIRS
from tests.data.flight import call, dump, recv, send, waiting

GROUPS = {"0": [0, 1], "5": [0, 1]}


def test_every_table_has_its_columns_even_without_rows() -> None:
    """An empty job: the tables are there, with their types."""
    (job,) = match_dumps([dump(0, [], {"": None})]).jobs

    for frame, schema in (
        (job.collectives, COLLECTIVES),
        (job.p2p, P2P),
        (job.pairs, PAIRS),
        (job.counters, COUNTERS),
    ):
        assert (frame.height, dict(frame.schema)) == (0, schema)


def test_an_entry_finds_its_group_by_rank_and_name() -> None:
    """Which collective a call belongs to: its group by (rank, name, description), and its number."""
    (job,) = match_dumps(dump(rank, [call(), call(group="5")], GROUPS) for rank in (0, 1)).jobs

    assert job.group_of == {
        (rank, name, desc): f"{name}[0-1]"
        for rank in (0, 1)
        for name, desc in (("0", "default_pg"), ("5", "group_5"))
    }
    assert job.collectives.select("group", "collective_seq_id", "collective_kind").rows() == [
        ("0[0-1]", 1, "all_reduce"),
        ("5[0-1]", 1, "all_reduce"),
    ]


def test_counters_are_told_where_they_are_known() -> None:
    """How far pg_status says each rank came; nothing of the rank without."""
    dumps = [dump(0, [call(), waiting()], GROUPS, {0: (2, 1)}), dump(1, [call()], GROUPS)]

    (job,) = match_dumps(dumps).jobs

    assert job.counters.rows() == [(0, "0[0-1]", 2, 1)]


def test_groups_and_edges_are_in_order_of_numbers() -> None:
    """Group 10 comes after group 9."""
    groups = {"10": [0, 1], "9": [0, 1]}
    calls = [[send(0, 1, "10"), send(0, 1, "9")], [recv(0, 1, "10"), recv(0, 1, "9")]]

    (job,) = match_dumps(dump(rank, rows, groups) for rank, rows in enumerate(calls)).jobs

    assert [group.name for group in job.groups] == ["9", "10"]
    assert job.p2p["pg_name"].to_list() == ["9", "10"]


def test_what_is_unfinished_stands_in_the_table() -> None:
    """Ranks that have the call and have not ended it."""
    rows = [[call(), waiting()], [call(), waiting()], [call()]]

    (job,) = match_dumps(dump(rank, calls, {"0": [0, 1, 2]}) for rank, calls in enumerate(rows)).jobs

    assert job.collectives.select("verdict", "classes", "unfinished").rows() == [
        ("MATCHED", '{"present":"0-2"}', ""),
        ("INCOMPLETE", '{"present":"0-1","not_reached":"2"}', "0-1"),
    ]
