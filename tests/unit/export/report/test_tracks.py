from __future__ import annotations

import polars as pl

from graphstore.export.report.tracks import COMM, COMPUTE, PIXELS, merged, tracks_of
from graphstore.export.timeline_columns import GPU


def spans(*rows: tuple[str, str, str, int, int]) -> pl.DataFrame:
    """Return spans of rank 0 on streams of one GPU from (track, layer, name, start, end)."""
    frame = pl.DataFrame(
        rows, schema={"track": str, "layer": str, "name": str, "start": int, "end": int}, orient="row"
    )
    place = {name: pl.lit(0, dtype=pl.Int64) for name in ("rank", "owner", "part", "number")}
    return frame.with_columns(family=pl.lit(GPU, dtype=pl.Int64), **place)


def bars(frame: pl.DataFrame) -> list[tuple[str, int, int]]:
    """Return (layer, start, end) of bars."""
    return frame.select("layer", "start", "end").rows()


def test_spans_less_than_a_pixel_apart_are_one_bar() -> None:
    """A gap of 9 is closed at a pixel of 10, one of 10 is not."""
    found = merged(
        spans(("s", COMPUTE, "a", 0, 20), ("s", COMPUTE, "b", 29, 40), ("s", COMPUTE, "c", 50, 70)), 10
    )

    assert bars(found) == [(COMPUTE, 0, 40), (COMPUTE, 50, 70)]


def test_a_bar_is_at_least_a_pixel_wide() -> None:
    """A span of 1 ns is seen at a pixel of 10."""
    assert bars(merged(spans(("s", COMPUTE, "a", 5, 6)), 10)) == [(COMPUTE, 5, 15)]


def test_a_short_span_inside_a_long_one_does_not_end_its_bar() -> None:
    """What begins after the short one ended and before the long one did belongs to the same bar."""
    found = merged(
        spans(("s", COMPUTE, "long", 0, 100), ("s", COMPUTE, "b", 10, 12), ("s", COMPUTE, "c", 60, 90)), 1
    )

    assert bars(found) == [(COMPUTE, 0, 100)]


def test_spans_of_other_layers_and_tracks_are_never_one_bar() -> None:
    """They lie at the same time, and stay three."""
    found = merged(spans(("s", COMPUTE, "a", 0, 5), ("s", COMM, "b", 0, 5), ("t", COMPUTE, "c", 0, 5)), 10)

    assert found.height == 3


def test_busy_time_counts_what_overlaps_once() -> None:
    """0-10 and 5-15 are 15 busy, and 20-25 makes 20; the sums by name count each in full."""
    found = tracks_of(spans(("s", COMPUTE, "a", 0, 10), ("s", COMM, "b", 5, 15), ("s", COMPUTE, "a", 20, 25)))

    assert found.tracks.select("spans", "busy_ns", "start_ns", "end_ns").rows() == [(3, 20, 0, 25)]
    assert found.device_ops.rows() == [(COMPUTE, "a", 2, 15, 10), (COMM, "b", 1, 10, 10)]


def test_thousands_of_spans_make_no_more_bars_than_pixels() -> None:
    """100,000 spans of a track and layer are at most one bar for each two pixels."""
    many = spans(*(("s", COMPUTE, "k", 10 * n, 10 * n + 5) for n in range(100_000)))
    sparse = spans(*(("s", COMPUTE, "k", 1000 * n, 1000 * n + 1) for n in range(100_000)))

    assert tracks_of(many).bars.height == 1, "gaps of 5 ns are far below a pixel"
    assert tracks_of(sparse).bars.height <= PIXELS + 1


def test_a_run_without_times_has_no_track() -> None:
    """All frames are empty, none fails."""
    found = tracks_of(spans())

    assert (found.tracks.height, found.bars.height, found.device_ops.height, found.spans) == (0, 0, 0, 0)
