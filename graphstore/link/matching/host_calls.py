"""The calls of execution and Kineto traces, in the form in which those of a recorder are matched.

In:  linked ranks (`RankGraph`), with their CollectiveCalls and the groups their files list.
Out: a `RankDump` per rank; its calls have no state, and nothing proves where its window begins or ends.
Decided here (matching.md §11): a call without a sequence number takes its place in its group as number,
where all members made equally many calls; else it is left out. Sends and recvs keep their order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from graphstore.link.matching.model import RankDump
from graphstore.model.collectives import P2P_KINDS
from graphstore.model.records import RankGraph, frame

_TABLE = "flight_entries"


def trace_dumps(ranks: Sequence[RankGraph], numbered: Mapping[int, pl.DataFrame]) -> list[RankDump]:
    """Return the communication calls of linked ranks, to be matched by match_dumps.

    `numbered` is what `numbered_calls` gives for the same ranks: calls whose group or kind is not known
    cannot be matched, and are not among them.
    """
    groups = _groups(ranks)
    return [
        RankDump(
            ", ".join(sorted(facts["name"] for facts in graph.files)) or f"rank {graph.rank}",
            graph.rank,
            _entries(graph.rank, numbered[graph.rank], groups),
            {},
            [group for group in groups.values() if graph.rank in group["ranks"]],
        )
        for graph in ranks
    ]


def numbered_calls(ranks: Sequence[RankGraph]) -> dict[int, pl.DataFrame]:
    """Return {rank: its calls that can be matched}, in the order in which they are, with their numbers.

    Columns are those of CollectiveCall with `n`; sends and recvs have no collective_seq_id.
    """
    groups = _groups(ranks)
    numbered = _by_order({graph.rank: _calls(graph, groups) for graph in ranks}, groups)
    is_p2p = pl.col("collective_kind").is_in(list(P2P_KINDS))
    seq = pl.when(~is_p2p).then("collective_seq_id").alias("collective_seq_id")
    return {
        rank: calls.filter(is_p2p | pl.col("collective_seq_id").is_not_null()).with_columns(seq)
        for rank, calls in numbered.items()
    }


def _groups(ranks: Sequence[RankGraph]) -> dict[str, dict[str, Any]]:
    return {group["group"]: group for graph in ranks for group in graph.groups}


def _calls(graph: RankGraph, groups: dict[str, dict[str, Any]]) -> pl.DataFrame:
    """Return the calls of a rank that name their kind and a group whose members are known."""
    known = pl.col("group").is_in(list(groups)) & pl.col("collective_kind").is_not_null()
    return graph.nodes["CollectiveCall"].filter(known).with_row_index("order")


def _by_order(calls: dict[int, pl.DataFrame], groups: dict[str, dict[str, Any]]) -> dict[int, pl.DataFrame]:
    """Number the collectives of groups without numbers by order, if all members made equally many."""
    out = dict(calls)
    for key, group in groups.items():
        unnumbered = {
            rank: found.filter((pl.col("group") == key) & ~pl.col("is_p2p").fill_null(False))
            for rank, found in calls.items()
            if rank in group["ranks"]
        }
        if any(found["collective_seq_id"].count() for found in unnumbered.values()):
            continue
        if len(unnumbered) < len(group["ranks"]) or len({found.height for found in unnumbered.values()}) != 1:
            continue
        for rank, found in unnumbered.items():
            places = found.select("order", pl.int_range(1, pl.len() + 1).alias("number"))
            out[rank] = (
                out[rank]
                .join(places, on="order", how="left", maintain_order="left")
                .with_columns(pl.coalesce("collective_seq_id", "number").alias("collective_seq_id"))
                .drop("number")
            )
    return out


def _entries(rank: int, calls: pl.DataFrame, groups: dict[str, dict[str, Any]]) -> pl.DataFrame:
    """Return the calls as entries of a recorder without states."""
    rows = [_entry(rank, row, groups[row["group"]]) for row in calls.iter_rows(named=True)]
    columns = {name: [row[name] for row in rows] for name in rows[0]} if rows else {}
    return frame(_TABLE, columns)


def _entry(rank: int, call: dict[str, Any], group: dict[str, Any]) -> dict[str, Any]:
    kind, place = call["collective_kind"], sorted(group["ranks"]).index(rank)
    src = dst = None
    name = f"{call['source']}:{kind}"
    if kind in P2P_KINDS and call["peer"] is not None:
        src, dst = (place, call["peer"]) if kind == "send" else (call["peer"], place)
        name += f" {place}{'->' if kind == 'send' else '<-'}{call['peer']}"
    elements = {side: call[f"{side}_msg_nelems"] for side in ("in", "out")}
    has_sizes = None not in elements.values()
    dtypes = [call["dtype"]] if call["dtype"] else None
    return {
        "order": call["order"],
        "name": call["name"],
        "op_name": name,
        "collective_kind": kind,
        "is_p2p": kind in P2P_KINDS,
        "pg_name": group["pg_name"],
        "pg_desc": group["pg_desc"],
        "collective_seq_id": call["collective_seq_id"],
        "source": call["source"],
        "start_ns": call["start_ns"],
        "in_sizes": f"[[{elements['in']}]]" if has_sizes else None,
        "out_sizes": f"[[{elements['out']}]]" if has_sizes else None,
        "in_nelems": [elements["in"]] if has_sizes else None,
        "out_nelems": [elements["out"]] if has_sizes else None,
        "in_dtypes": dtypes,
        "out_dtypes": dtypes,
        "is_coalesced": False,
        "src": src,
        "dst": dst,
        "tag": None if call["group_origin"] == "recorded" else call["tag"],  # NCCL does not look at it
    }
