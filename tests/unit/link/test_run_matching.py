from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
import pytest

from graphstore.errors import InputError
from graphstore.link.rank import link_rank
from graphstore.link.run_matching import PLACES, RunMatching, match_run, with_recorded_groups
from graphstore.model.records import FileRecords
from tests.data.builders import et_file, node, roots
from tests.data.dumped import dump_file, matched_run
from tests.data.flight import Row, call, closing, dump, recv, send, waiting
from tests.unit.link.test_comm_ops import said

HOUR_NS = 3_600 * 10**9
WORLD = {"pg_name": "0", "pg_desc": "default_pg", "ranks": [0, 1], "origin": "et_init"}


def trace(rank: int, *calls: str, **more: Any) -> FileRecords:
    """Return an execution trace of a rank of the group [0, 1]; its calls are numbered unless `seq` is."""
    nodes = []
    for place, kind in enumerate(calls):
        args = {"pg_name": "0", "pg_desc": "default_pg", "pg_size": 2, "seq": place + 1} | more
        nodes.append(node(5 + place, "record_param_comms", 2, rf_id=place, comm_args=said(kind, **args)))
    file = et_file([*roots(), *nodes])
    file.facts |= {"name": f"et_{rank}.json", "rank": rank}
    file.groups = [WORLD]
    return file


def places(matched: RunMatching) -> list[tuple[Any, ...]]:
    """Return where calls belong: rank, group, number, both ends, key and rule."""
    return matched.places.select("rank", "group", "seq", "src", "dst", "key", "rule").rows()


def dumped(rank: int, rows: Sequence[Row], file: str | None = None, **more: Any) -> FileRecords:
    """Return the dump of a rank as a file."""
    return dump_file(dump(rank, rows, **more), file)


def unnumbered(file: FileRecords) -> FileRecords:
    """Return a dump as versions before 1.4 write it: no record_id, groups by number, one number a call."""
    none = pl.lit(None)
    file.tables["flight_entries"] = file.tables["flight_entries"].with_columns(
        none.cast(pl.Int64).alias("record_id"), none.cast(pl.String).alias("pg_desc")
    )
    assert file.flight is not None
    file.flight = {"version": (1, 1), "pg_config": [], "pg_status": {}}
    return file


def test_a_recorded_call_belongs_to_its_number() -> None:
    """§9: one entry of each rank, and the same number of the same group."""
    _, matched = matched_run([dumped(rank, [call(), waiting()]) for rank in (0, 1)])

    assert (matched.source, matched.matching.healthy) == ("flight_recorder", None)
    assert places(matched) == [
        (rank, "0[0-1]", n + 1, None, None, n, "collective_seq_id") for rank in (0, 1) for n in (0, 1)
    ]


def test_a_send_belongs_to_the_channel_of_its_two_ranks() -> None:
    """Peers are places in the group as it is listed, ends are global ranks (§3): 0 is rank 5 here."""
    groups = {"7": [5, 2]}
    rows = {5: [send(0, 1, "7")], 2: [recv(0, 1, "7")]}
    _, matched = matched_run([dumped(rank, made, groups=groups) for rank, made in rows.items()])

    assert places(matched) == [
        (2, "7[2,5]", None, 5, 2, 0, "ends"),
        (5, "7[2,5]", None, 5, 2, 0, "ends"),
    ]
    assert matched.places["is_send"].to_list() == [False, True]


def test_the_entries_of_a_block_belong_to_its_number_and_a_closed_batch_to_none() -> None:
    """§5: a block of collectives is one; what closes a batch of sends goes through no channel."""
    rows = [call(block=True), call(block=True), closing(), send(0, 1, block=True), closing(is_p2p=True)]
    _, matched = matched_run([dumped(0, rows)])

    assert [(row[2], row[3], row[4]) for row in places(matched)] == [
        *[(1, None, None)] * 3,
        (None, 0, 1),
        (None, None, None),
    ]


def test_calls_of_dumps_without_record_numbers_belong_somewhere_too() -> None:
    """Before 1.4 entries have no record_id; groups are told by number, and the first one is everybody's."""
    graphs, matched = matched_run([unnumbered(dumped(rank, [call(), call()])) for rank in (0, 1)])

    assert [row[:3] for row in places(matched)] == [
        (rank, "0[0-1]", seq) for rank in (0, 1) for seq in (1, 2)
    ]
    assert with_recorded_groups(graphs[0], matched)["group"].to_list() == ["0[0-1]"] * 2


def test_a_group_that_nobody_lists_is_that_of_its_users() -> None:
    """Members are a lower bound then; the calls belong together all the same."""
    files = [dumped(rank, [call(group="3")], groups={"": None}) for rank in (0, 1, 4)]
    _, matched = matched_run(files)

    assert {row[1] for row in places(matched)} == {"3[0-1,4]"}


def test_calls_of_a_rank_in_several_groups_are_told_apart() -> None:
    """Equal numbers of two groups are two collectives."""
    groups = {"0": [0, 1], "1": [0, 1], "2": [0, 3]}
    _, matched = matched_run([dumped(0, [call(), call(group="1"), call(group="2")], groups=groups)])

    assert [row[1:3] for row in places(matched)] == [("0[0-1]", 1), ("1[0-1]", 1), ("2[0,3]", 1)]


def test_a_call_that_a_trace_shows_too_belongs_where_its_entry_does() -> None:
    """Joined by its number: one call, and one place."""
    graphs, matched = matched_run(
        [file for rank in (0, 1) for file in (trace(rank, "allreduce"), dumped(rank, [call()]))]
    )

    assert [graph.nodes["CollectiveCall"]["joined_by"].to_list() for graph in graphs] == [
        ["collective_seq_id"]
    ] * 2
    assert [row[:3] for row in places(matched)] == [(0, "0[0-1]", 1), (1, "0[0-1]", 1)]


def test_an_old_entry_that_a_trace_shows_too_belongs_where_its_entry_does() -> None:
    """The trace names the group with its description, the old dump by number: matching knows the latter."""
    files = []
    for rank in (0, 1):
        old = unnumbered(dumped(rank, [call()]))
        old.tables["flight_entries"] = old.tables["flight_entries"].with_columns(
            pl.lit(0, dtype=pl.Int64).alias("record_id")
        )
        files += [trace(rank, "allreduce"), old]
    _, matched = matched_run(files)

    assert [row[:3] for row in places(matched)] == [(0, "0[0-1]", 1), (1, "0[0-1]", 1)]


def test_traces_are_matched_where_there_is_no_dump() -> None:
    """Execution traces with numbers."""
    _, matched = matched_run([trace(rank, "allreduce", "broadcast") for rank in (0, 1)])

    assert (matched.source, matched.matching.healthy) == ("traces", True)
    assert [row[:3] for row in places(matched)] == [
        (rank, "0[0-1]", seq) for rank in (0, 1) for seq in (1, 2)
    ]
    assert {row[-1] for row in places(matched)} == {"collective_seq_id"}


def test_calls_of_traces_without_numbers_say_that_order_placed_them() -> None:
    """As many on each rank, so the first is the first."""
    _, matched = matched_run([trace(rank, "allreduce", seq=None) for rank in (0, 1)])

    assert [row[-1] for row in places(matched)] == ["order", "order"]


def test_traces_beside_dumps_are_not_matched() -> None:
    """Rank 1 has a trace and no dump: the dumps know more, and to them it is a rank without a dump."""
    _, matched = matched_run([dumped(0, [call()]), trace(1, "allreduce")])

    assert matched.source == "flight_recorder"
    assert [row[0] for row in places(matched)] == [0]
    assert matched.job is not None
    assert matched.job.ranks["no_dump"] == [1]


def test_traces_are_matched_where_no_dump_can_be_used() -> None:
    """A dump whose rank is not known is set aside, and hides nothing that the traces tell."""
    nobody = dump_file(dump(0, [call()], file="dump.pt"))
    nobody.facts["rank"] = None

    _, matched = matched_run([nobody, trace(0, "allreduce"), trace(1, "allreduce")])

    assert (matched.source, len(places(matched))) == ("traces", 2)
    assert matched.matching.set_aside == {"dump.pt": "its rank is not known"}
    assert matched.matching.healthy is None


def test_a_dump_that_is_set_aside_alone_leaves_its_reason() -> None:
    """No job, no trace: nothing is matched, and the run can say why."""
    nobody = dump_file(dump(0, [call()], file="dump.pt"))
    nobody.facts["rank"] = None

    graphs, matched = matched_run([nobody])

    assert (graphs, matched.job, matched.places.height) == ([], None, 0)
    assert list(matched.matching.set_aside) == ["dump.pt"]


def test_the_calls_of_a_dump_set_aside_belong_nowhere() -> None:
    """Rank 0 has a second dump, without times: of which job is open, and its record 0 is another."""
    timeless = dumped(0, [call(), call()], "later/other_0")
    timeless.tables["flight_entries"] = timeless.tables["flight_entries"].with_columns(
        pl.lit(None, dtype=pl.Int64).alias("start_ns")
    )
    graphs, matched = matched_run([dumped(0, [call()]), timeless, dumped(1, [call()])])

    assert list(matched.matching.set_aside) == ["other_0"]
    assert graphs[0].nodes["CollectiveCall"].height == 3
    assert [row[:3] for row in places(matched)] == [(0, "0[0-1]", 1), (1, "0[0-1]", 1)]


def test_without_communication_nothing_is_said() -> None:
    """A run with no call at all, one whose calls name no group, and one without ranks."""
    silent = link_rank(0, [et_file(roots())])
    nameless = link_rank(0, [et_file([*roots(), node(5, "c10d::allreduce_", 2, rf_id=3)])])

    for graphs in ([silent], [nameless], []):
        matched = match_run([], graphs)
        assert (matched.source, matched.job, matched.places.schema) == (None, None, pl.Schema(PLACES))
        assert matched.matching.healthy is None


def test_dumps_without_entries_are_a_job_without_calls() -> None:
    """Each rank has a file, and none holds a call."""
    graphs, matched = matched_run([dumped(rank, []) for rank in (0, 1)])

    assert (len(graphs), matched.source, places(matched)) == (2, "flight_recorder", [])
    assert matched.job is not None
    assert matched.job.ranks["empty"] == [0, 1]


@pytest.mark.parametrize("gap_ns", [HOUR_NS, 1])
def test_dumps_of_several_jobs_are_refused_in_one_line(gap_ns: int) -> None:
    """§2: an hour apart, or two processes of one rank: each is a job; a run is one. Both are named."""
    again = dump(0, [call()], file="rank_0_again")
    again.entries = again.entries.with_columns(pl.col("start_ns") + gap_ns)

    with pytest.raises(InputError) as caught:
        matched_run([dumped(0, [call()]), dumped(1, [call()]), dump_file(again)])

    (line,) = str(caught.value).splitlines()
    assert "are of 2 jobs" in line
    assert "rank_0_again" in line
    assert "Nothing was imported" in line


def test_one_process_dumped_twice_is_one_job() -> None:
    """Pickle and JSON of each rank: each record has one place."""
    files = [
        dumped(rank, [call(), made], f"rank_{rank}{end}")
        for rank in (0, 1)
        for end, made in (("", waiting()), (".json", call()))
    ]
    graphs, matched = matched_run(files)

    assert [graph.nodes["CollectiveCall"]["record_id"].to_list() for graph in graphs] == [[0, 1]] * 2
    assert [row[:3] for row in places(matched)] == [
        (rank, "0[0-1]", seq) for rank in (0, 1) for seq in (1, 2)
    ]
    assert matched.matching.healthy is True


def test_calls_without_a_recorder_keep_their_groups() -> None:
    """What a trace shows and no dump recorded (a gloo send) is left as it was linked."""
    graphs, matched = matched_run([trace(0, "allreduce", "send"), dumped(0, [call()])])

    found = with_recorded_groups(graphs[0], matched).select("collective_kind", "group", "group_origin").rows()

    assert found == [("all_reduce", "0[0-1]", "recorded"), ("send", "0[0-1]", "recorded")]
    assert with_recorded_groups(graphs[0], RunMatching()).equals(graphs[0].nodes["CollectiveCall"])
