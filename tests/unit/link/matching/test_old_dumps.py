from __future__ import annotations

from graphstore.link.matching.matching import match_dumps
from graphstore.link.matching.model import RankDump
from tests.data.flight import Row, call, dump, recv, send


def _old(rank: int, calls: list[Row], groups: dict[str, list[int] | None]) -> RankDump:
    """Return a dump of version 1.4: groups have numbers of their process, calls no op_id."""
    rows = [row | {"pg_desc": "", "op_id": None} for row in calls]
    old = dump(rank, rows, groups, version=(1, 4))
    for entry in old.flight["pg_config"]:
        entry["pg_desc"] = None
    return old


def test_groups_of_old_dumps_are_told_by_their_members() -> None:
    """The group of 1 and 2 is number 1 on one rank and number 2 on the other."""
    dumps = [
        _old(0, [call()], {"0": [0, 1, 2], "1": [0, 2]}),
        _old(1, [call(), call(group="1")], {"0": [0, 1, 2], "1": [1, 2]}),
        _old(2, [call(), call(group="2")], {"0": [0, 1, 2], "1": [0, 2], "2": [1, 2]}),
    ]

    (job,) = match_dumps(dumps).jobs

    assert dict(job.collectives.select("group", "verdict").rows()) == {
        "0[0-2]": "MATCHED",
        "1-2[1-2]": "MATCHED",
    }
    assert job.healthy is True


def test_two_groups_of_the_same_members_stay_two() -> None:
    """The second of them has the next name, in order of its number."""
    groups: dict[str, list[int] | None] = {"0": [0, 1], "1": [0, 1]}
    dumps = [_old(rank, [call(), call(group="1"), call(group="1")], groups) for rank in (0, 1)]

    (job,) = match_dumps(dumps).jobs

    assert set(job.collectives.filter(verdict="MATCHED")["group"]) == {"0[0-1]", "0-1[0-1]"}


def test_a_group_without_members_matches_nothing() -> None:
    """The first versions list none: what number 1 is on another rank is not known."""
    dumps = [_old(rank, [call(), call(size=4 + rank, group="1")], {}) for rank in (0, 1)]

    (job,) = match_dumps(dumps).jobs

    assert job.collectives.filter(pg_name="0")["verdict"].to_list() == ["MATCHED"]
    assert not job.mismatches


def test_names_of_newer_dumps_stay() -> None:
    """A number as a name is a name since 2.0."""
    dumps = [dump(rank, [call(group="7")], {"7": [0, 1]}) for rank in (0, 1)]

    assert match_dumps(dumps).jobs[0].collectives["group"].to_list() == ["7[0-1]"]


def test_numbers_that_count_sends_too_are_not_compared() -> None:
    """Rank 0 made a send before its second collective, which is therefore its third call."""
    groups: dict[str, list[int] | None] = {"0": [0, 1, 2]}
    sends = [call(), send(0, 1), call(size=8, collective_seq_id=3)]
    recvs = [call(), recv(0, 1), call(size=8, collective_seq_id=3)]

    calls = [sends, recvs, [call(), call(size=8)]]

    (job,) = match_dumps(_old(rank, rows, groups) for rank, rows in enumerate(calls)).jobs

    assert set(job.collectives["verdict"]) == {"UNDECIDED"}
    assert "NUMBERS_MIXED group 0: collectives are counted together with sends and recvs" in job.notes
    assert job.p2p["verdict"].to_list() == ["MATCHED"]
    assert (job.healthy, job.culprits) == (None, [])
