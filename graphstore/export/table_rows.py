"""The rows of the flat tables: groups, collectives, the ranks' calls of them, and sends and recvs.

In:  the columns of a run. Out: a frame a table, fully ordered, the same for the same run on every engine.
Decided here: what stands in a row. A call is named by its number within the run (`call`: the lower half of
its uid), because the upper half differs from archive to archive. A send or recv whose channel is not known
has the end that the files prove, and the other one where its peer is proven or all members of its group are
known.
"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from graphstore.export.table_columns import TableColumns
from graphstore.model.ids import UID_SHIFT

SIZES = ("dtype", "in_msg_nelems", "out_msg_nelems", "size_bytes", "in_sizes", "out_sizes")
TENSORS = (*SIZES, "in_dtypes", "out_dtypes")
PROGRESS = ("state", "retired", "start_ns", "duration_ns", "started_ns", "completed_ns")

GROUPS = ("group", "pg_name", "pg_desc", "members", "origin", "complete", "backend", "calls")
COLLECTIVES = (
    *("group", "pg_name", "pg_desc", "members", "collective_seq_id", "collective_kind", "op_name", "verdict"),
    *("in_flight", "site_differs", "shape_differs", "classes", "unfinished", "calls", "call_rank"),
    *(*TENSORS, "site", "skew_ns", "transfer_ns", "last_rank"),
)
CALLS = (
    *("rank", "group", "pg_name", "collective_seq_id", "collective_kind", "op_name", *TENSORS, "root_rank"),
    *(*PROGRESS, "wait_ns", "verdict", "site", "record_id", "op_id", "source", "call"),
)
TRANSFERS = (
    *("rank", "group", "pg_name", "collective_kind", "op_name", "src", "dst", "peer", "tag", "record_id"),
    *("p2p_seq_id", "op_id", *TENSORS, *PROGRESS, "site", "peer_record_id", "peer_call", "peer_rule"),
    *("verdict", "how", "source", "call"),
)
# The columns that neither the schema nor a statement explains.
MADE = {
    "call": "number of the call within the run: the lower 32 bits of its uid",
    "call_rank": "rank whose call the sizes, types and site are of: the lowest that called what most did",
    "peer_call": "number within the run of the recv of a send, of the send of a recv",
}


def groups(columns: TableColumns) -> pl.DataFrame:
    """Return a row for each process group, by group key."""
    return columns.groups.select(GROUPS).sort("group", nulls_last=True)


def collectives(columns: TableColumns) -> pl.DataFrame:
    """Return a row for each collective, by group and number.

    Sizes, types and site are those of the call of `call_rank`: the lowest rank that called what most members
    did; null where no call of the collective is in the graph.
    """
    described = columns.groups.select("group", "pg_desc", "members")
    return (
        columns.collectives.join(described, on="group", how="left", maintain_order="left")
        .join(_typical_calls(columns), left_on="uid", right_on="collective", how="left")
        .sort("group", "collective_seq_id", "uid", nulls_last=True)
        .select(COLLECTIVES)
    )


def _typical_calls(columns: TableColumns) -> pl.DataFrame:
    """Return for each collective one call: of the kind most members called if any is, by rank, by key."""
    kinds = columns.collectives.select(collective="uid", kind_of_most="collective_kind")
    differs = (pl.col("collective_kind") != pl.col("kind_of_most")).fill_null(True)
    return (
        columns.calls.join(kinds, on="collective", how="inner")
        .sort("collective", differs, "rank", "uid")
        .unique("collective", keep="first")
        .select("collective", "site", *TENSORS, call_rank="rank")
    )


def calls(columns: TableColumns) -> pl.DataFrame:
    """Return a row for each rank's call of a collective, by group, number and rank."""
    rows = columns.calls.with_columns(call=_number("uid"))
    return rows.sort("group", "collective_seq_id", "rank", "call", nulls_last=True).select(CALLS)


def transfers(columns: TableColumns) -> pl.DataFrame:
    """Return a row for each send and recv, by group, both ends, kind and place in the file.

    An entry that closes a block of them has neither kind nor ends.
    """
    ends = {"send": ("src", "dst"), "recv": ("dst", "src")}
    rows = columns.transfers.join(
        _peers(columns), on=["group", "peer"], how="left", nulls_equal=True
    ).with_columns(pl.coalesce("peer_rank", "rank_there").alias("peer_rank"))
    for kind, (own, other) in ends.items():
        rows = rows.with_columns(
            pl.when(pl.col(end).is_null() & (pl.col("collective_kind") == kind))
            .then(told)
            .otherwise(end)
            .alias(end)
            for end, told in ((own, "rank"), (other, "peer_rank"))
        )
    return (
        rows.with_columns(call=_number("uid"), peer_call=_number("peer_uid"))
        .sort("group", "src", "dst", "collective_kind", "rank", "record_id", "call", nulls_last=True)
        .select(TRANSFERS)
    )


def _peers(columns: TableColumns) -> pl.DataFrame:
    """Return the global rank of each (group, peer) that occurs; null where not all members are known."""
    known = columns.groups.filter("complete").select("group", "members").iter_rows()
    members_by_group = {group: sorted(members or ()) for group, members in known}
    pairs = columns.transfers.select("group", "peer").unique()
    ranks = [_at(members_by_group.get(group, []), peer) for group, peer in pairs.iter_rows()]
    return pairs.with_columns(pl.Series("rank_there", ranks, dtype=pl.Int64))


def _at(members: list[int], place: int | None) -> int | None:
    return members[place] if place is not None and 0 <= place < len(members) else None


def _number(uid: str) -> pl.Expr:
    """Return a node's number within its run."""
    return pl.col(uid) & ((1 << UID_SHIFT) - 1)


def notes(columns: TableColumns) -> dict[str, int]:
    """Return by reason how many rows are less than whole: no group, no verdict, no calls of a collective."""
    unmatched = "of which no matching of the ranks says anything"
    transfers = columns.transfers.drop_nulls("collective_kind")  # what closes a block goes nowhere
    ungrouped = columns.calls["group"].null_count() + columns.transfers["group"].null_count()
    alone = columns.collectives.join(columns.calls, left_on="uid", right_on="collective", how="anti")
    found = {
        "collective none of whose calls is in the graph": alone.height,
        "communication call of no known group": ungrouped,
        f"call of a collective {unmatched}": columns.calls["collective"].null_count(),
        f"send or recv {unmatched}": transfers["verdict"].null_count(),
    }
    return {reason: count for reason, count in found.items() if count}


TABLES: dict[str, Callable[[TableColumns], pl.DataFrame]] = {
    "groups": groups,
    "collectives": collectives,
    "calls": calls,
    "transfers": transfers,
}
