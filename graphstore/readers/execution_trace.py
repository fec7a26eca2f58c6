"""Read a host execution trace (ET), or one merged with device ops (ET+), whatever schema wrote it.

In:  a `Source` with a JSON document that has `nodes`. Out: FileRecords: host_ops, and kernels of an ET+.
Decided here: what of a whole file is normalised (the process root's self edge and parent 0, which mean
"no parent"), what the file says about itself, and when its fields do not fit. Fields of a node:
execution_nodes.py; communication: communication.py. `order` is the place of a node among all of the file.
"""

from __future__ import annotations

import re
from typing import Any

import polars as pl

from graphstore.errors import TraceFormatError
from graphstore.model.markers import PROCESS_ROOTS
from graphstore.model.records import FileRecords, complete, table_schema
from graphstore.readers.document import Document
from graphstore.readers.execution_columns import NodeColumns
from graphstore.readers.execution_nodes import decode_nodes
from graphstore.readers.groups import count, group_members
from graphstore.readers.kineto_facts import base_ns
from graphstore.readers.rf_ids import rf_id_verdict
from graphstore.readers.source import Source

KNOWN_SCHEMA = re.compile(r"1\.(0\.[1-4]|1\.[01])(-chakra\.\d+\.\d+\.\d+)?")
PROCESS_ROOT_ID = 1
STEP_PREFIX = "ProfilerStep#"
DEFAULT_GROUP = "default_pg"
UNREADABLE = "node that cannot be read"


def read_execution_trace(source: Source) -> FileRecords:
    """Return the nodes of an execution trace in the order of the file.

    A cut-off file keeps its whole nodes (facts.cut_at). A schema that is not known is read when its fields
    fit (facts.schema_known is false); raises TraceFormatError with file, schema and field when they do not.
    """
    document = Document(source, "nodes")
    columns = NodeColumns()
    for nodes in document.batches(decode_nodes):
        columns.add(nodes)
    _refuse_misfits(source.path, document, columns)
    host_ops, kernels = _normalised(columns, base_ns(document.members))
    facts = _facts(source, document, columns, host_ops)
    records = FileRecords(source.path, facts, {"host_ops": host_ops})
    if columns.is_merged:
        records.tables["kernels"] = kernels
    records.groups = process_groups(columns.groups)
    for group in records.groups:
        if group["pg_desc"] == DEFAULT_GROUP:
            facts |= {"world_size": group["group_size"], "backend": group["backend"]}
    records.tally.read = document.records
    records.tally.kept = columns.rows
    records.tally.leave_out(UNREADABLE, document.unreadable)
    return records


def process_groups(written: list[Any]) -> list[dict[str, Any]]:
    """Return the groups of process_group:init nodes, each once, with their ranks resolved.

    An empty `ranks` means all ranks: 0 … group_size - 1 (c10d writes it so for the default group).
    """
    groups: list[dict[str, Any]] = []
    for entry in written:
        if not isinstance(entry, dict) or "pg_name" not in entry:
            continue
        size = count(entry.get("group_size"))
        ranks = group_members(entry.get("ranks"), size)
        group = {
            "pg_name": str(entry["pg_name"]),
            "pg_desc": entry.get("pg_desc"),
            "ranks": ranks,
            "group_size": size or len(ranks),
            "backend": entry.get("backend_config"),
            "origin": "et_init",
        }
        if group not in groups:
            groups.append(group)
    return groups


def _refuse_misfits(path: str, document: Document, columns: NodeColumns) -> None:
    schema = document.members.get("schema")
    where = f"{path}: schema {schema!r}"
    if not document.has_array:
        what = "is cut off before its first node" if document.cut_at else "has no list of nodes"
        raise TraceFormatError(f"{where}: the document {what}. Nothing of it was loaded. Record it again.")
    if document.unreadable and not columns.rows:
        raise TraceFormatError(
            f"{where}: no node can be read ({document.first_error}). Nothing of it was loaded. "
            "Is it an execution trace?"
        )
    if columns.rows and not columns.has_parents:
        raise TraceFormatError(
            f"{where}: no node has 'parent' (schema 1.0.1) or 'ctrl_deps' (1.0.2 and later). "
            "Nothing of it was loaded. Is it an execution trace?"
        )


def _normalised(columns: NodeColumns, base: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return host ops and kernels with null for what means "none"; `base` is added to every start."""
    start = pl.col("start_ns") + base
    host, device = columns.host_ops().with_columns(start), columns.kernels().with_columns(start)
    # A merged trace may number its nodes from 0; then 0 is an id like any other.
    zero_is_id = bool((host["node_id"] == 0).any() or (device["node_id"] == 0).any())
    is_named = pl.col("name").is_in(PROCESS_ROOTS)
    is_root = is_named | (pl.col("node_id") == PROCESS_ROOT_ID)
    no_parent = is_root & (pl.col("parent_id") == pl.col("node_id"))
    if not zero_is_id:
        no_parent = no_parent | (pl.col("parent_id") == 0)
    parent = pl.when(no_parent).then(None).otherwise(pl.col("parent_id")).alias("parent_id")
    zero_is_none = [
        pl.when(pl.col(name) != 0).then(pl.col(name)).alias(name) for name in ("rf_id", "fw_tid", "fw_parent")
    ]
    seq_id = pl.when(pl.col("autograd_seq_id") >= 0).then(pl.col("autograd_seq_id")).alias("autograd_seq_id")
    return (
        complete(host.with_columns(parent, seq_id, *zero_is_none), table_schema("host_ops")),
        complete(device.with_columns(parent), table_schema("kernels")),
    )


def _facts(
    source: Source, document: Document, columns: NodeColumns, host_ops: pl.DataFrame
) -> dict[str, Any]:
    """Return the properties of the TraceFile."""
    schema, pid, time = (document.members.get(key) for key in ("schema", "pid", "time"))
    return source.facts() | {
        "kind": "et_plus" if columns.is_merged else "et",
        "schema": schema if isinstance(schema, str) else None,
        "schema_known": isinstance(schema, str) and KNOWN_SCHEMA.fullmatch(schema) is not None,
        "pid": pid if isinstance(pid, int) else None,
        "recorded_at": time if isinstance(time, str) else None,
        "cut_at": document.cut_at,
        "step_marks": int(host_ops["name"].str.starts_with(STEP_PREFIX).sum()),
        "rf_id_verdict": rf_id_verdict(host_ops["rf_id"], columns.rf_ids_given),
        "rank": columns.ranks.pop() if len(columns.ranks) == 1 else None,
    }
