"""Is a list of Chakra nodes one that the known readers take? Asked before a file is renamed into place.

In:  the nodes as messages, and the communicator groups if known. Out: problems, one per rule, with ids.
Decided here: what a valid file is (trace-formats §4, simulator-requirements): ids unique, every dep present
and named once, no cycle, and every communication with what its type needs, of the right wire type. An error
keeps an export from being written; a warning names what only some readers refuse. Pure: no files, no store.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from graphstore.chakra.et_def_pb2 import AttributeProto, Node, NodeType
from graphstore.chakra.wire import Block
from graphstore.queries.components import Cycle, Edges, cycles, self_edges

IDS_SHOWN = 5
_INTEGERS = ("int32_val", "int64_val")
# What a communication needs: attribute → wire types (send and recv: as upstream's writers do).
NEEDED: dict[int, dict[str, tuple[str, ...]]] = {
    NodeType.COMM_COLL_NODE: {"comm_type": ("int64_val",), "comm_size": ("int64_val",)},
    NodeType.COMM_SEND_NODE: {"comm_dst": _INTEGERS, "comm_tag": _INTEGERS, "comm_size": ("int64_val",)},
    NodeType.COMM_RECV_NODE: {"comm_src": _INTEGERS, "comm_tag": _INTEGERS, "comm_size": ("int64_val",)},
}
COMPUTATION = int(NodeType.COMP_NODE)  # asking the enum takes as long as the rest of a look
Ids = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Problem:
    """What is wrong: `message` is one line with the first ids; `nodes` are all ids concerned."""

    rule: str
    severity: Literal["error", "warning"]
    message: str
    nodes: tuple[int, ...]


@dataclass
class Deps:
    """One dep field of all nodes: how many each node has, and which."""

    sizes: array[int] = field(default_factory=lambda: array("Q"))
    ids: array[int] = field(default_factory=lambda: array("Q"))

    def pairs(self, nodes: Ids) -> tuple[Ids, Ids]:
        """Return for each dep the id of the node that has it, and the id it names."""
        sizes = np.frombuffer(self.sizes, np.uint64).astype(np.int64)
        return np.repeat(nodes, sizes), np.frombuffer(self.ids, np.uint64)

    def owners(self) -> npt.NDArray[np.int64]:
        """Return for each dep the place of the node that has it."""
        sizes = np.frombuffer(self.sizes, np.uint64).astype(np.int64)
        return np.repeat(np.arange(len(sizes)), sizes)


@dataclass
class Validator:
    """Looks at nodes one by one while they are written; holds their ids and deps as columns, no messages.

    `groups` are the names in the communicator-group file; without it, names of groups are not looked at.
    """

    groups: Collection[str] | None = None
    types: Counter[int] = field(default_factory=Counter)  # nodes of each type
    ids: array[int] = field(default_factory=lambda: array("Q"))
    ctrl: Deps = field(default_factory=Deps)
    data: Deps = field(default_factory=Deps)
    untyped: list[int] = field(default_factory=list)
    lacking: dict[tuple[str, str], list[int]] = field(default_factory=dict)  # (type, attribute)
    on_cpu: list[int] = field(default_factory=list)
    unknown_groups: dict[str, list[int]] = field(default_factory=dict)

    def look_at(self, node: Node) -> None:
        """Take in one node."""
        ctrl, data = node.ctrl_deps[:], node.data_deps[:]
        self.ids.append(node.id)
        self.ctrl.sizes.append(len(ctrl))
        self.ctrl.ids.fromlist(ctrl)
        self.data.sizes.append(len(data))
        self.data.ids.fromlist(data)
        self.types[node.type] += 1
        if node.type != COMPUTATION:
            self._look_at_attributes(node)

    def take_graph(self, ids: Ids, ctrl: tuple[Ids, Ids], data: tuple[Ids, Ids]) -> None:
        """Take in ids and deps of many nodes at once; deps as how many each node has, and which."""
        self.ids.frombytes(ids.tobytes())
        for deps, (sizes, named) in ((self.ctrl, ctrl), (self.data, data)):
            deps.sizes.frombytes(sizes.tobytes())
            deps.ids.frombytes(named.tobytes())

    def look_at_block(self, types: npt.NDArray[np.int64], block: Block) -> None:
        """Take in what the nodes of a block are, whose ids and deps were taken in as columns."""
        self.types.update(types.tolist())
        for row in np.flatnonzero(types != COMPUTATION).tolist():
            self._look_at_attributes(Node.FromString(block.message(row)))

    def _look_at_attributes(self, node: Node) -> None:
        """Note what a node lacks that is no computation."""
        if node.type == NodeType.INVALID_NODE:
            self.untyped.append(node.id)
        needed = NEEDED.get(node.type)
        if needed is None:
            return
        attributes: dict[str, AttributeProto] = {}
        for attribute in node.attr:
            attributes.setdefault(attribute.name, attribute)  # readers take the first of a name
        for name, fields in needed.items():
            if name not in attributes or attributes[name].WhichOneof("value") not in fields:
                self.lacking.setdefault((NodeType.Name(node.type), name), []).append(node.id)
        if "is_cpu_op" in attributes and attributes["is_cpu_op"].bool_val:
            self.on_cpu.append(node.id)
        group = attributes["pg_name"].string_val if "pg_name" in attributes else ""
        if group and self.groups is not None and group not in self.groups:
            self.unknown_groups.setdefault(group, []).append(node.id)

    def type_names(self) -> Counter[str]:
        """Return how many nodes of each type were taken in, by the name of the type."""
        return Counter({NodeType.Name(kind): count for kind, count in self.types.items()})

    def problems(self) -> list[Problem]:
        """Return what is wrong with the nodes taken in, errors first; nothing when readers take them."""
        found = [*_graph_problems(self), *_node_problems(self)]
        return sorted(found, key=lambda problem: problem.severity)


def validate_nodes(nodes: Iterable[Node], groups: Collection[str] | None = None) -> list[Problem]:
    """Return what is wrong with a file of these nodes, errors first; see Validator."""
    validator = Validator(groups)
    for node in nodes:
        validator.look_at(node)
    return validator.problems()


def _graph_problems(table: Validator) -> Iterable[Problem]:
    """Yield what is wrong with ids and deps."""
    ids = np.frombuffer(table.ids, np.uint64)
    known, counts = np.unique(ids, return_counts=True)
    if len(known) < len(ids):
        yield _problem("duplicate_id", known[counts > 1], "ids are used by more than one node")
    both = {"ctrl_deps": table.ctrl.pairs(ids), "data_deps": table.data.pairs(ids)}
    for name, (node, dep) in both.items():
        absent = ~np.isin(dep, known)
        if absent.any():
            text = f"{name} name {len(np.unique(dep[absent]))} ids that no node has"
            yield _problem("dangling_dep", np.unique(node[absent]), text)
        repeating = _repeating(node, dep)
        if len(repeating):
            yield _problem("repeated_dep", repeating, f"{name} name one id more than once")
    yield from cycles_over(both)


def _repeating(node: Ids, dep: Ids) -> Ids:
    """Return the nodes that name one dep more than once. Lists that ascend, as ours do, need no sort."""
    same_node = node[1:] == node[:-1]
    if np.all(dep[1:][same_node] > dep[:-1][same_node]):
        return node[:0]
    pairs, times = np.unique(np.stack([node, dep], axis=1), axis=0, return_counts=True)
    return np.unique(pairs[times > 1, 0])


def cycles_over(fields: dict[str, tuple[Ids, Ids]]) -> Iterable[Problem]:
    """Yield the cycles over dep fields (node, dep); without one over both, there is none over one of them."""
    if all(bool(np.all(dep < node)) for node, dep in fields.values()):
        return
    node = np.concatenate([pair[0] for pair in fields.values()])
    dep = np.concatenate([pair[1] for pair in fields.values()])
    ids, places = np.unique(np.concatenate([dep, node]), return_inverse=True)
    types = np.concatenate([np.full(len(pair[0]), name) for name, pair in fields.items()])
    edges = Edges(places[: len(dep)], places[len(dep) :], types)
    itself = self_edges(edges)
    if len(itself):
        yield _problem("self_dep", ids[itself], "nodes wait for themselves")
    found = cycles(edges)
    if found:
        yield _cycle_problem(found, ids)


def _cycle_problem(found: list[Cycle], ids: Ids) -> Problem:
    """Return the cycles as one problem; the first is shown in full."""
    shown = " → ".join(str(int(ids[place])) for place in (*found[0].nodes, found[0].nodes[0]))
    where = "data_deps alone" if set(found[0].types) == {"data_deps"} else "ctrl_deps and data_deps"
    nodes = tuple(int(ids[place]) for cycle in found for place in cycle.nodes)
    return Problem("cycle", "error", f"cycles: {len(found)}; the first, over {where}: {shown}", nodes)


def _node_problems(table: Validator) -> Iterable[Problem]:
    """Yield what single nodes lack."""
    if not len(table.ids):
        yield Problem("no_nodes", "warning", "the file has no node; some readers abort on it", ())
    if table.untyped:
        yield _problem("no_type", table.untyped, "nodes have no type")
    for (kind, attribute), nodes in sorted(table.lacking.items()):
        wanted = " or ".join(field.removesuffix("_val") for field in NEEDED[NodeType.Value(kind)][attribute])
        yield _problem("incomplete_communication", nodes, f"{kind}s lack {attribute} as {wanted}")
    if table.on_cpu:
        text = "communications are marked is_cpu_op: simulators refuse them"
        yield _problem("communication_on_cpu", table.on_cpu, text, "warning")
    for group, nodes in sorted(table.unknown_groups.items()):
        text = f"communications name group {group!r}, which the group file does not hold"
        yield _problem("unknown_group", nodes, text, "warning")


def _problem(
    rule: str, nodes: Iterable[int], text: str, severity: Literal["error", "warning"] = "error"
) -> Problem:
    """Return a problem whose message counts the nodes and names the first."""
    ids = tuple(int(node) for node in nodes)
    shown = ", ".join(map(str, ids[:IDS_SHOWN])) + (" …" if len(ids) > IDS_SHOWN else "")
    return Problem(rule, severity, f"{len(ids)} {text} ({shown})", ids)
