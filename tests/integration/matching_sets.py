"""Dumps and traces of the shared sets as matching takes them, and its answer as expected.json tells it."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from graphstore.link.matching.host_calls import numbered_calls, trace_dumps
from graphstore.link.matching.matching import match_dumps
from graphstore.link.matching.model import JobMatching, RankDump
from graphstore.link.rank import link_rank
from graphstore.model.records import FileRecords
from graphstore.readers import assign_ranks
from tests.integration.linked import read

NOT_TRACES = {"expected.json", "README.md", "what.txt", "fault_injection.log"}
# of an edge: absent where null
EDGE = (
    "src",
    "dst",
    "sends",
    "recvs",
    "matched",
    "solved",
    "ambiguous",
    "send_only",
    "recv_only",
    "size_mismatch",
    "how",
    "evicted_src",
    "evicted_dst",
    "verdict",
)

Told = dict[str, Any]


def records_of(folder: Path) -> list[FileRecords]:
    """Return the files of a set that are traces or dumps, with their ranks."""
    names = sorted(path.name for path in folder.iterdir() if path.is_file() and path.name not in NOT_TRACES)
    records = [read(folder / name) for name in names]
    assign_ranks(records, {})
    return records


def traces_of(records: list[FileRecords]) -> list[RankDump]:
    """Return the calls of execution and Kineto traces."""
    traces = [record for record in records if record.facts["kind"] != "flight_recorder"]
    ranks = sorted({record.facts["rank"] for record in traces})
    graphs = [link_rank(rank, [r for r in traces if r.facts["rank"] == rank]) for rank in ranks]
    return trace_dumps(graphs, numbered_calls(graphs))


def only_job(dumps: list[RankDump]) -> JobMatching:
    """Return the only job among the dumps."""
    matching = match_dumps(dumps)
    assert not matching.set_aside
    (job,) = matching.jobs
    return job


def expected(folder: Path) -> Told:
    """Return what expected.json says of matching, without texts."""
    said: Told = json.loads((folder / "expected.json").read_text())["matching"]
    findings = [{name: value for name, value in one.items() if name != "text"} for one in said["findings"]]
    left_out = ("case", "cannot_be_decided", "source", "host_join", "p2p_from_host_traces")
    return {name: value for name, value in said.items() if name not in left_out} | {
        "findings": findings,
        "files": said["files"].get("dumps", said["files"].get("execution_traces")),
        "notes": sorted(said["notes"]),
    }


def told(job: JobMatching) -> Told:
    """Return a matched job in the form of expected.json."""
    label = {g.key: f"{g.name}|{g.desc}|{','.join(map(str, g.members))}" for g in job.groups}
    verdicts = job.collectives.select("group", "verdict").rows()
    answer = {
        "healthy": job.healthy,
        "culprits": job.culprits,
        "undecided_between": job.undecided_between,
        "first_divergence": job.first_divergence,
        "findings": [
            {"kind": cause.rule.upper(), "ranks": cause.ranks, "group": cause.group, "seq": cause.seq}
            for cause in job.causes
        ],
        "notes": sorted(job.notes),
        "files": job.files,
        "ranks": job.ranks | {"versions": job.versions},
        "groups": [
            {
                "name": group.name,
                "desc": group.desc,
                "members": list(group.members),
                "complete": group.complete,
                "provenance": [group.origin],
            }
            for group in job.groups
        ],
        "windows": {label[key]: windows for key, windows in job.windows.items()},
        "collectives": dict(Counter(verdict for _, verdict in verdicts)),
        "collectives_by_group": {
            text: dict(Counter(verdict for group, verdict in verdicts if group == key))
            for key, text in label.items()
            if key in job.windows
        },
        "incomplete": job.incomplete,
        "mismatches": job.mismatches,
        "progress_diff": job.progress_diff,
        "undecided": job.undecided,
        "p2p": [
            {"group": edge["pg_name"]} | {name: edge[name] for name in EDGE if edge[name] is not None}
            for edge in job.p2p.iter_rows(named=True)
        ],
        "first_unfinished": job.first_unfinished,
        "waits_for": job.waits_for,
    }
    return _as_json(answer)


def _as_json(value: Told) -> Told:
    """Return plain JSON: keys are texts, tuples are lists."""
    plain: Told = json.loads(json.dumps(value))
    return plain
