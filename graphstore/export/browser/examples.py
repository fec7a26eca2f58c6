"""What of a run a person would look at first: the values that the parameters of the catalogue get in a kit.

In:  a store and a run. Out: `Examples`: sets of values that belong together (a group and a number of one
collective). Decided here: the worst comes first: an unsettled collective before a skewed one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from graphstore.queries import run_query
from graphstore.queries.catalog import Query
from graphstore.store.base import Store

ROWS = 20  # of the queries that take a count
# Which example op a query is best shown with, the best first; any other takes the tree.
PICTURES_BY_QUERY = {
    "memory/show_tensors_of_op.graph": ("flow",),
    "memory/show_producers": ("flow",),
    "memory/show_consumers": ("flow",),
    "linking/show_kernels_under_op.graph": ("launches",),
    "linking/show_kernels_under_op": ("launches",),
    "structure/show_ancestors.graph": ("launches", "flow", "tree"),
    "structure/show_ancestors": ("launches", "flow", "tree"),
}


@dataclass(frozen=True)
class Examples:
    """Values by parameter name, in sets; and the op of each kind of picture, by kind."""

    sets: tuple[Mapping[str, Any], ...]
    op_by_picture: Mapping[str, int]

    def values_for(self, query: Query) -> dict[str, Any] | None:
        """Return a value for each parameter of a query but `$run`: its default, else the run's example.

        None where the run has no example.
        """
        wanted = {field.name for field in query.parameters if not field.optional} - {"run"}
        defaults = {field.name: field.default for field in query.parameters if field.optional}
        pictures = PICTURES_BY_QUERY.get(query.name, ("tree",))
        op = next((self.op_by_picture[each] for each in pictures if each in self.op_by_picture), None)
        for values in (*self.sets, {} if op is None else {"op": op}):
            if wanted <= set(values):
                return defaults | {name: values[name] for name in wanted}
        return None


def no_run() -> Examples:
    """Return what fits any run: rank 0, the first 20 rows."""
    return Examples(({"rank": 0, "count": ROWS},), {})


def examples_of(store: Store, run: str, rank: int) -> Examples:
    """Return the examples of a run; ops are those of `rank`."""
    ops = run_query(store, run, "structure/show_example_ops", rank=rank).to_dicts()
    op_by_picture = {row["picture"]: row["uid"] for row in ops}
    sets = [{"rank": rank, "count": ROWS}, *_sets(store, run)]
    if "kernel" in op_by_picture:
        sets.append({"kernel": op_by_picture["kernel"]})
    sets += [{"name": row["name"]} for row in ops[:1]]
    return Examples(tuple(sets), op_by_picture)


def _sets(store: Store, run: str) -> Iterator[dict[str, Any]]:
    """Yield the parameters that single out a finding, an absent parent, a collective, a channel."""
    for name, columns, parameters in (
        ("health/show_findings", ("fid",), {}),
        ("structure/find_missing_parents", ("rank", "absent_id"), {}),
        ("communication/show_incomplete_collectives", ("group", "collective_seq_id"), {}),
        ("communication/show_skewed_collectives", ("group", "collective_seq_id"), {"count": 1}),
        ("communication/show_channels", ("group", "src", "dst"), {}),
    ):
        rows = run_query(store, run, name, **parameters).head(1)
        yield from ({column: row[column] for column in columns} for row in rows.iter_rows(named=True))
