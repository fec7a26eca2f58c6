"""What matching says as rows of nodes: collectives, channels, causes, facts of ranks, groups and the run.

In:  a `RunMatching`, the times of its collectives. Out: frames and rows; uids are given by assemble.py.
Decided here: nothing of the judgement; which property bears which part of it (model/schema_matching.py).
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Any

import orjson
import polars as pl

from graphstore.link.matching.deciding import what_decides
from graphstore.link.matching.evidence import KEPT, held_by_rank, unfinished_text
from graphstore.link.matching.model import Cause, Group, JobMatching
from graphstore.link.run_matching import DUMPS, RunMatching
from graphstore.model.records import complete, node_schema

Row = dict[str, Any]


def collectives(matched: RunMatching, times: pl.DataFrame) -> pl.DataFrame:
    """Return the Collective nodes, by group and number. `times`: group, seq and what call_times.py found."""
    job = matched.job
    if job is None or job.collectives.is_empty():
        return pl.DataFrame(schema=node_schema("Collective"))
    members = pl.col("rank").n_unique().cast(pl.Int64)  # one may have several entries, a block of calls
    counts = matched.places.drop_nulls("seq").group_by("group", "seq").agg(members.alias("calls"))
    ours, theirs = ["group", "collective_seq_id"], ["group", "seq"]
    word = pl.coalesce("collective_kind", "op_name", pl.lit("call"))
    rows = (
        job.collectives.join(counts, left_on=ours, right_on=theirs, how="left", maintain_order="left")
        .join(times, left_on=ours, right_on=theirs, how="left", maintain_order="left")
        .with_columns(
            pl.concat_str(word, pl.lit(" #"), pl.col("collective_seq_id").cast(pl.String)).alias("name"),
            pl.col("calls").fill_null(0),
        )
    )
    return complete(rows, node_schema("Collective"))


def channels(matched: RunMatching) -> pl.DataFrame:
    """Return the Channel nodes, by group, source and destination; those of the job first."""
    jobs = [one.job for one in matched.both if one.job is not None]
    return pl.concat([pl.DataFrame(schema=node_schema("Channel")), *(_channels(job) for job in jobs)])


def _channels(job: JobMatching) -> pl.DataFrame:
    if job.p2p.is_empty():
        return pl.DataFrame(schema=node_schema("Channel"))
    labels = {group.key: group.label for group in job.groups}
    name = pl.concat_str(
        pl.col("src").cast(pl.String),
        pl.lit("->"),
        pl.col("dst").cast(pl.String),
        pl.lit(" on "),
        pl.col("group").replace_strict(labels, default=pl.col("group"), return_dtype=pl.String),
    )
    return complete(
        job.p2p.with_columns(name.alias("name"), pl.col("how").fill_null("")), node_schema("Channel")
    )


def causes(matched: RunMatching) -> list[Row]:
    """Return the Cause nodes, in the order of the answer."""
    job = matched.job
    return [] if job is None else [_cause(job, place, cause) for place, cause in enumerate(job.causes, 1)]


def _cause(job: JobMatching, place: int, cause: Cause) -> Row:
    group = group_named(job, cause.group, cause.ranks)
    return {
        "name": cause.rule,
        "rule": cause.rule,
        "place": place,
        "proven": cause.is_proven,
        "message": cause.message,
        "ranks": cause.ranks,
        "blamed": cause.blamed,
        "undecided": cause.undecided,
        "confidence": cause.confidence,
        "basis": cause.basis,
        "group": None if group is None else group.key,
        "collective_seq_id": cause.seq,
        "op_name": cause.op,
        "site": cause.site,
        "divergence": None if cause.divergence is None else _json(cause.divergence),
        "evidence": _json(cause.evidence),
    }


def group_named(job: JobMatching, name: str | None, ranks: list[int]) -> Group | None:
    """Return the group that these ranks mean by a name; of several the first with one of them in it."""
    named = [group for group in job.groups if group.name == name]
    fitting = (group for group in named if any(_holds(group, rank) for rank in ranks))
    return next(fitting, named[0] if named else None)


def _holds(group: Group, rank: int) -> bool:
    """Return whether a rank is a member; members are sorted, and there may be thousands."""
    place = bisect_left(group.members, rank)
    return place < len(group.members) and group.members[place] == rank


def rank_facts(matched: RunMatching) -> dict[int, Row]:
    """Return {rank: what matching says of it}; with dumps also of the ranks that have none."""
    job = matched.job
    if job is None:
        return {}
    out: dict[int, Row] = {rank: {} for rank in job.ranks["dumped"]}
    if matched.source == DUMPS:
        held = dict.fromkeys(job.ranks["world"], KEPT) | held_by_rank(job)
        out = {rank: {"dump": dump} for rank, dump in sorted(held.items())}
    for rank, unfinished in job.first_unfinished.items():
        out.setdefault(rank, {}).update(
            first_unfinished=unfinished_text(unfinished, rank),
            first_unfinished_group=unfinished["group"],
            first_unfinished_site=unfinished["site"],
            unfinished=unfinished["n"],
        )
    return out


def group_rows(matched: RunMatching) -> list[Row]:
    """Return the groups of the job as the ProcessGroups they are, each with what proves its members."""
    job = matched.job
    return [
        {
            "name": group.key,
            "group": group.key,
            "pg_name": group.name,
            "pg_desc": group.desc or None,
            "members": list(group.members),
            "group_size": group.size or (len(group.members) if group.complete else None),
            "backend": None,
            "origin": group.origin,
            "complete": group.complete,
            "listed_by": [],
        }
        for group in (job.groups if job is not None else ())
    ]


def run_facts(matched: RunMatching) -> Row:
    """Return what the Run bears of matching."""
    job = matched.job
    if job is None and not matched.matching.set_aside:
        return {"matched_from": None, "healthy": None, "matching": None}
    of_job = (
        {}
        if job is None
        else {
            "calls": job.calls,
            "notes": job.notes,
            "versions": job.versions,
            "files": job.files,
            "ranks": job.ranks,
            "first_divergence": job.first_divergence,
        }
    )
    told = of_job | {
        "would_decide": what_decides(matched.matching, matched.source == DUMPS),
        "set_aside": matched.matching.set_aside,
    }
    return {
        "matched_from": matched.source,
        "healthy": matched.matching.healthy,
        "matching": _json(told),
    }


def _json(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()
