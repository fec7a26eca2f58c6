"""Two runs compared, all ranks that both have: `diff(store, a, b)`.

In:  a store and two runs in it. Out: a `DiffResult`.
Decided here: the figure that says how much slower B is: per rank the median time of its steps, without steps
from its first start to its last end; the rank that lost the most speaks for the run, as the slowest rank sets
the pace. And when ranks start later than they did: clocks of different runs have nothing in common, so only
starts of ranks against each other are compared, and of the shift as recorded and with clock offsets taken
off, the smaller one counts, and none where they disagree.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from graphstore.errors import UsageError
from graphstore.queries.columns import RankKeys, read_keys
from graphstore.queries.diffing.changes import find_changes
from graphstore.queries.diffing.columns import read_rank
from graphstore.queries.diffing.launched import GroupOf
from graphstore.queries.diffing.rank import RankDiff, Spans, compare_rank
from graphstore.queries.diffing.records import RANK, records
from graphstore.queries.run import run_query
from graphstore.store.base import Store

STEP_SPAN, RUN_SPAN = "median step", "span of the run"
COMPARED = ("HostOp", "Kernel", "CollectiveCall")
FIGURES: dict[str, Any] = {
    "rank": pl.Int64,
    "measure": pl.String,
    "a_ns": pl.Int64,
    "b_ns": pl.Int64,
    "delta_ns": pl.Int64,
    "percent": pl.Float64,
    "steps_a": pl.Int64,
    "steps_b": pl.Int64,
    "start_shift_ns": pl.Int64,
}


@dataclass(frozen=True)
class DiffResult:
    """Two runs compared. Times are nanoseconds, `delta_ns` is that of B less that of A.

    `changes`: a row a change and rank, the largest effect first (docs/diff.md says what the columns mean);
    `figures`: a row a rank: how long it took (`measure`), and how much later it started, against the others;
    `totals`: a row a rank and kind: counts, times, differences not told (within the noise, or explained by a
    change); `ranks`: those compared; `notes`: what could not be.
    """

    a: str
    b: str
    ranks: list[int]
    changes: pl.DataFrame
    figures: pl.DataFrame
    totals: pl.DataFrame
    notes: list[str]

    @property
    def worst(self) -> dict[str, Any] | None:
        """Return the figures of the rank that lost the most, in percent; None where no rank has times."""
        known = self.figures.drop_nulls("percent").sort("percent", "rank", descending=[True, False])
        return known.row(0, named=True) if known.height else None


def diff(store: Store, a: str, b: str, rank: int | None = None) -> DiffResult:
    """Return what changed from run `a` to run `b`, on every rank they share or on `rank` alone.

    Raises UsageError when they share no rank, lack `rank`, or hold nothing that is compared.
    """
    keys = {run: {key.rank: key for key in read_keys(store, run)} for run in (a, b)}
    for run in (a, b):
        _has_something(run, keys[run].values())
    shared, notes = _shared(a, b, keys[a], keys[b], rank)
    groups = _groups(store, a, shared), _groups(store, b, shared)
    found = [
        compare_rank((read_rank(store, a, keys[a][each]), read_rank(store, b, keys[b][each])), groups)
        for each in shared
    ]
    shifts = _start_shifts(found, (_offsets(store, a), _offsets(store, b)))
    measures = pl.concat([one.measures for one in found] + [_late_ranks(found, shifts)])
    changes, untold = find_changes(measures, pl.concat([one.structure for one in found]))
    totals = pl.concat([one.totals for one in found]).join(untold, on=["rank", "what"], how="left")
    return DiffResult(
        a=a,
        b=b,
        ranks=shared,
        changes=changes,
        figures=_figures(found, shifts),
        totals=totals.with_columns(pl.col("within_noise", "within_noise_ns", "explained").fill_null(0)),
        notes=notes + [note for one in found for note in one.notes],
    )


def _has_something(run: str, keys: Any) -> None:
    """Raise UsageError for a run without anything that is compared."""
    if not any(key.counts.get(kind) for key in keys for kind in COMPARED):
        raise UsageError(
            f"run {run} holds no host op, device op or communication call: only runs read from execution "
            "traces, Kineto traces or Flight Recorder dumps are compared."
        )


def _shared(
    a: str, b: str, of_a: dict[int, RankKeys], of_b: dict[int, RankKeys], rank: int | None
) -> tuple[list[int], list[str]]:
    """Return the ranks compared, and what to say of the others."""
    shared = sorted(of_a.keys() & of_b.keys())
    notes = [
        f"only in {run}, not compared: rank {_list(sorted(own.keys() - other.keys()))}"
        for run, own, other in ((a, of_a, of_b), (b, of_b, of_a))
        if own.keys() - other.keys()
    ]
    if rank is not None:
        if rank not in shared:
            raise UsageError(f"no rank {rank} in both runs. They share rank {_list(shared) or 'none'}.")
        return [rank], []
    if not shared:
        raise UsageError(
            f"{a} has rank {_list(sorted(of_a))}, {b} rank {_list(sorted(of_b))}: none to compare."
        )
    return shared, notes


def _list(ranks: Sequence[int]) -> str:
    return ", ".join(map(str, ranks))


def _groups(store: Store, run: str, ranks: list[int]) -> GroupOf:
    """Return what a run's group keys stand for: the members among `ranks`, and which such group it is."""
    rows = run_query(store, run, "communication/show_group_members")
    seen: dict[tuple[int, ...], int] = {}
    out: dict[str, tuple[tuple[int, ...], int]] = {}
    for key, members in rows.select("group", "members").iter_rows():
        if key is None or key in out:
            continue
        common = tuple(sorted(set(members or ()) & set(ranks)))
        out[key] = common, seen.get(common, 0)
        seen[common] = seen.get(common, 0) + 1
    return out


def _offsets(store: Store, run: str) -> dict[int, int]:
    """Return the clock offsets of a run's ranks, of those whose offset is known."""
    rows = run_query(store, run, "communication/show_clock_offsets")
    return {
        rank: offset
        for rank, offset in rows.select("rank", "clock_offset_ns").iter_rows()
        if offset is not None
    }


def _start_shifts(found: list[RankDiff], offsets: tuple[dict[int, int], dict[int, int]]) -> dict[int, int]:
    """Return for each rank how much later it starts in B than in A, against the others; none of a lone rank.

    The rank that the others are measured by is the one whose shift most others have.
    """
    known = [
        (one.rank, one.spans[0].begin, one.spans[1].begin)
        for one in found
        if one.rank in offsets[0] and one.rank in offsets[1]
    ]
    timed = [
        (rank, begin_a, begin_b)
        for rank, begin_a, begin_b in known
        if begin_a is not None and begin_b is not None
    ]
    if len(timed) < 2:
        return {}
    raw = _against_base({rank: b - a for rank, a, b in timed})
    level = _against_base({rank: (b - offsets[1][rank]) - (a - offsets[0][rank]) for rank, a, b in timed})
    agreed = {rank: raw[rank] if abs(raw[rank]) < abs(level[rank]) else level[rank] for rank in raw}
    return {rank: shift if raw[rank] * level[rank] > 0 else 0 for rank, shift in agreed.items()}


def _against_base(shifts: dict[int, int]) -> dict[int, int]:
    """Return shifts less that of the rank nearest to their median (of two: to 0)."""
    middle = float(np.median(list(shifts.values())))
    base = min(shifts.values(), key=lambda shift: (abs(shift - middle), abs(shift), shift))
    return {rank: shift - base for rank, shift in shifts.items()}


def _late_ranks(found: list[RankDiff], shifts: dict[int, int]) -> pl.DataFrame:
    """Return a record for each rank that starts at another time than the others do."""
    rows = [(rank, shift) for rank, shift in sorted(shifts.items()) if shift]
    parts = [
        records(
            RANK,
            rank,
            path=[""],
            name=["start of the rank"],
            place_a=[0],
            place_b=[0],
            step_a=[-1],
            step_b=[-1],
            total_a_ns=[max(-shift, 0)],
            total_b_ns=[max(shift, 0)],
            own_a_ns=[max(-shift, 0)],
            own_b_ns=[max(shift, 0)],
            unexplained_ns=[shift],
            uid_a=[None],
            uid_b=[None],
        )
        for rank, shift in rows
    ]
    return pl.concat([found[0].measures.clear(), *parts])


def _figures(found: list[RankDiff], shifts: dict[int, int]) -> pl.DataFrame:
    """Return the figure of each rank."""
    rows = []
    for one in found:
        measure, a, b = _figure(*one.spans)
        delta = None if a is None or b is None else b - a
        percent = 100.0 * delta / a if delta is not None and a else None
        steps = [len(span.steps) for span in one.spans]
        rows.append((one.rank, measure, a, b, delta, percent, *steps, shifts.get(one.rank)))
    return pl.DataFrame(rows, schema=FIGURES, orient="row")


def _figure(a: Spans, b: Spans) -> tuple[str, int | None, int | None]:
    """Return what is measured of a rank, in both runs."""
    if a.steps and b.steps:
        return STEP_SPAN, round(statistics.median(a.steps)), round(statistics.median(b.steps))
    return RUN_SPAN, a.whole, b.whole
