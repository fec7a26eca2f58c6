"""The nodes of a rank's file, ready to be written: times in whole µs, what is a communication, figures.

In:  the columns of one rank and its communications. Out: `RankNodes`, and the figures of a replay.
Decided here: times are rounded at their edges (dependencies 4.16), so the sum over a thread or a stream is
off by less than 1 µs however many nodes it has; a call seen as a host op is that op's longest piece;
a start is the measured one, and what a node was lengthened by before it is told beside (`lead_us`).
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from graphstore.export.chakra import Floats, RankNodes
from graphstore.export.columns import RankColumns
from graphstore.export.communication import Communication
from graphstore.export.compact import compact
from graphstore.export.fit import Fitted, fitted
from graphstore.export.order import NONE, Ints, pick
from graphstore.export.pieces import DEVICE, FIRST, LAUNCH, REST, STREAM_ORDER, THREAD_ORDER, Pieces, pieces
from graphstore.export.waits import OTHER_THREAD

ORDERS = (THREAD_ORDER, STREAM_ORDER, LAUNCH, OTHER_THREAD)  # rules that say no wait
Form = Literal["exact", "compact"]


def microseconds(nanoseconds: Ints) -> Ints:
    """Return ns rounded to the nearest µs, halves upwards: the same way at every edge."""
    return (nanoseconds + 500) // 1000


def rank_nodes(
    columns: RankColumns, by_place: dict[int, Communication], form: Form = "exact"
) -> tuple[RankNodes, Pieces]:
    """Return what the nodes of a rank are written from; `by_place` are communications by place of their
    op.
    """
    exact = pieces(columns)
    cut = compact(exact, np.isin(exact.place, list(by_place))) if form == "compact" else exact
    nodes = fitted(cut)
    place = _of_piece(cut.place, nodes)
    start, end = microseconds(nodes.start), microseconds(nodes.end)
    began = microseconds(nodes.measured)
    total, own = _measured_us(columns, exact, nodes, place)
    first_of = np.full(columns.host.height, NONE, np.int64)
    opening = np.flatnonzero(nodes.kind == FIRST)
    first_of[place[opening]] = opening
    host_place = np.where((nodes.kind == FIRST) | (nodes.kind == REST), place, NONE)
    ready = RankNodes(
        columns=columns,
        nodes=nodes,
        place=place,
        first=pick(first_of, host_place, NONE),
        start_us=np.where(nodes.timed, began, NONE),
        lead_us=np.where(nodes.timed, began - start, 0),
        duration_us=np.where(nodes.timed, end - start, NONE),
        total_us=total,
        self_us=own,
        rule=_rules(cut, nodes),
        communications=_communications(by_place, nodes, place),
    )
    return ready, cut


def _of_piece(values: Ints, nodes: Fitted) -> Ints:
    """Return the value of the piece that each node is, NONE for those that were added."""
    return pick(values, nodes.node, NONE)


def _measured_us(columns: RankColumns, cut: Pieces, nodes: Fitted, place: Ints) -> tuple[Floats, Floats]:
    """Return total_us and self_us of each node as chakra.py writes them."""
    host, count = columns.host, columns.host.height
    total, own = np.full(len(place), np.nan), np.full(len(place), np.nan)
    on_host = (cut.place >= 0) & (cut.place < count)
    work = np.bincount(cut.place[on_host], weights=(cut.end - cut.start)[on_host], minlength=count)
    duration = host["duration_ns"].to_numpy()
    first = np.flatnonzero((nodes.kind == FIRST) & nodes.timed)
    total[first], own[first] = duration[place[first]] / 1_000, work[place[first]] / 1_000
    device = np.flatnonzero((nodes.kind == DEVICE) & nodes.timed)
    lasts = columns.kernels["duration_ns"].to_numpy()[place[device] - count]
    other = device[lasts != (nodes.end - nodes.measured)[device]]
    total[other] = columns.kernels["duration_ns"].to_numpy()[place[other] - count] / 1_000
    return total, own


def _rules(cut: Pieces, nodes: Fitted) -> list[str]:
    """Return for each node the rules that make it wait, '' for those in plain order."""
    names = cut.kept.rules
    waiting = [rule for rule, name in enumerate(names) if name not in ORDERS]
    mine = np.isin(cut.kept.rule, waiting)
    pairs = np.unique(np.stack([cut.kept.target[mine], cut.kept.rule[mine]], axis=1), axis=0)
    by_piece: dict[int, str] = {}
    for piece, rule in pairs.tolist():
        by_piece[piece] = f"{by_piece[piece]}, {names[rule]}" if piece in by_piece else names[rule]
    told = [""] * len(nodes.node)
    for node in np.flatnonzero(np.isin(nodes.node, list(by_piece))).tolist():
        told[node] = by_piece[int(nodes.node[node])]
    return told


def _communications(
    by_place: dict[int, Communication], nodes: Fitted, place: Ints
) -> dict[int, Communication]:
    """Return the communications by node: the longest piece of their op, the first among equals."""
    wanted = np.flatnonzero(np.isin(place, list(by_place)))
    lasts = nodes.end[wanted] - nodes.start[wanted]
    longest_last = wanted[np.lexsort((-wanted, lasts))]
    node_of = dict(zip(place[longest_last].tolist(), longest_last.tolist(), strict=True))
    return {node: by_place[op] for op, node in sorted(node_of.items(), key=lambda pair: pair[1])}
