"""Which training step an op lies in: the number of the ProfilerStep mark around it.

In:  the host ops of a rank and their callers. Out: a column of step numbers, null outside of every step.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from graphstore.link.forest import nearest_marked
from graphstore.link.nesting import TOLERANCE_NS, Ints
from graphstore.model.markers import STEP_NAME


def step_numbers(host: pl.DataFrame, parent: Ints) -> pl.Series:
    """Return the step of each host op, null outside of every step.

    By time, on whatever thread, where the op and the mark have times (autograd's threads work for the
    step, too); else by the mark among its callers.
    """
    number = host.select(pl.col("name").str.extract(STEP_NAME).cast(pl.Int64)).to_series()
    is_mark = number.is_not_null().to_numpy()
    if not is_mark.any():
        return pl.repeat(None, host.height, dtype=pl.Int64, eager=True).alias("step")
    above = nearest_marked(parent, is_mark)
    named = pl.when(pl.Series(above >= 0)).then(number.gather(np.maximum(above, 0)))
    return pl.select(pl.coalesce(_steps_by_time(host, number), named)).to_series().alias("step")


def _steps_by_time(host: pl.DataFrame, number: pl.Series) -> pl.Series:
    """Return the step in whose time each op starts, null without times."""
    end = pl.col("start_ns") + pl.col("duration_ns")
    timed = host.select("start_ns", end.alias("end"), number.alias("step")).with_row_index("row")
    marks = timed.drop_nulls().select("step", "end", pl.col("start_ns") - TOLERANCE_NS).sort("start_ns")
    ops = timed.select("row", "start_ns").drop_nulls().sort("start_ns")
    found = ops.join_asof(marks, on="start_ns", strategy="backward").filter(
        pl.col("start_ns") <= pl.col("end")
    )
    return timed.select("row").join(found, on="row", how="left", maintain_order="left")["step"]
