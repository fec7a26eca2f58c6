"""A whole run read back out of a store: the graph a store was given, and what was changed in it since.

In:  a store and a run. Out: a RunGraph that `write_run` of any store takes, its tables sorted by key.
Decided here: one way for both engines, statements made from the schema; pages by uid, so that no answer is
larger than memory or slower than a query's time limit; edges without properties come as lists, which a
server sends ten times faster than rows. A run that is changed meanwhile is not given.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from graphstore.errors import StoreError, UsageError
from graphstore.model.records import POLARS_TYPE, EdgeTable, RunGraph, complete, key_of, node_schema
from graphstore.model.schema import LABEL_BY_NAME, RELATIONSHIP_TYPES
from graphstore.model.schema_types import RelationshipType
from graphstore.store.base import Progress, Store

PAGE = 50_000  # nodes of an answer, and nodes whose edges are in one


def read_run(store: Store, run: str, progress: Progress | None = None) -> RunGraph:
    """Return everything a store holds of a run.

    Raises UsageError when the run is absent, StoreError when it was changed while it was read.
    """
    reading = _Reading(store, run, progress)
    properties = reading.nodes("Run").to_dicts()
    if not properties:
        raise UsageError(f"no run {run!r} in {store.address} (graphstore runs list)")
    changing = [reading.nodes(label) for label in ("Finding", "Repair")]
    nodes = {label: reading.nodes(label) for label in LABEL_BY_NAME if label != "Run"}
    edges = list(reading.edges())
    again = [reading.nodes(label) for label in ("Finding", "Repair")]
    if not all(old.equals(new) for old, new in zip(changing, again, strict=True)):
        raise StoreError(f"run {run}: it was changed while it was read; try again")
    kept = {label: frame for label, frame in nodes.items() if frame.height}
    return RunGraph(properties[0], kept, edges)


@dataclass
class _Reading:
    """One run, asked label by label and type by type."""

    store: Store
    run: str
    progress: Progress | None
    done: int = 0

    def nodes(self, label: str) -> pl.DataFrame:
        """Return the nodes of a label with every declared property, sorted by key."""
        own, schema = LABEL_BY_NAME[label], node_schema(label)
        columns = ", ".join(f"n.{name} AS {name}" for name in schema)
        if own.kind_of is None:
            text = f"MATCH (n:{label}) WHERE n.run = $run RETURN {columns}"
            return self._frame(text, schema).sort(own.key)
        found = f"MATCH (n:{own.kind_of}) WHERE n.run = $run AND n.uid >= $low AND n.uid <= $high"
        text = f"{found} AND n.kind = '{label}' RETURN {columns}"
        pages = [self._frame(text, schema, page) for page in self._pages(label)]
        return pl.concat([pl.DataFrame(schema=schema), *pages]).sort(own.key)

    def edges(self) -> Iterator[EdgeTable]:
        """Yield the edges of every type and pair of labels that the run has."""
        for kind in RELATIONSHIP_TYPES:
            for source, target in kind.ends:
                frame = self._edges(kind, source, target)
                if frame.height:
                    yield EdgeTable(kind.name, source, target, frame)

    def _edges(self, kind: RelationshipType, source: str, target: str) -> pl.DataFrame:
        names = [p.name for p in kind.properties]
        (src, src_type), (dst, dst_type) = key_of(source), key_of(target)
        schema = {"src": src_type, "dst": dst_type}
        schema |= {p.name: POLARS_TYPE[p.type] for p in kind.properties}
        paged = " AND a.uid >= $low AND a.uid <= $high" if source == "Op" else ""
        found = f"MATCH (a:{source})-[e:{kind.name}]->(b:{target}) WHERE a.run = $run{paged}"
        bare = "".join(f" AND e.{name} IS NULL" for name in names)
        ends = f"a.{src} AS src, b.{dst} AS dst"
        lists = f"{found}{bare} RETURN collect(a.{src}) AS src, collect(b.{dst}) AS dst"
        filled = " OR ".join(f"e.{name} IS NOT NULL" for name in names)
        columns = "".join(f", e.{name} AS {name}" for name in names)
        rows = f"{found} AND ({filled}) RETURN {ends}{columns}"
        parts = [pl.DataFrame(schema=schema)]
        for page in self._pages(source) if paged else [()]:
            answer = self._ask(lists, page).explode("src", "dst").drop_nulls("src")
            parts.append(complete(answer, schema))
            if names:
                parts.append(self._frame(rows, schema, page))
            self._tell(sum(part.height for part in parts[-2:]))
        return pl.concat(parts).sort("src", "dst")

    def _pages(self, label: str) -> Iterator[tuple[int, int]]:
        """Yield the lowest and the highest uid of each page of the ops of a kind, or of all ops."""
        kind = "" if label == "Op" else f" AND n.kind = '{label}'"
        answer = self._ask(f"MATCH (n:Op) WHERE n.run = $run{kind} RETURN collect(n.uid) AS uids")
        uids = answer["uids"].explode().drop_nulls().cast(pl.Int64).sort()
        for start in range(0, uids.len(), PAGE):
            page = uids.slice(start, PAGE)
            yield page[0], page[-1]

    def _frame(self, text: str, schema: dict[str, Any], page: Sequence[int] = ()) -> pl.DataFrame:
        frame = complete(self._ask(text, page), schema)
        self._tell(frame.height)
        return frame

    def _ask(self, text: str, page: Sequence[int] = ()) -> pl.DataFrame:
        bounds = dict(zip(("low", "high"), page, strict=False))
        return self.store.query(self.run, text, bounds)

    def _tell(self, rows: int) -> None:
        self.done += rows
        if self.progress:
            self.progress("read", self.done, 0)
