"""Which node of a rank is a communication, and with which attributes.

In:  the calls of one rank, the ops they were seen as, the groups of the run. Out: a `Communication` per node.
Decided here: exactly one node a call (decision 9): its first kernel, else the backend worker's op, else the
host op; what stands in its attributes; and what is written where the files do not hold something (decision
20): no group then; a size of 0; no communication node at all where not even the kind or the peer is known.
All of it is counted, for the manifest.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from graphstore.chakra import comm_type_of
from graphstore.chakra.et_def_pb2 import NodeType
from graphstore.export.columns import RankColumns
from graphstore.export.comm_groups import Groups
from graphstore.export.order import NONE, Ints

Attribute = tuple[str, str, Any]  # name, field of AttributeProto, value
P2P: dict[str, tuple[NodeType, str]] = {
    "send": (NodeType.COMM_SEND_NODE, "comm_dst"),
    "recv": (NodeType.COMM_RECV_NODE, "comm_src"),
}


NO_OP = "call without an op of its own"
ONLY_RECORDED = "call of a Flight Recorder dump that no trace shows"
UNKNOWN_KIND = "call of unknown kind, written as COMP"
UNKNOWN_PEER = "send or recv of unknown peer, written as COMP"
NOT_WRITTEN = (NO_OP, ONLY_RECORDED, UNKNOWN_KIND, UNKNOWN_PEER)  # calls that become no communication node


@dataclass(frozen=True)
class Communication:
    """A node that is a communication: its type and its attributes, and of what these were made.

    `group` is a group key ('' unknown); `size_bytes`, `seq_id`, `peer` (global rank) and `tag` NONE or 0
    where the files do not say.
    """

    node_type: NodeType
    attributes: tuple[Attribute, ...]
    kind: str = ""
    group: str = ""
    size_bytes: int = 0
    seq_id: int = NONE
    peer: int = NONE
    tag: int = 0


@dataclass
class Communications:
    """The communication nodes of a rank by place, and what could not be written as recorded, by reason."""

    by_place: dict[int, Communication] = field(default_factory=dict)
    notes: Counter[str] = field(default_factory=Counter)


def communications(columns: RankColumns, groups: Groups) -> Communications:
    """Return the communication nodes of a rank. Places: host ops by uid, then device ops by uid."""
    out = Communications()
    candidates = _candidates(columns)
    for call in columns.calls.to_dicts():
        places = [place for place in candidates.get(call["uid"], []) if place not in out.by_place]
        if not places:
            out.notes[ONLY_RECORDED if call["source"] == "flight_recorder" else NO_OP] += 1
            continue
        node = _communication(call, groups, out.notes)
        if node is not None:
            out.by_place[places[0]] = node
            out.notes["further kernel of a call, written as COMP"] += _further_kernels(columns, places)
    out.notes = +out.notes
    return out


def _further_kernels(columns: RankColumns, places: list[int]) -> int:
    return max(sum(place >= columns.host.height for place in places) - 1, 0)


def _candidates(columns: RankColumns) -> dict[int, list[int]]:
    """Return for each call the places that can be its node, best first: kernels by start, worker, host op."""
    host, kernel = columns.host["uid"].to_numpy(), columns.kernels["uid"].to_numpy()
    begin = pl.concat([columns.host["start_ns"], columns.kernels["start_ns"]])
    rank = {"kernel": 0, "worker": 1, "host_op": 2}
    seen = columns.call_ops.with_columns(
        best=pl.col("role").replace_strict(rank, default=len(rank), return_dtype=pl.Int64),
        place=pl.Series(_places(columns.call_ops["op_uid"].to_numpy(), host, kernel), dtype=pl.Int64),
    ).filter(pl.col("place") != NONE)
    seen = seen.with_columns(begin=begin[seen["place"]]).sort("call_uid", "best", "begin", "place")
    out: dict[int, list[int]] = defaultdict(list)
    for call, place in seen.select("call_uid", "place").iter_rows():
        out[call].append(place)
    return out


def _places(uid: Ints, host: Ints, kernel: Ints) -> Ints:
    on_host, on_device = np.isin(uid, host), np.isin(uid, kernel)
    place = np.where(on_host, np.searchsorted(host, uid), len(host) + np.searchsorted(kernel, uid))
    return np.where(on_host | on_device, place, NONE)


def _communication(call: dict[str, Any], groups: Groups, notes: Counter[str]) -> Communication | None:
    """Return the node of a call; None (counted) when its kind or its peer is not known."""
    kind = call["collective_kind"]
    if kind in P2P:
        return _point_to_point(call, groups, notes)
    try:
        comm_type = comm_type_of(kind)
    except KeyError:
        notes[UNKNOWN_KIND] += 1
        return None
    attributes = [("comm_type", "int64_val", comm_type), _size(call, notes), *_group(call, groups, notes)]
    root = call["root_rank"]
    if root != NONE:
        known = groups.global_rank(call["group"], root)
        attributes.append(
            ("root", "int32_val", known) if known is not None else ("root_in_group", "int32_val", root)
        )
    return Communication(
        NodeType.COMM_COLL_NODE,
        (*attributes, *_recorded(call)),
        kind=kind,
        group=call["group"],
        size_bytes=attributes[1][2],
        seq_id=call["collective_seq_id"],
    )


def _point_to_point(call: dict[str, Any], groups: Groups, notes: Counter[str]) -> Communication | None:
    """Return the node of a send or recv. Its peer is a global rank where that is proven, else as recorded."""
    node_type, attribute = P2P[call["collective_kind"]]
    if call["peer"] == NONE:
        notes[UNKNOWN_PEER] += 1
        return None
    peer = groups.global_rank(call["group"], call["peer"])
    if call["peer_rank"] != NONE:
        peer = call["peer_rank"]
    if peer is None:
        notes["peer as recorded: its place in a group the files do not name"] += 1
        peer = call["peer"]
    if call["tag"] == NONE:
        notes["send or recv without a tag, written with tag 0"] += 1
    attributes: tuple[Attribute, ...] = (
        (attribute, "int32_val", peer),
        ("comm_tag", "int32_val", max(call["tag"], 0)),
        _size(call, notes),
        *_group(call, groups, notes),
        *_recorded(call),
    )
    return Communication(
        node_type,
        attributes,
        kind=call["collective_kind"],
        group=call["group"],
        size_bytes=attributes[2][2],
        peer=peer,
        tag=max(call["tag"], 0),
    )


def _size(call: dict[str, Any], notes: Counter[str]) -> Attribute:
    """Return comm_size: the input bytes of this rank; 0 for a barrier, and where the files do not say."""
    size = call["size_bytes"]
    if call["collective_kind"] == "barrier":
        size = 0
    elif size == NONE:
        notes["communication of unknown size, written with 0 bytes"] += 1
        size = 0
    return ("comm_size", "int64_val", size)


def _group(call: dict[str, Any], groups: Groups, notes: Counter[str]) -> list[Attribute]:
    """Return pg_name where the members of the call's group are known; else nothing, counted."""
    name = groups.name_by_key.get(call["group"])
    if name is None:
        named = call["pg_name"]
        what = f"of a group of unknown members ({named})" if named else "of an unknown group"
        notes[f"communication {what}, written without pg_name"] += 1
        return []
    if name in groups.incomplete:
        notes[f"communication of a group of which not all members are known ({name})"] += 1
    return [("pg_name", "string_val", name)]


def _recorded(call: dict[str, Any]) -> list[Attribute]:
    """Return what else was recorded of the call, under its own names."""
    out: list[Attribute] = [("collective_kind", "string_val", call["collective_kind"])]
    out += [
        (name, "int64_val", call[name])
        for name in ("in_msg_nelems", "out_msg_nelems", "collective_seq_id")
        if call[name] != NONE
    ]
    out += [(name, "string_val", call[name]) for name in ("op_name", "dtype") if call[name]]
    wait, lasts = call["wait_ns"], call["duration_ns"]
    if NONE < wait <= lasts:  # one that ended before the last member came did not wait for it
        out += [
            ("wait_us", "double_val", wait / 1_000),
            ("transfer_us", "double_val", (lasts - wait) / 1_000),
        ]
    return out
