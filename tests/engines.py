"""The engines for tests: a fresh embedded store, and one real Neo4j server for the whole test run.

Order for Neo4j: GRAPHSTORE_TEST_URI (with NEO4J_USERNAME and NEO4J_PASSWORD) → a container, if a Docker
engine answers → Maven Central's jars (docker/neo4j_from_jars.py). One server a run, shared by the workers of
pytest-xdist; a file lock gives it to one test at a time, and each test finds it empty.
Where none can be had: a skip that says why; a failure where CI is set. A server that holds anything the tests
did not make is refused, because they wipe it.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import importlib
import importlib.util
import json
import os
import secrets
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import neo4j
import pytest
from neo4j.exceptions import DriverError, Neo4jError

from graphstore.api.browsing import browser_at, has_start_page
from graphstore.settings import Settings
from graphstore.store import Store, open_store

REPOSITORY = Path(__file__).resolve().parent.parent
IMAGE = "neo4j:2026.09-community"
MARK = "GraphstoreTests"  # label of the node that says: this server is the tests' own


@dataclass(frozen=True)
class Server:
    """How to reach the server of this test run."""

    uri: str
    username: str
    password: str = field(repr=False)

    def settings(self, **changes: Any) -> Settings:
        """Return settings for a store on this server."""
        return Settings(**{"store": self.uri, "username": self.username, "password": self.password} | changes)

    def driver(self) -> neo4j.Driver:
        """Return a driver, for what a test does behind the store's back."""
        return neo4j.GraphDatabase.driver(
            self.uri, auth=(self.username, self.password), notifications_min_severity="OFF"
        )


class Unavailable(Exception):  # noqa: N818 - a state of the machine, not an error of the tests
    """No Neo4j server can be had here; the message says why."""


def jars_module() -> ModuleType:
    """Return docker/neo4j_from_jars.py as a module (its folder is no package)."""
    if "neo4j_from_jars" not in sys.modules:
        path = REPOSITORY / "docker" / "neo4j_from_jars.py"
        spec = importlib.util.spec_from_file_location("neo4j_from_jars", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["neo4j_from_jars"] = module
        spec.loader.exec_module(module)
    return sys.modules["neo4j_from_jars"]


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a file lock over processes."""
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def _named() -> Iterator[Server]:
    yield Server(
        os.environ["GRAPHSTORE_TEST_URI"],
        os.environ.get("NEO4J_USERNAME", "neo4j"),
        os.environ.get("NEO4J_PASSWORD", ""),
    )


def _docker_answers() -> bool:
    docker = importlib.import_module("docker")  # by name: our folder of that name is no package
    try:
        client = docker.from_env(timeout=2)
        client.ping()
        client.close()
    except (docker.errors.DockerException, OSError):
        return False
    return True


@contextlib.contextmanager
def _container() -> Iterator[Server]:
    from testcontainers.community.neo4j import Neo4jContainer

    password = secrets.token_urlsafe(18)
    made = Neo4jContainer(IMAGE, password=password)
    made.with_env("NEO4J_dbms_security_allow__csv__import__from__file__urls", "false")
    made.with_env("NEO4J_internal_dbms_cypher__ip__blocklist", "0.0.0.0/0,::/0")
    with made as container:
        yield Server(container.get_connection_url(), "neo4j", password)


@contextlib.contextmanager
def _jars(home: Path) -> Iterator[Server]:
    module = jars_module()
    try:
        server = module.start(home, quick=True)
    except module.ServerError as error:
        raise Unavailable(str(error)) from error
    try:
        yield Server(server.uri, "neo4j", server.password)
    finally:
        module.stop(home)


@contextlib.contextmanager
def _started(folder: Path) -> Iterator[Server]:
    """Give a server by the first of the three ways that this machine offers; end what was started."""
    if os.environ.get("GRAPHSTORE_TEST_URI"):
        way = _named()
    elif _docker_answers():
        way = _container()
    else:
        way = _jars(folder / "neo4j")
    with way as server:
        _claim(server)
        yield server


def _claim(server: Server) -> None:
    """Mark an empty server as the tests'; raise Unavailable for one that holds other people's data."""
    try:
        with server.driver() as driver:
            marks, others = driver.execute_query(
                f"MATCH (n) RETURN sum(CASE WHEN n:{MARK} THEN 1 ELSE 0 END) AS marks, "
                f"sum(CASE WHEN n:{MARK} THEN 0 ELSE 1 END) AS others"
            ).records[0]
            if others and not marks:
                raise Unavailable(
                    f"{server.uri} holds {others} nodes the tests did not make, and they would wipe it"
                )
            driver.execute_query(f"MERGE (n:{MARK} {{name: 'wiped by every test'}})")
    except (DriverError, Neo4jError) as error:
        raise Unavailable(f"{server.uri}: {' '.join(str(error).split())}") from error


def wipe(server: Server) -> None:
    """Remove every node but the mark; constraints and indexes stay."""
    with server.driver() as driver, driver.session() as session:
        session.run(
            f"MATCH (n) WHERE NOT n:{MARK} CALL (n) {{ DETACH DELETE n }} IN TRANSACTIONS OF 10000 ROWS"
        ).consume()


@pytest.fixture(scope="session")
def neo4j_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Return the one server of this test run, started by the first test that asks, ended with the run."""
    try:
        if "PYTEST_XDIST_WORKER" in os.environ:
            with _shared(tmp_path_factory.getbasetemp().parent) as server:
                yield server
        else:
            with _started(tmp_path_factory.mktemp("server")) as server:
                yield server
    except Unavailable as error:
        _cannot(f"no Neo4j server: {error}")


@pytest.fixture(scope="session")
def neo4j_with_kit(neo4j_server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Return a server whose Browser has our kit: that of the test run if jars started it, else one more."""
    if has_kit(neo4j_server):
        yield neo4j_server
        return
    try:
        with _jars(tmp_path_factory.mktemp("browser") / "neo4j") as server:
            _claim(server)
            yield server
    except Unavailable as error:
        _cannot(f"no Neo4j server with Browser: {error}")


def has_kit(server: Server) -> bool:
    """Return whether the server's Browser holds our start page."""
    at = browser_at(server.settings())
    return at is not None and has_start_page(at)


def _cannot(reason: str) -> None:
    """Skip for a reason; fail where CI is set."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


@contextlib.contextmanager
def _shared(folder: Path) -> Iterator[Server]:
    """Give the workers of one run one server: a file says which, and how many still use it.

    The worker that started it ends it, after waiting for the others.
    """
    state, lock = folder / "neo4j-server.json", folder / "neo4j-server.lock"
    with contextlib.ExitStack() as mine:
        with locked(lock):
            starter = not state.exists()
            if starter:
                server = mine.enter_context(_started(folder))
                state.write_text(json.dumps({"server": asdict(server), "users": 0}))
            known = json.loads(state.read_text())
            state.write_text(json.dumps({**known, "users": known["users"] + 1}))
        try:
            yield Server(**known["server"])
        finally:
            with locked(lock):
                known = json.loads(state.read_text())
                state.write_text(json.dumps({**known, "users": known["users"] - 1}))
            while starter and not _unused(state, lock):
                time.sleep(0.1)


def _unused(state: Path, lock: Path) -> bool:
    """Return whether no worker uses the shared server any more; the file goes then, so nobody joins."""
    with locked(lock):
        if json.loads(state.read_text())["users"]:
            return False
        state.unlink()
    return True


@pytest.fixture
def kglite_store(tmp_path: Path) -> Iterator[Store]:
    """Return an embedded store in a fresh folder."""
    store = open_store(Settings(store=str(tmp_path / "archive")))
    yield store
    store.close()


@contextlib.contextmanager
def alone(server: Server) -> Iterator[None]:
    """Wipe the server and hold it for one test or module alone, also against other test runs on it."""
    name = hashlib.sha256(server.uri.encode()).hexdigest()[:16]
    with locked(Path(tempfile.gettempdir()) / f"graphstore-tests-{name}.lock"):
        wipe(server)
        yield


@pytest.fixture
def neo4j_wiped(neo4j_server: Server) -> Iterator[Server]:
    """Return the server, empty and this test's alone."""
    with alone(neo4j_server):
        yield neo4j_server


@pytest.fixture
def neo4j_store(neo4j_wiped: Server) -> Iterator[Store]:
    """Return a store on the wiped server."""
    store = open_store(neo4j_wiped.settings())
    yield store
    store.close()


@pytest.fixture(params=["kglite", pytest.param("neo4j", marks=pytest.mark.neo4j)])
def store(request: pytest.FixtureRequest) -> Store:
    """Return an empty store, once on each engine."""
    found: Store = request.getfixturevalue(f"{request.param}_store")
    return found
