"""Real traces rewritten: one thing in them is made different, everything else stays to the byte.

In:  a folder with et_rankN and kineto_rankN files (or dlrm_8r's names). Out: another folder with the
     same names.
A test that plants a change this way knows exactly what two runs differ by.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

Event = dict[str, Any]
PLANTED = "aten::planted"


class Traces:
    """The files of a run, parsed; `write` puts them into another folder."""

    def __init__(self, folder: Path) -> None:
        """Read all trace files of `folder`; other files are copied as they are."""
        self.documents: dict[str, dict[str, Any]] = {}
        self.others: dict[str, bytes] = {}
        for path in sorted(folder.iterdir()):
            if path.name.endswith((".json", ".json.gz")) and path.name != "expected.json":
                data = path.read_bytes()
                self.documents[path.name] = orjson.loads(
                    gzip.decompress(data) if path.suffix == ".gz" else data
                )
            elif path.name.startswith("rank_"):
                self.others[path.name] = path.read_bytes()

    def write(self, folder: Path) -> Path:
        """Write the files into a new folder and return it."""
        folder.mkdir()
        for name, document in self.documents.items():
            data = orjson.dumps(document)
            (folder / name).write_bytes(gzip.compress(data, 1) if name.endswith(".gz") else data)
        for name, data in self.others.items():
            (folder / name).write_bytes(data)
        return folder

    def kineto(self, rank: int) -> dict[str, Any]:
        """Return the Kineto trace of a rank."""
        return next(
            document
            for document in self.documents.values()
            if document.get("distributedInfo", {}).get("rank") == rank
        )

    def trace(self, rank: int) -> dict[str, Any]:
        """Return the execution trace of a rank, by the number at the end of its file name."""
        return next(
            document
            for name, document in self.documents.items()
            if "nodes" in document and name.partition(".")[0].endswith(str(rank))
        )

    def spans(self, rank: int, wanted: Callable[[Event], bool] = lambda _: True) -> list[Event]:
        """Return the spans of a rank's Kineto trace that are wanted, by start."""
        found = [e for e in self.kineto(rank)["traceEvents"] if e.get("ph") == "X" and wanted(e)]
        return sorted(found, key=lambda e: (e["ts"], -e.get("dur", 0)))

    def kernels(self, rank: int) -> list[Event]:
        """Return the kernels of a rank that are no communication."""
        return self.spans(rank, lambda e: e.get("cat") == "kernel" and not e["name"].startswith("nccl"))

    def inner_gap(self, rank: int, parent: Event) -> tuple[float, float]:
        """Return start and end of the longest time of `parent` that no span on its thread covers."""
        begin, end = parent["ts"], parent["ts"] + parent["dur"]
        inside = self.spans(
            rank,
            lambda e: (
                e["tid"] == parent["tid"]
                and e is not parent
                and e["ts"] >= begin
                and e["ts"] + e["dur"] <= end
            ),
        )
        at, gaps = begin, []
        for span in inside:
            gaps.append((span["ts"] - at, at, span["ts"]))
            at = max(at, span["ts"] + span["dur"])
        gaps.append((end - at, at, end))
        _, first, last = max(gaps)
        return first, last

    def add_op(self, rank: int, parent: Event, name: str = PLANTED) -> float:
        """Add one op under `parent`, in the middle half of its longest own time; return its length in µs.

        Nothing is shifted: the op takes its time from its parent's own.
        """
        first, last = self.inner_gap(rank, parent)
        start, length = round(first + (last - first) / 4, 3), round((last - first) / 2, 3)
        nodes = self.trace(rank)["nodes"]
        rf_of = {self.rf_id(node): node for node in nodes}
        above = rf_of[parent["args"]["Record function id"]]
        node = orjson.loads(orjson.dumps(above))
        new_rf = 10_000_000
        node |= {"id": max(n["id"] for n in nodes) + 1, "name": name, "ctrl_deps": above["id"]}
        for attribute in node["attrs"]:
            if attribute["name"] == "rf_id":
                attribute["value"] = new_rf
        nodes.append(node)
        event = {**parent, "name": name, "ts": start, "dur": length, "cat": "cpu_op"}
        event["args"] = {"External id": 9_000_000, "Record function id": new_rf, "Ev Idx": 9_000_000}
        self.kineto(rank)["traceEvents"].append(event)
        return length

    @staticmethod
    def rf_id(node: dict[str, Any]) -> int:
        """Return the record function id of a node, 0 where it has none."""
        return next((int(a["value"]) for a in node["attrs"] if a["name"] == "rf_id"), 0)

    def delay(self, rank: int, at: float, by: float) -> None:
        """Let all of a rank from `at` on happen `by` µs later; what is open then ends as much later."""
        for event in self.kineto(rank)["traceEvents"]:
            if "ts" not in event or event.get("ph") == "M":
                continue
            if event["ts"] >= at:
                event["ts"] = round(event["ts"] + by, 3)
            elif (
                event.get("ph") == "X"
                and event["ts"] + event.get("dur", 0) > at
                and event.get("cat") != "Trace"
            ):
                event["dur"] = round(event["dur"] + by, 3)
