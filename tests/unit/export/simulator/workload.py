"""Small workloads for the tests of the simulator's rules: nodes in a line each, files in a folder."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from graphstore import settings
from graphstore.chakra import GlobalMetadata, framed
from graphstore.chakra.et_def_pb2 import CollectiveCommType, Node, NodeType
from graphstore.export.simulator import check_for_simulator
from graphstore.queries.findings import Finding

Ranks = Mapping[int, Sequence[Node]]


def node(node_id: int, data: Sequence[int] = (), ctrl: Sequence[int] = (), **attributes: Any) -> Node:
    """Return a GPU COMP node; attributes as name=(field, value); `kind` is its type, `us` its duration."""
    kind, us = attributes.pop("kind", NodeType.COMP_NODE), attributes.pop("us", 1)
    made = Node(id=node_id, name="n", type=kind, ctrl_deps=ctrl, data_deps=data, duration_micros=us)
    for name, given in attributes.items():
        if given is not None:
            _add(made, name, *given)
    return made


def _add(made: Node, name: str, field: str, value: Any) -> None:
    attribute = made.attr.add(name=name)
    if field.endswith("_list"):
        getattr(attribute, field).values.extend(value)
        getattr(attribute, field).SetInParent()
    else:
        setattr(attribute, f"{field}_val", value)


def cpu(node_id: int, data: Sequence[int] = (), ctrl: Sequence[int] = ()) -> Node:
    """Return a CPU COMP node."""
    return node(node_id, data, ctrl, is_cpu_op=("bool", True))


def coll(node_id: int, data: Sequence[int] = (), group: str = "", size: int = 64, **given: Any) -> Node:
    """Return an ALL_REDUCE; `type` is another comm_type; attributes replace its own, None leaves out."""
    own: dict[str, Any] = {
        "comm_type": ("int64", CollectiveCommType.Value(given.pop("type", "ALL_REDUCE"))),
        "comm_size": ("int64", size),
        "pg_name": ("string", group) if group else None,
    }
    return node(node_id, data, kind=NodeType.COMM_COLL_NODE, **(own | given))


def send(
    node_id: int, dst: int, data: Sequence[int] = (), tag: int = 0, size: int = 64, **given: Any
) -> Node:
    """Return a send."""
    own = {"comm_dst": ("int32", dst), "comm_tag": ("int32", tag), "comm_size": ("int64", size)}
    return node(node_id, data, kind=NodeType.COMM_SEND_NODE, **(own | given))


def recv(
    node_id: int, src: int, data: Sequence[int] = (), tag: int = 0, size: int = 64, **given: Any
) -> Node:
    """Return a recv."""
    own = {"comm_src": ("int32", src), "comm_tag": ("int32", tag), "comm_size": ("int64", size)}
    return node(node_id, data, kind=NodeType.COMM_RECV_NODE, **(own | given))


def write(folder: Path, ranks: Ranks, groups: Any = None) -> list[Path]:
    """Write w.N.et for each rank, and comm_groups.json when there are groups; return the .et paths."""
    paths = []
    for rank, nodes in ranks.items():
        paths.append(folder / f"w.{rank}.et")
        with paths[-1].open("wb") as stream:
            stream.writelines(map(framed, [GlobalMetadata(version="0.0.4"), *nodes]))
    if groups is not None:
        (folder / "comm_groups.json").write_text(json.dumps(groups))
    return paths


def check(paths: Sequence[Path]) -> list[Finding]:
    """Return the findings on files."""
    return check_for_simulator(paths, settings.load())


def found(folder: Path, ranks: Ranks, groups: Any = None) -> dict[str, Finding]:
    """Return the first finding of each rule on a workload."""
    out: dict[str, Finding] = {}
    for finding in check(write(folder, ranks, groups)):
        out.setdefault(finding.rule, finding)
    return out


def rules(folder: Path, ranks: Ranks, groups: Any = None) -> set[str]:
    """Return the rules that a workload breaks."""
    return set(found(folder, ranks, groups))


def beside(*nodes: Node) -> Ranks:
    """Return a workload whose rank 0 has these nodes, and rank 1 one computation."""
    return {0: nodes, 1: [node(1)]}
