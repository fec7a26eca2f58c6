"""The first record of a Chakra file: metadata, or a node where the file was written without.

In:  the bytes of a message. Out: the node, if it is one. Decided here: what tells the two apart: a node has a
type, and the metadata no field of that number.
"""

from __future__ import annotations

from google.protobuf.message import DecodeError

from graphstore.chakra.et_def_pb2 import Node


def node_in_place_of_metadata(payload: bytes) -> Node | None:
    """Return the first message of a file as a node, if it is one; simulators lose it, as metadata."""
    try:
        node = Node.FromString(payload)
    except DecodeError:
        return None
    return node if node.type else None
