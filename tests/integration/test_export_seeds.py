"""What other converters lost or got wrong, as files of this one: the cases of the minis and of upstream."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import orjson
import pytest

from graphstore.chakra.et_def_pb2 import Node, NodeType
from graphstore.errors import InputError
from graphstore.export import export_run
from graphstore.store import Store
from tests.data.trace_text import inputs, op, trace
from tests.integration.test_export_expected import RUN, WIRE, Form, files_in, load, repair

COLLECTIVE = NodeType.COMM_COLL_NODE


def exported(store: Store, paths: list[str], out: Path) -> tuple[list[Node], dict[str, Any]]:
    """Return the nodes and the entry of the manifest of a run of one rank."""
    load(store, paths)
    return written(store, out)


def written(store: Store, out: Path) -> tuple[list[Node], dict[str, Any]]:
    """Return them of the run that is in the store."""
    (entry,) = export_run(store, RUN, out)["ranks"].values()
    (nodes,) = files_in(out).values()
    return nodes, entry


def attribute(node: Node, name: str) -> Any:
    """Return the value of an attribute, None without."""
    found = [getattr(a, str(a.WhichOneof("value"))) for a in node.attr if a.name == name]
    return found[0] if found else None


def by_et_id(nodes: list[Node]) -> dict[int, Node]:
    """Return the nodes that an execution trace had, by their id there."""
    return {attribute(node, "et_id"): node for node in nodes if attribute(node, "et_id") is not None}


def names_waited_for(node: Node, nodes: list[Node]) -> list[str]:
    """Return the names of the data deps of a node."""
    return [nodes[dep - 1].name for dep in node.data_deps]


# --- written here -------------------------------------------------------------------------------------------


def event(kind: str, name: str, ts: int, dur: int, tid: int, **arguments: Any) -> dict[str, Any]:
    """Return a complete event of a Kineto trace."""
    return {
        "ph": "X",
        "cat": kind,
        "name": name,
        "pid": 7,
        "tid": tid,
        "ts": ts,
        "dur": dur,
        "args": arguments,
    }


def kineto(*events: dict[str, Any]) -> str:
    """Return the text of a Kineto trace of rank 0 of 2."""
    facts = {"backend": "nccl", "rank": 0, "world_size": 2, "pg_count": 1}
    return json.dumps({"schemaVersion": 1, "distributedInfo": facts, "traceEvents": list(events)})


def test_a_kernel_follows_the_op_that_launched_it_not_the_one_its_external_id_names(
    kglite_store: Store, tmp_path: Path
) -> None:
    """External ids 17, 18, 17: the launch carries that of the outer op, and lies inside the inner one.

    record_param_comms → nccl:_all_gather_base → ncclDevKernel_AllGather_RING_LL, one collective.
    """
    kernel = "ncclDevKernel_AllGather_RING_LL"
    (tmp_path / "host_0.json").write_text(
        trace(
            op(10, "record_param_comms", 2, rf_id=17, collective_name="_allgather_base", dtype="Float"),
            op(11, "nccl:_all_gather_base", 10, rf_id=18),
        )
    )
    ids = {"External id": 17, "correlation": 9001}
    group = {"Process Group Name": "0", "Collective name": "_allgather_base"}
    (tmp_path / "kineto_0.json").write_text(
        kineto(
            event(
                "cpu_op", "record_param_comms", 100, 60, 1, **{"External id": 17, "Record function id": 17}
            ),
            event(
                "cpu_op", "nccl:_all_gather_base", 105, 45, 1, **{"External id": 18, "Record function id": 18}
            ),
            event("cuda_runtime", "cudaLaunchKernelExC", 120, 5, 1, **ids),
            event("kernel", kernel, 140, 30, 20, device=0, stream=20, **ids, **group),
        )
    )

    traces = [str(tmp_path / f"{kind}_0.json") for kind in ("host", "kineto")]
    nodes, _ = exported(kglite_store, traces, tmp_path / "out")

    (collective,) = (node for node in nodes if node.type == COLLECTIVE)
    outer, inner = (by_et_id(nodes)[node_id] for node_id in (10, 11))
    assert (collective.name, attribute(collective, "comm_type")) == (kernel, 2)
    assert list(collective.ctrl_deps) == [inner.id]
    assert list(inner.ctrl_deps) == [outer.id]
    assert names_waited_for(collective, nodes) == ["nccl:_all_gather_base"]
    assert (inner.start_time_micros, inner.duration_micros) == (5, 20)  # up to the end of its launch


def gpt3_groups() -> dict[str, list[int]]:
    """Return the 17 groups of 16 ranks: all, 8 pairs, 4 and 4 fours (tensor, pipeline, data parallel)."""
    groups = {"0": list(range(16))}
    parts = [[n, n + 1] for n in range(0, 16, 2)]
    parts += [[n, n + 4, n + 8, n + 12] for n in range(4)]
    parts += [[n, n + 1, n + 2, n + 3] for n in range(0, 16, 4)]
    return groups | {str(number): ranks for number, ranks in enumerate(parts, start=1)}


def test_the_groups_of_a_big_model_are_metadata_and_a_file_of_groups(
    kglite_store: Store, tmp_path: Path
) -> None:
    """17 groups in the text of one init node: METADATA whose JSON a reader cuts out, and who is in which."""
    groups = gpt3_groups()
    told = [
        {"pg_name": name, "pg_desc": f"group {name}", "backend_config": "cuda:nccl", "ranks": ranks}
        | {"group_size": len(ranks), "group_count": len(groups)}
        for name, ranks in groups.items()
    ]
    told[0]["ranks"] = []  # all of them, as torch writes it
    (tmp_path / "host_0.json").write_text(
        trace(op(3, "## process_group:init ##", 2, inputs=inputs(json.dumps(told), types=["String"])))
    )

    nodes, _ = exported(kglite_store, [str(tmp_path / "host_0.json")], tmp_path / "out")

    (init,) = (node for node in nodes if node.type == NodeType.METADATA_NODE)
    assert len(groups) == 17
    assert json.loads(init.inputs.values[2:-2]) == told
    assert orjson.loads((tmp_path / "out" / "comm_groups.json").read_bytes()) == groups
    assert not [node for node in nodes if init.id in node.data_deps]


# --- the minis ----------------------------------------------------------------------------------------------


@pytest.mark.data
@pytest.mark.parametrize("repaired", [False, True])
def test_mini_01_both_collectives_are_in_the_file(
    repaired: bool, data_dir: Path, kglite_store: Store, tmp_path: Path
) -> None:
    """The broadcast below the absent parent 4, too, and each behind the call that launched it."""
    load(kglite_store, Form("mini/01-missing-parent-hides-collective").paths(data_dir))
    if repaired:
        repair(kglite_store)

    nodes, _ = written(kglite_store, tmp_path)

    found = [node for node in nodes if node.type == COLLECTIVE]
    assert [attribute(node, "collective_kind") for node in found] == ["broadcast", "all_reduce"]
    assert [nodes[node.ctrl_deps[0] - 1].name for node in found] == ["record_param_comms"] * 2
    orphan = by_et_id(nodes)[9]
    assert [nodes[dep - 1].name for dep in orphan.ctrl_deps] == (
        ["[pytorch|profiler|execution_trace|thread]"] if repaired else []
    )


@pytest.mark.data
def test_mini_03_only_the_wait_that_fits_the_times_is_in_the_file(
    data_dir: Path, kglite_store: Store, tmp_path: Path
) -> None:
    """11 goes on behind 20; 10 cannot have waited for 21, which starts after it has ended: counted."""
    nodes, entry = exported(
        kglite_store, Form("mini/03-sync-edge-makes-cycle").paths(data_dir), tmp_path / "out"
    )

    operators = by_et_id(nodes)
    assert {node_id: operators[node_id].name for node_id in (10, 20, 11, 21)} == {
        10: "aten::addmm",
        20: "addmm_kernel_inv",
        11: "aten::item",
        21: "Memcpy DtoH (inv)",
    }
    assert entry["pieces"]["first piece of a host op"] + entry["pieces"]["device op"] == len(operators)
    waiting = [node for node in nodes if attribute(node, "rule") == "sync_dep"]
    assert [(node.name, attribute(node, "part_of")) for node in waiting] == [("aten::item", operators[11].id)]
    assert operators[20].id in waiting[0].data_deps
    assert entry["deps_left_out"] == {"sync_dep that ends after what waits for it starts": 1}
    assert entry["replay"]["contradictions"] == 0


@pytest.mark.data
def test_mini_14_kernels_of_one_stream_follow_each_other_and_no_others(
    data_dir: Path, kglite_store: Store, tmp_path: Path
) -> None:
    """20 → 21 on stream 7; nothing in the file says that 22, on stream 20, waits for 21 (decision 19)."""
    nodes, _ = exported(kglite_store, Form("mini/14-gpu-nodes-are-leaves").paths(data_dir), tmp_path / "out")

    kernels = by_et_id(nodes)
    assert names_waited_for(kernels[20], nodes) == ["aten::mm"]
    assert names_waited_for(kernels[21], nodes) == ["aten::relu", "mm_inv"]
    assert names_waited_for(kernels[22], nodes) == ["unexplained wait"]  # 40 µs behind its launch
    assert names_waited_for(nodes[kernels[22].data_deps[0] - 1], nodes) == ["c10d::allreduce_"]
    assert kernels[22].type == COLLECTIVE


def wire(name: str, data: Path) -> list[str]:
    """Return a file of mini 13."""
    return Form(WIRE, (f"{name}.et",)).paths(data)


@pytest.mark.data
def test_mini_13_a_dep_on_an_absent_node_is_not_written(
    data_dir: Path, kglite_store: Store, tmp_path: Path
) -> None:
    """a: node 0 is not there; b: id 0 is a node like any other, and is waited for."""
    absent, entry = exported(kglite_store, wire("a_dep_on_absent_node_0", data_dir), tmp_path / "a")
    assert all(0 not in (*node.ctrl_deps, *node.data_deps) for node in absent)
    assert sum(entry["deps_left_out"].values()) >= 1

    kglite_store.delete_run(RUN)
    present, entry = exported(kglite_store, wire("b_node_id_0_present", data_dir), tmp_path / "b")
    assert present[0].id == 0
    assert any(0 in (*node.ctrl_deps, *node.data_deps) for node in present)
    assert entry["deps_left_out"] == {}


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "size"),
    [("c_comm_size_int64_field9", 4096), ("d_comm_size_uint64_field13", 4096), ("e_comm_size_missing", 0)],
)
def test_mini_13_every_collective_has_an_int64_size(
    name: str, size: int, data_dir: Path, kglite_store: Store, tmp_path: Path
) -> None:
    """Whatever wire type it was read from; where there is none it is 0, and the manifest says so."""
    nodes, entry = exported(kglite_store, wire(name, data_dir), tmp_path)

    (collective,) = (node for node in nodes if node.type == COLLECTIVE)
    assert [a.WhichOneof("value") for a in collective.attr if a.name == "comm_size"] == ["int64_val"]
    assert attribute(collective, "comm_size") == size
    assert ("communication of unknown size, written with 0 bytes" in entry["notes"]) == (size == 0)


@pytest.mark.data
def test_mini_13_a_cycle_is_refused_and_named_and_a_cut_file_keeps_its_node(
    data_dir: Path, kglite_store: Store, tmp_path: Path
) -> None:
    """f: 5 → 6 → 5; g: one node is whole, and that one is written."""
    load(kglite_store, wire("f_two_cycle", data_dir))
    with pytest.raises(InputError, match="5 → 6 → 5"):
        export_run(kglite_store, RUN, tmp_path / "f")

    kglite_store.delete_run(RUN)
    nodes, _ = exported(kglite_store, wire("g_cut", data_dir), tmp_path / "g")
    assert len(nodes) == 1


# --- a whole step below an absent parent --------------------------------------------------------------------


@pytest.mark.data
def test_fsdp_keeps_every_all_gather_of_a_lost_step_and_plays_the_last_all_reduce_last(
    data_dir: Path, kglite_store: Store, tmp_path: Path
) -> None:
    """All 13 calls hang below an absent parent. Played, the all-reduce of the loss still starts last, when it
    did; tied to the thread alone it would start first, at 0.
    """
    load(kglite_store, Form("fsdp_alexnet_2r").paths(data_dir))

    export_run(kglite_store, RUN, tmp_path)

    for name, nodes in files_in(tmp_path).items():
        ends: dict[int, int] = {}
        starts: dict[int, int] = {}
        for node in nodes:
            starts[node.id] = max((ends[dep] for dep in node.data_deps), default=0)
            ends[node.id] = starts[node.id] + node.duration_micros
        found = [node for node in nodes if node.type == COLLECTIVE]
        kinds = [attribute(node, "collective_kind") for node in sorted(found, key=lambda n: starts[n.id])]
        assert {kind: kinds.count(kind) for kind in set(kinds)} == {
            "all_gather": 8,
            "reduce_scatter": 4,
            "all_reduce": 1,
        }
        assert kinds[-1] == "all_reduce"
        if name.endswith(".0.et"):
            last = next(node for node in found if attribute(node, "collective_kind") == "all_reduce")
            begin = min(node.start_time_micros for node in nodes if node.duration_micros)
            queued = attribute(last, "lead_us")  # for its worker, which was at work on the call before
            assert starts[last.id] + begin + queued == pytest.approx(last.start_time_micros, abs=1)
            assert starts[last.id] == pytest.approx(338_974, abs=1_000)
