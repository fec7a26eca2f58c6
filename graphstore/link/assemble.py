"""Put the ranks of a run together: uids, files, ranks, threads, streams, groups, and one clock.

In:  the RankGraphs of a run, and the records of files that belong to no rank.
Out: a RunGraph, ready for a store. Decided here: places of uids (0 is the Run, then what the run is made of,
then the ops rank by rank), the origin of time, and groups that only several ranks together tell.
Linking within a rank: rank.py. What makes two groups one: process_groups.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson
import polars as pl

import graphstore
from graphstore.link import matched_nodes
from graphstore.link.call_times import CallTimes, call_times
from graphstore.link.detail import reduce_detail
from graphstore.link.matched_edges import call_edges, member_edges, wait_edges
from graphstore.link.process_groups import Group
from graphstore.link.run_groups import calls_with_groups, run_groups, with_peer_ranks
from graphstore.link.run_matching import RunMatching, with_recorded_groups
from graphstore.link.structure import rank_row, stream_rows, thread_rows
from graphstore.model.ids import content_hash, uid_of
from graphstore.model.records import EdgeTable, FileRecords, RankGraph, RunGraph, complete, node_schema
from graphstore.model.schema import OP_KINDS

NUMBERED = ("root", "encloser")  # properties that name another node of the rank
CHAKRA = "ChakraNode"  # its clock is its own: exports count from the start of the run


def assemble(
    run: str,
    run_no: int,
    name: str,
    ranks: list[RankGraph],
    other_files: list[FileRecords],
    matched: RunMatching | None = None,
    full_detail: bool = False,
) -> RunGraph:
    """Return the graph of a whole run; `run` is its id, `run_no` its number in the archive.

    `matched` are the calls of the ranks put side by side; without it nothing is said across ranks. Of dumps
    with very many entries only some become nodes, unless `full_detail` (detail.py). Status is left to the
    store. `created` is now, `content_hash` that of the files given.
    """
    matched = matched or RunMatching()
    ranks = sorted(ranks, key=lambda graph: graph.rank)
    groups, times, calls = _across_ranks(ranks, matched, full_detail)
    facts = [fact for graph in ranks for fact in graph.files] + [record.facts for record in other_files]
    structure = _Structure(run, run_no)
    parts = _add_parts(structure, ranks, facts, _rank_rows(ranks, matched, times), groups)
    collectives = structure.add_frame("Collective", matched_nodes.collectives(matched, times.collectives))
    channels = structure.add_frame("Channel", matched_nodes.channels(matched))
    structure.add("Cause", matched_nodes.causes(matched))

    ops = _Ops(run, run_no, structure.places)
    start = 0
    for graph, comm in zip(ranks, calls, strict=True):
        ops.add(graph, comm, parts.files[start : start + len(graph.files)])
        start += len(graph.files)
    nodes, origin = ops.nodes()
    edges = [
        *ops.edges(),
        *parts.edges,
        member_edges(matched, groups, parts.ranks, parts.groups),
        _in_group("Op", nodes["CollectiveCall"], parts.groups),
        _in_group("Collective", collectives, parts.groups),
        _in_group("Channel", channels, parts.groups),
        *call_edges(matched, ops.call_uids(), collectives, channels),
        *wait_edges(matched, parts.ranks, collectives),
    ]
    own = _run_properties(run, run_no, name, [graph.rank for graph in ranks], facts, origin)
    return RunGraph(
        own | matched_nodes.run_facts(matched),
        structure.nodes | nodes,
        [table for table in edges if table.frame.height],
    )


def _across_ranks(
    ranks: Sequence[RankGraph], matched: RunMatching, full_detail: bool
) -> tuple[list[Group], CallTimes, list[pl.DataFrame]]:
    """Return what only all ranks together tell: groups, times of calls, and the calls of each rank."""
    for graph in ranks:
        graph.nodes["CollectiveCall"] = with_recorded_groups(graph, matched)
    groups = run_groups(ranks, matched_nodes.group_rows(matched))
    times = call_times(ranks, matched.places)
    if not full_detail:
        reduce_detail(ranks, matched)
    waits = times.waits.partition_by("rank", as_dict=True)
    calls = [
        _with_waits(with_peer_ranks(calls_with_groups(graph, groups), groups), waits.get((graph.rank,)))
        for graph in ranks
    ]
    return groups, times, calls


@dataclass(frozen=True)
class _Parts:
    """What a run has beside its ops: uids of files, {rank: uid}, {group key: uid}, and edges between them."""

    files: list[int]
    ranks: dict[int, int]
    groups: dict[str, int]
    edges: list[EdgeTable]


def _add_parts(
    structure: _Structure,
    ranks: Sequence[RankGraph],
    facts: Sequence[dict[str, Any]],
    rank_rows: Sequence[dict[str, Any]],
    groups: Sequence[Group],
) -> _Parts:
    """Add files, ranks, threads, streams and groups of a run."""
    files = structure.add("TraceFile", facts)
    uids = structure.add("Rank", rank_rows)
    of_rank = dict(zip((row["rank"] for row in rank_rows), uids, strict=True))
    threads = [row for graph in ranks for row in thread_rows(graph)]
    streams = [row for graph in ranks for row in stream_rows(graph)]
    on_rank = [
        ("TraceFile", files, [fact.get("rank") for fact in facts]),
        ("Thread", structure.add("Thread", threads), [row["rank"] for row in threads]),
        ("Stream", structure.add("Stream", streams), [row["rank"] for row in streams]),
    ]
    keys = structure.add("ProcessGroup", groups)
    in_run = [("TraceFile", files), ("Rank", uids)]
    edges = [
        *(_in_run(label, own, structure.run) for label, own in in_run),
        *(_on_rank(label, own, its_rank, of_rank) for label, own, its_rank in on_rank),
    ]
    of_group = dict(zip((group["group"] for group in groups), keys, strict=True))
    return _Parts(files, of_rank, of_group, edges)


def _rank_rows(ranks: Sequence[RankGraph], matched: RunMatching, times: CallTimes) -> list[dict[str, Any]]:
    """Return the Rank nodes by rank: those that are loaded, and those of whom a dump is missing."""
    rows = {graph.rank: rank_row(graph) for graph in ranks}
    for rank, facts in matched_nodes.rank_facts(matched).items():
        rows[rank] = rows.get(rank, {"name": f"rank {rank}", "rank": rank}) | facts
    for rank, offset in times.offsets.items():
        rows[rank] |= {
            "clock_offset_ns": offset.ns,
            "clock_offset_calls": offset.calls,
            "clock_offset_spread_ns": offset.spread_ns,
        }
    return [rows[rank] for rank in sorted(rows)]


def _with_waits(calls: pl.DataFrame, waits: pl.DataFrame | None) -> pl.DataFrame:
    """Return the calls of a rank with how long each waited for the last member; `waits`: n, wait_ns."""
    if waits is None:
        return calls
    own = waits.select("n", "wait_ns")
    return calls.drop("wait_ns").join(own, on="n", how="left", maintain_order="left")


class _Structure:
    """The nodes a run is made of beside its ops; `places` is the next free place."""

    def __init__(self, run: str, run_no: int) -> None:
        self.run = run
        self._run_no = run_no
        self.places = 1  # place 0 is the Run itself
        self.nodes: dict[str, pl.DataFrame] = {}

    def add(self, label: str, rows: Sequence[dict[str, Any]]) -> list[int]:
        """Add the nodes of one label; return their uids."""
        uids = [uid_of(self._run_no, self.places + n) for n in range(len(rows))]
        self.places += len(rows)
        schema = node_schema(label)
        columns = {key: [row.get(key) for row in rows] for key in schema}
        frame = pl.DataFrame(
            columns | {"uid": uids, "run": [self.run] * len(rows)}, schema=schema, strict=False
        )
        self.nodes[label] = frame
        return uids

    def add_frame(self, label: str, frame: pl.DataFrame) -> pl.DataFrame:
        """Add the nodes of one label, a row each with the label's properties; return them with their uids."""
        first = uid_of(self._run_no, self.places)
        self.places += frame.height
        self.nodes[label] = frame.with_columns(
            pl.int_range(first, first + frame.height, dtype=pl.Int64).alias("uid"),
            pl.lit(self.run).alias("run"),
        )
        return self.nodes[label]


class _Ops:
    """The ops of all ranks, numbered by uid; `nodes` and `edges` give them when all ranks are in."""

    def __init__(self, run: str, run_no: int, first: int) -> None:
        self._run = run
        self._next = uid_of(run_no, first)
        self._frames: dict[str, list[pl.DataFrame]] = {label: [] for label in OP_KINDS}
        self._edges: dict[str, list[pl.DataFrame]] = {}
        self._calls: list[pl.DataFrame] = []

    def add(self, graph: RankGraph, comm: pl.DataFrame, file_uids: Sequence[int]) -> None:
        """Add one rank: its n become uids, its file places uids of TraceFiles. `comm` are its calls."""
        files = pl.Series([*file_uids, None], dtype=pl.Int64)
        self._calls.append(comm.select("rank", "n", (pl.col("n") + self._next).alias("uid")))
        for label, frame in (graph.nodes | {"CollectiveCall": comm}).items():
            at_file = frame["trace_file"].fill_null(len(file_uids))
            numbered = [pl.col(name) + self._next for name in NUMBERED if name in frame.columns]
            self._frames[label].append(
                complete(
                    frame.with_columns(
                        (pl.col("n") + self._next).alias("uid"),
                        pl.lit(self._run).alias("run"),
                        files.gather(at_file).alias("trace_file"),
                        *numbered,
                    ),
                    node_schema(label),
                )
            )
        for kind, edges in graph.edges.items():
            moved = edges.with_columns(pl.col("src") + self._next, pl.col("dst") + self._next)
            self._edges.setdefault(kind, []).append(moved)
        numbers = (frame["n"].max() for frame in graph.nodes.values())  # calls may have been left out
        self._next += 1 + max((n for n in numbers if isinstance(n, int)), default=-1)

    def call_uids(self) -> pl.DataFrame:
        """Return rank, n and uid of every communication call."""
        schema = {"rank": pl.Int64, "n": pl.Int64, "uid": pl.Int64}
        return pl.concat(self._calls) if self._calls else pl.DataFrame(schema=schema)

    def nodes(self) -> tuple[dict[str, pl.DataFrame], int | None]:
        """Return {label: frame} with times since the origin of the run, and that origin (ns) if any."""
        joined = {
            label: pl.concat(frames) if frames else pl.DataFrame(schema=node_schema(label))
            for label, frames in self._frames.items()
        }
        origin = _origin(joined)
        chakra_origin = _earliest([joined[CHAKRA]])
        relative = {
            label: frame.with_columns(
                pl.col("start_ns") - ((chakra_origin if label == CHAKRA else origin) or 0)
            )
            for label, frame in joined.items()
        }
        return relative, chakra_origin if origin is None else origin

    def edges(self) -> list[EdgeTable]:
        """Return the edges between ops, one table a type."""
        return [EdgeTable(kind, "Op", "Op", pl.concat(frames)) for kind, frames in self._edges.items()]


def _origin(nodes: dict[str, pl.DataFrame]) -> int | None:
    """Return the earliest start of an op (ns), without ops that of a call: dumps reach further back."""
    of_ops = _earliest([frame for label, frame in nodes.items() if label not in (CHAKRA, "CollectiveCall")])
    return _earliest([nodes["CollectiveCall"]]) if of_ops is None else of_ops


def _earliest(frames: Sequence[pl.DataFrame]) -> int | None:
    starts = [frame["start_ns"].min() for frame in frames]
    return min((start for start in starts if isinstance(start, int)), default=None)


def _edges(
    kind: str, source: str, target: str, pairs: Sequence[tuple[Any, Any]], to: Any = pl.Int64
) -> EdgeTable:
    frame = pl.DataFrame(pairs, schema={"src": pl.Int64, "dst": to}, orient="row")
    return EdgeTable(kind, source, target, frame)


def _in_run(label: str, uids: Sequence[int], run: str) -> EdgeTable:
    return _edges("IN_RUN", label, "Run", [(uid, run) for uid in uids], pl.String)


def _on_rank(label: str, uids: Sequence[int], ranks: Sequence[Any], uid_of_rank: dict[int, int]) -> EdgeTable:
    pairs = [(uid, uid_of_rank[rank]) for uid, rank in zip(uids, ranks, strict=True) if rank in uid_of_rank]
    return _edges("ON_RANK", label, "Rank", pairs)


def _in_group(label: str, calls: pl.DataFrame, uid_of_group: dict[str, int]) -> EdgeTable:
    keys = pl.DataFrame(
        {"group": list(uid_of_group), "dst": list(uid_of_group.values())},
        schema={"group": pl.String, "dst": pl.Int64},
    )
    joined = calls.select("uid", "group").join(keys, on="group", maintain_order="left")
    return EdgeTable("IN_GROUP", label, "ProcessGroup", joined.select(pl.col("uid").alias("src"), "dst"))


def _run_properties(
    run: str, run_no: int, name: str, ranks: list[int], facts: list[dict[str, Any]], origin: int | None
) -> dict[str, Any]:
    """Return the properties of the Run."""
    sizes = [fact["world_size"] for fact in facts if fact.get("world_size")]
    return {
        "uid": uid_of(run_no, 0),
        "run": run,
        "name": name,
        "run_no": run_no,
        "world_size": max(sizes, default=len(ranks)),
        "ranks": ranks,
        "origin_ns": origin,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "tool_version": graphstore.__version__,
        "content_hash": content_hash(fact["sha256"] for fact in facts if fact.get("sha256")),
        "tags": [],
        "note": None,
        "trace_bytes": sum(fact.get("size_bytes") or 0 for fact in facts),
        "ledger": orjson.dumps(ledger(facts)).decode(),
    }


def ledger(facts: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return {file kind: files, records read, kept and left out by reason}, summed over the files."""
    out: dict[str, dict[str, Any]] = {}
    for fact in facts:
        of_kind = out.setdefault(str(fact.get("kind")), {"files": 0, "read": 0, "kept": 0, "left_out": {}})
        of_kind["files"] += 1
        of_kind["read"] += fact.get("records_read") or 0
        of_kind["kept"] += fact.get("kept") or 0
        for reason, count in orjson.loads(fact.get("left_out") or "{}").items():
            of_kind["left_out"][reason] = of_kind["left_out"].get(reason, 0) + count
    return out
