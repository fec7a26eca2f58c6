"""What a Kineto event says about a communication, in the words that execution traces use, too.

In:  the arguments of record_param_comms, of an NCCL kernel, or of a c10d op. Out: comm_args as JSON text.
The names of the arguments: trace-formats facts, §2. What the call is, and on which group: link/.
"""

from __future__ import annotations

from typing import Any

import msgspec
import orjson

from graphstore.model.collectives import P2P_KINDS, collective_kind
from graphstore.readers.kineto_event import Args

COMMUNICATION = ("c10d::", "gloo:", "nccl:", "record_param_comms")  # how host ops that get comm_args begin
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


def comm_args_of(args: Args) -> dict[str, Any]:
    """Return the communication arguments of record_param_comms or an NCCL kernel; {} where it has none.

    Lists that Kineto shortened ('[0, 1, ..., 63]') are left out: what they hold is not whole.
    """
    found = {name: value for name in COPIED if (value := getattr(args, name)) is not None}
    found |= {name: value for name in LISTS if (value := _ints(getattr(args, name))) is not None}
    if "op_name" in found:
        found["is_wait"] = found["op_name"] == "wait"
        found["is_p2p"] = collective_kind(str(found["op_name"])) in P2P_KINDS
    return found


def comm_args_text(name: str, args: Args) -> str | None:
    """Return comm_args of a host op called `name` as JSON text; None where there is nothing to say.

    `c10d::X`, `gloo:X` and `nccl:X` are called after their operation, so the name is their op_name;
    record_param_comms tells it in its arguments or (2023) not at all.
    """
    found = comm_args_of(args)
    if "op_name" not in found and name != "record_param_comms":
        found |= {"op_name": name} | _peer(name, args)
    return orjson.dumps(found).decode() if found else None


def _peer(name: str, args: Args) -> dict[str, int]:
    """Return peer and tag of `c10d::send` and `c10d::recv_`: their third and fourth input."""
    kind = collective_kind(name)
    if not name.startswith("c10d::") or kind not in P2P_KINDS:
        return {}
    values = _list(bytes(args.input_values))
    at = {"peer": 2, "tag": 3} if "any_source" not in name else {"tag": 2}
    numbers = {key: _int(values[n]) for key, n in at.items() if n < len(values)}
    return {key: number for key, number in numbers.items() if number is not None}


def _ints(value: Any) -> list[int] | None:
    """Return a list of ints that is given as a list or as its text; None for anything else."""
    items = value if isinstance(value, list) else _list(value) if isinstance(value, str) and value else None
    if items is None or not all(isinstance(item, int) for item in items):
        return None
    return items


def _list(text: str | bytes) -> list[Any]:
    try:
        return msgspec.json.decode(text, type=list[Any])
    except msgspec.MsgspecError:
        return [None]  # no list, or a shortened one


def _int(value: Any) -> int | None:
    try:
        return int(value)
    except (TypeError, ValueError):
        return None
