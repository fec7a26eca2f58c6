"""The columns that nodes of an execution trace become: frames of host_ops and kernels.

In:  nodes in the order of the file. Out: frames, and what their communication tells of ranks and groups.
Decided here: which field is which column, and that a value that fits no column is null, not an error.
What needs all nodes of a file (parents, unset ids): execution_trace.py.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import msgspec
import polars as pl
from msgspec import UNSET, Raw, UnsetType

from graphstore.model.collectives import collective_kind, collective_kind_of_kernel, is_collective_kernel
from graphstore.model.markers import GROUP_INIT
from graphstore.model.records import complete, empty, table_schema
from graphstore.readers.communication import COMM_NAME, RECORD_NAME, comm_args, global_rank
from graphstore.readers.execution_nodes import AnyNode, attributes_of, decoded_list, parent_of, values_of

SPACED = r"[,:] |\n"  # JSON text that was written with spaces
VALUE_PARTS = ("values", "shapes", "types")
INT_FIELDS = {
    "rf_id": "rf_id",
    "autograd_seq_id": "seq_id",
    "scope": "scope",
    "tid": "tid",
    "fw_tid": "fw_tid",
    "fw_parent": "fw_parent",
}
TEXT_COLUMNS = tuple(
    f"{side}_{part}" for side in ("input", "output") for part in ("values", "shapes", "types")
)
HOST_SCHEMA = table_schema("host_ops")
DEVICE_SCHEMA = table_schema("kernels")

Placed = Sequence[tuple[int, AnyNode]]


class NodeColumns:
    """The columns of a file while its nodes come in.

    `ranks` are the global ranks its calls tell, `groups` the process groups as its init nodes write them.
    """

    def __init__(self) -> None:
        """Start empty."""
        self.rows = 0
        self.is_merged = False
        self.has_parents = False  # whether any node has a field for its parent
        self.rf_ids_given = 0  # host ops with a field rf_id
        self.ranks: set[int] = set()
        self.groups: list[Any] = []
        self._host: list[pl.DataFrame] = []
        self._device: list[pl.DataFrame] = []

    def add(self, nodes: Sequence[AnyNode]) -> None:
        """Append nodes; their `order` is their place in the file."""
        host: list[tuple[int, AnyNode]] = []
        device: list[tuple[int, AnyNode]] = []
        for place, node in enumerate(nodes, start=self.rows):
            (host if node.device_kind is None else device).append((place, node))
        self.rows += len(nodes)
        timed = any(node.ts is not None for node in nodes)
        self.is_merged = self.is_merged or timed or bool(device)
        self.has_parents = self.has_parents or any(node.has_parent for node in nodes)
        if host:
            self._host.append(self._host_frame(host, timed))
        if device:
            self._device.append(_device_frame(device))

    def host_ops(self) -> pl.DataFrame:
        """Return the host ops so far; parents and ids as written."""
        return pl.concat(self._host) if self._host else empty("host_ops")

    def kernels(self) -> pl.DataFrame:
        """Return the device ops so far; parents as written."""
        return pl.concat(self._device) if self._device else empty("kernels")

    def _host_frame(self, placed: Placed, timed: bool) -> pl.DataFrame:
        nodes = [node for _, node in placed]
        fields = [attributes_of(node) for node in nodes]
        columns: dict[str, list[Any]] = {
            name: [given.get(field) for given in fields] for name, field in INT_FIELDS.items()
        }
        self.rf_ids_given += sum(rf_id is not None for rf_id in columns["rf_id"])
        columns |= {
            "order": [place for place, _ in placed],
            "node_id": [node.id for node in nodes],
            "parent_id": [parent_of(node) for node in nodes],
            "name": [node.name for node in nodes],
            "op_schema": [given.get("op_schema") or None for given in fields],
            "comm_args": [
                self._communication(node, given) if COMM_NAME.match(node.name) else None
                for node, given in zip(nodes, fields, strict=True)
            ],
        }
        if timed:
            columns |= _times(nodes)
        made = [_column(name, values, HOST_SCHEMA[name]) for name, values in columns.items()]
        texts = zip(*map(values_of, nodes), strict=True)
        made += [_json_column(name, raws) for name, raws in zip(TEXT_COLUMNS, texts, strict=True)]
        return complete(pl.DataFrame(made), HOST_SCHEMA)

    def _communication(self, node: AnyNode, attributes: dict[str, Any]) -> str:
        args = _comm_args(node, node.name, attributes)
        if node.name == GROUP_INIT:
            self.groups += _groups_listed(decoded_list(values_of(node)[0]))
        if node.name == RECORD_NAME and (rank := global_rank(args)) is not None:
            self.ranks.add(rank)
        return json.dumps(args, separators=(",", ":"))


def _device_frame(placed: Placed) -> pl.DataFrame:
    nodes = [node for _, node in placed]
    args = [_device_communication(node) for node in nodes]
    columns: dict[str, list[Any]] = _times(nodes) | {
        "order": [place for place, _ in placed],
        "node_id": [node.id for node in nodes],
        "parent_id": [parent_of(node) for node in nodes],
        "name": [node.name for node in nodes],
        "stream": [node.stream for node in nodes],
        "device": [node.pid for node in nodes],
        "correlation": [node.correlation or None for node in nodes],
        "category": [node.cat for node in nodes],
        "device_kind": [node.device_kind for node in nodes],
        "comm_args": [json.dumps(found, separators=(",", ":")) if found else None for found in args],
        "collective_kind": [
            collective_kind(found.get("op_name", "")) or collective_kind_of_kernel(node.name)
            for node, found in zip(nodes, args, strict=True)
        ],
    }
    made = [_column(name, values, DEVICE_SCHEMA[name]) for name, values in columns.items()]
    return complete(pl.DataFrame(made), DEVICE_SCHEMA)


def _times(nodes: Sequence[AnyNode]) -> dict[str, list[Any]]:
    """Return the columns only a merged trace has, for host and device ops alike."""
    return {
        "start_ns": [_ns(node.ts) for node in nodes],
        "duration_ns": [_ns(node.inclusive_dur if node.dur is None else node.dur) for node in nodes],
        "sync_deps": [[node.sync_dep] if isinstance(node.sync_dep, int) else node.sync_dep for node in nodes],
    }


def _ns(microseconds: Decimal | None) -> int | None:
    return None if microseconds is None else round(microseconds * 1000)


def _comm_args(node: AnyNode, name: str, attributes: dict[str, Any]) -> dict[str, Any]:
    inputs, _, types, outputs, *_ = values_of(node)
    return comm_args(name, decoded_list(inputs), decoded_list(types), decoded_list(outputs), attributes)


def _device_communication(node: AnyNode) -> dict[str, Any]:
    """Return what a merged trace copied onto a collective's kernel from the call it belongs to."""
    if not is_collective_kernel(node.name):
        return {}
    found = _comm_args(node, RECORD_NAME, attributes_of(node))
    if isinstance(node.pg_name, str):
        found["pg_name"] = node.pg_name
    return found


def _groups_listed(inputs: list[Any]) -> list[Any]:
    """Return the groups an init node lists; none where its text is no JSON list: they stay unknown then."""
    try:
        groups = json.loads(inputs[0]) if inputs and isinstance(inputs[0], str) else []
    except ValueError:
        return []
    return groups if isinstance(groups, list) else []


def _column(name: str, values: list[Any], kind: Any) -> pl.Series:
    """Return a column; numbers written as text are read, what fits the column's type in no way is null."""
    try:
        return pl.Series(name, values, dtype=kind, strict=True)
    except (TypeError, OverflowError, pl.exceptions.PolarsError):
        return pl.Series(name, [_number(value) for value in values], dtype=kind, strict=False)


def _number(value: Any) -> Any:
    return int(value) if isinstance(value, str) and re.fullmatch(r"-?\d{1,18}", value) else value


def _json_column(name: str, raws: Sequence[Raw | UnsetType]) -> pl.Series:
    """Return compact JSON text as it was written; numbers keep their digits."""
    texts = [None if raw is UNSET else bytes(raw) for raw in raws]
    column = pl.Series(name, texts, dtype=pl.Binary).cast(pl.String)
    if column.str.contains(SPACED).any():
        compact = [None if text is None else msgspec.json.format(text, indent=-1) for text in texts]
        column = pl.Series(name, compact, dtype=pl.Binary).cast(pl.String)
    return column
