"""What of a rank is compared, as columns: host ops with callers, device ops with launchers, calls.

In:  a store, a run, the keys of a rank. Out: `RankColumns`, frames in which -1 and '' stand for null.
Decided here: the order in which ops stand. It is that of start; ops that start together, or have no time,
stand in the order of entry (the ids of the execution trace, else Kineto's External ids).
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from graphstore.queries.columns import RankKeys, read_lists, read_pages
from graphstore.store.base import Store

NONE = -1  # stands for null in the lists of the statements
ENTRY = ("start_ns", "node_id", "external_id", "uid")


@dataclass(frozen=True)
class RankColumns:
    """One rank of one run. Frames stand in the order of start; rows name each other by uid."""

    rank: int
    host: pl.DataFrame  # time/show_host_op_spans and show_host_op_nesting, and `caller`
    kernels: pl.DataFrame  # linking/show_kernel_columns, and `launcher`
    calls: pl.DataFrame  # communication/show_call_spans, and what show_call_columns says beside
    seen: pl.DataFrame  # communication/show_call_ops: role, call_uid, op_uid


def read_rank(store: Store, run: str, keys: RankKeys) -> RankColumns:
    """Return the columns of one rank of a run."""

    def pages(name: str, kind: str) -> pl.DataFrame:
        return read_pages(store, run, name, keys, kind)

    host = pages("time/show_host_op_spans", "HostOp")
    host = host.join(pages("time/show_host_op_nesting", "HostOp"), on="uid", how="left")
    callers = pages("structure/show_caller_columns", "HostOp").unique(
        "uid", keep="first", maintain_order=True
    )
    kernels = pages("linking/show_kernel_columns", "Kernel")
    launchers = pages("linking/show_launcher_columns", "Kernel").unique("uid", keep="first")
    spans = read_lists(store, run, "communication/show_call_spans", rank=keys.rank)
    told = read_lists(store, run, "communication/show_call_columns", rank=keys.rank)
    beside = [name for name in told.columns if name == "uid" or name not in spans.columns]
    return RankColumns(
        rank=keys.rank,
        host=_with(host, callers, "caller").sort(ENTRY),
        kernels=_with(kernels, launchers, "launcher").sort("start_ns", "stream", "uid"),
        calls=spans.join(told.select(beside), on="uid", how="left").sort(
            "collective_seq_id", "start_ns", "uid"
        ),
        seen=read_lists(store, run, "communication/show_call_ops", rank=keys.rank),
    )


def _with(frame: pl.DataFrame, owners: pl.DataFrame, name: str) -> pl.DataFrame:
    """Return `frame` with the key of each row's owner, -1 where it has none."""
    return frame.join(owners, on="uid", how="left").with_columns(pl.col(name).fill_null(NONE))
