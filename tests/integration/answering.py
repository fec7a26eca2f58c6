"""An archive of shared sets on each engine, made once for a module: what queries are asked on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from graphstore import api
from graphstore.queries import run_query
from graphstore.settings import Settings
from graphstore.store import Store, open_store
from tests.engines import alone

ENGINES = ("kglite", pytest.param("neo4j", marks=pytest.mark.neo4j))


@dataclass(frozen=True)
class Archive:
    """A store that holds the sets asked for, each as the run of its folder's name."""

    store: Store

    def rows(self, run: str, query: str, **parameters: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        return run_query(self.store, run, query, **parameters).rows()

    def dicts(self, run: str, query: str, **parameters: Any) -> list[dict[str, Any]]:
        """Return the rows of a query by column."""
        return run_query(self.store, run, query, **parameters).to_dicts()


def archive(request: pytest.FixtureRequest, folders: Sequence[Path]) -> Iterator[Archive]:
    """Yield an archive with the sets in `folders`; the engine is the parameter of the fixture that asks."""
    with ExitStack() as held:
        if request.param == "neo4j":
            server = request.getfixturevalue("neo4j_server")
            held.enter_context(alone(server))
            settings = server.settings()
        else:
            home = request.getfixturevalue("tmp_path_factory").mktemp("archive")
            settings = Settings(store=str(home))
        for folder in folders:
            api.import_runs([str(folder)], api.ImportOptions(run=folder.name), settings)
        store = open_store(settings)
        held.callback(store.close)
        yield Archive(store)
