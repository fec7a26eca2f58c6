"""What a Kineto event says about a communication, in the words of communication.py (the ET's twin).

In:  name and arguments of a host op or an NCCL kernel. Out: comm_args, with the keys explained there, and
    pg_ranks   global ranks of the group, where Kineto did not shorten the list
    comms_id   hash of group, number and membership (2026)
src_rank and dst_rank are global ranks here; peer is a place in the group.
The names of the arguments: trace-formats facts, §2. What the call is, and on which group: link/.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import msgspec
import orjson

from graphstore.model.collectives import P2P_KINDS, collective_kind
from graphstore.readers.communication import (
    OUTPUT_FIRST,
    PEER_PLACE,
    RECORD_NAME,
    ROOT_PLACE,
    ROOTED,
    SPLIT_PLACES,
    TAG_PLACE,
)
from graphstore.readers.kineto_event import Args

COPIED = (
    "op_name",
    "dtype",
    "in_msg_nelems",
    "out_msg_nelems",
    "pg_name",
    "pg_desc",
    "pg_size",
    "rank_field",
    "src_rank",
    "dst_rank",
    "global_rank_start",
    "global_rank_stride",
    "seq",
    "comms_id",
)
LISTS = ("in_split", "out_split", "pg_ranks")
NO_DTYPE = (
    "",
    "TensorList",
    "GenericList",
    "Scalar",
    "ScalarList",
)  # what stands in place of an element type

decode_list: Callable[[bytes | str], list[Any]] = msgspec.json.Decoder(list[Any]).decode


def recorded_comm_args(args: Args) -> dict[str, Any]:
    """Return what the arguments of record_param_comms or an NCCL kernel say; {} where they say nothing.

    Lists that Kineto shortened ('[0, 1, ..., 63]') are left out: what they hold is not whole.
    """
    found = {name: value for name in COPIED if (value := getattr(args, name)) is not None}
    found |= {name: value for name in LISTS if (value := _ints(getattr(args, name))) is not None}
    if "op_name" not in found:
        return found
    kind, rank = collective_kind(str(found["op_name"])), found.get("rank_field")
    if found["op_name"] == "wait":
        found["is_wait"] = True
    if kind in ROOTED and rank is not None:
        found["root_rank"] = rank
    if kind in P2P_KINDS:
        found["is_p2p"] = True
        peer = _peer(rank, found.get("dst_rank" if kind == "send" else "src_rank"), found.get("pg_ranks"))
        found |= {} if peer is None else {"peer": peer}
    return found


def _peer(place: Any, global_rank: Any, pg_ranks: list[int] | None) -> Any:
    """Return the other side of a send or recv as its place in the group.

    That is what Rank says of such a call; Src Rank and Dst Rank are global (saveNcclMeta in torch's
    profiler util.cpp), so alone they need the members.
    """
    if place is not None:
        return place
    return pg_ranks.index(global_rank) if pg_ranks and global_rank in pg_ranks else None


def host_comm_args(name: str, args: Args) -> dict[str, Any]:
    """Return comm_args of a host op that is a communication.

    record_param_comms says it in its arguments (in 2023 not at all); `c10d::X`, `gloo:X` and `nccl:X` are
    called after what they do, and have shapes and values where the profiler recorded shapes.
    """
    found = recorded_comm_args(args)
    if name == RECORD_NAME or "op_name" in found:
        return found
    shapes, types, values = (
        _decoded(raw) for raw in (args.input_shapes, args.input_types, args.input_values)
    )
    found = {"op_name": name} | _elements(name, list(zip(shapes, types, strict=False)))
    if collective_kind(name) in P2P_KINDS:
        found["is_p2p"] = True
    if types and types[0] not in NO_DTYPE:
        found["dtype"] = types[0]
    return found | (_arguments(name, values) if name.startswith("c10d::") else {})


def _elements(name: str, inputs: list[tuple[Any, Any]]) -> dict[str, int]:
    """Return elements in and out, from shape and type of the op's arguments.

    The shape of a list of lists of tensors is not recorded: its type is then "", and its elements unknown.
    """
    counts = [_numel(shape) if kind else None for shape, kind in inputs]
    if not name.startswith("c10d::"):
        return {"in_msg_nelems": sum(count or 0 for count in counts)} if counts else {}
    at = {"in_msg_nelems": 0, "out_msg_nelems": 0}
    if collective_kind(name) in OUTPUT_FIRST:
        at["in_msg_nelems"] = 1
    known = {key: counts[place] for key, place in at.items() if place < len(counts)}
    return {key: count for key, count in known.items() if count is not None}


def _numel(shape: Any) -> int:
    """Return the elements of a tensor of this shape, or of all tensors of a list of shapes."""
    if not isinstance(shape, list):
        return 0
    if all(isinstance(size, int) for size in shape):
        return math.prod(shape)
    return sum(map(_numel, shape))


def _arguments(name: str, values: list[Any]) -> dict[str, Any]:
    """Return root, peer, tag and splits as a c10d op was given them."""
    kind = collective_kind(name)
    places: dict[str, int] = {}
    if kind in ROOT_PLACE:
        places = {"root_rank": ROOT_PLACE[kind]}
    if kind in P2P_KINDS:
        any_source = "any_source" in name
        places = {"tag": PEER_PLACE} if any_source else {"peer": PEER_PLACE, "tag": TAG_PLACE}
    if kind == "all_to_all":
        splits = {key: _ints(values[place]) for key, place in SPLIT_PLACES.items() if place < len(values)}
        return {key: split for key, split in splits.items() if split is not None}
    given = {key: values[place] for key, place in places.items() if place < len(values)}
    return {key: int(text) for key, text in given.items() if _is_int(text)}


def _ints(value: Any) -> list[int] | None:
    """Return a list of ints that is written as a list or as its text; None for anything else."""
    if isinstance(value, str):
        try:
            value = decode_list(value)
        except msgspec.MsgspecError:
            return None  # a shortened list
    if not isinstance(value, list) or not all(isinstance(item, int) for item in value):
        return None
    return value


def _decoded(recorded: msgspec.Raw) -> list[Any]:
    """Return the list that was recorded; [] where there is none."""
    text = bytes(recorded)
    try:
        return decode_list(text) if text else []
    except msgspec.MsgspecError:
        return []


def _is_int(text: Any) -> bool:
    return isinstance(text, str) and text.lstrip("-").isdecimal()


def as_text(comm_args: dict[str, Any]) -> str | None:
    """Return comm_args as the column holds them: JSON text, or None where they say nothing.

    A number of more than 64 bits is damage, and says nothing either.
    """
    if not comm_args:
        return None
    try:
        return orjson.dumps(comm_args).decode()
    except TypeError:
        return orjson.dumps({key: value for key, value in comm_args.items() if _fits(value)}).decode()


def _fits(value: Any) -> bool:
    numbers = value if isinstance(value, list) else [value]
    return all(not isinstance(number, int) or number.bit_length() < 64 for number in numbers)
