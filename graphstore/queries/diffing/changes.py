"""Which differences are told, and which are only counted: records and structure → rows of changes.

In:  records of all ranks, rows of STRUCTURE. Out: the changes, largest effect first, and how many differences
     lie within the noise or are explained by another change. Decided here: a *site* is one place of the
     program on one rank, the same in every step; its times in the steps are its samples. A change of time is
     told when what is unexplained of it is above the noise floor of its kind (significance.py); whether it
     holds over the steps is told beside it, and hides nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from graphstore.queries.diffing.columns import NONE
from graphstore.queries.diffing.records import RANK
from graphstore.queries.diffing.significance import (
    SIGNIFICANT,
    SMALLEST_NS,
    Resolution,
    noise_ratio,
    probability,
    resolution,
)
from graphstore.queries.diffing.structure import ADDED, REMOVED

CHANGES: dict[str, Any] = {
    "what": pl.String,
    "change": pl.String,
    "rank": pl.Int64,
    "path": pl.String,
    "name": pl.String,
    "place": pl.Int64,
    "count_a": pl.Int64,
    "count_b": pl.Int64,
    "total_a_ns": pl.Int64,
    "total_b_ns": pl.Int64,
    "self_a_ns": pl.Int64,
    "self_b_ns": pl.Int64,
    "delta_ns": pl.Int64,
    "percent": pl.Float64,
    "noise_ns": pl.Int64,
    "p_value": pl.Float64,
    "significant": pl.Boolean,
    "ops_below": pl.Int64,
    "kernels_below": pl.Int64,
    "calls_below": pl.Int64,
    "detail": pl.String,
    "uid_a": pl.Int64,
    "uid_b": pl.Int64,
}
_SITE = ("what", "rank", "path", "name", "place_a", "place_b")
_SUMS = ("total_a_ns", "total_b_ns", "own_a_ns", "own_b_ns", "unexplained_ns")


def find_changes(measures: pl.DataFrame, structure: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the changes, and for each rank and kind the differences not told: within noise, or explained."""
    clock = resolution(measures)
    if clock.calm:  # the calls that are equal have nothing to say of those that are not
        measures = measures.filter(pl.col("own_a_ns") != pl.col("own_b_ns"))
    told = _judged(_sites(measures), clock)
    changed = pl.col("unexplained_ns") != 0
    untold = (
        told.filter((pl.col("own_a_ns") != pl.col("own_b_ns")) & ~pl.col("told"))
        .group_by("rank", "what")
        .agg(
            changed.sum().alias("within_noise"),
            pl.col("unexplained_ns").sum().alias("within_noise_ns"),
            (~changed).sum().alias("explained"),
        )
    )
    rows = pl.concat([_times(told.filter("told")), _structure(structure)])
    order = [pl.col("delta_ns").abs().neg(), "what", "change", "rank", "path", "place", "name"]
    return rows.sort(order), untold.sort("rank", "what")


def _sites(measures: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each site: sums over its calls, mean and spread of logarithms over its steps.

    Means are of the times as if only what is unexplained differed, half of it off on either side.
    """
    half = pl.col("unexplained_ns") / 2
    middle = pl.max_horizontal((pl.col("own_a_ns") + pl.col("own_b_ns")) / 2, half.abs())
    log_a, log_b = ((time + SMALLEST_NS).log() for time in (middle - half, middle + half))
    stepped = (pl.col("step_a") != NONE) & (pl.col("step_b") != NONE)
    return (
        measures.group_by(_SITE, maintain_order=True)
        .agg(
            pl.len().alias("count"),
            pl.col(_SUMS).sum(),
            (middle - half).mean().alias("mean_a"),
            (middle + half).mean().alias("mean_b"),
            log_a.mean().alias("log_a"),
            log_b.mean().alias("log_b"),
            log_a.std().fill_null(0.0).alias("spread_a"),
            log_b.std().fill_null(0.0).alias("spread_b"),
            stepped.sum().alias("steps"),
            pl.col("uid_a", "uid_b").first(),
        )
        .sort("what", "rank", "path", "name", pl.col("place_a") + pl.col("place_b"), "uid_a")
    )


def _judged(sites: pl.DataFrame, clock: Resolution) -> pl.DataFrame:
    """Return the sites with noise_ns, p_value and whether they are told."""
    values = np.ones(sites.height)
    if not clock.calm:
        for what in sites["what"].unique().to_list():
            part = (sites["what"] == what).to_numpy()
            values[part] = noise_ratio(sites.filter(pl.Series(part)))
    noise = pl.Series("noise", values)
    ratio = (pl.col("mean_b") + SMALLEST_NS).log() - (pl.col("mean_a") + SMALLEST_NS).log()
    larger = pl.max_horizontal("mean_a", "mean_b") + SMALLEST_NS
    by_spread = larger * (1 - 1 / pl.col("noise"))
    floor = by_spread if clock.calm else pl.max_horizontal(by_spread, pl.lit(float(clock.tick_ns)))
    per_call = (pl.col("mean_b") - pl.col("mean_a")).abs()
    return sites.with_columns(noise, _probabilities(sites, clock)).with_columns(
        (floor * pl.col("count")).round().cast(pl.Int64).alias("noise_ns"),
        (
            (pl.col("unexplained_ns") != 0)
            & (ratio.abs() > pl.col("noise").log())
            & (per_call > (0.0 if clock.calm else clock.tick_ns))
        ).alias("told"),
    )


def _probabilities(sites: pl.DataFrame, clock: Resolution) -> pl.Series:
    """Return the probability of each site; spreads are at least what the ticks of the clock make."""
    steps = sites["steps"].to_numpy().astype(np.float64)
    logs = [sites[name].to_numpy() for name in ("log_a", "log_b")]
    ticks = [clock.tick_ns / np.exp(log) / np.sqrt(12) for log in logs]
    spreads = [
        np.hypot(sites[name].to_numpy(), tick)
        for name, tick in zip(("spread_a", "spread_b"), ticks, strict=True)
    ]
    found = probability(logs[0], spreads[0], steps, logs[1], spreads[1], steps)
    return pl.Series("p_value", found).fill_nan(None)


def _times(sites: pl.DataFrame) -> pl.DataFrame:
    """Return sites as changes."""
    longer = pl.col("unexplained_ns") > 0
    word = (
        pl.when(pl.col("what") == RANK)
        .then(pl.when(longer).then(pl.lit("delayed")).otherwise(pl.lit("earlier")))
        .otherwise(pl.when(longer).then(pl.lit("slower")).otherwise(pl.lit("faster")))
    )
    return _ordered(
        sites.with_columns(
            word.alias("change"),
            pl.col("place_a").alias("place"),
            pl.col("count").alias("count_a"),
            pl.col("count").alias("count_b"),
            pl.col("own_a_ns").alias("self_a_ns"),
            pl.col("own_b_ns").alias("self_b_ns"),
            pl.col("unexplained_ns").alias("delta_ns"),
            (pl.col("p_value") < SIGNIFICANT).alias("significant"),
        )
    )


def _structure(rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows of STRUCTURE as changes, those of one place summed over the steps."""
    kept = ["what", "change", "rank", "path", "name", "place", "detail"]
    of_one_run = pl.col("change").is_in([ADDED, REMOVED])
    return _ordered(
        rows.group_by(kept, maintain_order=True)
        .agg(
            (pl.col("uid_a").is_not_null()).sum().alias("count_a"),
            (pl.col("uid_b").is_not_null()).sum().alias("count_b"),
            pl.col("total_a_ns", "total_b_ns").sum(),
            pl.col("own_a_ns").sum().alias("self_a_ns"),
            pl.col("own_b_ns").sum().alias("self_b_ns"),
            pl.col("ops_below", "kernels_below", "calls_below").sum(),
            pl.col("uid_a", "uid_b").first(),
        )
        .with_columns(
            pl.when(of_one_run)
            .then(pl.col("total_b_ns") - pl.col("total_a_ns"))
            .otherwise(0)
            .alias("delta_ns")
        )
    )


def _ordered(frame: pl.DataFrame) -> pl.DataFrame:
    """Return `frame` with the columns of CHANGES; absent ones are null."""
    share = pl.when(pl.col("self_a_ns") > 0).then(100.0 * pl.col("delta_ns") / pl.col("self_a_ns"))
    only = frame["change"].is_in([ADDED, REMOVED]) if frame.height else pl.Series([], dtype=pl.Boolean)
    filled = frame.with_columns(pl.when(pl.lit(only)).then(None).otherwise(share).alias("percent"))
    return filled.select(
        (pl.col(name) if name in filled.columns else pl.lit(None)).cast(kind).alias(name)
        for name, kind in CHANGES.items()
    )
