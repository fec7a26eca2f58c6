"""What a cause of matching says as a finding: its message, what it rests on, whom it concerns."""

from __future__ import annotations

from typing import Any, cast

import pytest

from graphstore.queries.draft import Context, Draft
from graphstore.queries.findings import CODE_BY_RULE
from graphstore.store.base import Store

NOWHERE = Context(cast(Store, None), "run")
NEVER: dict[str, Any] = {
    "uid": 90,
    "rule": "never_called",
    "message": "rank 3 never called all_reduce #6 on default_pg[0-3]",
    "confidence": "high",
    "ranks": [3],
    "blamed": [3],
    "undecided": [],
    "group": "0[0-3]",
    "collective_seq_id": 6,
    "site": "gen_fr.py:82",
    "basis": "pg_status: last enqueued 5",
    "evidence": '{"waiters": [0, 1, 2], "rule": "of the cause itself"}',
    "found_ranks": [3],
    "rank_uids": [13],
    "collective_uid": 50,
}


def drafts(*rows: dict[str, Any], rule: str = "communication_fault") -> list[Draft]:
    """Return what the code of a rule makes of rows."""
    return list(CODE_BY_RULE[rule](rows, NOWHERE))


def parts(draft: Draft) -> list[tuple[str, int, str]]:
    """Return label, key and role of each subject."""
    return [(subject.label, subject.key, subject.role) for subject in draft.subjects]


@pytest.mark.parametrize("rule", ["communication_fault", "communication_undecided"])
def test_a_cause_is_one_finding_with_its_own_sentence(rule: str) -> None:
    """Of the one rank at fault, about it and the call; whose evidence says what the cause rests on."""
    [found] = drafts(NEVER, rule=rule)

    assert found.message == NEVER["message"]
    assert (found.rank, found.confidence, found.count) == (3, "high", 2)
    assert parts(found) == [("Collective", 50, "call"), ("Rank", 13, "blamed")]
    assert found.evidence == {
        "waiters": [0, 1, 2],
        "rule": "never_called",
        "basis": "pg_status: last enqueued 5",
        "ranks": [3],
        "blamed": [3],
        "undecided": [],
        "group": "0[0-3]",
        "collective_seq_id": 6,
        "site": "gen_fr.py:82",
    }


def test_a_cause_without_one_rank_at_fault_is_one_of_the_run() -> None:
    """Nobody, or several, are blamed; without a confidence of its own it is medium."""
    nobody = NEVER | {"blamed": [], "undecided": [0, 3], "confidence": None}
    several = NEVER | {"blamed": [0, 3], "ranks": [0, 3]}

    assert [(d.rank, d.confidence) for d in drafts(nobody, several)] == [(None, "medium"), (None, "high")]


def test_each_rank_plays_one_part_the_weightiest_first() -> None:
    """At fault before possibly at fault before concerned; ranks without a node are in the evidence alone."""
    row = NEVER | {"ranks": [0, 1, 2, 3, 9], "blamed": [2], "undecided": [1, 2]}
    row |= {"found_ranks": [0, 1, 2, 3], "rank_uids": [10, 11, 12, 13], "collective_uid": None}

    [found] = drafts(row)

    assert parts(found) == [
        ("Rank", 12, "blamed"),
        ("Rank", 11, "undecided"),
        ("Rank", 10, "concerned"),
        ("Rank", 13, "concerned"),
    ]
    assert found.evidence["ranks"] == [0, 1, 2, 3, 9]


def test_the_first_hundred_subjects_are_tied_and_all_are_counted() -> None:
    """The call and those at fault are among them."""
    ranks = list(range(4096))
    row = NEVER | {"ranks": ranks, "found_ranks": ranks, "rank_uids": [10 + rank for rank in ranks]}

    [found] = drafts(row | {"blamed": [4000]})

    assert (len(found.subjects), found.count) == (100, 4097)
    assert parts(found)[:3] == [
        ("Collective", 50, "call"),
        ("Rank", 4010, "blamed"),
        ("Rank", 10, "concerned"),
    ]


def test_a_cause_is_known_again_by_its_rule_call_and_ranks() -> None:
    """Not by its words or its place; another rank, call or rule is another cause."""
    told_anew = NEVER | {"message": "other words", "uid": 91, "confidence": "low", "basis": ""}
    others = [NEVER | {"ranks": [2]}, NEVER | {"collective_seq_id": 7}, NEVER | {"group": "1[0-3]"}]
    others += [NEVER | {"rule": "behind"}]

    [known], [again] = drafts(NEVER), drafts(told_anew)
    different = {draft.subject for row in others for draft in drafts(row)}

    assert again.subject == known.subject
    assert len(different) == 4
    assert known.subject not in different


def test_two_causes_of_the_same_ranks_and_call_stay_two() -> None:
    """Sends of unequal size in both directions between two ranks; the second is told apart by its place."""
    row = NEVER | {"rule": "size_mismatch", "ranks": [0, 1], "blamed": [], "collective_seq_id": None}

    first, second = drafts(row | {"message": "0 to 1"}, row | {"message": "1 to 0"})

    assert first.subject != second.subject
    assert [draft.subject for draft in drafts(row | {"message": "0 to 1"})] == [first.subject]


def test_a_cause_may_rest_on_nothing_told() -> None:
    """No evidence, no call, no rank."""
    bare = dict.fromkeys(NEVER) | {"rule": "in_flight", "message": "m", "found_ranks": [], "rank_uids": []}

    [found] = drafts(bare)

    assert (found.rank, found.subjects, found.evidence["basis"]) == (None, (), None)
