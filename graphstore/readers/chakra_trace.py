"""Read a Chakra file (`.et`): each node one row of chakra_nodes, with every field as recorded.

In:  a `Source` whose bytes are framed messages (chakra/framing.py). Out: FileRecords with one table.
Decided here: what a zero on the wire means, and how attributes are told apart. A wrong file is read as it
is: dangling, repeated and self deps, ids used twice and cycles are kept for the checks to find.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable
from typing import Any

import orjson
import polars as pl
from google.protobuf.message import DecodeError

from graphstore.chakra import (
    KIND_BY_COMM_TYPE,
    NODE_TYPE_NAMES,
    AttributeProto,
    GlobalMetadata,
    MessageReader,
    Node,
    node_in_place_of_metadata,
)
from graphstore.errors import TraceFormatError
from graphstore.model.records import FileRecords, complete, table_schema
from graphstore.readers.columns import IntLists
from graphstore.readers.execution_trace import process_groups
from graphstore.readers.source import Source

KNOWN_VERSIONS = ("0.0.4",)  # trace-format facts: unchanged since 2023-10
NODES_AT_ONCE = 50_000  # rows made into columns together; bounds the Python objects alive
INT64_MAX = 2**63 - 1
P2P_KIND_BY_TYPE = {"COMM_SEND_NODE": "send", "COMM_RECV_NODE": "recv"}
FRAGMENTS_KEPT = 100_000  # attributes remembered as JSON; most repeat from node to node

_TEXTS = tuple(f"{side}_{part}" for side in ("input", "output") for part in ("values", "shapes", "types"))
_SCHEMA = table_schema("chakra_nodes")
_DEPS = ("ctrl_deps", "data_deps")
_COLUMNS: dict[str, Any] = {
    name: _SCHEMA.get(name, pl.Int64)
    for name in (
        "order",
        "node_id",
        "name",
        "chakra_kind",
        "start_us",
        "duration_us",
        "comm_kind",
        "size_bytes",
        "comm_size_field",
        "pg_name",
        "peer",
        "tag",
        "is_cpu_op",
        "stream",
        "attributes",
        *_TEXTS,
    )
}


def is_chakra(head: bytes) -> bool:
    """Return whether a file that starts with `head` can be a Chakra file.

    Its first message must be a GlobalMetadata, and the node behind it (if it lies within `head`) must have a
    type; or both are such nodes, where it was written without metadata. Zeros, text and pickles do not.
    """
    try:
        messages = MessageReader([head], "head")
        found = list(zip(range(2), messages, strict=False))
        if not found:  # longer than `head`: its first field tells
            return messages.cut_at is not None and _starts_metadata(head)
        if node_in_place_of_metadata(found[0][1]) is None or len(found) == 1:
            GlobalMetadata.FromString(found[0][1])
        if len(found) == 1:
            return bool(found[0][1])
        return Node.FromString(found[1][1]).type in range(1, len(NODE_TYPE_NAMES))
    except (TraceFormatError, DecodeError):
        return False


def _starts_metadata(head: bytes) -> bool:
    """Return whether a length and the tag of one of GlobalMetadata's two fields stand at the beginning."""
    size = next((n + 1 for n, byte in enumerate(head[:5]) if byte < 0x80), len(head))
    return head[size : size + 1] in (b"\x0a", b"\x12")


def read_chakra_trace(source: Source) -> FileRecords:
    """Return the nodes of a Chakra file, in the order of the file.

    A file cut inside a message keeps its whole nodes (facts.cut_at says where it ends). Raises
    TraceFormatError, with the byte, where a message is damaged or an id does not fit 64 signed bits.
    """
    messages = MessageReader(source.blocks(), source.path)
    table, metadata, missing = _Table(source.path), None, False
    for payload in messages:
        try:
            if metadata is None and (first := node_in_place_of_metadata(payload)) is not None:
                metadata, missing = GlobalMetadata(), True
                table.add(first)
            elif metadata is None:
                metadata = GlobalMetadata.FromString(payload)
            else:
                table.add(Node.FromString(payload))
        except DecodeError as error:
            raise TraceFormatError(
                f"{source.path}: the message before byte {messages.position} is no Chakra "
                f"{'metadata' if metadata is None else 'node'} ({error}). Nothing of it was loaded. "
                "Write the file again, or read it with the program that wrote it."
            ) from error
    records = FileRecords(source.path, _facts(source, messages, metadata, table.rows))
    if missing:
        records.facts["metadata_missing"] = True
    records.tables["chakra_nodes"] = table.frame()
    records.groups = process_groups(table.groups)
    records.tally.read = records.tally.kept = table.rows
    return records


class _Table:
    """Rows of chakra_nodes, made into columns NODES_AT_ONCE at a time."""

    def __init__(self, path: str) -> None:
        self.rows = 0
        self._path = path
        self._batch: list[tuple[Any, ...]] = []
        self._deps = {name: IntLists() for name in _DEPS}
        self._frames: list[pl.DataFrame] = []
        self._fragments = _Fragments()
        self.groups: list[Any] = []  # process groups as METADATA nodes write them

    def add(self, node: Node) -> None:
        """Append a node; TraceFormatError when its id or a dep does not fit 64 signed bits."""
        kind = NODE_TYPE_NAMES.get(node.type, str(node.type))
        attributes, text = self._fragments.of(node.attr)
        try:
            self._deps["ctrl_deps"].add(node.ctrl_deps)
            self._deps["data_deps"].add(node.data_deps)
            if node.id > INT64_MAX:
                raise OverflowError
        except OverflowError as error:
            raise TraceFormatError(
                f"{self._path}: node {self.rows} ({node.name!r}) has an id or dep above {INT64_MAX}, which "
                "no store holds. Nothing of it was loaded. Renumber the nodes where the file is written."
            ) from error
        self._batch.append(
            (
                self.rows,
                node.id,
                node.name,
                kind,
                node.start_time_micros,
                node.duration_micros,
                *_communication(kind, attributes),
                _value(attributes, "is_cpu_op"),
                _value(attributes, "stream"),
                text,
                *_texts(node),
            )
        )
        self.rows += 1
        if kind == "METADATA_NODE":
            self.groups += _groups_written(node.inputs.values)
        if len(self._batch) == NODES_AT_ONCE:
            self._flush()

    def frame(self) -> pl.DataFrame:
        """Return all rows as chakra_nodes."""
        self._flush()
        return _with_times(pl.concat(self._frames))

    def _flush(self) -> None:
        columns = list(zip(*self._batch, strict=True)) or [()] * len(_COLUMNS)
        series = [
            pl.Series(name, column, dtype=kind, strict=False)
            for (name, kind), column in zip(_COLUMNS.items(), columns, strict=True)
        ]
        self._frames.append(pl.DataFrame(series + [deps.series(name) for name, deps in self._deps.items()]))
        self._batch.clear()
        self._deps = {name: IntLists() for name in _DEPS}


class _Fragments:
    """Attributes as recorded, and as JSON text; equal attributes are converted once."""

    def __init__(self) -> None:
        self._known: dict[bytes, tuple[str, str | None, Any, str]] = {}

    def of(self, attrs: Iterable[AttributeProto]) -> tuple[dict[str, tuple[str | None, Any]], str]:
        """Return {name: (wire type, value)} and its JSON; of a name used twice, the later keeps `name#2`."""
        found: dict[str, tuple[str | None, Any]] = {}
        parts: list[str] = []
        for attr in attrs:
            wire = attr.SerializeToString()
            known = self._known.get(wire)
            if known is None:
                if len(self._known) == FRAGMENTS_KEPT:
                    self._known.clear()
                known = self._known[wire] = _fragment(attr)
            name, field, value, text = known
            if name in found:
                name, text = _renamed(name, text, found)
            found[name] = (field, value)
            parts.append(text)
        return found, "{" + ",".join(parts) + "}"


def _fragment(attr: AttributeProto) -> tuple[str, str | None, Any, str]:
    """Return an attribute's name, wire type, value and JSON member `"name":[type,value]` (and doc_string)."""
    field = attr.WhichOneof("value")
    value: Any = None if field is None else getattr(attr, field)
    wire_type = None if field is None else field.removesuffix("_val")
    if field is not None and field.endswith("_list"):
        value = [_plain(item) for item in value.values]
    recorded = [wire_type, _plain(value)] + ([attr.doc_string] if attr.doc_string else [])
    text = orjson.dumps(attr.name).decode() + ":" + orjson.dumps(recorded).decode()
    return attr.name, wire_type, value, text


def _plain(value: Any) -> Any:
    """Return a value as JSON can hold it: bytes as base64, a float that is no number as its name."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def _renamed(name: str, text: str, taken: dict[str, tuple[str | None, Any]]) -> tuple[str, str]:
    number = 2
    while f"{name}#{number}" in taken:
        number += 1
    new = f"{name}#{number}"
    return new, orjson.dumps(new).decode() + text[len(orjson.dumps(name)) :]


def _value(attributes: dict[str, tuple[str | None, Any]], name: str) -> Any:
    """Return the value of a scalar attribute; None when absent."""
    return attributes.get(name, (None, None))[1]


def _communication(kind: str, attributes: dict[str, tuple[str | None, Any]]) -> tuple[Any, ...]:
    """Return comm_kind, size_bytes, comm_size_field, pg_name, peer and tag as the attributes say."""
    comm_kind = P2P_KIND_BY_TYPE.get(kind)  # upstream's senders carry a comm_type that means nothing
    if kind == "COMM_COLL_NODE":
        comm_kind = KIND_BY_COMM_TYPE.get(_value(attributes, "comm_type"))
    field, size = attributes.get("comm_size", (None, None))
    peer = _value(attributes, "comm_src" if kind == "COMM_RECV_NODE" else "comm_dst")
    pg_name = _value(attributes, "pg_name")
    return (
        comm_kind,
        size,
        field,
        None if pg_name is None else str(pg_name),
        peer,
        _value(attributes, "comm_tag"),
    )


def _texts(node: Node) -> list[str | None]:
    """Return values, shapes and types of inputs and outputs; None where the node has none."""
    out: list[str | None] = []
    for side, info in (("inputs", node.inputs), ("outputs", node.outputs)):
        out += [info.values, info.shapes, info.types] if node.HasField(side) else [None] * 3
    return out


def _groups_written(values: str) -> list[Any]:
    """Return the groups of a process_group:init node: one text that holds a JSON list, itself in a list.

    The converter writes that list as Python does (`['[{…}]']`), we as JSON; anything else holds no groups.
    """
    try:
        text = values[2:-2] if values.startswith("['") else orjson.loads(values)[0]
        groups = orjson.loads(text)
    except (orjson.JSONDecodeError, LookupError, TypeError):
        return []
    return groups if isinstance(groups, list) else []


def _with_times(nodes: pl.DataFrame) -> pl.DataFrame:
    """Turn µs into ns. A zero is left off the wire, so a column of zeros alone holds no times: null."""
    times = {"start_ns": "start_us", "duration_ns": "duration_us"}
    held = [(ns, us) for ns, us in times.items() if nodes.select((pl.col(us) != 0).any()).item()]
    converted = nodes.with_columns((pl.col(us) * 1000).alias(ns) for ns, us in held)
    return complete(converted.drop(*times.values()), _SCHEMA)


def _facts(
    source: Source, messages: MessageReader, metadata: GlobalMetadata | None, nodes: int
) -> dict[str, Any]:
    """Return the properties of the TraceFile; a file written by the ET converter repeats the ET's head."""
    head = {} if metadata is None else {attr.name: _fragment(attr)[2] for attr in metadata.attr}
    version = metadata.version if metadata is not None else ""
    pid, recorded_at = head.get("pid"), head.get("time")
    cut_at = source.damage
    if messages.cut_at is not None:
        what = "its metadata" if metadata is None else f"node {nodes}"
        cut_at = f"byte {messages.cut_at}: the file ends inside {what}" + (f"; {cut_at}" if cut_at else "")
    return source.facts() | {
        "kind": "chakra_et",
        "schema": version or head.get("schema"),
        "schema_known": version in KNOWN_VERSIONS if version else None,
        "pid": pid if isinstance(pid, int) else None,
        "recorded_at": recorded_at if isinstance(recorded_at, str) else None,
        "cut_at": cut_at,
    }
