"""Every execution trace of the shared trace sets, compared with the facts counted of it; whole folders."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from graphstore.model.records import FileRecords
from graphstore.readers import assign_ranks, find_files, read_file, read_files
from graphstore.settings import Settings
from tests.integration.expected import files_of

SETTINGS = Settings(store="")
COMM_NODE = r"^(c10d::|gloo:|nccl:)|^record_param_comms$"
PROCESS_ROOT = r"^\[pytorch\|profiler\|execution_(trace|graph)\|process\]$"
THREAD_ROOT = r"^\[pytorch\|profiler\|execution_(trace|graph)\|thread\]$"
SIZES_LISTED = 12

pytestmark = pytest.mark.data


def nodes_of(records: FileRecords) -> pl.DataFrame:
    """Return id, recorded parent and name of all nodes, device ops too, in the order of the file."""
    columns = ["order", "node_id", "parent_id", "name"]
    tables = [
        records.tables[name].select(columns) for name in ("host_ops", "kernels") if name in records.tables
    ]
    return pl.concat(tables).sort("order")


def absent_parents(nodes: pl.DataFrame) -> dict[str, int]:
    """Return {absent id: children}; a parent recorded as 0 has become null, on other nodes than the root."""
    ids = set(nodes["node_id"])
    named = Counter(str(parent) for parent in nodes["parent_id"].drop_nulls() if parent not in ids)
    unknown = nodes.filter(pl.col("parent_id").is_null() & ~pl.col("name").str.contains(PROCESS_ROOT)).height
    return dict(named) | ({"0": unknown} if unknown else {})


def component_sizes(nodes: pl.DataFrame) -> list[int]:
    """Return the sizes of the weakly connected components over recorded parents that are present."""
    place = {node_id: n for n, node_id in reversed(list(enumerate(nodes["node_id"])))}
    edges = [(place[p], n) for n, p in enumerate(nodes["parent_id"]) if p in place]
    ends = np.array(edges or [(0, 0)]).T
    matrix = coo_array((np.ones(len(ends[0])), (ends[0], ends[1])), shape=(len(nodes), len(nodes)))
    _, labels = connected_components(matrix, directed=False)
    return sorted(Counter(labels.tolist()).values(), reverse=True)


def et_facts(records: FileRecords) -> dict[str, Any]:
    """Return what expected.json says of an execution trace, counted from the tables and facts."""
    nodes, host, facts = nodes_of(records), records.tables["host_ops"], records.facts
    ids = Counter(nodes["node_id"])
    sizes = component_sizes(nodes)
    return {
        "kind": facts["kind"],
        "read": "whole" if facts["cut_at"] is None else "cut",
        "schema": facts["schema"],
        "pid": facts["pid"],
        "time": facts["recorded_at"],
        "nodes": facts["records_read"],
        "distinct_ids": len(ids),
        "ids_used_more_than_once": sum(count > 1 for count in ids.values()),
        "nodes_beyond_the_first_with_their_id": sum(count - 1 for count in ids.values()),
        "absent_parents": absent_parents(nodes),
        "components": len(sizes),
        "component_sizes": sizes[:SIZES_LISTED],
        "process_root": host.filter(pl.col("name").str.contains(PROCESS_ROOT))["node_id"].to_list(),
        "thread_roots": host.filter(pl.col("name").str.contains(THREAD_ROOT))["node_id"].to_list(),
        "step_marks": host.filter(pl.col("name").str.starts_with("ProfilerStep#"))["name"].to_list(),
        "seq_id_set": host["autograd_seq_id"].count(),
        "fw_parent_set": host["fw_parent"].count(),
        "comm_nodes": dict(Counter(host.filter(pl.col("name").str.contains(COMM_NODE))["name"])),
    }


def record_param_comms(records: FileRecords) -> dict[str, Any]:
    """Return what the reader understood of the record_param_comms nodes."""
    host = records.tables["host_ops"]
    calls = [json.loads(args) for args in host.filter(pl.col("name") == "record_param_comms")["comm_args"]]
    ranks: dict[str, set[int]] = {}
    for call in calls:
        ranks.setdefault(call["op_name"], set()).add(call["rank_field"])
    return {
        "by_kind": dict(Counter(call["op_name"] for call in calls)),
        "without_wait": sum(not call.get("is_wait") for call in calls),
        "rank_field_by_kind": {kind: sorted(found) for kind, found in ranks.items()},
    }


@pytest.mark.parametrize(("name", "expected"), files_of("et") + files_of("et_plus"))
def test_an_execution_trace_is_read_as_it_was_counted(
    data_dir: Path, name: str, expected: dict[str, Any]
) -> None:
    """Nodes, ids, absent parents, components, marks and communication are those of expected.json."""
    records = read_file(str(data_dir / name), SETTINGS, explicit=True)

    found = et_facts(records)
    wanted = {key: expected.get(key) for key in found} | {"read": expected["read"].split(":")[0]}
    wanted["component_sizes"] = [size for size in expected["component_sizes"] if size != "..."]
    assert found == wanted
    assert records.facts.get("problem") is None
    assert records.facts["kept"] == expected["nodes"]
    assert records.facts["step_marks"] == len(expected["step_marks"])


@pytest.mark.parametrize(("name", "expected"), files_of("et") + files_of("et_plus"))
def test_ids_calls_and_groups_are_those_counted(data_dir: Path, name: str, expected: dict[str, Any]) -> None:
    """Record function ids, record_param_comms of every layout, and process groups are told apart right."""
    records = read_file(str(data_dir / name), SETTINGS, explicit=True)

    rf_ids = records.tables["host_ops"]["rf_id"].drop_nulls()
    assert rf_ids.len() == expected["rf_id"]["nonzero"]
    assert rf_ids.n_unique() == expected["rf_id"]["distinct_nonzero"]
    assert (records.facts["rf_id_verdict"] == "usable") == expected["rf_id"]["usable"]
    if "record_param_comms" in expected:
        found = record_param_comms(records)
        assert found == {key: expected["record_param_comms"][key] for key in found}
    listed = [group for init in expected["process_group_init"] for group in init["groups"]]
    wanted = {(g["pg_name"], g["pg_desc"], tuple(g["ranks"]), g["group_size"]) for g in listed}
    assert {
        (g["pg_name"], g["pg_desc"], tuple(g["ranks"]), g["group_size"]) for g in records.groups
    } == wanted


@pytest.mark.parametrize(("name", "expected"), files_of("et_plus"))
def test_device_ops_of_a_merged_trace_are_kernels(
    data_dir: Path, name: str, expected: dict[str, Any]
) -> None:
    """Device ops of an ET+ go to the kernels by category; sync deps keep both ends."""
    records = read_file(str(data_dir / name), SETTINGS, explicit=True)

    kernels = records.tables["kernels"]
    assert dict(Counter(kernels["category"])) == expected["gpu_nodes"]
    deps = pl.concat(records.tables[t].select("node_id", "sync_deps") for t in ("host_ops", "kernels"))
    pairs = deps.drop_nulls().explode("sync_deps").sort("node_id")
    assert [list(pair) for pair in pairs.iter_rows()] == expected.get("sync_dep", [])
    assert kernels["start_ns"].null_count() == kernels["duration_ns"].null_count() == 0


def test_every_file_of_every_set_has_the_kind_it_was_counted_as(data_dir: Path) -> None:
    """Kinds are told by content; what is no trace is listed as that, without a problem."""
    wrong = []
    for expected in sorted(data_dir.glob("**/expected.json")):
        kinds = {
            name: facts["kind"] for name, facts in json.loads(expected.read_text()).get("files", {}).items()
        }
        for name in find_files([str(expected.parent)]).files:
            if Path(name).stat().st_size > 1_000_000:  # the big set is read by the test of processes
                continue
            facts = read_file(name, SETTINGS, explicit=False).facts
            wanted = kinds.get(Path(name).name)
            is_other = facts["kind"] in ("not_a_trace", "flight_recorder")
            if facts.get("problem") or (facts["kind"] != wanted if wanted else not is_other):
                wrong.append((name, facts["kind"], wanted, facts.get("problem")))
    assert wrong == []


@pytest.mark.parametrize(
    ("folder", "ranks"),
    [
        ("demo_4r", [0, 1, 2, 3]),
        ("mini/16-cross-rank-subgroups", [0, 1, 2, 3]),
        ("public/dlrm_8r", list(range(8))),
        ("public/hta_sampled_2of128", [0, 1]),
        ("public/simple_add", [0]),
        ("public/resnet_103", [0]),
        ("public/chakra_et/all_reduce_8npus", list(range(8))),
        ("missing_parents/e3_killed", [0, 1]),
    ],
)
def test_each_trace_of_a_set_gets_its_rank(data_dir: Path, folder: str, ranks: list[int]) -> None:
    """The ranks found are those of the set, and the files of one process agree."""
    records = [
        read_file(name, SETTINGS, explicit=False) for name in find_files([str(data_dir / folder)]).files
    ]

    assign_ranks(records, {})

    traces = [record.facts for record in records if record.facts["kind"] != "not_a_trace"]
    assert sorted({facts["rank"] for facts in traces}) == ranks
    for facts in traces:
        number = re.search(r"(\d+)(?:\.json\.gz|\.et|\.json)?$", facts["name"])
        if number and "npus" in folder + facts["name"]:
            assert facts["rank"] == int(number.group(1))


@pytest.mark.slow
def test_eight_ranks_are_read_in_processes(data_dir: Path) -> None:
    """The big set (575 MB unpacked) comes back whole from the processes, in the order asked for."""
    files = find_files([str(data_dir / "torch213_big")]).files
    seen: list[tuple[str, int, int]] = []

    records = read_files(files, SETTINGS, set(), lambda *state: seen.append(state))

    expected = json.loads((data_dir / "torch213_big" / "expected.json").read_text())["files"]
    assert [record.path for record in records] == files
    assert {r.facts["name"]: r.facts["records_read"] for r in records if r.facts["kind"] == "et"} == {
        name: facts["nodes"] for name, facts in expected.items() if facts["kind"] == "et"
    }
    assert seen[-1][1] == seen[-1][2] == sum(Path(name).stat().st_size for name in files)
