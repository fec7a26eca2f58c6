"""The checks, on every shared set of traces, against the facts that were counted of the files by other means.

Each set is imported once per engine; expected.json lies beside the traces and says how it was counted.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.integration.archives import Archive

pytestmark = pytest.mark.data

SETS = (
    "demo_4r",
    "fr_et_kineto",
    "fsdp_alexnet_2r",
    "mini/01-missing-parent-hides-collective",
    "mini/02-external-id-beats-nearest-time",
    "mini/03-sync-edge-makes-cycle",
    "mini/08-no-profiler-step",
    "mini/10-kernels-launched-before-the-window",
    "mini/14-gpu-nodes-are-leaves",
    "mini/16-cross-rank-subgroups",
    "missing_parents/a0_baseline_whole_steps",
    "missing_parents/a2_stop_inside_forward",
    "missing_parents/a4_stop_inside_record_function",
    "missing_parents/b1_manual_et_stop_before_prof_step",
    "missing_parents/b2_manual_et_stop_after_prof_step",
    "missing_parents/b5_unregister_with_profilerstep_open",
    "missing_parents/c1_start_on_other_thread",
    "missing_parents/d2_async_collectives_overlap",
    "missing_parents/e3_killed",
    "missing_parents/f3_two_windows_one_file",
    "public/chakra_102",
    "public/chakra_et",
    "public/chakra_et/all_reduce_8npus",
    "public/chakra_et/custom_ring_8npus",
    "public/cuda_event_sync",
    "public/cuda_event_sync_multi_stream",
    "public/dlrm_8r",
    "public/hta_sampled_2of128",
    "public/kineto_b200",
    "public/kineto_h100",
    "public/kineto_mi300_graph",
    "public/kineto_mi300_triton",
    "public/linear",
    "public/no_rank",
    "public/resnet_103",
    "public/simple_add",
    "torch213/ddp_cnn_2r",
    "torch213/ddp_cnn_2r_sched",
    "torch213/ddp_cnn_4r",
    "torch213/fsdp2_2r",
    "torch213/mid_transformer_8r",
    "torch213/tp_pp_4r",
    "torch213/uneven_order",
    "torch213/uneven_size",
    "torch213/uneven_skip",
    "torch214_synthgpu_2r",
)
BIG = pytest.param("torch213_big", marks=pytest.mark.slow)
EVERY = (*SETS, BIG)


# --- every set --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EVERY)
def test_absent_parents_are_found_per_id_with_their_children(archive: Archive, name: str) -> None:
    """And as many communication calls hang below them as a walk from the root does not reach."""
    found: dict[int, dict[str, int]] = {}
    hidden: Counter[int] = Counter()
    for row in archive.rows(name, "structure/find_missing_parents"):
        found.setdefault(row["rank"], {})[str(row["absent_id"])] = row["children"]
        hidden[row["rank"]] += row["hidden_calls"]

    facts = archive.files(name, "et", "et_plus")
    assert found == {rank: fact["absent_parents"] for rank, fact in facts.items() if fact["absent_parents"]}
    rooted = {rank: fact for rank, fact in facts.items() if fact["process_root"]}
    assert {rank: hidden[rank] for rank in rooted} == {rank: _lost(fact) for rank, fact in rooted.items()}


def _lost(fact: dict[str, Any]) -> int:
    """Return the calls of an execution trace that a walk from its root does not reach."""
    nodes = fact.get("comm_nodes_not_reached_from_process_root") or {}
    called = sum(count for op, count in nodes.items() if op.startswith("c10d::"))
    return int(nodes.get("record_param_comms", called))


@pytest.mark.parametrize("name", EVERY)
def test_components_have_the_sizes_counted(archive: Archive, name: str) -> None:
    """Number, the twelve largest, and what is reached from the process root."""
    rows = archive.rows(name, "structure/show_components")

    for rank, fact in archive.files(name, "et", "et_plus").items():
        own = [row for row in rows if row["rank"] == rank]
        sizes = [size for size in fact["component_sizes"] if size != "..."]
        assert len(own) == fact["components"]
        assert [row["ops"] for row in own][: len(sizes)] == sizes
        reached = [row["ops"] for row in own if row["why"] == "process root"]
        assert reached == ([fact["reached_from_process_root"]] if fact["process_root"] else [])


@pytest.mark.parametrize("name", EVERY)
def test_recorded_parents_fare_in_time_as_counted(archive: Archive, name: str) -> None:
    """Enclosing, not enclosing, on another thread (a worker's op under its call is there too)."""
    facts = archive.expected(name).get("pairs", [])
    timed = [fact for fact in facts if "named_parent_in_time" in fact]
    ranks = {row["kineto"]: row["rank"] for row in archive.rows(name, "linking/show_links")}
    rows = archive.rows(name, "structure/count_parents_in_time")

    for fact in timed:
        own = {row["place"]: row["children"] for row in rows if row["rank"] == ranks[fact["kineto"]]}
        counted = fact["named_parent_in_time"]
        assert own.get("not enclosing", 0) == counted["does_not_enclose"]
        other = own.get("other thread", 0) + own.get("worker of a call", 0)
        assert other == counted["on_another_thread"]
        assert sum(own.values()) == counted["checked"]


@pytest.mark.parametrize("name", EVERY)
def test_device_ops_are_linked_as_counted(archive: Archive, name: str) -> None:
    """Found, before the window and lost inside; and how many are enclosed by a host op."""
    rows = archive.rows(name, "linking/count_kernels_by_launch")

    for rank, fact in archive.files(name, "kineto").items():
        own = {row["launch_class"]: row["device_ops"] for row in rows if row["rank"] == rank}
        launch = fact.get("launch", {"found": 0, "before_window": 0, "lost_inside": 0})
        assert own.get("before_window", 0) == launch["before_window"]
        assert own.get("lost", 0) == launch["lost_inside"]
        assert own.get("launched", 0) + own.get("graph_replay", 0) == launch["found"]
        enclosed = sum(row["with_host_op"] for row in rows if row["rank"] == rank)
        assert enclosed == launch.get("enclosed_by_host_op", 0)


@pytest.mark.parametrize("name", EVERY)
def test_errors_are_those_the_files_hold(archive: Archive, name: str) -> None:
    """A healthy set gives none; a faulty one gives no error of another rule."""
    facts = archive.expected(name)["files"].values()
    wanted = {"missing_parent"} if any(fact.get("absent_parents") for fact in facts) else set()
    wanted |= {"file_cut"} if any(fact.get("read", "").startswith("cut") for fact in facts) else set()
    wanted |= {"duplicate_id"} if any(fact.get("ids_used_more_than_once") for fact in facts) else set()
    wanted |= (
        {"cycle"} if any(fact.get("cycles") or fact.get("cycles_all_edges") for fact in facts) else set()
    )
    wanted |= {"dangling_dep"} if any(fact.get("dangling", {}).get("nodes") for fact in facts) else set()
    wanted |= {"missing_size"} if any(fact.get("comm_nodes_without_comm_size") for fact in facts) else set()
    without_type = any(fact.get("comm_by_type", {}).get("no comm_type") for fact in facts)
    wanted |= {"incomplete_communication"} if without_type else set()
    wanted |= {"sync_back_in_time"} if name.startswith("mini/03") else set()
    matching = archive.expected(name).get("matching", {})
    wanted |= {"communication_fault"} if matching.get("healthy") is False else set()

    assert {f.rule for f in archive.findings(name) if f.severity == "error"} == wanted


# --- single sets ------------------------------------------------------------------------------------------


def test_the_call_that_is_lost_is_named_with_its_kernel(archive: Archive) -> None:
    """mini 01: node 11, a broadcast on group 0, and the kernel of correlation 9001."""
    [found] = [f for f in archive.findings(SETS[3]) if f.rule == "missing_parent"]

    [lost] = found.evidence["hidden"]
    assert (lost["node_id"], lost["comm_kind"], lost["kernel_correlation"]) == (11, "broadcast", 9001)
    assert lost["group"].startswith("0[")
    assert found.evidence["enclosed_by"] == {"ProfilerStep#3 (in Kineto only)": 1}


def test_a_link_by_time_that_disagrees_is_told(archive: Archive) -> None:
    """mini 02: 1 of 2."""
    [message] = archive.messages("link_by_time_disagrees", "mini/02-external-id-beats-nearest-time")

    assert "on 1 of 2 launches" in message


def test_a_cycle_is_told_as_ids_in_order(archive: Archive) -> None:
    """mini 03: through the sync edge that points back in time."""
    name = "mini/03-sync-edge-makes-cycle"

    [cycle] = archive.messages("cycle", name)
    [back] = archive.messages("sync_back_in_time", name)

    assert cycle == "rank 0: cycle 10 -CTRL-> 20 -SYNC-> 11 -CTRL-> 21 -SYNC-> 10"
    assert back.endswith("by up to 80 µs: 10 waits for 21")


@pytest.mark.parametrize(
    ("file", "told"),
    [
        ("a_schema_1.0.1.json", []),
        ("b_schema_1.1.1-chakra.1.0.0.json", []),
        ("c_schema_7.3.0-chakra.9.9.9.json", ["schema '7.3.0-chakra.9.9.9' is unknown"]),
        ("d_no_schema.json", ["names no schema"]),
    ],
)
def test_schemas_load_alike_and_the_unknown_are_told(archive: Archive, file: str, told: list[str]) -> None:
    """mini 04: three nodes and two parent edges in each form."""
    path = f"mini/04-schema-versions/{file}"

    assert [row["ops"] for row in archive.rows(path, "structure/show_components")] == [3]
    found = archive.messages("schema_unknown", path)
    assert len(found) == len(told)
    assert all(part in message for part, message in zip(told, found, strict=True))


@pytest.mark.parametrize(("form", "verdict"), [("zero", "are 0 on every op"), ("absent", "are absent")])
def test_ids_that_join_nothing_are_told_and_names_used_instead(
    archive: Archive, form: str, verdict: str
) -> None:
    """mini 05: all five ops are paired by name order, and each kernel reaches its op."""
    folder = "mini/05-record-function-id-zero-or-absent"
    files = (f"{folder}/host_0.json", f"{folder}/kineto_rf_{form}.json")

    [message] = archive.messages("ids_unusable", *files)

    assert f"record function ids {verdict}" in message
    assert "5 of 5 ops of host_0.json matched by name_order" in message
    ends = []
    for kernel in archive.rows(files, "structure/show_ops", uids=_kernels(archive, files)):
        [_, host, *_] = archive.rows(files, "linking/show_kernel_path", kernel=kernel["uid"])
        [op] = archive.rows(files, "structure/show_ops", uids=[host["uid"]])
        ends.append(op["node_id"])
    assert sorted(ends) == [11, 13, 14]


def _kernels(archive: Archive, names: tuple[str, ...]) -> list[int]:
    """Return the uids of the device ops of a run."""
    text = "MATCH (k:Kernel) WHERE k.run = $run RETURN k.uid AS uid ORDER BY uid"
    return [int(uid) for uid in archive.store.query(archive.run_of(*names), text)["uid"]]


def test_a_run_without_step_marks_says_so_once(archive: Archive) -> None:
    """mini 08: one line."""
    assert archive.messages("no_step_marks", "mini/08-no-profiler-step") == [
        "rank 0: no step marks in 2 files, so queries by step are empty"
    ]


def test_launches_before_the_window_and_lost_ones_are_two_findings(archive: Archive) -> None:
    """mini 10: three and one, not four alike."""
    name = "mini/10-kernels-launched-before-the-window"

    assert archive.messages("launched_before_window", name) == [
        "rank 0: 3 device ops were launched before the window"
    ]
    assert archive.messages("launch_lost", name) == [
        "rank 0: the launch of 1 device op lies inside the window and is not in the file"
    ]


@pytest.mark.parametrize(
    ("file", "errors"),
    [
        ("a_dep_on_absent_node_0.et", {"dangling_dep": "names 1 absent id: 0"}),
        ("b_node_id_0_present.et", {}),
        ("c_comm_size_int64_field9.et", {}),
        ("d_comm_size_uint64_field13.et", {}),
        ("e_comm_size_missing.et", {"missing_size": "1 of 1 communication node has no size"}),
        ("f_two_cycle.et", {"cycle": "cycle 5 -"}),
        ("g_cut.et", {"file_cut": "g_cut.et: is cut off"}),
    ],
)
def test_defects_of_chakra_files_are_told(archive: Archive, file: str, errors: dict[str, str]) -> None:
    """mini 13: dangling, without a size, in a cycle, cut; id 0 and either wire type are well."""
    path = f"mini/13-et-dangling-dep-and-wire-types/{file}"

    found = {f.rule: f.message for f in archive.findings(path) if f.severity == "error"}

    assert found.keys() == errors.keys()
    assert all(part in found[rule] for rule, part in errors.items())


def test_an_unsigned_size_is_told_as_what_not_all_readers_read(archive: Archive) -> None:
    """mini 13: d has comm_size in field 13, c in field 9 as every public file; both are 4,096 bytes."""
    unsigned, signed = (
        archive.messages("wire_type", f"mini/13-et-dangling-dep-and-wire-types/{file}.et")
        for file in ("d_comm_size_uint64_field13", "c_comm_size_int64_field9")
    )

    assert (len(unsigned), signed) == (1, [])
    assert "1 communication node holds comm_size" in unsigned[0]


def test_device_ops_without_any_successor_are_told(archive: Archive) -> None:
    """mini 14: 0 of 3."""
    assert archive.messages("gpu_leaves", "mini/14-gpu-nodes-are-leaves") == [
        "rank 0: GPU nodes with successors: 0 of 3"
    ]


def test_groups_of_one_description_are_told_apart(archive: Archive) -> None:
    """mini 16: three groups, 19 calls, each in its group; `wait` is no call."""
    name = "mini/16-cross-rank-subgroups"

    rows = archive.rows(name, "communication/show_groups")

    assert {tuple(row["members"]): row["calls"] for row in rows} == {(0, 1, 2, 3): 8, (0, 2): 5, (1, 3): 6}
    (mismatch,) = [f for f in archive.findings(name) if f.severity != "note"]
    assert mismatch.message.startswith("#5 on mesh_dp[1,3]: rank 1 called all_reduce [48] Float; rank 3")


def test_the_known_bad_chakra_file_is_told_whole(archive: Archive) -> None:
    """417 cycles over 971 nodes, 383 that name themselves, 1,277 deps on 210 absent ids, 14 of 21 sizes."""
    by_rule = {f.rule: f for f in archive.findings("public/chakra_et")}
    facts = archive.expected("public/chakra_et")["files"]["feeder_test.0.et"]

    cycle, dangling = by_rule["cycle"].evidence, by_rule["dangling_dep"].evidence
    assert cycle["cycles"] == facts["cycles"]
    assert cycle["nodes"] == facts["nodes_in_cycles"]
    assert cycle["nodes_that_name_themselves"] == facts["nodes_that_name_themselves"]
    assert sorted(cycle["first_cycles"][0]["ids"]) == facts["first_cycles"][0]["ids"]
    assert (dangling["deps"], dangling["absent"]) == (1277, 210)
    assert dangling["absent_ids"][:20] == facts["absent_ids"]
    assert by_rule["missing_size"].message.startswith("rank 0: 14 of 21 communication nodes")
    under_gpu = by_rule["cpu_under_gpu"]
    assert (under_gpu.severity, under_gpu.count) == ("warning", facts["cpu_nodes_under_a_gpu_node_by_ctrl"])
    lacking = by_rule["incomplete_communication"]
    assert lacking.evidence["attribute"] == "comm_type"
    assert lacking.count == facts["comm_by_type"]["no comm_type"]
    assert (
        by_rule["communication_on_cpu"].message == "rank 0: 14 of 21 communication nodes are marked is_cpu_op"
    )
