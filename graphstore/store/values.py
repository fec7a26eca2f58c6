"""Result values alike on both engines: nodes, edges and paths in one form, columns with settled types.

In:  columns of Python values as an adapter got them, graph values already made by `node`, `edge`, `path`.
Out: a polars frame. Decided here: a column of one kind of value has its type (Int64, Float64, Boolean,
String, List of these); a column without values is Null; nodes, edges, paths, maps, nested lists and columns
of mixed kinds are JSON text, so that a frame can be compared, joined and written in any form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
import polars as pl

from graphstore.model.schema import LABEL_BY_NAME, primary_labels

_PRIMARY = primary_labels()
_TYPE: dict[type, Any] = {int: pl.Int64, float: pl.Float64, bool: pl.Boolean, str: pl.String}


def node(labels: Sequence[str], properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return a node as {labels, properties}: the primary label first, properties by name."""
    ordered = sorted(labels, key=lambda label: (label not in _PRIMARY, label))
    return {"labels": ordered, "properties": dict(sorted(properties.items()))}


def edge(type: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return an edge as {type, properties}. Alone it names no ends: Neo4j does not send them."""
    return {"type": type, "properties": dict(sorted(properties.items()))}


def path(nodes: Sequence[dict[str, Any]], edges: Sequence[tuple[dict[str, Any], int, int]]) -> dict[str, Any]:
    """Return a path as {nodes, relationships}; `edges` are (edge, place of its start, of its end in nodes).

    In a path each relationship has start and end: the keys (uid, run, fid, rid) of the nodes it joins.
    """
    keys = [_key(each) for each in nodes]
    joined = [item | {"start": keys[start], "end": keys[end]} for item, start, end in edges]
    return {"nodes": list(nodes), "relationships": joined}


def _key(of: dict[str, Any]) -> Any:
    label = of["labels"][0] if of["labels"] else ""
    key = _PRIMARY[label][0] if label in _PRIMARY else "uid"
    return of["properties"].get(key)


def frame(names: Sequence[str], columns: Sequence[Sequence[Any]]) -> pl.DataFrame:
    """Return the columns as a frame, in the order given; see the module for the types."""
    return pl.DataFrame([_series(name, values) for name, values in zip(names, columns, strict=True)])


def _series(name: str, values: Sequence[Any]) -> pl.Series:
    kinds = set(map(type, values)) - {type(None)}
    if not kinds:
        return pl.Series(name, values, dtype=pl.Null)
    scalar = _scalar_type(kinds)
    if scalar is not None:
        return pl.Series(name, values, dtype=scalar, strict=False)
    if kinds == {list}:
        inner = set().union(*(set(map(type, value)) for value in values if value is not None)) - {type(None)}
        of = pl.Null if not inner else _scalar_type(inner)
        if of is not None:
            return pl.Series(name, values, dtype=pl.List(of), strict=False)
    return pl.Series(name, [_text(value) for value in values], dtype=pl.String)


def _scalar_type(kinds: set[type]) -> Any | None:
    """Return the polars type that holds values of these Python types, or None when there is none."""
    if kinds == {int, float}:
        return pl.Float64
    return _TYPE.get(next(iter(kinds))) if len(kinds) == 1 else None


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return orjson.dumps(value, default=str).decode()


def declared(label: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return every declared property of a node of `label`, None where it has no value, and nothing else."""
    return {p.name: properties.get(p.name) for p in LABEL_BY_NAME[label].properties}
