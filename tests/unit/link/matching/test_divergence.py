from __future__ import annotations

from collections.abc import Sequence

from graphstore.link.matching.matching import match_dumps
from graphstore.link.matching.model import Cause, JobMatching
from tests.data.flight import Row, call, dump, waiting


def _job(*calls: Sequence[Row], first: int = 0) -> JobMatching:
    groups = {"0": list(range(len(calls)))}
    (job,) = match_dumps(dump(rank, rows, groups, first=first) for rank, rows in enumerate(calls)).jobs
    return job


def _only(job: JobMatching) -> Cause:
    (cause,) = job.causes
    return cause


def _at(line: int, size: int = 4, state: str = "completed", name: str = "all_reduce") -> Row:
    return call(name, size, site=f"train.py:{line}", state=state)


def _program(*lines: int, last: str = "scheduled") -> list[Row]:
    """Return calls of one size from these lines; the last is not done."""
    return [
        _at(line, state=last if place == len(lines) - 1 else "completed") for place, line in enumerate(lines)
    ]


def test_a_skipped_call_is_named_with_its_site() -> None:
    """Rank 3 did not come by line 30; its calls pair with the wrong ones, and the last one misses it."""
    whole, short = _program(10, 20, 30, 40, 50), _program(10, 20, 40, 50)

    cause = _only(_job(whole, whole, whole, short))

    assert (cause.rule, cause.seq, cause.site, cause.blamed) == ("desync", 3, "train.py:30", [3])
    assert cause.divergence is not None
    assert cause.divergence["kind"] == "skipped"
    assert cause.message == (
        "rank 3 skipped all_reduce at train.py:30 as #3 on default_pg[0-3]. From there calls pair with the "
        "wrong ones; #5 is the last that does not fit"
    )


def test_an_extra_call_is_named_with_its_site() -> None:
    """Rank 3 came by line 99, too, and waits alone at the end: the others are not at fault."""
    whole, long = _program(10, 20, 30, last="completed"), _program(10, 99, 20, 30)

    cause = _only(_job(whole, whole, whole, long))

    assert (cause.rule, cause.seq, cause.site, cause.blamed) == ("desync", 2, "train.py:99", [3])
    assert cause.divergence is not None
    assert cause.divergence["kind"] == "extra"


def test_of_two_ranks_both_are_named_and_neither_is_blamed() -> None:
    """One has a call more; which of them is wrong cannot be told, from whichever side it is seen."""
    whole, short = _program(10, 20, 30, 40), _program(10, 20, 40)

    for calls in ((whole, short), (short, whole)):
        cause = _only(_job(*calls))
        assert (cause.rule, cause.ranks, cause.blamed, cause.undecided) == ("desync", [0, 1], [], [0, 1])
        assert (cause.seq, cause.site) == (3, "train.py:30")
        assert cause.message.startswith(f"rank {calls.index(whole)} called all_reduce at train.py:30 as #3")


def test_two_against_two_is_no_majority() -> None:
    """Half of the ranks is not more than half."""
    whole, short = _program(10, 20, 30, 40), _program(10, 20, 40)

    cause = _only(_job(whole, whole, short, short))

    assert (cause.blamed, cause.undecided) == ([], [0, 1, 2, 3])


def test_without_sites_equal_calls_invent_no_skip() -> None:
    """The same short by one at the end: rank 3 never made the last call, no more can be told."""
    rows = [call(), call(), call(), waiting()]

    cause = _only(_job(rows, rows, rows, rows[:2] + rows[3:]))

    assert (cause.rule, cause.seq, cause.blamed) == ("never_called", 4, [3])


def test_without_sites_a_skip_shows_where_contents_differ() -> None:
    """Rank 3 lacks the call of 8; the sizes tell which."""
    rows = [call(), call(size=8), call(), waiting()]

    cause = _only(_job(rows, rows, rows, [call(), call(), waiting()]))

    assert (cause.rule, cause.seq, cause.blamed) == ("desync", 2, [3])


def test_a_call_in_place_of_another_stays_a_mismatch() -> None:
    """Rank 2 broadcasts where the others reduce: nothing was skipped."""
    right = [_at(10), _at(20), _at(30)]
    wrong = [_at(10), _at(99, name="broadcast"), _at(30)]

    cause = _only(_job(right, right, wrong))

    assert (cause.rule, cause.seq, cause.site, cause.blamed) == ("type_mismatch", 2, "train.py:99", [2])


def test_swapped_calls_are_one_cause() -> None:
    """Rank 2 makes two calls of one group in the other order: both misfit, one line."""
    rows = [call(), call(size=8), call("broadcast"), call()]

    cause = _only(_job(rows, rows, [rows[0], rows[2], rows[1], rows[3]]))

    assert (cause.rule, cause.seq, cause.blamed) == ("desync", 2, [2])
    assert "in another order" in cause.message


def test_other_call_sites_with_equal_contents_are_legal() -> None:
    """Rank 0 goes another way through the program, and all is well."""
    job = _job(_program(10, 11, 12, last="completed"), _program(10, 20, 30, last="completed"))

    assert (job.healthy, job.causes) == (True, [])


def test_other_call_sites_do_not_explain_a_missing_call_of_another_rank() -> None:
    """Rank 0 always calls from elsewhere; rank 2 stops early. Rank 0 has nothing to do with it."""
    own, common = _program(11, 21, 31, 41), _program(10, 20, 30, 40)

    cause = _only(_job(own, common, common[:2]))

    assert (cause.rule, cause.blamed) == ("never_called", [2])


def test_calls_dropped_by_the_ring_are_not_skipped() -> None:
    """The windows begin with different calls: what is not kept by one is not compared."""
    groups = {"0": [0, 1, 2]}
    rows = _program(10, 20, 30, 40, 50)
    dumps = [dump(rank, rows, groups, first=first) for rank, first in ((0, 0), (1, 2), (2, 3))]

    assert [cause.rule for cause in match_dumps(dumps).jobs[0].causes] == ["in_flight"]


def test_a_difference_far_before_the_end_is_found() -> None:
    """A skip 2,000 calls before the job stops, told by contents."""
    rows = [call(size=4 + place % 3) for place in range(2_000)]
    short = rows[:900] + rows[901:]

    cause = _only(_job(rows, rows, short))

    assert (cause.rule, cause.blamed) == ("desync", [2])
    assert cause.seq == 901


def test_the_mismatches_behind_a_divergence_are_its_consequence() -> None:
    """Everything after the skip misfits; one cause, which says so."""
    rows = [call(size=n) for n in (4, 5, 6, 7, 8)]

    job = _job(rows, rows, [rows[0], *rows[2:]])

    assert len(job.mismatches) == 3
    assert _only(job).evidence["explains"] == [2, 3, 4]
