from __future__ import annotations

from graphstore.link.matching.knowledge import DumpFacts, dump_facts
from graphstore.link.matching.matching import match_dumps
from graphstore.link.matching.model import RankDump
from graphstore.link.matching.reduce import reduce_dump
from tests.data.flight import call, dump, gloo, recv, send, waiting

WORLD = {"0": [0, 1]}


def _facts(*dumps: RankDump) -> DumpFacts:
    return dump_facts({one.rank: reduce_dump(one) for one in dumps if one.rank is not None})


def test_gaps_with_nothing_finished_make_all_such_dumps_filtered() -> None:
    """Rank 0 shows the gaps; rank 1, without any, holds nothing finished either; rank 2 does, and is not."""
    facts = _facts(
        dump(0, [waiting()] * 3, keep=[0, 2]),
        dump(1, [waiting()]),
        dump(2, [call()]),
        dump(3, []),
    )

    assert facts.filtered == {0, 1, 3}
    assert facts.empty == {3}
    assert facts.whole == {2}


def test_without_gaps_nothing_is_filtered() -> None:
    """An active call alone may be all that the rank ever made."""
    facts = _facts(dump(0, [waiting()]), dump(1, []))

    assert (facts.filtered, facts.whole) == (set(), {0})


def test_gaps_beside_finished_calls_are_lost_records() -> None:
    """What is missing there is no filter's work; the dump is not whole."""
    facts = _facts(dump(0, [call()] * 3, keep=[0, 2]))

    assert (facts.filtered, facts.whole) == (set(), set())


def test_gloo_shows_its_ends_by_retiring() -> None:
    """A retired gloo call is kept and finished: no filter, even where records are missing."""
    assert _facts(dump(0, [gloo()] * 3, keep=[0, 2])).filtered == set()


def test_a_send_shows_the_collectives_made_before_it() -> None:
    """Rank 1 kept no collective; its recv carries number 2, so two were made, and not a third."""
    calls = [call(), call(), waiting()]
    kept = [call(), call(), recv(0, 1, state="scheduled")]
    dumps = [dump(0, calls, WORLD), dump(1, kept, WORLD, first=2)]

    classes = list(match_dumps(dumps).jobs[0].collectives["classes"])

    assert classes == [*['{"present":"0","evicted":"1"}'] * 2, '{"present":"0","not_reached":"1"}']


def test_in_a_filtered_dump_a_send_shows_finished_collectives() -> None:
    """The same with active entries only: what was made before the send and is not there has ended."""
    active = [call(), waiting(), waiting()]
    kept = [call(), call(), send(1, 0, state="scheduled")]
    with_gaps = dump(3, [waiting(group="9")] * 3, {"9": [3]}, keep=[0, 2])
    dumps = [dump(0, active, WORLD, keep=[1, 2]), dump(1, kept, WORLD, keep=[2]), with_gaps]

    job = match_dumps(dumps).jobs[0]

    by_number = dict(job.collectives.filter(pg_name="0").select("collective_seq_id", "verdict").rows())
    assert by_number == {2: "PROGRESS_DIFF", 3: "UNDECIDED"}
