"""Single nodes of one rank: types, attributes, sizes, peers and tags, as sentences.

In:  a RankFile, whose columns noted the faults while the nodes went by, and the size of the world.
Out: findings. Decided here: the sentences; what a fault is: columns.py.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from graphstore.export.simulator.columns import COLL, NONE, SEND
from graphstore.export.simulator.files import LEAST_RANKS, RankFile
from graphstore.export.simulator.paths import Ints
from graphstore.export.simulator.rules import Found, about

TAG_LIMIT = 500_000_000
TEXTS = {
    "metadata_node": "{n} METADATA nodes",
    "no_type": "{n} nodes have no type the format knows",
    "memory_node": "{n} MEM_LOAD or MEM_STORE nodes",
    "memory_without_size": "{n} MEM_LOAD or MEM_STORE nodes have no tensor_size",
    "communication_on_cpu": "{n} communications are marked is_cpu_op",
    "unsupported_collective": "{n} collectives are %s",
    "broadcast_without_duration": "{n} broadcasts have no duration",
    "attribute_absent": "{n} %s",
    "attribute_unreadable": "{n} nodes have %s",
    "attribute_wire_type": "{n} nodes have %s",
    "no_dimension": "{n} collectives have an involved_dim that is all false",
    "all_gather_never_ends": "{n} all-gathers are of fewer than 4 bytes",
    "all_gather_small": "{n} all-gathers are of fewer than 64 bytes",
    "collective_of_nothing": "{n} collectives are of 0 bytes",
    "transfer_of_nothing": "{n} sends or recvs are of 0 bytes",
}


def node_problems(file: RankFile, world_size: int) -> Iterator[Found]:
    """Yield what is wrong with single nodes; one finding for each rule, attribute and kind."""
    for (rule, told), ids in sorted(file.columns.faults.items()):
        text = TEXTS[rule] % told if told else TEXTS[rule]
        found = about(rule, file.rank, file.where, text, ids)
        yield Found(rule, found.rank, found.message, found.evidence, found.count, told)
    yield from _roofline(file)
    yield from _transfers(file, world_size)


def _roofline(file: RankFile) -> Iterator[Found]:
    """Yield one finding when roofline attributes are on some GPU COMP nodes, or one of the two only."""
    held = {name: len(ids) for name, ids in file.columns.roofline.items()}
    if not held.get("one") and not (held.get("both") and held.get("neither")):
        return
    lacking = file.columns.roofline.get("one", []) + file.columns.roofline.get("neither", [])
    text = "{n} GPU COMP nodes lack num_ops, tensor_size or both, and others have them"
    yield about("roofline_incomplete", file.rank, file.where, text, lacking, **held)


def _transfers(file: RankFile, world_size: int) -> Iterator[Found]:
    """Yield peers, tags and own ranks of sends and recvs that the simulator refuses."""
    table = file.columns.communications
    ids = np.frombuffer(file.columns.validator.ids, np.uint64)
    place, kind, peer, own, tag = (
        np.frombuffer(column, np.int64)
        for column in (table.place, table.kind, table.peer, table.own, table.tag)
    )
    transfer = kind != COLL
    outside = transfer & (peer != NONE) & (peer < 0)
    if world_size >= LEAST_RANKS:
        outside |= transfer & (peer >= world_size)
    if file.rank is not None:
        outside |= transfer & (peer == file.rank)
    if outside.any():
        text = "{n} sends or recvs name a peer that is not in the world or is the rank itself"
        peers = _values(peer[outside])
        yield about("peer_outside", file.rank, file.where, text, ids[place[outside]], peers=peers)
    bad = transfer & (tag != NONE) & ((tag < 0) | (tag >= TAG_LIMIT))
    if bad.any():
        text = "{n} sends or recvs have a tag outside 0 … 499,999,999"
        yield about("tag_outside", file.rank, file.where, text, ids[place[bad]], tags=_values(tag[bad]))
    if file.rank is not None and (wrong := transfer & (own != NONE) & (own != file.rank)).any():
        text = "{n} sends or recvs name another rank than the own as their own end"
        sends = int((kind[wrong] == SEND).sum())
        yield about("own_rank_differs", file.rank, file.where, text, ids[place[wrong]], sends=sends)


def _values(column: Ints) -> list[int]:
    """Return the different values, the first ten of them."""
    return [int(value) for value in np.unique(column)[:10]]
