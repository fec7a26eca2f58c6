"""Run graphs for tests of the stores: a small plain one, and random ones with every label and property."""

from __future__ import annotations

from typing import Any

import polars as pl
from hypothesis import strategies as st

from graphstore.model.ids import uid_of
from graphstore.model.records import EdgeTable, RunGraph, complete, edge_frame, node_schema
from graphstore.model.schema import LABEL_BY_NAME, OP_KINDS, RELATIONSHIP_TYPES, TYPE_BY_NAME, primary_label
from graphstore.model.schema_types import Property
from graphstore.store import Store

_FIXED = {"uid", "run", "kind", "fid", "rid"}
_INT64 = st.integers(-(2**63), 2**63 - 1)
# Surrogates are no text; everything else is stored as written, also what looks like a list, a date or a null.
_TEXT = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    st.sampled_from(
        ["", " ", "[1,2]", "null", "NaN", "true", "2024-01-01", "12", "'", '"', "\\", "a\nb", "`x`"]
    ),
)
_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "int": _INT64,
    "float": st.floats(allow_nan=False, allow_infinity=False),
    "text": _TEXT,
    "bool": st.booleans(),
    "list[int]": st.lists(_INT64, max_size=3),
    "list[text]": st.lists(_TEXT, max_size=3),
    "json": st.sampled_from(["{}", "[]", '{"a":[1,"b",null]}', '"x"']),
}


def small_run(run: str, run_no: int, ops: int = 4, name: str = "op") -> RunGraph:
    """Return rank 0 with one host op over `ops - 1` children, in the structure every run has."""
    uids = [uid_of(run_no, place) for place in range(ops + 2)]
    host_ops = {
        "uid": uids[2:],
        "run": [run] * ops,
        "rank": [0] * ops,
        "kind": ["HostOp"] * ops,
        "name": [f"{name} {place}" for place in range(ops)],
        "node_id": list(range(1, ops + 1)),
        "duration_ns": [100] * ops,
        "self_ns": [100] * ops,
    }
    rank = {"uid": [uids[1]], "run": [run], "name": ["rank 0"], "rank": [0]}
    return RunGraph(
        run={"uid": uids[0], "run": run, "run_no": run_no, "created": "2026-01-01T00:00:00Z", "ranks": [0]},
        nodes={"Rank": _frame("Rank", rank), "HostOp": _frame("HostOp", host_ops)},
        edges=[
            EdgeTable(
                "CTRL", "Op", "Op", edge_frame("CTRL", {"src": [uids[2]] * (ops - 1), "dst": uids[3:]})
            ),
            EdgeTable("IN_RUN", "Rank", "Run", edge_frame("IN_RUN", {"src": [uids[1]], "dst": [uids[0]]})),
        ],
    )


def _frame(label: str, columns: dict[str, Any]) -> pl.DataFrame:
    schema = node_schema(label)
    return complete(pl.DataFrame(columns, schema={name: schema[name] for name in columns}), schema)


@st.composite
def run_graphs(draw: st.DrawFn, run: str, run_no: int) -> RunGraph:
    """Draw a run: a few nodes of every label, any value in any property, any edges the schema allows."""
    place = 0
    nodes: dict[str, pl.DataFrame] = {}
    keys: dict[str, list[Any]] = {"Run": [uid_of(run_no, 0)]}
    for label in LABEL_BY_NAME.values():
        count = 0 if label.name == "Run" else draw(st.integers(0, 3), label=label.name)
        if not count:
            continue
        columns: dict[str, list[Any]] = {
            p.name: [draw(_value(p)) for _ in range(count)] for p in label.properties if p.name not in _FIXED
        }
        columns["name"] = [draw(_TEXT) for _ in range(count)]
        uids = [uid_of(run_no, place + each + 1) for each in range(count)]
        place += count
        columns |= {"run": [run] * count}
        columns |= {"kind": [label.name] * count} if label.kind_of else {}
        columns[label.key] = uids if label.key == "uid" else [f"{run}:{uid}" for uid in uids]
        nodes[label.name] = _frame(label.name, columns)
        keys.setdefault(primary_label(label.name), []).extend(columns[label.key])
    properties = {p.name: draw(_value(p)) for p in LABEL_BY_NAME["Run"].properties}
    properties |= {"uid": uid_of(run_no, 0), "run": run, "run_no": run_no, "name": run}
    return RunGraph(properties, nodes, draw(_edges(keys)))


def _value(of: Property) -> st.SearchStrategy[Any]:
    return st.none() | _VALUES[of.type]


@st.composite
def _edges(draw: st.DrawFn, keys: dict[str, list[Any]]) -> list[EdgeTable]:
    tables = []
    for kind in RELATIONSHIP_TYPES:
        for source, target in kind.ends:
            if source not in keys or target not in keys:
                continue
            ends = st.tuples(st.sampled_from(keys[source]), st.sampled_from(keys[target]))
            pairs = draw(st.lists(ends, unique=True, max_size=4), label=kind.name)
            columns: dict[str, Any] = {
                p.name: [draw(_value(p)) for _ in pairs] for p in TYPE_BY_NAME[kind.name].properties
            }
            if not pairs:
                continue
            frame = pl.DataFrame(
                {"src": [a for a, _ in pairs], "dst": [b for _, b in pairs]}
                | {
                    name: pl.Series(values, dtype=_edge_type(kind.name, name))
                    for name, values in columns.items()
                }
            )
            tables.append(EdgeTable(kind.name, source, target, frame))
    return tables


def _edge_type(kind: str, name: str) -> Any:
    from graphstore.model.records import POLARS_TYPE

    return next(POLARS_TYPE[p.type] for p in TYPE_BY_NAME[kind].properties if p.name == name)


def contents(store: Store, run: str) -> dict[str, list[Any]]:
    """Return all of a run as rows: nodes per label with all declared properties, edges per type and ends."""
    out: dict[str, list[Any]] = {}
    for label in LABEL_BY_NAME.values():
        columns = ", ".join(f"n.{p.name} AS {p.name}" for p in label.properties)
        text = f"MATCH (n:{label.name}) WHERE n.run = $run RETURN {columns} ORDER BY {label.key}"
        out[label.name] = store.query(run, text).rows()
    for kind in RELATIONSHIP_TYPES:
        names = "".join(f", r.{p.name} AS {p.name}" for p in kind.properties)
        for source, target in kind.ends:
            a, b = LABEL_BY_NAME[_any(source)].key, LABEL_BY_NAME[_any(target)].key
            text = (
                f"MATCH (a:{source})-[r:{kind.name}]->(b:{target}) WHERE a.run = $run "
                f"RETURN a.{a} AS src, b.{b} AS dst{names} ORDER BY src, dst"
            )
            out[f"{source}-{kind.name}-{target}"] = store.query(run, text).rows()
    return out


def _any(label: str) -> str:
    return OP_KINDS[0] if label == "Op" else label


def given_contents(graph: RunGraph) -> dict[str, list[Any]]:
    """Return what `contents` must give for a run that was written from `graph`."""
    run = graph.run["run"]
    out: dict[str, list[Any]] = {}
    for label in LABEL_BY_NAME.values():
        if label.name == "Run":
            row = graph.run | {"status": "ready", "name": graph.run.get("name") or run}
            out["Run"] = [tuple(row.get(p.name) for p in label.properties)]
            continue
        frame = graph.nodes.get(label.name)
        out[label.name] = (
            [] if frame is None else complete(frame, node_schema(label.name)).sort(label.key).rows()
        )
    for kind in RELATIONSHIP_TYPES:
        names = ["src", "dst", *(p.name for p in kind.properties)]
        for source, target in kind.ends:
            rows = [
                tuple(run if label == "Run" and name == at else row.get(name) for name in names)
                for table in graph.edges
                if (table.type, table.source, table.target) == (kind.name, source, target)
                for row in table.frame.to_dicts()
                for label, at in [(target, "dst")]
            ]
            out[f"{source}-{kind.name}-{target}"] = sorted(rows, key=lambda row: row[:2])
    return out
