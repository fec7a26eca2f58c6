"""What matching says as edges: calls of collectives and channels, pairs of sends and recvs, who waits.

In:  a `RunMatching`, and the uids of nodes. Out: edge tables. Decided here: a rank waits in a call and the
call for ranks, so that 4,000 ranks in one call are 8,000 edges and not 16 million.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from graphstore.link.matched_nodes import group_named
from graphstore.link.matching.model import JobMatching
from graphstore.link.run_matching import DUMPS, RunMatching
from graphstore.model.records import POLARS_TYPE, EdgeTable, edge_frame
from graphstore.model.schema import TYPE_BY_NAME

IN_CALL = "in_call"
Uids = dict[Any, int]


def call_edges(
    matched: RunMatching, uids: pl.DataFrame, collectives: pl.DataFrame, channels: pl.DataFrame
) -> list[EdgeTable]:
    """Return CALL_OF and PEER. `uids`: rank, n and uid of every call; the others are nodes with their uid."""
    of_each = [
        (one, one.places.join(uids, on=["rank", "n"], how="inner", maintain_order="left"))
        for one in matched.both
    ]
    calls = pl.concat([placed for _, placed in of_each])
    of_collective = calls.join(
        collectives.select("group", pl.col("collective_seq_id").alias("seq"), pl.col("uid").alias("dst_uid")),
        on=["group", "seq"],
        how="inner",
        maintain_order="left",
    )
    of_channel = calls.join(
        channels.select("group", "src", "dst", pl.col("uid").alias("dst_uid")),
        on=["group", "src", "dst"],
        how="inner",
        maintain_order="left",
    )
    ends = [pl.col("uid").alias("src"), pl.col("dst_uid").alias("dst"), "rule"]
    return [
        EdgeTable("CALL_OF", "Op", "Collective", of_collective.select(ends)),
        EdgeTable("CALL_OF", "Op", "Channel", of_channel.select(ends)),
        EdgeTable("PEER", "Op", "Op", pl.concat([_peers(one, placed) for one, placed in of_each])),
    ]


def _peers(matched: RunMatching, calls: pl.DataFrame) -> pl.DataFrame:
    """Return send → recv of each pair, with what it rests on; no pair of calls whose names are not their own.

    A dump in which a record_id stands twice is not refused.
    """
    job = matched.job
    if job is None or job.pairs.is_empty():
        return edge_frame("PEER", {"src": [], "dst": [], "rule": []})
    named = "record_id" if matched.source == DUMPS else "place"
    transfers = calls.filter(pl.col("src").is_not_null())
    pairs = job.pairs
    for side, sends in (("send", True), ("recv", False)):
        on = ["group", "src", "dst", f"{side}_{named}"]
        ends = (
            transfers.filter(pl.col("is_send") == sends)
            .select("group", "src", "dst", pl.col("key").alias(on[-1]), pl.col("uid").alias(f"{side}_uid"))
            .unique(on, keep="none")
        )
        pairs = pairs.unique(on, keep="none", maintain_order=True).join(
            ends, on=on, how="inner", maintain_order="left"
        )
    return pairs.select(
        pl.col("send_uid").alias("src"), pl.col("recv_uid").alias("dst"), pl.col("how").alias("rule")
    )


def member_edges(
    matched: RunMatching, groups: Sequence[dict[str, Any]], ranks: Uids, keys: Uids
) -> EdgeTable:
    """Return MEMBER: rank → group, with how far the rank came in it; `ranks` and `keys` give the uids."""
    job = matched.job
    windows = {} if job is None else job.windows
    told = {} if job is None else {(rank, group): counters for rank, group, *counters in job.counters.rows()}
    rows = []
    for group in groups:
        kept = windows.get(group["group"], {})
        for rank in group["members"]:
            if rank in ranks:
                window = kept.get(rank, (None, None, None))
                counters = told.get((rank, group["group"]), (None, None))
                rows.append((ranks[rank], keys[group["group"]], *window, *counters))
    return EdgeTable("MEMBER", "Rank", "ProcessGroup", _edges("MEMBER", rows))


def wait_edges(matched: RunMatching, ranks: Uids, collectives: pl.DataFrame) -> list[EdgeTable]:
    """Return WAITS_FOR: rank → collective → ranks, and rank → rank where it stands in a send or recv."""
    job = matched.job
    if job is None or not job.first_unfinished:
        return []
    uids = {(g, s): uid for g, s, uid in collectives.select("group", "collective_seq_id", "uid").iter_rows()}
    in_call, of_call, of_rank = [], {}, []
    for rank, call in _standing(job):
        waits = job.waits_for.get(rank, {})
        if call is None:
            of_rank += [(ranks[rank], ranks[other], kind) for other, kind in waits.items() if other in ranks]
        elif call in uids:
            in_call.append((ranks[rank], uids[call], IN_CALL))
            of_call[uids[call]] = waits
    lacking = [
        (uid, ranks[other], kind)
        for uid, waits in of_call.items()
        for other, kind in waits.items()
        if other in ranks
    ]
    return [
        EdgeTable("WAITS_FOR", "Rank", "Collective", _edges("WAITS_FOR", in_call)),
        EdgeTable("WAITS_FOR", "Collective", "Rank", _edges("WAITS_FOR", lacking)),
        EdgeTable("WAITS_FOR", "Rank", "Rank", _edges("WAITS_FOR", of_rank)),
    ]


def _standing(job: JobMatching) -> Iterator[tuple[int, tuple[str, int] | None]]:
    """Yield each rank that has an unfinished call with the collective that is its first, None for another."""
    for rank, unfinished in job.first_unfinished.items():
        if unfinished["kind"] == "p2p":
            yield rank, None
            continue
        group = group_named(job, unfinished["group"], [rank])
        if group is not None:
            yield rank, (group.key, unfinished["at"])


def _edges(kind: str, rows: Sequence[tuple[Any, ...]]) -> pl.DataFrame:
    """Return rows of (source, target, properties in the order of the schema) as an edge frame."""
    schema = {"src": pl.Int64, "dst": pl.Int64}
    schema |= {prop.name: POLARS_TYPE[prop.type] for prop in TYPE_BY_NAME[kind].properties}
    return pl.DataFrame(rows, schema=schema, orient="row")
