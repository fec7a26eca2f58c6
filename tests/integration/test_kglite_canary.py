"""A canary for the embedded engine: the counts it gets wrong, and that the store gets them right.

When a kglite upgrade cures or moves one of them, the first test fails: then read its notes, run the
differential tests with fewer passes off, and change kglite_engine.DISABLED_PASSES with the pinned version.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import kglite
import pytest

from graphstore.store.kglite_engine import DISABLED_PASSES, run

CTRL = [(1, 2), (1, 3), (2, 4), (4, 5), (3, 6)]
DATA = [(1, 5), (2, 5), (3, 5), (3, 6), (4, 6), (1, 6), (2, 3), (4, 1)]

# What is asked, and the right rows, counted by hand from the edges above.
WRONG = {
    # an undirected hop joined to a directed one: fuse_match_return_aggregate counts 0
    "MATCH (a:Op)-[:CTRL]-(b:Op)-[:DATA]->(c:Op) RETURN count(*) AS n": [{"n": 16}],
    # grouped by the optional node: fuse_optional_match_aggregate makes one group of all
    "MATCH (a:Op) OPTIONAL MATCH (a)<-[:DATA]-(e:Op) WITH e AS g, count(*) AS x WHERE x > 1 "
    "RETURN g.uid AS g, x AS x ORDER BY g": [
        {"g": 1, "x": 2},
        {"g": 2, "x": 2},
        {"g": 3, "x": 2},
        {"g": 4, "x": 2},
        {"g": None, "x": 2},
    ],
    # DISTINCT over a second MATCH, with a condition on the first: push_distinct_into_match drops starts
    "MATCH (a:Op)-[:CTRL]->(b:Op) MATCH (a)-[:DATA]->(e:Op) WHERE b.uid > 4 RETURN count(DISTINCT e) AS n": [
        {"n": 3}
    ],
}


@pytest.fixture
def graph() -> Any:
    """Return six ops with a few CTRL and DATA edges."""
    made = kglite.KnowledgeGraph()
    made.cypher("UNWIND range(1, 6) AS i CREATE (n:Op {uid: i, name: 'op'})")
    for kind, pairs in (("CTRL", CTRL), ("DATA", DATA)):
        made.cypher(
            f"UNWIND $pairs AS e MATCH (a:Op {{uid: e[0]}}), (b:Op {{uid: e[1]}}) CREATE (a)-[:{kind}]->(b)",
            params={"pairs": [list(pair) for pair in pairs]},
        )
    return made


@pytest.mark.parametrize("text", WRONG)
def test_the_engine_alone_still_counts_wrong(graph: Any, text: str) -> None:
    """With its passes on, kglite gives other rows than with no optimizer: the reason to switch them off."""
    assert graph.cypher(text).to_list() != graph.cypher(text, disable_optimizer=True).to_list()


@pytest.mark.parametrize(("text", "rows"), WRONG.items())
def test_the_store_counts_right(graph: Any, text: str, rows: list[dict[str, Any]]) -> None:
    """With the three passes off the rows are those counted by hand."""
    assert run(graph, text, {}, 10).to_dicts() == rows


def test_every_pass_that_is_switched_off_exists() -> None:
    """A renamed pass would come back on unseen."""
    assert set(DISABLED_PASSES) <= set(kglite.cypher_pass_names())


def test_the_version_is_the_one_all_of_this_was_measured_on() -> None:
    """It is pinned exactly; move the pin only with this file green on the new one."""
    assert version("kglite") == "0.21.2"
