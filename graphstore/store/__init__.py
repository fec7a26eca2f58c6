"""The store: the only room that knows an engine. `open_store` gives the one the settings name."""

from __future__ import annotations

from graphstore.settings import Settings
from graphstore.store.base import Progress, Statement, Store
from graphstore.store.ddl import ddl
from graphstore.store.whole import read_run
from graphstore.store.write import NoGraphError

__all__ = ["NoGraphError", "Progress", "Statement", "Store", "ddl", "open_store", "read_run"]


def open_store(settings: Settings) -> Store:
    """Return the store that the settings name: a folder, or a Neo4j server; nothing is touched yet."""
    if settings.is_server:
        from graphstore.store.neo4j import Neo4jStore  # each engine's library costs 0.1 s and more to import

        return Neo4jStore(settings)
    from graphstore.store.kglite import KgliteStore

    return KgliteStore(settings)
