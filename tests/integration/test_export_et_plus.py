"""Merged execution traces of real and of small runs: read back, they make the same graph."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from graphstore.api.importing import ImportOptions, import_files
from graphstore.errors import UsageError
from graphstore.export import export_et_plus
from graphstore.readers import find_files
from graphstore.settings import Settings
from graphstore.store import Store, open_store
from tests.integration.test_cli import RANKS, Archive
from tests.integration.test_cli import demo as demo  # a fixture
from tests.integration.test_export import _renumbered, chakra_run, timed, two_ranks
from tests.queries.graphs import PROCESS, THREAD, GraphBuilder

RUN = "small"
HOST_OPS = """
MATCH (n:HostOp) WHERE n.run = $run AND n.node_id IS NOT NULL OPTIONAL MATCH (p:HostOp)-[:CTRL]->(n)
RETURN n.rank AS rank, n.node_id AS node_id, n.name AS name, p.node_id AS parent, n.parent_id AS recorded,
  n.start_ns AS start_ns, n.duration_ns AS duration_ns, n.tid AS tid, n.rf_id AS rf_id, n.fw_tid AS fw_tid,
  n.fw_parent AS fw_parent, n.autograd_seq_id AS autograd_seq_id, n.scope AS scope, n.op_schema AS op_schema,
  n.input_values AS inputs, n.input_shapes AS shapes, n.output_types AS types ORDER BY rank, node_id
"""
KERNELS = """
MATCH (k:Kernel) WHERE k.run = $run OPTIONAL MATCH (k)<-[:LAUNCHES]-(:RuntimeCall)<-[:CTRL]-(h:HostOp)
OPTIONAL MATCH (g:HostOp)-[:CTRL]->(k)
RETURN k.rank AS rank, k.name AS name, k.start_ns AS start_ns, k.duration_ns AS duration_ns,
  k.device AS device, k.stream AS stream, k.correlation AS correlation, k.category AS category,
  k.device_kind AS device_kind, coalesce(h.node_id, g.node_id) AS op
  ORDER BY rank, start_ns, correlation, stream
"""
CALLS = """
MATCH (c:CollectiveCall)-[:SEEN_AS {rule: 'host_op'}]->(h:HostOp) WHERE c.run = $run
RETURN c.rank AS rank, h.node_id AS op, c.collective_kind AS kind, c.op_name AS op_name, c.dtype AS dtype,
  c.in_msg_nelems AS nelems, c.out_msg_nelems AS out_nelems, c.size_bytes AS size_bytes, c.pg_name AS pg_name,
  c.group AS group_key, c.peer AS peer, c.tag AS tag, c.root_rank AS root ORDER BY rank, op
"""
WAITS = """
MATCH (a:Op)-[r:SYNC]->(b:Op) WHERE a.run = $run AND NOT r.rule CONTAINS '.'
RETURN a.rank AS rank, a.name AS awaited, b.name AS waiting, r.rule AS rule ORDER BY rank, awaited, waiting
"""


def imported(store: Store, run: str, *paths: Path) -> None:
    """Import files as a run."""
    import_files(store, find_files([str(p) for p in paths]), ImportOptions(run=run), Settings(store="-"))


def there_and_back(folder: Path, tmp_path: Path) -> tuple[Store, dict[str, Any]]:
    """Return a store with the run `there` of a folder's traces, and `back`, read from its export."""
    store = open_store(Settings(store=str(tmp_path / "archive")))
    imported(store, "there", folder)
    written = export_et_plus(store, "there", tmp_path / "out")
    imported(store, "back", tmp_path / "out")
    return store, written


def same(store: Store, statement: str, but: tuple[str, ...] = ()) -> int:
    """Return the rows of a statement, which have to be the same of both runs in all columns `but` some.

    A host op that only Kineto knows gets an id on the way, so ids that `there` has not are left aside.
    """
    there, back = (store.query(run, statement) for run in ("there", "back"))
    if "node_id" in there.columns:
        back = back.join(there.select("rank", "node_id"), on=["rank", "node_id"], maintain_order="left")
    assert there.drop(but, strict=False).rows() == back.drop(but, strict=False).rows()
    return there.height


@pytest.mark.parametrize(
    ("name", "counts"),
    [  # host ops of the execution traces, kernels, calls and waits, as the set's expected.json has them
        ("torch214_synthgpu_2r", (5410, 298, 64, 0)),
        ("public/dlrm_8r", (13400, 2244, 64, 0)),
        ("mini/03-sync-edge-makes-cycle", (4, 2, 0, 2)),
        ("mini/01-missing-parent-hides-collective", (9, 3, 2, 0)),
    ],
)
def test_read_back_it_makes_the_same_graph(
    name: str, counts: tuple[int, ...], data_dir: Path, tmp_path: Path
) -> None:
    """Ids, parents (absent ones, too), times to the ns, attributes, launching ops, calls and waits.

    That dlrm's calls are of the whole world takes the size of the job, which only its Kineto files hold.
    """
    store, _ = there_and_back(data_dir / name, tmp_path)

    but = ("group_key",) if name == "public/dlrm_8r" else ()
    assert tuple(same(store, statement, but) for statement in (HOST_OPS, KERNELS, CALLS, WAITS)) == counts
    there, back = (run["origin_ns"] for run in store.runs())
    assert there == back, "absolute times stay, too"

    store.close()


def nodes_of(path: Path) -> dict[int, dict[str, Any]]:
    """Return the nodes of a file by id."""
    return {node["id"]: node for node in json.loads(path.read_bytes())["nodes"]}


def test_a_kernel_hangs_under_the_op_that_launched_it(store: Store, tmp_path: Path) -> None:
    """Ids stay, kernels get the next ones; times in µs with every ns; a kernel copies what its op has."""
    store.write_run(two_ranks().build())

    written = export_et_plus(store, RUN, tmp_path)

    nodes = nodes_of(tmp_path / "small.1.et_plus.json")
    assert [(n["id"], n["name"], n["ctrl_deps"]) for n in nodes.values()] == [
        (1, PROCESS, 1),
        (2, THREAD, 1),
        (3, "aten::linear", 2),
        (5, "record_param_comms", 2),
        (6, "gemm", 3),
        (7, "ncclDevKernel_AllReduce", 5),
    ]
    linear, gemm, reduce = nodes[3], nodes[6], nodes[7]
    assert (linear["ts"], linear["inclusive_dur"], linear["exclusive_dur"]) == (0, 30, 30)
    assert (gemm["ts"], gemm["dur"], gemm["cat"], gemm["ph"], gemm["stream"]) == (10.5, 90, "kernel", "X", 7)
    assert gemm["attrs"] == linear["attrs"]
    assert {a["name"]: a["value"] for a in reduce["attrs"]}["collective_name"] == "all_reduce"
    assert written["notes"] == {"runtime call, told only by the parent of what it launched": 4}
    for name, facts in written["files"].items():
        assert facts["sha256"] == hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
        assert (facts["nodes"], facts["host_ops"], facts["device_ops"]) == (6, 4, 2)


def test_the_bytes_do_not_depend_on_the_archive(store: Store, tmp_path: Path) -> None:
    """Another run number gives other keys, but the same files."""
    store.write_run(two_ranks().build())
    first = export_et_plus(store, RUN, tmp_path)
    store.delete_run(RUN)
    store.write_run(_renumbered(two_ranks(), 9).build())

    assert export_et_plus(store, RUN, tmp_path) == first


def test_ids_used_twice_absent_parents_and_lost_launches(kglite_store: Store, tmp_path: Path) -> None:
    """The second use of an id gets a new one, and its child follows; the absent parent stays named."""
    graph = GraphBuilder(RUN)
    root = graph.op(PROCESS, node_id=1, tid=0)
    graph.op("first", root, node_id=3, parent_id=1, tid=1)
    again = graph.op("again", root, node_id=3, parent_id=1, tid=1)
    graph.op("child", again, node_id=4, parent_id=3, tid=1, **timed(0, 2))
    graph.op("orphan", node_id=5, parent_id=99, tid=1)
    graph.op("kineto only", root, **timed(4, 5))
    graph.node("Kernel", "lost", stream=7, start_ns=1, duration_ns=2)
    kglite_store.write_run(graph.build())

    written = export_et_plus(kglite_store, RUN, tmp_path)

    nodes = nodes_of(tmp_path / "small.0.et_plus.json")
    assert {n["name"]: (i, n["ctrl_deps"]) for i, n in nodes.items()} == {
        PROCESS: (1, 1),
        "first": (3, 1),
        "again": (100, 1),
        "child": (4, 100),
        "orphan": (5, 99),
        "kineto only": (101, 1),
        "lost": (102, 0),
    }
    attributes = {a["name"]: a["value"] for a in nodes[101]["attrs"]}
    assert attributes["tid"] == 1, "its Kineto thread is the one whose ops have tid 1"
    assert written["notes"] == {
        "device op whose launch is in no op, written without a parent": 1,
        "op whose id was used before, given a new one": 1,
    }


def test_a_run_without_ops_of_traces_is_refused(kglite_store: Store, tmp_path: Path) -> None:
    """One line, and no folder is made."""
    kglite_store.write_run(chakra_run([(5, 6)]).build())

    with pytest.raises(UsageError, match="holds no ops of execution traces"):
        export_et_plus(kglite_store, RUN, tmp_path / "out")

    assert not (tmp_path / "out").exists()


def test_the_command_writes_a_file_a_rank(demo: Archive, tmp_path: Path) -> None:
    """A row a file on stdout; what the form can't hold on stderr."""
    done = demo.run("export", "demo", "-o", tmp_path, "--format", "et-plus", "--summary", "csv")

    rows = pl.read_csv(done.stdout)
    assert rows["file"].to_list() == [f"demo.{rank}.et_plus.json" for rank in range(RANKS)]
    assert sorted(path.name for path in tmp_path.iterdir()) == rows["file"].to_list()
    assert "communication call that only a dump shows" in done.stderr.decode()
