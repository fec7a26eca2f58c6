"""How a run becomes batches for Neo4j."""

from __future__ import annotations

import os
import socket
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphstore.model.records import EdgeTable, edge_frame
from graphstore.store import neo4j_write
from graphstore.store.neo4j_write import Step, _edge_rows, _grouped, _node_rows, _steps, is_dead
from graphstore.store.write import prepare
from tests.graphs import small_run


@given(
    st.lists(
        st.fixed_dictionaries({"a": st.none() | st.integers(0, 1), "b": st.none() | st.just(7)}), min_size=1
    )
)
def test_rows_and_what_they_share_are_the_whole_batch(rows: list[dict[str, Any]]) -> None:
    """Each row with the shared values is the row it was, without its nulls; each has a row, even if empty."""
    frame = pl.DataFrame(rows, schema={"a": pl.Int64, "b": pl.Int64})

    sent, common = _node_rows(frame)

    assert len(sent) == len(rows)
    for row, part in zip(rows, sent, strict=True):
        together = {**part, **common}
        assert {name: value for name, value in together.items() if value is not None} == {
            name: value for name, value in row.items() if value is not None
        }


def test_rows_that_are_all_alike_are_still_counted() -> None:
    """Two nodes with nothing of their own are two rows."""
    assert _node_rows(pl.DataFrame({"a": [1, 1]})) == ([{}, {}], {"a": 1})


def test_edges_are_sent_as_pairs_and_with_their_properties_where_they_have_some() -> None:
    """Lists are cheaper than maps, and bulk edges carry nothing."""
    bare = edge_frame("CTRL", {"src": [1], "dst": [2]})
    repaired = edge_frame("CTRL", {"src": [1], "dst": [2], "repair": ["r"]})

    assert _edge_rows(bare) == [[1, 2]]
    assert _edge_rows(repaired) == [[1, 2, {"repair": "r"}]]


def test_the_run_comes_first_and_is_loading() -> None:
    """Whatever happens after it, the run is known as not ready."""
    first = next(_steps(prepare(small_run("r", 1))))

    assert first.rows == [
        {"uid": 1 << 32, "run": "r", "run_no": 1, "name": "r", "status": "loading"},
    ]


def test_statements_name_both_labels_and_the_keys_of_the_ends() -> None:
    """Values are parameters; only names of the schema are in the texts."""
    texts = {step.what: step.text for step in _steps(prepare(small_run("r", 1)))}

    assert texts["HostOp"] == "UNWIND $rows AS row CREATE (n:Op:HostOp) SET n = row SET n += $common"
    assert texts["IN_RUN"] == (
        "UNWIND $rows AS row MATCH (a:Rank {uid: row[0]}), (b:Run {run: row[1]}) CREATE (a)-[r:IN_RUN]->(b)"
    )


def test_properties_of_edges_are_set_where_there_are_some() -> None:
    """Only repair edges, and the few types that carry a rule or a role."""
    graph = small_run("r", 1)
    ends = graph.edges[0].frame
    graph.edges = [EdgeTable("SYNC", "Op", "Op", ends.with_columns(pl.lit("host_wait").alias("rule")))]

    *_, sync = _steps(prepare(graph))

    assert sync.text.endswith("CREATE (a)-[r:SYNC]->(b) SET r = row[2]")


@given(st.lists(st.integers(1, 40), max_size=20))
def test_small_tables_share_a_transaction_and_none_is_lost(sizes: list[int]) -> None:
    """Groups keep the order and stay about a batch; a step larger than a batch is a group of its own."""
    steps = [Step(str(number), "", [0] * size) for number, size in enumerate(sizes)]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neo4j_write, "NODE_BATCH", 20)
        groups = list(_grouped(iter(steps)))

    assert [step for group in groups for step in group] == steps
    assert all(len(group) == 1 or sum(len(step.rows) for step in group) <= 20 for group in groups)


@pytest.mark.parametrize(
    ("host", "pid", "age", "dead"),
    [
        ("elsewhere", 1, 1_000, False),
        ("elsewhere", 1, 10**9, True),
        (socket.gethostname(), os.getpid(), 1_000, False),
        (socket.gethostname(), os.getpid(), 10**9, True),
        (socket.gethostname(), 2**22 + 1, 1_000, True),
        (socket.gethostname(), 1, 1_000, False),
    ],
    ids=["elsewhere-young", "elsewhere-old", "own-young", "own-old", "gone", "here-young"],
)
def test_a_lease_is_dead_when_it_is_old_or_its_process_is_gone_from_here(
    host: str, pid: int, age: int, dead: bool
) -> None:
    """Of a process on another machine only the age is known."""
    assert is_dead({"host": host, "pid": pid, "age": age}) is dead
