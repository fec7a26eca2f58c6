"""Turn changes, and the turning round of changes, into statements of the catalogue.

In:  before and after values in the language of change.py, the rank's ops as they stand.
Out: `Statement`s for Store.change_run. Nothing is run here, and no Cypher text lies here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from graphstore.link.chakra_edges import dependency_edges, first_parents
from graphstore.link.forest import tops
from graphstore.queries.catalog import get
from graphstore.queries.columns import RankKeys, read_pages
from graphstore.queries.run import checked, run_query
from graphstore.repairs.columns import places_of, read_rank
from graphstore.repairs.tree import NONE, moved_calls, moved_ops
from graphstore.store.base import Statement, Store

ROWS_A_STATEMENT = 20_000
Row = dict[str, Any]


@dataclass
class Edits:
    """What is to be written for one run, by kind of edit; ends of edges and nodes are uids."""

    created: list[Row] = field(default_factory=list)  # {uid, properties}
    removed: dict[str, list[Row]] = field(default_factory=dict)  # type → {src, dst}
    restored: dict[str, list[Row]] = field(default_factory=dict)  # type → {src, dst[, rule]}, without a mark
    added: list[Row] = field(default_factory=list)  # {parent, child, repair, rule, confidence}
    node_ids: list[Row] = field(default_factory=list)  # {uid, node_id, node_id_origin}

    def statements(self) -> Iterator[Statement]:
        """Yield the statements: nodes before edges, what goes before what comes."""
        yield from in_parts("repair_create_host_ops", self.created)
        for kind, rows in self.removed.items():
            yield from in_parts(f"repair_remove_{kind.lower()}_edges", rows)
        for kind, rows in self.restored.items():
            yield from in_parts(f"repair_restore_{kind.lower()}_edges", rows)
        yield from in_parts("repair_add_ctrl_edges", self.added)
        yield from in_parts("repair_set_node_ids", self.node_ids)


def statement(name: str, **parameters: Any) -> Statement:
    """Return a writing statement of the catalogue's topic structure, its parameters checked."""
    query = get(f"structure/{name}")
    return Statement(query.text, checked(query, parameters))


def in_parts(name: str, rows: Sequence[Row]) -> Iterator[Statement]:
    """Yield a statement for each part of `rows` that an engine takes at once; none for no rows."""
    for first in range(0, len(rows), ROWS_A_STATEMENT):
        yield statement(name, rows=list(rows[first : first + ROWS_A_STATEMENT]))


def place_statements(
    store: Store, run: str, keys: RankKeys, callers: dict[int, int | None], created: dict[int, str]
) -> Iterator[Statement]:
    """Yield what sets root, depth and path in the trees that hang below the uids in `callers`.

    `callers` gives the new caller of each moved op; `created` {uid: name} of ops made in the same change.
    """
    ops = read_rank(store, run, keys)
    uid = np.append(ops.uid, np.asarray(sorted(created), dtype=np.int64))
    names = [*ops.name.tolist(), *(created[new] for new in sorted(created))]
    parent = np.append(ops.parent, np.full(len(created), NONE))
    moved = places_of(np.asarray(list(callers), dtype=np.int64), uid)
    above = [NONE if caller is None else caller for caller in callers.values()]
    parent[moved] = places_of(np.asarray(above, dtype=np.int64), uid)
    marked = np.isin(np.arange(len(uid)), moved)
    rows = moved_ops(uid, names, parent, marked)
    calls = read_pages(store, run, "structure/show_runtime_call_columns", keys, "RuntimeCall")
    called = moved_calls(rows, calls["uid"].to_numpy(), calls["caller"].to_numpy())
    yield from in_parts("repair_set_host_op_places", rows)
    yield from in_parts("repair_set_places", called)


def chakra_place_statements(
    store: Store, run: str, rank: int, dropped: Iterable[tuple[int, int]]
) -> Iterator[Statement]:
    """Yield what sets root and depth of a rank's Chakra nodes when the `dropped` CTRL edges are gone."""
    nodes = run_query(store, run, "structure/show_chakra_trees", rank=rank)
    uid = nodes["uid"].to_numpy()
    awaited, waiting = dependency_edges(nodes, "ctrl_deps")
    gone = set(dropped)
    ends = zip(uid[awaited].tolist(), uid[waiting].tolist(), strict=True)
    kept = np.fromiter((pair not in gone for pair in ends), np.bool_, len(awaited))
    root, depth = tops(first_parents(awaited[kept], waiting[kept], len(uid)))
    fresh = [
        {
            "uid": int(key),
            "root": int(uid[top]) if top != NONE else None,
            "depth": int(far) if far >= 0 else None,
        }
        for key, top, far in zip(uid, root, depth, strict=True)
    ]
    stale = nodes.select("uid", "root", "depth").to_dicts()
    yield from in_parts(
        "repair_set_places", [new for new, old in zip(fresh, stale, strict=True) if new != old]
    )


def dropped_ctrl_edges(before: Iterable[Row]) -> list[tuple[int, int]]:
    """Return the ends of the CTRL edges that changes drop, from their old values."""
    edges = (entry["edge"] for entry in before if entry.get("edge") is not None)
    return [(edge["src"], edge["dst"]) for edge in edges if edge["kind"] == "CTRL"]
