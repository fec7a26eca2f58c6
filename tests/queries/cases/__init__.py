"""Cases for the statements of cypher/: a small graph, the parameters, and the rows that must come.

A case is a function that builds its graph and names the rows beside it. Every file has one; every check has
one that must find and one near it that must not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from graphstore.model.records import RunGraph
from tests.queries.graphs import GraphBuilder

TOPICS = (
    *("structure", "dependencies", "linking", "health", "communication", "matching", "matching_times"),
    *("communication_times", "communication_amounts", "memory"),
    *("matching_causes", "standing", "looking", "export", "spans", "drawing", "tables", "repairs"),
    *("looking_structure", "looking_linking", "looking_time", "overlaps", "diffing", "pictures"),
    "archive",
)


@dataclass(frozen=True)
class Case:
    """What a statement must give on a graph: rows as tuples, in order.

    For a statement that writes, `after` is a reading one and `then` its rows afterwards. `before` are writes
    that come first, as (name, parameters).  `parallel`: the row holds columns as lists whose order is open.
    """

    query: str
    graph: RunGraph
    rows: list[tuple[Any, ...]]
    parameters: dict[str, Any] = field(default_factory=dict)
    before: tuple[tuple[str, dict[str, Any]], ...] = ()
    after: str = ""
    then: list[tuple[Any, ...]] = field(default_factory=list)
    parallel: bool = False


Maker = Callable[[GraphBuilder], Case]
_MAKERS: dict[str, Maker] = {}


def case(maker: Maker) -> Maker:
    """Register the function that makes a case; its name is the case's."""
    name = maker.__name__
    assert name not in _MAKERS, f"two cases are called {name}"
    _MAKERS[name] = maker
    return maker


def all_cases() -> dict[str, Case]:
    """Return every case by name, each with a run of its own, so that all fit into one archive."""
    for topic in TOPICS:
        import_module(f"tests.queries.cases.{topic}")
    return {
        name: maker(GraphBuilder(run=name, run_no=number))
        for number, (name, maker) in enumerate(_MAKERS.items(), 1)
    }
