"""A run made ready for any engine: columns complete, keys checked, edges named by keys.

In:  a RunGraph. Out: a `Prepared`, whose tables an adapter writes as they are.
Decided here: what may be written at all. Two nodes with one key, an edge to a node that is not there, or two
equal edges would be dropped, merged or invented by one engine or the other (each differently), so they are
refused here, before anything is written. How it is written: kglite_engine.py and neo4j_write.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from graphstore.errors import StoreError, UsageError
from graphstore.model import ids
from graphstore.model.records import EdgeTable, RunGraph, complete, node_schema
from graphstore.model.schema import LABEL_BY_NAME, TYPE_BY_NAME, primary_label, primary_labels

_EDGE_TYPES = {name: {p.name for p in kind.properties} for name, kind in TYPE_BY_NAME.items()}


@dataclass(frozen=True)
class NodeTable:
    """Nodes of one label: `label` stands second to `primary` where they differ."""

    label: str
    primary: str
    key: str
    frame: pl.DataFrame


@dataclass(frozen=True)
class Prepared:
    """A checked run: the Run's properties (status 'ready'), node tables, and edge tables named by keys."""

    run: str
    properties: dict[str, Any]
    nodes: list[NodeTable]
    edges: list[EdgeTable]

    @property
    def size(self) -> int:
        """Number of nodes and edges to be written, the Run included."""
        return 1 + sum(t.frame.height for t in self.nodes) + sum(t.frame.height for t in self.edges)


class NoGraphError(StoreError):
    """What was given is no whole run; by the code that made it, or by the file it was read from."""


def prepare(graph: RunGraph) -> Prepared:
    """Return the run ready to be written.

    Raises NoGraphError (a StoreError) when keys repeat, an edge has no end, an edge repeats or the uids are
    not this run's: each is a defect of the code that made the graph, never the user's fault.
    """
    run = str(graph.run["run"])
    if not ids.RUN_ID.fullmatch(run):
        raise NoGraphError(f"{run!r} is no run id: letters, digits, '.', '_' and '-', at most 100 (--run ID)")
    properties = {p.name: graph.run.get(p.name) for p in LABEL_BY_NAME["Run"].properties}
    properties |= {"status": "ready", "name": properties["name"] or run}
    nodes = [_node_table(label, frame) for label, frame in graph.nodes.items() if label != "Run"]
    keys = _keys(run, nodes)
    _check_uids(run, int(graph.run["run_no"]), keys)
    edges = [_edge_table(run, table, keys) for table in graph.edges if table.frame.height]
    _check_repeats(run, edges)
    return Prepared(run, properties, [table for table in nodes if table.frame.height], edges)


def _node_table(label: str, frame: pl.DataFrame) -> NodeTable:
    schema = node_schema(label)
    table = complete(frame, schema)
    floats = [name for name, kind in schema.items() if kind == pl.Float64]
    if floats:  # NaN and infinity compare differently on the two engines
        table = table.with_columns(pl.when(pl.col(floats).is_finite()).then(pl.col(floats)).name.keep())
    if table["name"].null_count():
        table = table.with_columns(pl.col("name").fill_null(label))  # a nameless node reads 'Op_17' on kglite
    return NodeTable(label, primary_label(label), LABEL_BY_NAME[label].key, table)


def _keys(run: str, nodes: list[NodeTable]) -> dict[str, pl.Series]:
    """Return {primary label: keys of its nodes}; raise StoreError when a key is absent or repeats."""
    parts: dict[str, list[pl.Series]] = {"Run": [pl.Series("run", [run])]}
    for table in nodes:
        parts.setdefault(table.primary, []).append(table.frame[table.key])
    keys = {label: pl.concat([part.alias("key") for part in series]) for label, series in parts.items()}
    for label, series in keys.items():
        if series.null_count() or series.n_unique() < series.len():
            without = series.len() - series.drop_nulls().n_unique()
            raise NoGraphError(
                f"run {run}: {without} {label} nodes share a key or have none. "
                f"Nothing was written; this is a defect of graphstore."
            )
    return keys


def _check_uids(run: str, run_no: int, keys: dict[str, pl.Series]) -> None:
    """Raise StoreError when a uid does not belong to the run's number: it could meet another run's."""
    labels = [name for name, (key, _) in primary_labels().items() if key == "uid" and name in keys]
    uids = pl.concat([keys[label] for label in labels]) if labels else pl.Series(dtype=pl.Int64)
    if uids.len() and (uids.n_unique() < uids.len() or ((uids // (1 << ids.UID_SHIFT)) != run_no).any()):
        raise NoGraphError(
            f"run {run}: uids repeat or are not of run number {run_no}. "
            f"Nothing was written; this is a defect of graphstore."
        )


def _edge_table(run: str, table: EdgeTable, keys: dict[str, pl.Series]) -> EdgeTable:
    """Return the table with its ends as keys and its null properties gone; raise when an end is absent."""
    frame = table.frame
    unknown = set(frame.columns) - {"src", "dst"} - _EDGE_TYPES[table.type]
    if unknown:
        raise NoGraphError(f"run {run}: {table.type} edges have undeclared properties {sorted(unknown)}")
    for column, label in (("src", table.source), ("dst", table.target)):
        if label == "Run" and frame.schema[column] != pl.String:  # named by uid; its key is the run's id
            frame = frame.with_columns(pl.lit(run).alias(column))
        present = keys.get(label, pl.Series(dtype=frame.schema[column]))
        absent = frame.height - int(frame[column].is_in(present.implode()).sum())
        if absent:
            raise NoGraphError(
                f"run {run}: {absent} of {frame.height} {table.type} edges name a {label} that is not in the "
                f"run. Nothing was written; this is a defect of graphstore."
            )
    empty = [name for name in frame.columns if frame[name].null_count() == frame.height]
    return EdgeTable(table.type, table.source, table.target, frame.drop(empty))


def _check_repeats(run: str, edges: list[EdgeTable]) -> None:
    """Raise StoreError when an edge of one type stands twice between the same nodes."""
    pairs: dict[tuple[str, str, str], list[pl.DataFrame]] = {}
    for table in edges:
        pairs.setdefault((table.type, table.source, table.target), []).append(
            table.frame.select("src", "dst")
        )
    for (kind, _, _), frames in pairs.items():
        both = pl.concat(frames)
        repeated = both.height - both.n_unique()
        if repeated:
            raise NoGraphError(
                f"run {run}: {repeated} {kind} edges stand twice between the same nodes. "
                f"Nothing was written; this is a defect of graphstore."
            )


def batches(frame: pl.DataFrame, size: int) -> Iterator[pl.DataFrame]:
    """Yield `frame` in slices of at most `size` rows."""
    for start in range(0, frame.height, size):
        yield frame.slice(start, size)


def changeable(properties: dict[str, Any]) -> dict[str, Any]:
    """Return properties of a Run that people may set (name, tags, note); raises UsageError for any other."""
    refused = sorted(set(properties) - {"name", "tags", "note"})
    if refused:
        raise UsageError(f"a run's {', '.join(refused)} can't be set; name, tags and note can")
    return properties
