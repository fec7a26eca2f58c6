"""The Store protocol: what every engine can do. Only the modules of this room know an engine.

A run is invisible until it is complete: `write_run` is all or nothing. Queries are read-only, have a time
limit, and give columns. `change_run` is the only other write (findings, repairs), again all or nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:  # the shell asks for the names of runs while a person types: names.py
    import polars as pl

    from graphstore.model.records import RunGraph

Progress = Callable[[str, int, int], None]  # (what, done, total)


@dataclass(frozen=True)
class Statement:
    """A Cypher text with its parameters; values are never pasted into the text."""

    text: str
    parameters: dict[str, Any]


class Store(Protocol):
    """One archive of runs on one engine."""

    engine: str  # "kglite" or "neo4j"
    address: str  # folder or URI, without secrets

    def runs(self) -> list[dict[str, Any]]:
        """Return the properties of every ready Run, oldest first."""
        ...

    def allocate_run_no(self) -> int:
        """Return a run number that no run of this archive has had."""
        ...

    def write_run(self, graph: RunGraph, progress: Progress | None = None) -> None:
        """Write a whole run; it becomes visible when everything is in. Replaces a half-written one."""
        ...

    def query(
        self,
        run: str,
        text: str,
        parameters: dict[str, Any] | None = None,
        *,
        timeout_s: float | None = None,
        row_limit: int | None = None,
    ) -> pl.DataFrame:
        """Return the rows of a read-only statement on one run, `$run` bound to it.

        A frame with the statement's columns in order, also when it has no rows. With `row_limit`, at most
        row_limit + 1 rows are fetched: a caller that gets one more than it asked for knows it was cut.
        Raises QueryError (refused or wrong), QueryTimeoutError, StoreError.
        """
        ...

    def query_archive(
        self,
        text: str,
        parameters: dict[str, Any] | None = None,
        *,
        timeout_s: float | None = None,
        row_limit: int | None = None,
    ) -> pl.DataFrame:
        """Return the rows of a read-only statement on what the archive keeps of all runs, as `query` does.

        That is Run, Finding and NameSum (model/schema_archive.py), up to date with every ready run. The
        embedded store opens no run file for it. What other nodes it finds depends on the engine.
        """
        ...

    def change_run(self, run: str, statements: Sequence[Statement]) -> list[pl.DataFrame]:
        """Run writing statements in order, all or none; return the rows of each."""
        ...

    def set_run(self, run: str, properties: dict[str, Any]) -> None:
        """Set properties of the Run node (name, tags, note)."""
        ...

    def delete_run(self, run: str) -> None:
        """Delete a run in batches; a killed deletion is finished by the next call."""
        ...

    def sizes(self) -> dict[str, int]:
        """Return {run: bytes it takes in the archive}; empty where the engine does not tell (Neo4j)."""
        ...

    def rebuild(self) -> dict[str, Any]:
        """Make again what can be made from the runs (index, schema) and remove what killed processes left.

        Returns {runs: count, removed: [what went], problems: {run: why it can't be read or removed}}.
        """
        ...

    def health(self) -> dict[str, Any]:
        """Return what `doctor` shows; a store that is out of reach is a fact here, not an error.

        Keys: engine, engine_version, address, reachable, runs (count), size_bytes and free_bytes (None where
        the engine does not say), leftovers, problems and remedies (lists of lines).
        """
        ...

    def browser_origin(self) -> str | None:
        """Return where the engine's own web pages are (`http://localhost:7474`), for links a person follows.

        None where the engine has none, or doesn't say.
        """
        ...

    def close(self) -> None:
        """Release what is held; the store can't be used afterwards."""
        ...
