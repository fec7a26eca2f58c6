"""The tracks of a report's timeline: what each thread and stream did, in as many bars as a screen can show.

In:  a store and a run. Out: one row a track (spans, busy time), and the bars of all of them.
Decided here: what a bar means (`LAYERS`), and that spans of one meaning less than a pixel apart are one bar,
so that a picture of thousands of spans stays as light as one of hundreds. Annotations, which last as long as
what they name, are no work and have no bar, except those of communication calls: of gloo only they show how
long a call took. Nor have sync events a bar, whose time their runtime call shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from graphstore.export.order import NONE
from graphstore.export.timeline_columns import (
    CPU,
    GPU,
    THREAD,
    SpanColumns,
    groups_of_unseen,
    read_spans,
    spans_of,
    thread_names,
)
from graphstore.queries.columns import read_keys
from graphstore.store.base import Progress, Store

HOST, RUNTIME, COMPUTE, COPY, COMM = LAYERS = (
    "host op",
    "runtime call",
    "kernel",
    "copy or set",
    "communication",
)
PIXELS = 900  # across the whole time of the run
ANNOTATIONS = ("user_annotation", "gpu_user_annotation")
_PLACE = ("rank", "family", "owner", "part", "number")
_SPANS: dict[str, type[pl.DataType]] = {
    **dict.fromkeys(_PLACE, pl.Int64),
    "track": pl.String,
    "layer": pl.String,
    "name": pl.String,
    "start": pl.Int64,
    "end": pl.Int64,
}


@dataclass(frozen=True)
class Tracks:
    """`tracks`: rank, track, spans, busy_ns, start_ns, end_ns. `bars`: rank, track, layer, start, end.

    `device_ops`: what ran on devices by name: layer, name, ops, duration_ns, longest_ns. Times in ns since
    the run's start.
    """

    tracks: pl.DataFrame
    bars: pl.DataFrame
    device_ops: pl.DataFrame
    start_ns: int
    end_ns: int

    @property
    def spans(self) -> int:
        """How many spans the bars stand for."""
        return int(self.tracks["spans"].sum())

    @property
    def pixel_ns(self) -> int:
        """How long one pixel of the picture lasts, at least 1 ns."""
        return max(1, (self.end_ns - self.start_ns) // PIXELS)


def read_tracks(store: Store, run: str, progress: Progress | None = None) -> Tracks:
    """Return the tracks of all ranks, rank by rank; frames without rows where nothing has a time."""
    names = thread_names(store, run)
    ranks = read_keys(store, run)
    parts = []
    for done, keys in enumerate(ranks, start=1):
        parts.append(_spans(read_spans(store, run, keys), names.get(keys.rank, {})))
        if progress:
            progress("report", done, len(ranks))
    return tracks_of(pl.concat([pl.DataFrame(schema=_SPANS), *parts]))


def tracks_of(spans: pl.DataFrame) -> Tracks:
    """Return the tracks of spans: rank, track and its place, layer, name, start, end."""
    start, end = (spans["start"].min(), spans["end"].max()) if spans.height else (0, 0)
    found = Tracks(
        tracks=_summary(spans),
        bars=pl.DataFrame(),
        device_ops=_by_name(spans.filter(pl.col("family") == GPU)),
        start_ns=int(start),  # type: ignore[arg-type]
        end_ns=int(end),  # type: ignore[arg-type]
    )
    return Tracks(**{**vars(found), "bars": merged(spans, found.pixel_ns)})


def merged(spans: pl.DataFrame, pixel_ns: int) -> pl.DataFrame:
    """Return the bars of spans: those of one track and layer less than a pixel apart are one, ascending.

    A bar lasts at least a pixel, so that the shortest span is seen.
    """
    by = ["rank", "track", "layer"]
    ordered = spans.sort(*by, "start", "end")
    behind = pl.col("end").cum_max().shift(1).over(by)
    opens = (behind.is_null() | (pl.col("start") - behind >= pixel_ns)).cum_sum()
    return (
        ordered.with_columns(bar=opens)
        .group_by(*by, "bar", maintain_order=True)
        .agg(pl.col("start").min(), pl.col("end").max())
        .with_columns(end=pl.max_horizontal("end", pl.col("start") + pixel_ns))
        .drop("bar")
    )


def _summary(spans: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each track in the order of the timeline; busy time counts what overlaps once."""
    busy = (
        merged(spans.with_columns(layer=pl.lit("")), 0)
        .group_by("rank", "track")
        .agg(busy_ns=(pl.col("end") - pl.col("start")).sum())
    )
    return (
        spans.group_by(*_PLACE, "track")
        .agg(pl.len().alias("spans"), start_ns=pl.col("start").min(), end_ns=pl.col("end").max())
        .sort(*_PLACE)
        .join(busy, on=["rank", "track"], how="left", maintain_order="left")
        .select("rank", "track", "spans", "busy_ns", "start_ns", "end_ns")
    )


def _by_name(spans: pl.DataFrame) -> pl.DataFrame:
    """Return spans summed by layer and name, the longest sum first."""
    lasts = pl.col("end") - pl.col("start")
    return (
        spans.group_by("layer", "name")
        .agg(pl.len().alias("ops"), duration_ns=lasts.sum(), longest_ns=lasts.max())
        .sort("duration_ns", "name", descending=[True, False])
    )


def _spans(columns: SpanColumns, names: Mapping[tuple[int, int, int], str]) -> pl.DataFrame:
    """Return the spans of a rank that are work, each with its track and its layer."""
    in_comm = pl.col("uid").is_in(columns.comm_ops["op_uid"].implode())
    frames = pl.concat(
        [
            _told(columns.host, 0, pl.lit(HOST), pl.col("category").is_in(ANNOTATIONS) & ~in_comm),
            _told(columns.calls, 1, pl.lit(RUNTIME)),
            _told(
                columns.kernels,
                2,
                pl.when(pl.col("device_kind").is_in(["memcpy", "memset"]))
                .then(pl.lit(COPY))
                .otherwise(pl.lit(COMPUTE)),
            ),
            _told(columns.comm, 4, pl.lit(COMM)),
        ]
    )
    spans = spans_of(columns).join(frames, on=["uid", "kind"], how="inner", maintain_order="left")
    if not spans.height:
        return pl.DataFrame(schema=_SPANS)
    groups = groups_of_unseen(columns)
    several = spans.filter((pl.col("family") == CPU) & (pl.col("owner") != NONE))["owner"].n_unique() > 1
    places = spans.select("family", "owner", "part", "number").unique()
    labels = [_label(key, names, groups, several) for key in places.iter_rows()]
    layer = pl.when(in_comm).then(pl.lit(COMM)).otherwise(pl.col("layer"))
    return (
        spans.join(places.with_columns(track=pl.Series(labels, dtype=pl.String)), on=places.columns)
        .with_columns(layer=layer, rank=pl.lit(columns.rank, dtype=pl.Int64))
        .select(*_SPANS)
    )


def _told(frame: pl.DataFrame, kind: int, layer: pl.Expr, left_out: pl.Expr | None = None) -> pl.DataFrame:
    """Return name and layer of one frame's spans."""
    rows = frame if left_out is None else frame.filter(~left_out)
    return rows.select("uid", "name", kind=pl.lit(kind, dtype=pl.Int64), layer=layer)


def _label(
    key: tuple[int, int, int, int],
    names: Mapping[tuple[int, int, int], str],
    groups: list[str],
    several: bool,
) -> str:
    """Return the name of a track; the process stands in it where a rank has several."""
    family, owner, part, number = key
    if family == CPU:
        name = names.get((owner, part, number)) or (
            "thread unknown" if number == NONE else f"thread {number}"
        )
        told = name if str(number) in name else f"{name} ({number})"
        if part != THREAD:  # the execution trace counts threads from 1, Kineto has their ids
            told = f"ET {told}"
        return f"{told}, pid {owner}" if several and owner != NONE else told
    if family == GPU:
        return f"GPU {owner} stream {number}"
    return f"calls of {groups[number] or 'an unknown group'}"
