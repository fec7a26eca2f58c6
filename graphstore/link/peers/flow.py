"""Which sends can belong to which recvs when every one has a partner: all ways at once, not one of them.

In:  how many calls each class of sends and of recvs has, and which classes fit each other.
Out: which classes find partners for all their calls, and which pairs of classes some way of pairing uses.
Decided here: nothing is searched. One flow is one way to pair all calls; any other differs from it by cycles
of exchanges, so that a pair occurs in some way exactly if this flow uses it or it lies on such a cycle.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from graphstore.link.parts import strong_parts

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


def possible_pairs(sends: Ints, recvs: Ints, source: Ints, target: Ints) -> tuple[Bools, Bools]:
    """Return which classes of sends find partners for all their calls, and which pairs occur in some way.

    `sends` and `recvs` count the calls of each class; pair i is of sends[source[i]] and recvs[target[i]].
    What is said of pairs holds where all classes that hang together are satisfied.
    """
    flow = _largest_flow(sends, recvs, source, target)
    sent = np.bincount(source, weights=flow, minlength=sends.size).astype(np.int64)
    used = flow > 0
    behind = target + sends.size
    part = strong_parts(
        sends.size + recvs.size,
        np.concatenate([source, behind[used]]),
        np.concatenate([behind, source[used]]),
    )
    return sent == sends, used | (part[source] == part[behind])


def _largest_flow(sends: Ints, recvs: Ints, source: Ints, target: Ints) -> Ints:
    """Return how many calls each pair takes in one largest pairing."""
    from scipy.sparse import coo_array, csr_array  # 0.3 s to import, and few runs hold what to look for
    from scipy.sparse.csgraph import maximum_flow

    if not source.size:
        return np.zeros(0, dtype=np.int64)
    first, end = sends.size + recvs.size, sends.size + recvs.size + 1
    rows = np.concatenate([np.full(sends.size, first), source, np.arange(recvs.size) + sends.size])
    columns = np.concatenate([np.arange(sends.size), target + sends.size, np.full(recvs.size, end)])
    most = np.minimum(sends[source], recvs[target])
    capacity = np.concatenate([sends, most, recvs]).astype(np.int32)
    graph = csr_array(coo_array((capacity, (rows, columns)), shape=(end + 1, end + 1)))
    found = maximum_flow(graph, int(first), int(end)).flow
    return np.asarray(found[source, target + sends.size], dtype=np.int64).ravel()
