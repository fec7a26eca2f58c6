"""What the archive keeps over its runs, on both engines: sums that follow every change, questions, lists."""

from __future__ import annotations

from typing import Any

import pytest

from graphstore import api
from graphstore.errors import QueryError, StoreError
from graphstore.queries import run_over_archive
from graphstore.settings import Settings
from graphstore.store import Statement, Store
from tests.graphs import small_run

SUMS = (
    "MATCH (s:NameSum) RETURN s.run AS run, s.name AS name, s.nodes AS nodes, s.self_ns AS self_ns "
    "ORDER BY run, name"
)
SLOWER = Statement("MATCH (n:Op) WHERE n.run = $run AND n.name = 'op 0' SET n.self_ns = 250", {})
FINDING = Statement(
    "UNWIND $fids AS fid MERGE (f:Finding {fid: fid}) SET f.run = $run, f.name = 'r', f.rule = 'r', "
    "f.severity = 'error', f.status = 'open'",
    {"fids": ["b:1", "b:2"]},
)


def settings_of(store: Store) -> Settings:
    """Return the settings the store was opened with."""
    return store._settings  # type: ignore[attr-defined,no-any-return]


@pytest.fixture
def two(store: Store) -> Store:
    """Return a store with the runs a (2 ops) and b (3 ops), each op of 100 ns."""
    for run, ops in (("a", 2), ("b", 3)):
        store.write_run(small_run(run, store.allocate_run_no(), ops))
    return store


def sums(store: Store) -> list[tuple[Any, ...]]:
    """Return the sums per name that the store keeps."""
    return store.query_archive(SUMS).rows()


def test_sums_per_name_are_there_with_the_run(two: Store) -> None:
    """One for each name of each run."""
    assert sums(two) == [
        *(("a", f"op {place}", 1, 100) for place in range(2)),
        *(("b", f"op {place}", 1, 100) for place in range(3)),
    ]


def test_sums_per_name_follow_every_change(two: Store) -> None:
    """A change of an op, a run written anew, one that is deleted; other runs keep theirs."""
    two.change_run("a", [SLOWER])
    assert sums(two)[:2] == [("a", "op 0", 1, 250), ("a", "op 1", 1, 100)]

    two.write_run(small_run("b", two.allocate_run_no(), 1, name="other"))
    assert sums(two)[2:] == [("b", "other 0", 1, 100)]

    two.delete_run("b")
    assert [row[0] for row in sums(two)] == ["a", "a"]


def test_a_change_that_fails_leaves_the_sums(two: Store) -> None:
    """They are part of the change: all or none."""
    before = sums(two)

    with pytest.raises(QueryError):
        two.change_run("a", [SLOWER, Statement("MATCH (n) RETRUN n", {})])

    assert sums(two) == before


def test_a_rebuild_makes_the_sums_anew(two: Store) -> None:
    """As they were; also where nothing was missing."""
    before = sums(two)

    assert two.rebuild()["runs"] == 2

    assert sums(two) == before


def test_a_question_over_runs_asks_those_named(two: Store) -> None:
    """And no other of the archive."""
    found = run_over_archive(two, ["b"], "archive/show_sums_by_kind").rows()

    assert found == [("b", "HostOp", 3, 3, 300, 300, None)]
    assert run_over_archive(two, [], "archive/show_sums_by_kind").rows() == []


def test_a_question_over_runs_can_be_asked_of_one_run(two: Store) -> None:
    """By the function that asks one run, as the command line does with --run."""
    found = api.query_run("b", "archive/show_sums_by_kind", {}, settings_of(two))

    assert (found.run, found.rows.rows()) == ("b", [("b", "HostOp", 3, 3, 300, 300, None)])


def test_questions_over_the_archive_cannot_write(two: Store) -> None:
    """As queries of one run."""
    with pytest.raises(QueryError):
        two.query_archive("MATCH (s:NameSum) DETACH DELETE s RETURN 1 AS n")


def test_open_findings_are_listed_by_run(two: Store) -> None:
    """Those of b, by severity; a has none."""
    two.change_run("b", [FINDING])

    listed = api.list_runs(settings_of(two))

    assert [(run["run"], run["errors"], run["warnings"]) for run in listed] == [("a", 0, 0), ("b", 2, 0)]


def test_the_same_query_of_each_run_is_joined(two: Store) -> None:
    """On the server as in the folder; the limit counts over both."""
    text = "MATCH (n:HostOp) WHERE n.run = $run RETURN n.name AS name ORDER BY name"

    whole = api.query_runs(text, {}, settings_of(two))
    cut = api.query_runs(text, {}, settings_of(two), row_limit=3)

    assert whole.rows.rows() == [("a", "op 0"), ("a", "op 1"), ("b", "op 0"), ("b", "op 1"), ("b", "op 2")]
    assert (whole.cut_in, cut.cut_in, cut.rows.height) == (None, "b", 3)


def test_a_trend_over_two_runs(two: Store) -> None:
    """200 ns, then 300 ns: 50 % more, in b."""
    found = api.trend_runs("archive/show_sums_by_name", "self_ns", settings_of(two))

    assert found.points.select("run", "value", "change_pct", "changed").rows() == [
        ("a", 200, None, False),
        ("b", 300, 50.0, True),
    ]


def test_an_index_that_is_behind_and_held_is_an_error_not_old_rows(kglite_store: Store) -> None:
    """Rows of an archive as it was would be a silent loss."""
    from graphstore.store import kglite_files
    from graphstore.store.kglite import KgliteStore

    assert isinstance(kglite_store, KgliteStore)
    kglite_store.write_run(small_run("a", kglite_store.allocate_run_no()))
    index = kglite_store._archive.index
    path = kglite_store._archive.path("a")
    content = path.read_bytes()
    path.unlink()
    path.write_bytes(content)  # the same run, written at another time: its entry is stale

    with kglite_files.writer(index), pytest.raises(StoreError, match="behind the run files"):
        kglite_store.query_archive(SUMS)

    assert len(kglite_store.query_archive(SUMS)) == 4
