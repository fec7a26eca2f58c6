"""Who sent to whom, where the files name no group: gloo records a peer as its place in a group it leaves out.

In:  linked ranks; collectives that dumps number. Out: their sends and recvs with the other side as a global
rank, and the group, as far as these are proven. Decided here: which pairs of clocks are compared.
What is proven and why: pairing.py.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from graphstore.link.peers.clocks import clock_bounds
from graphstore.link.peers.pairing import prove_peers
from graphstore.link.peers.unnamed import is_unnamed, unnamed_transfers
from graphstore.model.records import RankGraph

__all__ = ["is_unnamed", "place_transfers"]


def place_transfers(ranks: Sequence[RankGraph], places: pl.DataFrame) -> dict[int, pl.DataFrame]:
    """Give the sends and recvs of the ranks that name no group their other side, and their group, if proven.

    `places`: rank, n, group and seq of the collectives whose numbers the files hold. Return {rank: its calls}
    whose group is known now, of queues (group, both ends) that no call of unknown group can be in.
    """
    unnamed = unnamed_transfers(ranks)
    if unnamed.candidates.is_empty():
        return {}
    pairs = unnamed.candidates.select(src="rank", dst="other")
    both = pl.concat([pairs, pairs.select(src="dst", dst="src")])
    proven, doubtful = prove_peers(unnamed, clock_bounds(ranks, places, both))
    by_rank = proven.partition_by("rank", as_dict=True)
    for graph in ranks:
        if (graph.rank,) in by_rank:
            graph.nodes["CollectiveCall"] = _told(graph.nodes["CollectiveCall"], by_rank[graph.rank,])
    return {graph.rank: _in_sure_queues(graph, doubtful, unnamed.wild) for graph in ranks}


def _told(calls: pl.DataFrame, proven: pl.DataFrame) -> pl.DataFrame:
    """Return the calls of a rank with what is proven of them; a group that is known already stays."""
    said = proven.select(
        "n",
        pl.col("other").alias("peer_rank_said"),
        pl.col("peer_origin", "group", "group_origin").name.suffix("_said"),
    )
    joined = calls.join(said, on="n", how="left", maintain_order="left")
    is_open = pl.col("group").is_null()
    return joined.with_columns(
        pl.when(is_open).then(f"{name}_said").otherwise(name).alias(name)
        for name in ("group", "group_origin", "peer_rank", "peer_origin")
    ).select(calls.columns)


def _in_sure_queues(graph: RankGraph, doubtful: pl.DataFrame, wild: set[int]) -> pl.DataFrame:
    is_send = pl.col("collective_kind") == "send"
    rank, other = pl.lit(graph.rank, dtype=pl.Int64), pl.col("peer_rank")
    calls = graph.nodes["CollectiveCall"].filter(is_unnamed() & pl.col("group").is_not_null())
    is_wild = other.is_in(list(wild)) | pl.lit(graph.rank in wild)
    return (
        calls.filter(~is_wild)
        .with_columns(
            src=pl.when(is_send).then(rank).otherwise(other), dst=pl.when(is_send).then(other).otherwise(rank)
        )
        .join(doubtful, on=["group", "src", "dst"], how="anti", maintain_order="left")
        .select(calls.columns)
    )
