"""Every shared set, from its files to Chakra files, checked by a reader that shares nothing with the export.

What must hold of each file stands in `faults`; how many communications there are comes from expected.json,
which was counted of the recorded files by other means.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from graphstore import queries, repairs
from graphstore.api.importing import ImportOptions, import_files
from graphstore.chakra import et_def_pb2
from graphstore.errors import InputError, UsageError
from graphstore.export import export_run
from graphstore.readers import FoundFiles, find_files
from graphstore.settings import Settings
from graphstore.store import Store

pytestmark = pytest.mark.data

RUN = "r"
KIND = et_def_pb2.NodeType
COMMUNICATIONS = (KIND.COMM_COLL_NODE, KIND.COMM_SEND_NODE, KIND.COMM_RECV_NODE)


@dataclass(frozen=True)
class Form:
    """Files that make one run: those of a folder, or those of them that are named."""

    folder: str
    files: tuple[str, ...] = ()

    def paths(self, data: Path) -> list[str]:
        """Return the paths of its files."""
        folder = data / self.folder
        return [str(folder / name) for name in self.files] or list(find_files([str(folder)]).files)

    def facts(self, data: Path) -> list[dict[str, Any]]:
        """Return the facts counted of its files."""
        known = json.loads((data / self.folder / "expected.json").read_text())["files"]
        return [known[name] for name in self.files or known]

    def __str__(self) -> str:
        """Return how a test is called after it."""
        return "/".join((self.folder, *self.files[-1:]))


SCHEMAS, RF_IDS = "mini/04-schema-versions", "mini/05-record-function-id-zero-or-absent"
WIRE = "mini/13-et-dangling-dep-and-wire-types"
MISSING = "missing_parents"
FORMS = [
    Form("demo_4r"),
    Form("fr_et_kineto"),
    Form("fsdp_alexnet_2r"),
    Form("mini/01-missing-parent-hides-collective"),
    Form("mini/02-external-id-beats-nearest-time"),
    Form("mini/03-sync-edge-makes-cycle"),
    Form(SCHEMAS, ("a_schema_1.0.1.json",)),
    Form(SCHEMAS, ("b_schema_1.1.1-chakra.1.0.0.json",)),
    Form(SCHEMAS, ("c_schema_7.3.0-chakra.9.9.9.json",)),
    Form(SCHEMAS, ("d_no_schema.json",)),
    Form(RF_IDS, ("host_0.json", "kineto_rf_absent.json")),
    Form(RF_IDS, ("host_0.json", "kineto_rf_zero.json")),
    Form("mini/08-no-profiler-step"),
    Form("mini/10-kernels-launched-before-the-window"),
    Form(WIRE, ("a_dep_on_absent_node_0.et",)),
    Form(WIRE, ("b_node_id_0_present.et",)),
    Form(WIRE, ("c_comm_size_int64_field9.et",)),
    Form(WIRE, ("d_comm_size_uint64_field13.et",)),
    Form(WIRE, ("e_comm_size_missing.et",)),
    Form(WIRE, ("f_two_cycle.et",)),
    Form(WIRE, ("g_cut.et",)),
    Form("mini/14-gpu-nodes-are-leaves"),
    Form("mini/16-cross-rank-subgroups"),
    Form(f"{MISSING}/a0_baseline_whole_steps"),
    Form(f"{MISSING}/a2_stop_inside_forward"),
    Form(f"{MISSING}/a4_stop_inside_record_function"),
    Form(f"{MISSING}/b1_manual_et_stop_before_prof_step"),
    Form(f"{MISSING}/b2_manual_et_stop_after_prof_step"),
    Form(f"{MISSING}/b5_unregister_with_profilerstep_open"),
    Form(f"{MISSING}/c1_start_on_other_thread"),
    Form(f"{MISSING}/d2_async_collectives_overlap"),
    Form(f"{MISSING}/e3_killed"),
    Form(f"{MISSING}/f3_two_windows_one_file"),
    Form("public/chakra_102"),
    Form("public/chakra_et"),
    Form("public/chakra_et/all_reduce_8npus"),
    Form("public/chakra_et/custom_ring_8npus"),
    Form("public/cuda_event_sync"),
    Form("public/cuda_event_sync_multi_stream"),
    Form("public/dlrm_8r"),
    Form("public/hta_sampled_2of128"),
    Form("public/kineto_b200"),
    Form("public/kineto_h100"),
    Form("public/kineto_mi300_graph"),
    Form("public/kineto_mi300_triton"),
    Form("public/linear"),
    Form("public/no_rank"),
    Form("public/resnet_103"),
    Form("public/simple_add"),
    Form("torch213/ddp_cnn_2r"),
    Form("torch213/ddp_cnn_2r_sched"),
    Form("torch213/ddp_cnn_4r"),
    Form("torch213/fsdp2_2r"),
    Form("torch213/mid_transformer_8r"),
    Form("torch213/tp_pp_4r"),
    Form("torch213/uneven_order"),
    Form("torch213/uneven_size"),
    Form("torch213/uneven_skip"),
    Form("torch214_synthgpu_2r"),
    pytest.param(Form("torch213_big", ("et_rank0.json.gz", "kineto_rank0.json.gz")), marks=pytest.mark.slow),
]
# Not recorded at all: these collectives can be written as computation only.
WITHOUT_TYPE = {"public/chakra_et": 14}
# Calls a rank that Kineto alone saw: its window is longer than the ET's, or there is no ET (and no kernel).
IN_KINETO_ALONE = {f"{MISSING}/b1_manual_et_stop_before_prof_step": 1, "public/no_rank": 6}


def read_messages(path: Path) -> list[bytes]:
    """Return the messages of a framed file; fails where the file does not end with one."""
    content, at, out = path.read_bytes(), 0, []
    while at < len(content):
        length = shift = 0
        while True:
            byte = content[at]
            at += 1
            length |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        assert at + length <= len(content), f"{path.name} is cut"
        out.append(content[at : at + length])
        at += length
    return out


def read_nodes(path: Path) -> list[et_def_pb2.Node]:
    """Return the nodes of a file, behind its metadata record."""
    first, *rest = read_messages(path)
    assert et_def_pb2.GlobalMetadata.FromString(first).version == "0.0.4"
    return [et_def_pb2.Node.FromString(message) for message in rest]


def fields_of(node: et_def_pb2.Node) -> dict[str, str | None]:
    """Return {attribute: wire field}."""
    return {attr.name: attr.WhichOneof("value") for attr in node.attr}


def faults(nodes: Sequence[et_def_pb2.Node]) -> list[str]:
    """Return what a known reader would trip over."""
    ids = [node.id for node in nodes]
    known = set(ids)
    out = [f"id {n} is used {k} times" for n, k in Counter(ids).items() if k > 1]
    for node in nodes:
        for name in ("ctrl_deps", "data_deps"):
            deps = list(getattr(node, name))
            out += [f"{name} of {node.id} name absent {dep}" for dep in deps if dep not in known]
            if len(deps) > len(set(deps)):
                out.append(f"{name} of {node.id} repeat")
        fields = fields_of(node)
        if node.type in COMMUNICATIONS and fields.get("comm_size") != "int64_val":
            out.append(f"communication {node.id} has no int64 size")
        if node.type == KIND.COMM_COLL_NODE and fields.get("comm_type") != "int64_val":
            out.append(f"collective {node.id} has no int64 type")
        if node.type in COMMUNICATIONS[1:] and not {"comm_dst", "comm_src"} & set(fields):
            out.append(f"send or recv {node.id} has no peer")
        if node.type in COMMUNICATIONS[1:] and "comm_tag" not in fields:
            out.append(f"send or recv {node.id} has no tag")
    return out + cycle_faults(nodes)


def cycle_faults(nodes: Sequence[et_def_pb2.Node]) -> list[str]:
    """Return whether taking away, again and again, the nodes that wait for nothing leaves any."""
    waits = {node.id: {*node.ctrl_deps, *node.data_deps} for node in nodes}
    followers: dict[int, list[int]] = {}
    for node, deps in waits.items():
        for dep in deps:
            followers.setdefault(dep, []).append(node)
    open_deps = {node: len(deps) for node, deps in waits.items()}
    free = [node for node, count in open_deps.items() if not count]
    done = 0
    while free:
        done += 1
        for follower in followers.get(free.pop(), []):
            open_deps[follower] -= 1
            if not open_deps[follower]:
                free.append(follower)
    return [f"{len(waits) - done} nodes lie in or behind a cycle"] if done < len(waits) else []


def communications(nodes: Sequence[et_def_pb2.Node]) -> int:
    """Return how many nodes are communications."""
    return sum(node.type in COMMUNICATIONS for node in nodes)


def span_us(nodes: Sequence[et_def_pb2.Node]) -> int:
    """Return how long the file lasts for a reader that starts each node when all of its deps have ended."""
    ends: dict[int, int] = {}
    for node in nodes:
        begin = max((ends[dep] for dep in (*node.ctrl_deps, *node.data_deps)), default=0)
        ends[node.id] = begin + node.duration_micros
    return max(ends.values())


def expected_communications(form: Form, data: Path) -> list[int]:
    """Return the communications of each rank, in ascending order, as counted of the recorded files."""
    facts = form.facts(data)
    chakra = [
        sum(n for kind, n in f["types"].items() if kind.startswith("COMM_"))
        - WITHOUT_TYPE.get(form.folder, 0)
        for f in facts
        if f["kind"] == "chakra_et"
    ]
    traces = [calls_in(f) for f in facts if f["kind"] in ("et", "et_plus")]
    kernels = [(f.get("nccl_kernels") or {}).get("count", 0) for f in facts if f["kind"] == "kineto"]
    return sorted(n + IN_KINETO_ALONE.get(form.folder, 0) for n in chakra or traces or kernels)


def calls_in(facts: dict[str, Any]) -> int:
    """Return the calls of an execution trace: record_param_comms that are no `wait`, else c10d ops."""
    recorded = (facts.get("record_param_comms") or {}).get("by_kind")
    if recorded:
        return sum(n for kind, n in recorded.items() if kind != "wait")
    return sum(n for name, n in facts.get("comm_nodes", {}).items() if name.startswith("c10d::"))


def load(store: Store, paths: Sequence[str], run: str = RUN) -> None:
    """Import files as one run."""
    import_files(store, FoundFiles(list(paths)), ImportOptions(run=run), Settings(store="-"))


def repair(store: Store) -> None:
    """Check the run and apply every repair."""
    queries.write_findings(store, RUN, queries.check(store, RUN))
    repairs.apply(store, RUN, repairs.plan(store, RUN), unsafe=True)


def files_in(out: Path) -> dict[str, list[et_def_pb2.Node]]:
    """Return the nodes of every file of an export."""
    return {path.name: read_nodes(path) for path in sorted(out.glob("*.et"))}


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_every_set_becomes_files_that_every_reader_takes(
    form: Form, data_dir: Path, kglite_store: Store, tmp_path: Path
) -> None:
    """Repaired or not: ids, deps, cycles, sizes; as many communications as were recorded.

    A reader that takes all deps for order gets the span that the manifest tells, which is that of data deps.
    """
    load(kglite_store, form.paths(data_dir))
    cyclic = any(f.get("cycles") for f in form.facts(data_dir))
    if cyclic:
        with pytest.raises(InputError, match="--apply --unsafe"):
            export_run(kglite_store, RUN, tmp_path / "as recorded")
    manifests = {} if cyclic else {"as recorded": export_run(kglite_store, RUN, tmp_path / "as recorded")}
    repair(kglite_store)
    manifests["repaired"] = export_run(kglite_store, RUN, tmp_path / "repaired")

    for out, manifest in manifests.items():
        written = files_in(tmp_path / out)
        for entry in manifest["ranks"].values():
            replayed = entry.get("replay")
            assert not replayed or span_us(written[entry["file"]]) == replayed["simulated_us"]
        assert {name: faults(nodes) for name, nodes in written.items() if faults(nodes)} == {}
        counted = sorted(communications(nodes) for nodes in written.values())
        assert counted == expected_communications(form, data_dir)


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_an_export_can_be_imported_and_exported_again_as_the_same_graph(
    form: Form, data_dir: Path, kglite_store: Store, tmp_path: Path
) -> None:
    """Nothing of a node is lost on the way through the graph; ids stay, since every dep points back."""
    load(kglite_store, form.paths(data_dir))
    repair(kglite_store)
    export_run(kglite_store, RUN, tmp_path / "once")

    load(kglite_store, [str(path) for path in sorted((tmp_path / "once").glob("*.et"))], "again")
    export_run(kglite_store, "again", tmp_path / "twice")

    once, twice = files_in(tmp_path / "once"), files_in(tmp_path / "twice")
    assert len(once) == len(twice)
    assert list(once.values()) == list(twice.values())


def test_the_dlrm_run_keeps_eight_of_eight_collectives_a_rank(
    data_dir: Path, kglite_store: Store, tmp_path: Path
) -> None:
    """Each of them is an NCCL kernel on the GPU, behind the op that launched it."""
    load(kglite_store, Form("public/dlrm_8r").paths(data_dir))

    export_run(kglite_store, RUN, tmp_path)

    for nodes in files_in(tmp_path).values():
        found = [node for node in nodes if node.type == KIND.COMM_COLL_NODE]
        assert len(found) == 8
        assert all(node.name.startswith("nccl") and node.data_deps and node.ctrl_deps for node in found)


def test_a_parent_taken_out_of_the_trace_hides_no_collective(
    data_dir: Path, kglite_store: Store, tmp_path: Path
) -> None:
    """resnet_103 without its node 3: a walk from the root would lose them; the export has 21 of 21."""
    folder = data_dir / "public" / "resnet_103"
    trace = json.loads(gzip.decompress((folder / "resnet_1gpu_et.json.gz").read_bytes()))
    trace["nodes"] = [node for node in trace["nodes"] if node["id"] != 3]
    (tmp_path / "et_0.json").write_text(json.dumps(trace))
    load(kglite_store, [str(tmp_path / "et_0.json"), str(folder / "nccl_data.json.gz")])

    export_run(kglite_store, RUN, tmp_path / "as recorded")
    repair(kglite_store)
    export_run(kglite_store, RUN, tmp_path / "repaired")

    for out in ("as recorded", "repaired"):
        (nodes,) = files_in(tmp_path / out).values()
        assert faults(nodes) == []
        assert communications(nodes) == 21


@pytest.mark.parametrize("repaired", [False, True])
def test_the_last_all_reduce_of_a_lost_step_comes_last(
    repaired: bool, data_dir: Path, kglite_store: Store, tmp_path: Path
) -> None:
    """All 13 calls hang off an absent parent: they keep their order, the loss's all-reduce is the 13th."""
    load(kglite_store, Form("fsdp_alexnet_2r").paths(data_dir))
    if repaired:
        repair(kglite_store)

    export_run(kglite_store, RUN, tmp_path)

    facts = json.loads((data_dir / "fsdp_alexnet_2r" / "expected.json").read_text())["ranks"]
    recorded = [call.split()[0] for call in facts["calls_without_group"]["calls_in_order"]["0"]]
    for nodes in files_in(tmp_path).values():
        found = [node for node in nodes if node.type in COMMUNICATIONS]
        words = [next(attr.string_val for attr in node.attr if attr.name == "op_name") for node in found]
        assert [word.removeprefix("c10d::") for word in words] == recorded
        assert recorded[-1] == "allreduce_"
        assert found[-1].start_time_micros == max(node.start_time_micros for node in found)


@pytest.mark.parametrize("folder", ["fr/gloo/basic", "mini/09-flight-recorder-hang"])
def test_a_run_of_dumps_alone_has_nothing_to_write(
    folder: str, data_dir: Path, kglite_store: Store, tmp_path: Path
) -> None:
    """Flight Recorder dumps hold no ops: one line says so."""
    load(kglite_store, list(find_files([str(data_dir / folder)]).files))

    with pytest.raises(UsageError, match="holds no ops to write"):
        export_run(kglite_store, RUN, tmp_path / "out")


@pytest.mark.neo4j
@pytest.mark.parametrize(
    "form",
    [
        Form("demo_4r"),
        Form("mini/01-missing-parent-hides-collective"),
        Form("mini/14-gpu-nodes-are-leaves"),
        Form(WIRE, ("d_comm_size_uint64_field13.et",)),
        Form("public/chakra_et/custom_ring_8npus"),
        Form("torch214_synthgpu_2r"),
    ],
    ids=str,
)
def test_both_engines_give_the_same_bytes(
    form: Form, data_dir: Path, kglite_store: Store, neo4j_store: Store, tmp_path: Path
) -> None:
    """The engine is not seen in any file, before and after the repairs."""
    for store in (kglite_store, neo4j_store):
        load(store, form.paths(data_dir))
        export_run(store, RUN, tmp_path / store.engine / "as recorded")
        repair(store)
        export_run(store, RUN, tmp_path / store.engine / "repaired")

    for out in ("as recorded", "repaired"):
        one, other = (
            {path.name: path.read_bytes() for path in (tmp_path / engine / out).iterdir()}
            for engine in ("kglite", "neo4j")
        )
        assert one == other
