"""Small runs for the tests of statements: nodes and edges in a line each, no files, no linking."""

from __future__ import annotations

from typing import Any

import polars as pl

from graphstore.model.ids import uid_of
from graphstore.model.records import POLARS_TYPE, EdgeTable, RunGraph, edge_frame
from graphstore.model.schema import LABEL_BY_NAME, OP_KINDS, primary_label

PROCESS = "[pytorch|profiler|execution_trace|process]"
THREAD = "[pytorch|profiler|execution_trace|thread]"


class GraphBuilder:
    """Collects nodes and edges of one run; `build` gives the RunGraph a store writes."""

    def __init__(self, run: str = "small", run_no: int = 1, **properties: Any) -> None:
        """Begin a run of one rank; `properties` are those of the Run node."""
        self.run = run
        self.run_no = run_no
        self.properties = {"world_size": 1, "ranks": [0], **properties}
        self.rows: dict[str, list[dict[str, Any]]] = {}
        self.label_of: dict[int, str] = {uid_of(run_no, 0): "Run"}
        self.edges: dict[tuple[str, str, str], list[dict[str, Any]]] = {}

    def node(self, label: str, name: str, **properties: Any) -> int:
        """Add a node and return its uid."""
        uid = uid_of(self.run_no, len(self.label_of))
        self.label_of[uid] = label
        row = {"uid": uid, "run": self.run, "name": name, **properties}
        if label in OP_KINDS:
            row = {"rank": 0, "kind": label, **row}
        self.rows.setdefault(label, []).append(row)
        return uid

    def op(self, name: str, parent: int | None = None, label: str = "HostOp", **properties: Any) -> int:
        """Add an op under `parent` (CTRL), with root and depth as linking sets them; return its uid."""
        uid = self.node(label, name, **properties)
        above = self.row(parent) if parent is not None else None
        own = {"root": above["root"] if above else uid, "depth": above["depth"] + 1 if above else 0}
        self.row(uid).update({key: value for key, value in own.items() if key not in properties})
        if parent is not None:
            self.edge("CTRL", parent, uid)
        return uid

    def row(self, uid: int) -> dict[str, Any]:
        """Return the properties of a node, to be changed in place."""
        return next(row for row in self.rows[self.label_of[uid]] if row["uid"] == uid)

    def edge(self, type: str, source: int, target: int, **properties: Any) -> None:
        """Add an edge between two nodes."""
        ends = (type, primary_label(self.label_of[source]), primary_label(self.label_of[target]))
        self.edges.setdefault(ends, []).append({"src": source, "dst": target, **properties})

    def build(self) -> RunGraph:
        """Return the run."""
        run = {
            "uid": uid_of(self.run_no, 0),
            "run": self.run,
            "name": self.run,
            "run_no": self.run_no,
            **self.properties,
        }
        nodes = {label: _frame(label, rows) for label, rows in self.rows.items()}
        edges = []
        for (type, source, target), rows in self.edges.items():
            columns = {key: [row.get(key) for row in rows] for key in {key for row in rows for key in row}}
            edges.append(EdgeTable(type, source, target, edge_frame(type, columns)))
        return RunGraph(run, nodes, edges)


def _frame(label: str, rows: list[dict[str, Any]]) -> pl.DataFrame:
    """Return the rows as a frame with every property of the label."""
    schema = {p.name: POLARS_TYPE[p.type] for p in LABEL_BY_NAME[label].properties}
    unknown = {key for row in rows for key in row} - set(schema)
    if unknown:
        raise KeyError(f"properties not declared for {label}: {sorted(unknown)}")
    return pl.DataFrame(rows, schema=schema)
