"""One archive on each engine for a module of tests: what it is asked for is imported once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from graphstore.settings import Settings
from graphstore.store import open_store
from tests.engines import Server, alone
from tests.integration.archives import Archive


@pytest.fixture(scope="module")
def kglite_archive(tmp_path_factory: pytest.TempPathFactory, data_dir: Path) -> Iterator[Archive]:
    """Return an embedded archive for all sets."""
    settings = Settings(store=str(tmp_path_factory.mktemp("sets")))
    store = open_store(settings)
    yield Archive(store, settings, data_dir)
    store.close()


@pytest.fixture(scope="module")
def neo4j_archive(neo4j_server: Server, data_dir: Path) -> Iterator[Archive]:
    """Return a Neo4j archive for all sets; the server is this module's until it is done."""
    with alone(neo4j_server):
        store = open_store(neo4j_server.settings())
        yield Archive(store, neo4j_server.settings(), data_dir)
        store.close()


@pytest.fixture(params=["kglite", pytest.param("neo4j", marks=pytest.mark.neo4j)])
def archive(request: pytest.FixtureRequest) -> Archive:
    """Return the archive of each engine."""
    found: Archive = request.getfixturevalue(f"{request.param}_archive")
    return found
