"""The tables between readers, link and store: polars frames whose columns are declared here.

A reader makes one `FileRecords` per file; link joins those of one rank into a `RankGraph` (numbered within
the rank) and all ranks into a `RunGraph` (numbered by uid), which is what a store writes.
Columns are the properties of the node a record becomes (model/schema.py) plus what linking needs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import orjson
import polars as pl

from graphstore.model.schema import LABEL_BY_NAME, TYPE_BY_NAME, primary_label, primary_labels
from graphstore.model.schema_types import Property
from graphstore.model.tally import Tally

POLARS_TYPE: dict[str, Any] = {
    "int": pl.Int64,
    "float": pl.Float64,
    "text": pl.String,
    "bool": pl.Boolean,
    "list[int]": pl.List(pl.Int64),
    "list[text]": pl.List(pl.String),
    "json": pl.String,
}

TABLE_LABEL = {
    "host_ops": "HostOp",
    "runtime_calls": "RuntimeCall",
    "kernels": "Kernel",
    "sync_events": "SyncEvent",
    "comm_calls": "CollectiveCall",
    "flight_entries": "CollectiveCall",
    "chakra_nodes": "ChakraNode",
    "process_groups": "ProcessGroup",
}

# Columns that readers give beside the node's properties, and linking uses up.
LINK_COLUMNS: dict[str, dict[str, Any]] = {
    # order: place of the record in its file. comm_*: arguments of a communication as text or numbers,
    # read where the record is a communication; comm_args is the JSON of what was recorded.
    "host_ops": {"order": pl.Int64, "comm_args": pl.String, "sync_deps": pl.List(pl.Int64)},
    "runtime_calls": {"order": pl.Int64, "external_id": pl.Int64},
    "kernels": {"order": pl.Int64, "comm_args": pl.String, "sync_deps": pl.List(pl.Int64)},
    "sync_events": {"order": pl.Int64},
    "comm_calls": {"host_n": pl.Int64, "worker_n": pl.Int64, "kernel_n": pl.List(pl.Int64)},
    # A row per entry of a Flight Recorder dump, start_ns = time_created_ns. *_nelems: elements of each
    # tensor. src, dst: both ends of a send or recv, as places in the group. is_coalesced: the entry that
    # closes a block of several calls.
    "flight_entries": {
        "order": pl.Int64,
        "in_nelems": pl.List(pl.Int64),
        "out_nelems": pl.List(pl.Int64),
        "is_coalesced": pl.Boolean,
        "src": pl.Int64,
        "dst": pl.Int64,
    },
    "chakra_nodes": {"order": pl.Int64},
    "process_groups": {},
}


def table_schema(table: str) -> dict[str, Any]:
    """Return {column: polars type} of a table: the node's properties, then the columns for linking."""
    properties: tuple[Property, ...] = LABEL_BY_NAME[TABLE_LABEL[table]].properties
    return {p.name: POLARS_TYPE[p.type] for p in properties} | LINK_COLUMNS[table]


def node_schema(label: str) -> dict[str, Any]:
    """Return {property: polars type} of a node label."""
    return {p.name: POLARS_TYPE[p.type] for p in LABEL_BY_NAME[label].properties}


def key_of(label: str) -> tuple[str, Any]:
    """Return the name and the polars type of the key of a label, by which edges name its nodes."""
    key, properties = primary_labels()[primary_label(label)]
    return key, POLARS_TYPE[next(p.type for p in properties if p.name == key)]


def frame(table: str, columns: dict[str, Any]) -> pl.DataFrame:
    """Return a frame of `table` from the columns given; absent ones are null, unknown ones are an error."""
    schema = table_schema(table)
    unknown = set(columns) - set(schema)
    if unknown:
        raise KeyError(f"columns not declared for {table}: {sorted(unknown)}")
    given = pl.DataFrame(columns, schema={name: schema[name] for name in columns}, strict=False)
    return complete(given, schema)


def complete(given: pl.DataFrame, schema: dict[str, Any]) -> pl.DataFrame:
    """Return `given` with exactly the columns of `schema`, in that order and type; absent ones are null."""
    if not set(given.columns) & set(schema):  # a select of literals alone would make one row of none
        return pl.DataFrame(schema=schema).clear(given.height)
    return given.select(
        pl.col(name).cast(kind) if name in given.columns else pl.lit(None, dtype=kind).alias(name)
        for name, kind in schema.items()
    )


def empty(table: str) -> pl.DataFrame:
    """Return an empty frame of `table`."""
    return pl.DataFrame(schema=table_schema(table))


@dataclass
class FileRecords:
    """What a reader got out of one file.

    `facts` are properties of the TraceFile node (kind, schema, rank …); `tables` holds the record tables of
    TABLE_LABEL that the format has; `groups` the process groups the file lists, as dicts {pg_name, pg_desc,
    ranks (resolved), group_size, backend, origin}; `thread_names` {(process, thread): name}.
    `flight` is what a Flight Recorder dump holds beside its entries (readers/flight_recorder.py), else None.
    """

    path: str
    facts: dict[str, Any]
    tables: dict[str, pl.DataFrame] = field(default_factory=dict)
    groups: list[dict[str, Any]] = field(default_factory=list)
    thread_names: dict[tuple[int, int], str] = field(default_factory=dict)
    tally: Tally = field(default_factory=Tally)
    flight: dict[str, Any] | None = None

    def close_ledger(self) -> None:
        """Write the counts into the facts; raises LedgerError when they do not add up."""
        self.tally.check(self.path)
        self.facts |= {
            "records_read": self.tally.read,
            "kept": self.tally.kept,
            "left_out": orjson.dumps(self.tally.left_out).decode(),
        }


@dataclass
class RankGraph:
    """One rank, linked. Nodes are numbered 0 … within the rank by column `n`; edges name these numbers.

    `nodes`: {label: frame with `n` and the label's properties}, for the kinds of Op. `edges`: {type: frame
    with src, dst (both `n`) and the type's properties}. Times are absolute (ns) here, relative in RunGraph.
    `start_ns` columns hold absolute time. `files`: facts of the rank's files. `groups` as in FileRecords.
    `waits_left_out`: {rule of SYNC edges: how many contradict the times}.
    """

    rank: int
    nodes: dict[str, pl.DataFrame] = field(default_factory=dict)
    edges: dict[str, pl.DataFrame] = field(default_factory=dict)
    files: list[dict[str, Any]] = field(default_factory=list)
    groups: list[dict[str, Any]] = field(default_factory=list)
    thread_names: dict[tuple[int, int], str] = field(default_factory=dict)
    waits_left_out: dict[str, int] = field(default_factory=dict)


@dataclass
class EdgeTable:
    """Edges of one type between two primary labels: a frame with src and dst (keys) and properties."""

    type: str
    source: str
    target: str
    frame: pl.DataFrame


@dataclass
class RunGraph:
    """A whole run, ready to be written: the Run's properties, a frame per node label, and edge tables."""

    run: dict[str, Any]
    nodes: dict[str, pl.DataFrame]
    edges: list[EdgeTable]

    def handed_over(self) -> RunGraph:
        """Return the whole run and keep no table of it: who gets it may let each go once it is written."""
        whole = RunGraph(self.run, self.nodes, self.edges)
        self.nodes, self.edges = {}, []
        return whole

    def counts(self) -> dict[str, int]:
        """Return {label or relationship type: count}."""
        out = {label: table.height for label, table in self.nodes.items()}
        for table in self.edges:
            out[table.type] = out.get(table.type, 0) + table.frame.height
        return out


def edge_frame(type: str, columns: dict[str, Any]) -> pl.DataFrame:
    """Return an edge frame of relationship type `type` from src, dst and properties."""
    schema: dict[str, Any] = {"src": pl.Int64, "dst": pl.Int64}
    schema |= {p.name: POLARS_TYPE[p.type] for p in TYPE_BY_NAME[type].properties if p.name in columns}
    return pl.DataFrame(columns, schema=schema, strict=False)
