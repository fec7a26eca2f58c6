from __future__ import annotations

from typing import Any

import orjson
import polars as pl

from graphstore.link.call_times import TIMES
from graphstore.link.matched_nodes import (
    causes,
    channels,
    collectives,
    group_named,
    group_rows,
    rank_facts,
    run_facts,
)
from graphstore.link.matching.model import Group, JobMatching
from graphstore.link.run_matching import RunMatching
from graphstore.model.records import node_schema
from tests.data.dumped import dump_file, matched_run, whole_run
from tests.data.flight import Row, call, closing, dump, recv, send, waiting

NO_TIMES = pl.DataFrame(schema=TIMES)
SKIP = {0: [call(), waiting()], 1: [call(), waiting()], 2: [call()]}  # rank 2 never called #2


def matched(calls: dict[int, list[Row]], **more: Any) -> RunMatching:
    """Return the dumps of ranks of one job, matched."""
    groups = more.pop("groups", {"0": sorted(calls)})
    files = [dump_file(dump(rank, rows, groups=groups, **more)) for rank, rows in calls.items()]
    return matched_run(files)[1]


def test_a_collective_is_named_for_its_kind_and_number() -> None:
    """§9: verdict, classes and the ranks in it as matching gives them; ranks that called it are counted."""
    found = collectives(matched(SKIP), NO_TIMES)

    assert found.schema == node_schema("Collective")
    names = ("name", "group", "collective_seq_id", "verdict", "classes", "unfinished", "calls")
    assert found.select(names).rows() == [
        ("all_reduce #1", "0[0-2]", 1, "MATCHED", '{"present":"0-2"}', "", 3),
        ("all_reduce #2", "0[0-2]", 2, "INCOMPLETE", '{"present":"0-1","not_reached":"2"}', "0-1", 2),
    ]


def test_the_entries_of_a_block_are_one_call_of_its_rank() -> None:
    """Three entries on each of two ranks: two members called it."""
    rows = [call(block=True), call(block=True), closing()]

    assert collectives(matched({0: rows, 1: rows}), NO_TIMES)["calls"].to_list() == [2]


def test_the_times_of_a_collective_stand_with_it() -> None:
    """By group and number; one without times has none."""
    times = pl.DataFrame([("0[0-2]", 2, 70, 1, 5), ("9[0-2]", 1, 1, 1, 1)], schema=TIMES, orient="row")

    found = collectives(matched(SKIP), times)

    assert found.select("skew_ns", "last_rank", "transfer_ns").rows() == [(None, None, None), (70, 1, 5)]


def test_a_channel_is_named_for_its_ends() -> None:
    """The two ranks and the group with its description; without an anchor `how` is empty."""
    found = channels(matched({0: [send(0, 1)], 1: [recv(0, 1)]}))

    assert found.schema == node_schema("Channel")
    assert found.select("name", "group", "src", "dst", "sends", "recvs", "verdict").rows() == [
        ("0->1 on default_pg[0,1]", "0[0-1]", 0, 1, 1, 1, "MATCHED")
    ]


def test_a_cause_says_where_and_who() -> None:
    """Rank 2 never called #2: blamed, proven, of that group and number; evidence is JSON."""
    (cause,) = causes(matched(SKIP))

    said = ("rule", "place", "proven", "ranks", "blamed", "group", "collective_seq_id")
    assert [cause[name] for name in said] == ["never_called", 1, True, [2], [2], "0[0-2]", 2]
    assert cause["name"] == cause["rule"]
    assert isinstance(orjson.loads(cause["evidence"]), dict)
    assert set(cause) == set(node_schema("Cause")) - {"uid", "run"}


def test_causes_are_numbered_in_the_order_of_the_answer() -> None:
    """Two groups, a rank missing in each."""
    groups = {"1": [0, 1], "2": [2, 3]}
    calls = {0: [waiting(group="1")], 1: [], 2: [waiting(group="2")], 3: []}
    found = matched(calls, groups=groups, status={1: (0, 0), 2: (0, 0)})

    assert found.job is not None
    assert [(row["place"], row["message"]) for row in causes(found)] == [
        (place, cause.message) for place, cause in enumerate(found.job.causes, 1)
    ]


def test_of_several_groups_of_a_name_the_one_with_the_rank_is_meant() -> None:
    """c10d names subgroups alike on disjoint ranks; a rank that is in none takes the first."""
    groups = [Group("tp", "", ranks, ranks, "pg_config", True) for ranks in ((0, 1), (2, 3))]
    job = JobMatching({}, [], [], groups=groups)

    assert group_named(job, "tp", [3]) is groups[1]
    assert group_named(job, "tp", [1, 2]) is groups[0]
    assert group_named(job, "tp", [9]) is groups[0]
    assert group_named(job, "dp", [0]) is None
    assert group_named(job, None, [0]) is None


def test_a_rank_says_what_its_dump_holds_and_where_it_stands() -> None:
    """Also one that is known as a member only: it has no file."""
    found = matched({0: [call(), waiting(site="train.py:9")], 1: []}, groups={"0": [0, 1, 2]})

    assert rank_facts(found) == {
        0: {
            "dump": "kept",
            "first_unfinished": "all_reduce #2",
            "first_unfinished_group": "0",
            "first_unfinished_site": "train.py:9",
            "unfinished": 1,
        },
        1: {"dump": "none"},
        2: {"dump": "no file"},
    }


def test_a_rank_in_a_send_stands_before_the_other_rank() -> None:
    """The unfinished call of a channel is named for the other end."""
    found = rank_facts(matched({0: [send(0, 1, state="scheduled")], 1: []}))

    assert (found[0]["first_unfinished"], found[0]["unfinished"]) == ("send to rank 1", 1)


def test_groups_say_what_proves_their_members() -> None:
    """One that the dumps list, and one known by its users, whose size nobody tells."""
    rows = group_rows(matched({rank: [call(), call(group="3")] for rank in (0, 1)}))

    said = ("group", "members", "group_size", "origin", "complete")
    assert [[row[name] for name in said] for row in rows] == [
        ["0[0-1]", [0, 1], 2, "pg_config", True],
        ["3[0-1]", [0, 1], None, "inferred", False],
    ]


def test_shapes_prove_a_group_whole() -> None:
    """§3: an all_gather whose output is twice its input has two members."""
    rows = [call("all_gather", 4, 8, group="3")]

    (_, group) = group_rows(matched({0: rows, 1: rows}))

    assert (group["origin"], group["complete"], group["group_size"]) == ("inferred+shapes", True, 2)


def test_the_run_says_what_was_matched_and_what_would_decide_it() -> None:
    """Notes, versions, files and ranks of the job, as JSON."""
    facts = run_facts(matched({0: [call()], 1: []}, groups={"0": [0, 1, 2]}))

    told = orjson.loads(facts["matching"])
    assert (facts["matched_from"], facts["healthy"]) == ("flight_recorder", None)
    assert (told["files"], told["ranks"]["no_dump"], told["set_aside"]) == (["rank_0", "rank_1"], [2], {})
    assert told["would_decide"]


def test_a_run_without_communication_says_nothing() -> None:
    """Nothing matched: null, not "healthy"; and no rows, with the columns of their labels."""
    nothing = RunMatching()

    assert run_facts(nothing) == {"matched_from": None, "healthy": None, "matching": None}
    assert (causes(nothing), rank_facts(nothing), group_rows(nothing)) == ([], {}, [])
    assert collectives(nothing, NO_TIMES).schema == node_schema("Collective")
    assert channels(nothing).schema == node_schema("Channel")


def test_a_run_whose_only_dump_is_set_aside_says_why() -> None:
    """No job, and the reason."""
    nobody = dump_file(dump(0, [call()], file="dump.pt"))
    nobody.facts["rank"] = None

    run = whole_run([nobody])

    assert (run.run["matched_from"], run.run["healthy"]) == ("flight_recorder", None)
    assert orjson.loads(run.run["matching"])["set_aside"] == {"dump.pt": "its rank is not known"}
    assert run.nodes["Rank"].is_empty()
