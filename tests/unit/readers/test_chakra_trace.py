from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphstore.chakra import AttributeProto, GlobalMetadata, Node, framed
from graphstore.chakra.et_def_pb2 import BoolList, Int64List, NodeType
from graphstore.errors import TraceFormatError
from graphstore.model.records import FileRecords, table_schema
from graphstore.readers.chakra_trace import is_chakra, read_chakra_trace
from graphstore.readers.source import open_source
from graphstore.settings import Settings

COMP, COLL = NodeType.COMP_NODE, NodeType.COMM_COLL_NODE
SEND, RECV = NodeType.COMM_SEND_NODE, NodeType.COMM_RECV_NODE


def chakra_bytes(nodes: Iterable[Node], metadata: GlobalMetadata | None = None) -> bytes:
    """Return a Chakra file with these nodes."""
    return b"".join(map(framed, [metadata or GlobalMetadata(version="0.0.4"), *nodes]))


def read(folder: Path, data: bytes) -> FileRecords:
    """Return what the reader makes of a file with these bytes."""
    file = folder / "trace.0.et"
    file.write_bytes(data)
    with open_source(str(file), Settings(store="")) as source:
        return read_chakra_trace(source)


def nodes_of(records: FileRecords) -> pl.DataFrame:
    """Return the table of nodes."""
    return records.tables["chakra_nodes"]


def test_every_field_of_a_node_is_kept(tmp_path: Path) -> None:
    """Ids, deps with repeats and self edges, times in ns, texts of inputs and outputs: as recorded."""
    node = Node(
        id=7,
        name="aten::add(0)",
        type=COMP,
        ctrl_deps=[3, 7],
        data_deps=[5, 5, 999],
        start_time_micros=12,
        duration_micros=3,
    )
    node.inputs.values, node.inputs.shapes, node.inputs.types = "[1]", "[[]]", "['Int']"

    records = read(tmp_path, chakra_bytes([node, Node(id=7, name="again", type=COMP)]))
    rows = nodes_of(records)

    assert rows.schema == table_schema("chakra_nodes")
    first = rows.row(0, named=True)
    assert (first["node_id"], first["name"], first["chakra_kind"]) == (7, "aten::add(0)", "COMP_NODE")
    assert (first["ctrl_deps"], first["data_deps"]) == ([3, 7], [5, 5, 999])
    assert (first["start_ns"], first["duration_ns"]) == (12_000, 3_000)
    assert (first["input_values"], first["input_shapes"], first["input_types"]) == ("[1]", "[[]]", "['Int']")
    assert (first["output_values"], first["comm_kind"], first["attributes"]) == (None, None, "{}")
    assert rows["node_id"].to_list() == [7, 7]
    assert rows["order"].to_list() == [0, 1]
    assert (records.tally.read, records.tally.kept) == (2, 2)
    records.tally.check("trace.0.et")


def test_id_zero_is_an_id_and_a_dep_on_zero_a_dep(tmp_path: Path) -> None:
    """proto3 leaves a zero id off the wire; it is no "no id", and a dep on it no "no parent"."""
    rows = nodes_of(read(tmp_path, chakra_bytes([Node(type=COMP), Node(id=1, type=COMP, ctrl_deps=[0])])))

    assert rows["node_id"].to_list() == [0, 1]
    assert rows["ctrl_deps"].to_list() == [[], [0]]


@pytest.mark.parametrize(("field", "wire_type"), [("int64_val", "int64"), ("uint64_val", "uint64")])
def test_the_wire_type_of_comm_size_is_recorded(tmp_path: Path, field: str, wire_type: str) -> None:
    """A simulator reads only an int64 comm_size, so which one it is must be known; the value is the same."""
    size = AttributeProto(name="comm_size")
    setattr(size, field, 4096)
    kind = AttributeProto(name="comm_type", int64_val=0)

    row = nodes_of(read(tmp_path, chakra_bytes([Node(type=COLL, attr=[kind, size])]))).row(0, named=True)

    assert (row["comm_kind"], row["size_bytes"], row["comm_size_field"]) == ("all_reduce", 4096, wire_type)
    assert json.loads(row["attributes"])["comm_size"] == [wire_type, 4096]


def test_a_collective_without_type_or_size_has_none(tmp_path: Path) -> None:
    """What a file does not say is null, not zero and not guessed from the name."""
    row = nodes_of(read(tmp_path, chakra_bytes([Node(name="c10d::allreduce_(1)", type=COLL)]))).row(
        0, named=True
    )

    assert [row[key] for key in ("comm_kind", "size_bytes", "comm_size_field", "pg_name")] == [None] * 4


def test_sends_and_recvs_have_peer_and_tag(tmp_path: Path) -> None:
    """A send's peer is comm_dst, a recv's comm_src; the comm_type some writers add to them means nothing."""
    tag = AttributeProto(name="comm_tag", int32_val=9)
    send = Node(id=0, type=SEND, attr=[AttributeProto(name="comm_dst", int32_val=3), tag])
    recv = Node(
        id=1,
        type=RECV,
        attr=[
            AttributeProto(name="comm_src", int64_val=2),
            AttributeProto(name="comm_type", int64_val=6),
            tag,
        ],
    )

    rows = nodes_of(read(tmp_path, chakra_bytes([send, recv])))

    assert rows["comm_kind"].to_list() == ["send", "recv"]
    assert rows["peer"].to_list() == [3, 2]
    assert rows["tag"].to_list() == [9, 9]


def test_attributes_are_kept_with_their_types(tmp_path: Path) -> None:
    """Every attribute is in the JSON with its wire type; lists, bytes, infinity and repeated names too."""
    attributes = [
        AttributeProto(name="is_cpu_op", bool_val=True),
        AttributeProto(name="stream", int64_val=7),
        AttributeProto(name="pg_name", string_val="2"),
        AttributeProto(name="dims", bool_list=BoolList(values=[True, False])),
        AttributeProto(name="splits", int64_list=Int64List(values=[])),
        AttributeProto(name="raw", bytes_val=b"\xff\x00"),
        AttributeProto(name="big", uint64_val=2**64 - 1),
        AttributeProto(name="inf", double_val=float("inf")),
        AttributeProto(name="nothing", doc_string="why"),
        AttributeProto(name="stream", int64_val=8),
    ]

    row = nodes_of(read(tmp_path, chakra_bytes([Node(type=COMP, attr=attributes)]))).row(0, named=True)

    assert (row["is_cpu_op"], row["stream"], row["pg_name"]) == (True, 7, "2")
    assert json.loads(row["attributes"]) == {
        "is_cpu_op": ["bool", True],
        "stream": ["int64", 7],
        "pg_name": ["string", "2"],
        "dims": ["bool_list", [True, False]],
        "splits": ["int64_list", []],
        "raw": ["bytes", "/wA="],
        "big": ["uint64", 2**64 - 1],
        "inf": ["double", "inf"],
        "nothing": [None, None, "why"],
        "stream#2": ["int64", 8],
    }


def test_times_are_null_only_where_the_file_holds_none(tmp_path: Path) -> None:
    """A zero is off the wire, so one start at 0 among others is a time, and zeros alone are no times."""
    timed = nodes_of(read(tmp_path, chakra_bytes([Node(type=COMP), Node(type=COMP, start_time_micros=5)])))
    untimed = nodes_of(read(tmp_path, chakra_bytes([Node(type=COMP), Node(type=COMP)])))

    assert timed["start_ns"].to_list() == [0, 5_000]
    assert untimed["start_ns"].to_list() == [None, None]
    assert untimed["duration_ns"].to_list() == [None, None]


def test_the_head_of_the_file_becomes_facts(tmp_path: Path) -> None:
    """Version, and what the converter repeats of the execution trace's head."""
    head = GlobalMetadata(
        attr=[
            AttributeProto(name="schema", string_val="1.0.1"),
            AttributeProto(name="pid", uint64_val=114598),
            AttributeProto(name="time", string_val="2023-12-14 11:55:01"),
        ]
    )

    facts = read(tmp_path, chakra_bytes([], head)).facts
    versioned = read(tmp_path, chakra_bytes([])).facts
    strange = read(tmp_path, chakra_bytes([], GlobalMetadata(version="9.9"))).facts

    assert (facts["kind"], facts["schema"], facts["schema_known"]) == ("chakra_et", "1.0.1", None)
    assert (facts["pid"], facts["recorded_at"], facts["cut_at"]) == (114598, "2023-12-14 11:55:01", None)
    assert (versioned["schema"], versioned["schema_known"]) == ("0.0.4", True)
    assert (strange["schema"], strange["schema_known"]) == ("9.9", False)


@pytest.mark.parametrize("values", ["['%s']", "[%s]"])
def test_process_groups_are_read_from_their_metadata_node(tmp_path: Path, values: str) -> None:
    """The group list is read back, whether written as the converter writes it or as our export does."""
    listed = json.dumps([{"pg_name": "0", "pg_desc": "default_pg", "group_size": 2, "ranks": []}])
    node = Node(name="## process_group:init ##", type=NodeType.METADATA_NODE)
    node.inputs.values = values % (listed if "'" in values else json.dumps(listed))

    (group,) = read(tmp_path, chakra_bytes([node])).groups

    assert (group["pg_name"], group["ranks"], group["group_size"]) == ("0", [0, 1], 2)


@pytest.mark.parametrize("values", ["", "[]", "['']", "[3]", "['{}']", "nonsense"])
def test_other_metadata_nodes_have_no_groups(tmp_path: Path, values: str) -> None:
    """A METADATA node may hold anything; what is no group list is kept as text and is no error."""
    node = Node(name="other", type=NodeType.METADATA_NODE)
    node.inputs.values = values

    records = read(tmp_path, chakra_bytes([node]))

    assert records.groups == []
    assert nodes_of(records)["input_values"].to_list() == [values]


@given(cut=st.integers(1, 40), data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_cut_file_keeps_its_whole_nodes(tmp_path: Path, cut: int, data: st.DataObject) -> None:
    """Cut at any byte, the nodes before are read and the place is named; nothing is raised."""
    nodes = [Node(id=n, name="n" * n, type=COMP) for n in range(data.draw(st.integers(1, 5)))]
    whole = chakra_bytes(nodes)
    ends = [len(chakra_bytes(nodes[:n])) for n in range(len(nodes) + 1)]
    cut = min(cut, len(whole))

    records = read(tmp_path, whole[:cut])

    assert nodes_of(records)["node_id"].to_list() == list(range(sum(end <= cut for end in ends[1:])))
    assert (records.facts["cut_at"] is None) == (cut in ends)


def test_a_cut_is_named_by_byte_and_node(tmp_path: Path) -> None:
    """The sentence for the finding says where the file ends."""
    data = chakra_bytes([Node(id=1, type=COMP), Node(id=2, type=COMP)])

    assert read(tmp_path, data[:-1]).facts["cut_at"] == "byte 13: the file ends inside node 1"
    assert read(tmp_path, data[:3]).facts["cut_at"] == "byte 0: the file ends inside its metadata"


def test_a_damaged_message_is_an_error_with_file_and_byte(tmp_path: Path) -> None:
    """Bytes that are no node are refused in one line; no half of the file is taken for the whole."""
    data = chakra_bytes([Node(id=1, type=COMP)]) + b"\x02\xff\xff"

    with pytest.raises(TraceFormatError, match=r"trace\.0\.et: the message before byte 16 is no Chakra node"):
        read(tmp_path, data)


@pytest.mark.parametrize("node", [Node(id=2**63, type=COMP), Node(id=1, type=COMP, data_deps=[2**64 - 1])])
def test_an_id_no_store_holds_is_an_error(tmp_path: Path, node: Node) -> None:
    """Ids are 64 signed bits in both engines; a larger one is refused, not wrapped."""
    with pytest.raises(TraceFormatError, match=r"node 0 .* id or dep above"):
        read(tmp_path, chakra_bytes([node]))


def test_a_file_without_metadata_keeps_its_first_node(tmp_path: Path) -> None:
    """Readers of the format take the first record as metadata; here it is a row like any other, and told."""
    nodes = [
        Node(id=1, name="one", type=NodeType.COMP_NODE),
        Node(id=2, name="two", type=NodeType.COMP_NODE, data_deps=[1]),
    ]
    data = b"".join(map(framed, nodes))

    records = read(tmp_path, data)

    assert records.tables["chakra_nodes"]["node_id"].to_list() == [1, 2]
    assert records.facts["metadata_missing"] is True
    assert is_chakra(data)
    assert "metadata_missing" not in read(tmp_path, chakra_bytes([Node(id=1, type=NodeType.COMP_NODE)])).facts


def test_a_chakra_file_is_told_from_others_by_content() -> None:
    """Metadata and a typed node make a Chakra file; zeros, text, JSON and pickles do not."""
    small = chakra_bytes([Node(id=1, type=COMP)])
    empty_head = chakra_bytes([Node(id=1, type=COMP)], GlobalMetadata())
    long_head = chakra_bytes([], GlobalMetadata(attr=[AttributeProto(name="input", string_val="x" * 9000)]))

    assert is_chakra(small)
    assert is_chakra(empty_head)
    assert is_chakra(long_head[:64])
    assert is_chakra(small[:-1])
    for other in (b"", b"\0" * 64, b'{"nodes": []}', b"hello\n" * 20, b"\x80\x04}\x94.", b"\x1f\x8b\x08\0\0"):
        assert not is_chakra(other)
