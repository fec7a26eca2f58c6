from __future__ import annotations

import orjson
import polars as pl
import pytest

from graphstore.link.assemble import assemble, ledger
from graphstore.link.rank import link_rank
from graphstore.model.records import FileRecords, RunGraph, node_schema
from graphstore.model.schema import LABEL_BY_NAME
from tests.data.builders import chakra_file, et_file, kineto_file, roots, span
from tests.unit.link.test_rank import nccl_pair

GROUP = {"pg_name": "0", "pg_desc": "default_pg", "ranks": [0, 1], "group_size": 2, "origin": "et_init"}


@pytest.fixture
def run() -> RunGraph:
    """Return a run of two ranks, and a file that belongs to none."""
    graphs = []
    for rank in (1, 0):
        files = nccl_pair()
        files[0].groups = [GROUP]
        files[1].facts |= {"world_size": 2, "host": "h", "device_name": "GPU"}
        files[1].thread_names[77, 1] = "python"
        graphs.append(link_rank(rank, files))
    readme = FileRecords("README.md", {"kind": "not_a_trace", "name": "README.md", "path": "README.md"})
    return assemble("run-1", 5, "run-1", graphs, [readme])


def ends(run: RunGraph, kind: str) -> list[tuple[str, str]]:
    """Return the edges of one type by the names of their ends."""
    name = {run.run["run"]: run.run["name"]}
    for frame in run.nodes.values():
        name |= dict(frame.select("uid", "name").iter_rows())
    return [
        (name[src], name[dst])
        for table in run.edges
        if table.type == kind
        for src, dst in table.frame.select("src", "dst").iter_rows()
    ]


def test_uids_are_the_run_and_a_place_and_none_is_used_twice(run: RunGraph) -> None:
    """Every node has a uid of run 5; places start behind the Run's own and leave no gap."""
    uids = [uid for frame in run.nodes.values() for uid in frame["uid"]]

    assert run.run["uid"] == 5 << 32
    assert sorted(uid & 0xFFFFFFFF for uid in uids) == list(range(1, len(uids) + 1))
    assert {uid >> 32 for uid in uids} == {5}


def test_every_node_frame_has_the_properties_of_its_label(run: RunGraph) -> None:
    """Nothing is missing and nothing is left over from linking; every node names its run."""
    for label, frame in run.nodes.items():
        assert frame.schema == node_schema(label)
        assert frame["run"].to_list() == ["run-1"] * frame.height
    properties = {p.name for p in LABEL_BY_NAME["Run"].properties}
    assert set(run.run) | {"status"} == properties


def test_edges_end_at_nodes_and_references_name_them(run: RunGraph) -> None:
    """src and dst of every edge, and root, encloser and trace_file, are uids of nodes of the run."""
    uids = {uid for frame in run.nodes.values() for uid in frame["uid"]}

    for table in run.edges:
        assert table.frame.height
        assert set(table.frame["src"]) <= uids
        assert set(table.frame["dst"]) <= uids | {"run-1"}
    host = run.nodes["HostOp"]
    for name in ("root", "encloser", "trace_file"):
        assert set(host[name].drop_nulls()) <= uids
    files = dict(run.nodes["TraceFile"].select("uid", "rank").iter_rows())
    assert [files[uid] for uid in host["trace_file"]] == host["rank"].to_list()


def test_what_the_ops_run_on(run: RunGraph) -> None:
    """Ranks, threads, streams and groups are nodes, each on its rank; a file without rank is in the run."""
    assert sorted(ends(run, "ON_RANK")) == [
        *[("device 0 stream 7", f"rank {n}") for n in (0, 1)],
        *[("et.json", f"rank {n}") for n in (0, 1)],
        *[("kineto.json", f"rank {n}") for n in (0, 1)],
        *[("python", f"rank {n}") for n in (0, 1)],
    ]
    assert ("README.md", "run-1") in ends(run, "IN_RUN")
    assert ends(run, "MEMBER") == [("rank 0", "0[0-1]"), ("rank 1", "0[0-1]")]
    assert ends(run, "IN_GROUP") == [("allreduce", "0[0-1]")] * 2
    assert run.nodes["Rank"].select("rank", "host", "device_name").rows() == [
        (0, "h", "GPU"),
        (1, "h", "GPU"),
    ]


def test_times_count_from_the_first_op_of_the_run() -> None:
    """One origin for all ranks, kept on the Run; durations stay."""
    graphs = [link_rank(rank, [kineto_file([span("a", 5_000 + rank, 9_000)])]) for rank in (0, 1)]

    run = assemble("r", 1, "r", graphs, [])

    assert run.run["origin_ns"] == 5_000
    assert run.nodes["HostOp"].select("start_ns", "duration_ns").rows() == [(0, 4_000), (1, 3_999)]


def test_without_times_there_is_no_origin() -> None:
    """Execution traces hold no times; the Run says so, and starts stay null."""
    run = assemble("r", 1, "r", [link_rank(0, [et_file(roots())])], [])

    assert run.run["origin_ns"] is None
    assert run.nodes["HostOp"]["start_ns"].null_count() == 2
    assert run.nodes["Thread"].select("tid", "thread").rows() == [(0, None), (1, None)]


def test_a_chakra_file_keeps_its_own_clock() -> None:
    """An export counts from its start, a Kineto trace from 1970: neither moves the other."""
    exported = chakra_file([{"node_id": 1, "name": "n", "ctrl_deps": [], "data_deps": [], "start_ns": 30}])
    graph = link_rank(0, [kineto_file([span("a", 10**18, 10**18 + 5)]), exported])

    run = assemble("r", 1, "r", [graph], [])

    assert run.run["origin_ns"] == 10**18
    assert run.nodes["ChakraNode"]["start_ns"].to_list() == [0]


def test_the_ledger_adds_up_per_kind(run: RunGraph) -> None:
    """Records read and kept of all files of a kind are summed, reasons too."""
    told = orjson.loads(run.run["ledger"])
    summed = ledger(
        [
            {"kind": "kineto", "records_read": 9, "kept": 5, "left_out": '{"metadata": 4}'},
            {"kind": "kineto", "records_read": 3, "kept": 1, "left_out": '{"metadata": 1, "cut": 1}'},
        ]
    )

    assert told["et"] == {"files": 2, "read": 10, "kept": 10, "left_out": {}}
    assert told["not_a_trace"] == {"files": 1, "read": 0, "kept": 0, "left_out": {}}
    assert summed == {"kineto": {"files": 2, "read": 12, "kept": 6, "left_out": {"metadata": 5, "cut": 1}}}


def test_no_ranks_is_a_run_of_files() -> None:
    """Nothing to link: the run still says which files were looked at."""
    run = assemble("r", 1, "r", [], [FileRecords("x", {"kind": "not_a_trace", "name": "x", "path": "x"})])

    assert run.counts() == dict.fromkeys(run.nodes, 0) | {"TraceFile": 1, "IN_RUN": 1}
    assert run.nodes["HostOp"].schema["uid"] == pl.Int64
