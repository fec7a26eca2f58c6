"""What a stream waited for on another stream (dependencies 4.7, 4.8, 4.10).

In:  `Work`, the rank's cuda_sync events, and the collective that each host op lies in. Out: waits between
device ops. Decided here: recorded waits stand alone where the file has them; else a wait around a collective
has a known meaning (likely); a device op that nothing explains then waits for what ended just before it on
another stream (timing), and only such a one.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from graphstore.link.nesting import Bools, Ints, at
from graphstore.link.waits.found import KERNEL, Found
from graphstore.link.waits.work import BEFORE, NONE, Work, first_after, last_before

STREAM_WAIT = "Stream Wait Event"
RECORDED, COLLECTIVE, TIMING = "stream_wait.recorded", "collective_wait.likely", "stream_wait.timing"
UNEXPLAINED_NS = 20_000  # a later start than this after all that is known wants an explanation
JUST_BEFORE_NS = 5_000


def find_stream_waits(work: Work, syncs: pl.DataFrame, collective: Ints, found: Found) -> None:
    """Add the waits of streams for one another. `collective` is per call: row of its outermost collective."""
    recorded = _recorded(work, syncs, found)
    if not recorded:
        _around_collectives(work, collective, found)
    _by_timing(work, found)


def calls_by_correlation(work: Work, wanted: Ints) -> Ints:
    """Return the row of the call of each correlation, NONE for none."""
    order = np.argsort(work.call_correlation, kind="stable")
    known = work.call_correlation[order]
    place = np.minimum(np.searchsorted(known, wanted), max(len(known) - 1, 0))
    if not len(known):
        return np.full(len(wanted), NONE, np.int64)
    return np.where((known[place] == wanted) & (wanted > 0), order[place], NONE)


def stream_numbers(work: Work, device: Ints, stream: Ints) -> Ints:
    """Return the number of each (device, stream), NONE for one without device ops."""
    keys = zip(device.tolist(), stream.tolist(), strict=True)
    return np.array([work.stream_keys.get(key, NONE) for key in keys], np.int64)


def _recorded(work: Work, syncs: pl.DataFrame, found: Found) -> bool:
    """Add the waits that cuda_sync events record; return whether the file has such events."""
    events = syncs.filter((pl.col("sync_kind") == STREAM_WAIT) & (pl.col("wait_on_record_correlation") > 0))
    if not events.height:
        return False
    columns = {
        name: events[name].fill_null(NONE).to_numpy()
        for name in ("device", "stream", "wait_on_stream", "wait_on_record_correlation", "correlation")
    }
    recorder = calls_by_correlation(work, columns["wait_on_record_correlation"])
    waiter = calls_by_correlation(work, columns["correlation"])
    known = (recorder != NONE) & (waiter != NONE)
    device = columns["device"][known]
    source = work.last_on_stream(
        stream_numbers(work, device, columns["wait_on_stream"][known]), work.call_start[recorder[known]]
    )
    target = work.first_on_stream(
        stream_numbers(work, device, columns["stream"][known]), work.call_end[waiter[known]]
    )
    _add(work, found, RECORDED, source, target)
    return True


def _around_collectives(work: Work, collective: Ints, found: Found) -> None:
    """Add what cudaStreamWaitEvent means inside a collective before its launch, and outside of one."""
    waits = np.flatnonzero(work.call_name == "StreamWaitEvent")
    inside = collective[waits] != NONE
    current = current_streams(work, collective, waits)
    _before_collectives(work, collective, waits[inside], current[inside], found)
    _after_collectives(work, waits[~inside], current[~inside], found)


def current_streams(work: Work, collective: Ints, calls: Ints) -> Ints:
    """Return the stream of the last launch outside collectives before each call on its thread, or NONE."""
    launched = np.flatnonzero(work.launch != NONE)
    launched = launched[collective[work.launch[launched]] == NONE]
    return at(work.stream, _last_launched(work, launched, calls))


def current_devices(work: Work, calls: Ints) -> Ints:
    """Return the device of the last launch before each call on its thread, or NONE."""
    return at(work.device, _last_launched(work, np.flatnonzero(work.launch != NONE), calls))


def _last_launched(work: Work, launched: Ints, calls: Ints) -> Ints:
    """Return which of the device ops `launched` was launched last before each call on its thread, or NONE."""
    by = work.launch[launched]
    last = last_before(
        work.call_thread[by],
        work.call_start[by],
        work.start[launched],
        work.call_thread[calls],
        work.call_start[calls],
    )
    return at(launched, last)


def _before_collectives(work: Work, collective: Ints, waits: Ints, current: Ints, found: Found) -> None:
    """The first device op that a collective launches waits for what its caller's stream had before it."""
    kernels = np.flatnonzero(work.launch != NONE)
    of = collective[work.launch[kernels]]
    first = first_after(
        of, work.launched[kernels], work.start[kernels], collective[waits], work.call_start[waits]
    )
    target = at(kernels, first)
    known = (target != NONE) & (current != NONE)
    source = work.last_on_stream(current[known], work.call_start[waits[known]])
    _add(work, found, COLLECTIVE, source, target[known])


def _after_collectives(work: Work, waits: Ints, current: Ints, found: Found) -> None:
    """What a stream runs after a wait outside collectives waits for the last collective's device op."""
    kernels = np.flatnonzero(work.is_collective)
    everywhere = np.zeros(len(kernels), np.int64)
    last = last_before(
        everywhere,
        work.launched[kernels],
        work.start[kernels],
        np.zeros(len(waits), np.int64),
        work.call_start[waits],
    )
    source = at(kernels, last)
    known = (source != NONE) & (current != NONE)
    target = work.first_on_stream(current[known], work.call_end[waits[known]])
    _add(work, found, COLLECTIVE, source[known], target)


def _add(work: Work, found: Found, rule: str, source: Ints, target: Ints) -> None:
    """Add waits between device ops of two streams; those against the times are left out and counted."""
    known = (source != NONE) & (target != NONE)
    source, target = source[known], target[known]
    known = work.stream[source] != work.stream[target]
    source, target = source[known], target[known]
    pairs = np.unique(np.stack([source, target], axis=1), axis=0)
    source, target = pairs[:, 0], pairs[:, 1]
    kept: Bools = work.end[source] <= work.start[target] + work.slack_ns
    found.add(rule, (KERNEL, source), (KERNEL, target), kept)


def _by_timing(work: Work, found: Found) -> None:
    """Add a wait for each device op that starts late after all that is known and just after another ends."""
    explained = np.maximum(work.released, _previous_ends(work))
    for rows in found.parts:
        rows = rows.filter(pl.col("dst_label") == KERNEL)
        np.maximum.at(explained, rows["dst"].to_numpy(), work.end[rows["src"].to_numpy()])
    late = (work.launched != BEFORE) & (explained != BEFORE)
    late &= work.start - np.where(late, explained, 0) > UNEXPLAINED_NS
    by_end = np.argsort(work.end, kind="stable")
    ends = work.end[by_end]
    source, target = [], []
    for op in np.flatnonzero(late).tolist():
        low = np.searchsorted(ends, work.start[op] - JUST_BEFORE_NS, "left")
        high = np.searchsorted(ends, work.start[op], "right")
        near = by_end[low:high]
        others = (work.stream[near] != work.stream[op]) & (work.device[near] == work.device[op])
        near = near[others & (work.launched[near] < work.launched[op])]
        if len(near):
            source.append(int(near[-1]))
            target.append(op)
    found.add(TIMING, (KERNEL, np.array(source, np.int64)), (KERNEL, np.array(target, np.int64)))


def _previous_ends(work: Work) -> Ints:
    """Return when the device op before each on its stream ended; BEFORE for the first."""
    order = np.lexsort((work.end, work.start, work.stream))
    follows = (work.stream[order[1:]] == work.stream[order[:-1]]) & (work.stream[order[1:]] != NONE)
    out = np.full(len(order), BEFORE, np.int64)
    out[order[1:][follows]] = work.end[order[:-1][follows]]
    return out
