"""Nodes of an execution trace, typed: fields are looked for where each schema may have put them.

In:  JSON text of a list of nodes. Out: `Node` or `FlatNode` objects, and functions that read either.
Decided here: the layout is told by the fields, never by the schema's number. 1.0.1 is flat (`parent`,
`inputs` is a list); later ones have `ctrl_deps`, `inputs.values` and `attrs`. A merged trace (ET+) has
times in µs besides, and device ops as nodes with a device category.
The columns they become: execution_columns.py.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Annotated, Any, cast

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

Id = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
DEVICE_CATEGORY = re.compile(r"(kernel|memcpy|memset)$", re.IGNORECASE)
FLAT_FIELDS = ("rf_id", "seq_id", "scope", "tid", "fw_tid", "fw_parent", "op_schema")


class Values(Struct, gc=False):
    """Inputs or outputs of a node in the layout with attributes; kept as JSON text."""

    values: Raw | UnsetType = UNSET
    shapes: Raw | UnsetType = UNSET
    types: Raw | UnsetType = UNSET


class Attribute(Struct, gc=False):
    """One entry of `attrs`."""

    name: str
    value: Any = None


class Common(Struct, gc=False, kw_only=True):
    """What a node of either layout may have."""

    id: Id
    name: str
    parent: Id | UnsetType | None = UNSET
    ctrl_deps: Id | UnsetType | None = UNSET
    attrs: list[Attribute] = []
    rf_id: Any = None
    seq_id: Any = None
    scope: Any = None
    tid: Any = None
    fw_tid: Any = None
    fw_parent: Any = None
    op_schema: Any = None
    ts: Decimal | None = None
    dur: Decimal | None = None
    inclusive_dur: Decimal | None = None
    cat: str | None = None
    pid: Any = None
    stream: Any = None
    correlation: Any = None
    pg_name: Any = None
    sync_dep: list[Id] | Id | None = None

    @property
    def device_kind(self) -> str | None:
        """kernel, memcpy or memset as the category of a merged trace says; None for a host op."""
        found = DEVICE_CATEGORY.search(self.cat) if self.cat is not None else None
        return found.group(1).lower() if found else None

    @property
    def has_parent(self) -> bool:
        """Whether the node has a field for its parent."""
        return self.ctrl_deps is not UNSET or self.parent is not UNSET


class Node(Common, gc=False, kw_only=True):
    """A node of schema 1.0.2 and later."""

    inputs: Values | None = None
    outputs: Values | None = None


class FlatNode(Common, gc=False, kw_only=True):
    """A node of schema 1.0.1."""

    inputs: Raw | UnsetType = UNSET
    input_shapes: Raw | UnsetType = UNSET
    input_types: Raw | UnsetType = UNSET
    outputs: Raw | UnsetType = UNSET
    output_shapes: Raw | UnsetType = UNSET
    output_types: Raw | UnsetType = UNSET


_NODES = msgspec.json.Decoder(list[Node])
_FLAT_NODES = msgspec.json.Decoder(list[FlatNode])
NO_VALUES = Values()
AnyNode = Node | FlatNode


def decode_nodes(text: bytes) -> list[AnyNode]:
    """Return the nodes of a JSON list, in whichever layout they are. Raises msgspec.DecodeError."""
    try:
        return cast(list[AnyNode], _NODES.decode(text))
    except msgspec.ValidationError as error:
        try:
            return cast(list[AnyNode], _FLAT_NODES.decode(text))
        except msgspec.ValidationError:
            raise error from None  # what a newer node lacks says more than what an old one would


def attributes_of(node: AnyNode) -> dict[str, Any]:
    """Return the node's attributes by name, from wherever its layout has them."""
    if node.attrs:
        return {attribute.name: attribute.value for attribute in node.attrs}
    return {name: getattr(node, name) for name in FLAT_FIELDS}


def parent_of(node: AnyNode) -> int | None:
    """Return the parent as recorded, 0 and the node itself included."""
    if node.ctrl_deps is not UNSET:
        return node.ctrl_deps
    return None if node.parent is UNSET else node.parent


def values_of(node: AnyNode) -> tuple[Raw | UnsetType, ...]:
    """Return the JSON of values, shapes and types, first of the inputs, then of the outputs."""
    if isinstance(node, FlatNode):
        flat_ins = (node.inputs, node.input_shapes, node.input_types)
        return (*flat_ins, node.outputs, node.output_shapes, node.output_types)
    ins, outs = node.inputs or NO_VALUES, node.outputs or NO_VALUES
    return (ins.values, ins.shapes, ins.types, outs.values, outs.shapes, outs.types)


def decoded_list(raw: Raw | UnsetType) -> list[Any]:
    """Return the list a JSON text holds; an empty one when it is absent or no list."""
    value = [] if raw is UNSET else json.loads(bytes(raw))
    return value if isinstance(value, list) else []
