"""The DDL of both engines, generated from the schema (model/schema.py); no statement is written by hand.

In:  the schema. Out: statements, one a call, each harmless when repeated.
Decided here: both engines keep every key unique; secondary indexes are Neo4j's only, because the embedded
engine would rebuild them at every open and needs none (graphs there are scanned in memory). Two labels of
our own on Neo4j hold no trace data: the counter of run numbers and the leases of imports.
"""

from __future__ import annotations

import re
from typing import Literal

from graphstore.model.schema import INDEXES, primary_labels
from graphstore.model.schema_archive import ARCHIVE_INDEXES
from graphstore.model.schema_types import Index

Engine = Literal["kglite", "neo4j"]

COUNTER = "GraphstoreCounter"  # {name: 'run_no', value}: the last run number given out
LEASE = "GraphstoreLease"  # {run, owner, host, pid, beat}: who writes a run now
_INNER_KEYS = {COUNTER: "name", LEASE: "run"}


def ddl(engine: Engine) -> list[str]:
    """Return the statements that make an empty database of `engine` ready, in order."""
    keys = {label: key for label, (key, _) in primary_labels().items()}
    if engine == "kglite":
        return [_constraint(label, key) for label, key in keys.items()]
    return [_constraint(label, key) for label, key in (keys | _INNER_KEYS).items()] + [
        _index(each) for each in (*INDEXES, *ARCHIVE_INDEXES)
    ]


def names(statements: list[str]) -> set[str]:
    """Return the names of the constraints and indexes that the statements make."""
    return {statement.split()[2] for statement in statements}


def _constraint(label: str, key: str) -> str:
    name = f"{_snake(label)}_{key}"
    return f"CREATE CONSTRAINT {name} IF NOT EXISTS FOR (n:{label}) REQUIRE n.{key} IS UNIQUE"


def _index(index: Index) -> str:
    on = f"()-[n:{index.on}]-()" if index.relationship else f"(n:{index.on})"
    columns = ", ".join(f"n.{name}" for name in index.properties)
    return f"CREATE INDEX {index.name} IF NOT EXISTS FOR {on} ON ({columns})"


def _snake(label: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", label).lower()
