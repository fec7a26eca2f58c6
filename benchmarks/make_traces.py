"""Make a big run out of a real one: the same step repeated until it holds the host ops asked for.

In:  the execution trace and the Kineto trace of one rank. Out: OUT/et_rankN.json and OUT/kineto_rankN.json.
Ids, times and correlations of each repetition are shifted, so that every id stays unique and every span
lies where it would; thread roots and the process root stay single. Every fifth host op that launches
nothing gets one runtime call and one kernel, so that there are `--kernels` per host op (0.2) in all.

    python benchmarks/make_traces.py OUT --ops 100000 [--from ../shared/data/torch214_synthgpu_2r] [--ranks 1]
"""

from __future__ import annotations

import argparse
import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

DEFAULT_SOURCE = Path(__file__).resolve().parents[2] / "shared" / "data" / "torch214_synthgpu_2r"
ROOT_NAMES = ("[pytorch|profiler|execution_trace|", "## process_group:init ##")
STREAM = 7  # of the kernels that are added
Record = dict[str, Any]


@dataclass(frozen=True)
class Shift:
    """What is added to the numbers of one repetition."""

    node_id: int
    rf_id: int
    external_id: int
    correlation: int
    step: int
    time_us: float


@dataclass(frozen=True)
class Template:
    """One recorded rank: its parts that repeat, those that don't, and how far apart repetitions lie."""

    head: Record
    roots: list[Record]
    nodes: list[Record]
    kineto_head: Record
    metadata: list[Record]
    events: list[Record]
    step: Shift

    def shift(self, turn: int) -> Shift:
        """Return the shift of repetition `turn` (0 = as recorded)."""
        step = self.step
        return Shift(
            step.node_id * turn,
            step.rf_id * turn,
            step.external_id * turn,
            step.correlation * turn,
            step.step * turn,
            step.time_us * turn,
        )


def load(path: Path) -> Record:
    """Return a JSON file, gz or plain."""
    data = path.read_bytes()
    document: Record = orjson.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    return document


def template(source: Path, rank: int, kernels_per_op: float) -> Template:
    """Return the template from the files et_rankN.json[.gz] and kineto_rankN.json[.gz] of `source`."""
    trace = load(next(source.glob(f"et_rank{rank}.json*")))
    kineto = load(next(source.glob(f"kineto_rank{rank}.json*")))
    nodes = trace.pop("nodes")
    roots = [node for node in nodes if node["name"].startswith(ROOT_NAMES)]
    rest = [node for node in nodes if not node["name"].startswith(ROOT_NAMES)]
    events = kineto.pop("traceEvents")
    spans = [event for event in events if event.get("ph") in ("X", "s", "f") and event.get("cat") != "Trace"]
    spans += added_launches(spans, round(len(rest) * kernels_per_op))
    begin = min(event["ts"] for event in spans)
    end = max(event["ts"] + event.get("dur", 0) for event in spans)
    step = Shift(
        node_id=max(node["id"] for node in nodes) + 1,
        rf_id=max(attribute(node, "rf_id") for node in rest) + 1,
        external_id=max(event.get("args", {}).get("External id", 0) for event in spans) + 1,
        correlation=max(event.get("args", {}).get("correlation", 0) for event in spans) + 1,
        step=sum(event["name"].startswith("ProfilerStep#") for event in spans),
        time_us=end - begin + 1.0,
    )
    return Template(trace, roots, rest, kineto, [e for e in events if e.get("ph") == "M"], spans, step)


def attribute(node: Record, name: str) -> int:
    """Return a numeric attribute of an execution trace node, 0 where absent."""
    return next((int(a["value"]) for a in node["attrs"] if a["name"] == name), 0)


def added_launches(spans: list[Record], wanted: int) -> list[Record]:
    """Return runtime calls and kernels, by ops spread over the trace, so that `wanted` kernels exist."""
    present = sum(event.get("cat") == "kernel" for event in spans)
    ops = [event for event in spans if event.get("cat") == "cpu_op" and event["name"].startswith("aten::")]
    missing = max(0, min(wanted - present, len(ops)))
    first = 1 + max((event.get("args", {}).get("correlation", 0) for event in spans), default=0)
    chosen = [ops[i * len(ops) // missing] for i in range(missing)]
    free = max((event["ts"] + event["dur"] for event in spans if event.get("cat") == "kernel"), default=0.0)
    out: list[Record] = []
    for number, op in enumerate(chosen, start=first):
        start = op["ts"] + op["dur"] / 4
        free = max(free, start + op["dur"] / 2)
        out.append(launch(op, number, start))
        out.append(kernel(op, number, free))
        free += 2.0
    return out


def launch(op: Record, correlation: int, start: float) -> Record:
    """Return a runtime call inside `op`."""
    arguments = {"External id": op["args"]["External id"], "cbid": 211, "correlation": correlation}
    place = {"pid": op["pid"], "tid": op["tid"], "ts": start, "dur": op["dur"] / 4}
    return {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", **place, "args": arguments}


def kernel(op: Record, correlation: int, start: float) -> Record:
    """Return the device op of that call."""
    arguments = {
        "External id": op["args"]["External id"],
        "device": 0,
        "context": 1,
        "stream": STREAM,
        "correlation": correlation,
        "grid": [64, 1, 1],
        "block": [128, 1, 1],
    }
    name = f"void at::native::elementwise_kernel<{op['name']}>"
    return {
        "ph": "X",
        "cat": "kernel",
        "name": name,
        "pid": 0,
        "tid": STREAM,
        "ts": start,
        "dur": 1.5,
        "args": arguments,
    }


def shifted_name(name: str, shift: Shift) -> str:
    """Return a name with the number of its ProfilerStep counted on."""
    if not name.startswith("ProfilerStep#"):
        return name
    return f"ProfilerStep#{int(name.removeprefix('ProfilerStep#')) + shift.step}"


def shifted_node(node: Record, shift: Shift, roots: frozenset[int]) -> Record:
    """Return an execution trace node of one repetition; a root named as its parent stays the parent."""
    parent = node["ctrl_deps"]
    attributes = [
        {**a, "value": int(a["value"]) + (shift.rf_id if a["name"] == "rf_id" else shift.node_id)}
        if a["name"] in ("rf_id", "fw_parent") and a["value"]
        else a
        for a in node["attrs"]
    ]
    return {
        **node,
        "id": node["id"] + shift.node_id,
        "name": shifted_name(node["name"], shift),
        "ctrl_deps": parent if parent in roots else parent + shift.node_id,
        "attrs": attributes,
    }


def shifted_event(event: Record, shift: Shift) -> Record:
    """Return a Kineto event of one repetition."""
    out = {**event, "ts": round(event["ts"] + shift.time_us, 3), "name": shifted_name(event["name"], shift)}
    if event["ph"] != "X":
        out["id"] = event["id"] + shift.correlation
        return out
    by_name = {
        "External id": shift.external_id,
        "Record function id": shift.rf_id,
        "correlation": shift.correlation,
    }
    out["args"] = {k: v + by_name[k] if by_name.get(k) and v else v for k, v in event.get("args", {}).items()}
    return out


def nodes_of(rank: Template, turns: int) -> Iterator[Record]:
    """Yield the execution trace nodes of all repetitions, the roots once."""
    roots = frozenset(node["id"] for node in rank.roots)
    yield from rank.roots
    for turn in range(turns):
        shift = rank.shift(turn)
        for node in rank.nodes:
            yield shifted_node(node, shift, roots)


def events_of(rank: Template, turns: int) -> Iterator[Record]:
    """Yield the Kineto events of all repetitions, the metadata once."""
    yield from rank.metadata
    for turn in range(turns):
        shift = rank.shift(turn)
        for event in rank.events:
            yield shifted_event(event, shift)


def write_list(path: Path, head: Record, key: str, records: Iterator[Record]) -> int:
    """Write {head…, key: [records]}, a record at a time; return how many."""
    count = 0
    with path.open("wb") as out:
        out.write(orjson.dumps(head)[:-1] + b',"' + key.encode() + b'":[\n')
        for count, record in enumerate(records, start=1):
            out.write((b"" if count == 1 else b",\n") + orjson.dumps(record))
        out.write(b"\n]}\n")
    return count


def make(out: Path, ops: int, source: Path, ranks: int, kernels_per_op: float) -> dict[str, int]:
    """Write a run of about `ops` host ops per rank (whole repetitions); return the counts written."""
    out.mkdir(parents=True, exist_ok=True)
    counts = {"host_ops": 0, "kineto_events": 0, "kernels": 0}
    for rank in range(ranks):
        recorded = template(source, rank, kernels_per_op)
        turns = max(1, round(ops / len(recorded.nodes)))
        counts["host_ops"] += write_list(
            out / f"et_rank{rank}.json", recorded.head, "nodes", nodes_of(recorded, turns)
        )
        counts["kineto_events"] += write_list(
            out / f"kineto_rank{rank}.json", recorded.kineto_head, "traceEvents", events_of(recorded, turns)
        )
        counts["kernels"] += turns * sum(event.get("cat") == "kernel" for event in recorded.events)
    return counts


def main() -> None:
    """Read the command line, write the traces, print the counts."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument(
        "--ops", type=int, required=True, help="host ops per rank, rounded to whole repetitions"
    )
    parser.add_argument(
        "--from", dest="source", type=Path, default=DEFAULT_SOURCE, help="folder of the real run"
    )
    parser.add_argument(
        "--ranks", type=int, default=1, help="ranks to make, each from the real one of its number"
    )
    parser.add_argument("--kernels", type=float, default=0.2, help="kernels per host op")
    chosen = parser.parse_args()
    counts = make(chosen.out, chosen.ops, chosen.source, chosen.ranks, chosen.kernels)
    print(", ".join(f"{count:,} {what.replace('_', ' ')}" for what, count in counts.items()))


if __name__ == "__main__":
    main()
