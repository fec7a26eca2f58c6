"""What goes into a store comes out of it: random runs with every label, property and edge."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphstore.store import Store
from tests.graphs import contents, given_contents, run_graphs

_SETTINGS: dict[str, Any] = {
    "deadline": None,
    "suppress_health_check": [
        HealthCheck.function_scoped_fixture,
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
    ],
}


@settings(max_examples=30, **_SETTINGS)
@given(data=st.data())
def test_a_random_run_comes_back_as_it_was_from_the_embedded_store(kglite_store: Store, data: Any) -> None:
    """Every value of every property and every edge is stored as given, nulls as nulls."""
    _there_and_back(kglite_store, data)


@pytest.mark.neo4j
@pytest.mark.slow
@settings(max_examples=5, **_SETTINGS)
@given(data=st.data())
def test_a_random_run_comes_back_as_it_was_from_neo4j(neo4j_store: Store, data: Any) -> None:
    """The same on the server: so the two engines hold equal rows."""
    _there_and_back(neo4j_store, data)


def _there_and_back(store: Store, data: Any) -> None:
    run_no = store.allocate_run_no()
    graph = data.draw(run_graphs(f"random-{run_no}", run_no))

    store.write_run(graph)

    run = graph.run["run"]
    assert contents(store, run) == given_contents(graph)
    store.delete_run(run)
