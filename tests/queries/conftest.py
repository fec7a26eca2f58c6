"""One archive on each engine that holds the graphs of all cases: each case asks its own run among them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from graphstore.settings import Settings
from graphstore.store import Store, open_store
from tests.engines import Server, alone
from tests.queries.cases import Case, all_cases


@pytest.fixture(scope="session")
def cases() -> dict[str, Case]:
    """Return every case by name."""
    return all_cases()


@pytest.fixture(scope="module")
def kglite_cases(tmp_path_factory: pytest.TempPathFactory, cases: dict[str, Case]) -> Iterator[Store]:
    """Return an embedded archive with the run of every case."""
    store = open_store(Settings(store=str(tmp_path_factory.mktemp("cases"))))
    for case in cases.values():
        store.write_run(case.graph)
    yield store
    store.close()


@pytest.fixture(scope="module")
def neo4j_cases(neo4j_server: Server, cases: dict[str, Case]) -> Iterator[Store]:
    """Return a Neo4j archive with the run of every case; the server is this module's until it is done."""
    with alone(neo4j_server):
        store = open_store(neo4j_server.settings())
        for case in cases.values():
            store.write_run(case.graph)
        yield store
        store.close()
