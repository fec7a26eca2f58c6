"""The page of a report: contents → one HTML text that asks no address for anything.

In:  `Contents`. Out: the text. Decided here: the words and numbers that the template is given. Every text is
escaped by the template engine; only the charts, which their library escaped, are put in as they are. The
policy in the page (CSP) lets a browser load and run nothing, but for the style sheet in the page itself.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jinja2
import polars as pl
from markupsafe import Markup

import graphstore
from graphstore.export.report import charts
from graphstore.export.report.communication import Communication
from graphstore.export.report.contents import Contents
from graphstore.export.report.tracks import Tracks
from graphstore.model.ids import rank_ranges
from graphstore.queries.draft import counted, duration

HERE = Path(__file__).parent
TOP_OPS = 20
FILES, TRACKS, RANKS, RANK_TRACKS = 60, 200, 16, 12  # shown; the rest is counted


def page(contents: Contents) -> str:
    """Return the HTML of a report."""
    style = (HERE / "style.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return (
        _environment()
        .get_template("page.html.jinja")
        .render(
            c=contents,
            style=Markup(style),
            policy=f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'",
            version=graphstore.__version__,
            summary=_summary(contents),
            timelines=_timelines(contents),
            heat=_heat(contents.communication),
            exposed=Markup(charts.exposed_bars(contents.communication))
            if contents.communication.exposed.height
            else None,
            top_host=_top(contents.host_ops.filter(pl.col("self_ns") > 0), "self_ns"),
            top_device=_top(contents.tracks.device_ops, "duration_ns"),
            files=FILES,
            tracks=TRACKS,
            ranks=RANKS,
        )
    )


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"duration": duration, "number": "{:,}".format, "ranges": rank_ranges}
    environment.globals |= {"counted": counted}
    return environment


def _summary(contents: Contents) -> list[tuple[str, str]]:
    """Return what stands at the head of the page, as (name, text)."""
    facts, tracks = contents.facts, contents.tracks
    ranks = facts.get("ranks") or []
    kinds = [file["kind"] for file in contents.ledger.files]
    span = (
        duration(tracks.end_ns - tracks.start_ns) if tracks.tracks.height else "unknown: nothing has a time"
    )
    told = [
        ("Ranks", f"{counted(len(ranks), 'rank')} ({rank_ranges(ranks)})" if ranks else "none"),
        ("World size", str(facts.get("world_size") or "unknown")),
        ("Files", f"{counted(len(contents.ledger.files), 'file')}: {_kinds(kinds)}"),
        ("Span", span),
        ("Steps", _steps(contents.steps)),
        ("Began", _date(facts.get("origin_ns"))),
        ("Imported", f"{facts.get('created')}, with graphstore {facts.get('tool_version')}"),
    ]
    if facts.get("tags"):
        told.append(("Tags", ", ".join(facts["tags"])))
    return told


def _kinds(kinds: Iterable[str]) -> str:
    kinds = list(kinds)
    return ", ".join(f"{kinds.count(kind)} {kind}" for kind in sorted(set(kinds)))


def _steps(steps: pl.DataFrame) -> str:
    numbers = steps["step"].unique().sort().to_list()
    return f"{counted(len(numbers), 'step')} ({rank_ranges(numbers)})" if numbers else "none marked"


def _date(origin_ns: int | None) -> str:
    if not origin_ns:
        return "unknown"
    return datetime.fromtimestamp(origin_ns / 1e9, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _timelines(contents: Contents) -> list[dict[str, Any]]:
    """Return the timeline of each rank that is drawn: its chart, and the tracks that found no room."""
    tracks = contents.tracks
    out = []
    for rank in tracks.tracks["rank"].unique().sort().to_list()[:RANKS]:
        own = tracks.tracks.filter(pl.col("rank") == rank)
        busiest = own.sort("busy_ns", descending=True)["track"].to_list()[:RANK_TRACKS]
        shown = [track for track in own["track"].to_list() if track in busiest]
        steps = contents.steps.filter(pl.col("rank") == rank).select("step", "start_ns", "end_ns")
        chart = Markup(charts.timeline(tracks, rank, shown, steps))
        out.append(
            {"rank": rank, "chart": chart, "left_out": own.height - len(shown), "told": _told(own, tracks)}
        )
    return out


def _heat(communication: Communication) -> dict[str, Markup] | None:
    """Return the heat maps; None where no call of a collective has a wait."""
    if not communication.split.height:
        return None
    return {
        "wait": Markup(charts.heat_map(communication, "wait_ns")),
        "transfer": Markup(charts.heat_map(communication, "transfer_ns")),
        "in_order": Markup(charts.waits_in_order(communication)),
    }


def _told(own: pl.DataFrame, tracks: Tracks) -> str:
    """Return a rank's timeline in a sentence, for who can't see it."""
    span = max(1, tracks.end_ns - tracks.start_ns)
    return "; ".join(
        f"{row['track']} is busy {row['busy_ns'] / span:.0%} of the run"
        for row in own.to_dicts()[:RANK_TRACKS]
    )


def _top(ops: pl.DataFrame, by: str) -> list[dict[str, Any]]:
    """Return the ops that took longest, each with its share of the longest and of all."""
    rows = ops.sort(by, "name", descending=[True, False]).head(TOP_OPS).to_dicts()
    total = max(1, int(ops[by].sum() or 0))
    longest = max((row[by] for row in rows), default=1) or 1
    return [{**row, "bar": round(100 * row[by] / longest, 1), "share": row[by] / total} for row in rows]
