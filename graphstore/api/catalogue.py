"""The catalogue of queries as a person sees it: listed, searched, shown. No store is asked.

In:  topics, words, names. Out: `Query` objects. Apart from verbs.py, because the shell asks this at each Tab
and the other verbs take their time to load.
"""

from __future__ import annotations

from collections.abc import Sequence

from graphstore import queries
from graphstore.queries.catalog import Query


def list_queries(*, topic: str | None = None, internal: bool = False) -> list[Query]:
    """Return the queries of the catalogue that a person asks, by name; with `internal` all of them.

    Raises UsageError for a topic that does not exist.
    """
    return queries.listed(topic, internal=internal)


def search_queries(words: Sequence[str], *, topic: str | None = None, internal: bool = False) -> list[Query]:
    """Return the queries that hold every word in name, meaning, parameters or columns, the best first.

    Raises UsageError, with near words, when there is none.
    """
    return queries.search(queries.listed(topic, internal=internal), words)


def show_query(name: str) -> Query:
    """Return one query of the catalogue. Raises UsageError for an unknown name, with near ones."""
    return queries.get(name)
