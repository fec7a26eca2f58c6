"""Every set of the shared traces, linked, compared with the facts that expected.json counts of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from graphstore.link.nesting import TOLERANCE_NS
from graphstore.link.rank import link_rank
from graphstore.model.markers import GROUP_INIT
from graphstore.model.records import RankGraph
from tests.integration.expected import FOLDER, files_of
from tests.integration.linked import callers, linked_run, read

METHOD = {"rf_id": "rf_id", "name order": "name_order"}  # by the name that expected.json has for it

pytestmark = pytest.mark.data


def sets_with(*keys: str) -> list[Any]:
    """Return a parameter (folder, facts) for each set whose facts have keys[0][keys[1]] …; one if none."""
    found = []
    for path in sorted(FOLDER.glob("**/expected.json")):
        facts = json.loads(path.read_text())
        if reduce(lambda part, key: (part or {}).get(key), keys, facts):
            marks = [pytest.mark.slow] if facts["set"] == "torch213_big" else []
            found.append(pytest.param(path.parent, facts, id=facts["set"], marks=marks))
    return found or [pytest.param(FOLDER, {}, id="the shared trace sets are absent")]


def times(host: pl.DataFrame) -> tuple[list[int], list[int]]:
    """Return start and end of each host op, 0 where it has none."""
    start = host["start_ns"].fill_null(0)
    return start.to_list(), (start + host["duration_ns"].fill_null(0)).to_list()


def named_parents_in_time(graph: RankGraph) -> dict[str, int]:
    """Return how the recorded parents lie in time, counted as expected.json does."""
    host, parent = graph.nodes["HostOp"], callers(graph)
    start, end = times(host)
    thread, encloser = host["thread"].to_list(), host["encloser"].to_list()
    seen = (
        host.select(pl.col("node_id").is_not_null() & pl.col("start_ns").is_not_null()).to_series().to_list()
    )
    found: Counter[str] = Counter()
    for op in np.flatnonzero(seen).tolist():
        named = parent.get(op)
        if named is None or not seen[named]:
            found["named_parent_not_in_kineto"] += 1
            continue
        found["checked"] += 1
        if thread[named] != thread[op]:
            found["on_another_thread"] += 1
        elif encloser[op] == named:
            found["is_the_innermost_encloser"] += 1
        elif start[named] - TOLERANCE_NS <= start[op] and end[op] <= end[named] + TOLERANCE_NS:
            found["encloses_but_is_not_the_innermost"] += 1
        else:
            found["does_not_enclose"] += 1
    return found


def orphans(graph: RankGraph) -> list[dict[str, Any]]:
    """Return the host ops that name a parent which is absent."""
    host = graph.nodes["HostOp"]
    has_caller = pl.col("n").is_in(graph.edges["CTRL"]["dst"].implode())
    return host.filter(pl.col("parent_id").is_not_null() & ~has_caller).to_dicts()


def enclosers_of_orphans(graph: RankGraph) -> dict[str, int]:
    """Return how many orphans each op encloses innermost, counted as expected.json does."""
    host = graph.nodes["HostOp"]
    found: Counter[str] = Counter()
    for orphan in orphans(graph):
        if orphan["start_ns"] is None:
            continue
        if orphan["encloser"] is None:
            found["nothing encloses it"] += 1
        else:
            around = host.row(orphan["encloser"], named=True)
            found[around["name"] + (" (not in the ET)" if around["node_id"] is None else "")] += 1
    return found


@pytest.mark.parametrize(("folder", "facts"), sets_with("pairs"))
def test_both_files_of_a_rank_meet_as_expected(data_dir: Path, folder: Path, facts: dict[str, Any]) -> None:
    """Ids, names, method and rate, what encloses the named parents and the orphans, and other runs."""
    for pair in facts["pairs"]:
        graph = link_rank(0, [read(folder / pair["et"]), read(folder / pair["kineto"])])

        told = graph.files[1]
        by_order = pair.get("name_order")
        assert told["link_method"] == METHOD[pair["key"]]
        assert told["link_ids_meet"] == pair["rf_id_meets"]
        assert told["link_names_agree"] == pair["rf_id_meets_with_equal_name"]
        assert told["link_matched"] == (by_order or {}).get("et_ops", pair["rf_id_meets_with_equal_name"])
        assert told["link_external_ids_meet"] == pair["external_id_meets_rf_id"]
        assert told["link_external_names_agree"] == pair["external_id_meets_rf_id_with_equal_name"]
        assert (told["mismatch"] is None) == (pair["pid_equal"] and pair["one_run"])
        if pair.get("named_parent_in_time"):
            found = named_parents_in_time(graph)
            assert {key: found[key] for key in pair["named_parent_in_time"]} == pair["named_parent_in_time"]
        if pair.get("orphans"):
            assert enclosers_of_orphans(graph) == pair["orphans"]["innermost_encloser_in_time"]


@pytest.mark.parametrize(("name", "facts"), files_of("kineto"))
def test_launches_of_a_kineto_file(data_dir: Path, name: str, facts: dict[str, Any]) -> None:
    """Classes of launches, their enclosers, and the chain of ops above each NCCL kernel."""
    graph = link_rank(0, [read(data_dir / name)])

    told, kernels = graph.files[0], graph.nodes["Kernel"]
    launch, by_id = facts.get("launch"), facts.get("external_id_on_gpu_events")
    if launch and by_id:
        classes = Counter(kernels["launch_class"].to_list())
        assert classes["launched"] + classes["graph_replay"] == launch["found"]
        assert classes["graph_replay"] == launch.get("gpu_events_of_graph_launches", 0)
        assert classes["before_window"] == launch["before_window"]
        assert classes["lost"] == launch["lost_inside"]
        assert classes["no_correlation"] == launch["no_correlation"]
        assert graph.edges["LAUNCHES"].height == launch["found"]
        assert told["launches_enclosed"] == launch["enclosed_by_host_op"]
        others = by_id["is_on_a_host_op"] - by_id["that_op_is_the_innermost_encloser"]
        assert told["external_id_disagrees"] == others
    if facts.get("nccl_kernels"):
        assert dict(Counter(_nccl_chains(graph))) == facts["nccl_kernels"]["enclosing_chain"]


def _nccl_chains(graph: RankGraph) -> Iterator[str]:
    """Yield the last three ops around the launch of each NCCL kernel, as expected.json writes them."""
    host = graph.nodes["HostOp"]
    names, encloser = host["name"].to_list(), host["encloser"].to_list()
    launch = dict(graph.edges["LAUNCHES"].select("dst", "src").iter_rows())
    parent = callers(graph)
    kernels = graph.nodes["Kernel"].filter(pl.col("name").str.contains("(?i)nccl"))
    for kernel in kernels["n"]:
        chain: list[str] = []
        op = parent.get(launch[kernel])
        while op is not None and len(chain) < 3:
            chain.insert(0, names[op])
            op = encloser[op]
        yield " > ".join(chain)


@pytest.mark.parametrize(("name", "facts"), [*files_of("et"), *files_of("et_plus")])
def test_the_tree_of_an_execution_trace(data_dir: Path, name: str, facts: dict[str, Any]) -> None:
    """Nodes, absent parents, components and what a walk from the process root reaches, and the calls."""
    graph = link_rank(0, [read(data_dir / name)])

    host, kernels = graph.nodes["HostOp"], graph.nodes["Kernel"]
    parent = callers(graph)
    root = dict(host.select("n", "root").iter_rows())
    root |= {kernel: root[parent[kernel]] for kernel in kernels["n"] if kernel in parent}
    sizes = sorted(Counter(root.values()).values(), reverse=True)
    absent = Counter(str(orphan["parent_id"]) for orphan in orphans(graph))
    top = host.filter(pl.col("node_id").is_in(facts["process_root"]))["n"]
    assert host.height + kernels.height == facts["nodes"]
    assert absent == facts["absent_parents"]
    assert len(sizes) == facts["components"]
    assert sizes[:12] == facts["component_sizes"][:12]
    if top.len():
        assert list(root.values()).count(top[0]) == facts["reached_from_process_root"]
    calls = graph.nodes["CollectiveCall"].filter(pl.col("source") == "et").height
    recorded = facts.get("record_param_comms")
    c10d = sum(n for op, n in facts["comm_nodes"].items() if op.startswith("c10d::"))
    assert calls == (recorded["without_wait"] if recorded else c10d)


def _trace_names(facts: dict[str, Any]) -> list[str]:
    return [name for name, file in facts["files"].items() if file["kind"] in ("et", "et_plus", "kineto")]


@pytest.mark.parametrize(("folder", "facts"), sets_with("ranks"))
def test_groups_and_calls_of_a_run(data_dir: Path, folder: Path, facts: dict[str, Any]) -> None:
    """Ranks, world size, groups with members and who lists them, calls per rank and kind, kernels seen."""
    run = linked_run(folder, _trace_names(facts))

    expected = facts["ranks"]
    calls = run.nodes["CollectiveCall"]
    assert run.run["ranks"] == expected["ranks"]
    if "world_size" in expected:
        assert run.run["world_size"] == expected["world_size"]
    if "groups" in expected:
        groups = run.nodes["ProcessGroup"].select("pg_name", "pg_desc", "members", "listed_by").rows()
        assert sorted(groups, key=str) == sorted(
            (
                (group["pg_name"], group["pg_desc"], group["ranks"], group["listed_by_ranks"])
                for group in expected["groups"]
            ),
            key=str,
        )
    without_group = expected.get("calls_without_group")
    if without_group:
        by_rank = Counter(str(rank) for rank in calls.filter(pl.col("source") == "et")["rank"])
        assert by_rank == without_group["calls_per_rank"]
        if "nccl_kernels_per_group_and_kind" not in expected:
            known = "only_group" if without_group["only_one_group_exists"] else None
            assert set(calls["group_origin"]) == {known}
    for kind in expected.get("nccl_kernels_per_group_and_kind", []):
        of_kind = calls.filter(pl.col("collective_kind") == kind["collective"])
        seen = of_kind.filter(pl.col("group") == f"{kind['pg_name']}[0-1]")
        assert Counter(str(rank) for rank in seen["rank"]) == kind["per_rank"]
    assert calls.filter(pl.col("size_bytes").is_null() & (pl.col("source") == "et")).height == 0


@pytest.mark.parametrize(("folder", "facts"), sets_with("ranks", "calls_by_group_and_seq"))
def test_calls_of_a_group_and_number_fit_as_expected(
    data_dir: Path, folder: Path, facts: dict[str, Any]
) -> None:
    """Where group and number are recorded: complete and equal, differing in size, or not on every member."""
    expected = facts["ranks"]["calls_by_group_and_seq"]
    run = linked_run(folder, _trace_names(facts))

    members = dict(run.nodes["ProcessGroup"].select("group", "members").iter_rows())
    found: Counter[str] = Counter()
    for (group, _), same in run.nodes["CollectiveCall"].group_by("group", "collective_seq_id"):
        everyone = members.get(group, facts["ranks"]["ranks"])
        if sorted(same["rank"]) != everyone:
            found["incomplete"] += 1
        elif same["collective_kind"].n_unique() > 1:
            found["kind_differs"] += 1
        elif same["in_msg_nelems"].n_unique() > 1 and same["collective_kind"][0] != "all_to_all":
            found["size_differs"] += 1
        else:
            found["complete_and_equal"] += 1
    assert found.total() == expected["calls"]
    assert found["complete_and_equal"] == expected["complete_and_equal"]
    for key in ("kind_differs", "size_differs", "incomplete"):
        assert found[key] == len(expected[key])


def test_gloo_work_of_a_run_is_joined_call_by_call(data_dir: Path) -> None:
    """demo_4r and tp_pp_4r: each call has its worker, made right after it; none is left over."""
    for name in ("demo_4r", "torch213/tp_pp_4r"):
        facts = json.loads((data_dir / name / "expected.json").read_text())
        run = linked_run(data_dir / name, _trace_names(facts))

        seen = next(table.frame for table in run.edges if table.type == "SEEN_AS")
        rf_id = dict(run.nodes["HostOp"].select("uid", "rf_id").iter_rows())
        worker, host = (
            dict(seen.filter(pl.col("rule") == rule).select("src", "dst").iter_rows())
            for rule in ("worker", "host_op")
        )
        assert worker.keys() == host.keys() == set(run.nodes["CollectiveCall"]["uid"])
        assert len(set(worker.values())) == len(worker)
        assert all(0 < rf_id[worker[call]] - rf_id[host[call]] < 10 for call in worker)


def test_the_late_worker_of_an_absent_parent_is_joined_by_id(data_dir: Path) -> None:
    """demo_4r rank 1: gloo:all_reduce 502 names the absent id and nothing encloses it: work of 501."""
    folder = data_dir / "demo_4r"
    graph = link_rank(1, [read(folder / "et_rank1.json.gz"), read(folder / "kineto_rank1.json.gz")])

    node_id = dict(graph.nodes["HostOp"].select("n", "node_id").iter_rows())
    seen = graph.edges["SEEN_AS"]
    call = seen.filter(pl.col("dst").replace_strict(node_id) == 502)["src"][0]
    ends = seen.filter(pl.col("src") == call)
    assert {rule: node_id[dst] for dst, rule in ends.select("dst", "rule").iter_rows()} == {
        "host_op": 501,
        "worker": 502,
    }


def test_autograd_numbers_place_the_one_iteration_of_linear(data_dir: Path) -> None:
    """Of 40 alike iterations the execution trace is the one with its sequence numbers, on both threads."""
    folder = data_dir / "public" / "linear"
    et, kineto = read(folder / "linear_et.json.gz"), read(folder / "linear_kineto.json.gz")

    graph = link_rank(0, [et, kineto])

    numbered = graph.nodes["HostOp"].filter(pl.col("node_id").is_not_null()).drop_nulls("autograd_seq_id")
    numbers = set(numbered["autograd_seq_id"])
    right = kineto.tables["host_ops"].filter(pl.col("autograd_seq_id").is_in(list(numbers)))
    assert graph.files[1]["link_anchors"] > 100
    assert numbered.height == 201
    assert set(numbered["start_ns"]) <= set(right["start_ns"])


def test_autograd_numbers_make_the_order_of_names_exact(data_dir: Path) -> None:
    """b1 without its ids: each op is put where the ids prove it; by order alone it is an iteration off."""
    folder = data_dir / "missing_parents" / "b1_manual_et_stop_before_prof_step"
    et, kineto = read(folder / "et_rank0.json.gz"), read(folder / "kineto_rank0.json.gz")
    proven = link_rank(0, [et, kineto]).nodes["HostOp"]
    kineto.tables["host_ops"] = kineto.tables["host_ops"].with_columns(rf_id=pl.lit(None, pl.Int64))

    by_order = link_rank(0, [et, kineto])

    assert by_order.files[1]["link_method"] == "name_order"
    known = pl.col("node_id").is_not_null() & (pl.col("name") != GROUP_INIT)
    assert by_order.nodes["HostOp"].filter(known)["start_ns"].equals(proven.filter(known)["start_ns"])


def test_no_call_is_lost_with_the_root_of_its_thread(data_dir: Path) -> None:
    """resnet_103 without node 3, on which the calls hang: 21 of 21, each with its kernel, group and size."""
    folder = data_dir / "public" / "resnet_103"
    et, kineto = read(folder / "resnet_1gpu_et.json.gz"), read(folder / "nccl_data.json.gz")
    et.tables["host_ops"] = et.tables["host_ops"].filter(pl.col("node_id") != 3)

    calls = link_rank(0, [et, kineto]).nodes["CollectiveCall"]

    assert dict(Counter(calls["collective_kind"])) == {"all_reduce": 15, "broadcast": 6}
    assert calls["group"].to_list() == ["0[0-1]"] * 21
    assert calls["size_bytes"].null_count() == 0


def test_the_known_bad_chakra_file_keeps_its_cycles(data_dir: Path) -> None:
    """feeder_test: 383 nodes that name themselves keep their edges, deps on absent nodes make none."""
    graph = link_rank(0, [read(data_dir / "public" / "chakra_et" / "feeder_test.0.et")])

    own = sum(edges.filter(pl.col("src") == pl.col("dst")).height for edges in graph.edges.values())
    nodes = graph.nodes["ChakraNode"]
    deps = nodes["ctrl_deps"].explode().drop_nulls()
    present = deps.is_in(nodes["node_id"].implode())
    assert nodes.height == 3664
    assert own == 383
    assert int((~present).sum()) == 1277
    assert graph.edges["CTRL"].height == int(present.sum())
