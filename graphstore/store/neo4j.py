"""The store on a Neo4j server, one database for all runs: any 5.26 or later, a cluster or Aura too.

In:  RunGraphs, statements. Out: rows as polars frames; nodes and edges in the database.
Decided here: what of the database is shown (runs whose status is ready), the schema is made with the first
write, reads go out in READ mode with a time limit of the server's own. How a run gets in and out:
neo4j_write.py. Sessions, retries and errors: neo4j_connection.py. No APOC, no GDS.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import neo4j
import neo4j.graph
import neo4j.spatial
import neo4j.time
import polars as pl

from graphstore.errors import GraphstoreError, QueryError, StoreError, UsageError
from graphstore.model.records import RunGraph, node_schema
from graphstore.settings import Settings
from graphstore.store import guard, values, write
from graphstore.store.base import Progress, Statement
from graphstore.store.ddl import LEASE, ddl, names
from graphstore.store.neo4j_connection import Connection
from graphstore.store.neo4j_write import BATCH_S, Writing, allocate, is_dead, make_name_sums

CHANGE_S = 3600.0  # all statements of one repair together
INDEXES_S = 300  # waited for after making the schema
_SCALARS = {type(None), bool, int, float, str}


class Neo4jStore:
    """All runs of one database. Made without connecting; the first use does."""

    engine = "neo4j"

    def __init__(self, settings: Settings) -> None:
        """Keep the address; nothing is sent yet."""
        self._settings = settings
        self._connection = Connection(settings)
        self.address = self._connection.address
        self._has_schema = False

    def runs(self) -> list[dict[str, Any]]:
        """Return the properties of every ready run, oldest first."""
        columns = ", ".join(f"r.{name} AS {name}" for name in node_schema("Run"))
        text = f"MATCH (r:Run) WHERE r.status = 'ready' RETURN {columns} ORDER BY r.created, r.run_no"
        return self._connection.read(lambda tx: tx.run(text).data(), self._settings.query_timeout_s)

    def allocate_run_no(self) -> int:
        """Return a run number that no run of this database has had."""
        self._ensure_schema()
        return self._connection.write(allocate, BATCH_S)

    def write_run(self, graph: RunGraph, progress: Progress | None = None) -> None:
        """Write a whole run in batches; it is shown when the last is in.

        What is there under the same id, half or whole, goes first. Raises StoreError when another process
        writes the run or the server fails; what was written until then is not shown, and the next import of
        the run removes it.
        """
        run = write.prepare(graph)
        self._ensure_schema()
        with Writing(self._connection, run.run) as writing:
            writing.remove()
            writing.fill(run, progress)

    def query(
        self,
        run: str,
        text: str,
        parameters: dict[str, Any] | None = None,
        *,
        timeout_s: float | None = None,
        row_limit: int | None = None,
    ) -> pl.DataFrame:
        """Return the rows of a read-only statement on one run, as base.Store.query says."""
        guard.refuse_writes(text)
        limit = guard.time_limit(timeout_s, self._settings)

        def work(transaction: neo4j.ManagedTransaction) -> pl.DataFrame:
            self._require_ready(transaction, run)
            return _rows(transaction, text, {**(parameters or {}), "run": run}, row_limit)

        return self._connection.read(work, limit)

    def query_archive(
        self,
        text: str,
        parameters: dict[str, Any] | None = None,
        *,
        timeout_s: float | None = None,
        row_limit: int | None = None,
    ) -> pl.DataFrame:
        """Return the rows of a read-only statement on all runs, as base.Store.query_archive says."""
        guard.refuse_writes(text)
        limit = guard.time_limit(timeout_s, self._settings)
        return self._connection.read(lambda tx: _rows(tx, text, parameters or {}, row_limit), limit)

    def sizes(self) -> dict[str, int]:
        """Return nothing: a server does not say what the nodes of one run take."""
        return {}

    def change_run(self, run: str, statements: Sequence[Statement]) -> list[pl.DataFrame]:
        """Run writing statements in one transaction: all of them or, on any error, none.

        Raises UsageError when the run is absent, QueryError for a wrong statement. Two changes of one run
        wait for each other.
        """
        for statement in statements:
            guard.refuse_load_csv(statement.text)
        self._ensure_schema()

        def work(transaction: neo4j.ManagedTransaction) -> list[pl.DataFrame]:
            rows = self._changed(transaction, run, statements)
            make_name_sums(transaction, run)
            return rows

        return self._connection.write(work, CHANGE_S)

    def set_run(self, run: str, properties: dict[str, Any]) -> None:
        """Set properties of the Run node (name, tags, note); raises UsageError for any other."""
        text = "MATCH (r:Run {run: $run}) SET r += $properties RETURN count(*) AS n"
        change = [Statement(text, {"properties": write.changeable(properties)})]
        self._ensure_schema()
        self._connection.write(lambda tx: self._changed(tx, run, change), BATCH_S)

    def delete_run(self, run: str) -> None:
        """Delete a run in batches; it is not shown from the first on; a killed deletion is finished later."""
        known = self._states()
        if run not in known:
            raise self._absent(run, [name for name, status in known.items() if status == "ready"])
        self._ensure_schema()
        with Writing(self._connection, run) as writing:
            writing.remove()

    def rebuild(self) -> dict[str, Any]:
        """Make the schema whole and the sums per name anew, and remove the half runs of dead processes.

        Returns {runs, removed: [run], problems: {run: who writes it}}.
        """
        self._has_schema = False
        self._ensure_schema()
        removed: list[str] = []
        problems: dict[str, str] = {}
        for run, status in self._states().items():
            if status == "ready":
                continue
            try:
                with Writing(self._connection, run) as writing:
                    writing.remove()
                removed.append(run)
            except StoreError as error:
                problems[run] = str(error)
        ready = [run for run, status in self._states().items() if status == "ready"]
        for run in ready:
            self._connection.write(partial(make_name_sums, run=run), BATCH_S)
        return {"runs": len(ready), "removed": removed, "problems": problems}

    def health(self) -> dict[str, Any]:
        """Return what `doctor` shows; the keys are the same on both engines (base.Store.health)."""
        facts: dict[str, Any] = {
            "engine": self.engine,
            "engine_version": None,
            "address": self.address,
            "reachable": False,
            "runs": 0,
            "size_bytes": None,  # Neo4j Community does not say
            "free_bytes": None,
            "leftovers": [],
            "problems": [],
            "remedies": [],
        }
        try:
            version, missing = self._connection.read(_about, self._settings.query_timeout_s)
            states = self._states()
        except GraphstoreError as error:
            return facts | {"problems": [str(error)], "remedies": [_remedy(str(error))]}
        unready = {run: status for run, status in states.items() if status != "ready"}
        half = [f"{run}: {status}" for run, status in unready.items() if status in ("loading", "deleting")]
        remedies = ["graphstore doctor --rebuild removes what killed processes left"] if half else []
        if missing and states:
            remedies.append("graphstore doctor --rebuild makes the missing constraints and indexes")
        return facts | {
            "engine_version": version,
            "reachable": True,
            "runs": len(states) - len(unready),
            "leftovers": half,
            "problems": [f"missing: {name}" for name in sorted(missing)] if states else [],
            "remedies": remedies,
        }

    def browser_origin(self) -> str | None:
        """Return where the server's Browser is, as its settings say; None where they may not be asked."""
        try:
            settings = self._connection.read(_http_settings, self._settings.query_timeout_s)
        except QueryError:  # a user without the right, Aura
            return None
        return origin(settings, self.address)

    def close(self) -> None:
        """Close the connections."""
        self._connection.close()

    def _changed(
        self, transaction: neo4j.ManagedTransaction, run: str, statements: Sequence[Statement]
    ) -> list[pl.DataFrame]:
        """Run statements on a ready run, alone in changing it; return their rows."""
        transaction.run("MATCH (r:Run {run: $run}) SET r.run = r.run", run=run).consume()  # the lock
        self._require_ready(transaction, run)
        return [_rows(transaction, each.text, {**each.parameters, "run": run}, None) for each in statements]

    def _states(self) -> dict[str, str]:
        """Return {run: status} of all runs; 'written by …' for one that a living process is at."""
        text = (
            f"MATCH (r:Run) OPTIONAL MATCH (l:{LEASE}) WHERE l.run = r.run "
            f"RETURN r.run AS run, r.status AS status, l.host AS host, l.pid AS pid, "
            f"timestamp() - l.beat AS age ORDER BY r.created, r.run_no"
        )
        rows = self._connection.read(lambda tx: tx.run(text).data(), self._settings.query_timeout_s)
        held = {row["run"]: row["pid"] is not None and not is_dead(row) for row in rows}
        return {
            row["run"]: f"written by process {row['pid']} on {row['host']} now"
            if held[row["run"]] and row["status"] != "ready"
            else row["status"]
            for row in rows
        }

    def _require_ready(self, transaction: neo4j.ManagedTransaction, run: str) -> None:
        """Raise UsageError unless the run is there and whole."""
        found = transaction.run("MATCH (r:Run {run: $run}) RETURN r.status AS status", run=run).single()
        if found is not None and found["status"] == "ready":
            return
        if found is not None:
            raise UsageError(
                f"run {run!r} in {self.address} is not complete ({found['status']}): "
                f"wait for its import, or import it again"
            )
        ready = "MATCH (r:Run) WHERE r.status = 'ready' RETURN r.run AS run ORDER BY run LIMIT 10"
        raise self._absent(run, [record["run"] for record in transaction.run(ready)])

    def _absent(self, run: str, known: list[str]) -> UsageError:
        there = ", ".join(known[:10]) or "none"
        return UsageError(f"no run {run!r} in {self.address}; there: {there} (graphstore runs list)")

    def _ensure_schema(self) -> None:
        """Make what is missing of constraints and indexes, and wait until they work; once per store."""
        if self._has_schema:
            return
        _, missing = self._connection.read(_about, self._settings.query_timeout_s)
        for statement in ddl("neo4j"):
            if names([statement]) & missing:
                self._connection.write(partial(_define, text=statement), INDEXES_S)
        if missing:
            self._connection.read(_await_indexes, INDEXES_S + 1)
        self._has_schema = True


def _define(transaction: neo4j.ManagedTransaction, text: str) -> None:
    transaction.run(text).consume()


def _await_indexes(transaction: neo4j.ManagedTransaction) -> None:
    transaction.run("CALL db.awaitIndexes($seconds)", seconds=INDEXES_S).consume()


def _about(transaction: neo4j.ManagedTransaction) -> tuple[str, set[str]]:
    """Return the server's version and edition, and the names of our constraints and indexes it lacks."""
    components = transaction.run("CALL dbms.components() YIELD name, versions, edition").data()
    version = "; ".join(f"{each['versions'][0]} {each['edition']}" for each in components[:1])
    present = {row["name"] for row in transaction.run("SHOW INDEXES YIELD name").data()}
    return version, names(ddl("neo4j")) - present


def _http_settings(transaction: neo4j.ManagedTransaction) -> dict[str, str]:
    """Return the settings of the server that say whether and where it serves pages."""
    text = "SHOW SETTINGS YIELD name, value WHERE name =~ 'server[.]https?[.](enabled|advertised_address)'"
    return {row["name"]: row["value"] for row in transaction.run(f"{text} RETURN name, value").data()}


def origin(settings: Mapping[str, str], address: str) -> str | None:
    """Return the origin of the server's pages: plain HTTP where it is on, else HTTPS, else None.

    A server that was not told its name advertises `localhost`, or only a port; who reaches it by another name
    (`address`, of Bolt) finds the pages under that one.
    """
    bolt_host = urlsplit(address).hostname or "localhost"
    for scheme in ("http", "https"):
        host, _, port = settings.get(f"server.{scheme}.advertised_address", "").rpartition(":")
        if settings.get(f"server.{scheme}.enabled") == "true" and port:
            host = host if host not in ("", "localhost") else bolt_host
            return f"{scheme}://{'localhost' if host in ('127.0.0.1', '::1', '[::1]') else host}:{port}"
    return None


def _remedy(problem: str) -> str:
    if "refused" in problem:
        return "set NEO4J_USERNAME and NEO4J_PASSWORD"
    return (
        "start a server (docker/compose.yaml, docker/neo4j_from_jars.py), or leave --store out to go without"
    )


def _rows(
    transaction: neo4j.ManagedTransaction, text: str, parameters: dict[str, Any], row_limit: int | None
) -> pl.DataFrame:
    """Return the rows of one statement as a frame, at most row_limit + 1 of them."""
    result = transaction.run(text, parameters)
    columns = list(result.keys())
    records = list(result) if row_limit is None else result.fetch(row_limit + 1)
    result.consume()
    found = [_plain_column(list(column)) for column in zip(*records, strict=True)]
    return values.frame(columns, found or [[] for _ in columns])


def _plain_column(column: list[Any]) -> list[Any]:
    if set(map(type, column)) <= _SCALARS:
        return column
    return [_plain(value) for value in column]


def _plain(value: Any) -> Any:
    """Return a value with graph values in the form of values.py, at any depth of lists and maps.

    Relationships are told by isinstance: the class of one is named after its type.
    """
    if isinstance(value, list):
        return _plain_column(value)
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, neo4j.graph.Node):
        return values.node(list(value.labels), dict(value))
    if isinstance(value, neo4j.graph.Relationship):
        return values.edge(value.type, dict(value))
    if isinstance(value, neo4j.graph.Path):
        return _path(value)
    return value if type(value) in _SCALARS else str(value)


def _path(value: neo4j.graph.Path) -> dict[str, Any]:
    places = {each.element_id: place for place, each in enumerate(value.nodes)}
    joined = []
    for each in value.relationships:
        start, end = each.start_node, each.end_node
        if start is None or end is None:
            raise StoreError("the server sent a relationship without its ends")
        joined.append((_plain(each), places[start.element_id], places[end.element_id]))
    return values.path([_plain(each) for each in value.nodes], joined)
