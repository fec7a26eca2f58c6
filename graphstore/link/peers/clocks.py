"""What the clocks of two ranks differ by at least, proven by the collectives both were in.

In:  linked ranks, and the numbered collectives their calls belong to. Out: a bound for each pair of ranks.
Decided here: nobody leaves a collective that synchronises before everybody has entered it. So the end on one
rank is not before the start on another; in the ranks' own clocks, that bounds how these differ. Only numbers
that the files hold count. An estimate of the difference, for times in reports: call_times.py.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from graphstore.link.call_times import SYNCHRONISING
from graphstore.model.records import RankGraph, edge_frame

BOUNDS = {"src": pl.Int64, "dst": pl.Int64, "ahead_ns": pl.Int64}
SPANS = {"n": pl.Int64, "rank": pl.Int64, "begin": pl.Int64, "end": pl.Int64}
_COLLECTIVE = ["group", "seq"]


def clock_bounds(ranks: Sequence[RankGraph], places: pl.DataFrame, pairs: pl.DataFrame) -> pl.DataFrame:
    """Return BOUNDS: the clock of dst is ahead of that of src by at least ahead_ns (negative: behind by).

    `places`: rank, n, group and seq of calls that are numbered alike on all ranks; `pairs`: src and dst of
    those to be compared.
    """
    numbered = places.drop_nulls("seq").select("rank", "n", *_COLLECTIVE)
    if numbered.is_empty() or pairs.is_empty():
        return pl.DataFrame(schema=BOUNDS)
    calls = (
        pl.concat([_synchronising(graph) for graph in ranks])
        .join(numbered, on=["rank", "n"], how="inner")
        .group_by(*_COLLECTIVE, "rank")
        .agg(pl.col("begin").min(), pl.col("end").max())
    )
    left = calls.select(*_COLLECTIVE, src="rank", left="end")
    entered = calls.select(*_COLLECTIVE, dst="rank", entered="begin")
    return (
        pairs.select("src", "dst")
        .unique()
        .join(left, on="src")
        .join(entered, on=["dst", *_COLLECTIVE])
        .group_by("src", "dst")
        .agg(ahead_ns=(pl.col("entered") - pl.col("left")).max())
        .select(pl.col(name).cast(kind) for name, kind in BOUNDS.items())
    )


def spans(graph: RankGraph, calls: pl.DataFrame) -> pl.DataFrame:
    """Return SPANS of calls: when the host made each, and when the backend's own op ended.

    A backend opens its op when the work is on its way already, and ends it when the work has ended: so the
    host op tells the begin, and without an op of the backend there is no end.
    """
    seen = graph.edges.get("SEEN_AS", edge_frame("SEEN_AS", {"src": [], "dst": [], "rule": []}))
    times = {"n": pl.Int64, "start_ns": pl.Int64, "duration_ns": pl.Int64}
    hosts = graph.nodes.get("HostOp", pl.DataFrame(schema=times))
    ops = seen.filter(pl.col("rule").is_in(["host_op", "worker"])).join(
        hosts.select("start_ns", "duration_ns", dst="n"), on="dst", how="inner"
    )
    end = pl.col("start_ns") + pl.col("duration_ns")
    by_call = ops.group_by(n="src").agg(
        begin=pl.col("start_ns").min(), end=end.filter(pl.col("rule") == "worker").max()
    )
    return (
        calls.select("n", "rank").join(by_call, on="n", how="left", maintain_order="left").select(list(SPANS))
    )


def _synchronising(graph: RankGraph) -> pl.DataFrame:
    calls = graph.nodes["CollectiveCall"].filter(pl.col("collective_kind").is_in(list(SYNCHRONISING)))
    return spans(graph, calls).drop_nulls(["begin", "end"])
