"""Of very large dumps the calls that nothing hangs on get no node, and the ledger says how many."""

from __future__ import annotations

from pathlib import Path

import orjson
import polars as pl
import pytest

from graphstore import readers, settings
from graphstore.link import detail
from graphstore.link.assemble import assemble
from graphstore.link.rank import link_rank
from graphstore.link.run_matching import RunMatching, match_run, reduce_dumps
from graphstore.model.records import RankGraph

SKIPS = Path(__file__).parents[2] / "data" / "rank_skips_a_call"


def linked() -> tuple[list[RankGraph], RunMatching]:
    """Return the recorded example: rank 3 never makes all_reduce #6, the others stand in it."""
    records = readers.read_files(readers.find_files([str(SKIPS)]).files, settings.load(), set(), None)
    dumps = [record for record in records if record.facts["kind"] == "flight_recorder"]
    readers.assign_ranks(dumps, {})
    reduced = reduce_dumps(dumps)
    ranks = [link_rank(record.facts["rank"], [record]) for record in dumps]
    return ranks, match_run(reduced, ranks)


def kept(ranks: list[RankGraph]) -> dict[int, list[int]]:
    """Return {rank: collective_seq_ids of its calls}."""
    return {
        graph.rank: graph.nodes["CollectiveCall"]["collective_seq_id"].to_list()
        for graph in sorted(ranks, key=lambda graph: graph.rank)
    }


def test_up_to_the_limit_every_entry_is_a_node() -> None:
    """A million is far above what the example holds."""
    ranks, matched = linked()
    before = kept(ranks)

    detail.reduce_detail(ranks, matched)

    assert kept(ranks) == before


@pytest.mark.parametrize("before", [0, 2])
def test_beyond_it_only_what_a_fault_concerns_and_some_before(
    before: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """#6 is incomplete: ranks 0-2 keep it and what stands before it; rank 3, which lacks it, nothing."""
    ranks, matched = linked()
    whole = kept(ranks)
    monkeypatch.setattr(detail, "MOST_ENTRIES", 3)
    monkeypatch.setattr(detail, "BEFORE", before)

    detail.reduce_detail(ranks, matched)

    assert kept(ranks) == {rank: whole[rank][-1 - before :] if rank < 3 else [] for rank in whole}
    assert set(matched.places["seq"]) == {seq for seqs in kept(ranks).values() for seq in seqs}
    for graph in ranks:
        (facts,) = graph.files
        left_out = orjson.loads(facts["left_out"])
        assert facts["kept"] == graph.nodes["CollectiveCall"].height
        assert facts["records_read"] == facts["kept"] + sum(left_out.values())


def test_numbers_of_nodes_stay_apart_when_calls_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next rank begins after the highest number of this one, not after as many as are left."""
    ranks, matched = linked()
    monkeypatch.setattr(detail, "MOST_ENTRIES", 3)

    graph = assemble("run", 1, "run", ranks, [], matched)

    uids = pl.concat([frame["uid"] for frame in graph.nodes.values() if "uid" in frame.columns])
    assert uids.n_unique() == uids.len()
