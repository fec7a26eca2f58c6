"""What the answer rests on, as rows: how far each rank came in each group, and the call it stands in.

In:  a `Matching`. Out: a frame with a row per group and member, and who waits in which call for whom.
Decided here: a member of whom no file tells anything in a group has no row, unless its file is absent.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from graphstore.link.matching.model import Group, JobMatching, Matching

KEPT = "kept"
EVIDENCE: dict[str, Any] = {
    "job": pl.Int64,
    "group": pl.String,
    "pg_name": pl.String,
    "rank": pl.Int64,
    "calls": pl.String,  # what the rank's file holds: kept, active only, none, no file
    "first_kept": pl.Int64,
    "last_kept": pl.Int64,
    "last_enqueued": pl.Int64,
    "last_completed": pl.Int64,
    "first_unfinished": pl.String,
    "site": pl.String,
}


def evidence_rows(matching: Matching) -> pl.DataFrame:
    """Return a row per group and member, in the order of groups and ranks; columns are EVIDENCE.

    Numbers are collective_seq_ids, null where the files do not tell them. `first_unfinished` is the first
    call in order of recording that the rank has not finished; it stands in the group it belongs to.
    """
    rows = [row for number, job in enumerate(matching, 1) for row in _of_job(number, job)]
    return pl.DataFrame(rows, schema=EVIDENCE, orient="row")


def waits(job: JobMatching) -> list[dict[str, Any]]:
    """Return a row per unfinished call: its group, the ranks that stand in it first, and whom they wait for.

    `waits_for` is {rank: kind}: never, queued, p2p, no_dump or undecided (matching.md §8).
    """
    calls: dict[tuple[str, str, tuple[tuple[int, str], ...]], dict[str, Any]] = {}
    shared: dict[int, tuple[tuple[int, str], ...]] = {}  # all ranks in one call share one dict
    for rank, unfinished in job.first_unfinished.items():
        found = job.waits_for.get(rank, {})
        key = shared.setdefault(id(found), tuple(sorted(found.items())))
        call = unfinished_text(unfinished, rank)
        row = {"group": _label(job, unfinished["group"], rank), "call": call, "site": unfinished["site"]}
        entry = calls.setdefault(
            (unfinished["group"], call, key), row | {"ranks": [], "waits_for": dict(found)}
        )
        entry["ranks"].append(rank)
    return list(calls.values())


def unfinished_text(unfinished: dict[str, Any], rank: int) -> str:
    """Return a rank's first unfinished call as a person names it: `all_reduce #6`, `send to rank 8`."""
    if unfinished["kind"] == "p2p":
        src, dst = unfinished["at"]
        return f"send to rank {dst}" if rank == src else f"recv from rank {src}"
    return f"{unfinished['op'].rpartition(':')[2]} #{unfinished['at']}"


def _label(job: JobMatching, name: str, rank: int) -> str:
    """Return the label of a rank's group of that name."""
    return next((g.label for g in job.groups if g.name == name and rank in g.members), name)


def _of_job(number: int, job: JobMatching) -> Iterator[dict[str, Any]]:
    counters = {(rank, group): told for rank, group, *told in job.counters.iter_rows()}
    held = held_by_rank(job)
    for group in job.groups:
        windows = job.windows.get(group.key, {})
        rows = [
            _row(job, group, rank, windows.get(rank), counters.get((rank, group.key)))
            for rank in group.members
        ]
        if any(row.keys() - {"rank"} for row in rows):
            label = group.label  # once: it names all members
            yield from (
                {"job": number, "group": label, "pg_name": group.name}
                | {"calls": held.get(row["rank"], KEPT)}
                | row
                for row in rows
                if row.keys() - {"rank"} or held.get(row["rank"]) is not None
            )


def _row(
    job: JobMatching,
    group: Group,
    rank: int,
    window: tuple[int, int, int] | None,
    counters: list[int | None] | None,
) -> dict[str, Any]:
    """Return what the files tell of a rank in a group, and nothing else beside the rank."""
    row: dict[str, Any] = {"rank": rank}
    if window is not None:
        row |= {"first_kept": window[0], "last_kept": window[1]}
    if counters is not None:
        row |= {"last_enqueued": counters[0], "last_completed": counters[1]}
    unfinished = job.first_unfinished.get(rank)
    if unfinished is not None and unfinished["group"] == group.name:
        row |= {"first_unfinished": unfinished_text(unfinished, rank), "site": unfinished["site"]}
    return row


def held_by_rank(job: JobMatching) -> dict[int, str]:
    """Return what the files of ranks hold, where that is not simply calls (KEPT)."""
    return (
        dict.fromkeys(job.ranks["filtered"], "active only")
        | dict.fromkeys(job.ranks["empty"], "none")
        | dict.fromkeys(job.ranks["no_dump"], "no file")
    )
