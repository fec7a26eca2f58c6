"""The Chakra trace format (`.et`): its messages, their framing and names, for reader and export alike.

In:  bytes of a stream, or messages. Out: the other one of the two. No records and no graph here:
readers/chakra_trace.py makes records of the messages, export/ makes messages of the graph.
"""

from graphstore.chakra.et_def_pb2 import AttributeProto, GlobalMetadata, IOInfo, Node
from graphstore.chakra.first_record import node_in_place_of_metadata
from graphstore.chakra.framing import MessageReader, blocks_of, framed
from graphstore.chakra.names import KIND_BY_COMM_TYPE, NODE_TYPE_NAMES, comm_type_of

__all__ = [
    "KIND_BY_COMM_TYPE",
    "NODE_TYPE_NAMES",
    "AttributeProto",
    "GlobalMetadata",
    "IOInfo",
    "MessageReader",
    "Node",
    "blocks_of",
    "comm_type_of",
    "framed",
    "node_in_place_of_metadata",
]
