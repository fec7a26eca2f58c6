"""Where a uid stands among the ops of a rank: host ops by uid, then device ops by uid.

In:  the columns of one rank. Out: `Places`. Nothing is decided here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from graphstore.export.columns import RankColumns
from graphstore.export.order import NONE, Ints, pick


@dataclass(frozen=True)
class Places:
    """Ascending uids of the host ops, device ops and runtime calls of a rank.

    `ctrl`: per host and device op the place of its CTRL parent. `caller`: per runtime call the place of the
    host op that made it. NONE without.
    """

    host: Ints
    kernel: Ints
    call: Ints
    ctrl: Ints
    caller: Ints

    def node(self, uid: Ints) -> Ints:
        """Return the place of each host or device op; NONE for other nodes."""
        kernel = places_in(self.kernel, uid)
        return np.where(kernel == NONE, places_in(self.host, uid), kernel + len(self.host))

    def node_or_caller(self, uid: Ints) -> Ints:
        """Return the place of each op, for a runtime call that of its host op; NONE for other nodes."""
        node, call = self.node(uid), places_in(self.call, uid)
        return np.where(node == NONE, pick(self.caller, call, NONE), node)


def places_in(ascending: Ints, wanted: Ints) -> Ints:
    """Return where each of `wanted` lies in `ascending`; NONE for what is not in it."""
    if not len(ascending):
        return np.full(len(wanted), NONE, np.int64)
    place = np.minimum(np.searchsorted(ascending, wanted), len(ascending) - 1)
    return np.where(ascending[place] == wanted, place, NONE)


def ends_of(columns: RankColumns, edge_type: str) -> tuple[Ints, Ints]:
    """Return sources and targets (uids) of the rank's edges of a type."""
    found = columns.edges.filter(pl.col("edge_type") == edge_type)
    return found["source"].to_numpy(), found["target"].to_numpy()


def places_of(columns: RankColumns) -> Places:
    """Return the places of a rank, with the recorded callers."""
    host, kernel = columns.host["uid"].to_numpy(), columns.kernels["uid"].to_numpy()
    call = columns.launches["uid"].to_numpy()
    ctrl = np.full(len(host) + len(kernel), NONE, np.int64)
    places = Places(host, kernel, call, ctrl, np.full(len(call), NONE, np.int64))
    source, target = ends_of(columns, "CTRL")
    above, below, called = places.node(source), places.node(target), places_in(call, target)
    of_call = (called != NONE) & (above != NONE)
    places.caller[called[of_call]] = above[of_call]
    of_node = (below != NONE) & (above != NONE)
    ctrl[below[of_node]] = above[of_node]
    return places
