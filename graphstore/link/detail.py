"""Which recorded calls of a large job become nodes: those a fault concerns, and what each rank did before.

In:  the linked ranks of a run, matched. Out: the same with fewer calls; the ledgers say how many.
Decided here (matching.md §9): up to a million entries every one is a node. Beyond, at 2 GB a million, only
calls that are unfinished, part of a collective that is not settled, or seen in a trace, too, with the eight
before each on its rank. Every Collective and Channel stays, and all verdicts rest on all entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
import polars as pl

from graphstore.link.matching.model import MISMATCHES
from graphstore.link.run_matching import DUMPS, RunMatching
from graphstore.model.records import RankGraph

MOST_ENTRIES = 1_000_000
BEFORE = 8
NO_NODE = "told by its collective, no node of its own (--detail full makes one)"
UNSETTLED = (*MISMATCHES, "INCOMPLETE", "UNDECIDED")


def reduce_detail(ranks: Sequence[RankGraph], matched: RunMatching) -> None:
    """Leave out the calls that nothing hangs on, where the dumps hold more than MOST_ENTRIES entries."""
    entries = sum(graph.nodes["CollectiveCall"]["record_id"].count() for graph in ranks)
    if matched.source != DUMPS or matched.job is None or entries <= MOST_ENTRIES:
        return
    unsettled = matched.job.collectives.filter(pl.col("verdict").is_in(list(UNSETTLED))).select(
        "group", pl.col("collective_seq_id").alias("seq")
    )
    at_fault = matched.places.join(unsettled, on=["group", "seq"], how="semi").select("rank", "n")
    for graph in ranks:
        calls = graph.nodes["CollectiveCall"]
        faulty = at_fault.filter(pl.col("rank") == graph.rank)["n"]
        kept = calls.filter(_is_kept(faulty))
        _note(graph.files, calls.join(kept, on="n", how="anti"))
        graph.nodes["CollectiveCall"] = kept
    left = pl.concat([graph.nodes["CollectiveCall"].select("rank", "n") for graph in ranks])
    matched.places = matched.places.join(left, on=["rank", "n"], how="semi", maintain_order="left")


def _is_kept(faulty: pl.Series) -> pl.Expr:
    """Return which calls stay, in order of recording: those that matter, and BEFORE ahead of each."""
    unfinished = (pl.col("state") != "completed") & ~pl.col("retired").fill_null(False)
    seen = (pl.col("source") != DUMPS) | pl.col("state").is_null()
    matters = (unfinished | seen | pl.col("n").is_in(faulty.implode())).fill_null(True).cast(pl.Int8)
    following = matters.reverse().rolling_max(BEFORE + 1, min_samples=1).reverse()
    return following > 0


def _note(files: Sequence[dict[str, Any]], dropped: pl.DataFrame) -> None:
    """Move the calls that got no node from kept to left out, in the ledger of the file they are from."""
    for place, count in dropped.group_by("trace_file").len().sort("trace_file").iter_rows():
        facts = files[place]
        left_out = orjson.loads(facts["left_out"])
        left_out[NO_NODE] = left_out.get(NO_NODE, 0) + count
        facts |= {"kept": facts["kept"] - count, "left_out": orjson.dumps(left_out).decode()}
