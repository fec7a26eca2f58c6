from __future__ import annotations

import re
from xml.etree import ElementTree

import polars as pl

from graphstore.export.report import charts
from graphstore.export.report.communication import communication_of
from graphstore.export.report.tracks import PIXELS, tracks_of
from tests.unit.export.report.test_communication import EXPOSED, call
from tests.unit.export.report.test_tracks import spans

HOSTILE = "</text><script>alert('x')</script>\"&{{ 1 }}"
STEPS = pl.DataFrame({"step": [4], "start_ns": [0], "end_ns": [50]})


def texts(svg: str) -> list[str]:
    """Return the texts of a picture, which has to be XML."""
    return [
        element.text or "" for element in ElementTree.fromstring(svg).iter() if element.tag.endswith("text")
    ]


def test_a_timeline_has_its_tracks_its_steps_and_a_bar_for_each() -> None:
    """Names are text, whatever they hold; the page's policy forbids style attributes, so there is none."""
    found = tracks_of(spans((HOSTILE, "kernel", "a", 0, 50), ("quiet", "communication", "b", 20, 90)))

    svg = charts.timeline(found, 0, [HOSTILE, "quiet"], STEPS)

    assert {"steps", "quiet", "4"} <= set(texts(svg))
    assert any(text.startswith("</text>") for text in texts(svg))
    assert not re.search(r"<script|\bstyle=|href=|url\((?!#)", svg)
    assert svg.count('fill="var(--kernel)"') == 1
    assert svg.count('fill="url(#hatch)"') == 1


def test_a_bar_stands_where_its_times_are() -> None:
    """A kernel over the first half of the run is half as wide as the picture."""
    found = tracks_of(spans(("s", "kernel", "a", 0, 500_000), ("s", "copy or set", "b", 999_000, 1_000_000)))

    svg = charts.timeline(found, 0, ["s"], STEPS.clear())

    bar = re.search(r'd="M(?P<x>[\d.]+),[\d.]+h(?P<width>[\d.]+)v[^"]*" fill="var\(--kernel\)"', svg)
    assert bar is not None
    assert float(bar["x"]) == 0
    assert abs(float(bar["width"]) - PIXELS / 2) < 1


def test_heat_maps_say_every_number() -> None:
    """What the colour means stands in the field: 7 µs and 1.5 ms of wait, and where none was, 0."""
    calls = [call(0, 1, 7_000, 3), call(1, 1, 0, 3), call(1, 2, 1_500_000, 3, kind="all_gather")]
    found = communication_of(pl.DataFrame(calls), EXPOSED)

    told = texts(charts.heat_map(found, "wait_ns"))

    assert {"7 µs", "1.5 ms", "0 ns", "all_reduce, group 0", "all_gather, group 0"} <= set(told)


def test_exposed_and_overlapped_make_one_bar() -> None:
    """Rank 0: 15 of 35 exposed; rank 1: all 40, so that its second part has no width."""
    svg = charts.exposed_bars(communication_of(pl.DataFrame([call(0, 1, 1, 1)]), EXPOSED))

    def widths(fill: str) -> list[float]:
        return [float(w) for w in re.findall(rf'd="M[\d.]+,[\d.]+h([\d.]+)v[^"]*" fill="{fill}"', svg)]

    exposed, overlapped = widths(r"url\(#hatch\)"), widths(r"var\(--kernel\)")
    assert abs(exposed[0] / exposed[1] - 15 / 40) < 0.01
    assert abs(overlapped[0] / exposed[0] - 20 / 15) < 0.02
    assert overlapped[1] == 0


def test_waits_in_order_draw_for_no_wait_at_all() -> None:
    """A scale from 0 to 0 is none; the picture is drawn all the same."""
    assert "<svg" in charts.waits_in_order(communication_of(pl.DataFrame([call(0, 1, 0, 3)]), EXPOSED))
