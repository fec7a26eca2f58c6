"""What a node of an execution trace says about a communication, whatever the schema that wrote it.

In:  name, inputs, outputs and attributes of one node. Out: `comm_args`: a dict of what was recorded, with
the keys below; an absent key means that the node does not say.
    op_name          the collective's name as recorded (allreduce, _allgather_base), else the node's
    dtype            element type as recorded
    in_msg_nelems    elements in and out; in_bytes: bytes of the input tensors
    in_split         split sizes, and out_split
    pg_name          process group, with pg_desc, pg_size
    pg_handle        the process group as a pointer: one a group within a process, none that compares beyond
    rank_field       rank in the group; where the call has a root or a peer, that instead
    root_rank        root as its place in the group
    global_rank_start, global_rank_stride    global rank = start + stride * rank in the group; -1 = irregular
    seq              sequence number of the group, is_p2p whether it counts sends and recvs
    peer, tag        the other side of a send or recv, as its place in the group
    is_wait          a wait for a collective, which is none itself
record_param_comms: [tensors,] seq, group, rank, name, in_split, out_split[, start, stride][, size];
a wait has no tensors; the group is a pointer up to 1.0.2, later [name, description]; seq is a number or
[number, is_p2p]. Since 1.1.0 attributes say the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from graphstore.model.collectives import P2P_KINDS, collective_kind
from graphstore.model.markers import GROUP_INIT

RECORD_NAME = "record_param_comms"
COMM_NAME = re.compile(rf"c10d::|(?:gloo|mpi|[a-z]*ccl|ucc):|{RECORD_NAME}$|{re.escape(GROUP_INIT)}$")
TENSOR_TYPE = re.compile(r"Tensor\(([^()]*)\)")
TENSOR_PARTS = 6  # [tensor id, storage id, offset, numel, itemsize, device]

ROOTED = ("broadcast", "reduce", "gather", "scatter")
OUTPUT_FIRST = ("all_gather", "reduce_scatter", "all_to_all", "gather", "scatter")
# c10d:: ops: where the root, the peer and the tag stand among the inputs. The order of these arguments
# has not changed since the ops exist; newer ones are added behind.
ROOT_PLACE = {"broadcast": 2, "reduce": 3, "gather": 3, "scatter": 3}
PEER_PLACE, TAG_PLACE = 2, 3
SPLIT_PLACES = {"out_split": 3, "in_split": 4}  # of c10d::alltoall_base_

ATTRIBUTES = {
    "collective_name": "op_name",
    "dtype": "dtype",
    "in_msg_nelems": "in_msg_nelems",
    "out_msg_nelems": "out_msg_nelems",
    "in_split_size": "in_split",
    "out_split_size": "out_split",
    "pg_name": "pg_name",
    "pg_desc": "pg_desc",
    "pg_size": "pg_size",
    "global_rank_start": "global_rank_start",
    "global_rank_stride": "global_rank_stride",
}


def comm_args(
    name: str,
    inputs: list[Any],
    input_types: list[Any],
    outputs: list[Any],
    attributes: dict[str, Any],
) -> dict[str, Any]:
    """Return what the communication node called `name` records; its keys are explained above."""
    if name == GROUP_INIT:
        return {"op_name": "process_group:init"}
    if name == RECORD_NAME:
        found = _recorded(inputs)
        first, produced = (inputs[:1], outputs) if found.pop("has_tensors", False) else ([], [])
    else:
        found = {"op_name": name}
        first, produced = _tensors_of_op(name, inputs)
    found |= _elements(first, produced)
    dtype = TENSOR_TYPE.search(" ".join(kind for kind in input_types if isinstance(kind, str)))
    if first and dtype:
        found["dtype"] = dtype.group(1)
    if name.startswith("c10d::"):
        found |= _arguments_of_op(name, inputs)
    found |= _attributes(attributes)
    return found | _roles(found)


def global_rank(args: dict[str, Any]) -> int | None:
    """Return the global rank of the process that recorded a record_param_comms, None where it cannot be told.

    A wait names no group, and where a call has a root or a peer, that stands in the place of the rank.
    """
    kind = collective_kind(args.get("op_name", ""))
    start, stride = args.get("global_rank_start"), args.get("global_rank_stride")
    rank = args.get("rank_field")
    if kind is None or kind in ROOTED or kind in P2P_KINDS or rank is None or start is None or stride is None:
        return None
    if start < 0 or (stride < 1 and rank > 0):
        return None
    return int(start + stride * rank)


def _recorded(values: list[Any]) -> dict[str, Any]:
    """Return the arguments of a record_param_comms, found from the place of the collective's name."""
    at = next((n for n, value in enumerate(values) if n > 1 and isinstance(value, str)), None)
    if at is None or at < 3:
        return {}
    found: dict[str, Any] = {"op_name": values[at], "has_tensors": at > 3}
    _put_int(found, "rank_field", values[at - 1])
    group, seq, rest = values[at - 2], values[at - 3], values[at + 1 :]
    if isinstance(group, list) and len(group) == 2:
        found["pg_name"], found["pg_desc"] = group
    elif group:  # 0 in a wait
        _put_int(found, "pg_handle", group)
    if isinstance(seq, list) and len(seq) == 2:
        found["is_p2p"] = bool(seq[1])
        seq = seq[0]
    _put_int(found, "seq", seq)
    splits = zip(("in_split", "out_split"), rest, strict=False)
    found |= {key: value for key, value in splits if isinstance(value, list)}
    numbers = rest[2:]
    keys = ("global_rank_start", "global_rank_stride", "pg_size") if len(numbers) > 1 else ("pg_size",)
    for key, value in zip(keys, numbers, strict=False):
        _put_int(found, key, value)
    return found


def _tensors_of_op(name: str, inputs: list[Any]) -> tuple[list[Any], list[Any]]:
    """Return the inputs and outputs among the arguments of a c10d::, gloo: or nccl: op."""
    if not name.startswith("c10d::"):
        return inputs, []  # gloo:X and nccl:X list their input tensors and nothing else
    if collective_kind(name) in OUTPUT_FIRST:
        return inputs[1:2], inputs[:1]
    return inputs[:1], inputs[:1]


def _arguments_of_op(name: str, inputs: list[Any]) -> dict[str, Any]:
    kind = collective_kind(name)
    found: dict[str, Any] = {}
    if kind in ROOT_PLACE:
        _put_int(found, "root_rank", _at(inputs, ROOT_PLACE[kind]))
    if kind in P2P_KINDS:
        any_source = "any_source" in name
        _put_int(found, "tag", _at(inputs, PEER_PLACE if any_source else TAG_PLACE))
        if not any_source:
            _put_int(found, "peer", _at(inputs, PEER_PLACE))
    if kind == "all_to_all":
        places = {key: _at(inputs, place) for key, place in SPLIT_PLACES.items()}
        found |= {key: value for key, value in places.items() if isinstance(value, list)}
    return found


def _elements(first: list[Any], produced: list[Any]) -> dict[str, Any]:
    """Return elements and bytes of the tensors going in, and elements of those coming out."""
    found: dict[str, Any] = {}
    tensors = list(_tensors(first))
    if tensors:
        found["in_msg_nelems"] = sum(tensor[3] for tensor in tensors)
        found["in_bytes"] = sum(tensor[3] * tensor[4] for tensor in tensors)
    made = [tensor[3] for tensor in _tensors(produced)]
    if made:
        found["out_msg_nelems"] = sum(made)
    return found


def _attributes(attributes: dict[str, Any]) -> dict[str, Any]:
    """Return what the attributes of 1.1.0 and later say; split sizes are text there."""
    found = {key: attributes[name] for name, key in ATTRIBUTES.items() if name in attributes}
    for key in ("in_split", "out_split"):
        if isinstance(text := found.get(key), str):
            found[key] = [int(number) for number in re.findall(r"-?\d+", text)]
    return found


def _roles(found: dict[str, Any]) -> dict[str, Any]:
    """Return what the rank field of a record_param_comms means: a root, the peer, or just the rank."""
    kind = collective_kind(found["op_name"]) if "op_name" in found else None
    roles: dict[str, Any] = {"is_wait": True} if found.get("op_name") == "wait" else {}
    rank = found.get("rank_field")
    if kind in ROOTED and rank is not None:
        roles["root_rank"] = rank
    if kind in P2P_KINDS:
        roles["is_p2p"] = True
        if "peer" not in found and rank is not None:
            roles["peer"] = rank
    return roles


def _tensors(value: Any) -> Iterator[list[Any]]:
    """Yield the tensors in lists of lists."""
    if not isinstance(value, list):
        return
    if len(value) == TENSOR_PARTS and isinstance(value[-1], str) and isinstance(value[3], int):
        yield value
        return
    for item in value:
        yield from _tensors(item)


def _at(values: list[Any], place: int) -> Any:
    return values[place] if place < len(values) else None


def _put_int(found: dict[str, Any], key: str, value: Any) -> None:
    if isinstance(value, int) and not isinstance(value, bool):
        found[key] = value
