from __future__ import annotations

from collections.abc import Sequence

from graphstore.link.matching.matching import match_dumps
from graphstore.link.matching.model import Cause, JobMatching, RankDump
from tests.data.flight import Row, call, dump, recv, send, waiting

QUAD = {"0": [0, 1, 2, 3], "1": [0, 1], "2": [2, 3], "3": [1, 2]}


def _job(dumps: Sequence[RankDump]) -> JobMatching:
    (job,) = match_dumps(dumps).jobs
    return job


def _four(*calls: Sequence[Row] | None) -> JobMatching:
    return _job([dump(rank, rows, QUAD) for rank, rows in enumerate(calls) if rows is not None])


def _only(job: JobMatching) -> Cause:
    (cause,) = job.causes
    return cause


def test_a_rank_that_never_called_is_at_fault_for_all_that_wait() -> None:
    """Rank 3 stopped; rank 2 waits for it, the others for both."""
    job = _four([call(), waiting()], [call(), waiting()], [call(), waiting(group="2")], [call()])
    cause = _only(job)

    assert (cause.rule, cause.blamed, cause.confidence) == ("never_called", [3], "high")
    assert job.waits_for[0] == {2: "never", 3: "never"}
    assert cause.message == (
        "rank 3 never called all_reduce #2 on default_pg[0-3] (nor did rank 2); ranks 0,1 wait in it; "
        "3 ranks are held up in all"
    )


def test_the_call_waited_in_longest_is_quoted() -> None:
    """Rank 2 began to wait in its pair before the others did in the call of all."""
    late = [waiting(start_ns=1_700_000_000_000_009_000)]
    cause = _only(
        _four(late, late, [waiting(group="2", start_ns=1_700_000_000_000_001_000)], [call(group="9")])
    )

    assert (cause.group, cause.seq) == ("2", 1)
    assert cause.evidence["since"] == 1_700_000_000_000_001_000


def test_the_proof_and_the_windows_are_in_the_evidence() -> None:
    """What says that rank 3 did not call, and what each member kept."""
    rows = [call(), waiting()]
    cause = _only(_four(rows, rows, rows, [call()]))

    assert cause.evidence["proof"] == {"3": "the dump is whole up to its last call #1"}
    assert cause.evidence["windows"] == {"0": [1, 2], "1": [1, 2], "2": [1, 2], "3": [1, 1]}
    assert cause.evidence["witnesses"] == [0, 1, 2]
    assert cause.basis == "proven by the dump"


def test_one_against_one_nobody_is_blamed() -> None:
    """Rank 0 waits alone for rank 1, all else is done: rank 1's call may be due, or rank 0's one too many."""
    rows = [call(), call(group="2")]
    job = _four([call(), waiting(group="1")], [call()], rows, rows)

    cause = _only(job)
    assert (cause.rule, cause.ranks, cause.blamed, cause.undecided) == ("never_called", [1], [], [0, 1])
    assert cause.message.endswith("whether it was due or one too many cannot be told")
    assert job.healthy is False


def test_a_second_witness_decides() -> None:
    """Rank 1 is missed in another group, too."""
    job = _four([call(), waiting(group="1")], [call()], [call(), waiting(group="3")], [call()])

    assert [culprit["rank"] for culprit in job.culprits] == [1]


def test_one_rank_that_waits_for_all_others_may_have_made_a_call_too_many() -> None:
    """Ranks 1 to 3 are through; rank 0 alone makes another call."""
    cause = _only(_four([call(), waiting()], [call()], [call()], [call()]))

    assert (cause.ranks, cause.blamed, cause.undecided) == ([1, 2, 3], [], [0, 1, 2, 3])


def test_a_rank_behind_its_peers_stopped_in_its_device_or_recorder() -> None:
    """Rank 3 issued everything; its peers finished two of its calls, and wait for it in the third."""
    peers = [call(), call(), waiting()]
    job = _four(peers, peers, peers, [waiting(), waiting(), waiting()])

    cause = _only(job)
    assert (cause.rule, cause.blamed, cause.confidence) == ("behind", [3], "medium")
    assert cause.basis == "peers finished 2 calls this rank has not"
    assert (cause.group, cause.seq) == ("0", 1)
    assert job.waits_for[0] == {3: "queued"}


def test_a_rank_without_a_dump_at_the_end_of_a_chain_is_suspected() -> None:
    """All wait for rank 3, which left no dump: low, and no call is quoted as its own."""
    rows = [call(), waiting()]
    cause = _only(_four(rows, rows, rows, None))

    assert (cause.rule, cause.blamed, cause.confidence) == ("no_dump", [3], "low")
    assert (cause.group, cause.seq) == (None, None)


def test_a_rank_without_a_dump_in_the_middle_of_nothing_is_only_noted() -> None:
    """Nobody waits for it."""
    job = _four([call()], [call()], [call()], None)

    assert (job.causes, job.notes) == ([], ["NO_DUMP rank 3"])


def test_an_empty_dump_decides_nothing() -> None:
    """Nobody is named; the line says what is not known."""
    job = _four([waiting()], [waiting()], [waiting()], [])

    cause = _only(job)
    assert (cause.rule, cause.ranks, job.culprits) == ("undecided", [3], [])
    assert cause.message == (
        "ranks 0-2 are in all_reduce #1 on default_pg[0-3]; "
        "rank 3's dump does not show whether it made the call"
    )
    assert job.healthy is None


def test_several_dumps_that_decide_nothing_are_one_cause() -> None:
    """Ranks 2 and 3 left empty dumps; the call they are waited for in is told once."""
    assert _only(_four([waiting()], [waiting()], [], [])).ranks == [2, 3]


def test_two_causes_are_told_apart() -> None:
    """Ranks 2 and 5 stopped, each missed by the two others of its group."""
    halves = {"1": [0, 1, 2], "2": [3, 4, 5]}
    dumps = [
        dump(rank, [call(group=group), *([] if rank in (2, 5) else [waiting(group=group)])], halves)
        for group, ranks in halves.items()
        for rank in ranks
    ]

    job = _job(dumps)

    assert [(cause.rule, cause.blamed, cause.group) for cause in job.causes] == [
        ("never_called", [2], "1"),
        ("never_called", [5], "2"),
    ]


def test_a_missing_call_behind_a_mismatch_is_its_consequence() -> None:
    """Rank 3 called something else as number 2 and never came to number 3: one cause."""
    rows = [call(), call(), waiting()]
    cause = _only(_four(rows, rows, rows, [call(), call("broadcast")]))

    assert (cause.rule, cause.seq, cause.blamed) == ("type_mismatch", 2, [3])


def test_a_recv_that_was_never_called_is_a_cause() -> None:
    """Ranks 0 and 2 sent to rank 1, which recorded everything and took neither."""
    trio = {"0": [0, 1, 2]}
    job = _job(
        [
            dump(0, [call(), send(0, 1, state="scheduled")], trio),
            dump(1, [call()], trio),
            dump(2, [call(), send(2, 1, state="scheduled")], trio),
        ]
    )

    cause = _only(job)
    assert (cause.rule, cause.blamed) == ("never_called", [1])
    assert cause.message == (
        "rank 1 never called the recv from rank 0 on default_pg[0-2] that rank 0 waits for; "
        "2 ranks are held up in all"
    )


def test_a_transfer_to_a_rank_without_a_dump_ends_there() -> None:
    """Rank 0 waits for the recv of a rank that left none."""
    cause = _only(_job([dump(0, [recv(1, 0, state="scheduled")], {"0": [0, 1]})]))

    assert (cause.rule, cause.blamed, cause.confidence) == ("no_dump", [1], "low")
    assert "first: recv from rank 1 on default_pg[0,1]" in cause.message
