"""Names and numbers of the Chakra enums, beside the words used elsewhere in graphstore.

The numbers are the format's own (et_def.proto); collective kinds are those of CollectiveCall.collective_kind.
"""

from __future__ import annotations

from graphstore.chakra.et_def_pb2 import CollectiveCommType, NodeType

NODE_TYPE_NAMES: dict[int, str] = {number: name for name, number in NodeType.items()}

KIND_BY_COMM_TYPE: dict[int, str] = {
    CollectiveCommType.ALL_REDUCE: "all_reduce",
    CollectiveCommType.REDUCE: "reduce",
    CollectiveCommType.ALL_GATHER: "all_gather",
    CollectiveCommType.GATHER: "gather",
    CollectiveCommType.SCATTER: "scatter",
    CollectiveCommType.BROADCAST: "broadcast",
    CollectiveCommType.ALL_TO_ALL: "all_to_all",
    CollectiveCommType.REDUCE_SCATTER: "reduce_scatter",
    CollectiveCommType.REDUCE_SCATTER_BLOCK: "reduce_scatter",
    CollectiveCommType.BARRIER: "barrier",
}

_COMM_TYPE_BY_KIND = {
    kind: number
    for number, kind in KIND_BY_COMM_TYPE.items()
    if number != CollectiveCommType.REDUCE_SCATTER_BLOCK
}


def comm_type_of(collective_kind: str) -> int:
    """Return the value of attribute comm_type for a collective kind; KeyError for send and recv.

    reduce_scatter becomes REDUCE_SCATTER: the simulators know no REDUCE_SCATTER_BLOCK.
    """
    return _COMM_TYPE_BY_KIND[collective_kind]
