"""What both engines must do alike: write, show, ask, change, delete; refuse writing queries; keep limits."""

from __future__ import annotations

import json

import polars as pl
import pytest

from graphstore.errors import QueryError, QueryTimeoutError, StoreError, UsageError
from graphstore.model.records import EdgeTable, edge_frame
from graphstore.store import Statement, Store
from tests.graphs import contents, given_contents, small_run

COUNT = "MATCH (n:Op) WHERE n.run = $run RETURN count(*) AS n"


@pytest.fixture
def run(store: Store) -> str:
    """Return the id of a small run that is in the store."""
    store.write_run(small_run("small", store.allocate_run_no()))
    return "small"


def test_a_new_store_has_no_runs(store: Store) -> None:
    """An archive that does not exist yet is empty, not an error."""
    assert store.runs() == []


def test_a_written_run_is_listed_with_all_its_properties(store: Store, run: str) -> None:
    """runs() gives each declared property, None where the run has none, and status ready."""
    (found,) = store.runs()

    assert found["run"] == run
    assert found["status"] == "ready"
    assert found["ranks"] == [0]
    assert found["world_size"] is None


def test_runs_are_listed_oldest_first(store: Store) -> None:
    """The order is that of import, not of names."""
    for number, name in enumerate(("b", "a", "c")):
        graph = small_run(name, store.allocate_run_no())
        graph.run["created"] = f"2026-01-0{3 - number}T00:00:00Z"
        store.write_run(graph)

    assert [each["run"] for each in store.runs()] == ["c", "a", "b"]


def test_progress_ends_at_the_number_of_nodes_and_edges(store: Store) -> None:
    """The last call says that everything is done."""
    seen: list[tuple[int, int]] = []

    store.write_run(
        small_run("small", store.allocate_run_no()), lambda _, done, total: seen.append((done, total))
    )

    assert seen[-1] == (10, 10)  # Run, Rank, 4 ops, 3 CTRL, IN_RUN
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_run_numbers_are_never_given_twice(store: Store) -> None:
    """Also not after the run that had the highest is deleted."""
    first = store.allocate_run_no()
    store.write_run(small_run("small", first))
    store.delete_run("small")

    assert store.allocate_run_no() > first


def test_writing_a_run_again_replaces_it(store: Store, run: str) -> None:
    """The same id is one run: its new content, and nothing of the old one."""
    again = small_run(run, store.allocate_run_no(), ops=2, name="new")

    store.write_run(again)

    assert contents(store, run) == given_contents(again)
    assert len(store.runs()) == 1


def test_runs_are_asked_one_at_a_time(store: Store, run: str) -> None:
    """$run is bound to the run that was named; another run's ops are not counted."""
    store.write_run(small_run("other", store.allocate_run_no(), ops=7))

    assert store.query(run, COUNT)["n"].to_list() == [4]
    assert store.query("other", COUNT)["n"].to_list() == [7]


@pytest.mark.parametrize("name", ["absent", "small2"])
def test_an_unknown_run_is_a_usage_error_that_names_those_there(store: Store, run: str, name: str) -> None:
    """One line: what was asked for, what is there."""
    with pytest.raises(UsageError, match=rf"no run '{name}' .*there: {run}"):
        store.query(name, COUNT)
    with pytest.raises(UsageError, match=f"no run '{name}'"):
        store.change_run(name, [])
    with pytest.raises(UsageError, match=f"no run '{name}'"):
        store.delete_run(name)


def test_columns_have_their_types_and_order(store: Store, run: str) -> None:
    """One kind of value gives a typed column; no value at all a Null one; mixed kinds are JSON text."""
    found = store.query(
        run,
        "MATCH (n:HostOp) WHERE n.run = $run WITH n ORDER BY n.uid LIMIT 2 "
        "RETURN n.name AS name, n.node_id AS id, n.node_id * 0.5 AS half, n.node_id = 1 AS first, "
        "n.step AS step, [n.node_id, null] AS list, CASE WHEN n.node_id = 1 THEN 1 ELSE 'x' END AS mixed, "
        "[[1], ['a']] AS nested ORDER BY name",
    )

    assert dict(found.schema) == {
        "name": pl.String,
        "id": pl.Int64,
        "half": pl.Float64,
        "first": pl.Boolean,
        "step": pl.Null,
        "list": pl.List(pl.Int64),
        "mixed": pl.String,
        "nested": pl.String,
    }
    assert found.row(0) == ("op 0", 1, 0.5, True, None, [1, None], "1", '[[1],["a"]]')
    assert found.row(1) == ("op 1", 2, 1.0, False, None, [2, None], "x", '[[1],["a"]]')


def test_a_result_without_rows_has_its_columns(store: Store, run: str) -> None:
    """An empty answer is a frame with the statement's columns in order."""
    found = store.query(run, "MATCH (n:HostOp) WHERE n.run = 'absent' RETURN n.uid AS uid, n.name AS name")

    assert found.columns == ["uid", "name"]
    assert found.height == 0


def test_nodes_edges_and_paths_are_json_in_one_form(store: Store, run: str) -> None:
    """Both engines give the same text: labels, own properties only, a path's edges with their ends' keys."""
    found = store.query(
        run,
        "MATCH p = (a:Op)-[r:CTRL]->(b:Op) WHERE a.run = $run AND b.node_id = 2 "
        "RETURN p, r, a, {node: b, list: [b]} AS m",
    ).row(0, named=True)

    a, b = json.loads(found["a"]), json.loads(found["m"])["node"]
    assert a["labels"] == ["Op", "HostOp"]
    assert a["properties"] == {
        "duration_ns": 100,
        "kind": "HostOp",
        "name": "op 0",
        "node_id": 1,
        "rank": 0,
        "run": run,
        "self_ns": 100,
        "uid": a["properties"]["uid"],
    }
    assert json.loads(found["r"]) == {"type": "CTRL", "properties": {}}
    assert json.loads(found["m"])["list"] == [b]
    edge = {"type": "CTRL", "properties": {}, "start": a["properties"]["uid"], "end": b["properties"]["uid"]}
    assert json.loads(found["p"]) == {"nodes": [a, b], "relationships": [edge]}


def test_an_edge_walked_backwards_keeps_its_direction(store: Store, run: str) -> None:
    """start and end of an edge in a path are those of the edge, not of the walk."""
    walked = store.query(
        run, "MATCH p = (b:Op)<-[:CTRL]-(a:Op) WHERE a.run = $run RETURN p, a.uid AS a LIMIT 1"
    ).row(0, named=True)

    (edge,) = json.loads(walked["p"])["relationships"]

    assert edge["start"] == walked["a"]


def test_a_row_limit_gives_one_row_more_so_that_a_cut_is_seen(store: Store, run: str) -> None:
    """limit + 1 rows come when there are more, all when there are not."""
    text = "MATCH (n:HostOp) WHERE n.run = $run RETURN n.uid AS uid ORDER BY uid"

    assert store.query(run, text, row_limit=2).height == 3
    assert store.query(run, text, row_limit=4).height == 4
    assert store.query(run, text, row_limit=0).height == 1


READS = [
    "MATCH (n:Op) WHERE n.name = 'SET CREATE DELETE' RETURN n.uid AS x",
    "MATCH (n:Op) RETURN count(n) AS `create` // MERGE nothing",
    "MATCH (n:Op) CALL (n) { MATCH (n)-[:CTRL]->(m:Op) RETURN count(m) AS c } RETURN sum(c) AS x",
    "MATCH (n:Op) RETURN count(n) AS x;",
]


@pytest.mark.parametrize("text", READS)
def test_statements_that_only_read_run(store: Store, run: str, text: str) -> None:
    """Words in strings, names and comments do not make a statement a writing one."""
    assert store.query(run, text) is not None


WRITES = [
    "CREATE (n:Op {uid: 1, name: 'x'})",
    "MERGE (n:Op {uid: 1}) RETURN n.uid AS uid",
    "MATCH (n:Op) SET n.name = 'x' RETURN n.uid AS uid",
    "MATCH (n:Op) set n:Kernel RETURN n.uid AS uid",
    "MATCH (n:Op) REMOVE n.name RETURN n.uid AS uid",
    "MATCH (n:Op) DETACH DELETE n",
    "MATCH (:Op)-[r:CTRL]->(:Op) DELETE r",
    "MATCH (n:Op) FOREACH (x IN [1] | SET n.name = 'x')",
    "CREATE INDEX x IF NOT EXISTS FOR (n:Op) ON (n.name)",
    "DROP CONSTRAINT op_uid IF EXISTS",
    "CALL db.labels() YIELD label RETURN label",
    "SHOW INDEXES",
    "MATCH (n:Op) CALL (n) { SET n.name = 'x' } RETURN 1 AS x",
    "LOAD CSV FROM 'file:///etc/passwd' AS row RETURN row",
    "RETURN 1 AS x UNION LOAD /* */ csv FROM 'file:///etc/passwd' AS x RETURN x",
    r"\u004cOAD CSV FROM 'file:///etc/passwd' AS row RETURN row",
]


@pytest.mark.parametrize("text", WRITES)
def test_statements_that_write_or_read_files_are_refused(store: Store, run: str, text: str) -> None:
    """Refused by their text, before the engine sees them; the run stays as it was."""
    before = contents(store, run)

    with pytest.raises(QueryError, match="refused"):
        store.query(run, text)

    assert contents(store, run) == before


# Not those that only read: they are refused in text because their rows differ between the engines.
@pytest.mark.parametrize("text", [each for each in WRITES[:13] if not each.startswith(("CALL", "SHOW"))])
def test_the_engine_itself_refuses_writes(
    store: Store, run: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The text check is the first wall; behind it the engine reads in read-only mode."""
    monkeypatch.setattr("graphstore.store.guard.refuse_writes", lambda text: None)
    before = contents(store, run)

    with pytest.raises(QueryError):
        store.query(run, text)

    assert contents(store, run) == before


@pytest.mark.parametrize(
    "text",
    [
        "MATCH (n RETURN n",
        "MATCH (n:Op) RETURN nofunction(n) AS x",
        "MATCH (n:Op) WHERE n.uid = $absent RETURN n.uid AS x",
        "MATCH (n:Op) RETURN m.uid AS x",
    ],
)
def test_a_wrong_statement_is_a_query_error_on_one_line(store: Store, run: str, text: str) -> None:
    """What is wrong, in the engine's words, without a traceback of its own."""
    with pytest.raises(QueryError) as caught:
        store.query(run, text)

    assert "\n" not in str(caught.value)


def test_a_parameter_no_engine_can_take_is_a_query_error(store: Store, run: str) -> None:
    """Beyond 64 bits, or no value of Cypher at all."""
    for value in (2**63, object()):
        with pytest.raises(QueryError):
            store.query(run, "RETURN $x AS x", {"x": value})


@pytest.mark.parametrize("limit", [0, -1, float("inf"), float("nan")])
def test_a_time_limit_is_a_positive_number(store: Store, run: str, limit: float) -> None:
    """0 would mean no limit to the engines; nobody gets that."""
    with pytest.raises(UsageError, match="more than 0"):
        store.query(run, COUNT, timeout_s=limit)


def test_a_query_past_its_time_limit_ends(store: Store) -> None:
    """A product of millions of rows is stopped by the engine, and the store answers afterwards."""
    store.write_run(small_run("many", store.allocate_run_no(), ops=400))

    with pytest.raises(QueryTimeoutError, match=r"limit of 0\.3 s"):
        store.query(
            "many",
            "MATCH (a:Op), (b:Op), (c:Op), (d:Op) WHERE a.node_id + b.node_id + c.node_id + d.node_id = -1 "
            "RETURN count(*) AS n",
            timeout_s=0.3,
        )

    assert store.query("many", COUNT)["n"].to_list() == [400]


def finding(fid: str) -> Statement:
    """Return a statement that writes a finding about every op of the run."""
    return Statement(
        "UNWIND $rows AS row MERGE (f:Finding {fid: row.fid}) SET f += row.p WITH f "
        "MATCH (n:Op) WHERE n.run = $run MERGE (f)-[a:ABOUT]->(n) SET a.role = 'orphan' RETURN count(*) AS n",
        {"rows": [{"fid": fid, "p": {"name": "missing_parent", "rule": "missing_parent", "run": "small"}}]},
    )


def test_a_change_runs_its_statements_in_order_and_gives_their_rows(store: Store, run: str) -> None:
    """The second statement sees what the first wrote."""
    rows = store.change_run(
        run, [finding("f"), Statement("MATCH (f:Finding {fid: 'f'}) RETURN f.rule AS rule", {})]
    )

    assert rows[0]["n"].to_list() == [4]
    assert rows[1]["rule"].to_list() == ["missing_parent"]
    assert store.query(run, "MATCH (f:Finding)-[a:ABOUT]->(n:Op) RETURN count(a) AS n")["n"].to_list() == [4]


@pytest.mark.parametrize(
    "wrong",
    [
        "MATCH (n RETURN n",
        "CREATE (n:Op) SET n.uid = $uid, n.name = 'twice' RETURN n.uid AS uid",
        "LOAD CSV FROM 'file:///etc/passwd' AS row RETURN row",
    ],
)
def test_a_change_is_all_or_none(store: Store, run: str, wrong: str) -> None:
    """An error in the second statement undoes the first: syntax, a key twice, a refused word."""
    uid = store.query(run, "MATCH (n:Op) RETURN min(n.uid) AS uid")["uid"][0]
    before = contents(store, run)

    with pytest.raises((QueryError, StoreError)):
        store.change_run(run, [finding("f"), Statement(wrong, {"uid": uid})])

    assert contents(store, run) == before


def test_an_error_that_is_kept_holds_nothing_up(store: Store, run: str) -> None:
    """The frames of its traceback must not keep a lease, a lock or a transaction."""
    with pytest.raises(QueryError) as kept:
        store.change_run(run, [Statement("MATCH (n RETURN n", {})])

    assert store.change_run(run, [finding("f")])[0]["n"].to_list() == [4]
    assert kept.value


def test_a_change_is_seen_by_a_store_that_was_open_before(store: Store, run: str) -> None:
    """Queries read what is there now, not what was there when they first looked."""
    text = "MATCH (f:Finding) WHERE f.run = $run RETURN count(f) AS n"
    assert store.query(run, text)["n"].to_list() == [0]

    store.change_run(run, [finding("f")])

    assert store.query(run, text)["n"].to_list() == [1]


def test_name_and_tags_of_a_run_can_be_set(store: Store, run: str) -> None:
    """They are what people may change; the list shows them."""
    store.set_run(run, {"name": "the slow one", "tags": ["slow", "h100"]})

    (found,) = store.runs()
    assert (found["name"], found["tags"]) == ("the slow one", ["slow", "h100"])


def test_no_other_property_of_a_run_can_be_set(store: Store, run: str) -> None:
    """The id, the number and the status are the store's."""
    with pytest.raises(UsageError, match="status can't be set"):
        store.set_run(run, {"status": "loading"})


def test_a_deleted_run_is_gone_and_the_others_are_not(store: Store, run: str) -> None:
    """Its nodes, its findings, its place in the list."""
    store.write_run(small_run("other", store.allocate_run_no()))
    store.change_run(run, [finding("f")])
    other = contents(store, "other")

    store.delete_run(run)

    assert [each["run"] for each in store.runs()] == ["other"]
    assert contents(store, "other") == other
    with pytest.raises(UsageError, match="no run"):
        store.query(run, COUNT)


def test_an_edge_without_an_end_is_refused_before_anything_is_written(store: Store) -> None:
    """One engine would drop it, the other invent a node."""
    graph = small_run("small", store.allocate_run_no())
    graph.edges.append(EdgeTable("DATA", "Op", "Op", edge_frame("DATA", {"src": [1], "dst": [2]})))

    with pytest.raises(StoreError, match="1 of 1 DATA edges name a Op that is not in the run"):
        store.write_run(graph)

    assert store.runs() == []


def test_health_has_the_facts_doctor_shows(store: Store, run: str) -> None:
    """The same keys on both engines, so that one page can show them."""
    health = store.health()

    assert health["engine"] == store.engine
    assert health["reachable"] is True
    assert health["runs"] == 1
    assert health["engine_version"]
    assert health["leftovers"] == health["problems"] == health["remedies"] == []
    assert health.keys() == {
        "engine", "engine_version", "address", "reachable", "runs", "size_bytes", "free_bytes", "leftovers",
        "problems", "remedies",
    }  # fmt: skip


def test_rebuilding_a_whole_archive_changes_nothing(store: Store, run: str) -> None:
    """`doctor --rebuild` may be called at any time."""
    before = store.runs()

    assert store.rebuild() == {"runs": 1, "removed": [], "problems": {}}

    assert store.runs() == before
