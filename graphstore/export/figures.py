"""How faithful a file is: what a replay of it says beside what was measured (dependencies §1).

In:  the nodes of a rank as written. Out: a dict of figures, for the manifest and for people.
Decided here: the span alone proves nothing (a thread written as a chain of its own pieces ends when it
ended), so it never stands alone; what no rule explains and what was chosen by times alone is always among the
figures.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphstore.export.chakra import FIRST_ID, ON_CPU, RankNodes
from graphstore.export.order import NONE, Bools, Ints
from graphstore.export.pieces import STREAM_ORDER, Pieces
from graphstore.export.rank_nodes import microseconds
from graphstore.export.replay import COMMUNICATION, CPU, GPU, error, in_slots, percentiles, unlimited

TIMING = ".timing"


def figures(rank: RankNodes, cut: Pieces) -> dict[str, Any] | None:
    """Return the figures of a rank; None where its files hold no times. Errors are shares of the span."""
    nodes = rank.nodes
    if not nodes.timed.any():
        return None
    duration = np.where(nodes.timed, rank.duration_us, 0)
    begin, end = microseconds(np.array(nodes.window)).tolist()
    measured = end - begin
    starts = unlimited(duration, nodes.deps)
    slots = in_slots(duration, nodes.deps, slots_of(rank))
    window = nodes.window[1] - nodes.window[0]
    own = nodes.timed & (nodes.node != NONE)
    recorded = np.where(own, rank.start_us - rank.lead_us - begin, 0)
    on_cpu = np.isin(nodes.kind, ON_CPU)
    by_time = chosen_by_time(rank, cut)
    return {
        "measured_us": measured,
        "simulated_us": int((starts + duration).max()),
        "error": error(int((starts + duration).max()), measured) or 0.0,
        "error_without_fit": error(nodes.fit_free_ns, window) or 0.0,
        "error_of_simple_reader": error(int((slots + duration).max()), measured) or 0.0,
        "start_error_us": {
            "cpu": percentiles((starts - recorded)[own & on_cpu]),
            "gpu": percentiles((starts - recorded)[own & ~on_cpu]),
        },
        "unexplained_us": nodes.unexplained_ns / 1_000,
        "unexplained": round(nodes.unexplained_ns / max(window, 1), 6),
        "edges_chosen_by_time": len(by_time),
        "chosen_by_time": by_time,
        "contradictions": contradictions(cut),
    }


def chosen_by_time(rank: RankNodes, cut: Pieces) -> list[dict[str, Any]]:
    """Return the edges that rest on times alone, by the ids written: rule, awaited and waiting node."""
    place_of = np.full(len(cut.start), NONE, np.int64)
    own = np.flatnonzero(rank.nodes.node != NONE)
    place_of[rank.nodes.node[own]] = own
    kept = cut.kept
    timing = [rule for rule, name in enumerate(kept.rules) if name.endswith(TIMING)]
    chosen = np.flatnonzero(np.isin(kept.rule, timing))
    return sorted(
        (
            {
                "rule": kept.rules[kept.rule[edge]],
                "awaited": int(place_of[kept.source[edge]]) + FIRST_ID,
                "waiting": int(place_of[kept.target[edge]]) + FIRST_ID,
            }
            for edge in chosen.tolist()
        ),
        key=lambda edge: (edge["waiting"], edge["awaited"]),
    )


def slots_of(rank: RankNodes) -> Ints:
    """Return the slot each node holds in a simple reader: CPU, GPU or communication."""
    slot = np.where(np.isin(rank.nodes.kind, ON_CPU), CPU, GPU)
    slot[list(rank.communications)] = COMMUNICATION
    return slot


def contradictions(cut: Pieces) -> int:
    """Return how many edges lead from a piece that ended after the other started, both as measured."""
    kept = cut.kept
    timed: Bools = cut.timed[kept.source] & cut.timed[kept.target]
    late = cut.end[kept.source] > cut.start[kept.target] + cut.slack_ns
    in_order = np.isin(kept.rule, [n for n, name in enumerate(kept.rules) if name == STREAM_ORDER])
    return int((timed & late & ~in_order).sum())  # device ops that overlap on a stream are cut, not reordered
