"""The sends and recvs that name no group, and which groups and ranks each of them can mean.

In:  linked ranks. Out: `Unnamed`: the calls of all ranks, and for each peer a rank recorded the members of
its groups at that place. Decided here: whose silence tells nothing. A rank is *open* if its sends and recvs
are not all known: no trace of it, none in its trace, or one without peer, tag or groups to be in; any call
that can go there may have gone there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import polars as pl

from graphstore.link.peers.clocks import spans
from graphstore.link.process_groups import LISTED
from graphstore.model.records import RankGraph

CALLS = {
    "rank": pl.Int64,
    "n": pl.Int64,
    "is_send": pl.Boolean,
    "peer": pl.Int64,
    "tag": pl.Int64,
    "size_bytes": pl.Int64,
    "begin": pl.Int64,
    "end": pl.Int64,
}
CANDIDATES = {"rank": pl.Int64, "peer": pl.Int64, "group": pl.String, "other": pl.Int64}
NAMED = "recorded"  # group_origin of a call whose files name its group


@dataclass
class Unnamed:
    """`calls`: columns CALLS, a row per call of a rank that is not open, in order on each rank; those of open
    ranks are `open_calls`. `candidates`: CANDIDATES, of (rank, peer) the members `other` than itself.
    """

    calls: pl.DataFrame
    open_calls: pl.DataFrame
    candidates: pl.DataFrame
    steps: dict[int, list[int]] = field(default_factory=dict)  # by rank: the profiler's steps its trace shows

    @property
    def wild(self) -> set[int]:
        """Return the ranks with a call of which not even a candidate is known."""
        lost = self.open_calls.join(self.candidates, on=["rank", "peer"], how="anti")
        return set(lost["rank"].to_list())


def unnamed_transfers(ranks: Sequence[RankGraph]) -> Unnamed:
    """Return the sends and recvs of a run that name no group."""
    frames = [found for graph in ranks if (found := _of_rank(graph)).height]
    calls = pl.concat(frames) if frames else pl.DataFrame(schema=CALLS)
    candidates = _candidates(ranks, calls)
    told = pl.col("peer").is_not_null() & pl.col("tag").is_not_null()
    placed = calls.join(candidates, on=["rank", "peer"], how="semi").select(
        "rank", "n", pl.lit(True).alias("in")
    )
    known = calls.join(placed, on=["rank", "n"], how="left", maintain_order="left").with_columns(
        is_known=told & pl.col("in").fill_null(False)
    )
    is_closed = pl.col("is_known").all().over("rank")
    return Unnamed(
        known.filter(is_closed).select(list(CALLS)),
        known.filter(~is_closed).select(list(CALLS)),
        candidates,
        {graph.rank: _steps(graph) for graph in ranks},
    )


def is_unnamed() -> pl.Expr:
    """Return which CollectiveCalls are sends or recvs whose files do not name their group."""
    return (
        pl.col("is_p2p").fill_null(False)
        & pl.col("pg_name").is_null()
        & (pl.col("group_origin").fill_null("") != NAMED)
        & pl.col("record_id").is_null()
        & pl.col("joined_by").is_null()
        & (pl.col("source") != "flight_recorder")
    )


def _of_rank(graph: RankGraph) -> pl.DataFrame:
    """Return CALLS of a rank in the order in which they were made, else in that of the file."""
    calls = graph.nodes["CollectiveCall"].filter(is_unnamed())
    if calls.is_empty():
        return pl.DataFrame(schema=CALLS)
    found = calls.with_columns(is_send=pl.col("collective_kind") == "send").join(
        spans(graph, calls), on=["n", "rank"], how="left", maintain_order="left"
    )
    order = ["n"] if found["begin"].null_count() else ["begin", "n"]
    return found.sort(order).select(pl.col(name).cast(kind) for name, kind in CALLS.items())


def _steps(graph: RankGraph) -> list[int]:
    hosts = graph.nodes.get("HostOp")
    return [] if hosts is None else hosts["step"].drop_nulls().unique().sort().to_list()


def _candidates(ranks: Sequence[RankGraph], calls: pl.DataFrame) -> pl.DataFrame:
    """Return CANDIDATES of each peer that a rank recorded: over all groups that any rank lists with it."""
    members = {
        group["group"]: group["ranks"]
        for graph in ranks
        for group in graph.groups
        if group["origin"] in LISTED
    }
    groups_of: dict[int, list[str]] = defaultdict(list)
    for key, ranks_in_it in sorted(members.items()):
        for rank in ranks_in_it:
            groups_of[rank].append(key)
    tells = {graph.rank for graph in ranks if any(group["origin"] in LISTED for group in graph.groups)}
    used = calls.select("rank", "peer").unique().drop_nulls().sort("rank", "peer")
    rows = [
        (rank, peer, key, members[key][peer])
        for rank, peer in used.iter_rows()
        if rank in tells
        for key in groups_of[rank]
        if 0 <= peer < len(members[key]) and members[key][peer] != rank
    ]
    return pl.DataFrame(rows, schema=CANDIDATES, orient="row")
