"""The invented sets that have a point about linking, as their READMEs say."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from graphstore.link.rank import link_rank
from graphstore.model.records import RankGraph
from tests.integration.linked import callers, linked_run, read

pytestmark = pytest.mark.data


def mini(data_dir: Path, number: str) -> Path:
    """Return the folder of one of the invented sets."""
    return next((data_dir / "mini").glob(f"{number}-*"))


def kernel_to_node(graph: RankGraph) -> dict[int, int]:
    """Return {correlation: node_id of the host op that launched it}."""
    launch = dict(graph.edges["LAUNCHES"].select("dst", "src").iter_rows())
    parent = callers(graph)
    node_id = dict(graph.nodes["HostOp"].select("n", "node_id").iter_rows())
    kernels = graph.nodes["Kernel"].select("n", "correlation").iter_rows()
    return {correlation: node_id[parent[launch[n]]] for n, correlation in kernels if n in launch}


def test_mini_02_the_thread_beats_the_nearest_op(data_dir: Path) -> None:
    """Kernel 9101 belongs to node 10; by time alone it would be node 11: 1 of 2 links disagrees."""
    folder = mini(data_dir, "02")
    graph = link_rank(0, [read(folder / "host_0.json"), read(folder / "kineto_0.json")])

    assert kernel_to_node(graph) == {9101: 10, 9102: 11}
    assert graph.files[1]["time_link_disagrees"] == 1
    assert graph.files[1]["external_id_disagrees"] == 0


@pytest.mark.parametrize("form", ["kineto_rf_zero.json", "kineto_rf_absent.json"])
def test_mini_05_without_ids_the_order_of_names_links(data_dir: Path, form: str) -> None:
    """All 5 ops are paired by order, ProfilerStep set aside, and the kernels reach their ops by nesting."""
    folder = mini(data_dir, "05")
    graph = link_rank(0, [read(folder / "host_0.json"), read(folder / form)])

    told = graph.files[1]
    assert (told["link_method"], told["link_matched"], told["link_candidates"]) == ("name_order", 5, 5)
    assert (told["link_external_ids_meet"], told["link_external_names_agree"]) == (0, 0)
    assert kernel_to_node(graph) == {40: 11, 41: 13, 42: 14}


def test_mini_08_no_step_marks_is_no_failed_link(data_dir: Path) -> None:
    """The kernel is linked to node 10, and no op is in a step."""
    folder = mini(data_dir, "08")
    graph = link_rank(0, [read(folder / "host_0.json"), read(folder / "kineto_0.json")])

    assert list(kernel_to_node(graph).values()) == [10]
    assert graph.nodes["HostOp"]["step"].null_count() == graph.nodes["HostOp"].height


def test_mini_10_before_the_window_and_lost_are_two_classes(data_dir: Path) -> None:
    """Three kernels below the lowest correlation, one lost inside; none is dropped."""
    folder = mini(data_dir, "10")
    graph = link_rank(0, [read(folder / "host_0.json"), read(folder / "kineto_0.json")])

    classes = dict(graph.nodes["Kernel"].select("correlation", "launch_class").iter_rows())
    assert [n for n, kind in classes.items() if kind == "before_window"] == [7001, 7002, 7003]
    assert [n for n, kind in classes.items() if kind == "lost"] == [7011]
    assert kernel_to_node(graph) == {7010: 10, 7012: 11}


def test_mini_16_groups_are_told_by_name_and_members_and_waits_are_no_calls(data_dir: Path) -> None:
    """19 calls on three groups; the broadcast's rank field is its root on every rank."""
    folder = mini(data_dir, "16")
    run = linked_run(folder, [f"host_{rank}.json" for rank in range(4)])

    calls = run.nodes["CollectiveCall"]
    assert dict(Counter(calls["group"])) == {"0[0-3]": 8, "3[0,2]": 5, "4[1,3]": 6}
    assert calls.filter(pl.col("collective_kind") == "broadcast")["root_rank"].to_list() == [3] * 4
    splits = (
        calls.filter(pl.col("collective_kind") == "all_to_all").sort("rank").select("in_split", "out_split")
    )
    assert splits.rows() == [([2, 3], [2, 4]), ([4, 1], [3, 1])]


def test_merged_traces_keep_their_recorded_waits(data_dir: Path) -> None:
    """Mini 03: 21 → 10 and 20 → 11 are SYNC edges; mini 14: an NCCL kernel is its call and a leaf."""
    waits = link_rank(0, [read(mini(data_dir, "03") / "et_plus_0.json")])
    leaves = link_rank(0, [read(mini(data_dir, "14") / "et_plus_0.json")])

    node_id = dict(waits.nodes["HostOp"].select("n", "node_id").iter_rows())
    node_id |= dict(waits.nodes["Kernel"].select("n", "node_id").iter_rows())
    edges = waits.edges["SYNC"].select("src", "dst").iter_rows()
    assert {(node_id[src], node_id[dst]) for src, dst in edges} == {(21, 10), (20, 11)}
    assert leaves.nodes["CollectiveCall"].select("collective_kind", "start_ns").rows() == [
        ("all_reduce", 170_000)
    ]
    assert not set(leaves.nodes["Kernel"]["n"]) & set(leaves.edges["CTRL"]["src"])
