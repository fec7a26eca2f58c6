"""Tracks of a timeline: which span lies on which, so that on each of them spans nest or follow.

In:  the spans of one rank. Out: the same with process and thread number as written, in the order written; the
names of both. Decided here: what does not nest on its thread (asynchronous work, copies on one stream) lies
on a further track of that thread, since viewers cut or drop it else; a span that misses nesting by no more
than the clock's error is moved by that much, and counted.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from graphstore.export.order import NONE
from graphstore.export.timeline_columns import CPU, GPU, THREAD
from graphstore.link.nesting import TOLERANCE_NS, sort_spans

NESTED_LANES = 8  # beyond these a span takes any lane that is free, which needs no search
LARGEST_NUMBER = 2**31 - 1  # of threads, in the viewers

Span = tuple[int, int, int]  # place, start, end


@dataclass(frozen=True)
class Track:
    """A row of the viewer."""

    pid: int
    tid: int
    name: str


@dataclass(frozen=True)
class Layout:
    """The spans in the order written, with pid, tid, start and end as shown; processes {pid: name}."""

    spans: pl.DataFrame
    processes: dict[int, str]
    tracks: list[Track]
    marks: Track  # where what has a moment but no length stands: findings, calls without an end
    moved: int


def layout(
    rank: int,
    spans: pl.DataFrame,
    first_pid: int,
    thread_names: Mapping[tuple[int, int, int], str],
    groups: Sequence[str],
) -> Layout:
    """Return where each span of a rank is shown; processes are numbered from `first_pid`.

    `thread_names`: {(process, part, number): name}. `groups`: keys of the groups that have a track.
    """
    keys = spans.select("family", "owner").unique().sort("family", "owner").rows()
    if not keys or keys[0][0] != CPU:
        keys = [(CPU, NONE), *keys]  # the rank itself is always shown: it has findings
    pids = {key: first_pid + place for place, key in enumerate(keys)}
    parts: list[pl.DataFrame] = []
    tracks: list[Track] = []
    moved = 0
    for (family, owner), pid in pids.items():
        own = spans.filter((pl.col("family") == family) & (pl.col("owner") == owner))
        free = _first_free(own)
        for part, number in own.select("part", "number").unique().sort("part", "number").rows():
            of_track = own.filter((pl.col("part") == part) & (pl.col("number") == number))
            name = _track_name(family, (owner, part, number), thread_names, groups)
            for lane, (placed, count) in enumerate(_lanes(of_track)):
                is_own = lane == 0 and part == THREAD and 0 <= number <= LARGEST_NUMBER
                tid = number if is_own else free
                free += not is_own
                tracks.append(Track(pid, tid, name if lane == 0 else f"{name}, overlapping {lane}"))
                parts.append(placed.with_columns(pid=pl.lit(pid, pl.Int64), tid=pl.lit(tid, pl.Int64)))
                moved += count
        if pid == first_pid:
            marks = Track(pid, free, "findings, calls without an end")
    empty = spans.clear().with_columns(pid=pl.lit(0, pl.Int64), tid=pl.lit(0, pl.Int64))
    processes = {pid: _process_name(rank, *key) for key, pid in pids.items()}
    return Layout(pl.concat([empty, *parts]), processes, tracks, marks, moved)


def _first_free(spans: pl.DataFrame) -> int:
    """Return the first number that no thread of a process has itself."""
    numbers = spans.filter((pl.col("part") == THREAD) & (pl.col("number") <= LARGEST_NUMBER))["number"]
    return max(int(numbers.to_numpy().max(initial=0)), 0) + 1


def _process_name(rank: int, family: int, owner: int) -> str:
    if family == CPU:
        return f"rank {rank} CPU" + (f" (pid {owner})" if owner != NONE else "")
    return f"rank {rank} GPU {owner}" if family == GPU else f"rank {rank} calls of its dump"


def _track_name(
    family: int, key: tuple[int, int, int], names: Mapping[tuple[int, int, int], str], groups: Sequence[str]
) -> str:
    _, part, number = key
    if family == CPU:
        return names.get(key) or f"thread {number}"
    if family == GPU:
        stream = "whole context" if number == NONE else f"stream {number}"
        return stream if part == THREAD else f"{stream} waits"
    return f"group {groups[number]}" if groups[number] else "group unknown"


def _lanes(spans: pl.DataFrame) -> Iterator[tuple[pl.DataFrame, int]]:
    """Yield the spans of each track a thread needs, and how many were moved to nest."""
    start, end = spans["start"].to_numpy(), spans["end"].to_numpy()
    entered = spans.select(
        pl.struct("kind", "created", "entered", "uid").rank("ordinal").cast(pl.Int64)
    ).to_series()
    group = np.zeros(spans.height, np.int64)
    order = sort_spans(group, start, end, None, entered.to_numpy()).row
    rest: list[Span] = list(zip(order.tolist(), start[order].tolist(), end[order].tolist(), strict=True))
    for lane in lanes(rest):
        places, begins, ends = (np.array(column, np.int64) for column in zip(*lane, strict=True))
        moved = int(((begins != start[places]) | (ends != end[places])).sum())
        yield spans[places].with_columns(start=pl.Series(begins), end=pl.Series(ends)), moved


def lanes(spans: list[Span]) -> Iterator[list[Span]]:
    """Yield lists of spans that nest or follow each other, the first as full as can be.

    `spans` are sorted by start, outer ones first. Each lane is one pass over what the ones before left; after
    NESTED_LANES passes the rest is dealt out by what is free, so that n overlapping spans cost n log n.
    """
    rest = spans
    for _ in range(NESTED_LANES):
        if not rest:
            return
        nested, rest = _nested(rest)
        yield nested
    yield from _dealt(rest)


def _nested(spans: list[Span]) -> tuple[list[Span], list[Span]]:
    """Return the spans that nest, taken as they come, and the others."""
    taken: list[Span] = []
    rest: list[Span] = []
    open_: list[tuple[int, int]] = []
    for place, recorded, recorded_end in spans:
        start, end, closing = recorded, recorded_end, len(open_)
        while closing:
            above = open_[closing - 1][1]
            if above > recorded + TOLERANCE_NS or (above > start and end <= above):
                break
            start, closing = max(start, above), closing - 1
        if closing:
            begin, above = open_[closing - 1]
            if end > above + TOLERANCE_NS or begin > recorded + TOLERANCE_NS:
                rest.append((place, recorded, recorded_end))
                continue
            start, end = max(start, begin), min(end, above)
        end = max(start, end)
        del open_[closing:]
        open_.append((start, end))
        taken.append((place, start, end))
    return taken, rest


def _dealt(spans: list[Span]) -> Iterator[list[Span]]:
    """Yield lanes on which spans only follow each other."""
    out: list[list[Span]] = []
    free: list[tuple[int, int]] = []  # (end, lane)
    for span in spans:
        lane = heapq.heappop(free)[1] if free and free[0][0] <= span[1] else len(out)
        if lane == len(out):
            out.append([])
        out[lane].append(span)
        heapq.heappush(free, (span[2], lane))
    yield from out
