from __future__ import annotations

import numpy as np

from graphstore.repairs.duplicates import plan_duplicates
from tests.unit.repairs.forest import Op, carried_out, process_root, rank_of, thread_root


def test_all_but_the_first_op_of_an_id_get_fresh_ids() -> None:
    """Fresh ids lie above every id in use, absent parents' ids included; edges and parent_id stay."""
    ops = rank_of(
        [process_root(), thread_root(), Op(5, "a", 2), Op(5, "b", 2), Op(6, "c", 5), Op(5, "d", 90)]
    )

    changes = plan_duplicates(ops)

    after = carried_out(ops, changes)
    assert after.node_id.tolist() == [1, 2, 5, 91, 6, 92]
    assert np.array_equal(after.parent, ops.parent)
    assert np.array_equal(after.parent_id, ops.parent_id)
    assert all(change.safe for change in changes)


def test_kineto_only_ops_share_no_id() -> None:
    """Null is no id: two spans without one are left alone."""
    ops = rank_of([process_root(), Op(None, "x", span=(0, 1)), Op(None, "y", span=(2, 3))])

    assert plan_duplicates(ops) == []
