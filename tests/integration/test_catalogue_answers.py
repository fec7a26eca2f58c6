"""What the catalogue says of runs, findings, edges and absent parents is what the sets' own files say.

Every value is counted here from the JSON by plain Python, or is a fact of expected.json. The last test holds
the catalogue to it: whatever a person can ask has such a test.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import graphstore
from graphstore.queries import listed, run_over_archive, write_findings
from tests.integration import raw_calls
from tests.integration.archives import Archive
from tests.integration.raw_traces import Rank, read_ranks

DLRM, DEMO, PIPELINE = "public/dlrm_8r", "demo_4r", "torch213/tp_pp_4r"
STOPPED, CYCLE = "missing_parents/b1_manual_et_stop_before_prof_step", "mini/03-sync-edge-makes-cycle"
data = pytest.mark.data


@pytest.fixture(scope="module")
def dlrm(data_dir: Path) -> list[Rank]:
    """Return the eight ranks of dlrm as plain Python reads them."""
    traces = sorted((data_dir / DLRM).glob("dlrm_eg_*.json.gz"))
    kinetos = sorted((data_dir / DLRM).glob("worker*.json.gz"))
    return read_ranks(zip(traces, kinetos, strict=True))


def over_runs(archive: Archive, query: str, *names: str) -> list[dict[str, Any]]:
    """Return the rows of a query that asks several runs at once."""
    runs = [archive.run_of(name) for name in names]
    return run_over_archive(archive.store, runs, f"archive/{query}").to_dicts()


def nodes(data: Path, name: str, rank: int) -> dict[int, dict[str, Any]]:
    """Return the nodes of a rank's execution trace by id."""
    return {node["id"]: node for node in raw_calls.nodes(data / name, "et_*.json.gz")[rank]}


def uid_of(archive: Archive, name: str, node_id: int, rank: int = 0) -> int:
    """Return the uid of a node."""
    rows = archive.rows(name, "structure/show_ops_with_id", node_id=node_id)
    (uid,) = [row["uid"] for row in rows if row["rank"] == rank]
    return int(uid)


def checked(archive: Archive, name: str) -> None:
    """Keep the findings on a set, as `check` does."""
    write_findings(archive.store, archive.run_of(name), archive.findings(name))


def absent(archive: Archive, name: str) -> list[tuple[int, int]]:
    """Return (rank, children) for each id that is named as parent and absent, from expected.json."""
    facts = archive.files(name, "et")
    return [(rank, n) for rank, fact in sorted(facts.items()) for n in fact["absent_parents"].values()]


# --- archive -----------------------------------------------------------------------------------------------


@data
def test_edges_of_gpu_ranks(archive: Archive, dlrm: list[Rank]) -> None:
    """Parents, callers and launches of all eight ranks; DATA and SYNC are derived, and counted elsewhere."""
    parents = sum(node["parent"] != i for rank in dlrm for i, node in rank.nodes.items())
    called = sum(
        rank.caller(call) is not None for rank in dlrm for call in rank.of("cuda_runtime", "cuda_driver")
    )
    wanted = {
        ("CTRL", "HostOp", "HostOp"): parents,
        ("CTRL", "HostOp", "RuntimeCall"): called,
        ("LAUNCHES", "RuntimeCall", "Kernel"): sum(len(rank.launches) for rank in dlrm),
        ("SEEN_AS", "CollectiveCall", "HostOp"): 64,
        ("SEEN_AS", "CollectiveCall", "Kernel"): 64,
        ("CALL_OF", "CollectiveCall", "Collective"): 64,
        ("IN_GROUP", "CollectiveCall", "ProcessGroup"): 64,
        ("IN_GROUP", "Collective", "ProcessGroup"): 8,
        ("IN_RUN", "Rank", "Run"): 8,
        ("MEMBER", "Rank", "ProcessGroup"): 8,
        ("ON_RANK", "TraceFile", "Rank"): 16,
    }

    rows = archive.rows(DLRM, "archive/count_edges")

    found = {(row["edge_type"], row["source"], row["target"]): row["edges"] for row in rows}
    assert {key: found.get(key) for key in wanted} == wanted
    lanes = ("DATA", "SYNC", "ON_RANK", "IN_RUN")
    assert {key[0] for key in set(found) - set(wanted)} <= set(lanes)


@data
def test_edges_of_gloo_ranks(archive: Archive) -> None:
    """Every node but the four roots has its parent; each call is a c10d and a gloo op, in no known group."""
    facts = archive.files(PIPELINE, "et").values()
    groups = archive.expected(PIPELINE)["ranks"]["groups"]
    wanted = {
        ("CTRL", "HostOp", "HostOp"): sum(fact["nodes"] - 1 for fact in facts),
        ("SEEN_AS", "CollectiveCall", "HostOp"): sum(sum(fact["comm_nodes"].values()) for fact in facts),
        ("MEMBER", "Rank", "ProcessGroup"): sum(len(group["ranks"]) for group in groups),
    }

    rows = archive.rows(PIPELINE, "archive/count_edges")

    found = {(row["edge_type"], row["source"], row["target"]): row["edges"] for row in rows}
    assert {key: found.get(key) for key in wanted} == wanted
    assert not {"LAUNCHES", "IN_GROUP", "CALL_OF", "PEER"} & {key[0] for key in found}


@data
def test_edges_between_ranks(archive: Archive) -> None:
    """demo_4r: an edge from each send that the script logged to its recv; both are of a channel."""
    logged = archive.expected(DEMO)["known_from_the_script"]["calls"]
    sends = sum(call.startswith("send ") for calls in logged.values() for call in calls)

    rows = archive.rows(DEMO, "archive/count_edges")

    found = {(row["edge_type"], row["source"], row["target"]): row["edges"] for row in rows}
    assert found["PEER", "CollectiveCall", "CollectiveCall"] == sends == 16
    assert found["CALL_OF", "CollectiveCall", "Channel"] == 2 * sends
    assert "WAITS_FOR" not in {key[0] for key in found}


@data
def test_runs_of_the_archive(archive: Archive, data_dir: Path) -> None:
    """Ranks as in expected.json, bytes as the files lie in the folder, oldest first; no tag or note yet."""
    rows = over_runs(archive, "show_runs", PIPELINE, DEMO)

    assert [row["created"] for row in rows] == sorted(row["created"] for row in rows)
    assert all(datetime.fromisoformat(row["created"]).tzinfo for row in rows)
    found = {row["run"]: row for row in rows}
    for name in (PIPELINE, DEMO):
        row = found.pop(archive.run_of(name))
        said = archive.expected(name)
        assert row["world_size"] == said["ranks"]["world_size"]
        size = sum(path.stat().st_size for path in (data_dir / name).iterdir())
        assert row["trace_bytes"] == size
        assert (row["tool_version"], row["tags"], row["note"]) == (graphstore.__version__, [], None)
    assert not found


@data
def test_findings_over_runs(archive: Archive) -> None:
    """One error for each absent parent, about its children: two of 26 (b1), four of 11 or 12 (demo_4r)."""
    names = (STOPPED, DEMO)
    for name in names:
        checked(archive, name)
    wanted = {archive.run_of(name): absent(archive, name) for name in names}
    assert [n for _, n in wanted[archive.run_of(STOPPED)]] == [26, 26]

    by_rule = over_runs(archive, "count_findings_by_rule", *names)
    standing = over_runs(archive, "count_open_findings", *names)

    missing = {row["run"]: row for row in by_rule if row["rule"] == "missing_parent"}
    assert {run: (row["findings"], row["subjects"]) for run, row in missing.items()} == {
        run: (len(of), sum(n for _, n in of)) for run, of in wanted.items()
    }
    assert {(row["severity"], row["status"]) for row in missing.values()} == {("error", "open")}
    errors = {row["run"]: row["findings"] for row in standing if row["severity"] == "error"}
    assert errors == {run: len(of) for run, of in wanted.items()}
    severities: Counter[tuple[str, str]] = Counter()
    for row in by_rule:
        severities[row["run"], row["severity"]] += row["findings"]
    assert {(row["run"], row["severity"]): row["findings"] for row in standing} == severities


# --- health ------------------------------------------------------------------------------------------------


@data
def test_findings_and_their_subjects(archive: Archive, data_dir: Path) -> None:
    """A finding a rank for absent parent 4; its subjects are the 26 nodes that name it (b1)."""
    checked(archive, STOPPED)

    rows = archive.rows(STOPPED, "health/show_findings")
    counted = archive.rows(STOPPED, "health/count_finding_subjects")

    assert [(row["rule"], row["rank"], row["count"]) for row in rows] == [
        ("missing_parent", *of) for of in absent(archive, STOPPED)
    ]
    fids = {row["fid"]: row["rank"] for row in rows}
    assert {(r["fid"], r["role"]): r["nodes"] for r in counted} == {(fid, "orphan"): 26 for fid in fids}
    for fid, rank in fids.items():
        subjects = archive.rows(STOPPED, "health/show_finding_subjects", fid=fid)
        children = {i: n for i, n in nodes(data_dir, STOPPED, rank).items() if n["ctrl_deps"] == 4}
        assert {row["node_id"]: row["name"] for row in subjects} == {
            i: node["name"] for i, node in children.items()
        }
        assert {(row["rank"], row["kind"], row["role"]) for row in subjects} == {(rank, "HostOp", "orphan")}


# --- structure ---------------------------------------------------------------------------------------------


@data
@pytest.mark.parametrize("rank", range(4))
def test_children_of_an_absent_parent(archive: Archive, rank: int) -> None:
    """The orphans that the script logged, each with the op that encloses it: ProfilerStep#2, or nothing."""
    known = archive.expected(DEMO)["known_from_the_script"]
    (parent,) = known["absent_parent_is"][str(rank)]
    wanted = []
    for orphan in known["orphans"][str(rank)]:
        node, encloser = orphan.split(",")[0].split(" in ")
        number, _, name = node.partition(" ")
        wanted.append((int(number), name, None if encloser == "nothing" else encloser))

    rows = archive.rows(DEMO, "structure/show_children_of_absent", rank=rank, absent_id=int(parent))

    assert [(row["node_id"], row["name"], row["encloser_name"]) for row in rows] == wanted
    assert {row["encloser_node_id"] for row in rows} == {None}


@data
def test_ops_of_a_name_and_their_callers(archive: Archive, data_dir: Path) -> None:
    """aten::mm by rank as often as the traces hold it; what each of rank 0 names as its parent."""
    traces = {rank: nodes(data_dir, DEMO, rank) for rank in range(4)}
    wanted = Counter(
        rank for rank, of in traces.items() for node in of.values() if node["name"] == "aten::mm"
    )
    parents = {
        uid_of(archive, DEMO, i): uid_of(archive, DEMO, node["ctrl_deps"])
        for i, node in traces[0].items()
        if node["name"] == "aten::mm"
    }
    assert parents

    named = archive.rows(DEMO, "structure/show_ops_named", name="aten::mm")
    callers = archive.rows(DEMO, "structure/show_callers", uids=list(parents))

    assert Counter(row["rank"] for row in named) == wanted
    assert {row["uid"] for row in named if row["rank"] == 0} == set(parents)
    assert {row["called"]: row["uid"] for row in callers} == parents
    assert len(callers) == len(parents)


@data
def test_waits_within_a_rank(archive: Archive, data_dir: Path) -> None:
    """`sync_dep` of expected.json, [node, awaited], by start of what waits; times from ts and dur."""
    (facts,) = archive.expected(CYCLE)["files"].values()
    trace = json.loads((data_dir / CYCLE / "et_plus_0.json").read_text())["nodes"]
    times = {
        node["id"]: (node["ts"], node.get("dur", node.get("inclusive_dur"))) for node in trace if "ts" in node
    }

    rows = archive.rows(CYCLE, "structure/show_rank_waits", rank=0)

    assert [(row["waits"], row["awaited"], row["from_end_to_start_ns"]) for row in rows] == [
        (
            uid_of(archive, CYCLE, node),
            uid_of(archive, CYCLE, awaited),
            1_000 * (times[node][0] - sum(times[awaited])),
        )
        for node, awaited in sorted(facts["sync_dep"], key=lambda pair: times[pair[0]])
    ]
    assert {row["rule"] for row in rows} == {"sync_dep"}


# --- memory ------------------------------------------------------------------------------------------------


@data
def test_copies_by_name(archive: Archive, dlrm: list[Rank]) -> None:
    """Number, bytes and time of the events gpu_memcpy and gpu_memset of each rank, by name."""
    wanted: dict[tuple[int, str, str], list[int]] = defaultdict(lambda: [0, 0, 0])
    for number, rank in enumerate(dlrm):
        for event in rank.of("gpu_memcpy", "gpu_memset"):
            sums = wanted[number, event.cat.removeprefix("gpu_"), event.name]
            sums[:] = [sums[0] + 1, sums[1] + int(event.args["bytes"]), sums[2] + event.lasts]

    rows = archive.rows(DLRM, "memory/show_copies")

    assert {
        (r["rank"], r["device_kind"], r["name"]): [r["copies"], r["size_bytes"], r["duration_ns"]]
        for r in rows
    } == wanted
    assert len(rows) == len(wanted)


# --- the whole catalogue -----------------------------------------------------------------------------------


def test_every_query_is_asked_of_a_real_set() -> None:
    """Each query a person asks is quoted by a test here; checks and pictures have tests of their own."""
    tests = "\n".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    words = set(re.findall(r'"(?:\w+/)?(\w+)"', tests))
    asked = [query.name for query in listed() if query.rule is None and not query.name.endswith(".graph")]

    assert len(asked) > 100
    assert [name for name in asked if name.rpartition("/")[2] not in words] == []
