"""The nodes of a rank as ASTRA-sim takes them.

In:  the nodes of a rank, and the `Plan` over all ranks. Out: the nodes, changed. Decided here
(simulator-requirements): no METADATA node, groups stand in the JSON alone; a data dep from each collective
to the next, in one order over all ranks; a closing COMP node behind everything, without which the statistics
of the simulator abort. A dep that would close a cycle is left out and counted.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from graphstore.export.astra_plan import Plan
from graphstore.export.chakra import RankNodes, is_group_list
from graphstore.export.order import NONE, Bools, Ints, pick, topological_order
from graphstore.export.pieces import CLOSING
from graphstore.export.replay import deps_of
from graphstore.link.parts import strong_parts

LIST_LEFT_OUT = "process group list, left to the group file"


def for_astra_sim(rank: RankNodes, number: int, plan: Plan) -> tuple[RankNodes, dict[str, int]]:
    """Return the nodes of a rank for the simulator, and what was changed, by reason and how often."""
    notes = dict(plan.notes[number])
    written = {place: said for place, said in plan.calls[number].items() if said is not None}
    by_place = {int(rank.place[node]): node for node in rank.communications}
    communications = {by_place[place]: said for place, said in written.items()}
    dropped = is_group_list(rank)
    if dropped.any():
        notes[LIST_LEFT_OUT] = int(dropped.sum())
    chain = np.array([by_place[place] for place in plan.order[number] if place in by_place], np.int64)
    order, source, target, lost = _ordered(rank, dropped, chain)
    if lost:
        notes["order of two collectives that the rank had the other way round"] = lost
    return _rebuilt(replace(rank, communications=communications), order, source, target), notes


def _ordered(rank: RankNodes, dropped: Bools, chain: Ints) -> tuple[Ints, Ints, Ints, int]:
    """Return the nodes kept in an order in which all edges lead forward, the edges, and chain edges left
    out.
    """
    deps = rank.nodes.deps
    count = len(dropped)
    source, target = deps.ids, np.repeat(np.arange(count), np.diff(deps.first))
    inside = ~dropped[source] & ~dropped[target]
    source, target = source[inside], target[inside]
    before, after = chain[:-1], chain[1:]
    part = strong_parts(count, np.concatenate([source, before]), np.concatenate([target, after]))
    fits = part[before] != part[after]
    source, target = np.concatenate([source, before[fits]]), np.concatenate([target, after[fits]])
    order = topological_order(count, source, target, np.arange(count))
    return order[~dropped[order]], source, target, int((~fits).sum())


def _rebuilt(rank: RankNodes, order: Ints, source: Ints, target: Ints) -> RankNodes:
    """Return the nodes in another order with a closing node behind all that nothing follows."""
    count = len(order)
    number = np.full(len(rank.place), NONE, np.int64)
    number[order] = np.arange(count)
    source, target = number[source], number[target]
    last = np.setdiff1d(np.arange(count), source)
    nodes = rank.nodes
    end = int(nodes.end[order].max(initial=0))
    deps = deps_of(
        np.concatenate([source, last]), np.concatenate([target, np.full(len(last), count)]), count + 1
    )

    def moved(values: npt.NDArray[Any], closing: Any) -> npt.NDArray[Any]:
        return np.append(values[order], np.array([closing], values.dtype))

    fitted = replace(
        nodes,
        node=moved(nodes.node, NONE),
        kind=moved(nodes.kind, CLOSING),
        lane=moved(nodes.lane, NONE),
        start=moved(nodes.start, end),
        end=moved(nodes.end, end),
        measured=moved(nodes.measured, end),
        timed=moved(nodes.timed, bool(nodes.timed.any())),
        deps=deps,
        ctrl=pick(number, moved(nodes.ctrl, NONE), NONE),
    )
    is_timed = bool(nodes.timed.any())
    closes_us = (end + 500) // 1000 if is_timed else NONE
    return replace(
        rank,
        nodes=fitted,
        place=moved(rank.place, NONE),
        first=pick(number, moved(rank.first, NONE), NONE),
        start_us=moved(rank.start_us, closes_us),
        duration_us=moved(rank.duration_us, 0 if is_timed else NONE),
        lead_us=moved(rank.lead_us, 0),
        total_us=moved(rank.total_us, np.nan),
        self_us=moved(rank.self_us, np.nan),
        rule=[rank.rule[node] for node in order.tolist()] + [""],
        communications={int(number[node]): said for node, said in rank.communications.items()},
    )
