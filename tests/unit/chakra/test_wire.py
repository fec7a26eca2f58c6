"""Messages made of columns are, byte for byte, those that protobuf writes."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphstore.chakra import AttributeProto, MessageReader, Node, attributes, framed, wire

EDGES = [0, 1, 127, 128, 2**14 - 1, 2**14, 2**32, 2**63 - 1]
UINT64 = st.sampled_from([*EDGES, 2**63, 2**64 - 1]) | st.integers(0, 2**64 - 1)
INT64 = st.sampled_from([*EDGES, *(-value for value in EDGES), -(2**63)]) | st.integers(-(2**63), 2**63 - 1)
DOUBLE = st.floats() | st.sampled_from([0.0, -0.0])
TEXT = st.text(max_size=5) | st.sampled_from(["", "é" * 64, "x" * 127, "x" * 128, "x" * 70_000])
DEPS = st.lists(UINT64, max_size=3) | st.integers(100, 300).map(lambda many: list(range(many)))
NODE = st.fixed_dictionaries(
    {"id": UINT64, "name": TEXT, "type": st.integers(0, 7), "ctrl_deps": DEPS, "data_deps": DEPS}
    | {"duration_micros": UINT64, "values": TEXT, "types": TEXT}
    | {"integer": INT64, "figure": DOUBLE, "text": TEXT, "flag": st.booleans(), "rare": st.none() | INT64}
)


def protobuf(row: dict[str, Any]) -> Node:
    """Return the message of a row as an object. A text attribute is there if it has text."""
    node = Node(id=row["id"], name=row["name"], type=row["type"], duration_micros=row["duration_micros"])
    node.ctrl_deps.extend(row["ctrl_deps"])
    node.data_deps.extend(row["data_deps"])
    if row["values"] or row["types"]:
        node.inputs.values, node.inputs.types = row["values"], row["types"]
    node.attr.add(name="integer", int64_val=row["integer"])
    node.attr.add(name="figure", double_val=row["figure"])
    if row["text"]:
        node.attr.add(name="text", string_val=row["text"])
    node.attr.add(name="flag", bool_val=row["flag"])
    if row["rare"] is not None:
        node.attr.add(name="rare", int64_val=row["rare"])
    return node


def packed(field: int, rows: list[dict[str, Any]], name: str) -> list[wire.Column]:
    """Return a list of uint64 of all rows."""
    counts = np.array([len(row[name]) for row in rows], np.int64)
    return wire.packed(field, counts, np.array([dep for row in rows for dep in row[name]], np.uint64))


def block(rows: list[dict[str, Any]]) -> wire.Block:
    """Return the messages of all rows, made of columns."""
    every = np.arange(len(rows))

    def column(name: str, kind: Any) -> Any:
        return np.array([row[name] for row in rows], kind)

    def text(name: str) -> pl.Series:
        return pl.Series([row[name] for row in rows], dtype=pl.String)

    rare = np.array([place for place, row in enumerate(rows) if row["rare"] is not None], np.int64)
    told = np.array([row["rare"] for row in rows if row["rare"] is not None], np.int64)
    # type has no presence: a 0 is left out, which number() does not do by itself
    types = column("type", np.int64)
    fields = [
        *wire.unsigned(1, every, column("id", np.uint64)),
        *wire.text(2, every, text("name")),
        *wire.number(3, np.flatnonzero(types), types[types > 0]),
        *packed(4, rows, "ctrl_deps"),
        *packed(5, rows, "data_deps"),
        *wire.unsigned(7, every, column("duration_micros", np.uint64)),
        *wire.delimited(8, [*wire.text(1, every, text("values")), *wire.text(3, every, text("types"))]),
        *attributes.integers("integer", every, column("integer", np.int64)),
        *attributes.figures("figure", every, column("figure", np.float64)),
        *attributes.texts("text", every, text("text")),
        *attributes.flags("flag", every, column("flag", np.bool_)),
        *attributes.integers("rare", rare, told),
    ]
    return wire.block(fields, len(rows))


@given(st.lists(NODE, max_size=8))
def test_columns_give_the_bytes_that_protobuf_gives(rows: list[dict[str, Any]]) -> None:
    """All field kinds that nodes have, at the bounds of their sizes; each message is found in its block."""
    made = block(rows)

    assert made.data == b"".join(framed(protobuf(row)) for row in rows)
    assert [made.message(row) for row in range(len(rows))] == list(MessageReader([made.data], "rows"))


def test_many_messages_are_put_together_in_parts() -> None:
    """More bytes than are copied at once, long pieces first, last and side by side: none is lost or moved."""
    long = "x" * (wire.BYTES_AT_ONCE + 1)
    names = [long, long, *(["short", "", "y" * 300] * 500), long, "end", long]
    every = np.arange(len(names))

    made = wire.block(wire.text(2, every, pl.Series(names)), len(names))

    assert made.data == b"".join(framed(Node(name=name)) for name in names)


def test_fields_that_are_ready_stand_where_they_are_put() -> None:
    """Bytes made by protobuf itself, of some rows only."""
    attribute = AttributeProto(name="comm_tag", int32_val=-1)
    ready = Node(attr=[attribute]).SerializeToString()
    flags = attributes.flags("is_cpu_op", np.arange(2), np.array([True, False]))

    made = wire.block([*flags, wire.ready(np.array([1]), [ready])], 2)

    first, second = (Node.FromString(made.message(row)) for row in range(2))
    assert [(one.name, one.bool_val) for one in first.attr] == [("is_cpu_op", True)]
    assert list(second.attr) == [AttributeProto(name="is_cpu_op", bool_val=False), attribute]


def test_a_message_without_fields_is_there_all_the_same() -> None:
    """It has a length of 0, and no bytes."""
    made = wire.block(wire.unsigned(1, np.array([2]), np.array([7])), 4)

    assert made.data == b"\x00\x00\x02\x08\x07\x00"
    assert [made.message(row) for row in range(4)] == [b"", b"", b"\x08\x07", b""]


@pytest.mark.parametrize("values", [[-1], [3, -(2**63)]])
def test_a_negative_number_is_no_uint64(values: list[int]) -> None:
    """It is refused, as protobuf does, not written as one near 2^64."""
    with pytest.raises(ValueError, match="takes no negative number"):
        wire.unsigned(6, np.arange(len(values)), np.array(values))
    with pytest.raises(ValueError, match="takes no negative number"):
        wire.packed(5, np.array([len(values)]), np.array(values))


def test_a_message_too_long_for_our_readers_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """As when a message is written by itself."""
    monkeypatch.setattr("graphstore.chakra.framing.MAX_MESSAGE_BYTES", 10)

    with pytest.raises(ValueError, match="a message has 22 bytes; 10 are allowed"):
        wire.block(wire.text(2, np.arange(2), pl.Series(["x" * 20, "y"])), 2)
