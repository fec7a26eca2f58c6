"""Sends and recvs by directed edge: one queue per group, source and destination (matching.md §7).

In:  the transfers of a group. Out: `Edge`s with the kept sends and recvs in order, and what pairs them.
Decided here: what an offset means, and the verdict that pairs under it deserve. Offsets: offsets.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from graphstore.link.matching.calls import Codes, GroupCalls, Transfers
from graphstore.link.matching.model import Group
from graphstore.link.matching.reduce import DONE, UNDONE
from graphstore.link.matching.signatures import Ints, SignatureColumns, Signatures

# what is known of the other end of a send or recv
UNPROVEN, OPEN, ENDED, MISSING, NO_DUMP = 0, 1, 2, 3, 4
COMPLETE, COUNTERS, TAIL, TWO_MEMBERS = "complete", "counters", "tail", "two-member counters"
IN_ORDER = "order of both traces"


@dataclass
class Side:
    """The kept sends, or recvs, of an edge in order of recording; `partner` says what the other end is."""

    rank: int
    place: Ints
    sig: Codes
    site: Codes
    state: NDArray[np.int8]
    start: Ints
    p2p_seq: Ints
    record: Ints
    batch: Ints
    payload: Ints
    partner: NDArray[np.int8] = field(init=False)

    def __post_init__(self) -> None:
        """Start with nothing known of the partners."""
        self.partner = np.full(self.size, UNPROVEN, dtype=np.int8)

    @property
    def size(self) -> int:
        """Return the number of kept calls."""
        return int(self.place.size)

    @property
    def is_done(self) -> bool:
        """Return whether calls are kept and all of them have ended."""
        return bool(self.size) and bool((self.state == DONE).all())


@dataclass
class Edge:
    """One directed edge. Send i belongs to recv i - offset.

    The offset is the calls `dropped` before the recvs less those before the sends (a pair: send side, recv
    side; None = unknown); `how` names what it rests on.
    """

    group: Group
    src: int
    dst: int
    sends: Side
    recvs: Side
    dropped: tuple[int | None, int | None] = (None, None)
    limits: tuple[int | None, int | None] = (None, None)  # the offset lies between them; None = unknown
    offset: int | None = None
    how: str | None = None
    verdict: str = "AMBIGUOUS"
    paired: int = 0
    misfits: int = 0
    ambiguous: int = field(init=False)
    send_only: int = 0
    recv_only: int = 0
    in_flight: bool = False
    is_reordered: bool = False

    def __post_init__(self) -> None:
        """Start with all calls ambiguous."""
        self.ambiguous = self.sends.size + self.recvs.size

    @property
    def sides(self) -> tuple[Side, Side]:
        """Return the sends and the recvs."""
        return self.sends, self.recvs

    @property
    def is_open(self) -> bool:
        """Return whether nothing is decided."""
        return self.verdict == "AMBIGUOUS"

    def pairs(self) -> tuple[Ints, Ints]:
        """Return the kept sends and recvs that belong together, as rows of the two sides."""
        if self.offset is None:
            none = np.zeros(0, dtype=np.int64)
            return none, none
        rows = np.arange(max(0, self.offset), min(self.sends.size, self.recvs.size + self.offset))
        return rows, rows - self.offset


def find_edges(calls: GroupCalls, signatures: Signatures, columns: SignatureColumns) -> list[Edge]:
    """Return the edges of a group, by source and destination."""
    found: dict[tuple[int, int], dict[bool, Side]] = {}
    is_send = np.array([item.kind == "send" for item in signatures.items], dtype=np.bool_)
    for transfers in calls.transfers.values():
        for key, sending, rows in _queues(transfers, is_send):
            found.setdefault(key, {})[sending] = _side(transfers, rows, columns)
    return [
        Edge(
            calls.group,
            *key,
            sides.get(True) or _empty_side(key[0]),
            sides.get(False) or _empty_side(key[1]),
        )
        for key, sides in sorted(found.items())
    ]


def settle(edge: Edge, offset: int, how: str) -> None:
    """Pair the calls under an offset and set the verdict.

    `how` = complete is proof: what has no partner has none, and unequal pairs are a mismatch. Any other
    offset rests on an assumption and may only confirm; where it contradicts the calls, nothing is decided.
    """
    edge.offset = offset
    sent, received = edge.pairs()
    unequal = _unequal(edge.sends.payload[sent], edge.recvs.payload[received])
    first_sent, first_received = edge.sends.size, edge.recvs.size
    late_sends = np.arange(first_sent) - offset >= edge.recvs.size
    late_recvs = np.arange(first_received) + offset >= edge.sends.size
    if how != COMPLETE and (unequal.any() or (edge.recvs.state[late_recvs] == DONE).any()):
        edge.offset = None
        return
    edge.how, edge.paired, edge.misfits = how, int(sent.size), int(unequal.sum())
    if how == COMPLETE:
        edge.sends.partner[sent] = np.where(edge.recvs.state[received] == DONE, ENDED, OPEN)
        edge.recvs.partner[received] = np.where(edge.sends.state[sent] == DONE, ENDED, OPEN)
        edge.sends.partner[late_sends], edge.recvs.partner[late_recvs] = MISSING, MISSING
    both_open = (edge.sends.state[sent] == UNDONE) & (edge.recvs.state[received] == UNDONE)
    edge.in_flight = bool(both_open.any())
    _decide(edge, how == COMPLETE, int(late_sends.sum()), int(late_recvs.sum()))


def _decide(edge: Edge, is_proven: bool, late_sends: int, late_recvs: int) -> None:
    edge.ambiguous = 0 if is_proven else late_sends + late_recvs
    if edge.misfits:
        edge.verdict = "SIZE_MISMATCH"
        edge.is_reordered = Counter(edge.sends.payload.tolist()) == Counter(edge.recvs.payload.tolist())
    elif not late_sends and not late_recvs:
        edge.verdict = "MATCHED" if is_proven or edge.how == IN_ORDER else "SOLVED"
    elif is_proven:
        edge.verdict = "INCOMPLETE"
    if is_proven:
        edge.send_only, edge.recv_only = late_sends, late_recvs


def _unequal(sent: Ints, received: Ints) -> NDArray[np.bool_]:
    return np.asarray((sent != received) & (sent >= 0) & (received >= 0))


def _queues(transfers: Transfers, is_send: NDArray[np.bool_]) -> Iterator[tuple[tuple[int, int], bool, Ints]]:
    """Yield ((source, destination), are they sends, rows) of each queue of a rank."""
    if not transfers.src.size:
        return
    sending = is_send[transfers.sig]
    order = np.lexsort((np.arange(sending.size), sending, transfers.dst, transfers.src))
    keys = np.stack([transfers.src, transfers.dst, sending.astype(np.int64)])[:, order]
    cuts = np.flatnonzero((np.diff(keys, axis=1) != 0).any(axis=0)) + 1
    for rows in np.split(order, cuts):
        yield (int(transfers.src[rows[0]]), int(transfers.dst[rows[0]])), bool(sending[rows[0]]), rows


def _side(transfers: Transfers, rows: Ints, columns: SignatureColumns) -> Side:
    return Side(
        transfers.rank,
        transfers.place[rows],
        transfers.sig[rows],
        transfers.site[rows],
        transfers.state[rows],
        transfers.start[rows],
        transfers.p2p_seq[rows],
        transfers.record[rows],
        transfers.batch[rows],
        columns.payload[transfers.sig[rows]],
    )


def _empty_side(rank: int) -> Side:
    none, codes = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32)
    return Side(rank, none, codes, codes, none.astype(np.int8), none, none, none, none, none)
