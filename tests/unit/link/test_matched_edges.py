from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphstore.model.records import FileRecords, RunGraph, node_schema
from graphstore.model.schema import TYPE_BY_NAME
from tests.data.dumped import dump_file, whole_run
from tests.data.flight import Row, call, dump, recv, send, waiting
from tests.data.programs import FAULTS, dumps, programs, run, views
from tests.unit.link.test_run_matching import trace


def made(calls: dict[int, list[Row]], **more: Any) -> RunGraph:
    """Return the run of the dumps of ranks of one job."""
    groups = more.pop("groups", {"0": sorted(calls)})
    return whole_run([dump_file(dump(rank, rows, groups=groups, **more)) for rank, rows in calls.items()])


def named(graph: RunGraph) -> dict[Any, str]:
    """Return {uid: a name that tells what it is}; calls by rank and record."""
    names: dict[Any, str] = {}
    for label, frame in graph.nodes.items():
        for row in frame.select(set(frame.columns) & {"uid", "name", "rank", "record_id"}).to_dicts():
            is_call = label == "CollectiveCall"
            names[row["uid"]] = f"call {row['record_id']} of {row['rank']}" if is_call else row["name"]
    return names


def edges(graph: RunGraph, kind: str, *properties: str) -> list[tuple[Any, ...]]:
    """Return the edges of one type by the names of their ends, sorted."""
    name = named(graph)
    return sorted(
        (name[src], name[dst], *rest)
        for table in graph.edges
        if table.type == kind
        for src, dst, *rest in table.frame.select("src", "dst", *properties).iter_rows()
    )


def test_a_call_is_part_of_its_collective() -> None:
    """By the number of the dump; one entry of each rank."""
    graph = made({rank: [call(), call("broadcast")] for rank in (0, 1)})

    assert edges(graph, "CALL_OF", "rule") == [
        (f"call {n} of {rank}", name, "collective_seq_id")
        for n, name in enumerate(("all_reduce #1", "broadcast #2"))
        for rank in (0, 1)
    ]
    assert ("all_reduce #1", "0[0-1]") in edges(graph, "IN_GROUP")


def test_sends_and_recvs_go_through_their_channel_and_pair_in_order() -> None:
    """§7: the k-th send with the k-th recv of the edge; the other direction is another channel."""
    graph = made({0: [send(0, 1), send(0, 1), recv(1, 0)], 1: [recv(0, 1), recv(0, 1), send(1, 0)]})

    assert edges(graph, "CALL_OF", "rule") == [
        (f"call {n} of {rank}", f"{'1->0' if n == 2 else '0->1'} on default_pg[0,1]", "ends")
        for n in (0, 1, 2)
        for rank in (0, 1)
    ]
    assert edges(graph, "PEER", "rule") == [
        ("call 0 of 0", "call 0 of 1", "complete"),
        ("call 1 of 0", "call 1 of 1", "complete"),
        ("call 2 of 1", "call 2 of 0", "complete"),
    ]


def test_sends_of_traces_pair_too() -> None:
    """Without dumps, by the order of both traces; their calls have no record_id."""
    graph = whole_run([trace(0, "allreduce", "send", peer=1), trace(1, "allreduce", "recv", peer=0)])

    assert edges(graph, "PEER", "rule") == [("call None of 0", "call None of 1", "order of both traces")]
    assert [row[1] for row in edges(graph, "CALL_OF")] == [
        *["0->1 on default_pg[0,1]", "all_reduce #1"] * 2,
    ]


def test_a_record_number_that_stands_twice_makes_no_pair() -> None:
    """A damaged dump: which of the two sends is meant cannot be told; the others pair."""
    file = dump_file(dump(0, [send(0, 1), send(0, 1), send(0, 1)]))
    file.tables["flight_entries"] = file.tables["flight_entries"].with_columns(
        pl.Series("record_id", [0, 0, 2], dtype=pl.Int64)
    )
    other = dump_file(dump(1, [recv(0, 1), recv(0, 1), recv(0, 1)]))

    peers = Counter(end for row in edges(whole_run([file, other]), "PEER") for end in row)

    assert set(peers.values()) <= {1}


def test_a_member_says_how_far_it_came() -> None:
    """Window and counters of a rank in its group; one without a dump is a member of whom nothing is told."""
    graph = made({0: [call()] * 3}, groups={"0": [0, 1]}, status={0: (3, 2)}, first=1)

    names = [p.name for p in TYPE_BY_NAME["MEMBER"].properties]
    assert edges(graph, "MEMBER", *names) == [
        ("rank 0", "0[0-1]", 2, 3, 2, 3, 2),
        ("rank 1", "0[0-1]", None, None, None, None, None),
    ]


def test_ranks_wait_in_a_call_and_the_call_for_ranks() -> None:
    """§8: an edge per rank, not per pair; rank 3 has no dump, rank 2 an empty one that does not count."""
    graph = made({0: [waiting()], 1: [waiting()], 2: []}, groups={"0": [0, 1, 2, 3]})

    assert edges(graph, "WAITS_FOR", "wait") == [
        ("all_reduce #1", "rank 2", "undecided"),
        ("all_reduce #1", "rank 3", "no_dump"),
        ("rank 0", "all_reduce #1", "in_call"),
        ("rank 1", "all_reduce #1", "in_call"),
    ]


def test_a_rank_in_a_send_waits_for_a_rank() -> None:
    """§8, p2p: rank 1 recorded everything and never received."""
    graph = made({0: [send(0, 1, state="scheduled")], 1: [send(1, 0)]})

    assert edges(graph, "WAITS_FOR", "wait") == [("rank 0", "rank 1", "never")]


def test_who_has_finished_all_waits_for_nobody() -> None:
    """No edge at all."""
    assert edges(made({rank: [call()] for rank in (0, 1)}), "WAITS_FOR") == []


def test_members_without_a_file_are_no_ranks_where_traces_were_matched() -> None:
    """Only dumps tell that a rank lacks one: a trace was perhaps taken of some ranks only."""
    graph = whole_run([trace(0, "allreduce")])

    assert graph.nodes["Rank"]["rank"].to_list() == [0]
    assert edges(graph, "MEMBER") == [("rank 0", "0[0-1]")]


@pytest.mark.parametrize("forms", [("",), ("", ".json")])
def test_each_record_has_one_node_however_often_it_was_dumped(forms: Sequence[str]) -> None:
    """§2: pickle and JSON of one process; also joined to the traces there is one node of each call."""
    rows = [call(), call(), send(0, 1)]
    files = [dump_file(dump(0, rows, file=f"rank_0{form}")) for form in forms]
    files += [dump_file(dump(1, [*rows[:2], recv(0, 1)])), trace(0, "allreduce", "allreduce")]

    graph = whole_run(files)

    calls = graph.nodes["CollectiveCall"]
    assert sorted(calls.select("rank", "record_id").rows()) == [(r, n) for r in (0, 1) for n in (0, 1, 2)]
    assert len(edges(graph, "CALL_OF")) == 6
    assert len(edges(graph, "PEER")) == 1


@st.composite
def folders(draw: st.DrawFn) -> list[FileRecords]:
    """Draw the dumps of a job that may hang, some of them dumped twice."""
    program = draw(programs((None, *FAULTS)))
    state = run(program, draw(st.sampled_from((0, 2, 99))), draw(st.booleans()))
    found = dumps(state, draw(views(len(program.steps))))
    files = [dump_file(each, f"run/rank_{each.rank}") for each in found]
    return files + [dump_file(each, f"run/rank_{each.rank}.json") for each in found if draw(st.booleans())]


def contents(graph: RunGraph) -> dict[str, list[Any]]:
    """Return nodes and edges as rows without the places of files, which follow the order of the files."""
    moment = ("uid", "trace_file")
    out: dict[str, list[Any]] = {
        label: sorted(frame.drop(moment, strict=False).rows(), key=repr)
        for label, frame in graph.nodes.items()
    }
    for kind in ("CALL_OF", "PEER", "WAITS_FOR", "MEMBER", "IN_GROUP"):
        out[kind] = edges(graph, kind, *(p.name for p in TYPE_BY_NAME[kind].properties))
    return out


@settings(max_examples=30)
@given(folders(), st.data())
def test_whatever_the_dumps_show_the_edges_are_sound(files: list[FileRecords], data: st.DataObject) -> None:
    """Ends exist and are of the labels declared; a call is part of one thing and has one partner at most.

    The order of the files changes nothing.
    """
    if not files:
        return
    tables = [dict(file.tables) for file in files]
    graph = whole_run(files)

    labels = {uid: label for label, frame in graph.nodes.items() for uid in frame["uid"]}
    ops = {"CollectiveCall": "Op"}
    partners: Counter[int] = Counter()
    for table in graph.edges:
        if table.type in ("CALL_OF", "PEER", "WAITS_FOR", "MEMBER"):
            assert (table.source, table.target) in TYPE_BY_NAME[table.type].ends
            for src, dst in table.frame.select("src", "dst").iter_rows():
                assert ops.get(labels[src], labels[src]) == table.source
                assert ops.get(labels[dst], labels[dst]) == table.target
            partners.update(table.frame["src"].to_list() * (table.type == "PEER"))
            partners.update(table.frame["dst"].to_list() * (table.type == "PEER"))
            assert table.frame.select("src", "dst").is_unique().all()
    assert set(partners.values()) <= {1}
    parts = Counter(row[0] for row in edges(graph, "CALL_OF"))
    assert set(parts.values()) <= {1}
    for label, frame in graph.nodes.items():
        assert frame.schema == node_schema(label)

    for file, whole in zip(files, tables, strict=True):
        file.tables = whole
    assert contents(whole_run(data.draw(st.permutations(files)))) == contents(graph)
