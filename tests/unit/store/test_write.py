"""A run is checked before any engine sees it."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from graphstore.errors import StoreError, UsageError
from graphstore.model.ids import uid_of
from graphstore.model.records import EdgeTable, edge_frame
from graphstore.store.write import batches, changeable, prepare
from tests.graphs import small_run


def ctrl(pairs: list[tuple[int, int]]) -> EdgeTable:
    """Return CTRL edges between ops of run number 1, named by their places."""
    ends = {"src": [uid_of(1, a) for a, _ in pairs], "dst": [uid_of(1, b) for _, b in pairs]}
    return EdgeTable("CTRL", "Op", "Op", edge_frame("CTRL", ends))


def test_a_whole_run_is_made_ready() -> None:
    """Status ready, a name, every declared property; edges to the Run name its key."""
    run = prepare(small_run("r", 1))

    assert run.properties["status"] == "ready"
    assert run.properties["name"] == "r"
    assert run.properties["tags"] is None
    assert [(table.label, table.primary, table.key) for table in run.nodes] == [
        ("Rank", "Rank", "uid"),
        ("HostOp", "Op", "uid"),
    ]
    assert run.edges[1].frame["dst"].to_list() == ["r"]
    assert run.size == 10


def test_a_nameless_node_is_called_by_its_label() -> None:
    """kglite would invent a name for it, Neo4j would not."""
    graph = small_run("r", 1)
    graph.nodes["HostOp"] = graph.nodes["HostOp"].with_columns(pl.lit(None, pl.String).alias("name"))

    assert prepare(graph).nodes[1].frame["name"].to_list() == ["HostOp"] * 4


def test_properties_of_edges_that_no_edge_has_are_left_out() -> None:
    """A bulk edge carries nothing: kglite can't map edges that do."""
    graph = small_run("r", 1)
    graph.edges[0].frame = graph.edges[0].frame.with_columns(pl.lit(None, pl.String).alias("repair"))

    assert prepare(graph).edges[0].frame.columns == ["src", "dst"]


@pytest.mark.parametrize("name", ["", "a b", "../x", "-x", "x" * 101])
def test_a_name_that_is_no_run_id_is_refused(name: str) -> None:
    """It becomes a file name."""
    with pytest.raises(StoreError, match="no run id"):
        prepare(small_run(name, 1))


def test_a_uid_that_comes_twice_is_refused() -> None:
    """Within a label and over labels: uids are unique in a run."""
    graph = small_run("r", 1)
    graph.nodes["HostOp"] = pl.concat([graph.nodes["HostOp"], graph.nodes["HostOp"].head(1)])
    with pytest.raises(StoreError, match="1 Op nodes share a key"):
        prepare(graph)

    graph = small_run("r", 1)
    graph.nodes["Rank"] = graph.nodes["Rank"].with_columns(pl.lit(uid_of(1, 3)).alias("uid"))
    graph.edges = graph.edges[:1]
    with pytest.raises(StoreError, match="uids repeat"):
        prepare(graph)


def test_a_uid_of_another_run_is_refused() -> None:
    """It could meet that run's node in one database."""
    graph = small_run("r", 1)
    graph.run["run_no"] = 2

    with pytest.raises(StoreError, match="not of run number 2"):
        prepare(graph)


def test_a_node_without_a_key_is_refused() -> None:
    """Nothing could ever name it."""
    graph = small_run("r", 1)
    graph.nodes["Rank"] = graph.nodes["Rank"].with_columns(pl.lit(None, pl.Int64).alias("uid"))

    with pytest.raises(StoreError, match="1 Rank nodes share a key or have none"):
        prepare(graph)


def test_an_edge_that_stands_twice_is_refused_also_over_tables() -> None:
    """One engine keeps both, the other merges them."""
    graph = small_run("r", 1)
    graph.edges.append(ctrl([(2, 3)]))

    with pytest.raises(StoreError, match="1 CTRL edges stand twice"):
        prepare(graph)


def test_equal_ends_under_another_type_are_no_repetition() -> None:
    """DATA may join what CTRL joins; an edge back is another edge."""
    graph = small_run("r", 1)
    graph.edges += [replace(ctrl([(2, 3)]), type="DATA"), ctrl([(3, 2)])]

    assert prepare(graph).size == 12


@pytest.mark.parametrize("pairs", [[(2, 99)], [(99, 2)], [(1, 2)]])
def test_an_edge_without_an_end_is_refused(pairs: list[tuple[int, int]]) -> None:
    """Absent altogether, or there but of another label (place 1 is the Rank)."""
    graph = small_run("r", 1)
    graph.edges.append(ctrl(pairs))

    with pytest.raises(StoreError, match="1 of 1 CTRL edges name a Op that is not in the run"):
        prepare(graph)


def test_an_undeclared_property_of_an_edge_is_refused() -> None:
    """The schema says which edges carry what."""
    graph = small_run("r", 1)
    graph.edges[0].frame = graph.edges[0].frame.with_columns(pl.lit(1).alias("lag"))

    with pytest.raises(StoreError, match=r"undeclared properties \['lag'\]"):
        prepare(graph)


def test_only_name_and_tags_of_a_run_may_be_changed() -> None:
    """Anything else is the store's own."""
    assert changeable({"name": "x", "tags": []}) == {"name": "x", "tags": []}
    with pytest.raises(UsageError, match="run_no, status can't be set"):
        changeable({"status": "ready", "run_no": 1, "name": "x"})


def test_batches_hold_every_row_once() -> None:
    """The last is shorter; an empty frame has none."""
    frame = pl.DataFrame({"x": range(5)})

    assert [part["x"].to_list() for part in batches(frame, 2)] == [[0, 1], [2, 3], [4]]
    assert list(batches(frame.clear(), 2)) == []
