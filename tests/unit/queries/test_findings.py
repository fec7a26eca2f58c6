"""What the findings say: one for each cause, a fact with names and counts, and what it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import pytest

from graphstore.queries import findings_health, findings_linking, findings_structure
from graphstore.queries.draft import Context, Draft, counted, duration, listed
from graphstore.queries.findings import CODE_BY_RULE
from graphstore.store.base import Store


class Answers(Context):
    """A context that answers queries from rows given, where no store is."""

    def __init__(self, **rows_by_query: list[dict[str, Any]]) -> None:
        """Keep the rows by the short name of the query."""
        super().__init__(cast(Store, None), "run")
        object.__setattr__(self, "given", rows_by_query)

    def rows(self, name: str, **_: Any) -> list[dict[str, Any]]:
        """Return the rows given for a query."""
        given: Mapping[str, list[dict[str, Any]]] = self.__dict__["given"]
        return [dict(row) for row in given[name.split("/")[1]]]


def drafts(rule: str, rows: list[dict[str, Any]], **answers: list[dict[str, Any]]) -> list[Draft]:
    """Return what the code of a rule makes of rows."""
    return list(CODE_BY_RULE[rule](rows, Answers(**answers)))


HIDDEN = {"rank": 0, "absent_id": 4, "uid": 11, "node_id": 11, "comm_kind": "broadcast", "group": "0[0-1]"}
HIDDEN |= {"kernel": 21, "kernel_correlation": 9001}
PARENT = {"rank": 0, "absent_id": 4, "children": 1, "hidden_ops": 3, "hidden_calls": 1, "subjects": [9]}
AROUND = {"rank": 0, "absent_id": 4, "encloser_name": "ProfilerStep#3", "in_kineto_only": True, "children": 1}


def test_an_absent_parent_names_what_it_hides() -> None:
    """Children, ops, calls by kind; as evidence each call with its kernel, and what encloses the child."""
    [found] = drafts(
        "missing_parent", [PARENT], show_hidden_calls=[HIDDEN], count_enclosers_of_orphans=[AROUND]
    )

    assert found.message == (
        "rank 0: 1 op names parent 4, which is absent; "
        "3 ops and 1 communication call (1 broadcast) hang below"
    )
    assert found.evidence["hidden"] == [
        {
            "uid": 11,
            "node_id": 11,
            "comm_kind": "broadcast",
            "group": "0[0-1]",
            "kernel": 21,
            "kernel_correlation": 9001,
        }
    ]
    assert found.evidence["enclosed_by"] == {"ProfilerStep#3 (in Kineto only)": 1}
    assert [(s.label, s.key, s.role) for s in found.subjects] == [("Op", 9, "orphan")]


def test_two_absent_parents_are_two_findings() -> None:
    """One for each id and rank, with a subject of its own that gives it its id."""
    rows = [PARENT, PARENT | {"absent_id": 5}, PARENT | {"rank": 1}]

    found = drafts("missing_parent", rows, show_hidden_calls=[], count_enclosers_of_orphans=[])

    assert [d.subject for d in found] == ["rank 0 absent 4", "rank 0 absent 5", "rank 1 absent 4"]


RANK = {"rank": 0, "ops": 4}
EDGE = {"edge_type": "CTRL", "sources": [10, 11], "targets": [20, 21]}
SYNC = {"edge_type": "SYNC", "sources": [20, 21], "targets": [11, 10]}


def op(uid: int, node_id: int | None = None, name: str = "op") -> dict[str, Any]:
    """Return a row of show_ops."""
    return {"uid": uid, "node_id": node_id, "name": name}


def test_a_cycle_is_told_as_ids_in_order_with_the_types_of_its_edges() -> None:
    """An op without an id is told by its name."""
    ops = [op(10, 10), op(11, 11), op(20, 20), op(21, None, "sgemm")]

    [found] = drafts("cycle", [RANK], show_edges=[EDGE, SYNC], show_ops=ops)

    assert found.message == "rank 0: cycle 10 -CTRL-> 20 -SYNC-> 11 -CTRL-> sgemm -SYNC-> 10"
    assert found.evidence["first_cycles"] == [
        {
            "ids": [10, 20, 11, "sgemm"],
            "uids": [10, 20, 11, 21],
            "types": ["CTRL", "SYNC", "CTRL", "SYNC"],
            "size": 4,
        }
    ]


def test_many_cycles_are_counted_and_the_first_is_told() -> None:
    """Nodes that name themselves are counted apart."""
    edges = {"edge_type": "DATA", "sources": [1, 2, 5, 6, 9], "targets": [2, 1, 6, 5, 9]}
    ops = [op(uid, uid) for uid in (1, 2, 5, 6, 9)]

    [found] = drafts("cycle", [{"rank": 3, "ops": 5}], show_edges=[edges], show_ops=ops)

    assert found.message == (
        "rank 3: 2 cycles over 4 nodes, the first 1 -DATA-> 2 -DATA-> 1; 1 node names itself"
    )
    assert found.count == 5


def test_edges_without_a_cycle_are_no_finding() -> None:
    """A rank that could hold one need not."""
    assert drafts("cycle", [RANK], show_edges=[EDGE]) == []


def test_ranks_without_step_marks_are_one_line() -> None:
    """One finding for the run; of one rank it is that rank's."""
    rows = [{"rank": rank, "files": 2, "subjects": [10 + rank]} for rank in (0, 1, 3)]

    [found] = drafts("no_step_marks", rows)
    [alone] = drafts("no_step_marks", rows[:1])

    assert found.message == "ranks 0-1,3: no step marks in 6 files, so queries by step are empty"
    assert (found.rank, alone.rank, alone.subject) == (None, 0, found.subject)
    assert [(s.label, s.key) for s in found.subjects] == [("TraceFile", uid) for uid in (10, 11, 13)]


def test_links_by_time_that_disagree_are_counted() -> None:
    """How many of how many, and what was used instead."""
    row = {"rank": 0, "subject": 5, "file": "kineto_0.json", "launches": 2, "disagree": 1}

    [found] = drafts("link_by_time_disagrees", [row])

    assert found.message == (
        "kineto_0.json: link by time disagrees with thread and nesting on 1 of 2 launches; nesting was used"
    )
    assert [(s.label, s.key) for s in found.subjects] == [("TraceFile", 5)]


SAMPLES: dict[str, dict[str, Any]] = {
    "unreachable_component": {"components": 2, "hidden_ops": 14, "hidden_calls": 1, "subjects": [3, 4]},
    "duplicate_id": {"trace_file": 8, "ids": 1, "records": 2, "first_ids": [5], "subjects": [6, 7]},
    "parent_not_enclosing": {"children": 1, "outside_ns": 1500, "subjects": [3]},
    "parent_on_other_thread": {"children": 2, "subjects": [3, 4]},
    "dangling_dep": {"field": "ctrl_deps", "deps": 9, "absent": 7, "absent_ids": [1, 2, 3, 4, 5, 6, 7]}
    | {"subjects": [3]},
    "repeated_dep": {"field": "data_deps", "nodes": 1, "subjects": [3]},
    "missing_size": {"nodes": 14, "of": 21, "subjects": [3]},
    "gpu_leaves": {"gpu_nodes": 3, "with_successors": 0},
    "launched_before_window": {"device_ops": 3, "subjects": [3]},
    "launch_lost": {"device_ops": 1, "subjects": [3]},
    "launch_without_kernel": {"calls": 1, "subjects": [3]},
    "no_host_op": {"device_ops": 1234, "subjects": [3]},
    "linked_past_nccl": {"device_ops": 1, "subjects": [3]},
    "group_unknown": {"calls": 2, "of": 3, "subjects": [3]},
    "incomplete_communication": {"chakra_kind": "COMM_SEND_NODE", "attribute": "comm_dst", "nodes": 2}
    | {"subjects": [3]},
    "wire_type": {"attribute": "comm_size", "nodes": 1, "subjects": [3]},
    "unsupported_collective": {"comm_kind": "barrier", "nodes": 2, "subjects": [3]},
    "communication_on_cpu": {"nodes": 14, "of": 21, "subjects": [3]},
    "cpu_under_gpu": {"nodes": 377, "subjects": [3]},
    "no_type": {"nodes": 1, "subjects": [3]},
    "group_named_by_text": {"groups": ["pp_0", "tp_0"], "nodes": 3, "subjects": [3]},
}
SENTENCES = {
    "unreachable_component": "2 components whose top names no parent hang below no process root: 14 ops, "
    "1 communication call",
    "duplicate_id": "1 id of et.json is used by 2 records: 5",
    "parent_not_enclosing": "1 op lies outside its recorded parent in time, by up to 1.5 µs",
    "parent_on_other_thread": "2 ops have a recorded parent on another thread",
    "dangling_dep": "9 of ctrl_deps name 7 absent ids: 1, 2, 3, 4, 5, …",
    "repeated_dep": "1 node names an id twice in data_deps",
    "missing_size": "14 of 21 communication nodes have no size",
    "gpu_leaves": "GPU nodes with successors: 0 of 3",
    "launched_before_window": "3 device ops were launched before the window",
    "launch_lost": "the launch of 1 device op lies inside the window and is not in the file",
    "launch_without_kernel": "1 launch has no device op",
    "no_host_op": "1,234 device ops were launched inside no host op",
    "linked_past_nccl": "1 NCCL kernel is linked past the nccl: op that launched it",
    "group_unknown": "no file says the process group of 2 of 3 communication calls",
    "incomplete_communication": "2 COMM_SEND_NODEs have no comm_dst",
    "wire_type": "1 communication node holds comm_size as a type that not all readers read",
    "unsupported_collective": "2 collectives are barrier, which ASTRA-sim does not simulate",
    "communication_on_cpu": "14 of 21 communication nodes are marked is_cpu_op",
    "cpu_under_gpu": "377 CPU nodes wait by ctrl_deps for a GPU kernel",
    "no_type": "1 node has no type the format knows",
    "group_named_by_text": "3 collectives name a group by a text that is no number: pp_0, tp_0",
}


@pytest.mark.parametrize("rule", SAMPLES)
def test_a_rule_says_its_fact_for_a_rank(rule: str) -> None:
    """With the number, in the singular for one; the row is the evidence."""
    row = {"rank": 2, **SAMPLES[rule]}

    [found] = drafts(rule, [row], show_files=[{"uid": 8, "name": "et.json"}])

    assert found.message == f"rank 2: {SENTENCES[rule]}"
    assert found.rank == 2
    assert found.evidence


FILES: dict[str, tuple[dict[str, Any], str]] = {
    "file_cut": ({"cut_at": "byte 9", "records": 3}, "is cut off: it ends at byte 9"),
    "no_metadata": ({}, "begins with a node in the place of the metadata"),
    "no_nodes": ({}, "holds no node"),
    "file_unreadable": ({"problem": "no JSON"}, "nothing was read: no JSON"),
    "schema_unknown": ({"schema": None}, "names no schema; its fields fit and were read"),
    "rank_assumed": ({"kind": "et"}, "nothing says its rank; rank 0 is assumed"),
    "different_runs": (
        {"partner": "et.json", "mismatch": "pid 1 / 2"},
        "may be of another run than et.json: pid 1 / 2",
    ),
    "ids_unusable": (
        {"verdict": "zero", "partner": "et.json", "method": "name_order", "candidates": 5, "matched": 5},
        "record function ids are 0 on every op and join nothing; 5 of 5 ops of et.json matched by name_order",
    ),
    "link_incomplete": (
        {"partner": "et.json", "method": "rf_id", "candidates": 10, "matched": 9},
        "9 of 10 ops of et.json matched by rf_id, 1 have no event",
    ),
    "entry_join_disagrees": (
        {"joined": 5, "disagree": 1},
        "time and order join 1 entry to different calls of the traces, so none was joined; 5 were",
    ),
    "external_id_disagrees": (
        {"launches": 2, "disagree": 2},
        "External id names another op than the one round the launch on 2 of 2 launches; nesting was used",
    ),
}


@pytest.mark.parametrize("rule", FILES)
def test_a_rule_says_its_fact_for_a_file(rule: str) -> None:
    """The message begins with the name of the file."""
    row, sentence = FILES[rule]

    [found] = drafts(rule, [{"rank": 0, "subject": 5, "file": "a.json", **row}])

    assert found.message == f"a.json: {sentence}"


def test_every_rule_is_tried_here() -> None:
    """No sentence without a test; those of causes are tried in test_findings_communication.py."""
    tried = {*SAMPLES, *FILES, "missing_parent", "cycle", "no_step_marks", "link_by_time_disagrees"}
    tried |= {"communication_fault", "communication_undecided"}

    assert set(CODE_BY_RULE) - tried == {"ranks_missing", "sync_back_in_time", "waits_against_times"}


def test_missing_ranks_are_named_in_short() -> None:
    """2 of 128."""
    [found] = list(
        findings_health.RULES["ranks_missing"](
            [{"subject": 5, "world_size": 128, "ranks": [1, 0]}], Answers()
        )
    )

    assert found.message == "2 of 128 ranks loaded: 0-1"
    assert (found.count, found.evidence["absent"]) == (126, "2-127")


def test_a_wait_back_in_time_names_both_ends() -> None:
    """The first by their ids, with the longest way back."""
    row = {"rank": 0, "edges": 2, "back_ns": 80_000, "subjects": [10]}
    ends = {"rank": 0, "waits_node_id": 10, "waits_name": "op", "awaited_node_id": None, "awaited_name": "k"}
    shown = [ends, ends | {"rank": 1}]

    [found] = list(
        findings_structure.RULES["sync_back_in_time"]([row], Answers(show_syncs_back_in_time=shown))
    )

    assert found.message == "rank 0: 2 SYNC edges point back in time, by up to 80 µs: 10 waits for k …"
    assert found.evidence["first"] == [ends]


def test_waits_that_the_times_contradict_are_named_by_rule() -> None:
    """What a rule names and no edge was made of is counted, not hidden; the rank is the subject."""
    by_rule = '{"collective_wait.likely":2,"host_wait.recorded":1}'
    row = {"rank": 3, "subject": 5, "waits": 3, "by_rule": by_rule}

    [found] = drafts("waits_against_times", [row])

    assert found.message == (
        "rank 3: 3 waits contradict the times and are left out "
        "(collective_wait.likely 2, host_wait.recorded 1)"
    )
    assert found.evidence == {"waits": 3, "by_rule": {"collective_wait.likely": 2, "host_wait.recorded": 1}}
    assert (found.count, [(s.label, s.key) for s in found.subjects]) == (3, [("Rank", 5)])
    [one] = drafts("waits_against_times", [row | {"waits": 1, "by_rule": '{"host_wait.recorded":1}'}])
    assert one.message == "rank 3: 1 wait contradicts the times and is left out (host_wait.recorded 1)"


def test_an_unmatched_pair_says_so() -> None:
    """No count of nothing."""
    row = {"verdict": "absent", "partner": None, "method": "none", "candidates": 5, "matched": 0}

    [found] = list(
        findings_linking.RULES["ids_unusable"]([{"rank": 0, "subject": 5, "file": "k", **row}], Answers())
    )

    assert found.message == "k: record function ids are absent and join nothing; no op was matched"


def test_numbers_read_alike_everywhere() -> None:
    """Thousands are parted, plurals are right, times have the unit that reads best."""
    assert [counted(1, "op"), counted(0, "op"), counted(1234, "launch", "launches")] == [
        "1 op",
        "0 ops",
        "1,234 launches",
    ]
    assert [duration(3), duration(1500), duration(20_000_000), duration(3_000_000_000)] == [
        "3 ns",
        "1.5 µs",
        "20 ms",
        "3 s",
    ]
    assert [listed([1, 2]), listed([1, 2], 3), listed(list(range(6)))] == ["1, 2", "1, 2", "0, 1, 2, 3, 4, …"]
