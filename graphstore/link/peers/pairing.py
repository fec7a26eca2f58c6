"""Whose sends are whose recvs: what every way of pairing all of them has in common.

In:  the sends and recvs that name no group, what their peers can mean, and what is known of the clocks.
Out: for each call the global rank of its other side, and its group, where only one is left.
Decided here: ranks that can have sent to each other are one *part*. If the sends of a part can be paired with
its recvs without rest (equal group, ends, tag and bytes, first in first out, none received before it was
sent) and all its traces show the same steps, they show the same stretch of the program, and what holds in all
such pairings is proven. If not, windows are cut or a call is lost: then only that counts which is so in every
group of the caller. No file says that nothing was cut: the balance of a whole part has to speak for it.
How all pairings are looked at: ways.py, flow.py; single calls, times and order: order.py.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from graphstore.link.parts import strong_parts
from graphstore.link.peers.order import contradicted, expanded
from graphstore.link.peers.unnamed import CALLS, Unnamed
from graphstore.link.peers.ways import Units, solve

EVERY_GROUP, PAIRING = "every_group", "pairing"  # what proves a peer
ONLY_GROUP = "only_group"
PROVEN = {"rank": pl.Int64, "n": pl.Int64, "other": pl.Int64, "group": pl.String}
PROVEN |= {"peer_origin": pl.String, "group_origin": pl.String}

DOUBTFUL = {"group": pl.String, "src": pl.Int64, "dst": pl.Int64}

_CLASS = ["rank", "is_send", "peer", "tag", "size_bytes"]
_MEANT = ["rank", "peer", "other", "group"]


def prove_peers(unnamed: Unnamed, bounds: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return PROVEN, a row per call whose other side is proven, and DOUBTFUL, queues that others may be in.

    `group` is null where several are left. `bounds`: the clock of dst is ahead of that of src by at least
    ahead_ns.
    """
    calls = _in_parts(unnamed).with_row_index("id")
    left = pl.DataFrame(schema={"id": pl.UInt32, "other": pl.Int64, "group": pl.String})
    if calls.height:
        left = _left(unnamed, calls, bounds)
    every = pl.concat([calls.drop("part"), _numbered(unnamed.open_calls, calls.height)])
    said = every.select("id", "rank", "peer").join(unnamed.candidates, on=["rank", "peer"])
    said = said.select("id", "other", "group")
    meant = pl.concat([left, said.join(left, on="id", how="anti")])
    return _proven(every, meant, said), _doubtful(every, meant)


def _left(unnamed: Unnamed, calls: pl.DataFrame, bounds: pl.DataFrame) -> pl.DataFrame:
    """Return what each call can mean in the pairings of its part: id, other, group; none of refuted parts."""
    classes = calls.group_by(*_CLASS, "part", maintain_order=True).agg(count=pl.len().cast(pl.Int64))
    classes = classes.with_columns(unit=pl.int_range(pl.len(), dtype=pl.Int64))
    calls = calls.join(
        classes.select("unit", *_CLASS), on=_CLASS, nulls_equal=True, how="left", maintain_order="left"
    )
    units, refuted = solve(Units(classes, *_class_ways(unnamed, classes)))
    single = expanded(units, calls, bounds)
    of_call = calls.select("id", "unit").join(units.meanings(), on="unit").select("id", "other", "group")
    if single is not None:
        apart, more = solve(single)
        refuted |= more
        its = apart.meanings().select(pl.col("unit").cast(pl.UInt32).alias("id"), "other", "group")
        seen = single.units.select(pl.col("unit").cast(pl.UInt32).alias("id"))
        of_call = pl.concat([of_call.join(seen, on="id", how="anti"), its])
    refuted |= contradicted(of_call, calls, bounds) | _of_different_steps(unnamed, calls)
    sound = calls.filter(~pl.col("part").is_in(list(refuted))).select("id")
    return of_call.join(sound, on="id", how="semi")


def _of_different_steps(unnamed: Unnamed, calls: pl.DataFrame) -> set[int]:
    """Return the parts whose traces do not all show the same steps of the profiler."""
    steps_of: dict[int, set[tuple[int, ...]]] = {}
    for rank, part in calls.select("rank", "part").unique().iter_rows():
        steps_of.setdefault(part, set()).add(tuple(unnamed.steps.get(rank, ())))
    return {part for part, steps in steps_of.items() if len(steps) > 1}


def _in_parts(unnamed: Unnamed) -> pl.DataFrame:
    """Return the calls with the number of their part."""
    calls = unnamed.calls
    ranks = calls["rank"].unique().sort()
    at = pl.DataFrame({"rank": ranks}).with_columns(at=pl.int_range(pl.len(), dtype=pl.Int64))
    near = (
        calls.select("rank", "peer")
        .unique()
        .join(unnamed.candidates, on=["rank", "peer"])
        .join(at, on="rank")
        .join(at, left_on="other", right_on="rank", suffix="_other")
    )
    one, other = near["at"].to_numpy(), near["at_other"].to_numpy()
    part = strong_parts(ranks.len(), np.concatenate([one, other]), np.concatenate([other, one]))
    return calls.join(at.with_columns(part=part), on="rank", how="left", maintain_order="left").drop("at")


def _class_ways(unnamed: Unnamed, classes: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the ways between classes, and those out to ranks whose calls are not all known."""
    meant = classes.join(unnamed.candidates.select(_MEANT), on=["rank", "peer"])
    closed = classes.select(pl.col("rank").unique())
    outside = meant.join(closed, left_on="other", right_on="rank", how="anti").select(
        "unit", "group", "other"
    )
    sends = meant.filter("is_send").select("group", "tag", "size_bytes", send="unit", src="rank", dst="other")
    recvs = meant.filter(~pl.col("is_send")).select(
        "group", "tag", "size_bytes", recv="unit", src="other", dst="rank"
    )
    ends = ["group", "src", "dst", "tag"]
    no_size = pl.col("size_bytes").is_null()
    ways = [
        sends.join(recvs, on=[*ends, "size_bytes"]),
        sends.filter(no_size).join(recvs, on=ends),
        sends.filter(~no_size).join(recvs.filter(no_size), on=ends),
    ]
    return pl.concat([found.select("send", "recv", "group", "src", "dst") for found in ways]), outside


def _numbered(calls: pl.DataFrame, first: int) -> pl.DataFrame:
    return calls.with_columns(id=pl.int_range(first, first + pl.len(), dtype=pl.UInt32)).select("id", *CALLS)


def _proven(calls: pl.DataFrame, meant: pl.DataFrame, said: pl.DataFrame) -> pl.DataFrame:
    """Return PROVEN. `meant`: what pairing left of a call's meanings; `said`: all that its peer can mean."""
    several = pl.col("other", "group").n_unique()
    left = meant.group_by("id").agg(pl.col("other", "group").first(), several.name.suffix("s"))
    at_first = said.group_by("id").agg(several.name.suffix("s_said"))
    is_one = pl.col("groups") == 1
    return (
        calls.join(left.filter(pl.col("others") == 1), on="id", maintain_order="left")
        .join(at_first, on="id", maintain_order="left")
        .with_columns(
            _by(pl.col("others_said") == 1, EVERY_GROUP).alias("peer_origin"),
            pl.when(is_one).then(_by(pl.col("groups_said") == 1, ONLY_GROUP)).alias("group_origin"),
            pl.when(is_one).then("group").alias("group"),
        )
        .select(pl.col(name).cast(kind) for name, kind in PROVEN.items())
    )


def _by(is_plain: pl.Expr, plain: str) -> pl.Expr:
    return pl.when(is_plain).then(pl.lit(plain)).otherwise(pl.lit(PAIRING))


def _doubtful(calls: pl.DataFrame, meant: pl.DataFrame) -> pl.DataFrame:
    """Return DOUBTFUL: the queues that calls whose group is not proven may be in."""
    is_send = pl.col("is_send")
    return (
        meant.filter(pl.col("group").n_unique().over("id") > 1)
        .join(calls.select("id", "rank", "is_send"), on="id")
        .select(
            "group",
            pl.when(is_send).then("rank").otherwise("other").alias("src"),
            pl.when(is_send).then("other").otherwise("rank").alias("dst"),
        )
        .unique()
    )
