"""The embedded engine without the adapter: to switch its optimizer off, on, or in part."""

from __future__ import annotations

from typing import Any

import kglite

from graphstore.model.records import RunGraph
from graphstore.store import kglite_engine
from graphstore.store.kglite import _filled
from graphstore.store.write import prepare

Rows = list[tuple[Any, ...]]
kglite.set_query_warning_policy("silent")


def open_graph(run: RunGraph) -> Any:
    """Return a graph in memory that holds the run, loaded as the store loads it."""
    return _filled(prepare(run), None)


def as_the_store_asks(graph: Any, text: str, parameters: dict[str, Any]) -> Rows:
    """Return the rows of a statement as the adapter runs it: without the passes that give wrong rows."""
    return _rows(graph, text, parameters, disabled_passes=list(kglite_engine.DISABLED_PASSES))


def without_passes(graph: Any, text: str, parameters: dict[str, Any], passes: list[str]) -> Rows:
    """Return the rows of a statement without the optimizer passes named."""
    return _rows(graph, text, parameters, disabled_passes=passes)


def without_optimizer(graph: Any, text: str, parameters: dict[str, Any]) -> Rows:
    """Return the rows of a statement that nothing rewrote."""
    return _rows(graph, text, parameters, disable_optimizer=True)


def with_every_pass(graph: Any, text: str, parameters: dict[str, Any]) -> Rows:
    """Return the rows of a statement as kglite runs it by itself."""
    return _rows(graph, text, parameters)


def _rows(graph: Any, text: str, parameters: dict[str, Any], **options: Any) -> Rows:
    """Return the rows as tuples."""
    answer = graph.cypher(text, params=parameters, **options)
    columns = [answer.column(name) for name in answer.columns]
    return list(zip(*columns, strict=True))
