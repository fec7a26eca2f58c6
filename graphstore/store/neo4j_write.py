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
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import neo4j
import polars as pl

from graphstore.errors import StoreError
from graphstore.model.schema import LABELS, primary_labels
from graphstore.model.schema_archive import ARCHIVE_LABELS
from graphstore.store import name_sums
from graphstore.store.base import Progress
from graphstore.store.ddl import COUNTER, LEASE
from graphstore.store.neo4j_connection import Connection
from graphstore.store.write import Prepared, batches

NODE_BATCH = 5_000
EDGE_BATCH = 10_000
DELETE_BATCH = 10_000
BATCH_S = 300.0  # time limit of one batch
LEASE_S = 120.0  # a lease not renewed for this long has no owner any more; a batch takes about a second


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
        done, total = 0, run.size
        for steps in _grouped(_steps(run)):
            self._connection.write(partial(self._write, steps=steps), BATCH_S)
            done += sum(len(step.rows) for step in steps)
            if progress:
                progress("store", done, total)
        self._connection.write(partial(self._finish, properties=run.properties), BATCH_S)

    def remove(self) -> None:
        """Remove the run in batches, whatever its state; the Run goes last, so a killed removal can go on."""
        while self._connection.write(self._remove_some, BATCH_S):
            pass

    def _renew(self, transaction: neo4j.ManagedTransaction) -> None:
        """Renew the lease; raises StoreError when another process has taken it."""
        text = (
            f"MATCH (l:{LEASE} {{run: $run}}) WHERE l.owner = $owner SET l.beat = timestamp() "
            f"RETURN count(l) AS mine"
        )
        held = transaction.run(text, run=self.run, owner=self.owner).single(strict=True)
        if not held["mine"]:
            raise StoreError(f"run {self.run}: another process took over its writing; nothing of it is shown")

    def _write(self, transaction: neo4j.ManagedTransaction, steps: list[Step]) -> None:
        self._renew(transaction)
        for step in steps:
            counters = transaction.run(step.text, rows=step.rows, common=step.common).consume().counters
            made = counters.nodes_created + counters.relationships_created
            if made != len(step.rows):
                raise StoreError(
                    f"{step.what}: the server made {made} of {len(step.rows)}. "
                    f"The run stays invisible; import it again."
                )

    def _finish(self, transaction: neo4j.ManagedTransaction, properties: dict[str, Any]) -> None:
        self._renew(transaction)
        make_name_sums(transaction, self.run)
        transaction.run(
            "MATCH (r:Run {run: $run}) SET r = $properties", run=self.run, properties=properties
        ).consume()

    def _remove_some(self, transaction: neo4j.ManagedTransaction) -> bool:
        """Remove up to DELETE_BATCH nodes of the run, then the Run itself; return whether any is left."""
        self._renew(transaction)
        marked = transaction.run(
            "MATCH (r:Run {run: $run}) SET r.status = 'deleting' RETURN count(r) AS n", run=self.run
        ).single(strict=True)
        left = DELETE_BATCH
        for label in _REMOVABLE if marked["n"] else ():
            found = f"MATCH (n:{label}) WHERE n.run = $run WITH n LIMIT $left"
            text = f"{found} DETACH DELETE n RETURN count(*) AS n"
            left -= transaction.run(text, run=self.run, left=left).single(strict=True)["n"]
            if left <= 0:
                return True
        transaction.run("MATCH (r:Run {run: $run}) DETACH DELETE r", run=self.run).consume()
        return False


def make_name_sums(transaction: neo4j.ManagedTransaction, run: str) -> None:
    """Make the sums per name of a run anew, in the transaction that changed it."""
    for text in (name_sums.REMOVE, name_sums.MAKE):
        transaction.run(text, run=run).consume()


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


@dataclass(frozen=True)
class Step:
    """Rows of one label or type, with the statement that makes one node or edge of each.

    `common` holds what all rows share, sent once: that makes nodes a third faster.
    """

    what: str
    text: str
    rows: list[Any]
    common: dict[str, Any] = field(default_factory=dict)


def _steps(run: Prepared) -> Iterator[Step]:
    """Yield the run in steps of at most a batch: the Run as loading, then every table in order."""
    first = {key: run.properties[key] for key in ("uid", "run", "run_no", "name")} | {"status": "loading"}
    yield Step("Run", "UNWIND $rows AS row CREATE (n:Run) SET n = row", [first])
    for nodes in run.nodes:
        labels = nodes.label if nodes.label == nodes.primary else f"{nodes.primary}:{nodes.label}"
        text = f"UNWIND $rows AS row CREATE (n:{labels}) SET n = row SET n += $common"
        for part in batches(nodes.frame, NODE_BATCH):
            yield Step(nodes.label, text, *_node_rows(part))
    for edges in run.edges:
        source, target = _key(edges.source), _key(edges.target)
        text = (
            f"UNWIND $rows AS row "
            f"MATCH (a:{edges.source} {{{source}: row[0]}}), (b:{edges.target} {{{target}: row[1]}}) "
            f"CREATE (a)-[r:{edges.type}]->(b){' SET r = row[2]' if edges.frame.width > 2 else ''}"
        )
        for part in batches(edges.frame, EDGE_BATCH):
            yield Step(edges.type, text, _edge_rows(part))


def _grouped(steps: Iterator[Step]) -> Iterator[list[Step]]:
    """Yield steps in groups of about a batch of rows: small tables share a transaction."""
    group: list[Step] = []
    for step in steps:
        if group and sum(len(each.rows) for each in group) + len(step.rows) > NODE_BATCH:
            yield group
            group = []
        group.append(step)
    if group:
        yield group


def _key(label: str) -> str:
    return primary_labels()[label][0]


def _node_rows(part: pl.DataFrame) -> tuple[list[Any], dict[str, Any]]:
    """Return rows as maps of what differs between them, and what is the same in all; null columns go."""
    filled = [column for column in part.iter_columns() if column.null_count() < part.height]
    same = [column.name for column in filled if column.n_unique() == 1]
    differing = [column.name for column in filled if column.name not in same]
    rows = part.select(differing).to_dicts() if differing else [{}] * part.height
    return rows, part.select(same).row(0, named=True) if same else {}


def _edge_rows(part: pl.DataFrame) -> list[Any]:
    """Return rows as [source key, target key] or, with properties, [source key, target key, {properties}]."""
    if part.width == 2:
        return [list(row) for row in part.rows()]
    names = [name for name in part.columns if name not in ("src", "dst")]
    ends = part.select("src", "dst").rows()
    properties = part.select(names).to_dicts()
    return [[*pair, each] for pair, each in zip(ends, properties, strict=True)]


# The labels of a run's nodes: the kinds, not Op, because their indexes on run serve the deletion.
_REMOVABLE = tuple(
    label.name
    for label in (*LABELS, *ARCHIVE_LABELS)
    if label.name != "Run" and any(p.name == "run" for p in label.properties)
)
