from __future__ import annotations

from tests.unit.repairs.forest import Op, process_root, rank_of


def test_what_every_change_asks_is_worked_out_once_a_rank() -> None:
    """48,000 changes of a million ops asked which ops have times: anew each time, that was quadratic."""
    ops = rank_of([process_root(), Op(5, "a", 1, (10, 20))])

    assert ops.has_time is ops.has_time
    assert ops.has_time.tolist() == [False, True]
    assert ops.recorded is ops.recorded
