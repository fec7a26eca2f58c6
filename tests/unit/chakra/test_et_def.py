from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from google.protobuf import descriptor_pb2

from graphstore.chakra import AttributeProto, GlobalMetadata, Node, comm_type_of, et_def_pb2
from graphstore.chakra.names import KIND_BY_COMM_TYPE, NODE_TYPE_NAMES
from graphstore.model.collectives import COLLECTIVE_KINDS

REPOSITORY = Path(__file__).resolve().parents[3]
SCHEMA = Path(et_def_pb2.__file__).with_name("et_def.proto")


def regenerated(folder: Path) -> descriptor_pb2.FileDescriptorProto:
    """Return the description of et_def.proto as protoc makes it now."""
    protoc = pytest.importorskip("grpc_tools.protoc", reason="grpcio-tools (extra dev) is not installed")
    out = folder / "et_def.bin"
    code = protoc.main(["protoc", f"-I{SCHEMA.parent}", f"--descriptor_set_out={out}", SCHEMA.name])
    assert code == 0
    (file,) = descriptor_pb2.FileDescriptorSet.FromString(out.read_bytes()).file
    return file


def test_the_generated_module_is_that_of_the_schema(tmp_path: Path) -> None:
    """et_def_pb2.py holds what protoc makes of et_def.proto, whatever the version of protoc."""
    committed = descriptor_pb2.FileDescriptorProto()
    et_def_pb2.DESCRIPTOR.CopyToProto(committed)

    assert without_json_names(regenerated(tmp_path)) == without_json_names(committed)


def without_json_names(file: descriptor_pb2.FileDescriptorProto) -> descriptor_pb2.FileDescriptorProto:
    """Return `file` without the JSON names, which protoc writes into a set but not into Python code."""
    for message in file.message_type:
        for field in message.field:
            field.ClearField("json_name")
    return file


def test_the_generated_module_loads_with_the_oldest_protobuf_allowed() -> None:
    """The version in the generated code is not newer than pyproject's lower bound of protobuf."""
    text = Path(et_def_pb2.__file__).read_text()
    generated = re.search(r"Protobuf Python Version: (\d+)\.(\d+)", text)
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    (bound,) = [d for d in project["dependencies"] if re.match(r"protobuf\b", d)]
    oldest = re.search(r">=(\d+)\.(\d+)", bound)

    assert generated is not None
    assert oldest is not None
    assert tuple(map(int, generated.groups())) <= tuple(map(int, oldest.groups()))


def test_numbers_of_fields_are_those_of_the_format() -> None:
    """Node and AttributeProto have the field numbers that simulators read; lists stand behind their value."""
    node = {field.name: field.number for field in Node.DESCRIPTOR.fields}
    attribute = {field.name: field.number for field in AttributeProto.DESCRIPTOR.fields}
    metadata = {field.name: field.number for field in GlobalMetadata.DESCRIPTOR.fields}

    assert list(node.items()) == [
        ("id", 1),
        ("name", 2),
        ("type", 3),
        ("ctrl_deps", 4),
        ("data_deps", 5),
        ("start_time_micros", 6),
        ("duration_micros", 7),
        ("inputs", 8),
        ("outputs", 9),
        ("attr", 10),
    ]
    assert metadata == {"version": 1, "attr": 2}
    assert (attribute["double_val"], attribute["int64_val"], attribute["uint64_val"]) == (3, 9, 13)
    assert (attribute["bool_val"], attribute["string_val"], attribute["bytes_val"]) == (27, 29, 31)
    values = {name.removesuffix("_val"): n for name, n in attribute.items() if name.endswith("_val")}
    assert all(attribute[f"{kind}_list"] == number + 1 for kind, number in values.items())
    assert len(values) == 15


def test_every_collective_kind_has_a_comm_type_and_back() -> None:
    """Kinds and comm_type values map onto each other; REDUCE_SCATTER_BLOCK is read as reduce_scatter."""
    assert {KIND_BY_COMM_TYPE[comm_type_of(kind)] for kind in COLLECTIVE_KINDS} == set(COLLECTIVE_KINDS)
    assert sorted(KIND_BY_COMM_TYPE) == list(range(10))
    assert comm_type_of("reduce_scatter") == 7
    with pytest.raises(KeyError):
        comm_type_of("send")


def test_node_types_have_the_names_of_the_format() -> None:
    """The names a chakra_kind can have, by number."""
    assert NODE_TYPE_NAMES[4] == "COMP_NODE"
    assert NODE_TYPE_NAMES[7] == "COMM_COLL_NODE"
    assert sorted(NODE_TYPE_NAMES) == list(range(8))
