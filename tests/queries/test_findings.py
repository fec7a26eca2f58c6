"""Checking a run and keeping what was found, on both engines."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from graphstore.errors import UsageError
from graphstore.queries import check, findings_of, get, run_query, write_findings
from graphstore.queries.findings import Finding
from graphstore.store import Statement, Store
from tests.queries.cases.health import file
from tests.queries.cases.matching import ALL, collective, rank
from tests.queries.cases.matching_causes import cause
from tests.queries.cases.structure import roots
from tests.queries.graphs import GraphBuilder


def faulty() -> GraphBuilder:
    """Return a run with a cut file, an absent parent on two ranks and no step marks."""
    g = GraphBuilder(run="faulty", world_size=2, ranks=[0, 1])
    for number in (0, 1):
        roots(g, number)
        file(g, f"et_{number}.json", rank=number, step_marks=0, cut_at="byte 9" if number else None)
        g.op("forward", node_id=5, parent_id=4, rank=number)
    return g


def change(store: Store, name: str, **parameters: Any) -> None:
    """Run a writing statement of the catalogue."""
    store.change_run("faulty", [Statement(get(name).text, parameters)])


def test_a_check_gives_one_finding_for_each_cause_errors_first(store: Store) -> None:
    """Nothing is written by it, and it says the same the next time."""
    store.write_run(faulty().build())

    found = check(store, "faulty")

    assert [(f.severity, f.rule, f.rank) for f in found] == [
        ("error", "file_cut", 1),
        ("error", "missing_parent", 0),
        ("error", "missing_parent", 1),
        ("note", "no_step_marks", None),
    ]
    assert check(store, "faulty") == found
    assert findings_of(store, "faulty") == []


def test_a_topic_asks_its_own_checks(store: Store) -> None:
    """And no others; a topic that is none is told."""
    store.write_run(faulty().build())

    assert {f.rule for f in check(store, "faulty", "health")} == {"file_cut", "no_step_marks"}
    with pytest.raises(UsageError, match="no topic"):
        check(store, "faulty", "helth")


def test_a_healthy_run_has_no_finding(store: Store) -> None:
    """Roots, an op and a file with marks."""
    g = GraphBuilder(run="healthy")
    file(g, step_marks=1)
    g.op("aten::add", roots(g), node_id=3, parent_id=2)
    store.write_run(g.build())

    assert check(store, "healthy") == []


def test_kept_findings_are_those_of_the_check_with_their_subjects(store: Store) -> None:
    """Kept twice they are there once, and tied to the ops and files they are about."""
    store.write_run(faulty().build())
    found = check(store, "faulty")

    write_findings(store, "faulty", found)
    write_findings(store, "faulty", found)

    assert findings_of(store, "faulty") == found
    tied = run_query(store, "faulty", "count_finding_subjects").rows()
    assert sorted((rule, role, nodes) for _, rule, role, nodes in tied) == [
        ("file_cut", "file", 1),
        ("missing_parent", "orphan", 1),
        ("missing_parent", "orphan", 1),
        ("no_step_marks", "file", 2),
    ]


def test_causes_of_matching_are_findings_about_their_ranks_and_call(store: Store) -> None:
    """A proven cause is an error, one that cannot be decided a note; kept they are tied to their nodes."""
    g = GraphBuilder(run="jam", world_size=2, ranks=[0, 1])
    for number in (0, 1):
        rank(g, number)
    collective(g, 6, "INCOMPLETE")
    said: dict[str, Any] = {"group": ALL, "collective_seq_id": 6, "confidence": "high", "evidence": "{}"}
    cause(g, 1, "never_called", ranks=[1], blamed=[1], **said)
    cause(g, 2, "in_flight", proven=False, ranks=[0, 1])
    store.write_run(g.build())

    found = check(store, "jam")
    write_findings(store, "jam", found)

    assert [(f.severity, f.rule, f.rank, f.message, f.confidence) for f in found] == [
        ("error", "communication_fault", 1, "never_called!", "high"),
        ("note", "communication_undecided", None, "in_flight!", "medium"),
    ]
    assert findings_of(store, "jam") == found == check(store, "jam")
    tied = run_query(store, "jam", "count_finding_subjects").rows()
    assert sorted((rule, role, nodes) for _, rule, role, nodes in tied) == [
        ("communication_fault", "blamed", 1),
        ("communication_fault", "call", 1),
        ("communication_undecided", "concerned", 2),
    ]


def test_a_finding_keeps_its_id_when_its_facts_change(store: Store) -> None:
    """A second orphan of the same absent parent is the same cause."""
    store.write_run(faulty().build())
    before = check(store, "faulty", "structure")[0]
    write_findings(store, "faulty", [before])

    after = Finding(**{**before.__dict__, "message": "other", "count": 2})
    write_findings(store, "faulty", [after])

    assert findings_of(store, "faulty") == [after]


def test_a_finding_that_is_found_no_more_goes_or_stays_as_repaired(store: Store) -> None:
    """It goes; where a repair answers it, it stays to tell what was repaired."""
    store.write_run(faulty().build())
    found = check(store, "faulty")
    write_findings(store, "faulty", found)
    cut, answered, *rest = found
    change(store, "structure/repair_keep", rows=[{"rid": "faulty:r:0", "properties": {"name": "r"}}])
    change(store, "structure/repair_answer_findings", rows=[{"rid": "faulty:r:0", "fid": answered.fid}])

    write_findings(store, "faulty", rest)

    assert cut not in rest
    assert {(f.fid, f.status) for f in findings_of(store, "faulty")} == {
        (answered.fid, "repaired"),
        *((f.fid, "open") for f in rest),
    }


def test_a_finding_has_its_severity_as_a_label(store: Store) -> None:
    """A graph view colours by label; one whose severity changed has the new label only."""
    store.write_run(faulty().build())
    found = check(store, "faulty")
    note = found[-1]
    write_findings(store, "faulty", [*found[:-1], replace(note, severity="warning")])

    write_findings(store, "faulty", found)

    text = (
        "MATCH (f:Finding) WHERE f.run = $run "
        "RETURN f.severity AS severity, f:Error AS error, f:Warning AS warning, f:Note AS note ORDER BY f.fid"
    )
    rows = set(store.query("faulty", text).rows())
    assert rows == {("error", True, False, False), ("note", False, False, True)}
