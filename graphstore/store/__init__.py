"""The store: the only room that knows an engine. `open_store` gives the one the settings name.

Nothing here loads polars or an engine: a shell that completes the name of a run asks names.py, in this room.
"""

from __future__ import annotations

from graphstore.settings import Settings
from graphstore.store.base import Progress, Statement, Store
from graphstore.store.ddl import ddl

__all__ = ["Progress", "Statement", "Store", "ddl", "open_store"]


def open_store(settings: Settings) -> Store:
    """Return the store that the settings name: a folder, or a Neo4j server; nothing is touched yet."""
    if settings.is_server:
        from graphstore.store.neo4j import Neo4jStore  # each engine's library costs 0.1 s and more to import

        return Neo4jStore(settings)
    from graphstore.store.kglite import KgliteStore

    return KgliteStore(settings)
