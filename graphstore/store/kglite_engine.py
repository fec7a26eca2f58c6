"""What is asked of a kglite graph, and how one is filled: the only ways that are safe.

In:  a graph (or the Writer that stands for one), a statement, or checked tables (write.py). Out: rows.
Decided here, each for a reason measured on kglite 0.21.2: three optimizer passes are off on every call (with
them, wrong counts come without a word); a path cut at ten hops is an error, not a warning; every label has
its key and columns declared; the reports of bulk loads must say that every row went in as it was; a statement
that the engine can't stop is left behind. Files: kglite_files.py.
"""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import kglite
import polars as pl

from graphstore.errors import QueryError, QueryTimeoutError, StoreError
from graphstore.model.records import POLARS_TYPE, EdgeTable
from graphstore.model.schema import primary_labels
from graphstore.store import values
from graphstore.store.ddl import ddl
from graphstore.store.kglite_files import one_line
from graphstore.store.write import NodeTable

# Wrong rows otherwise; tests/integration/test_kglite_canary.py fails when a release cures or moves them.
DISABLED_PASSES = (
    "fuse_match_return_aggregate",
    "fuse_optional_match_aggregate",
    "push_distinct_into_match",
)
OVERRUN_S = 2.0  # how long after its time limit a statement may still be seen stopping by itself
_SCALARS = {type(None), bool, int, float, str}
_INNER_KEYS = {"id", "title", "type"}  # kglite answers these on every node; they are not in the trace

kglite.set_query_warning_policy("silent")  # warnings are judged below, not printed


def new_graph() -> Any:
    """Return an empty graph in memory, to be filled and saved through a Writer."""
    return kglite.KnowledgeGraph()


def declare(graph: Any) -> None:
    """Give every label of the schema its key and its columns, so that Cypher may create and match them."""
    for label, (key, properties) in primary_labels().items():
        declare_label(graph, label, key, {p.name: POLARS_TYPE[p.type] for p in properties})


def declare_label(graph: Any, label: str, key: str, schema: Mapping[str, Any]) -> None:
    """Give one label its key and columns by an empty table; raises StoreError when it has others already."""
    import pandas as pd

    types = {name: _COLUMN_TYPE[kind.base_type()] for name, kind in schema.items()}
    frame = pd.DataFrame(columns=list(schema), dtype=object)
    _loaded(label, graph.add_nodes(frame, label, key, "name", column_types=types))


_COLUMN_TYPE: dict[Any, str] = {
    pl.Int64: "int",
    pl.Float64: "float",
    pl.String: "string",
    pl.Boolean: "bool",
    pl.List: "list",
}


def add_nodes(graph: Any, table: NodeTable) -> None:
    """Load a node table; raises StoreError when the engine did not take every row as it was."""
    labels = [table.label] if table.label != table.primary else None
    with _loading(table.label):
        report = graph.add_nodes(_pandas(table.frame), table.primary, table.key, "name", labels=labels)
    _loaded(table.label, report)
    if report["nodes_created"] != table.frame.height:
        raise StoreError(
            f"{table.label}: the engine made {report['nodes_created']} nodes of {table.frame.height}. "
            f"Nothing was written; this is a defect of graphstore."
        )


def add_edges(graph: Any, table: EdgeTable) -> None:
    """Load an edge table; raises StoreError when the engine dropped, merged or invented anything."""
    with _loading(table.type):
        report = graph.add_relationships(
            _pandas(table.frame), table.type, table.source, "src", table.target, "dst", distinct=True
        )
    _loaded(table.type, report)
    if report["connections_created"] != table.frame.height or report["stubs_vivified"]:
        raise StoreError(
            f"{table.type}: the engine made {report['connections_created']} edges of {table.frame.height} "
            f"and {report['stubs_vivified']} nodes of its own. "
            f"Nothing was written; this is a defect of graphstore."
        )


@contextlib.contextmanager
def _loading(what: str) -> Iterator[None]:
    """Turn an error of the bulk loader into a StoreError; its warnings only repeat the checked report."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        except kglite.KgError as error:
            raise StoreError(
                f"{what}: the engine refused the table: {one_line(error)}. Nothing was written."
            ) from error


def constrain(graph: Any) -> None:
    """Make every key unique from here on, for Cypher too; raises StoreError when one is there twice."""
    try:
        for statement in ddl("kglite"):
            graph.cypher(statement)
    except kglite.KgError as error:
        raise StoreError(f"a key is there twice: {one_line(error)}. Nothing was written.") from error


def _loaded(what: str, report: Mapping[str, Any]) -> None:
    if report["has_errors"]:
        raise StoreError(
            f"{what}: the engine changed what it was given: {report['errors']}. Nothing was written."
        )


def _pandas(frame: pl.DataFrame) -> Any:
    """Return the frame for kglite: nullable integers stay integers, columns without values stay out.

    pandas is imported here because nothing but a bulk load needs it (0.4 s).
    """
    import pandas as pd

    columns: dict[str, Any] = {}
    for column in frame.iter_columns():
        if column.null_count() == len(column):
            continue
        absent = column.is_null().to_numpy()
        if column.dtype == pl.Int64:
            columns[column.name] = pd.arrays.IntegerArray(column.fill_null(0).to_numpy().copy(), absent)
        elif column.dtype == pl.Boolean:
            columns[column.name] = pd.arrays.BooleanArray(column.fill_null(False).to_numpy().copy(), absent)
        elif column.dtype == pl.Float64:
            columns[column.name] = column.to_numpy()
        else:
            columns[column.name] = pd.Series(column.to_list(), dtype=object)
    return pd.DataFrame(columns, copy=False)


def run(
    graph: Any,
    text: str,
    parameters: Mapping[str, Any],
    timeout_s: float,
    row_limit: int | None = None,
) -> pl.DataFrame:
    """Return the rows of one statement.

    The engine stops most statements at the time limit, but not all (a correlated EXISTS with a scan of its
    own, a long IN list). Such a one is left behind on its thread, which goes on until its statement or the
    process ends: QueryTimeoutError is raised here, and the command line ends the process on it. Raises
    QueryError for a wrong statement.
    """
    options: dict[str, Any] = {
        "params": dict(parameters),
        "timeout_ms": max(1, round(timeout_s * 1000)),
        "disabled_passes": list(DISABLED_PASSES),
    }
    if row_limit is not None:
        options["row_limit"] = row_limit + 1
    answer = _within(lambda: graph.cypher(text, **options), timeout_s)
    for warning in answer.warnings:
        if "default ceiling" in warning:
            raise QueryError(
                "a path without an upper bound stops at 10 hops on the embedded store and rows would be "
                "missing: write *1..1000 instead of * or *1.."
            )
    names = list(answer.columns)
    return values.frame(names, [_plain_column(answer.column(name)) for name in names])


def _within(call: Callable[[], Any], timeout_s: float) -> Any:
    """Return what `call` returns, waiting little longer than its time limit; errors as run() names them."""
    box: list[Any] = []

    def work() -> None:
        try:
            box.append(call())
        except BaseException as error:  # handed to the caller's thread, raised there
            box.append(error)

    thread = threading.Thread(target=work, daemon=True, name="kglite statement")
    thread.start()
    thread.join(timeout_s + OVERRUN_S)
    if not box:
        raise QueryTimeoutError(
            f"the query ran past its limit of {timeout_s:g} s and the engine could not stop it; "
            "narrow it, or raise the limit (--timeout)"
        )
    if isinstance(box[0], BaseException):
        raise _statement_error(box[0], timeout_s) from box[0]
    return box[0]


def _statement_error(error: BaseException, timeout_s: float) -> BaseException:
    if isinstance(error, kglite.CypherTimeoutError):
        return QueryTimeoutError(
            f"the query reached its limit of {timeout_s:g} s; narrow it, or raise the limit (--timeout)"
        )
    if isinstance(error, kglite.ReadOnlyError):
        return QueryError(f"queries only read: {one_line(error)}")
    if isinstance(error, kglite.KgError | ValueError | TypeError | OverflowError | RecursionError):
        return QueryError(one_line(error))
    return error


def _plain_column(column: list[Any]) -> list[Any]:
    if set(map(type, column)) <= _SCALARS:
        return column
    return [_plain(value) for value in column]


def _plain(value: Any) -> Any:
    """Return a value with graph values in the form of values.py, at any depth of lists and maps."""
    if isinstance(value, list):
        return _plain_column(value)
    if not isinstance(value, dict):
        return value
    if value.keys() == {"id", "labels", "properties"}:
        own = {name: each for name, each in value["properties"].items() if name not in _INNER_KEYS}
        return values.node(value["labels"], own)
    if value.keys() == {"id", "start", "end", "type", "properties"}:
        return values.edge(value["type"], value["properties"])
    if value.keys() == {"nodes", "relationships"}:
        places = {each["id"]: place for place, each in enumerate(value["nodes"])}
        joined = [
            (_plain(each), places[each["start"]], places[each["end"]]) for each in value["relationships"]
        ]
        return values.path([_plain(each) for each in value["nodes"]], joined)
    return {name: _plain(item) for name, item in value.items()}
