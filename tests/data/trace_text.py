"""Execution traces as text, a node in a line: what PyTorch would have written, in either layout."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

Node = dict[str, Any]

SCHEMA = "1.1.1-chakra.0.0.4"
PROCESS = "[pytorch|profiler|execution_trace|process]"
THREAD = "[pytorch|profiler|execution_trace|thread]"
TENSOR = [21, 22, 0, 6, 4, "cuda:0"]  # id, storage, offset, elements, bytes of an element, device
NO_VALUES: dict[str, list[Any]] = {"values": [], "shapes": [], "types": []}


def op(node_id: int, name: str, parent: int, **more: Any) -> Node:
    """Return a node of schema 1.0.2 and later; `more` are fields of the node, or attributes (rf_id …)."""
    attributes = {"rf_id": node_id, "fw_parent": 0, "seq_id": -1, "scope": 0, "tid": 1, "fw_tid": 0}
    fields = {"inputs": NO_VALUES, "outputs": NO_VALUES}
    for key, value in more.items():
        (fields if key in FIELDS else attributes)[key] = value
    attrs = [{"name": key, "type": "", "value": value} for key, value in attributes.items()]
    return {"id": node_id, "name": name, "ctrl_deps": parent} | fields | {"attrs": attrs}


def flat_op(node_id: int, name: str, parent: int, **more: Any) -> Node:
    """Return a node of schema 1.0.1."""
    node = {"name": name, "id": node_id, "rf_id": node_id, "parent": parent, "fw_parent": 0, "seq_id": -1}
    node |= {"scope": 0, "tid": 1, "fw_tid": 0, "op_schema": ""}
    for side in ("input", "output"):
        node |= {f"{side}s": [], f"{side}_shapes": [], f"{side}_types": []}
    return node | more


def inputs(*values: Any, types: Sequence[str] = ()) -> dict[str, Any]:
    """Return the `inputs` (or `outputs`) field of a node."""
    return {"values": list(values), "shapes": [[] for _ in values], "types": list(types)}


def trace(*nodes: Node, schema: str | None = SCHEMA, indent: int | None = None, **members: Any) -> str:
    """Return the text of an execution trace with these nodes below a process and a thread root."""
    roots = [op(1, PROCESS, 1, rf_id=0), op(2, THREAD, 1, rf_id=0)]
    return document(*roots, *nodes, schema=schema, indent=indent, **members)


def document(*nodes: Node, schema: str | None = SCHEMA, indent: int | None = None, **members: Any) -> str:
    """Return the text of an execution trace with these nodes and no others."""
    head = {} if schema is None else {"schema": schema}
    return json.dumps(head | {"pid": 7, **members, "nodes": list(nodes), "finish_ts": 9}, indent=indent)


MERGED = ("ts", "dur", "inclusive_dur", "cat", "pid", "stream", "correlation", "sync_dep")
FIELDS = ("inputs", "outputs", *MERGED)
