from __future__ import annotations

from graphstore.repairs.change import Change, Plan


def change(uid: int, safe: bool) -> Change:
    """Return a change of one op's parent."""
    return Change("thread_root", 0, uid, safe, "why", {}, {"parent": None}, {"parent": 1})


def test_a_plan_parts_what_is_proven_from_what_is_inferred() -> None:
    """Both parts keep the order in which changes are applied."""
    proven, inferred, later = change(1, True), change(2, False), change(3, True)

    plan = Plan("r", (proven, inferred, later))

    assert (plan.safe, plan.unsafe) == ((proven, later), (inferred,))
    assert (len(plan), list(plan)) == (3, [proven, inferred, later])


def test_a_plan_as_rows_says_what_changes_and_why() -> None:
    """The rows are what a table or JSON shows: no field but those a person asked for."""
    assert Plan("r", (change(2, False),)).rows() == [
        {
            "rule": "thread_root",
            "rank": 0,
            "uid": 2,
            "safe": False,
            "reason": "why",
            "evidence": {},
            "before": {"parent": None},
            "after": {"parent": 1},
        }
    ]
