"""Match ops by the order of their names, thread by thread, where no usable ids join the two files.

In:  tables of host ops of an execution trace and of a Kineto trace of one rank.
Out: for each execution trace op the row of its Kineto op, -1 for none.
Decided here: which threads belong together, in which order ops stand, and what proves the place of an
execution trace that covers a part of the Kineto window. The alignment itself: align.py.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from graphstore.link.align import Pairs, align
from graphstore.link.nesting import Bools, Ints

# Two threads are one only if at least this share of the shorter one aligns: less is chance.
LEAST_SHARE = 0.5


def match_by_name_order(et: pl.DataFrame, kineto: pl.DataFrame, candidates: Bools) -> tuple[Ints, int]:
    """Return the Kineto row of each execution trace op, -1 where none, and how many pairs are anchors.

    Without an anchor nothing but the order says which of several alike iterations an op belongs to.

    Execution trace ops stand in the order of their ids, which is that of entry. Kineto ops stand in the
    order of External id (entry, too) or of time, whichever aligns more: in whole-µs files times tie
    (dlrm_8r: 1,672 of 1,672 by External id, 1,668 to 1,672 by time).
    """
    left, right, anchors = _coded(et, kineto, candidates)
    best = np.full(et.height, -1, dtype=np.int64)
    orders = [["start_ns", "order"]]
    if kineto["external_id"].null_count() == 0:
        orders.insert(0, ["external_id", "order"])
    for keys in orders:
        partner = np.full(et.height, -1, dtype=np.int64)
        by_entry = right.sort("thread_key", *keys)
        for rows, kineto_rows in _align_threads(left, by_entry, anchors):
            partner[rows] = kineto_rows
        if np.count_nonzero(partner >= 0) > np.count_nonzero(best >= 0):
            best = partner
        if np.count_nonzero(best >= 0) == left.height:
            break
    return best, int(np.count_nonzero((best >= 0) & (best == anchors)))


def _coded(
    et: pl.DataFrame, kineto: pl.DataFrame, candidates: Bools
) -> tuple[pl.DataFrame, pl.DataFrame, Ints]:
    """Return both tables as (row, thread_key, code of the name, what sorts them), and the anchors by row.

    anchors[row of an execution trace op] = row of the Kineto op with the same name and autograd sequence
    number, where both are used once; that number is the process's, so it tells iterations apart (linear:
    one of 40 alike iterations, found by 201 of 201 numbers; b1: 175 of 175 pairs right, 18 without).
    """
    names = pl.concat([et["name"], kineto["name"]]).rank("dense").cast(pl.Int64)
    left = et.select(
        pl.int_range(pl.len()).alias("row"),
        pl.col("tid").fill_null(-1).alias("thread_key"),
        "node_id",
        "autograd_seq_id",
        names.head(et.height).alias("code"),
    ).filter(pl.Series(candidates))
    right = kineto.select(
        pl.int_range(pl.len()).alias("row"),
        pl.struct("process", "thread").rank("dense").cast(pl.Int64).alias("thread_key"),
        "external_id",
        "start_ns",
        "order",
        "autograd_seq_id",
        names.tail(kineto.height).alias("code"),
    )
    once = [
        side.filter(pl.col("autograd_seq_id").is_not_null()).filter(
            pl.struct("code", "autograd_seq_id").is_unique()
        )
        for side in (left, right)
    ]
    joined = once[0].join(once[1], on=["code", "autograd_seq_id"], suffix="_kineto")
    anchors = np.full(et.height, -1, dtype=np.int64)
    anchors[joined["row"].to_numpy()] = joined["row_kineto"].to_numpy()
    return left.sort("thread_key", "node_id"), right, anchors


def _align_threads(left: pl.DataFrame, right: pl.DataFrame, anchors: Ints) -> list[Pairs]:
    """Return matched rows, thread pair by thread pair.

    One tid of an execution trace can stand for several threads (`dependencies.md` §2): what a first pairing
    leaves over is tried on the threads still free, until nothing more fits.
    """
    rest = {int(part["thread_key"][0]): part for part in left.partition_by("thread_key")}
    free = {int(part["thread_key"][0]): part for part in right.partition_by("thread_key")}
    out: list[Pairs] = []
    while rest and free:
        accepted = False
        for tid, thread in _pair_threads(rest, free):
            ours, theirs = rest[tid], free[thread]
            at_left, at_right = _align_pair(ours, theirs, anchors)
            if not at_left.size or at_left.size < LEAST_SHARE * min(ours.height, theirs.height):
                continue
            accepted = True
            out.append((ours["row"].to_numpy()[at_left], theirs["row"].to_numpy()[at_right]))
            del free[thread]
            left_over = np.ones(ours.height, dtype=np.bool_)
            left_over[at_left] = False
            rest[tid] = ours.filter(pl.Series(left_over))
        rest = {tid: part for tid, part in rest.items() if part.height}
        if not accepted:
            break
    return out


def _pair_threads(rest: dict[int, pl.DataFrame], free: dict[int, pl.DataFrame]) -> list[tuple[int, int]]:
    """Return the pairing (tid, thread) under which most names, counted with repetition, can be aligned."""
    tids, threads = list(rest), list(free)
    size = 1 + max(int(part["code"].max()) for part in (*rest.values(), *free.values()))  # type: ignore[arg-type]
    counts = [
        [np.bincount(part["code"].to_numpy(), minlength=size) for part in side.values()]
        for side in (rest, free)
    ]
    from scipy.optimize import linear_sum_assignment  # 0.3 s to import, and ids join most files

    common = np.array([[np.minimum(a, b).sum() for b in counts[1]] for a in counts[0]])
    chosen = zip(*linear_sum_assignment(common, maximize=True), strict=True)
    return [(tids[i], threads[j]) for i, j in chosen if common[i, j]]


def _align_pair(ours: pl.DataFrame, theirs: pl.DataFrame, anchors: Ints) -> Pairs:
    """Return the aligned places of one thread of each file, held in place by the anchors on this thread."""
    kineto_rows = theirs["row"].to_numpy()
    place = np.full(int(kineto_rows.max()) + 1, -1, dtype=np.int64)
    place[kineto_rows] = np.arange(kineto_rows.size)
    wanted = anchors[ours["row"].to_numpy()]
    inside = (wanted >= 0) & (wanted < place.size)
    at = np.full(wanted.size, -1, dtype=np.int64)
    at[inside] = place[wanted[inside]]
    here = np.flatnonzero(at >= 0)
    return align(ours["code"].to_numpy(), theirs["code"].to_numpy(), (here, at[here]))
