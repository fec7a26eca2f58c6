"""When each rank entered a collective, how long it waited there, and how long the transfer took.

In:  linked ranks, and which collective each of their calls belongs to. Out: clock offsets between ranks,
the wait of each call, and skew and transfer time of each collective.
Decided here: a collective that synchronises ends at about the same moment on all its members, so the median
difference of their ends is the difference of their clocks; where the ends come in either order the clocks
are not told apart, and nothing is taken off. It is taken from kernels, from the backend's own
ops and from the ends a dump tells; the host op of an asynchronous call ends before the work does, and of
several kernels none is known to be the one that waits. A kernel begins long after the call was made: the
starts of a collective are compared only where those of all members are of one kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from graphstore.model.records import RankGraph, edge_frame

# In these no member can be done before all have begun; a broadcast's source may leave early.
SYNCHRONISING = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "barrier")
KERNEL, WORKER, HOST = "kernel", "worker", "host"  # whose start a call has; dumps tell the host's
COLLECTIVE = ["group", "seq"]
CALLS = {"rank": pl.Int64, "n": pl.Int64, "group": pl.String, "seq": pl.Int64}
SPANS = {"kind": pl.String, "of": pl.String, "start": pl.Int64, "end": pl.Int64}
TIMES = {"group": pl.String, "seq": pl.Int64, "skew_ns": pl.Int64, "last_rank": pl.Int64}
TIMES |= {"transfer_ns": pl.Int64}


@dataclass(frozen=True)
class Offset:
    """A rank's clock less that of the lowest one, the collectives it rests on, and how far they differ."""

    ns: int = 0
    calls: int = 0
    spread_ns: int = 0


@dataclass
class CallTimes:
    """`offsets` {rank: Offset} where known; `waits`: rank, n, wait_ns; `collectives`: columns TIMES."""

    offsets: dict[int, Offset]
    waits: pl.DataFrame
    collectives: pl.DataFrame


def call_times(ranks: Sequence[RankGraph], places: pl.DataFrame) -> CallTimes:
    """Return the times of the collectives that two or more members have a start for. `places`: rank, n, seq …

    Of several calls of one rank in one collective (a coalesced block) the first start and the last end count.
    """
    calls = _calls(ranks, places)
    offsets = _offsets(calls)
    calls = calls.filter(pl.col("of").n_unique().over(COLLECTIVE) == 1)
    shift = pl.col("rank").replace_strict(
        {rank: offset.ns for rank, offset in offsets.items()}, default=0, return_dtype=pl.Int64
    )
    calls = calls.with_columns(pl.col("start") - shift, pl.col("end") - shift)
    last = pl.col("start").max().over(COLLECTIVE)
    waits = calls.filter(pl.len().over(COLLECTIVE) > 1).select(
        "rank", "n", (last - pl.col("start")).alias("wait_ns")
    )
    return CallTimes(offsets, waits, _of_collectives(calls))


def _calls(ranks: Sequence[RankGraph], places: pl.DataFrame) -> pl.DataFrame:
    """Return a row per member of a collective that has a start: CALLS, and whose start it is (of)."""
    frames = [_of_rank(graph) for graph in ranks]
    if not frames:
        return pl.DataFrame(schema=CALLS | SPANS)
    known = places.drop_nulls("seq").select(list(CALLS))
    return (
        pl.concat(frames)
        .drop_nulls("start")
        .join(known, on=["rank", "n"], how="inner", maintain_order="left")
        .group_by(*COLLECTIVE, "rank", maintain_order=True)
        .agg(pl.col("n", "kind", "of").first(), pl.col("start").min(), pl.col("end").max())
    )


def _of_rank(graph: RankGraph) -> pl.DataFrame:
    """Return the calls of a rank, each with its kind, start and end, and whose start that is."""
    seen = graph.edges.get("SEEN_AS", edge_frame("SEEN_AS", {"src": [], "dst": [], "rule": []}))
    kernels, workers = (
        seen.filter(rule=rule).group_by(pl.col("src").alias("n")).agg(pl.len().alias(rule))
        for rule in (KERNEL, WORKER)
    )
    calls = graph.nodes["CollectiveCall"].join(kernels, on="n", how="left", maintain_order="left")
    calls = calls.join(workers, on="n", how="left", maintain_order="left")
    of = pl.when(pl.col(KERNEL) > 0).then(pl.lit(KERNEL)).when(pl.col(WORKER) > 0).then(pl.lit(WORKER))
    has_end = (pl.col(KERNEL) == 1) | (pl.col(KERNEL).is_null() & (pl.col(WORKER) > 0))
    return calls.select(
        "rank",
        "n",
        pl.col("collective_kind").alias("kind"),
        of.otherwise(pl.lit(HOST)).alias("of"),
        pl.col("start_ns").alias("start"),
        pl.coalesce(pl.when(has_end).then(pl.col("start_ns") + pl.col("duration_ns")), "completed_ns").alias(
            "end"
        ),
    )


def _offsets(calls: pl.DataFrame) -> dict[int, Offset]:
    """Return the offset of each rank against the lowest that ends any collective together with others.

    Ranks that share no collective with it are reached over those that do.
    """
    beside: dict[int, list[tuple[int, int, Offset]]] = {}
    for to, rank, middle, low, high, count in _differences(calls).iter_rows():
        found = Offset(0 if low <= 0 <= high else round(middle), count, high - low)
        beside.setdefault(to, []).append((rank, 1, found))
        beside.setdefault(rank, []).append((to, -1, found))
    if not beside:
        return {}
    reached = [min(beside)]
    out = {reached[0]: Offset()}
    for rank in reached:  # grows while it is walked
        for other, sign, found in beside[rank]:
            if other not in out:
                out[other] = Offset(out[rank].ns + sign * found.ns, found.calls, found.spread_ns)
                reached.append(other)
    return out


def _differences(calls: pl.DataFrame) -> pl.DataFrame:
    """Return how the ends of pairs of ranks differ: to, rank, middle, low, high, calls.

    Each rank is compared with the lowest one in the same collective.
    """
    ended = calls.filter(pl.col("kind").is_in(list(SYNCHRONISING))).drop_nulls("end")
    first = ended.sort("rank").group_by(COLLECTIVE, maintain_order=True).first()
    reference = first.select(*COLLECTIVE, pl.col("rank").alias("to"), pl.col("end").alias("at"))
    difference = pl.col("end") - pl.col("at")
    return (
        ended.join(reference, on=COLLECTIVE)
        .filter(pl.col("rank") != pl.col("to"))
        .group_by("to", "rank")
        .agg(
            difference.median().alias("middle"),
            difference.min().alias("low"),
            difference.max().alias("high"),
            pl.len().alias("calls"),
        )
        .sort("to", "rank")
    )


def _of_collectives(calls: pl.DataFrame) -> pl.DataFrame:
    """Return skew, last rank and transfer time of each collective; the ends that are before its last start
    are of clocks that do not fit, and tell no transfer."""
    first, last = pl.col("start").min(), pl.col("start").max()
    end = pl.col("end").filter(pl.col("end") >= last).min()
    return (
        calls.group_by(COLLECTIVE, maintain_order=True)
        .agg(
            pl.len().alias("members"),
            (last - first).alias("skew_ns"),
            pl.col("rank").sort_by("start", "rank").last().alias("last_rank"),
            (end - last).alias("transfer_ns"),
        )
        .filter(pl.col("members") > 1)
        .select(list(TIMES))
    )
