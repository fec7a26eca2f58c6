"""Match the calls of a run: from its Flight Recorder dumps if there are any, else from its traces.

In:  the run's files, and its linked ranks. Out: a `RunMatching`: the job, and per rank which collective or
channel each of its calls belongs to. Decided here: a run is one job; traces are not matched beside dumps,
which know more (states, what was never called), unless none of these could be used. But the sends and recvs
that name no group (gloo's, which no dump holds) are matched by themselves, once peers/ has told their groups:
they pair and have channels, and say nothing of the health of a job. The judgement itself: matching/.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import polars as pl

from graphstore.errors import InputError
from graphstore.link.matching.file_dumps import flight_dumps
from graphstore.link.matching.host_calls import numbered_calls, trace_dumps
from graphstore.link.matching.matching import match_dumps, match_reduced
from graphstore.link.matching.model import Group, JobMatching, Matching
from graphstore.link.matching.reduce import Reduced, reduce_dump
from graphstore.link.peers import place_transfers
from graphstore.model.collectives import P2P_KINDS
from graphstore.model.records import FileRecords, RankGraph

DUMPS, TRACES = "flight_recorder", "traces"
BY_NUMBER, BY_ORDER, BY_ENDS = "collective_seq_id", "order", "ends"
IS_RECORDED = (pl.col("source") == DUMPS) | pl.col("joined_by").is_not_null()  # of a call: by a dump
PLACES = {
    "n": pl.Int64,
    "rank": pl.Int64,
    "group": pl.String,
    "seq": pl.Int64,  # of a collective, else null
    "src": pl.Int64,  # of a send or recv, else null
    "dst": pl.Int64,
    "is_send": pl.Boolean,
    "key": pl.Int64,  # what a pair of matching names a send or recv by: record_id, of traces the place
    "rule": pl.String,
}
NAMES = dict.fromkeys(("pg_name", "pg_desc", "known"), pl.String)


@dataclass
class RunMatching:
    """The calls of a run matched. `places`: a row per call that takes part, columns PLACES; n as in the rank.

    `job` is None where no call could be matched; `source` is flight_recorder or traces. `transfers` are the
    sends and recvs that were matched by themselves, of other channels than those of the job.
    """

    source: str | None = None
    matching: Matching = field(default_factory=lambda: Matching([]))
    places: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=PLACES))
    transfers: RunMatching | None = None

    @property
    def both(self) -> list[RunMatching]:
        """Return the matching of the job and, if there is one, that of the transfers."""
        return [self] if self.transfers is None else [self, self.transfers]

    @property
    def job(self) -> JobMatching | None:
        """Return the one job of the run."""
        return self.matching.jobs[0] if self.matching.jobs else None

    def names_of(self, rank: int) -> pl.DataFrame:
        """Return the groups that a rank means by its names: pg_name, pg_desc, known (the group key)."""
        return self._names.get(rank, pl.DataFrame(schema=NAMES))

    @cached_property
    def _names(self) -> dict[int, pl.DataFrame]:
        """Hold the names by rank: looked up rank by rank, thousands of them would cost their square."""
        rows: dict[int, list[tuple[str, str, str]]] = {}
        for (rank, name, desc), key in (self.job.group_of if self.job is not None else {}).items():
            rows.setdefault(rank, []).append((name, desc, key))
        return {rank: pl.DataFrame(own, schema=NAMES, orient="row") for rank, own in rows.items()}


def reduce_dumps(records: Sequence[FileRecords]) -> list[Reduced]:
    """Return the run's dumps as columns; to be called before linking uses their tables up."""
    return [reduce_dump(dump) for dump in flight_dumps(records)]


def match_run(dumps: Sequence[Reduced], ranks: Sequence[RankGraph]) -> RunMatching:
    """Return the calls of a run, matched; sends and recvs of `ranks` that name no group are told their peers.

    Raises InputError when the dumps are of several jobs: a run is one.
    """
    matched = _matched(dumps, ranks)
    placed = place_transfers(ranks, matched.places.filter(pl.col("rule") == BY_NUMBER))
    matched.transfers = _transfers(ranks, matched, placed)
    return matched


def _matched(dumps: Sequence[Reduced], ranks: Sequence[RankGraph]) -> RunMatching:
    of_dumps = RunMatching(DUMPS, match_reduced(dumps)) if dumps else RunMatching()
    _refuse_several(of_dumps.matching)
    if of_dumps.job is not None:
        of_dumps.places = _places_of_dumps(of_dumps, ranks)
        return of_dumps
    calls = numbered_calls(ranks)
    if not any(own.height for own in calls.values()):
        return of_dumps
    matched = RunMatching(TRACES, match_dumps(trace_dumps(ranks, calls)))
    matched.matching.set_aside |= of_dumps.matching.set_aside
    if matched.job is not None:
        matched.places = _places_of_traces(matched.job, ranks, calls)
    return matched


def _transfers(
    ranks: Sequence[RankGraph], matched: RunMatching, placed: Mapping[int, pl.DataFrame]
) -> RunMatching | None:
    """Return the sends and recvs that were told their group, matched; None if there are none.

    Queues are first in first out for each tag: calls are put side by side tag by tag.
    """
    taken = pl.DataFrame(schema={"group": pl.String}) if matched.job is None else matched.job.p2p
    calls = {
        rank: own.join(taken, on="group", how="anti", maintain_order="left")
        .sort("tag", "start_ns", "n", maintain_order=True)
        .with_row_index("order")
        for rank, own in placed.items()
    }
    if not any(own.height for own in calls.values()):
        return None
    found = RunMatching(TRACES, match_dumps(trace_dumps(ranks, calls)))
    if found.job is None:
        return None
    found.places = _places_of_traces(found.job, ranks, calls)
    return found


def with_recorded_groups(graph: RankGraph, matched: RunMatching) -> pl.DataFrame:
    """Return the rank's calls, those that a dump recorded with the group that matching found for them."""
    calls = graph.nodes["CollectiveCall"]
    if matched.source != DUMPS or matched.job is None:
        return calls
    keys = matched.names_of(graph.rank)
    is_recorded = IS_RECORDED & pl.col("known").is_not_null()
    return (
        _with_key(calls, keys)
        .with_columns(
            pl.when(is_recorded).then("known").otherwise("group").alias("group"),
            pl.when(is_recorded).then(pl.lit("recorded")).otherwise("group_origin").alias("group_origin"),
        )
        .drop("known")
    )


def _refuse_several(matching: Matching) -> None:
    if len(matching.jobs) > 1:
        parts = "; ".join(
            f"{job.files[0]} and {len(job.files) - 1} more" if len(job.files) > 1 else job.files[0]
            for job in matching.jobs
        )
        raise InputError(
            f"the Flight Recorder dumps are of {len(matching.jobs)} jobs ({parts}). Nothing was imported: "
            "import each by itself, or ask `graphstore hang` of all of them."
        )


def _with_key(calls: pl.DataFrame, keys: pl.DataFrame) -> pl.DataFrame:
    named = calls.with_columns(pl.col("pg_name").fill_null(""), pl.col("pg_desc").fill_null(""))
    known = named.join(keys, on=["pg_name", "pg_desc"], how="left", maintain_order="left")["known"]
    return calls.with_columns(known)


def _places_of_dumps(matched: RunMatching, ranks: Sequence[RankGraph]) -> pl.DataFrame:
    """Return where the recorded calls of all ranks belong; those of dumps set aside belong nowhere."""
    job, aside = matched.job, matched.matching.set_aside
    assert job is not None
    frames = []
    for graph in ranks:
        unused = [place for place, fact in enumerate(graph.files) if fact["name"] in aside]
        is_unused = pl.col("trace_file").is_in(unused).fill_null(False)
        calls = graph.nodes["CollectiveCall"].filter(IS_RECORDED & ~is_unused)
        calls = _with_key(calls, matched.names_of(graph.rank)).drop_nulls("known")
        is_p2p = pl.col("is_p2p").fill_null(False)
        frames.append(
            calls.select(
                "n",
                "rank",
                pl.col("known").alias("group"),
                pl.when(~is_p2p).then("collective_seq_id").alias("seq"),
                "collective_kind",
                "peer",
                pl.col("record_id").alias("key"),
                pl.lit(BY_NUMBER).alias("rule"),
            )
        )
    return _with_ends(frames, job)


def _places_of_traces(
    job: JobMatching, ranks: Sequence[RankGraph], calls: dict[int, pl.DataFrame]
) -> pl.DataFrame:
    """Return where the calls of all traces belong; those without a recorded number by their order."""
    frames = []
    for graph in ranks:
        recorded = graph.nodes["CollectiveCall"].select("n", pl.col("collective_seq_id").alias("recorded"))
        own = calls[graph.rank].join(recorded, on="n", how="left", maintain_order="left")
        frames.append(
            own.select(
                "n",
                "rank",
                "group",
                pl.col("collective_seq_id").alias("seq"),
                "collective_kind",
                "peer",
                pl.int_range(pl.len(), dtype=pl.Int64).alias("key"),
                pl.when(pl.col("recorded").is_null())
                .then(pl.lit(BY_ORDER))
                .otherwise(pl.lit(BY_NUMBER))
                .alias("rule"),
            )
        )
    return _with_ends(frames, job)


def _with_ends(frames: list[pl.DataFrame], job: JobMatching) -> pl.DataFrame:
    """Return the frames as one, columns PLACES: the peer of a send or recv as a global rank."""
    calls = pl.concat(frames)
    is_p2p = pl.col("collective_kind").is_in(list(P2P_KINDS)) & pl.col("seq").is_null()
    is_send = (pl.col("collective_kind") == "send").fill_null(False)
    joined = calls.join(
        _members_in_order(job.groups), on=["group", "peer"], how="left", maintain_order="left"
    )
    src, dst = (
        pl.when(is_p2p & (is_send if own else ~is_send))
        .then("rank")
        .when(is_p2p)
        .then("peer_rank")
        .alias(name)
        for name, own in (("src", True), ("dst", False))
    )
    rule = pl.when(is_p2p).then(pl.lit(BY_ENDS)).otherwise("rule").alias("rule")
    return joined.with_columns(src, dst, rule, is_send.alias("is_send")).select(
        pl.col(name).cast(kind) for name, kind in PLACES.items()
    )


def _members_in_order(groups: Sequence[Group]) -> pl.DataFrame:
    """Return a row per place in a group: group, peer (the place), peer_rank (the global rank there)."""
    rows = [(group.key, place, rank) for group in groups for place, rank in enumerate(group.order)]
    schema = {"group": pl.String, "peer": pl.Int64, "peer_rank": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")
