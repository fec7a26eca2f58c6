"""The calls of each rank in each group: collectives by sequence number, sends and recvs by edge.

In:  the reduced dumps of a job and its groups. Out: `Block`s and `Transfers` per rank and group.
Decided here (matching.md §5, §7): entries of one rank that share a sequence number are one coalesced block
and count once; a coalesced entry gives its state to the calls before it; the ends of a send are places in
the group's list. A call never crosses from one counter to the other.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from graphstore.link.matching.groups import Groups
from graphstore.link.matching.model import Group
from graphstore.link.matching.reduce import ABSENT, DONE, UNDONE, UNKNOWN, Reduced
from graphstore.link.matching.signatures import COALESCED, Ints, Signature, Signatures

Bools = NDArray[np.bool_]
Codes = NDArray[np.int32]


@dataclass
class Block:
    """The collectives of one rank in one group, one row per sequence number, rising.

    `place` is the row of recording, `op_id` the recorder's count of the group's operations (-1 = none).
    """

    rank: int
    seq: Ints
    sig: Codes
    site: Codes
    state: NDArray[np.int8]
    place: Ints
    start: Ints
    op_id: Ints
    has_blocks: bool = False  # a coalesced block is among them: op_id counts each of its calls


@dataclass
class Transfers:
    """The sends and recvs of one rank in one group, in order of recording; ends are global ranks.

    `batch` is the p2p_seq_id of the coalesced batch a call is in, -1 for none.
    """

    rank: int
    src: Ints
    dst: Ints
    sig: Codes
    site: Codes
    state: NDArray[np.int8]
    place: Ints
    start: Ints
    seq: Ints
    p2p_seq: Ints
    op_id: Ints
    record: Ints
    batch: Ints


@dataclass
class GroupCalls:
    """All calls in one group, by rank.

    `unplaced` counts sends and recvs whose peer is not known; `open_unplaced` is the place of a rank's first
    unfinished one. `is_miscounted`: collectives are counted together with sends and recvs (dumps before 2.0),
    so that their numbers do not compare.
    """

    group: Group
    blocks: dict[int, Block] = field(default_factory=dict)
    transfers: dict[int, Transfers] = field(default_factory=dict)
    is_gloo: bool = False
    has_p2p: bool = False
    is_miscounted: bool = False
    unplaced: int = 0
    open_unplaced: dict[int, int] = field(default_factory=dict)

    def last_call(self, rank: int) -> tuple[bool, int] | None:
        """Return (is it a send or recv, collective_seq_id) of the last call a rank kept; None for none."""
        found = [(int(part.place[-1]), is_p2p, int(part.seq[-1])) for is_p2p, part in self._parts(rank)]
        return max(found)[1:] if found else None

    def first_call(self, rank: int) -> tuple[bool, int, int] | None:
        """Return (is it a send or recv, collective_seq_id, op_id) of the first call a rank kept."""
        found = [
            (int(part.place[0]), is_p2p, int(part.seq[0]), int(part.op_id[0]))
            for is_p2p, part in self._parts(rank)
        ]
        return min(found)[1:] if found else None

    def reached_by(self, rank: int) -> tuple[int, int]:
        """Return the largest collective_seq_id and p2p_seq_id of the calls a rank kept, 0 for none."""
        seq = max((int(part.seq.max()) for _, part in self._parts(rank)), default=0)
        transfers = self.transfers.get(rank)
        has_any = transfers is not None and transfers.p2p_seq.size
        return seq, int(transfers.p2p_seq.max()) if transfers is not None and has_any else 0

    @property
    def is_comparable(self) -> bool:
        """Return whether equal numbers are the same call on all ranks."""
        return not self.is_miscounted and not self.group.is_split

    @cached_property
    def largest_seq(self) -> int:
        """Return the largest collective_seq_id that any rank's calls carry."""
        return max((self.reached_by(rank)[0] for rank in {*self.blocks, *self.transfers}), default=0)

    @cached_property
    def operations_at(self) -> dict[int, int]:
        """Return {collective_seq_id: the most operations any rank had made with it} (op_id)."""
        needed: dict[int, int] = {}
        for block in self.blocks.values():
            for seq, op_id in zip(block.seq.tolist(), block.op_id.tolist(), strict=True):
                needed[seq] = max(needed.get(seq, 0), op_id)
        return needed

    def _parts(self, rank: int) -> list[tuple[bool, Block | Transfers]]:
        parts = ((False, self.blocks.get(rank)), (True, self.transfers.get(rank)))
        return [(is_p2p, part) for is_p2p, part in parts if part is not None and part.seq.size]


def calls_by_group(
    dumps: dict[int, Reduced], groups: Groups, signatures: Signatures
) -> dict[int, GroupCalls]:
    """Return the calls of each group that has any; `sig` and `site` of the dumps number `signatures`.

    The dumps let go of their columns: the calls are held once.
    """
    out: dict[int, GroupCalls] = {}
    is_gloo = np.array([item.is_gloo for item in signatures.items], dtype=np.bool_)
    for rank, dump in sorted(dumps.items()):
        for place, rows in _rows_by_group(dump, groups):
            calls = out.setdefault(place, GroupCalls(groups.items[place]))
            calls.is_gloo |= bool(is_gloo[dump.sig[rows[0]]])
            is_p2p = dump.is_p2p[rows]
            calls.has_p2p |= bool(is_p2p.any() or (dump.p2p_seq[rows] > 0).any())
            calls.is_miscounted |= dump.is_old and bool(is_p2p.any())
            if not is_p2p.all():
                calls.blocks[rank] = _block(rank, dump, rows[~is_p2p], signatures)
            if is_p2p.any():
                _add_transfers(calls, rank, dump, rows[is_p2p], signatures)
        dump.release()
    return out


def _rows_by_group(dump: Reduced, groups: Groups) -> list[tuple[int, Ints]]:
    """Return (group, rows) of a dump; two names of one group are one."""
    assert dump.rank is not None
    group = np.array([groups.of_call[dump.rank, pg] for pg in dump.pgs], dtype=np.int64)
    if not group.size:
        return []
    of_row = group[dump.pg]
    order = np.argsort(of_row, kind="stable")
    cuts = np.flatnonzero(np.diff(of_row[order])) + 1
    return [(int(of_row[rows[0]]), rows) for rows in np.split(order, cuts) if rows.size]


def _block(rank: int, dump: Reduced, rows: Ints, signatures: Signatures) -> Block:
    rows = rows[dump.seq[rows] != ABSENT]
    seq = dump.seq[rows]
    if not (seq[1:] > seq[:-1]).all():
        rows = rows[np.argsort(seq, kind="stable")]
        seq = dump.seq[rows]
    block = Block(
        rank,
        seq,
        dump.sig[rows],
        dump.site[rows],
        dump.state[rows],
        rows,
        dump.start[rows],
        dump.op_id[rows],
    )
    is_single = np.ones(rows.size, dtype=np.bool_)
    is_single[1:] = seq[1:] != seq[:-1]
    if not is_single.all():
        _collapse(block, np.flatnonzero(is_single), dump, signatures)
    return block


def _collapse(block: Block, firsts: Ints, dump: Reduced, signatures: Signatures) -> None:
    """Make one row of the rows that share a sequence number: their contents in order, the closing state."""
    ends = np.append(firsts[1:], block.seq.size)
    for first, end in zip(firsts.tolist(), ends.tolist(), strict=True):
        if end - first > 1:
            items = [signatures.items[code] for code in block.sig[first:end]]
            is_cut = block.place[first] == 0 and not dump.starts_at_zero
            block.state[first] = _closing_state(items, block.state[first:end])
            block.op_id[first] = block.op_id[end - 1]
            block.sig[first] = signatures.codes([_coalesced(items, is_cut)])[0]
    for name in ("seq", "sig", "site", "state", "place", "start", "op_id"):
        setattr(block, name, getattr(block, name)[firsts])
    block.has_blocks = True


def _coalesced(items: list[Signature], is_cut: bool) -> Signature:
    """Return the content of a block; that of one the ring has cut is not known."""
    parts = () if is_cut else tuple(item for item in items if item.kind != COALESCED)
    return Signature(op_name=items[-1].op_name, kind=COALESCED, parts=parts)


def _closing_state(items: list[Signature], states: NDArray[np.int8]) -> int:
    """Return the state of a block: of its closing entry, else done if all of it is."""
    closing = [int(state) for item, state in zip(items, states, strict=True) if item.kind == COALESCED]
    if closing:
        return closing[-1]
    if (states == DONE).all():
        return DONE
    return UNKNOWN if (states == UNKNOWN).all() else UNDONE


def _add_transfers(calls: GroupCalls, rank: int, dump: Reduced, rows: Ints, signatures: Signatures) -> None:
    codes, which = np.unique(dump.sig[rows], return_inverse=True)
    items = [signatures.items[code] for code in codes]
    closing = np.array([item.kind == COALESCED for item in items], dtype=np.bool_)[which]
    ends = np.array([_global_ends(calls.group, rank, item) or (-1, -1) for item in items], dtype=np.int64)
    ends = ends.reshape(-1, 2)[which]
    is_placed = ends[:, 0] >= 0
    state, batch = _batches(dump, rows, closing)
    keep = is_placed & ~closing
    calls.unplaced += int((~is_placed & ~closing).sum())
    is_open = ~is_placed & ~closing & (state == UNDONE)
    if is_open.any():
        calls.open_unplaced[rank] = int(rows[is_open][0])
    kept = rows[keep]
    calls.transfers[rank] = Transfers(
        rank,
        ends[keep, 0],
        ends[keep, 1],
        dump.sig[kept],
        dump.site[kept],
        state[keep],
        kept,
        dump.start[kept],
        dump.seq[kept],
        dump.p2p_seq[kept],
        dump.op_id[kept],
        dump.record[kept],
        batch[keep],
    )


def _batches(dump: Reduced, rows: Ints, closing: Bools) -> tuple[NDArray[np.int8], Ints]:
    """Return the state of each send or recv, and the batch it is in.

    A coalesced entry gives its state to the calls before it with the same p2p_seq_id. Calls that share one
    are a batch even if its closing entry is not kept.
    """
    state, p2p_seq = dump.state[rows].copy(), dump.p2p_seq[rows]
    ends = np.flatnonzero(closing)
    if ends.size:
        ends = ends[np.argsort(p2p_seq[ends], kind="stable")]
        at = np.minimum(np.searchsorted(p2p_seq[ends], p2p_seq), ends.size - 1)
        is_inside = ~closing & (p2p_seq[ends[at]] == p2p_seq) & (np.arange(rows.size) < ends[at])
        state[is_inside] = state[ends[at[is_inside]]]
    _, which, count = np.unique(p2p_seq, return_inverse=True, return_counts=True)
    is_batch = (count[which] > 1) & (p2p_seq != ABSENT)
    return state, np.where(is_batch, p2p_seq, -1)


def _global_ends(group: Group, rank: int, item: Signature) -> tuple[int, int] | None:
    """Return (source, destination) of a send or recv as global ranks; None where the group does not tell.

    Places are those of the group's list, which must be whole and have the caller in its own place.
    """
    if item.src is None or item.dst is None or not group.complete:
        return None
    if max(item.src, item.dst) >= len(group.order):
        return None
    src, dst = group.order[item.src], group.order[item.dst]
    return (src, dst) if rank == (src if item.kind == "send" else dst) else None
