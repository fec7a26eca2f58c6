"""What is compared, a row a pair: how long it took of its own in each run, and how much of that has no cause.

Decided here: the columns that measures of ops, gaps, device ops and calls share, so that one rule tells noise
from change for all of them. `unexplained_ns` is the part of a difference that nothing else accounts for: an
op one of whose children is new may be longer by that child, or have that much less time of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from graphstore.link.nesting import Ints

OP, KERNEL, COLLECTIVE, RANK = "op", "kernel", "collective", "rank"
RECORD: dict[str, Any] = {
    "what": pl.String,
    "rank": pl.Int64,
    "path": pl.String,
    "name": pl.String,
    "place_a": pl.Int64,
    "place_b": pl.Int64,
    "step_a": pl.Int64,
    "step_b": pl.Int64,
    "total_a_ns": pl.Int64,
    "total_b_ns": pl.Int64,
    "own_a_ns": pl.Int64,
    "own_b_ns": pl.Int64,
    "unexplained_ns": pl.Int64,
    "uid_a": pl.Int64,
    "uid_b": pl.Int64,
}


def records(what: str, rank: int, **columns: Any) -> pl.DataFrame:
    """Return measures as a frame of the columns above."""
    count = len(columns["own_a_ns"])
    given = {"what": [what] * count, "rank": [rank] * count, **columns}
    return pl.DataFrame({name: given[name] for name in RECORD}, schema=RECORD)


def unexplained(delta: Ints, *causes: Ints) -> Ints:
    """Return what is left of each difference when every cause may account for all of its time, or a part."""
    low = sum((np.minimum(cause, 0) for cause in causes), start=np.zeros_like(delta))
    high = sum((np.maximum(cause, 0) for cause in causes), start=np.zeros_like(delta))
    left: Ints = delta - np.clip(delta, low, high)
    return left


def occurrence(step: Ints, path: Ints) -> Ints:
    """Return which call of its path within its step each row is, from 0, in the order of the rows."""
    frame = pl.DataFrame({"step": step, "path": path}, schema={"step": pl.Int64, "path": pl.Int64})
    place = frame.select(pl.int_range(pl.len()).over("step", "path")).to_series()
    out: Ints = place.cast(pl.Int64).to_numpy()
    return out
