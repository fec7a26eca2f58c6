"""The nodes of one rank's Chakra file as columns, with what is wrong about single nodes.

In:  nodes one by one. Out: `RankColumns`: the Validator of exports (ids, deps), types, and a table of the
communications; no message is kept. Decided here: which attributes the simulator reads, and as what types
(one known feeder reads fixed wire types, the other turns any integer into any other).
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

from graphstore.chakra.et_def_pb2 import AttributeProto, CollectiveCommType, Node, NodeType
from graphstore.export.validate import Validator

NONE = -(2**63)  # an integer attribute that is absent or cannot be read
ALL_GATHER_LEAST = 4  # bytes: the usual number of chunks, see RULES
ALL_GATHER_SAFE = 64
COLL, SEND, RECV = NodeType.COMM_COLL_NODE, NodeType.COMM_SEND_NODE, NodeType.COMM_RECV_NODE
MEMORY = (NodeType.MEM_LOAD_NODE, NodeType.MEM_STORE_NODE)
SUPPORTED = (
    CollectiveCommType.ALL_REDUCE,
    CollectiveCommType.ALL_GATHER,
    CollectiveCommType.REDUCE_SCATTER,
    CollectiveCommType.ALL_TO_ALL,
    CollectiveCommType.BROADCAST,
)
INTEGERS = frozenset(
    f"{name}_val"
    for name in (
        *("int32", "int64", "uint32", "uint64", "sint32", "sint64"),
        *("fixed32", "fixed64", "sfixed32", "sfixed64"),
    )
)
# Attribute → the wire type both readers take.
WIRE_TYPES = {
    "is_cpu_op": "bool_val",
    "comm_type": "int64_val",
    "comm_size": "int64_val",
    "pg_name": "string_val",
    "comm_dst": "int32_val",
    "comm_src": "int32_val",
    "comm_tag": "int32_val",
    "num_ops": "int64_val",
    "tensor_size": "uint64_val",
    "comm_priority": "int32_val",
    "involved_dim": "bool_list",
}
READ_BY_TYPE: dict[int, tuple[str, ...]] = {
    NodeType.COMP_NODE: ("is_cpu_op",),
    COLL: ("is_cpu_op", "comm_type", "comm_size", "pg_name", "comm_priority", "involved_dim"),
    SEND: ("is_cpu_op", "comm_dst", "comm_tag", "comm_size", "comm_src"),
    RECV: ("is_cpu_op", "comm_src", "comm_tag", "comm_size", "comm_dst"),
    **dict.fromkeys(MEMORY, ("is_cpu_op", "tensor_size")),
}
NEEDED_BY_TYPE: dict[int, tuple[str, ...]] = {
    COLL: ("comm_type", "comm_size"),
    SEND: ("comm_dst", "comm_tag", "comm_size"),
    RECV: ("comm_src", "comm_tag", "comm_size"),
}
Attributes = dict[str, AttributeProto]


def _integers() -> array[int]:
    return array("q")


@dataclass
class Communications:
    """The communications of a rank, a row each; NONE where an attribute is absent or no integer.

    `place` is the place of the node in the file, `peer` comm_dst of a send and comm_src of a recv, `own` the
    other end where it is written; `group` a place in `group_names`.
    """

    place: array[int] = field(default_factory=_integers)
    kind: array[int] = field(default_factory=_integers)
    comm_type: array[int] = field(default_factory=_integers)
    size: array[int] = field(default_factory=_integers)
    peer: array[int] = field(default_factory=_integers)
    own: array[int] = field(default_factory=_integers)
    tag: array[int] = field(default_factory=_integers)
    group: array[int] = field(default_factory=_integers)
    group_names: list[str] = field(default_factory=list)
    _group_places: dict[str, int] = field(default_factory=dict)

    def add(self, place: int, kind: int, attributes: Attributes) -> None:
        """Append a row."""
        peer, own = ("comm_dst", "comm_src") if kind == SEND else ("comm_src", "comm_dst")
        self.place.append(place)
        self.kind.append(kind)
        self.comm_type.append(integer(attributes, "comm_type"))
        self.size.append(integer(attributes, "comm_size"))
        self.peer.append(integer(attributes, peer))
        self.own.append(integer(attributes, own))
        self.tag.append(integer(attributes, "comm_tag"))
        name = attributes["pg_name"].string_val if kind == COLL and "pg_name" in attributes else ""
        if name not in self._group_places:
            self._group_places[name] = len(self.group_names)
            self.group_names.append(name)
        self.group.append(self._group_places[name])

    def group_of(self, row: int) -> str:
        """Return the name of the group of a row; "" means all ranks."""
        return self.group_names[self.group[row]]


@dataclass
class RankColumns:
    """All nodes of a file. `faults` are the ids of nodes that break a rule, by rule and what is wrong."""

    validator: Validator = field(default_factory=Validator)
    types: array[int] = field(default_factory=_integers)
    communications: Communications = field(default_factory=Communications)
    faults: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    uses_statistics: bool = False  # has CPU, INVALID or memory nodes: the final statistics throw on these
    roofline: dict[str, list[int]] = field(default_factory=dict)  # GPU COMP nodes: both, one, neither

    def __len__(self) -> int:
        """Return how many nodes there are."""
        return len(self.types)

    def look_at(self, node: Node) -> None:
        """Take in one node."""
        self.validator.look_at(node)
        place, kind = len(self.types), node.type
        self.types.append(kind)
        attributes: Attributes = {}
        for attribute in node.attr:
            if attribute.name in WIRE_TYPES:
                attributes.setdefault(attribute.name, attribute)  # the first of a name is read
        self._check_types(node, attributes)
        on_cpu = "is_cpu_op" in attributes and attributes["is_cpu_op"].bool_val
        if kind == NodeType.COMP_NODE:
            self.uses_statistics |= on_cpu
            if not on_cpu:
                held = ("num_ops" in attributes) + ("tensor_size" in attributes)
                self.roofline.setdefault(("neither", "one", "both")[held], []).append(node.id)
            return
        if kind in NEEDED_BY_TYPE:
            self.communications.add(place, kind, attributes)
            self._check_communication(node, attributes, on_cpu)
            return
        self._check_other(node, attributes)

    def _check_types(self, node: Node, attributes: Attributes) -> None:
        """Note attributes the simulator reads on this type of node whose wire type is not the one wanted."""
        for name in READ_BY_TYPE.get(node.type, ()):
            attribute = attributes.get(name)
            if attribute is None:
                continue
            held, wanted = attribute.WhichOneof("value"), WIRE_TYPES[name]
            if held == wanted:
                continue
            both = held in INTEGERS and wanted in INTEGERS
            rule = "attribute_wire_type" if both else "attribute_unreadable"
            told = f"{name} as {(held or 'nothing').removesuffix('_val')}, not {wanted.removesuffix('_val')}"
            self._note(rule, told, node)

    def _check_communication(self, node: Node, attributes: Attributes, on_cpu: bool) -> None:
        """Note what a communication lacks, and a size its type does not take."""
        if on_cpu:
            self._note("communication_on_cpu", "", node)
        for name in NEEDED_BY_TYPE[node.type]:
            if name not in attributes:
                self._note("attribute_absent", f"{NodeType.Name(node.type)}s have no {name}", node)
        size = integer(attributes, "comm_size")
        if node.type != COLL:
            if NONE < size <= 0:
                self._note("transfer_of_nothing", "", node)
            return
        comm_type = integer(attributes, "comm_type")
        if comm_type not in (NONE, *SUPPORTED):
            self._note("unsupported_collective", comm_type_name(comm_type), node)
        elif comm_type == CollectiveCommType.BROADCAST:
            if not node.duration_micros:
                self._note("broadcast_without_duration", "", node)
        elif comm_type != NONE and size != NONE:
            self._check_size(node, comm_type, size)
        dimensions = attributes.get("involved_dim")
        if (
            dimensions is not None
            and dimensions.HasField("bool_list")
            and not any(dimensions.bool_list.values)
        ):
            self._note("no_dimension", "", node)

    def _check_size(self, node: Node, comm_type: int, size: int) -> None:
        """Note a size that a simulated collective does not take as it is."""
        if comm_type == CollectiveCommType.ALL_GATHER and size < ALL_GATHER_SAFE:
            never = size < ALL_GATHER_LEAST
            self._note("all_gather_never_ends" if never else "all_gather_small", "", node)
        elif size <= 0:
            self._note("collective_of_nothing", "", node)

    def _check_other(self, node: Node, attributes: Attributes) -> None:
        """Note nodes that are neither computation nor communication."""
        if node.type == NodeType.METADATA_NODE:
            self._note("metadata_node", "", node)
            return
        self.uses_statistics = True
        if node.type not in MEMORY:
            self._note("no_type", "", node)
            return
        self._note("memory_node", "", node)
        if "tensor_size" not in attributes:
            self._note("memory_without_size", "", node)

    def _note(self, rule: str, told: str, node: Node) -> None:
        self.faults.setdefault((rule, told), []).append(node.id)


def integer(attributes: Attributes, name: str) -> int:
    """Return an attribute that holds an integer of any type; NONE otherwise."""
    attribute = attributes.get(name)
    held = None if attribute is None else attribute.WhichOneof("value")
    if held not in INTEGERS:
        return NONE
    value = int(getattr(attribute, held))
    return value if value < 2**63 else value - 2**64  # as a cast to int64 makes of it


def comm_type_name(comm_type: int) -> str:
    """Return the name of a collective's type; its number where the schema has none."""
    return (
        str(CollectiveCommType.Name(comm_type))
        if comm_type in CollectiveCommType.values()
        else str(comm_type)
    )
