"""Everything a store holds of one run, as values that compare: to prove that nothing has changed."""

from __future__ import annotations

from typing import Any

from graphstore.model.schema import LABELS, RELATIONSHIP_TYPES, primary_label
from graphstore.store.base import Store

Dump = dict[str, list[tuple[Any, ...]]]


def dump(store: Store, run: str) -> Dump:
    """Return {label or type: rows}: every property of every node, every edge with its properties."""
    return {label.name: _nodes(store, run, label.name) for label in LABELS} | {
        f"{kind.name} {source}-{target}": _edges(store, run, kind.name, source, target)
        for kind in RELATIONSHIP_TYPES
        for source, target in kind.ends
    }


def _nodes(store: Store, run: str, name: str) -> list[tuple[Any, ...]]:
    label = next(label for label in LABELS if label.name == name)
    columns = ", ".join(f"n.{p.name} AS `{p.name}`" for p in label.properties)
    rows = store.query(run, f"MATCH (n:{name}) WHERE n.run = $run RETURN {columns}").rows()
    return sorted((_hashable(row) for row in rows), key=repr)


def _edges(store: Store, run: str, kind: str, source: str, target: str) -> list[tuple[Any, ...]]:
    keys = {primary_label(label.name): label.key for label in LABELS}
    properties = next(each for each in RELATIONSHIP_TYPES if each.name == kind).properties
    columns = [f"a.{keys[source]} AS source", f"b.{keys[target]} AS target"]
    columns += [f"e.{p.name} AS `{p.name}`" for p in properties]
    text = f"MATCH (a:{source})-[e:{kind}]->(b:{target}) WHERE a.run = $run RETURN {', '.join(columns)}"
    return sorted((_hashable(row) for row in store.query(run, text).rows()), key=repr)


def _hashable(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(tuple(value) if isinstance(value, list) else value for value in row)
