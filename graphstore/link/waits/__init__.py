"""Who waited for whom within a rank: SYNC edges found from threads, streams, calls and times.

In:  the linked tables of a rank. Out: edges between numbered nodes, and what contradicted the times.
Decided here: the order of the rules (dependencies 4.7 to 4.13), strongest first. The word behind the point of
a rule says what it rests on: recorded (the file names both ends), certain (no other reading exists), likely,
or timing (chosen by times alone). Order of threads and streams follows from times and is not stored.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from graphstore.link.collectives import communication_kernels
from graphstore.link.nesting import Bools, Ints, at
from graphstore.link.segments import Segments
from graphstore.link.waits.found import CALL, HOST_OP, KERNEL, SCHEMA, Found
from graphstore.link.waits.host import find_host_waits
from graphstore.link.waits.streams import find_stream_waits
from graphstore.link.waits.threads import find_thread_waits, threads_of
from graphstore.link.waits.work import NONE, work_of

__all__ = ["CALL", "HOST_OP", "KERNEL", "SCHEMA", "Lanes", "Waits", "find_waits"]
COLLECTIVE_OP = "nccl:"  # of the backend; which op around it is the call, the communication calls say


@dataclass(frozen=True)
class Lanes:
    """On which thread each op lies: `row` the timed host ops by thread and entry, `lane` the thread of each.

    `call`: the thread of each runtime call, by the same numbers. `cut`: the threads' time by innermost op.
    """

    row: Ints
    lane: Ints
    call: Ints
    cut: Segments


@dataclass(frozen=True)
class Waits:
    """`edges`: src_label, src, dst_label, dst (rows of the tables) and rule; `left_out`: {rule: how many}."""

    edges: pl.DataFrame
    left_out: dict[str, int]


def find_waits(
    host: pl.DataFrame,
    encloser: Ints,
    device: tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame],
    lanes: Lanes,
    caller: Ints,
    launch: Ints,
    comm: pl.DataFrame,
) -> Waits:
    """Return who waited for whom. `device`: runtime calls, device ops and sync events.

    `encloser` is per host op, `caller` per runtime call (both rows of host ops), `launch` per device op (row
    of its call); `comm` the communication calls with host_n and worker_n.
    """
    calls, kernels, syncs = device
    found = Found()
    if len(lanes.row):
        threads = threads_of(host, lanes.row, lanes.lane, lanes.cut)
        find_thread_waits(threads, comm, found)
    if kernels.height and not kernels["start_ns"].null_count():
        work = work_of(calls, kernels, lanes.call, caller, launch, communication_kernels(kernels))
        collective = at(_outermost(_collective_ops(host, comm), encloser), caller)
        find_stream_waits(work, syncs, collective, found)
        find_host_waits(work, syncs, collective, found)
    return Waits(found.frame(), {rule: number for rule, number in sorted(found.left_out.items()) if number})


def _collective_ops(host: pl.DataFrame, comm: pl.DataFrame) -> Bools:
    """Return which host ops are a collective call or its backend's op; `wait` is neither."""
    marked: Bools = host["name"].str.starts_with(COLLECTIVE_OP).to_numpy().copy()
    marked[comm["host_n"].drop_nulls().to_numpy()] = True
    return marked


def _outermost(marked: Bools, above: Ints) -> Ints:
    """Return for each op the outermost marked one of itself and those above it, NONE where none is marked.

    Each round looks twice as far up as the one before.
    """
    found = np.where(marked, np.arange(len(above)), NONE)
    upward = above.copy()
    while (upward != NONE).any():
        up = np.maximum(upward, 0)
        found = np.where((upward != NONE) & (found[up] != NONE), found[up], found)
        upward = np.where(upward != NONE, upward[up], NONE)
    return found
