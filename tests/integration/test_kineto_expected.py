"""Every Kineto and Chakra file of the shared trace sets, compared with the facts counted of it."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from graphstore.model.records import FileRecords
from graphstore.readers.chakra_trace import is_chakra, read_chakra_trace
from graphstore.readers.execution_trace import read_execution_trace
from graphstore.readers.kineto import read_kineto
from graphstore.readers.source import open_source
from graphstore.settings import Settings
from tests.integration.expected import files_of

SETTINGS = Settings(store="")
STEP_MARK = r"^ProfilerStep#\d+$"
COMM_HOST_EVENT = r"^(c10d::|gloo:|nccl:)|^record_param_comms$"
REASON = re.compile(r"not kept: (?P<category>.+?)(?: \(ph (?P<phase>.+)\))?")

pytestmark = pytest.mark.data


def counted(column: pl.Series) -> dict[Any, int]:
    """Return {value: rows} of a column, nulls left out."""
    return dict(Counter(column.drop_nulls().to_list()))


def by_category(records: FileRecords) -> dict[str, int]:
    """Return {phase/category: events} as expected.json counts them, from what was kept and what was not."""
    found: Counter[str] = Counter()
    for table in ("host_ops", "runtime_calls", "kernels"):
        found.update({f"X/{name}": n for name, n in counted(records.tables[table]["category"]).items()})
    found["X/cuda_sync"] += records.tables["sync_events"].height
    for reason, count in records.tally.left_out.items():
        if reason == "metadata (ph M)":
            found["M"] += count
        else:
            left_out = REASON.fullmatch(reason)
            assert left_out, reason
            phase, category = left_out["phase"] or "X", left_out["category"]
            found[phase if category == "no category" else f"{phase}/{category}"] += count
    return dict(+found)


def kineto_facts(records: FileRecords) -> dict[str, Any]:
    """Return what expected.json says of a Kineto file, counted from the tables and facts."""
    tables, facts = records.tables, records.facts
    host, kernels = tables["host_ops"], tables["kernels"]
    kinds = counted(host["category"])
    names = host["name"]
    ids = {"nonzero": host["rf_id"].count(), "verdict": facts["rf_id_verdict"]}
    return {
        "events": records.tally.read,
        "by_category": by_category(records),
        "rank": facts["rank"],
        "world_size": facts["world_size"],
        "backend": facts["backend"],
        "groups": [{key: group[key] for key in ("pg_name", "pg_desc", "ranks")} for group in records.groups]
        or None,
        "device": facts["device_name"],
        "host_ops": {
            "cpu_op": kinds.get("cpu_op", 0),
            "user_annotation": kinds.get("user_annotation", 0),
            "threads": host.select("process", "thread").n_unique(),
        },
        "host_pids": facts["host_pids"],
        "step_marks": sorted(names.filter(names.str.contains(STEP_MARK)).unique()),
        "comm_host_events": counted(names.filter(names.str.contains(COMM_HOST_EVENT))),
        "record_function_id": ids,
        "gpu": {name.lower(): n for name, n in counted(kernels["category"]).items()},
        "gpu_events": kernels.height,
        "runtime": counted(tables["runtime_calls"]["category"]),
        "cuda_sync": counted(tables["sync_events"]["sync_kind"]),
        "lowest_runtime_correlation": facts["lowest_runtime_correlation"],
        "nccl_kernels": nccl_facts(kernels),
        "external_id": {
            "present": kernels["external_id"].count(),
            "equals_correlation": int((kernels["external_id"] == kernels["correlation"]).sum()),
        },
    }


def nccl_facts(kernels: pl.DataFrame) -> dict[str, Any]:
    """Return what the NCCL kernels say of their communication."""
    nccl = kernels.filter(pl.col("name").str.contains("(?i)[nr]ccl"))
    args = [json.loads(text) for text in nccl["comm_args"].drop_nulls()]
    return {
        "count": nccl.height,
        "with_pg_name": sum("pg_name" in arg for arg in args),
        "with_seq": sum("seq" in arg for arg in args),
        "by_collective_name": dict(Counter(arg["op_name"] for arg in args if "op_name" in arg)),
        "by_pg_name": dict(Counter(arg["pg_name"] for arg in args if "pg_name" in arg)),
    }


def wanted_kineto(facts: dict[str, Any]) -> dict[str, Any]:
    """Return the facts of expected.json in the form of `kineto_facts`."""
    launch = facts.get("launch", {})
    nccl = facts.get("nccl_kernels", {"count": 0, "with_pg_name": 0, "with_seq": 0})
    ids = facts["record_function_id"]
    external = facts.get("external_id_on_gpu_events", {"present": 0, "equals_correlation": 0})
    keys = ("events", "by_category", "rank", "world_size", "backend", "groups", "device", "host_ops")
    more = ("host_pids", "step_marks", "gpu", "gpu_events", "runtime")
    return {key: facts[key] for key in (*keys, *more)} | {
        "comm_host_events": facts["comm_host_events"],
        "record_function_id": {"nonzero": ids["nonzero"], "verdict": ids["verdict"]},
        "cuda_sync": facts.get("cuda_sync", {}),
        "lowest_runtime_correlation": launch.get("lowest_runtime_correlation"),
        "nccl_kernels": {
            "count": nccl["count"],
            "with_pg_name": nccl["with_pg_name"],
            "with_seq": nccl["with_seq"],
            "by_collective_name": nccl.get("by_collective_name", {}),
            "by_pg_name": nccl.get("by_pg_name", {}),
        },
        "external_id": {key: external[key] for key in ("present", "equals_correlation")},
    }


@pytest.mark.parametrize(("name", "facts"), files_of("kineto"))
def test_a_kineto_file_has_the_facts_counted_of_it(data_dir: Path, name: str, facts: dict[str, Any]) -> None:
    """Events by category, rank, groups, ids, device ops and NCCL kernels are those of expected.json."""
    with open_source(str(data_dir / name), SETTINGS) as source:
        records = read_kineto(source)

    records.tally.check(name)
    assert kineto_facts(records) == wanted_kineto(facts)
    assert (records.facts["cut_at"] is None) == (facts["read"] == "whole")


def chakra_facts(nodes: pl.DataFrame) -> dict[str, Any]:
    """Return what expected.json says of a Chakra file, counted from its table."""
    ids = set(nodes["node_id"].to_list())
    deps = {
        key: nodes.select("order", "node_id", pl.col(key).alias("dep")) for key in ("ctrl_deps", "data_deps")
    }
    edges = {key: rows.explode("dep").drop_nulls("dep") for key, rows in deps.items()}
    absent = {key: rows.filter(~pl.col("dep").is_in(ids)) for key, rows in edges.items()}
    both = pl.concat(edges.values())
    dangling = pl.concat(absent.values())
    comm = nodes.filter(pl.col("chakra_kind").str.starts_with("COMM_"))
    collectives = comm.filter(pl.col("chakra_kind") == "COMM_COLL_NODE")
    repeated = nodes.filter(
        (pl.col("ctrl_deps").list.n_unique() != pl.col("ctrl_deps").list.len())
        | (pl.col("data_deps").list.n_unique() != pl.col("data_deps").list.len())
    )
    return {
        "nodes": nodes.height,
        "types": {kind.removesuffix("_NODE"): n for kind, n in counted(nodes["chakra_kind"]).items()},
        "ids_used_more_than_once": nodes.height - len(ids),
        "node_id_0_present": 0 in ids,
        "ctrl_edges": edges["ctrl_deps"].height,
        "data_edges": edges["data_deps"].height,
        "dangling": {
            "absent_ids": dangling["dep"].n_unique(),
            "ctrl_edges": absent["ctrl_deps"].height,
            "data_edges": absent["data_deps"].height,
            "nodes": dangling["order"].n_unique(),
        },
        "absent_ids": sorted(dangling["dep"].unique())[:20],
        "nodes_with_a_repeated_dep_value": repeated.height,
        "nodes_that_name_themselves": both.filter(pl.col("dep") == pl.col("node_id"))["order"].n_unique(),
        "nodes_without_start_time": int((nodes["start_ns"].fill_null(0) == 0).sum()),
        "nodes_without_duration": int((nodes["duration_ns"].fill_null(0) == 0).sum()),
        "comm_by_type": {
            kind.upper(): n for kind, n in counted(collectives["comm_kind"].fill_null("no comm_type")).items()
        },
        "comm_nodes": comm.height,
        "comm_nodes_without_comm_size": comm["size_bytes"].null_count(),
        "comm_size_wire_field": counted(nodes["comm_size_field"]),
        "comm_sizes": {str(size): n for size, n in counted(comm["size_bytes"]).items()},
        "pg_names": counted(nodes["pg_name"]),
    }


@pytest.mark.parametrize(("name", "facts"), files_of("chakra_et"))
def test_a_chakra_file_has_the_facts_counted_of_it(data_dir: Path, name: str, facts: dict[str, Any]) -> None:
    """Types, deps on absent ids, repeats, self edges and sizes are those of expected.json."""
    with open_source(str(data_dir / name), SETTINGS) as source:
        told = is_chakra(source.peek(1 << 16))
        records = read_chakra_trace(source)

    found = chakra_facts(records.tables["chakra_nodes"])
    wanted = {key: facts[key] for key in found}
    wanted["comm_by_type"] = {kind.upper(): n for kind, n in facts["comm_by_type"].items()}
    wire_types = {"9": "int64", "13": "uint64", "7": "int32"}
    wanted["comm_size_wire_field"] = {
        wire_types[field]: n for field, n in facts["comm_size_wire_field"].items()
    }
    records.tally.check(name)
    assert told
    assert found == wanted
    assert (records.facts["cut_at"] is None) == (facts["read"] == "whole")
    assert facts["version"] in (None, records.facts["schema"])


@pytest.mark.parametrize("folder", ["demo_4r", "torch213/tp_pp_4r", "fsdp_alexnet_2r", "torch213/fsdp2_2r"])
def test_kineto_and_execution_trace_say_the_same_of_a_communication(data_dir: Path, folder: str) -> None:
    """Where both record an op, each argument that both tell is equal: elements, peers, tags, roots, types."""
    compared = 0
    for file in sorted((data_dir / folder).glob("kineto_*")):
        theirs = comm_args_by_rf_id(file.with_name(file.name.replace("kineto", "et")))
        for rf_id, args in comm_args_by_rf_id(file).items():
            known = {key: theirs[rf_id][key] for key in args if key in theirs.get(rf_id, {})}
            assert {key: args[key] for key in known} == known
            compared += len(known)
    assert compared > 50


def comm_args_by_rf_id(file: Path) -> dict[int, dict[str, Any]]:
    """Return {record function id: communication arguments} of a Kineto file or an execution trace."""
    read = read_kineto if file.name.startswith("kineto") else read_execution_trace
    with open_source(str(file), SETTINGS) as source:
        host = read(source).tables["host_ops"]
    rows = host.drop_nulls(["comm_args", "rf_id"]).select("rf_id", "comm_args").rows()
    return {rf_id: json.loads(text) for rf_id, text in rows}
