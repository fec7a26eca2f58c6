"""Timelines of real and of small runs: valid Chrome traces, read back by our own reader of such traces."""

from __future__ import annotations

import gzip
import json
from collections import Counter, defaultdict
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from graphstore import queries
from graphstore.errors import UsageError
from graphstore.export import export_timeline, timeline
from graphstore.readers.kineto import read_kineto
from graphstore.readers.source import open_source
from graphstore.settings import Settings
from graphstore.store import Store, open_store
from tests.integration.test_cli import Archive
from tests.integration.test_cli import demo as demo  # a fixture
from tests.integration.test_export import _renumbered, chakra_run, timed, two_ranks
from tests.integration.test_export_et_plus import imported
from tests.queries.graphs import GraphBuilder

RUN = "small"
LABELS = {
    "host_ops": "HostOp",
    "runtime_calls": "RuntimeCall",
    "kernels": "Kernel",
    "sync_events": "SyncEvent",
}
SETS = (
    "torch214_synthgpu_2r",
    "public/dlrm_8r",
    "public/kineto_h100",
    "public/cuda_event_sync_multi_stream",
    "public/kineto_mi300_graph",
    "missing_parents/d2_async_collectives_overlap",
)


def events_of(path: Path) -> list[dict[str, Any]]:
    """Return the events of a file; times as exact decimals."""
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    events: list[dict[str, Any]] = json.loads(text, parse_float=Decimal)["traceEvents"]
    return events


def check_nesting(events: list[dict[str, Any]]) -> None:
    """Assert that the spans of each track nest or follow each other: what else is cut or lost in a viewer."""
    tracks: dict[tuple[int, int], list[tuple[Decimal, Decimal]]] = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            tracks[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    for spans in tracks.values():
        open_: list[Decimal] = []
        for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
            while open_ and open_[-1] <= start:
                open_.pop()
            assert not open_ or end <= open_[-1]
            open_.append(end)


def check_arrows(events: list[dict[str, Any]]) -> Counter[str]:
    """Assert that every arrow begins once, ends once, leads forward and touches a span at each end."""
    spans: dict[tuple[int, int], list[tuple[Decimal, Decimal]]] = defaultdict(list)
    arrows: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            spans[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
        if event["ph"] in "stf":
            arrows[event["id"]].append(event)
    for ends in arrows.values():
        assert [end["ph"] for end in ends if end["ph"] != "t"].count("s") == 1
        in_order = sorted(ends, key=lambda end: (end["ts"], "stf".index(end["ph"])))
        assert "".join(end["ph"] for end in in_order) == "s" + "t" * (len(ends) - 2) + "f"
        assert len({(end["cat"], end["name"]) for end in ends}) == 1
        for end in ends:
            assert any(a <= end["ts"] <= b for a, b in spans[end["pid"], end["tid"]])
    return Counter(ends[0]["cat"] for ends in arrows.values())


@pytest.mark.parametrize("name", SETS)
def test_a_timeline_nests_and_is_read_back(name: str, data_dir: Path, tmp_path: Path) -> None:
    """Each op with a time is one span, on a named track; our reader finds them all, times to the ns."""
    store = open_store(Settings(store=str(tmp_path / "archive")))
    imported(store, "there", data_dir / name)
    out = tmp_path / "out"

    written = export_timeline(store, "there", out)

    ((file, facts),) = written["files"].items()
    events = events_of(out / file)
    check_nesting(events)
    assert sum(check_arrows(events).values()) == facts["arrows"]
    named = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"}
    assert {(e["pid"], e["tid"]) for e in events if e["ph"] != "M"} <= named
    with open_source(str(out / file), Settings(store="-")) as source:
        back = read_kineto(source).tables
    for table, label in LABELS.items():
        statement = (
            f"MATCH (n:{label}) WHERE n.run = $run AND n.duration_ns IS NOT NULL "
            "RETURN n.name AS name, n.start_ns AS start, n.duration_ns AS length"
        )
        there = store.query("there", statement)
        origin = next(run["origin_ns"] for run in store.runs())
        found = back[table].select("name", start=back[table]["start_ns"] - origin, length="duration_ns")
        assert sorted(found.rows()) == sorted(there.rows())
    store.close()


def by_phase(events: list[dict[str, Any]], phase: str) -> list[tuple[Any, ...]]:
    """Return what matters of the events of a phase."""
    names = ("cat", "name", "pid", "tid", "ts") + (("dur",) if phase == "X" else ("id",))
    return [tuple(event.get(name) for name in names) for event in events if event["ph"] == phase]


def test_threads_streams_launches_and_a_collective(store: Store, tmp_path: Path) -> None:
    """On both engines: a process a rank and GPU, an arrow from call to kernel, one along the all-reduce."""
    graph = two_ranks()
    together = graph.node("Collective", "all_reduce #1", group="0[0-1]", collective_seq_id=1)
    for row in graph.rows["CollectiveCall"]:
        graph.edge("CALL_OF", row["uid"], together, rule="collective_seq_id")
    store.write_run(graph.build())

    written = export_timeline(store, RUN, tmp_path)

    events = events_of(tmp_path / "small.perfetto.json")
    half = Decimal("0.5")
    assert by_phase(events, "X")[:6] == [
        ("cpu_op", "aten::linear", 1, 7, 0, 30),
        ("cuda_runtime", "cudaLaunchKernel", 1, 7, 10, 2),
        ("cpu_op", "record_param_comms", 1, 7, 40, 20),
        ("cuda_runtime", "cudaLaunchKernel", 1, 7, 50, 2),
        ("kernel", "gemm", 2, 7, 10 + half, 90),
        ("kernel", "ncclDevKernel_AllReduce", 2, 8, 50 + half, 90),
    ]
    assert check_arrows(events) == {"ac2g": 4, "collective": 1}
    assert [(e["ph"], e["pid"]) for e in events if e.get("cat") == "collective"] == [("s", 2), ("f", 4)]
    assert [e["args"]["name"] for e in events if e["name"] == "process_name"] == [
        "rank 0 CPU (pid 70)",
        "rank 0 GPU 0",
        "rank 1 CPU (pid 70)",
        "rank 1 GPU 0",
    ]
    reduce = next(e["args"] for e in events if e["name"] == "ncclDevKernel_AllReduce")
    assert (reduce["group"], reduce["Process Group Name"]) == ("0[0-1]", "0")
    assert written["notes"] == {"host op without a time": 4}
    facts = written["files"]["small.perfetto.json"]
    assert (facts["ranks"], facts["spans"], facts["arrows"]) == (2, 12, 5)


def test_the_bytes_do_not_depend_on_the_archive(store: Store, tmp_path: Path) -> None:
    """Another run number gives other keys, but the same file."""
    store.write_run(two_ranks().build())
    first = export_timeline(store, RUN, tmp_path)
    store.delete_run(RUN)
    store.write_run(_renumbered(two_ranks(), 9).build())

    assert export_timeline(store, RUN, tmp_path) == first


def test_sends_waits_findings_and_calls_of_dumps(store: Store, tmp_path: Path) -> None:
    """A send leads to its recv; a wait that is over before its source began is counted; a call without an
    end and a finding are instants.
    """
    graph = GraphBuilder(RUN, world_size=2, ranks=[0, 1])
    parent = graph.op("aten::item", node_id=5, parent_id=4, **timed(0, 9))
    early = graph.op("early", node_id=6, parent_id=5, **timed(0, 1))
    graph.edge("CTRL", parent, early)
    kernel = graph.node("Kernel", "gemm", stream=7, device=0, start_ns=4000, duration_ns=1000)
    graph.edge("SYNC", kernel, parent, rule="sync_dep")
    graph.edge("SYNC", kernel, early, rule="sync_dep")
    group = {"group": "0[0-1]", "collective_kind": "send"}
    send = graph.node("CollectiveCall", "send", start_ns=1500, duration_ns=500, **group)
    recv = graph.node("CollectiveCall", "recv", rank=1, start_ns=1000, duration_ns=2000, **group)
    graph.edge("PEER", send, recv, rule="order")
    graph.node("CollectiveCall", "stuck", rank=1, start_ns=7000, state="started", **group)
    graph.node("CollectiveCall", "no time", rank=1, **group)
    store.write_run(graph.build())
    queries.write_findings(store, RUN, queries.check(store, RUN))

    written = export_timeline(store, RUN, tmp_path)

    events = events_of(tmp_path / "small.perfetto.json")
    assert check_arrows(events) == {"sync": 1, "peer": 1}
    assert [(e["ph"], e["pid"], e["ts"]) for e in events if e.get("cat") == "sync"] == [
        ("f", 1, 4),
        ("s", 2, 4),
    ]
    assert [(e["ph"], e["ts"]) for e in events if e.get("cat") == "peer"] == [
        ("s", Decimal("1.5")),
        ("f", Decimal("1.5")),
    ]
    marks = [(e["name"], e["cat"], e["ts"]) for e in events if e["ph"] == "i"]
    assert ("stuck", "communication", 7) in marks
    assert ("missing_parent", "finding", 0) in marks
    assert written["notes"] == {
        "arrow that would lead back in time": 1,
        "communication call of a dump without a time": 1,
    }


def test_a_large_file_is_compressed(
    kglite_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same events; compressed they are the same bytes again."""
    kglite_store.write_run(two_ranks().build())
    export_timeline(kglite_store, RUN, tmp_path)
    monkeypatch.setattr(timeline, "LARGE_BYTES", 100)

    first = export_timeline(kglite_store, RUN, tmp_path / "gz")

    assert list(first["files"]) == ["small.perfetto.json.gz"]
    packed = (tmp_path / "gz" / "small.perfetto.json.gz").read_bytes()
    assert gzip.decompress(packed) == (tmp_path / "small.perfetto.json").read_bytes()
    assert export_timeline(kglite_store, RUN, tmp_path / "gz") == first


def test_a_run_without_times_is_refused(kglite_store: Store, tmp_path: Path) -> None:
    """One line, and no folder is made."""
    kglite_store.write_run(chakra_run([(5, 6)]).build())

    with pytest.raises(UsageError, match="holds nothing with a time"):
        export_timeline(kglite_store, RUN, tmp_path / "out")

    assert not (tmp_path / "out").exists()


def test_the_command_writes_one_file(demo: Archive, tmp_path: Path) -> None:
    """All ranks in it, and the summary on stdout."""
    done = demo.run("export", "demo", "-o", tmp_path, "--format", "perfetto", "--summary", "json")

    written = json.loads(done.stdout)
    assert [path.name for path in tmp_path.iterdir()] == ["demo.perfetto.json"] == list(written["files"])
    assert written["files"]["demo.perfetto.json"]["ranks"] == 4
    check_arrows(events_of(tmp_path / "demo.perfetto.json"))
