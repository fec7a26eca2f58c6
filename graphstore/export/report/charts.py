"""The charts of a report as SVG: Vega-Lite specifications, drawn by vl-convert.

In:  frames. Out: SVG texts that stand inside the page: no script, no font, no address.
Decided here: the form of each chart. Colours are the page's variables (`var(--…)`), so that one picture
serves light, dark and paper; what a colour means is also told by height, pattern or number. Names from traces
are data of a specification, never part of an expression, and the library escapes them.
"""

from __future__ import annotations

import re
from typing import Any

import polars as pl
import vl_convert

from graphstore.export.report.communication import Communication
from graphstore.export.report.tracks import COMM, COMPUTE, COPY, HOST, PIXELS, RUNTIME, Tracks
from graphstore.queries.draft import duration

VEGA_LITE = "5.20"
STEPS = "steps"
COLOURS = "cividis"  # made to be read without colour vision; the numbers stand in the cells besides
# layer → (fill, outline, share of the track's height); drawn in this order
LOOKS = {
    HOST: ("var(--host)", None, 0.86),
    RUNTIME: ("var(--runtime)", None, 0.4),
    COMPUTE: ("var(--kernel)", None, 0.86),
    COPY: ("var(--copy)", None, 0.4),
    COMM: ("url(#hatch)", "var(--comm)", 0.86),  # outlined: of a pixel's width a hatching shows nothing
}
STEP_LABELS = 40  # more than these would overlap
LABEL_PIXELS = 190
_CONFIG: dict[str, Any] = {
    "background": None,
    "view": {"stroke": None},
    "font": "sans-serif",
    "axis": {
        "labelColor": "var(--ink)",
        "titleColor": "var(--muted)",
        "gridColor": "var(--line)",
        "domainColor": "var(--line)",
        "tickColor": "var(--line)",
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelLimit": LABEL_PIXELS,
    },
    "text": {"fontSize": 11},
}
_PLACES = re.compile(r"(?<= d=\")[^\"]+")
_LONG = re.compile(r"(\d+\.\d\d)\d+")


def svg(spec: dict[str, Any]) -> str:
    """Return the SVG of a specification; places are rounded to hundredths of a pixel."""
    whole = {"$schema": "https://vega.github.io/schema/vega-lite/v5.json", "config": _CONFIG, **spec}
    text = vl_convert.vegalite_to_svg(whole, vl_version=VEGA_LITE, allowed_base_urls=[])
    return _PLACES.sub(lambda path: _LONG.sub(r"\1", path.group()), text)


def timeline(tracks: Tracks, rank: int, shown: list[str], steps: pl.DataFrame) -> str:
    """Return the timeline of one rank: a track for each of `shown`, and one for the steps.

    `steps`: step, start_ns, end_ns. All ranks have the same axis.
    """
    unit, size = ("s", 1e9) if tracks.end_ns - tracks.start_ns > 10**10 else ("ms", 1e6)
    own = tracks.bars.filter((pl.col("rank") == rank) & pl.col("track").is_in(shown))
    domain = [tracks.start_ns / size, max(tracks.end_ns, tracks.start_ns + 1) / size]
    layers = [
        _bars(own.filter(pl.col("layer") == layer), size, *look)
        for layer, look in LOOKS.items()
        if own.filter(pl.col("layer") == layer).height
    ]
    if steps.height:
        layers = [*_steps(steps, size), *layers]
    order = [STEPS] * bool(steps.height) + shown
    return svg(
        {
            "width": PIXELS,
            "height": {"step": 24},
            "layer": layers,
            "encoding": {
                "x": {
                    "field": "a",
                    "type": "quantitative",
                    "scale": {"domain": domain, "nice": False, "clamp": True},
                    "axis": {"title": f"{unit} since the run began", "tickCount": 10},
                },
                "x2": {"field": "b"},
                "y": {
                    "field": "t",
                    "type": "nominal",
                    "sort": None,
                    "scale": {"domain": order},
                    "axis": {
                        "title": None,
                        "minExtent": LABEL_PIXELS,
                        "maxExtent": LABEL_PIXELS,
                        "ticks": False,
                    },
                },
            },
        }
    )


def _bars(bars: pl.DataFrame, size: float, fill: str, outline: str | None, height: float) -> dict[str, Any]:
    rows = bars.select(t="track", a=pl.col("start") / size, b=pl.col("end") / size)
    return {
        "data": {"values": rows.to_dicts()},
        "mark": {
            "type": "rect",
            "aria": False,
            "fill": fill,
            "stroke": outline,
            "strokeWidth": 0.6,
            "height": {"band": height},
        },
    }


def _steps(steps: pl.DataFrame, size: float) -> list[dict[str, Any]]:
    """Return the layers of the steps: frames, and their numbers where there is room."""
    rows = steps.select(
        t=pl.lit(STEPS),
        a=pl.col("start_ns") / size,
        b=pl.col("end_ns") / size,
        n=pl.col("step").cast(pl.String),
    )
    frame = {
        "type": "rect",
        "aria": False,
        "fill": "var(--step)",
        "stroke": "var(--muted)",
        "strokeWidth": 0.5,
    }
    layers: list[dict[str, Any]] = [
        {"data": {"values": rows.to_dicts()}, "mark": {**frame, "height": {"band": 0.7}}}
    ]
    if rows.height <= STEP_LABELS:
        middle = rows.with_columns(a=(pl.col("a") + pl.col("b")) / 2)
        layers.append(
            {
                "data": {"values": middle.to_dicts()},
                "mark": {"type": "text", "aria": False, "fill": "var(--ink)"},
                "encoding": {"text": {"field": "n"}, "x2": None},
            }
        )
    return layers


def heat_map(communication: Communication, part: str) -> str:
    """Return rank by operation: the sum of `part` (wait_ns or transfer_ns) by colour and in words."""
    rows = communication.split.filter(pl.col("rank").is_in(communication.waiting_ranks))
    most = max(1, *rows[part].to_list())
    values = [
        {"rank": row["rank"], "op": row["operation"], "v": row[part], "t": duration(row[part])}
        for row in rows.to_dicts()
    ]
    return svg(
        {
            "width": {"step": 112},
            "height": {"step": 24},
            "data": {"values": values},
            "encoding": {
                "x": {
                    "field": "op",
                    "type": "nominal",
                    "axis": {
                        "title": None,
                        "orient": "top",
                        "labelAngle": -20,
                        "labelLimit": 150,
                        "domain": False,
                    },
                },
                "y": {"field": "rank", "type": "ordinal", "axis": {"title": "rank"}},
            },
            "layer": [
                {
                    "mark": {"type": "rect", "aria": False, "stroke": "var(--paper)"},
                    "encoding": {"color": _shade("v", most, legend=False)},
                },
                {
                    "mark": {"type": "text", "aria": False},
                    "encoding": {
                        "text": {"field": "t"},
                        "color": {
                            "condition": {"test": f"datum.v > {most * 0.5}", "value": "#000"},
                            "value": "#fff",
                        },
                    },
                },
            ],
        }
    )


def waits_in_order(communication: Communication) -> str:
    """Return rank by collective, in the order in which they began: the wait by colour, in ms."""
    rows = communication.in_order.filter(pl.col("rank").is_in(communication.waiting_ranks))
    values = rows.with_columns(ms=pl.col("wait_ns") / 1e6).select("rank", "place", "ms")
    most = max(1e-6, *values["ms"].to_list())
    title = (
        "collective" if communication.together == 1 else f"collectives, {communication.together} at a time"
    )
    columns = max(values["place"].to_list())
    return svg(
        {
            "width": min(PIXELS, columns * 24),
            "height": {"step": 20},
            "data": {"values": values.to_dicts()},
            "mark": {"type": "rect", "aria": False, "stroke": "var(--paper)", "strokeWidth": 0.5},
            "encoding": {
                "x": {
                    "field": "place",
                    "type": "ordinal",
                    "axis": {"title": f"{title}, in order", "labelAngle": 0, "labelOverlap": True},
                },
                "y": {"field": "rank", "type": "ordinal", "axis": {"title": "rank"}},
                "color": _shade("ms", most, legend=True),
            },
        }
    )


def _shade(field: str, most: float, *, legend: bool) -> dict[str, Any]:
    drawn = {
        "title": "wait, ms",
        "orient": "bottom",
        "labelColor": "var(--ink)",
        "titleColor": "var(--muted)",
        "titleFontWeight": "normal",
    }
    scale = {"scheme": COLOURS, "domain": [0, most]}
    return {"field": field, "type": "quantitative", "scale": scale, "legend": drawn if legend else None}


def exposed_bars(communication: Communication) -> str:
    """Return a bar for each rank: the communication that nothing hid, then what computation hid, in ms."""
    sums = (
        communication.exposed.filter(pl.col("rank").is_in(communication.exposed_ranks))
        .group_by("rank")
        .agg(a=pl.col("exposed_ns").sum() / 1e6, b=pl.col("duration_ns").sum() / 1e6)
        .sort("rank")
    )
    mark = {"type": "bar", "aria": False, "height": {"band": 0.7}}
    return svg(
        {
            "width": 620,
            "height": {"step": 22},
            "data": {"values": sums.with_columns(z=0).to_dicts()},
            "encoding": {"y": {"field": "rank", "type": "ordinal", "axis": {"title": "rank"}}},
            "layer": [
                {
                    "mark": {**mark, "fill": "url(#hatch)", "stroke": "var(--comm)"},
                    "encoding": {
                        "x": {"field": "z", "type": "quantitative", "axis": {"title": "ms of communication"}},
                        "x2": {"field": "a"},
                    },
                },
                {
                    "mark": {**mark, "fill": "var(--kernel)"},
                    "encoding": {"x": {"field": "a", "type": "quantitative"}, "x2": {"field": "b"}},
                },
            ],
        }
    )
