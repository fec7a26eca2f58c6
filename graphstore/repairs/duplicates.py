"""Give the ops that share a node_id, all but the first, an id of their own.

In:  `RankOps`. Out: changes. No edge moves: children were tied to the op that was open when they ran, and
stay there.
Such ids are written by forked DataLoader workers (trace-formats §1). The first by place in the file keeps
the id, the others get ids above the highest of the rank; `parent_id`, as recorded, is never touched.
"""

from __future__ import annotations

import numpy as np

from graphstore.repairs.change import Change
from graphstore.repairs.columns import RankOps

RULE = "renumber_duplicate"


def plan_duplicates(ops: RankOps) -> list[Change]:
    """Return the changes that leave every node_id of the rank to one op. Safe: no edge changes."""
    recorded = np.flatnonzero(ops.recorded)
    _, first = np.unique(ops.node_id[recorded], return_index=True)
    later = np.delete(recorded, first)
    highest = max(int(ops.node_id.max(initial=0)), int(ops.parent_id.max(initial=0)))
    return [_change(ops, place, highest + 1 + step) for step, place in enumerate(later.tolist())]


def _change(ops: RankOps, place: int, fresh: int) -> Change:
    """Return the change that gives one op a fresh id."""
    node_id = int(ops.node_id[place])
    return Change(
        RULE,
        ops.rank,
        int(ops.uid[place]),
        True,
        f"{ops.title(place)} shares its id with an op before it in the file",
        {"node_id": node_id, "sharing": int((ops.node_id == node_id).sum())},
        {"node_id": node_id},
        {"node_id": fresh},
        (("duplicate_id", ops.rank, None),),
    )
