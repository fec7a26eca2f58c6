"""Sends and recvs one by one: what their times rule out, and whether their order contradicts a pairing.

In:  classes with the ways left between them, their calls in order, and bounds of the clocks.
Out: the calls of ambiguous classes as units of their own, with the ways that their times allow; the parts
whose queues do not fit. Decided here: a recv that ended before a send began did not receive it. Where several
groups are left, order is not looked at: each group has queues of its own.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from graphstore.link.parts import strong_parts
from graphstore.link.peers.ways import Units

MOST_PAIRS = 1_000_000  # of single calls that are compared; what would be more stays ambiguous
_QUEUE = ["group", "src", "dst", "tag"]


def expanded(classes: Units, calls: pl.DataFrame, bounds: pl.DataFrame) -> Units | None:
    """Return the calls of the classes that can mean several ranks, and of those that hang together with them.

    None where there are none, or no clocks are known. `calls`: id, unit (class), part, begin and end …
    """
    chosen = _ambiguous(classes)
    if chosen.is_empty() or bounds.is_empty():
        return None
    ways = classes.ways.filter(pl.col("send").is_in(chosen.implode()))
    sends = calls.select(send="unit", send_id="id", begin="begin")
    recvs = calls.select(recv="unit", recv_id="id", end="end")
    apart = (
        ways.join(sends, on="send")
        .join(recvs, on="recv")
        .join(bounds, on=["src", "dst"], how="left")
        .filter(~_is_too_early())
        .select(
            "group",
            "src",
            "dst",
            send=pl.col("send_id").cast(pl.Int64),
            recv=pl.col("recv_id").cast(pl.Int64),
        )
    )
    own = calls.filter(pl.col("unit").is_in(chosen.implode()))
    units = own.select(
        "is_send", "part", unit=pl.col("id").cast(pl.Int64), count=pl.lit(1, dtype=pl.Int64)
    ).sort("unit")
    return Units(units, apart, classes.outside.clear())


def _is_too_early() -> pl.Expr:
    """Return whether a recv ended before its send began; false where that cannot be told."""
    return (pl.col("end") - pl.col("begin") < pl.col("ahead_ns")).fill_null(False)


def _ambiguous(classes: Units) -> pl.Series:
    """Return the classes of the regions in which some class means several ranks, and none an open one.

    A region is what hangs together over the ways that are left. The smallest come first, up to MOST_PAIRS.
    """
    units, ways = classes.units, classes.ways
    one, other = ways["send"].to_numpy(), ways["recv"].to_numpy()
    region = strong_parts(units.height, np.concatenate([one, other]), np.concatenate([other, one]))
    several = classes.meanings().group_by("unit").agg(pl.col("other").n_unique()).filter(pl.col("other") > 1)
    of_unit = units.select("unit", "count").with_columns(region=region)
    size = of_unit.select("unit", "count")
    cost = (
        ways.select("send", "recv", "group")
        .join(size, left_on="send", right_on="unit")
        .join(size, left_on="recv", right_on="unit", suffix="_recv")
        .join(of_unit.select("unit", "region"), left_on="send", right_on="unit")
        .group_by("region")
        .agg(cost=(pl.col("count") * pl.col("count_recv")).sum())
    )
    wanted = of_unit.join(several, on="unit", how="semi").select("region").unique()
    outer = of_unit.join(classes.outside, on="unit", how="semi").select("region").unique()
    within = (
        cost.join(wanted, on="region", how="semi")
        .join(outer, on="region", how="anti")
        .sort("cost", "region")
        .filter(pl.col("cost").cum_sum() <= MOST_PAIRS)
    )
    return of_unit.join(within, on="region", how="semi")["unit"]


def contradicted(of_call: pl.DataFrame, calls: pl.DataFrame, bounds: pl.DataFrame) -> set[int]:
    """Return the parts in which a queue whose calls are all known pairs calls that do not fit.

    `of_call`: what each call can mean, id, other and group; `calls` in order of id on each rank.
    """
    is_settled = (pl.col("other").n_unique().over("id") == 1) & (pl.col("group").n_unique().over("id") == 1)
    is_send = pl.col("is_send")
    queued = (
        of_call.with_columns(is_settled=is_settled)
        .join(calls.select("id", "rank", "is_send", "tag", "size_bytes", "begin", "end", "part"), on="id")
        .with_columns(
            src=pl.when(is_send).then("rank").otherwise("other"),
            dst=pl.when(is_send).then("other").otherwise("rank"),
        )
        .filter(pl.col("is_settled").all().over(_QUEUE))
        .sort("id")
        .with_columns(place=pl.int_range(pl.len()).over(*_QUEUE, "is_send"))
    )
    sends, recvs = queued.filter(is_send), queued.filter(~is_send)
    paired = sends.join(recvs, on=[*_QUEUE, "place"], suffix="_recv").join(
        bounds, on=["src", "dst"], how="left"
    )
    differs = (pl.col("size_bytes") != pl.col("size_bytes_recv")).fill_null(False)
    wrong = paired.filter(differs | _is_too_early_recv())
    return set(wrong["part"].to_list())


def _is_too_early_recv() -> pl.Expr:
    return (pl.col("end_recv") - pl.col("begin") < pl.col("ahead_ns")).fill_null(False)
