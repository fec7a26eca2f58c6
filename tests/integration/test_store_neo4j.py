"""The store on Neo4j against the world: wrong passwords, absent servers, other writers, half runs."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from typing import Any

import pytest
from neomodel import db, get_config

from graphstore.errors import QueryError, QueryTimeoutError, StoreError, UsageError
from graphstore.settings import Settings
from graphstore.store import Store, ddl, neo4j_connection, neo4j_write, ogm, open_store
from graphstore.store.ddl import LEASE, names
from tests.engines import Server
from tests.graphs import contents, given_contents, small_run

pytestmark = pytest.mark.neo4j

COUNT = "MATCH (n:Op) WHERE n.run = $run RETURN count(n) AS n"


def refused(settings: Settings) -> str:
    """Return the message of the StoreError that the first use of a store ends with; check its form."""
    store = open_store(settings)
    begun = time.monotonic()
    with pytest.raises(StoreError) as caught:
        store.runs()
    assert time.monotonic() - begun < 30
    health = store.health()
    assert health["reachable"] is False
    assert health["problems"] == [str(caught.value)]
    assert health["remedies"]
    store.close()
    message = str(caught.value)
    assert "\n" not in message
    assert caught.value.exit_code == 4
    return message


def test_a_wrong_password_is_one_line_without_it(neo4j_wiped: Server) -> None:
    """Which user, which variables to set; never the password."""
    message = refused(neo4j_wiped.settings(password="wrong-secret"))

    assert "user 'neo4j' and the password are refused; set NEO4J_USERNAME and NEO4J_PASSWORD" in message
    assert "wrong-secret" not in message


def test_too_many_wrong_passwords_say_to_wait(neo4j_wiped: Server) -> None:
    """The server locks the user out for 5 s after three tries, also from the right password."""
    for _ in range(4):
        said = open_store(neo4j_wiped.settings(password="wrong")).health()["problems"]

    assert "too many wrong passwords; wait 5 s" in said[0]
    until = time.monotonic() + 20
    while not open_store(neo4j_wiped.settings()).health()["reachable"]:  # the tests after this one need it
        assert time.monotonic() < until
        time.sleep(0.5)


def test_no_server_is_said_at_once() -> None:
    """A port nobody listens on."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    message = refused(Settings(store=f"bolt://127.0.0.1:{port}", password="secret"))

    assert f"Neo4j at bolt://127.0.0.1:{port}: no server answers" in message
    assert "secret" not in message


def test_a_server_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A port that takes connections and says nothing: the time to connect is bounded."""
    monkeypatch.setattr(neo4j_connection, "CONNECT_S", 1.0)
    monkeypatch.setattr(neo4j_connection, "ACQUIRE_S", 2.0)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        message = refused(Settings(store=f"bolt://127.0.0.1:{silent.getsockname()[1]}"))

    assert "no server answers" in message


def test_an_unknown_database_is_named(neo4j_wiped: Server) -> None:
    """With the variable that names it."""
    assert "no database 'absent'; set NEO4J_DATABASE" in refused(neo4j_wiped.settings(database="absent"))


def test_an_address_that_is_none_is_said() -> None:
    """A user and password in the address are not taken, and not shown by the driver's words."""
    assert "no address of a Neo4j server" in refused(Settings(store="bolt://localhost:7687/?x=%"))


def test_a_routing_address_works_too(neo4j_wiped: Server) -> None:
    """neo4j:// is what clusters and Aura use; a single server answers it as well."""
    store = open_store(neo4j_wiped.settings(store=neo4j_wiped.uri.replace("bolt://", "neo4j://")))

    store.write_run(small_run("small", store.allocate_run_no()))

    assert store.query("small", COUNT)["n"].to_list() == [4]
    store.close()


@pytest.fixture
def bare(neo4j_wiped: Server) -> Server:
    """Return the server without constraints and indexes, as a new one is."""
    with neo4j_wiped.driver() as driver:
        for record in driver.execute_query("SHOW CONSTRAINTS YIELD name").records:
            driver.execute_query(f"DROP CONSTRAINT {record['name']}")
        for record in driver.execute_query("SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP'").records:
            driver.execute_query(f"DROP INDEX {record['name']}")
    return neo4j_wiped


def test_the_schema_is_made_with_the_first_write(bare: Server) -> None:
    """Every constraint and index of the schema, online; looking makes none."""
    store = open_store(bare.settings())
    assert store.runs() == []
    assert schema_of(bare) == {}

    store.write_run(small_run("small", store.allocate_run_no()))

    assert schema_of(bare) == dict.fromkeys(names(ddl("neo4j")), "ONLINE")
    store.close()


def test_two_processes_may_make_the_schema_at_once(bare: Server) -> None:
    """Three imports into an empty database: all are there."""
    command = [sys.executable, "-m", "tests.integration.importer", bare.uri]
    env = {**os.environ, "NEO4J_USERNAME": bare.username, "NEO4J_PASSWORD": bare.password}
    all_three = [
        subprocess.Popen([*command, run, "300", "never"], env=env, stdout=subprocess.DEVNULL) for run in "abc"
    ]

    assert [process.wait(timeout=180) for process in all_three] == [0, 0, 0]

    store = open_store(bare.settings())
    assert {run["run"] for run in store.runs()} == {"a", "b", "c"}
    assert len({run["run_no"] for run in store.runs()}) == 3
    assert [store.query(run, COUNT)["n"][0] for run in "abc"] == [300, 300, 300]
    store.close()


def schema_of(server: Server) -> dict[str, str]:
    """Return {name: state} of the server's indexes, those of constraints among them."""
    with server.driver() as driver:
        found = driver.execute_query("SHOW INDEXES YIELD name, type, state WHERE type <> 'LOOKUP'").records
    return {record["name"]: record["state"] for record in found}


def test_a_missing_index_is_a_problem_that_a_rebuild_mends(neo4j_wiped: Server, neo4j_store: Store) -> None:
    """doctor names it; `doctor --rebuild` makes it."""
    neo4j_store.write_run(small_run("small", neo4j_store.allocate_run_no()))
    with neo4j_wiped.driver() as driver:
        driver.execute_query("DROP INDEX op_name")
    assert neo4j_store.health()["problems"] == ["missing: op_name"]

    neo4j_store.rebuild()

    assert neo4j_store.health()["problems"] == []


def test_uids_are_unique_on_the_server(neo4j_wiped: Server, neo4j_store: Store) -> None:
    """The constraint holds for everybody who writes."""
    neo4j_store.write_run(small_run("small", neo4j_store.allocate_run_no()))

    with neo4j_wiped.driver() as driver, pytest.raises(Exception, match="already exists"):
        driver.execute_query("MATCH (n:Op) WITH n LIMIT 1 CREATE (:Op {uid: n.uid})")


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a few rows be many batches."""
    for name in ("NODE_BATCH", "EDGE_BATCH", "DELETE_BATCH"):
        monkeypatch.setattr(neo4j_write, name, 7)


@pytest.mark.usefixtures("small_batches")
def test_batches_write_and_delete_everything_once(neo4j_wiped: Server, neo4j_store: Store) -> None:
    """Sizes on both sides of a batch; nothing is left of a deleted run, no lease either."""
    for ops in (1, 6, 7, 8, 30):
        graph = small_run("small", neo4j_store.allocate_run_no(), ops)
        neo4j_store.write_run(graph)
        assert contents(neo4j_store, "small") == given_contents(graph)

    neo4j_store.delete_run("small")

    with neo4j_wiped.driver() as driver:
        left = driver.execute_query("MATCH (n) UNWIND labels(n) AS label RETURN DISTINCT label").records
    assert {record["label"] for record in left} <= {"GraphstoreTests", "GraphstoreCounter"}


@pytest.mark.usefixtures("small_batches")
def test_a_deletion_that_was_cut_short_is_not_shown_and_can_go_on(
    neo4j_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From its first batch on the run is gone for everybody; the next call finishes it."""
    neo4j_store.write_run(small_run("small", neo4j_store.allocate_run_no(), 30))
    calls = iter(range(100))
    real = neo4j_write.Writing._remove_some

    def fails_at_the_third(self: Any, transaction: Any) -> bool:
        if next(calls) == 2:
            raise StoreError("the power went")
        return real(self, transaction)

    monkeypatch.setattr(neo4j_write.Writing, "_remove_some", fails_at_the_third)
    with pytest.raises(StoreError, match="the power went"):
        neo4j_store.delete_run("small")

    assert neo4j_store.runs() == []
    with pytest.raises(UsageError, match=r"not complete \(deleting\)"):
        neo4j_store.query("small", COUNT)
    assert neo4j_store.health()["leftovers"] == ["small: deleting"]
    neo4j_store.delete_run("small")  # the fourth call and later go through
    assert neo4j_store.health()["leftovers"] == []


def hold(server: Server, **lease: Any) -> None:
    """Put a lease on the run 'small', as another import would."""
    held = {"owner": "x", "host": socket.gethostname(), "pid": os.getpid()} | lease
    with server.driver() as driver:
        driver.execute_query(
            f"MERGE (l:{LEASE} {{run: 'small'}}) SET l += $held, l.beat = timestamp() - $age",
            held={name: value for name, value in held.items() if name != "age"},
            age=held.get("age", 0),
        )


def test_a_run_that_another_process_writes_is_refused_by_its_number(
    neo4j_wiped: Server, neo4j_store: Store
) -> None:
    """Import, deletion and rebuild leave it alone; a fresh lease of another machine counts."""
    neo4j_store.write_run(small_run("small", neo4j_store.allocate_run_no()))
    hold(neo4j_wiped, host="elsewhere", pid=4711)

    with pytest.raises(StoreError, match="being written by process 4711 on elsewhere"):
        neo4j_store.write_run(small_run("small", neo4j_store.allocate_run_no()))
    with pytest.raises(StoreError, match="being written by process 4711 on elsewhere"):
        neo4j_store.delete_run("small")

    assert neo4j_store.query("small", COUNT)["n"].to_list() == [4]


@pytest.mark.parametrize(
    "lease", [{"host": "elsewhere", "age": 10 * 60 * 1000}, {"pid": 2**22 + 1}], ids=["old", "process gone"]
)
def test_the_lease_of_a_dead_import_is_taken_over(
    neo4j_wiped: Server, neo4j_store: Store, lease: dict[str, Any]
) -> None:
    """Too old, or of a process that is gone from this machine."""
    hold(neo4j_wiped, **lease)

    neo4j_store.write_run(small_run("small", neo4j_store.allocate_run_no()))

    assert neo4j_store.query("small", COUNT)["n"].to_list() == [4]


@pytest.mark.usefixtures("small_batches")
def test_an_import_that_lost_its_lease_stops(neo4j_wiped: Server, neo4j_store: Store) -> None:
    """It was thought dead and another took over: it writes nothing more, and shows nothing."""

    def taken(_: str, done: int, __: int) -> None:
        if done > 20:
            hold(neo4j_wiped, owner="another")

    with pytest.raises(StoreError, match="another process took over"):
        neo4j_store.write_run(small_run("small", neo4j_store.allocate_run_no(), 60), taken)

    assert neo4j_store.runs() == []


def test_a_run_being_written_is_no_leftover(neo4j_wiped: Server, neo4j_store: Store) -> None:
    """doctor does not offer to remove what a living process is at, and does not count it."""
    seen: list[dict[str, Any]] = []

    neo4j_store.write_run(
        small_run("small", neo4j_store.allocate_run_no()), lambda *_: seen.append(neo4j_store.health())
    )

    assert seen[0]["runs"] == 0
    assert seen[0]["leftovers"] == []


def test_a_query_that_needs_too_much_memory_ends_at_once(neo4j_store: Store) -> None:
    """The driver would try it again for 15 s, because the server calls the error transient."""
    neo4j_store.write_run(small_run("small", neo4j_store.allocate_run_no()))
    text = "UNWIND range(1, 2000000000) AS x WITH collect(x + 0) AS list RETURN size(list) AS n"

    with pytest.raises(QueryError, match="more memory than the server gives"):
        neo4j_store.query("small", text, timeout_s=300)

    assert neo4j_store.query("small", COUNT)["n"].to_list() == [4]


def test_the_servers_limit_is_never_taken_away(neo4j_store: Store) -> None:
    """Each statement carries its own limit; the server ends it."""
    neo4j_store.write_run(small_run("many", neo4j_store.allocate_run_no(), 500))

    with pytest.raises(QueryTimeoutError, match=r"limit of 0\.5 s"):
        neo4j_store.query(
            "many",
            "MATCH (a:Op), (b:Op), (c:Op), (d:Op) WHERE a.node_id * b.node_id + c.node_id * d.node_id = -1 "
            "RETURN count(*) AS n",
            timeout_s=0.5,
        )


def test_load_csv_is_closed_on_the_tests_server_too(neo4j_wiped: Server) -> None:
    """Files and network: what the settings in docker/ close for those who go past the store."""
    if "GRAPHSTORE_TEST_URI" in os.environ:
        pytest.skip("the server of GRAPHSTORE_TEST_URI has settings of its own")
    with neo4j_wiped.driver() as driver:
        for url in ("file:///etc/passwd", "http://127.0.0.1:1/x.csv"):
            with pytest.raises(Exception, match=r"(?i)load|csv|url|blocked|external"):
                driver.execute_query("LOAD CSV FROM $url AS row RETURN row", url=url)


def test_neomodel_classes_read_what_the_store_wrote(neo4j_wiped: Server, neo4j_store: Store) -> None:
    """A script gets ops by class, follows their edges, and finds no constraint missing or in the way."""
    neo4j_store.write_run(small_run("small", neo4j_store.allocate_run_no()))
    scheme, host = neo4j_wiped.uri.split("://")
    get_config().database_url = f"{scheme}://{neo4j_wiped.username}:{neo4j_wiped.password}@{host}"
    with open(os.devnull, "w") as nowhere:
        db.install_all_labels(stdout=nowhere)

    root: Any = ogm.Op.nodes.get(node_id=1, run="small")

    assert sorted(child.name for child in root.ctrl.all()) == ["op 1", "op 2", "op 3"]
    assert ogm.Run.nodes.get(run="small").ranks == [0]
    assert [rank.name for rank in ogm.Rank.nodes.all()] == ["rank 0"]
    db.close_connection()
