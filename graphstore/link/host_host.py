"""Match the host ops of an execution trace with those of the Kineto trace of the same rank.

In:  the two tables of host ops and the facts of both files.
Out: a `Match` (which Kineto row is which op, by what method, at what rate), the merged table, and what
speaks against the two being of one run.
Decided here (`trace-formats.md` §2, order of trust): record function ids that meet with equal names; where
ids meet but names do not, the files are of different runs; where no ids are usable, the order of names.
External id is Kineto's own counter: it is counted against the ids, never believed.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
import polars as pl

from graphstore.errors import RunMismatchError
from graphstore.link.name_order import match_by_name_order
from graphstore.link.nesting import Bools, Ints
from graphstore.model.markers import GROUP_INIT, PROCESS_ROOTS, THREAD_ROOTS

# Of ids that meet, this share of names must agree; in files of one run all do, in others it is chance.
LEAST_AGREEMENT = 0.5
# An execution trace's time is local text: two files further apart than this are of different dates.
DATE_SLACK_NS = 38 * 3600 * 10**9  # a day, and 14 h of time zone
EARLIEST_CLOCK_NS = 946_684_800 * 10**9  # year 2000: lower times are no wall clock


FROM_KINETO = ("process", "thread", "external_id", "category", "start_ns", "duration_ns")


@dataclass(frozen=True)
class Match:
    """Which Kineto host op each execution trace op is, and how well the two fit."""

    method: str  # rf_id, name_order or none
    partner: Ints  # Kineto row of each execution trace op, -1 for none
    candidates: int  # execution trace ops that could have a Kineto event
    ids_meet: int
    names_agree: int
    anchors: int | None = None  # by name order: pairs that the autograd sequence number confirms

    @property
    def matched(self) -> int:
        """Return how many ops found their Kineto event."""
        return int(np.count_nonzero(self.partner >= 0))

    def facts(self, partner_name: str, mismatch: str | None) -> dict[str, Any]:
        """Return the link_* facts of the Kineto file."""
        return {
            "partner": partner_name,
            "link_method": self.method,
            "link_candidates": self.candidates,
            "link_matched": self.matched,
            "link_names_agree": self.names_agree,
            "link_ids_meet": self.ids_meet,
            "link_anchors": self.anchors,
            "mismatch": mismatch,
        }


def match_host_ops(et: pl.DataFrame, kineto: pl.DataFrame) -> Match:
    """Return the match of two tables of host ops.

    Ids are usable where both sides have any; then nothing is matched by order, even if few meet: an op whose
    id is not in the other file is not in it.
    """
    candidates = could_be_seen(et)
    ids_meet, partner = match_by_id(et, kineto)
    agree = int(np.count_nonzero(partner >= 0))
    count = int(np.count_nonzero(candidates | (partner >= 0)))  # an early window may hold the group init
    if et["rf_id"].count() and kineto["rf_id"].count():
        return Match("rf_id", partner, count, ids_meet, agree)
    partner, anchors = match_by_name_order(et, kineto, candidates)
    method = "name_order" if bool(np.any(partner >= 0)) else "none"
    return Match(method, partner, count, ids_meet, agree, anchors)


def could_be_seen(et: pl.DataFrame) -> Bools:
    """Return which execution trace ops Kineto could have seen.

    Not the process and thread roots, which are no ops, nor process_group:init, which the observer writes as
    it starts, outside of what Kineto records.
    """
    no_op = pl.col("name").is_in([*PROCESS_ROOTS, *THREAD_ROOTS, GROUP_INIT])
    return et.select(~no_op).to_series().to_numpy()


def match_by_id(et: pl.DataFrame, kineto: pl.DataFrame) -> tuple[int, Ints]:
    """Return (how many ids of the execution trace Kineto has, the Kineto row of each op with equal name).

    Where an id stands on several ops the k-th of one file meets the k-th of the other.
    """
    ours, theirs = _with_turns(et["rf_id"]), _with_turns(kineto["rf_id"])
    joined = ours.join(theirs, on=["id", "turn"], suffix="_kineto")
    rows, kineto_rows = joined["row"].to_numpy(), joined["row_kineto"].to_numpy()
    same = (et["name"].gather(rows) == kineto["name"].gather(kineto_rows)).to_numpy()
    partner = np.full(et.height, -1, dtype=np.int64)
    partner[rows[same]] = kineto_rows[same]
    return joined.height, partner


def _with_turns(ids: pl.Series) -> pl.DataFrame:
    """Return (id, row, turn) of the ids that are there; `turn` counts the rows of one id, 0 first."""
    frame = pl.DataFrame({"id": ids}).with_row_index("row").drop_nulls("id")
    again = frame["id"].is_duplicated()
    once = frame.filter(~again).with_columns(turn=pl.lit(0, dtype=pl.Int64))
    if not again.any():
        return once
    turns = frame.filter(again).with_columns(turn=pl.int_range(pl.len()).over("id"))
    return pl.concat([once, turns])


def external_ids(et: pl.DataFrame, kineto: pl.DataFrame) -> tuple[int, int]:
    """Return how many External ids of Kineto are an rf_id of the execution trace, and with equal names.

    A test only: the two counters overlap by chance, even with equal names (simple_add: 36 of 36).
    """
    ours, theirs = _with_turns(et["rf_id"]), _with_turns(kineto["external_id"]).filter(pl.col("turn") == 0)
    joined = ours.join(theirs, on="id", suffix="_kineto")
    same = et["name"].gather(joined["row"]) == kineto["name"].gather(joined["row_kineto"])
    return joined.height, int(same.sum())


def refuse_other_run(match: Match, et: dict[str, Any], kineto: dict[str, Any], allow: bool) -> None:
    """Raise RunMismatchError where ids meet but most names differ, unless `allow`; facts name the files."""
    if allow or match.method != "rf_id" or match.names_agree >= LEAST_AGREEMENT * match.ids_meet:
        return
    raise RunMismatchError(
        f"{et['name']} and {kineto['name']} are of different runs: {match.ids_meet} record function ids "
        f"occur in both, but only {match.names_agree} with the same name. Nothing was loaded. "
        f"Give files of one run, or --allow-mismatch."
    )


def what_differs(
    match: Match, et: dict[str, Any], kineto: dict[str, Any], ops: pl.DataFrame, et_world_size: int | None
) -> str | None:
    """Return in words what speaks against one run: names, pid, date, world size; None where nothing does.

    `ops` are Kineto's host ops; dates compare only where Kineto's clock is a wall clock.
    """
    found = []
    if match.method == "rf_id" and match.names_agree < match.ids_meet:
        found.append(f"names of {match.ids_meet - match.names_agree} of {match.ids_meet} equal ids")
    pids = ops["process"].drop_nulls().unique().sort().to_list() or [kineto.get("pid")]
    if et.get("pid") is not None and pids != [None] and et["pid"] not in pids:
        found.append(f"pid {et['pid']} / {', '.join(map(str, pids[:4]))}")
    if (dates := _dates_apart(et.get("recorded_at"), ops["start_ns"])) is not None:
        found.append(f"date {dates}")
    theirs = kineto.get("world_size")
    if et_world_size is not None and theirs is not None and et_world_size != theirs:
        found.append(f"world size {et_world_size} / {theirs}")
    return "; ".join(found) or None


def _dates_apart(local_text: str | None, starts: pl.Series) -> str | None:
    """Return both dates as text where they are further apart than time zones explain, else None."""
    first = starts.min()
    if not local_text or not isinstance(first, int) or first < EARLIEST_CLOCK_NS:
        return None
    try:
        local = datetime.fromisoformat(local_text.strip()).replace(tzinfo=UTC)
    except ValueError:  # free text in a file is no error of its reader: it only proves nothing
        return None
    if abs(int(local.timestamp()) * 10**9 - first) <= DATE_SLACK_NS:
        return None
    return f"{local_text} / {datetime.fromtimestamp(first // 10**9, tz=UTC):%Y-%m-%d %H:%M:%S} UTC"


def merge_host_ops(et: pl.DataFrame, kineto: pl.DataFrame, match: Match) -> pl.DataFrame:
    """Return one table: each matched pair once, with time and thread from Kineto, then Kineto's other ops.

    Rows keep the order of their files, the execution trace's first.
    """
    at = pl.Series(np.where(match.partner >= 0, match.partner, kineto.height))
    theirs = kineto.select(*FROM_KINETO, pl.col("comm_args").alias("comm_args_kineto"))
    none = pl.DataFrame({name: [None] for name in theirs.columns}, schema=theirs.schema)
    seen = pl.concat([theirs, none])[at]
    left = et.with_columns(
        *(pl.coalesce(seen[name], pl.col(name)).alias(name) for name in FROM_KINETO),
        seen["comm_args_kineto"],
    )
    alone = np.ones(kineto.height, dtype=np.bool_)
    alone[match.partner[match.partner >= 0]] = False
    right = kineto.filter(pl.Series(alone)).with_columns(
        pl.lit(None, dtype=pl.String).alias("comm_args_kineto")
    )
    return pl.concat([left, right.select(left.columns)])
