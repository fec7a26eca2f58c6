"""Questions over many runs: one statement asked of each and joined, and how a figure went from run to run.

In:  a query, a selection of runs. Out: frames with the run in front.
Decided here: runs are asked one after the other, the oldest first, so that the embedded store holds few files
open and a server is not asked for everything at once; the row limit counts over all of them. A query that
takes $runs (topic archive) is asked once, of what the archive keeps of all runs.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from graphstore import queries
from graphstore.api.selection import Selection, some_runs
from graphstore.api.verbs import opened
from graphstore.errors import UsageError
from graphstore.settings import Settings
from graphstore.store.base import Store

OVER_PCT = 5.0


@dataclass(frozen=True)
class RunsResult:
    """Rows of a query over runs, the run in front; `cut_in` is the run in which the row limit cut them."""

    runs: list[str]
    rows: pl.DataFrame
    cut_in: str | None = None


@dataclass(frozen=True)
class Trend:
    """How a figure went from run to run.

    `points`: a row for each key and run, oldest first: the key (if asked by one), run, created, value,
    change_pct against the run before, and whether that is more than the limit. `changes`: a row for each key,
    the one that changed most in front: first, last, change_pct from first to last; changed_in, the first run
    in which it changed by more than the limit against the one before, and changed_pct, by how much there.
    A percentage is null where the value before is 0.
    """

    points: pl.DataFrame
    changes: pl.DataFrame


def query_runs(
    query: str,
    parameters: dict[str, Any],
    settings: Settings,
    selection: Selection | None = None,
    *,
    row_limit: int | None = None,
    timeout_s: float | None = None,
) -> RunsResult:
    """Return the rows of a catalogue query, a file or a text over the runs selected (default: all).

    `row_limit` (over all runs) and `timeout_s` (of each) default to the settings. Raises QueryError,
    QueryTimeoutError, UsageError (no run is selected).
    """
    limit = settings.row_limit if row_limit is None else row_limit
    time_limit = settings.query_timeout_s if timeout_s is None else timeout_s
    with opened(settings) as store:
        names = [str(run["run"]) for run in some_runs(store, selection or Selection())]
        if queries.is_over_runs(query):
            rows = queries.run_any_over_archive(
                store, names, query, parameters, row_limit=limit, timeout_s=time_limit
            )
            cut_in = str(rows["run"][limit]) if rows.height > limit and "run" in rows.columns else None
            return RunsResult(names, rows.head(limit), cut_in or (names[-1] if rows.height > limit else None))
        return _each_in_turn(store, names, query, parameters, limit, time_limit)


def _each_in_turn(
    store: Store, names: list[str], query: str, parameters: dict[str, Any], limit: int, time_limit: float
) -> RunsResult:
    """Ask one run after the other until the limit is reached."""
    parts: list[pl.DataFrame] = []
    left = limit
    for name in names:
        rows = queries.run_any(store, name, query, parameters, row_limit=left, timeout_s=time_limit)
        parts.append(_with_run(name, rows.head(left)))
        if rows.height > left:
            return RunsResult(names, _joined(parts), cut_in=name)
        left -= rows.height
    return RunsResult(names, _joined(parts))


def trend_runs(
    query: str,
    column: str,
    settings: Settings,
    selection: Selection | None = None,
    *,
    by: str | None = None,
    parameters: dict[str, Any] | None = None,
    over_pct: float = OVER_PCT,
) -> Trend:
    """Return how the sum of `column`, for each value of the column `by` if given, went from run to run.

    All rows count, whatever the row limit. A key that a run lacks counts 0 there. Raises UsageError for a
    column that the query does not have or that holds no numbers, and as query_runs does.
    """
    with opened(settings) as store:
        runs = some_runs(store, selection or Selection())
        names = [str(run["run"]) for run in runs]
        sums = pl.concat(
            [_summed(rows, column, by) for rows in _all_rows(store, names, query, parameters or {})],
            how="vertical_relaxed",
        )
    order = pl.DataFrame(
        {"run": names, "created": [run["created"] for run in runs], "place": range(len(runs))},
        schema={"run": pl.String, "created": pl.String, "place": pl.Int64},
    )
    points = _points(sums, order, by, over_pct)
    return Trend(points, _changes(points, by))


def _all_rows(
    store: Store, names: list[str], query: str, parameters: dict[str, Any]
) -> Iterator[pl.DataFrame]:
    """Yield all rows of a query over runs, those of a run (or of all) at a time."""
    if queries.is_over_runs(query):
        rows = queries.run_any_over_archive(store, names, query, parameters)
        if "run" not in rows.columns:
            raise UsageError(f"{query}: no column run, so its rows belong to no run")
        yield rows
        return
    for name in names:
        yield _with_run(name, queries.run_any(store, name, query, parameters))


def _summed(rows: pl.DataFrame, column: str, by: str | None) -> pl.DataFrame:
    """Return run, key (as text; '' without `by`) and value: the sum of what is known; null for nothing."""
    for name in (column, *([by] if by else [])):
        if name not in rows.columns:
            raise UsageError(f"the query has no column {name}; {_near(name, rows.columns)}")
    kind = rows.schema[column]
    if not (kind.is_numeric() or kind == pl.Null):
        numeric = [name for name, each in rows.schema.items() if each.is_numeric()]
        raise UsageError(f"column {column} holds no numbers; {', '.join(numeric) or 'none of them'} does")
    value = pl.col(column).cast(pl.Float64 if kind.is_float() else pl.Int64)
    key = pl.col(by).cast(pl.String).fill_null("") if by else pl.lit("")
    return (
        rows.select("run", key.alias("key"), value.alias("value"))
        .group_by("run", "key")
        .agg(pl.when(pl.col("value").count() > 0).then(pl.col("value").sum()).alias("value"))
    )


def _points(sums: pl.DataFrame, order: pl.DataFrame, by: str | None, over_pct: float) -> pl.DataFrame:
    """Return Trend.points."""
    present = sums.select("run").unique()
    grid = order.join(present, on="run").join(sums.select("key").unique(), how="cross")
    known = sums.with_columns(pl.lit(True).alias("there"))
    filled = grid.join(known, on=["run", "key"], how="left").with_columns(
        pl.when(pl.col("there").is_null()).then(0).otherwise(pl.col("value")).alias("value")
    )
    before = pl.col("value").forward_fill().shift(1).over("key", order_by="place")
    change = 100 * (pl.col("value") - before) / before
    points = filled.sort("key", "place").with_columns(
        pl.when(before == 0)
        .then(pl.when(pl.col("value") == 0).then(0.0))
        .otherwise(change)
        .alias("change_pct"),
        ((before == 0) & (pl.col("value") != 0)).alias("from_nothing"),
    )
    changed = (pl.col("change_pct").abs() > over_pct) | pl.col("from_nothing")
    key = [pl.col("key").alias(by)] if by else []
    return points.select(
        *key, "run", "created", "value", "change_pct", changed.fill_null(False).alias("changed")
    )


def _changes(points: pl.DataFrame, by: str | None) -> pl.DataFrame:
    """Return Trend.changes."""
    first, last = pl.col("value").drop_nulls().first(), pl.col("value").drop_nulls().last()
    keys = [by] if by else []
    found = points.group_by(keys or pl.lit(0).alias("all"), maintain_order=True).agg(
        pl.len().alias("runs"),
        first.alias("first"),
        last.alias("last"),
        pl.when(first != 0).then(100 * (last - first) / first).alias("change_pct"),
        pl.col("run").filter("changed").first().alias("changed_in"),
        pl.col("change_pct").filter("changed").first().alias("changed_pct"),
    )
    size = (pl.col("last") - pl.col("first")).abs()
    columns = [*keys, "runs", "first", "last", "change_pct", "changed_in", "changed_pct"]
    return found.sort(size, descending=True, nulls_last=True, maintain_order=True).select(columns)


def _near(name: str, columns: list[str]) -> str:
    near = difflib.get_close_matches(name, columns, n=1)
    return f"near it: {near[0]}" if near else f"it has {', '.join(columns)}"


def _with_run(run: str, rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with the run they are of in front."""
    others = [name for name in rows.columns if name != "run"]
    return rows.select(pl.lit(run).alias("run"), *others)


def _joined(parts: list[pl.DataFrame]) -> pl.DataFrame:
    """Return frames of the same columns as one; a column without values takes its type from the others."""
    return pl.concat(parts, how="vertical_relaxed")
