"""The communication of a report: who waited in which operation, and how much of it nothing hid.

In:  a store and a run. Out: frames by rank and operation. Decided here: what an operation is (a kind of
collective on a group; the kind alone where there are more than a picture has columns for), and which ranks
are drawn: all, or those that waited longest.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from graphstore.queries.run import run_query
from graphstore.store.base import Store

OPERATIONS = 10  # columns of the heat map
COLUMNS = 120  # of the map of single collectives
RANKS = 64  # rows of either, and bars


@dataclass(frozen=True)
class Communication:
    """`split`: rank, operation, calls, duration_ns, wait_ns, transfer_ns. `exposed`: rank, operation, calls,
    duration_ns, exposed_ns, overlapped_ns. `in_order`: rank, place (from 1), wait_ns, of single collectives,
    or of so many (`together`) at a time.
    """

    split: pl.DataFrame
    exposed: pl.DataFrame
    in_order: pl.DataFrame
    collectives: int
    together: int

    @property
    def waiting_ranks(self) -> list[int]:
        """The ranks that are drawn in the heat maps."""
        return longest(self.split, "wait_ns")

    @property
    def exposed_ranks(self) -> list[int]:
        """The ranks whose exposed communication is drawn."""
        return longest(self.exposed, "exposed_ns")


def read_communication(store: Store, run: str) -> Communication:
    """Return the communication of a run; frames without rows where no call has a time."""
    calls = run_query(store, run, "communication/show_wait_and_transfer")
    exposed = run_query(store, run, "communication/show_exposed_communication")
    return communication_of(calls, exposed)


def communication_of(calls: pl.DataFrame, exposed: pl.DataFrame) -> Communication:
    """Return the communication of the rows of the two statements."""
    in_order, collectives, together = _in_order(calls)
    return Communication(
        split=_summed(calls.with_columns(calls=1), "wait_ns", "transfer_ns"),
        exposed=_summed(exposed, "exposed_ns", "overlapped_ns"),
        in_order=in_order,
        collectives=collectives,
        together=together,
    )


def longest(rows: pl.DataFrame, column: str) -> list[int]:
    """Return the ranks, ascending: all, or the RANKS with the most of a column."""
    sums = rows.group_by("rank").agg(pl.col(column).sum()).sort(column, "rank", descending=[True, False])
    return sorted(sums["rank"].to_list()[:RANKS])


def _summed(rows: pl.DataFrame, *parts: str) -> pl.DataFrame:
    """Return the rows summed by rank and operation."""
    if not rows.height:
        columns = ("rank", "calls", "duration_ns", *parts)
        return pl.DataFrame(schema={"operation": pl.String} | dict.fromkeys(columns, pl.Int64))
    kind = pl.col("collective_kind").fill_null("unknown")
    group = pl.col("group").cast(pl.String)
    on_group = pl.when(group.is_null()).then(kind).otherwise(kind + ", group " + group)
    named = rows.with_columns(operation=on_group)
    if named["operation"].n_unique() > OPERATIONS:
        named = rows.with_columns(operation=kind)
    sums = [pl.col(name).sum() for name in ("calls", "duration_ns", *parts)]
    return named.group_by("rank", "operation").agg(sums).sort("rank", "operation")


def _in_order(calls: pl.DataFrame) -> tuple[pl.DataFrame, int, int]:
    """Return the wait of each rank by the place of the collective, in the order in which they began."""
    if not calls.height:
        return pl.DataFrame(schema=dict.fromkeys(("rank", "place", "wait_ns"), pl.Int64)), 0, 1
    began = calls.group_by("collective").agg(pl.col("start_ns").min()).sort("start_ns", "collective")
    together = -(-began.height // COLUMNS)
    place = (pl.int_range(pl.len(), dtype=pl.Int64) // together + 1).alias("place")
    places = began.select("collective", place)
    found = calls.join(places, on="collective").group_by("rank", "place").agg(pl.col("wait_ns").sum())
    return found.sort("rank", "place"), began.height, together
