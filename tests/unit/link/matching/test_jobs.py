from __future__ import annotations

from collections.abc import Sequence

from graphstore.link.matching.jobs import GAP_NS, split_jobs
from graphstore.link.matching.model import RankDump
from graphstore.link.matching.reduce import reduce_dump
from tests.data.flight import START_NS, call, dump

LATER = START_NS + 2 * GAP_NS


def _ranks(dumps: Sequence[RankDump]) -> tuple[list[list[int]], dict[str, str]]:
    jobs, aside = split_jobs(reduce_dump(one) for one in dumps)
    return [sorted(job) for job in jobs], aside


def test_a_long_silence_starts_a_new_job() -> None:
    """More than 15 minutes after everything before; less is one job."""
    first = [dump(rank, [call()]) for rank in (0, 1)]
    later = [dump(rank, [call(start_ns=LATER)], file=f"later_{rank}") for rank in (0, 2)]

    assert _ranks([*later, *first]) == ([[0, 1], [0, 2]], {})
    assert _ranks([dump(0, [call()]), dump(1, [call(start_ns=START_NS + GAP_NS)])]) == ([[0, 1]], {})


def test_two_processes_of_a_rank_are_two_jobs() -> None:
    """The same numbers with other times, minutes apart: a job that was restarted."""
    first = [dump(rank, [call()]) for rank in (0, 1)]
    again = [dump(rank, [call(start_ns=START_NS + 60 * 10**9)], file=f"again_{rank}") for rank in (0, 1)]

    assert _ranks([*again, *first])[0] == [[0, 1], [0, 1]]


def test_a_rank_with_one_process_goes_where_its_groups_fit() -> None:
    """Of two jobs, one of three ranks and one of two: rank 2 belongs to the larger."""
    large = [dump(rank, [call()], {"0": [0, 1, 2]}) for rank in (0, 1, 2)]
    small = [dump(rank, [call(start_ns=START_NS + 60 * 10**9)], file=f"small_{rank}") for rank in (0, 1)]

    assert _ranks([*small, *large])[0] == [[0, 1, 2], [0, 1]]


def test_a_dump_without_entries_goes_to_the_job_it_does_not_contradict() -> None:
    """Its groups tell: rank 1 is missing in both jobs, and lists the group of the second."""
    first = [dump(rank, [call()], {"0": [0, 1, 2, 3]}) for rank in (0, 2, 3)]
    later = [dump(0, [call(start_ns=LATER)], {"0": [0, 1]}, file="later_0")]

    assert _ranks([*first, *later, dump(1, [], {"0": [0, 1]})])[0] == [[0, 2, 3], [0, 1]]


def test_a_dump_that_fits_two_jobs_alike_is_set_aside() -> None:
    """An empty dump without groups could be of either job."""
    jobs = [dump(0, [call()]), dump(0, [call(start_ns=LATER)], file="later")]

    ranks, aside = _ranks([*jobs, dump(1, [], {"": None}, file="empty")])

    assert ranks == [[0], [0]]
    assert aside == {"empty": "holds no times and fits 2 jobs alike"}


def test_a_dump_that_contradicts_every_job_is_set_aside() -> None:
    """Its only job has other members in its group."""
    ranks, aside = _ranks([dump(0, [call()], {"0": [0, 1]}), dump(1, [], {"0": [1, 2]}, file="other")])

    assert ranks == [[0]]
    assert list(aside) == ["other"]


def test_empty_dumps_alone_are_one_job() -> None:
    """gloo jobs with sends and recvs only: nothing recorded, still one job."""
    assert _ranks([dump(rank, [], {"": None}) for rank in (0, 1, 2)]) == ([[0, 1, 2]], {})


def test_a_file_of_no_rank_is_set_aside() -> None:
    """Without a rank nothing can be said of its calls."""
    nameless = dump(0, [call()], file="dump")
    nameless.rank = None

    assert _ranks([nameless]) == ([], {"dump": "its rank is not known"})
