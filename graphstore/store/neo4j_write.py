"""Runs written to and removed from Neo4j in batches, under a lease, visible only when complete.

In:  a checked run (write.py). Out: its nodes and edges; the Run's status says how far it is: loading → ready,
deleting on the way out. Nothing but `ready` is shown (neo4j.py).
Decided here: a half run of a killed import is removed by the next import of that run, not resumed, because
its batches can't be told apart from a changed input's. A lease node keeps two imports of one run apart: it
is renewed with every batch, in the batch's own transaction, and its owner is dead when it is older than
LEASE_S, or when the process is gone from this machine.
"""

from __future__ import annotations

import os
import socket
import uuid
from collections.abc import Iterator
from typing import Any

import neo4j
import polars as pl

from graphstore.errors import StoreError
from graphstore.model.records import EdgeTable
from graphstore.model.schema import LABEL_BY_NAME, LABELS, primary_labels
from graphstore.store.base import Progress
from graphstore.store.ddl import COUNTER, LEASE
from graphstore.store.neo4j_connection import Connection
from graphstore.store.write import NodeTable, Prepared, batches

NODE_BATCH = 5_000
EDGE_BATCH = 10_000
DELETE_BATCH = 10_000
BATCH_S = 300.0  # time limit of one batch
LEASE_S = 120.0  # a lease not renewed for this long has no owner any more; a batch takes about a second

_MINE = f"MATCH (l:{LEASE} {{run: $run}}) WHERE l.owner = $owner SET l.beat = timestamp()"


class Writing:
    """The lease on one run of one server, and what may be done under it."""

    def __init__(self, connection: Connection, run: str) -> None:
        """Name the run; nothing is held before `acquire`."""
        self._connection = connection
        self.run = run
        self.owner = str(uuid.uuid4())

    def __enter__(self) -> Writing:
        """Take the lease; raises StoreError naming who holds it."""
        self._connection.write(self._acquire, BATCH_S)
        return self

    def __exit__(self, *_: object) -> None:
        """Give the lease back; a server that is gone meanwhile lets it grow old instead."""
        text = f"MATCH (l:{LEASE} {{run: $run}}) WHERE l.owner = $owner DELETE l"
        try:
            self._connection.write(lambda tx: tx.run(text, run=self.run, owner=self.owner).consume(), BATCH_S)
        except StoreError:
            return  # the error that ended the work is the one to show

    def _acquire(self, transaction: neo4j.ManagedTransaction) -> None:
        text = (
            f"MERGE (l:{LEASE} {{run: $run}}) ON CREATE SET l.owner = $owner, l.host = $host, l.pid = $pid, "
            f"l.beat = timestamp() SET l.asked = $owner "  # takes the write lock before anything is read
            f"WITH l RETURN l.owner AS owner, l.host AS host, l.pid AS pid, timestamp() - l.beat AS age"
        )
        mine = {"run": self.run, "owner": self.owner, "host": socket.gethostname(), "pid": os.getpid()}
        held = transaction.run(text, mine).single(strict=True)
        if held["owner"] == self.owner:
            return
        if not is_dead(held.data()):
            raise StoreError(
                f"run {self.run} is being written by process {held['pid']} on {held['host']} "
                f"(last sign {held['age'] / 1000:.0f} s ago); wait for it, or end it"
            )
        taken = "SET l.owner = $owner, l.host = $host, l.pid = $pid, l.beat = timestamp()"
        transaction.run(f"MATCH (l:{LEASE} {{run: $run}}) {taken}", mine).consume()

    def fill(self, run: Prepared, progress: Progress | None) -> None:
        """Write a run whose id is free: Run (loading), nodes, edges, then Run (ready)."""
        first = {key: run.properties[key] for key in ("uid", "run", "run_no", "name")} | {"status": "loading"}
        self._batch("CREATE (r:Run) SET r = row", [first], "nodes_created", "Run")
        done, total = 1, run.size
        for table, text, counter, size in _steps(run):
            for part in batches(table.frame, size):
                rows = _node_rows(part) if isinstance(table, NodeTable) else _edge_rows(part)
                self._batch(text, rows, counter, table.label if isinstance(table, NodeTable) else table.type)
                done += part.height
                if progress:
                    progress("store", done, total)
        ready = {name: value for name, value in run.properties.items() if value is not None}
        self._batch("MATCH (r:Run {run: row.run}) SET r = row", [ready], None, "Run")

    def remove(self) -> None:
        """Remove the run in batches, whatever its state; the Run goes last, so a killed removal can go on."""
        status = "MATCH (r:Run {run: row}) SET r.status = 'deleting' RETURN count(r) AS n"
        if not self._batch(status, [self.run], None, "Run"):
            return
        for label in _removable_labels():
            text = (
                f"{_MINE} WITH l MATCH (n:{label}) WHERE n.run = $run WITH n LIMIT $batch "
                f"DETACH DELETE n RETURN count(*) AS n"
            )
            while self._counted(text, {"batch": DELETE_BATCH}):
                pass
        self._counted(f"{_MINE} WITH l MATCH (r:Run {{run: $run}}) DETACH DELETE r RETURN count(*) AS n", {})

    def _batch(self, text: str, rows: list[Any], counter: str | None, what: str) -> int:
        """Run `text` for each of the rows in one transaction of this lease; return the last count it returns.

        Raises StoreError when the lease is lost, or `counter` (of the server's summary) is not a row's worth.
        """
        whole = f"{_MINE} WITH l UNWIND $rows AS row {text}"

        def work(transaction: neo4j.ManagedTransaction) -> int:
            result = transaction.run(whole, run=self.run, owner=self.owner, rows=rows)
            record = result.single() if "RETURN" in text else None
            counters = result.consume().counters
            if not counters.properties_set:
                raise self._lost()
            made = getattr(counters, counter) if counter else len(rows)
            if made != len(rows):
                raise StoreError(
                    f"{what}: the server made {made} of {len(rows)}. "
                    f"The run stays invisible; import it again."
                )
            return int(record["n"]) if record else made

        return self._connection.write(work, BATCH_S)

    def _counted(self, text: str, parameters: dict[str, Any]) -> int:
        def work(transaction: neo4j.ManagedTransaction) -> int:
            result = transaction.run(text, run=self.run, owner=self.owner, **parameters)
            record = result.single()
            if not result.consume().counters.properties_set:
                raise self._lost()
            return int(record["n"]) if record else 0

        return self._connection.write(work, BATCH_S)

    def _lost(self) -> StoreError:
        return StoreError(f"run {self.run}: another process took over its writing; nothing of it is shown")


def is_dead(lease: dict[str, Any]) -> bool:
    """Return whether nobody can hold this lease: too old, or its process is gone from this machine."""
    if lease["age"] > LEASE_S * 1000:
        return True
    if lease["host"] != socket.gethostname():
        return False
    try:
        os.kill(int(lease["pid"]), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def allocate(transaction: neo4j.ManagedTransaction) -> int:
    """Return the next run number; the lock on the counter is taken before it is read."""
    text = (
        f"MERGE (c:{COUNTER} {{name: 'run_no'}}) SET c.value = coalesce(c.value, 0) "
        f"WITH c OPTIONAL MATCH (r:Run) WITH c, max(r.run_no) AS highest "
        f"SET c.value = CASE WHEN c.value < highest THEN highest ELSE c.value END + 1 "
        f"RETURN c.value AS number"
    )
    return int(transaction.run(text).single(strict=True)["number"])


def _steps(run: Prepared) -> Iterator[tuple[NodeTable | EdgeTable, str, str, int]]:
    """Yield each table with its statement, the counter that must equal its rows, and its batch size."""
    for nodes in run.nodes:
        labels = nodes.label if nodes.label == nodes.primary else f"{nodes.primary}:{nodes.label}"
        yield nodes, f"CREATE (n:{labels}) SET n = row", "nodes_created", NODE_BATCH
    for edges in run.edges:
        source, target = _key(edges.source), _key(edges.target)
        ends = f"MATCH (a:{edges.source} {{{source}: row[0]}}), (b:{edges.target} {{{target}: row[1]}})"
        carries = " SET r = row[2]" if edges.frame.width > 2 else ""
        yield edges, f"{ends} CREATE (a)-[r:{edges.type}]->(b){carries}", "relationships_created", EDGE_BATCH


def _key(label: str) -> str:
    return primary_labels()[label][0]


def _node_rows(part: pl.DataFrame) -> list[Any]:
    """Return rows as maps without the columns that are null in all of them."""
    kept = [column.name for column in part.iter_columns() if column.null_count() < part.height]
    return part.select(kept).to_dicts()


def _edge_rows(part: pl.DataFrame) -> list[Any]:
    """Return rows as [source key, target key] or, with properties, [source key, target key, {properties}]."""
    if part.width == 2:
        return [list(row) for row in part.rows()]
    names = [name for name in part.columns if name not in ("src", "dst")]
    ends = part.select("src", "dst").rows()
    properties = part.select(names).to_dicts()
    return [[*pair, each] for pair, each in zip(ends, properties, strict=True)]


def _removable_labels() -> list[str]:
    """Return the labels of a run's nodes: the kinds, not Op (their indexes on run serve the deletion)."""
    return [label.name for label in LABELS if label.name != "Run" and "run" in _names(label.name)]


def _names(label: str) -> set[str]:
    return {p.name for p in LABEL_BY_NAME[label].properties}
