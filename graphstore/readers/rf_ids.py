"""Whether the record function ids of a file can join its host ops to another file of the rank.

In:  the ids as read. Out: one word. Execution traces and Kineto traces are judged alike (trace-formats §2).
"""

from __future__ import annotations

import polars as pl


def rf_id_verdict(rf_ids: pl.Series, given_zeros: int) -> str:
    """Return what the ids of a file are worth; `rf_ids` is null where an op has none, or has 0.

    `given_zeros` tells these apart where no id is left: how many ops have 0.

    usable; repeated (one id on two ops); zero (on every op that has one: 0 means "no id", 2025 and later);
    or absent (2023 and before).
    """
    ids = rf_ids.drop_nulls()
    if not ids.len():
        return "zero" if given_zeros else "absent"
    return "usable" if ids.n_unique() == ids.len() else "repeated"
