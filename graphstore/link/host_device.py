"""Join device ops with the runtime calls that launched them, and those with the host ops around them.

In:  tables of runtime calls and device ops of one Kineto file, and the host ops' `Spans`.
Out: places of launch and encloser, the launch class of each device op, and counts of what other ways of
linking would have said.
Decided here (`trace-formats.md` §2): correlation joins, 0 is none; the op around a launch encloses it in
time on its thread; External id and "the latest op before it" are only counted where they disagree.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from graphstore.link.nesting import Ints, Spans

GRAPH_LAUNCH = "GraphLaunch"  # cudaGraphLaunch, cuGraphLaunch, hipGraphLaunch


@dataclass(frozen=True)
class Launches:
    """For each device op the row of its runtime call (-1: none) and its launch class."""

    call: Ints
    launch_class: pl.Series


def find_launches(kernels: pl.DataFrame, calls: pl.DataFrame) -> Launches:
    """Return the launch of every device op, by correlation.

    Where several calls bear one correlation (a runtime call and the driver call in it) the one that starts
    last is meant, the innermost. Classes: graph_replay (its call launches a graph; all its device ops hang
    off that call), launched, before_window (no call has it and it is below the file's lowest), lost,
    no_correlation, no_runtime_calls (the file holds no calls at all).
    """
    rows = (
        calls.select(
            "correlation",
            pl.int_range(pl.len()).alias("call"),
            pl.col("name").str.contains(GRAPH_LAUNCH, literal=True).alias("is_graph"),
            "start_ns",
        )
        .drop_nulls("correlation")
        .sort("start_ns", "call", nulls_last=False)
        .unique("correlation", keep="last", maintain_order=True)
    )
    lowest = calls["correlation"].min()
    joined = kernels.select("correlation").join(
        rows.select("correlation", "call", "is_graph"), on="correlation", how="left", maintain_order="left"
    )
    no_calls = calls.height == 0
    launch_class = joined.select(
        pl.when(pl.col("call").is_not_null() & pl.col("is_graph"))
        .then(pl.lit("graph_replay"))
        .when(pl.col("call").is_not_null())
        .then(pl.lit("launched"))
        .when(pl.lit(no_calls))
        .then(pl.lit("no_runtime_calls"))
        .when(pl.col("correlation").is_null())
        .then(pl.lit("no_correlation"))
        .when(pl.col("correlation") < pl.lit(lowest, dtype=pl.Int64))
        .then(pl.lit("before_window"))
        .otherwise(pl.lit("lost"))
        .alias("launch_class")
    ).to_series()
    return Launches(joined["call"].fill_null(-1).to_numpy().astype(np.int64), launch_class)


def find_callers(calls: pl.DataFrame, call_group: Ints, spans: Spans) -> Ints:
    """Return the row of the innermost host op that each runtime call starts in, on its thread; -1: none."""
    found = spans.innermost(call_group, calls["start_ns"].fill_null(0).to_numpy())
    return np.where(calls["start_ns"].is_null().to_numpy(), -1, found)


def launch_facts(
    kernels: pl.DataFrame,
    calls: pl.DataFrame,
    host_external_id: pl.Series,
    launches: Launches,
    caller: Ints,
    spans: Spans,
) -> dict[str, int]:
    """Return the counts launches_enclosed, time_link_disagrees and external_id_disagrees of a Kineto file."""
    launched = launches.call >= 0
    encloser = np.full(kernels.height, -1, dtype=np.int64)
    encloser[launched] = caller[launches.call[launched]]
    start = calls["start_ns"].fill_null(0).to_numpy()
    latest = spans.latest_started(start[launches.call[launched]])
    named = _rows_of(host_external_id, kernels["external_id"])
    return {
        "launches_enclosed": int(np.count_nonzero(encloser >= 0)),
        "time_link_disagrees": int(np.count_nonzero(latest != encloser[launched])),
        "external_id_disagrees": int(np.count_nonzero((named >= 0) & (named != encloser))),
    }


def _rows_of(ids: pl.Series, wanted: pl.Series) -> Ints:
    """Return for each wanted id the first row of `ids` that holds it, -1 for none."""
    rows = pl.DataFrame({"key": ids}).with_row_index("row").drop_nulls("key").unique("key", keep="first")
    joined = pl.DataFrame({"key": wanted}).join(rows, on="key", how="left", maintain_order="left")
    return joined["row"].cast(pl.Int64).fill_null(-1).to_numpy()
