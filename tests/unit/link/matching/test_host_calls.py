from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from graphstore.link.matching.host_calls import numbered_calls, trace_dumps
from graphstore.link.matching.matching import match_dumps
from graphstore.link.matching.model import JobMatching
from graphstore.model.records import RankGraph, complete, node_schema
from tests.data.flight import Row

WORLD = {
    "pg_name": "0",
    "pg_desc": "default_pg",
    "ranks": [0, 1],
    "group": "0[0-1]",
    "origin": "et_init",
}
SCHEMA = {"n": pl.Int64} | node_schema("CollectiveCall")


def _call(kind: str = "all_reduce", seq: int | None = None, group: str = "0[0-1]", **more: object) -> Row:
    """Return a communication call as linking gives it."""
    return {
        "name": kind,
        "collective_kind": kind,
        "collective_seq_id": seq,
        "group": group,
        "is_p2p": kind in ("send", "recv"),
        "in_msg_nelems": 4,
        "out_msg_nelems": 4,
        "dtype": "Float",
        "source": "et",
    } | more


def _rank(rank: int, calls: Sequence[Row], groups: Sequence[Row] = (WORLD,)) -> RankGraph:
    rows = [row | {"n": place, "rank": rank} for place, row in enumerate(calls)]
    frame = complete(pl.DataFrame(rows), SCHEMA) if rows else pl.DataFrame(schema=SCHEMA)
    return RankGraph(rank, {"CollectiveCall": frame}, groups=list(groups))


def _job(*ranks: RankGraph) -> JobMatching:
    (job,) = match_dumps(trace_dumps(ranks, numbered_calls(ranks))).jobs
    return job


def _verdicts(job: JobMatching) -> dict[int, str]:
    return dict(job.collectives.select("collective_seq_id", "verdict").rows())


def test_calls_with_numbers_are_matched_by_them() -> None:
    """Two execution traces, no states: what all made alike is matched, and the job is sound."""
    job = _job(_rank(0, [_call(seq=4), _call(seq=5)]), _rank(1, [_call(seq=4), _call(seq=5)]))

    assert _verdicts(job) == {4: "MATCHED", 5: "MATCHED"}
    assert (job.healthy, job.notes, job.groups[0].origin) == (True, [], "et_init")


def test_a_hole_in_a_trace_is_a_lost_call() -> None:
    """Rank 1 has calls 4 and 6: number 5 was made."""
    job = _job(_rank(0, [_call(seq=n) for n in (4, 5, 6)]), _rank(1, [_call(seq=n) for n in (4, 6)]))

    assert _verdicts(job) == {4: "MATCHED", 5: "LOST", 6: "MATCHED"}


def test_behind_the_last_call_of_a_trace_its_window_has_ended() -> None:
    """Rank 1's observer stopped earlier: its call 5 is not missing, and nobody is at fault."""
    job = _job(_rank(0, [_call(seq=4), _call(seq=5)]), _rank(1, [_call(seq=4)]))

    assert _verdicts(job) == {4: "MATCHED", 5: "WINDOW_ENDED"}
    assert (job.healthy, job.causes) == (True, [])


def test_a_later_call_shows_that_the_rank_went_past() -> None:
    """Rank 1 has a call of another group which rank 0 made after call 5: it never made call 5."""
    other = WORLD | {"pg_name": "1", "pg_desc": "tp", "group": "1[0-1]"}
    mine = [_call(seq=4), _call(seq=5), _call(seq=9, group="1[0-1]")]
    theirs = [_call(seq=4), _call(seq=9, group="1[0-1]")]

    job = _job(_rank(0, mine, (WORLD, other)), _rank(1, theirs, (WORLD, other)))

    assert job.collectives.filter(pg_name="0")["verdict"].to_list() == ["MATCHED", "INCOMPLETE"]
    (cause,) = job.causes
    assert (cause.rule, cause.ranks, cause.blamed, cause.undecided) == ("never_called", [1], [], [0, 1])
    assert cause.message == ("rank 1 never called all_reduce #5 on default_pg[0,1]; rank 0 made it")


def test_sizes_that_differ_are_a_mismatch() -> None:
    """Two members, no majority."""
    job = _job(_rank(0, [_call(seq=5)]), _rank(1, [_call(seq=5, in_msg_nelems=5, out_msg_nelems=5)]))

    assert (_verdicts(job), job.undecided_between) == ({5: "SIZE_MISMATCH"}, [0, 1])


def test_calls_without_numbers_are_numbered_by_order_if_equally_many() -> None:
    """gloo records none; rank 1 called its two in the other order."""
    job = _job(
        _rank(0, [_call(), _call("broadcast")]),
        _rank(1, [_call("broadcast"), _call()]),
    )

    assert _verdicts(job) == {1: "TYPE_MISMATCH", 2: "TYPE_MISMATCH"}


def test_calls_without_numbers_are_left_out_if_the_counts_differ() -> None:
    """The windows may begin at different calls: pairing them by place would be a guess."""
    assert _job(_rank(0, [_call(), _call()]), _rank(1, [_call()])).collectives.is_empty()


def test_sends_and_recvs_pair_in_order_if_equally_many() -> None:
    """One send, one recv, no states."""
    job = _job(_rank(0, [_call("send", peer=1)]), _rank(1, [_call("recv", peer=0)]))

    assert job.p2p.select("src", "dst", "verdict", "matched", "how").rows() == [
        (0, 1, "MATCHED", 1, "order of both traces")
    ]


def test_calls_whose_group_is_not_known_are_left_out() -> None:
    """No group, nothing to match with."""
    assert _job(_rank(0, [_call(group="")]), _rank(1, [_call(group="")])).collectives.is_empty()
