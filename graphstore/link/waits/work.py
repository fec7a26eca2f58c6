"""The runtime calls and device ops of a rank as numpy columns, and the questions waits ask of them.

In:  the rank's nodes and who launched what. Out: `Work`. Decided here: when a device op was launched and
released (dependencies 4.5), how exact the times of a file are, and that a call's name is taken without the
word of its maker (cuda, hip, cu).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from graphstore.link.nesting import Bools, Ints

NONE = -1
BEFORE = np.iinfo(np.int64).min  # launched before all that the file shows
WHOLE_US_SLACK_NS, SLACK_NS = 1_010, 50  # how far an end may lie behind a start that waited for it
Texts = npt.NDArray[np.str_]


@dataclass(frozen=True)
class Work:
    """Runtime calls (`call_*`, a row each) and device ops (the others, a row each). Times in ns.

    `call_name`: without cuda, hip or cu. `call_owner`: row of the innermost host op around it, NONE for none.
    `stream`: a number for (device, stream), NONE where the file names none. `launch`: row of the call that
    launched it; `launched`: when that began, BEFORE for work from before the window; `released`: when it
    could start at the earliest. `slack_ns`: how exact the times are.
    """

    call_name: Texts
    call_start: Ints
    call_end: Ints
    call_thread: Ints
    call_correlation: Ints
    call_owner: Ints
    start: Ints
    end: Ints
    device: Ints
    stream: Ints
    stream_keys: dict[tuple[int, int], int]
    launch: Ints
    launched: Ints
    released: Ints
    is_collective: Bools
    slack_ns: int

    def last_on_stream(self, stream: Ints, before: Ints) -> Ints:
        """Return for each (stream, time) the last device op launched on it before, NONE where there is none
        and for a stream nobody knows.
        """
        found = last_before(self.stream, self.launched, self.start, stream, before)
        return np.where(stream == NONE, NONE, found)

    def first_on_stream(self, stream: Ints, after: Ints) -> Ints:
        """Return for each (stream, time) the first device op launched on it afterwards, NONE for none and for
        a stream nobody knows.
        """
        found = first_after(self.stream, self.launched, self.start, stream, after)
        return np.where(stream == NONE, NONE, found)


def work_of(
    calls: pl.DataFrame,
    kernels: pl.DataFrame,
    threads: Ints,
    owner: Ints,
    launch: Ints,
    is_collective: Bools,
) -> Work:
    """Return the columns of a rank's runtime calls and device ops.

    `threads` and `owner` are per call (a number for its thread, the row of the host op around it), `launch`
    per device op (row of its call).
    """
    call_start = _ints(calls, "start_ns")
    call_end = call_start + np.maximum(_ints(calls, "duration_ns"), 0)
    start = _ints(kernels, "start_ns")
    device, stream = _ints(kernels, "device"), _ints(kernels, "stream")
    keys = sorted({key for key in zip(device.tolist(), stream.tolist(), strict=True) if key[1] != NONE})
    number = {key: place for place, key in enumerate(keys)}
    of_stream = [number.get(key, NONE) for key in zip(device.tolist(), stream.tolist(), strict=True)]
    known = launch >= 0
    launched = np.full(len(start), BEFORE, np.int64)
    launched[known] = call_start[launch[known]]
    return Work(
        call_name=calls["name"].str.replace("^(cuda|hip|cu)", "").to_numpy().astype(str),
        call_start=call_start,
        call_end=call_end,
        call_thread=threads,
        call_correlation=_ints(calls, "correlation"),
        call_owner=owner,
        start=start,
        end=start + np.maximum(_ints(kernels, "duration_ns"), 0),
        device=device,
        stream=np.array(of_stream, np.int64),
        stream_keys=number,
        launch=launch,
        launched=launched,
        released=released(call_start, call_end, launch, start),
        is_collective=is_collective,
        slack_ns=WHOLE_US_SLACK_NS if _whole_us(start, call_start) else SLACK_NS,
    )


def released(call_start: Ints, call_end: Ints, launch: Ints, start: Ints) -> Ints:
    """Return when each device op was let go: at the end of its call, or when the first op of it started.

    Never before the call began; BEFORE where no call is known.
    """
    first = np.full(len(call_start), np.iinfo(np.int64).max, np.int64)
    known = launch >= 0
    np.minimum.at(first, launch[known], start[known])
    let_go = np.maximum(np.minimum(call_end, first), call_start)
    out = np.full(len(start), BEFORE, np.int64)
    out[known] = let_go[launch[known]]
    return out


def last_before(group: Ints, time: Ints, tie: Ints, wanted: Ints, before: Ints) -> Ints:
    """Return for each query the row of its group with the greatest (time, tie) < before, NONE for none."""
    order, first, _, place = _searched(group, time, tie, wanted, before)
    return np.where(place > first, _at(order, place - 1), NONE)


def first_after(group: Ints, time: Ints, tie: Ints, wanted: Ints, after: Ints) -> Ints:
    """Return for each query the row of its group with the least (time, tie) that is no earlier than after."""
    order, _, behind, place = _searched(group, time, tie, wanted, after)
    return np.where(place < behind, _at(order, place), NONE)


def _searched(group: Ints, time: Ints, tie: Ints, wanted: Ints, at: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Return rows by group and time, where each query's group begins and ends there, and where it falls."""
    order = np.lexsort((tie, time, group))
    ordered, times = group[order], time[order]
    first, behind = np.searchsorted(ordered, wanted, "left"), np.searchsorted(ordered, wanted, "right")
    place = first.copy()
    for value in np.unique(wanted):
        mine = wanted == value
        low, high = np.searchsorted(ordered, [value, value + 1])
        place[mine] = low + np.searchsorted(times[low:high], at[mine], "left")
    return order, first, behind, place


def _at(values: Ints, places: Ints) -> Ints:
    """Return values at places, whatever where a place is outside."""
    if not len(values):
        return np.full(len(places), NONE, np.int64)
    return values[np.clip(places, 0, len(values) - 1)]


def _ints(table: pl.DataFrame, name: str) -> Ints:
    """Return a column as numpy integers, NONE for null."""
    return table[name].fill_null(NONE).to_numpy().astype(np.int64, copy=False)


def _whole_us(*times: Ints) -> bool:
    """Return whether all times are whole µs from one another."""
    every = np.concatenate(times)
    return not len(every) or bool(np.all((every - every[0]) % 1_000 == 0))
