"""Metadata and nodes are told apart by their fields."""

from __future__ import annotations

import pytest

from graphstore.chakra import AttributeProto, GlobalMetadata, Node, node_in_place_of_metadata
from graphstore.chakra.et_def_pb2 import NodeType


def test_a_node_is_told_by_its_type() -> None:
    """Whatever its id and name are."""
    for node in (
        Node(id=0, name="", type=NodeType.COMP_NODE),
        Node(id=7, name="aten::add", type=NodeType.COMM_COLL_NODE, data_deps=[1]),
    ):
        assert node_in_place_of_metadata(node.SerializeToString()) == node


@pytest.mark.parametrize(
    "metadata",
    [
        GlobalMetadata(),
        GlobalMetadata(version="0.0.4"),
        GlobalMetadata(attr=[AttributeProto(name="pid", uint64_val=114598)]),
    ],
)
def test_metadata_is_no_node(metadata: GlobalMetadata) -> None:
    """Version, attributes, or nothing at all."""
    assert node_in_place_of_metadata(metadata.SerializeToString()) is None
