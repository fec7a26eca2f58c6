"""Repairs on the recorded sets, on both engines: the right parents, one component, exact undo."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from graphstore import queries, repairs
from graphstore.api.importing import ImportOptions, import_files
from graphstore.model.schema import OP_KINDS
from graphstore.queries import run_query
from graphstore.readers import FoundFiles, find_files
from graphstore.repairs import Plan
from graphstore.settings import Settings
from graphstore.store import Store
from tests.integration.graph_dump import Dump, dump

RUN = "r"
MISSING = "missing_parents"
A2 = f"{MISSING}/a2_stop_inside_forward"
A4 = f"{MISSING}/a4_stop_inside_record_function"
B1 = f"{MISSING}/b1_manual_et_stop_before_prof_step"
B5 = f"{MISSING}/b5_unregister_with_profilerstep_open"
C1 = f"{MISSING}/c1_start_on_other_thread"
E3 = f"{MISSING}/e3_killed"
SOUND = [
    f"{MISSING}/{name}"
    for name in (
        "a0_baseline_whole_steps",
        "b2_manual_et_stop_after_prof_step",
        "d2_async_collectives_overlap",
        "f3_two_windows_one_file",
    )
]
PROVEN = [B1, B5, "demo_4r", "fsdp_alexnet_2r"]
INFERRED = [A2, A4, C1, E3, "torch213/uneven_size"]
ALL = [*SOUND, *PROVEN, *INFERRED]

pytestmark = pytest.mark.data


def imported(store: Store, folder: Path) -> None:
    """Import the files of a folder, and keep what the checks find."""
    import_files(store, find_files([str(folder)]), ImportOptions(run=RUN), Settings(store="-"))
    queries.write_findings(store, RUN, queries.check(store, RUN))


def facts(folder: Path) -> dict[str, Any]:
    """Return the facts counted from the files of a set."""
    found: dict[str, Any] = json.loads((folder / "expected.json").read_text())
    return found


def plan_counts(plan: Plan) -> Counter[tuple[int, str]]:
    """Return {(rank, rule): changes that give an op a parent}, those about wrong parents aside."""
    return Counter(
        (change.rank, change.rule)
        for change in plan
        if change.before.get("parent", "") is None and "node_id" not in change.after
    )


def recorded_components(store: Store, rank: int) -> list[int]:
    """Return the sizes of the components over recorded host ops and CTRL edges between them."""
    text = (
        "MATCH (n:HostOp) WHERE n.run = $run AND n.rank = $rank AND n.node_id IS NOT NULL RETURN n.uid AS uid"
    )
    nodes = np.sort(store.query(RUN, text, {"rank": rank})["uid"].to_numpy())
    text = (
        "MATCH (a:HostOp)-[:CTRL]->(b:HostOp) WHERE a.run = $run AND a.rank = $rank "
        "AND a.node_id IS NOT NULL AND b.node_id IS NOT NULL RETURN a.uid AS a, b.uid AS b"
    )
    edges = store.query(RUN, text, {"rank": rank})
    ends = np.searchsorted(nodes, edges["a"].to_numpy()), np.searchsorted(nodes, edges["b"].to_numpy())
    matrix = coo_array((np.ones(edges.height, np.int8), ends), shape=(len(nodes), len(nodes)))
    _, found = connected_components(matrix, directed=False)
    return sorted(Counter(found.tolist()).values(), reverse=True)


def ranks_of(store: Store) -> list[int]:
    """Return the ranks of the run."""
    ranks: list[int] = store.runs()[0]["ranks"]
    return ranks


def parents(store: Store, rank: int) -> dict[int, tuple[int | None, str]]:
    """Return {node_id: (node_id, name) of its caller} of a rank's recorded host ops."""
    text = (
        "MATCH (a:HostOp)-[:CTRL]->(b:HostOp) WHERE a.run = $run AND a.rank = $rank "
        "AND b.node_id IS NOT NULL RETURN b.node_id AS child, a.node_id AS parent, a.name AS name"
    )
    rows = store.query(RUN, text, {"rank": rank}).iter_rows()
    return {child: (parent, name) for child, parent, name in rows}


def calls_by_start(store: Store) -> list[tuple[Any, ...]]:
    """Return the communication calls of the run in the order of rank and start."""
    text = (
        "MATCH (c:CollectiveCall) WHERE c.run = $run AND c.start_ns IS NOT NULL "
        "RETURN c.rank AS rank, c.start_ns AS start, c.uid AS uid, c.collective_kind AS kind "
        "ORDER BY rank, start, uid"
    )
    return store.query(RUN, text).rows()


def without_findings_status(found: Dump) -> Dump:
    """Return a dump without what repairs and findings add: repairs themselves and status of findings."""
    return {name: rows for name, rows in found.items() if not name.startswith(("Finding", "Repair", "MADE"))}


@pytest.mark.parametrize("name", ALL)
def test_one_component_a_rank_then_nothing_more_then_exactly_as_before(
    name: str, store: Store, data_dir: Path
) -> None:
    """Components are those counted before; one after all repairs; a second repair is empty; undo is exact."""
    folder = data_dir / name
    imported(store, folder)
    before = dump(store, RUN)
    et = [file for file in facts(folder)["files"].values() if file["kind"] == "et"]
    sizes = [recorded_components(store, rank) for rank in ranks_of(store)]
    assert [len(own) for own in sizes] == [file["components"] for file in et]
    largest = [[size for size in file["component_sizes"] if size != "..."] for file in et]
    assert [own[: len(first)] for own, first in zip(sizes, largest, strict=True)] == largest

    plan = repairs.plan(store, RUN)
    applied = repairs.apply(store, RUN, plan, unsafe=True)

    assert sum(repair["changes"] for repair in applied) == len(plan)
    assert [len(recorded_components(store, rank)) for rank in ranks_of(store)] == [1] * len(et)
    repaired = dump(store, RUN)
    assert repairs.apply(store, RUN, plan, unsafe=True) == []
    assert len(repairs.plan(store, RUN)) == 0
    assert dump(store, RUN) == repaired
    assert repairs.undo(store, RUN) == len(applied)
    assert dump(store, RUN) == before
    assert repairs.undo(store, RUN) == 0


@pytest.mark.parametrize("name", ["demo_4r", "torch213/uneven_size"])
def test_after_repair_the_checks_find_no_missing_parent_and_time_is_untouched(
    name: str, store: Store, data_dir: Path
) -> None:
    """The findings are repaired and stay so in the next check; no start, duration or self time changes."""
    imported(store, data_dir / name)
    calls, times = calls_by_start(store), _times(store)
    found = {finding.fid for finding in queries.findings_of(store, RUN) if finding.rule == "missing_parent"}

    repairs.apply(store, RUN, repairs.plan(store, RUN), unsafe=True)

    status = {finding.fid: finding.status for finding in queries.findings_of(store, RUN)}
    assert {fid: status[fid] for fid in found} == dict.fromkeys(found, "repaired")
    again = queries.check(store, RUN)
    assert not [each for each in again if each.rule in ("missing_parent", "unreachable_component", "cycle")]
    queries.write_findings(store, RUN, again)
    kept = {finding.fid: finding.status for finding in queries.findings_of(store, RUN)}
    assert {fid: kept[fid] for fid in found} == dict.fromkeys(found, "repaired")
    assert calls_by_start(store) == calls
    assert _times(store) == times


@pytest.mark.parametrize("name", ["demo_4r", SOUND[0]])
def test_the_findings_of_a_check_are_kept_with_the_repairs_in_one_change(
    name: str, store: Store, data_dir: Path
) -> None:
    """As if kept before: what repairs answer is repaired, all else is open, also where no repair is due."""
    imported(store, data_dir / name)
    found = queries.findings_of(store, RUN)
    queries.write_findings(store, RUN, [])
    plan = repairs.plan(store, RUN)

    applied = repairs.apply(store, RUN, plan, unsafe=True, found=found)

    together = queries.findings_of(store, RUN)
    assert repairs.undo(store, RUN) == len(applied)
    assert queries.findings_of(store, RUN) == found
    assert repairs.apply(store, RUN, plan, unsafe=True) or not applied
    assert queries.findings_of(store, RUN) == together


def _times(store: Store) -> list[tuple[Any, ...]]:
    text = (
        "MATCH (n:HostOp) WHERE n.run = $run AND n.start_ns IS NOT NULL "
        "RETURN n.uid AS uid, n.start_ns AS start, n.duration_ns AS duration, n.self_ns AS own ORDER BY uid"
    )
    return store.query(RUN, text).rows()


@pytest.mark.parametrize("name", PROVEN)
def test_where_kineto_shows_the_parent_each_orphan_gets_it(name: str, store: Store, data_dir: Path) -> None:
    """Safe changes are enough; every orphan is under the restored step, a gloo worker under its call."""
    folder = data_dir / name
    imported(store, folder)
    plan = repairs.plan(store, RUN)

    repairs.apply(store, RUN, plan)

    pairs = facts(folder)["pairs"]
    for rank in ranks_of(store):
        enclosed = pairs[rank]["orphans"]["innermost_encloser_in_time"]
        step, count = next((n, c) for n, c in enclosed.items() if n.startswith("ProfilerStep"))
        workers = enclosed.get("nothing encloses it", 0)
        got = plan_counts(plan)
        assert got[rank, "restore_from_kineto"] == count
        assert got[rank, "worker_of_call"] == workers
        assert (got[rank, "thread_root"], got[rank, "enclosing_op"]) == (0, 0)
        under = Counter(caller for caller in parents(store, rank).values())
        absent_id = next(
            c.evidence["absent_id"] for c in plan if c.rank == rank and "absent_id" in c.evidence
        )
        assert under[absent_id, step.removesuffix(" (not in the ET)")] == count
        assert len(recorded_components(store, rank)) == 1


@pytest.mark.parametrize("name", ["demo_4r", "fsdp_alexnet_2r"])
def test_each_orphan_is_where_the_recording_script_had_it(name: str, store: Store, data_dir: Path) -> None:
    """The script logged what was open round each op: `NODE NAME in ANCESTOR`, or whose work a gloo op is."""
    folder = data_dir / name
    imported(store, folder)

    repairs.apply(store, RUN, repairs.plan(store, RUN))

    for rank, lines in facts(folder)["known_from_the_script"]["orphans"].items():
        found = parents(store, int(rank))
        for line in lines:
            node_id = int(line.split(" ", 1)[0])
            if "work of " in line:
                assert found[node_id][0] == int(line.split("work of ")[1].split(" ")[0])
            else:
                assert found[node_id][1] == line.rsplit(" in ", 1)[1]


def test_the_last_all_reduce_of_fsdp_still_comes_last(store: Store, data_dir: Path) -> None:
    """13 calls were hidden: all are reached from the root, and the loss's all_reduce starts after them."""
    imported(store, data_dir / "fsdp_alexnet_2r")

    repairs.apply(store, RUN, repairs.plan(store, RUN), unsafe=True)

    by_rank = {rank: [call for call in calls_by_start(store) if call[0] == rank] for rank in (0, 1)}
    assert [[call[3] for call in calls][-1] for calls in by_rank.values()] == ["all_reduce", "all_reduce"]
    shown = run_query(store, RUN, "structure/show_components")
    assert shown.select("why", "calls").rows() == [("process root", 13)] * 2


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        (A2, {(0, "thread_root"): 2, (1, "thread_root"): 2}),
        (A4, {(0, "thread_root"): 52, (1, "thread_root"): 52}),
        (C1, {(1, "thread_root"): 3}),
        (E3, {(0, "recreate_root"): 1, (1, "recreate_root"): 1}),
        (
            "torch213/uneven_size",
            {(0, "recreate_root"): 1, (0, "thread_root"): 1, (1, "recreate_root"): 1},
        ),
    ],
)
def test_without_kineto_the_ordered_rule_ends_at_the_roots_and_asks_first(
    name: str, changes: dict[tuple[int, str], int], store: Store, data_dir: Path
) -> None:
    """Nothing of it is proven: without being asked to, nothing is written."""
    imported(store, data_dir / name)
    before = dump(store, RUN)

    plan = repairs.plan(store, RUN)

    assert plan_counts(plan) == changes
    assert plan.safe == ()
    assert repairs.apply(store, RUN, plan) == []
    assert dump(store, RUN) == before


def test_a_recreated_root_is_the_only_op_repairs_ever_make(store: Store, data_dir: Path) -> None:
    """e3: the root is synthetic, carries the id its thread roots name, and says which repair made it."""
    imported(store, data_dir / E3)

    repairs.apply(store, RUN, repairs.plan(store, RUN), unsafe=True)

    text = (
        "MATCH (n:HostOp) WHERE n.run = $run AND n.synthetic = true "
        "RETURN n.rank AS rank, n.node_id AS node_id, n.name AS name, n.repair AS repair, "
        "n.duration_ns AS duration ORDER BY rank"
    )
    root = "[pytorch|profiler|execution_trace|process]"
    assert store.query(RUN, text).rows() == [
        (rank, 1, root, f"{RUN}:recreate_root:{rank}", None) for rank in (0, 1)
    ]


def test_safe_then_unsafe_is_the_same_as_both_at_once(store: Store, data_dir: Path) -> None:
    """A person looks at what is left after the proven part; the end is the same graph."""
    imported(store, data_dir / "demo_4r")
    repairs.apply(store, RUN, repairs.plan(store, RUN), unsafe=True)
    at_once = dump(store, RUN)
    repairs.undo(store, RUN)

    first = repairs.apply(store, RUN, repairs.plan(store, RUN))
    left = repairs.plan(store, RUN)
    repairs.apply(store, RUN, left, unsafe=True)

    assert all(repair["safe"] for repair in first)
    assert left.safe == ()
    assert without_findings_status(dump(store, RUN)) == without_findings_status(at_once)


def test_a_repair_says_what_it_did_and_which_finding_it_answers(store: Store, data_dir: Path) -> None:
    """One Repair a rule and rank, with reason, evidence, old and new values, and its finding."""
    imported(store, data_dir / B1)
    missing = {f.rank: f.fid for f in queries.findings_of(store, RUN) if f.rule == "missing_parent"}

    repairs.apply(store, RUN, repairs.plan(store, RUN))

    shown = run_query(store, RUN, "structure/show_repairs").to_dicts()
    assert [(row["rule"], row["rank"], row["safe"], row["changes"]) for row in shown] == [
        ("restore_from_kineto", rank, True, 27) for rank in (0, 1)
    ]
    for row in shown:
        assert row["findings"] == [missing[row["rank"]]]
        assert "ProfilerStep#3" in row["reason"]
        assert json.loads(row["evidence"])[0]["share"] == 1.0
        assert len(json.loads(row["before"])) == len(json.loads(row["after"])) == 27


def test_mini_01_the_lone_orphan_goes_under_its_thread_root(store: Store, data_dir: Path) -> None:
    """One child is no proof of the step round it: node 9 goes under node 2, marked, and no op is made."""
    imported(store, data_dir / "mini/01-missing-parent-hides-collective")
    assert recorded_components(store, 0) == [6, 3]

    repairs.apply(store, RUN, repairs.plan(store, RUN), unsafe=True)

    text = (
        "MATCH (a:Op)-[e:CTRL]->(b:Op) WHERE a.run = $run AND e.repair IS NOT NULL "
        "RETURN a.node_id AS parent, b.node_id AS child, b.parent_id AS named, e.rule AS rule, "
        "e.repair AS repair"
    )
    assert store.query(RUN, text).rows() == [(2, 9, 4, "thread_root", f"{RUN}:thread_root:0")]
    assert recorded_components(store, 0) == [9]


def sync_edges(store: Store) -> list[tuple[int, int]]:
    """Return (awaited, waiting) ids of the SYNC edges."""
    text = (
        "MATCH (a:Op)-[:SYNC]->(b:Op) WHERE a.run = $run RETURN a.node_id AS a, b.node_id AS b ORDER BY a, b"
    )
    return store.query(RUN, text).rows()


def test_mini_03_only_the_wait_back_in_time_is_dropped(store: Store, data_dir: Path) -> None:
    """10 no longer waits for 21, 11 still waits for 20; the findings are repaired; undo is exact."""
    imported(store, data_dir / "mini/03-sync-edge-makes-cycle")
    before = dump(store, RUN)
    assert sync_edges(store) == [(20, 11), (21, 10)]

    applied = repairs.apply(store, RUN, repairs.plan(store, RUN))

    assert sync_edges(store) == [(20, 11)]
    assert [(repair["rule"], repair["changes"]) for repair in applied] == [("drop_back_edge", 1)]
    status = {f.rule: f.status for f in queries.findings_of(store, RUN)}
    assert (status["cycle"], status["sync_back_in_time"]) == ("repaired", "repaired")
    assert not [f for f in queries.check(store, RUN) if f.rule in ("cycle", "sync_back_in_time")]
    repairs.undo(store, RUN)
    assert dump(store, RUN) == before


def test_mini_14_streams_are_ordered_only_on_request(store: Store, data_dir: Path) -> None:
    """Without being asked nothing is added; asked, 21 follows 20 on stream 7 and nothing crosses streams."""
    imported(store, data_dir / "mini/14-gpu-nodes-are-leaves")
    before = dump(store, RUN)
    plan = repairs.plan(store, RUN)

    assert repairs.apply(store, RUN, plan) == []
    assert sync_edges(store) == []
    repairs.apply(store, RUN, plan, unsafe=True)

    assert sync_edges(store) == [(20, 21)]
    assert len(repairs.plan(store, RUN)) == 0
    repairs.undo(store, RUN)
    assert dump(store, RUN) == before


@pytest.mark.slow
def test_a_chakra_file_with_cycles_has_none_after_repair(store: Store, data_dir: Path) -> None:
    """417 cycles and 383 nodes that name themselves: all gone on request, no node lost, undo exact.

    What is proven (no node waits for itself) comes first; the rest is added to the same Repair.
    """
    files = [str(data_dir / "public/chakra_et/feeder_test.0.et")]
    import_files(store, FoundFiles(files), ImportOptions(run=RUN), Settings(store="-"))
    before = dump(store, RUN)
    assert [f.evidence["cycles"] for f in queries.check(store, RUN) if f.rule == "cycle"] == [417]

    plan = repairs.plan(store, RUN)
    proven = repairs.apply(store, RUN, plan)
    every = repairs.apply(store, RUN, plan, unsafe=True)

    assert [(repair["changes"], repair["safe"]) for repair in proven] == [(383, True)]
    assert [(repair["changes"], repair["safe"]) for repair in every] == [(len(plan), False)]
    assert not [f for f in queries.check(store, RUN) if f.rule == "cycle"]
    after = dump(store, RUN)
    assert {kind: len(after[kind]) for kind in OP_KINDS} == {kind: len(before[kind]) for kind in OP_KINDS}
    assert repairs.undo(store, RUN) == 1
    assert dump(store, RUN) == before
