"""The embedded engine without the adapter: to switch its optimizer off, on, or in part."""

from __future__ import annotations

from typing import Any

import kglite

from graphstore.model.records import POLARS_TYPE, RunGraph, complete
from graphstore.model.schema import LABELS, primary_labels

# With these three on, kglite 0.21.2 gives wrong numbers for some shapes.
WRONG_PASSES = ["fuse_match_return_aggregate", "fuse_optional_match_aggregate", "push_distinct_into_match"]


def open_graph(run: RunGraph) -> Any:
    """Return a graph in memory that holds the run; every label is declared, used or not."""
    graph = kglite.KnowledgeGraph()
    for name, (key, properties) in primary_labels().items():
        schema = {p.name: POLARS_TYPE[p.type] for p in properties}
        frames = {k.name: run.nodes.get(k.name) for k in LABELS if name in (k.name, k.kind_of)}
        if name == "Run":
            empty = complete(_run_frame(run), schema)
            frames = {"Run": empty}
        nothing = complete(_run_frame(run).clear(), schema)
        graph.add_nodes(_pandas(nothing), name, key, "name")
        for label, frame in frames.items():
            if frame is not None and frame.height:
                extra = {"labels": [label]} if label != name else {}
                graph.add_nodes(_pandas(complete(frame, schema)), name, key, "name", **extra)
    keys = {name: key for name, (key, _) in primary_labels().items()}
    for table in run.edges:
        for source, target in ((table.source, table.target),):
            assert keys[source], keys[target]
            columns = [c for c in table.frame.columns if c not in ("src", "dst")]
            graph.add_relationships(
                _pandas(table.frame), table.type, source, "src", target, "dst", columns=columns, distinct=True
            )
    return graph


def rows(graph: Any, text: str, parameters: dict[str, Any], **options: Any) -> list[dict[str, Any]]:
    """Return the rows of a statement; by default as the adapter runs it, without the three wrong passes."""
    options = options or {"disabled_passes": WRONG_PASSES}
    return [dict(row) for row in graph.cypher(text, params=parameters, **options)]


def _run_frame(run: RunGraph) -> Any:
    import polars as pl

    schema = {p.name: POLARS_TYPE[p.type] for p in primary_labels()["Run"][1]}
    return pl.DataFrame([run.run], schema=schema)


def _pandas(frame: Any) -> Any:
    """Return a pandas frame whose integer columns stay integers where values are null."""
    out = frame.to_pandas(use_pyarrow_extension_array=False)
    for name, kind in frame.schema.items():
        if kind == POLARS_TYPE["int"]:
            out[name] = frame[name].to_pandas().astype("Int64") if frame[name].null_count() else out[name]
            out[name] = out[name].astype("Int64")
        elif str(kind).startswith("List"):
            out[name] = [None if v is None else list(v) for v in frame[name].to_list()]
    return out
