from __future__ import annotations

from collections.abc import Sequence

from graphstore.link.matching.matching import match_dumps
from graphstore.link.matching.model import JobMatching, RankDump
from tests.data.flight import call, dump, gloo, send, waiting

WORLD = {"0": [0, 1, 2]}


def _job(dumps: Sequence[RankDump]) -> JobMatching:
    (job,) = match_dumps(dumps).jobs
    return job


def test_what_files_lack_is_noted_not_blamed() -> None:
    """An empty dump, none, another version: notes."""
    dumps = [dump(0, [call()], WORLD, version=(2, 10)), dump(1, [], WORLD, version=(2, 9))]

    assert _job(dumps).notes == ["EMPTY_DUMP rank 1", "NO_DUMP rank 2", "VERSIONS_MIXED 2.10/2.9"]


def test_active_entries_only_is_noted() -> None:
    """All three dumps were filtered."""
    dumps = [dump(rank, [call(), waiting(), call(), waiting()], WORLD, keep=[1, 3]) for rank in range(3)]

    assert "ACTIVE_ENTRIES_ONLY ranks 0-2" in _job(dumps).notes


def test_sends_that_gloo_counts_but_does_not_record_are_noted() -> None:
    """op_id runs ahead of the collectives by three on two ranks, by one on the third."""
    dumps = [dump(rank, [gloo(op_id=1 + extra)], WORLD) for rank, extra in enumerate((3, 3, 1))]

    assert _job(dumps).notes == [
        "UNRECORDED_P2P group 0 ranks 2: 1 logical ops",
        "UNRECORDED_P2P group 0 ranks 0,1: 3 logical ops",
    ]


def test_a_name_that_says_another_rank_is_noted_and_the_content_wins() -> None:
    """The file was renamed: its groups and peers say 1, its name 2."""
    dumps = [dump(0, [call()]), dump(1, [call()], file="rank_2")]
    dumps[1].flight["file_rank_candidates"] = {"pg_config": 1, "p2p": None, "file_name": 2}

    job = _job(dumps)

    assert job.notes == ["NAME_DISAGREES rank_2: rank 1 by its content, 2 by its name"]
    assert job.collectives["verdict"].to_list() == ["MATCHED"]


def test_a_send_whose_peer_is_not_known_leaves_health_open() -> None:
    """The group's members are not listed: the place of a peer means nothing."""
    dumps = [dump(0, [call(), send(0, 1)], {"": None}), dump(1, [call()], {"": None})]

    job = _job(dumps)

    assert "P2P_UNPLACED group 0: 1 sends or recvs whose peer is not known" in job.notes
    assert job.healthy is None


def test_a_job_is_sound_if_everything_kept_is_settled() -> None:
    """Matched, evicted, one not noted yet; a lost or filtered call leaves it open."""
    pair = {"0": [0, 1]}
    rows = [call()] * 4

    assert _job([dump(0, rows, pair), dump(1, [*rows[:3], waiting()], pair, first=2)]).healthy is True
    assert _job([dump(0, rows, pair), dump(1, rows, pair, keep=[0, 1, 3])]).healthy is None
    assert _job([dump(0, rows, pair), dump(1, [], pair, {0: (4, 4)})]).healthy is None


def test_health_of_several_jobs_is_that_of_the_worst() -> None:
    """One job is unsound: false; a dump set aside leaves it open."""
    later = 1_800_000_000_000_000_000
    sound = [dump(rank, [call()]) for rank in (0, 1)]
    wrong = [dump(rank, [call(size=4 + rank, start_ns=later)], file=f"later_{rank}") for rank in (0, 1)]

    assert match_dumps(sound).healthy is True
    assert match_dumps([*sound, *wrong]).healthy is False
    assert match_dumps([*sound, dump(1, [], {"0": [1, 2]}, file="other")]).healthy is None
    assert match_dumps([]).healthy is None
