"""What runtime calls that block wait for (dependencies 4.11).

In:  `Work`, the rank's cuda_sync events, and the collective that each call lies in. Out: waits of calls for
device ops. Decided here: what the file records comes first; a call that waits for a whole device waits for
the last op of every stream; without records the stream of the thread's last launch is the likely one, and
only what ends inside the call can be what it waited for. EventQuery never blocks.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from graphstore.link.nesting import Bools, Ints
from graphstore.link.waits.found import CALL, KERNEL, Found
from graphstore.link.waits.streams import (
    calls_by_correlation,
    current_devices,
    current_streams,
    stream_numbers,
)
from graphstore.link.waits.work import NONE, Work

RECORDED, CERTAIN, LIKELY, TIMING = (
    f"host_wait.{word}" for word in ("recorded", "certain", "likely", "timing")
)
WHOLE_DEVICE = ("DeviceSynchronize", "CtxSynchronize")
FREE = "Free"
STREAM_CALL, EVENT_CALL = "StreamSynchronize", "EventSynchronize"
STREAM_SYNC, EVENT_SYNC = "Stream Sync", "Event Sync"


def find_host_waits(work: Work, syncs: pl.DataFrame, collective: Ints, found: Found) -> None:
    """Add what the blocking calls of a rank wait for. `collective` is per call: row of its collective."""
    recorded = _recorded(work, syncs, found)
    _whole_device(work, found)
    _streams(work, collective, recorded, found)
    _events(work, recorded, found)
    _copies(work, found)


def _recorded(work: Work, syncs: pl.DataFrame, found: Found) -> set[int]:
    """Add the waits that cuda_sync events record; return the calls they speak of."""
    told: set[int] = set()
    for kind, call_name in ((STREAM_SYNC, STREAM_CALL), (EVENT_SYNC, EVENT_CALL)):
        events = syncs.filter(pl.col("sync_kind") == kind)
        columns = {
            name: events[name].fill_null(NONE).to_numpy()
            for name in ("device", "stream", "wait_on_stream", "wait_on_record_correlation", "correlation")
        }
        call = calls_by_correlation(work, columns["correlation"])
        until, stream = call, columns["stream"]
        if kind == EVENT_SYNC:
            until, stream = (
                calls_by_correlation(work, columns["wait_on_record_correlation"]),
                columns["wait_on_stream"],
            )
        known = (call != NONE) & (until != NONE)
        known[known] = work.call_name[call[known]] == call_name
        call, until = call[known], until[known]
        told |= set(call.tolist())
        numbers = stream_numbers(work, columns["device"][known], stream[known])
        source = work.last_on_stream(numbers, work.call_start[until])
        _add(work, found, RECORDED, source, call)
    return told


def _whole_device(work: Work, found: Found) -> None:
    """Device and context synchronisation wait for every stream of the device; so does freeing memory, if it
    waits at all. Which device is that of the thread's last launch; of a thread that launched nothing, any.
    """
    calls = np.flatnonzero(np.isin(work.call_name, (*WHOLE_DEVICE, FREE)))
    current = current_devices(work, calls)
    for (device, _), number in work.stream_keys.items():
        source = work.last_on_stream(np.full(len(calls), number, np.int64), work.call_start[calls])
        known = (source != NONE) & ((current == device) | (current == NONE))
        here, awaited = calls[known], source[known]
        waited = (work.call_name[here] != FREE) | _ends_inside(work, awaited, here)
        _add(work, found, CERTAIN, awaited[waited], here[waited])


def _streams(work: Work, collective: Ints, recorded: set[int], found: Found) -> None:
    """A stream synchronisation without a record: the stream of the thread's last launch, else by time."""
    calls = _unrecorded(work, STREAM_CALL, recorded)
    current = current_streams(work, collective, calls)
    source = work.last_on_stream(current, work.call_start[calls])
    inside = source != NONE
    inside[inside] = _ends_inside(work, source[inside], calls[inside])
    found.add(LIKELY, (KERNEL, source[inside]), (CALL, calls[inside]))
    _last_ending_inside(work, calls[~inside], current[~inside], found)


def _events(work: Work, recorded: set[int], found: Found) -> None:
    """An event synchronisation without a record: the device op that ends last inside it, if any."""
    calls = _unrecorded(work, EVENT_CALL, recorded)
    _last_ending_inside(work, calls, np.full(len(calls), NONE, np.int64), found)


def _unrecorded(work: Work, name: str, recorded: set[int]) -> Ints:
    calls = np.flatnonzero(work.call_name == name)
    return calls[~np.isin(calls, sorted(recorded))]


def _last_ending_inside(work: Work, calls: Ints, not_on: Ints, found: Found) -> None:
    """Add a wait for the device op, launched before each call, that ends last inside it.

    `not_on` is per call: the stream that it did not wait for, NONE where any is possible.
    """
    by_end = np.argsort(work.end, kind="stable")
    ends = work.end[by_end]
    low = np.searchsorted(ends, work.call_start[calls], "right")
    high = np.searchsorted(ends, work.call_end[calls] + work.slack_ns, "right")
    source, target = [], []
    for call, first, behind, stream in zip(
        calls.tolist(), low.tolist(), high.tolist(), not_on.tolist(), strict=True
    ):
        inside = by_end[first:behind]
        possible = work.launched[inside] < work.call_start[call]
        inside = inside[possible & ((work.stream[inside] != stream) | (stream == NONE))]
        if len(inside):
            source.append(int(inside[-1]))
            target.append(call)
    found.add(TIMING, (KERNEL, np.array(source, np.int64)), (CALL, np.array(target, np.int64)))


def _copies(work: Work, found: Found) -> None:
    """A copy call that outlasts its own copy waited for it (pageable memory, hipMemcpyWithStream)."""
    rows = np.flatnonzero(work.launch != NONE)
    call = work.launch[rows]
    copies = np.char.startswith(work.call_name[call], "Memcpy") if len(call) else np.zeros(0, np.bool_)
    rows, call = rows[copies], call[copies]
    outlasts = work.end[rows] <= work.call_end[call]
    found.add(CERTAIN, (KERNEL, rows[outlasts]), (CALL, call[outlasts]))


def _ends_inside(work: Work, op: Ints, call: Ints) -> Bools:
    """Return which device ops end inside these calls."""
    return (work.end[op] > work.call_start[call]) & (work.end[op] <= work.call_end[call] + work.slack_ns)


def _add(work: Work, found: Found, rule: str, source: Ints, call: Ints) -> None:
    """Add waits of calls; those that end before what they wait for are left out and counted."""
    known = source != NONE
    source, call = source[known], call[known]
    found.add(rule, (KERNEL, source), (CALL, call), work.end[source] <= work.call_end[call] + work.slack_ns)
