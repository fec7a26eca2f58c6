"""Which parent is written for each node, and what waits for a parent on another thread.

In:  host ops with recorded and proven parents, the first piece of each. Out: ctrl deps, and edges.
Decided here (dependencies 4.2, decision 16): the recorded parent, but the innermost encloser where Kineto
refutes it; a parent on another thread is order only where nothing better says when the child began.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from graphstore.export.order import NONE, HostOrder, Ints
from graphstore.export.places import Places, places_in
from graphstore.model.markers import GROUP_INIT

ENCLOSING_TOLERANCE_NS = 2  # that of the check for parents that do not enclose their child
Bools = npt.NDArray[np.bool_]


def confirmed_parents(host: pl.DataFrame, places: Places) -> tuple[Ints, int]:
    """Return the parent of each host op, and of how many it is the proven one instead of the recorded one.

    Refuted: both are timed, and the parent lies on another thread or does not enclose the child. A `gloo:` op
    on its own thread is no refutation of its `c10d::` call (decision 16).
    """
    count = host.height
    recorded = places.ctrl[:count]
    parent = recorded.copy()
    inside = (recorded != NONE) & (recorded < count)
    child, above = np.flatnonzero(inside), recorded[inside]
    start, duration, thread, process = (
        host[name].to_numpy() for name in ("start_ns", "duration_ns", "thread", "process")
    )
    end = start + duration
    known = (
        (duration[child] >= 0) & (duration[above] >= 0) & (thread[child] != NONE) & (thread[above] != NONE)
    )
    same = (thread[child] == thread[above]) & (process[child] == process[above])
    encloses = start[above] <= start[child] + ENCLOSING_TOLERANCE_NS
    encloses &= end[above] + ENCLOSING_TOLERANCE_NS >= end[child]
    worker = host["name"].str.starts_with("gloo:").to_numpy()[child]
    worker &= host["name"].str.starts_with("c10d::").to_numpy()[above]
    refuted = known & ~(same & encloses) & ~(worker & ~same)
    proven = places_in(places.host, host["encloser"].to_numpy()[child])
    instead = refuted & (proven != NONE)
    parent[child[instead]] = proven[instead]
    return parent, int(instead.sum())


def calls_of_other_threads(
    host: pl.DataFrame, hosts: HostOrder, parent: Ints, known: Bools
) -> tuple[Ints, Ints]:
    """Return (parent, child) of host ops whose parent ran on another thread, unless it is `known` what woke
    the child. Metadata is no work: it waits for nothing and nothing waits for it (a simulator may leave it
    out).
    """
    metadata = (host["name"] == GROUP_INIT).to_numpy()
    above = np.where(parent == NONE, 0, parent)
    lane = hosts.lane
    other = (
        (parent != NONE) & ~metadata & ~metadata[above] & ((lane != lane[above]) | (lane == NONE)) & ~known
    )
    child = np.flatnonzero(other)
    return parent[child], child
