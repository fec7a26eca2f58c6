"""Link the files of one rank: execution trace, Kineto trace and Chakra file become one `RankGraph`.

In:  FileRecords of one rank. Out: nodes numbered by `n`, edges between them, facts of the files with what
linking found. Decided here: what a rank may consist of, and who is whose caller (`decisions.md` 7). The rules
themselves: host_host, nesting, forest, host_device, collectives. Nodes and edges made of what was found:
numbering.py. The run of all ranks: assemble.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from graphstore.errors import InputError
from graphstore.link import forest, host_device
from graphstore.link.collectives import find_calls
from graphstore.link.flight_entries import Joined, join_entries, read_entries
from graphstore.link.host_host import (
    external_ids,
    match_host_ops,
    merge_host_ops,
    refuse_other_run,
    what_differs,
)
from graphstore.link.nesting import Ints, Spans, at, sort_spans
from graphstore.link.numbering import Places, Tables, number_edges, number_nodes
from graphstore.link.overlaps import with_overlaps
from graphstore.link.process_groups import Groups, listed_groups
from graphstore.link.segments import segments
from graphstore.link.waits import Lanes, find_waits
from graphstore.model.records import FileRecords, RankGraph, empty

ET_KINDS = ("et", "et_plus")


def link_rank(rank: int, files: list[FileRecords], allow_mismatch: bool = False) -> RankGraph:
    """Return the linked graph of one rank.

    Raises RunMismatchError when execution trace and Kineto trace are provably of different runs (unless
    `allow_mismatch`), InputError when two files of the rank hold the same records.
    """
    facts = [dict(record.facts) | {"rank": rank} for record in files]
    et, kineto, chakra = _files_by_role(rank, files)
    tables = _tables(files, facts, et, kineto, chakra, allow_mismatch)
    places = _link(tables)
    if kineto is not None:
        facts[kineto] |= places.facts
    sizes = {fact["world_size"] for fact in facts if fact.get("world_size")}
    listed = listed_groups(group for record in files for group in record.groups)
    groups = Groups(listed, sizes.pop() if len(sizes) == 1 else None)
    launcher = np.where(
        places.launches.call >= 0, at(places.caller, places.launches.call), places.kernel_parent
    )
    found = find_calls(tables.host, places.parent, places.encloser, tables.kernels, launcher, groups)
    joined = join_entries(found, read_entries(files), tables.host)
    _note_joins(facts, joined)
    calls = with_overlaps(joined.calls, tables.host, tables.kernels, places.lanes)
    graph = RankGraph(rank, files=facts, groups=groups.known())
    for record in files:
        graph.thread_names |= record.thread_names
    graph.nodes = number_nodes(rank, tables, places, calls)
    waits = find_waits(
        tables.host,
        places.encloser,
        (tables.calls, tables.kernels, tables.syncs),
        places.lanes,
        places.caller,
        places.launches.call,
        calls,
    )
    graph.waits_left_out = waits.left_out
    graph.edges = number_edges(tables, places, calls, waits.edges)
    return graph


def _note_joins(facts: list[dict[str, Any]], joined: Joined) -> None:
    """Note in the facts of the rank's dump how many of its entries are calls of the traces, too.

    Of a process that was dumped twice the dump whose path comes first is told.
    """
    dumps = [fact for fact in facts if fact["kind"] == "flight_recorder"]
    if dumps:
        told = min(dumps, key=lambda fact: str(fact["path"]))
        told |= {"entries_joined": len(joined.rows), "entry_joins_disagree": joined.disagreeing}


def _files_by_role(rank: int, files: Sequence[FileRecords]) -> tuple[int | None, int | None, int | None]:
    """Return the places of the execution trace, the Kineto trace and the Chakra file among `files`."""
    found: dict[str, int] = {}
    for place, record in enumerate(files):
        kind = "et" if record.facts["kind"] in ET_KINDS else record.facts["kind"]
        if kind not in ("et", "kineto", "chakra_et"):
            continue
        if kind in found:
            raise InputError(
                f"{files[found[kind]].path} and {record.path} are both the {kind} file of rank {rank}. "
                f"Nothing was loaded. Leave one out, or say whose they are with --rank FILE=N."
            )
        found[kind] = place
    et, kineto = found.get("et"), found.get("kineto")
    if et is not None and kineto is not None and files[et].facts["kind"] == "et_plus":
        raise InputError(
            f"{files[et].path} holds the device ops of rank {rank} already, and {files[kineto].path} would "
            f"bring them again. Nothing was loaded. Give the merged trace, or the two it was made from."
        )
    return et, kineto, found.get("chakra_et")


def _tables(
    files: Sequence[FileRecords],
    facts: list[dict[str, Any]],
    et: int | None,
    kineto: int | None,
    chakra: int | None,
    allow_mismatch: bool,
) -> Tables:
    """Return the rank's tables; matches host ops and notes in the Kineto file's facts how."""

    def table(place: int | None, name: str) -> pl.DataFrame:
        if place is None or name not in files[place].tables:
            return empty(name)
        return files[place].tables[name].with_columns(pl.lit(place, dtype=pl.Int64).alias("trace_file"))

    device = et if kineto is None else kineto
    host = table(et, "host_ops")
    theirs = table(kineto, "host_ops")
    if et is not None and kineto is not None:
        match = match_host_ops(host, theirs)
        refuse_other_run(match, facts[et], facts[kineto], allow_mismatch)
        differs = what_differs(match, facts[et], facts[kineto], theirs, _world_size(files[et]))
        ids_meet, names_agree = external_ids(host, theirs)
        facts[kineto] |= match.facts(facts[et]["name"], differs)
        facts[kineto] |= {"link_external_ids_meet": ids_meet, "link_external_names_agree": names_agree}
        host = merge_host_ops(host, theirs, match)
    else:
        host = pl.concat([host, theirs]).with_columns(pl.lit(None, dtype=pl.String).alias("comm_args_kineto"))
    return Tables(
        host,
        table(kineto, "runtime_calls"),
        table(device, "kernels"),
        table(kineto, "sync_events"),
        table(chakra, "chakra_nodes"),
    )


def _world_size(et: FileRecords) -> int | None:
    """Return the size of the job as an execution trace tells it: by itself, or by its default group."""
    if et.facts.get("world_size") is not None:
        return int(et.facts["world_size"])
    default = [g for g in et.groups if g.get("pg_name") == "0" or g.get("pg_desc") == "default_pg"]
    return max((g.get("group_size") or len(g.get("ranks") or []) for g in default), default=None) or None


def _link(tables: Tables) -> Places:
    """Return who calls, encloses and launches whom."""
    host, calls, kernels = tables.host, tables.calls, tables.kernels
    group, call_group = _thread_groups(host, calls)
    timed = np.flatnonzero(host["start_ns"].is_not_null().to_numpy() & (group >= 0))
    spans = _spans(host, group, timed)
    encloser = np.full(host.height, -1, dtype=np.int64)
    encloser[timed] = spans.enclosers()
    encloser[timed] = at(timed, encloser[timed])
    parent = np.where(host["node_id"].is_null().to_numpy(), encloser, _named_parents(host, host))
    launches = host_device.find_launches(kernels, calls)
    caller = host_device.find_callers(calls, call_group, spans)
    facts = host_device.launch_facts(kernels, calls, host["external_id"][timed], launches, caller, spans)
    lanes = _lanes(host, timed[spans.row], spans.group, call_group)
    return Places(encloser, parent, at(timed, caller), _named_parents(host, kernels), launches, lanes, facts)


def _lanes(host: pl.DataFrame, row: Ints, lane: Ints, call_lane: Ints) -> Lanes:
    """Return the threads of the rank, cut into segments by the times as recorded."""
    some = host.select("start_ns", "duration_ns")[row]
    start = some["start_ns"].to_numpy()
    return Lanes(
        row, lane, call_lane, segments(lane, start, start + some["duration_ns"].fill_null(0).to_numpy())
    )


def _thread_groups(host: pl.DataFrame, calls: pl.DataFrame) -> tuple[Ints, Ints]:
    """Return a number for the thread of each host op and each runtime call, the same for the same thread.

    An op without a Kineto thread is put by its tid, which is no thread but the best there is; -1 where there
    is neither.
    """
    both = pl.concat(
        [
            host.select("process", "thread", "tid"),
            calls.select("process", "thread", tid=pl.lit(None, pl.Int64)),
        ]
    )
    tid = pl.when(pl.col("thread").is_null()).then("tid").alias("tid")
    number = pl.struct("process", "thread", tid).rank("dense").cast(pl.Int64)
    unknown = pl.col("thread").is_null() & pl.col("tid").is_null()
    groups = both.select(pl.when(unknown).then(-1).otherwise(number)).to_series().to_numpy()
    return groups[: host.height], groups[host.height :]


def _spans(host: pl.DataFrame, group: Ints, timed: Ints) -> Spans:
    """Return the spans of the host ops that have times; their input places are those in `timed`."""
    some = host.select("start_ns", "duration_ns", "external_id", "order")[timed]
    start = some["start_ns"].to_numpy()
    end = start + some["duration_ns"].fill_null(0).to_numpy()
    created = some["external_id"].to_numpy() if some["external_id"].null_count() == 0 else None
    return sort_spans(group[timed], start, end, created, some["order"].to_numpy())


def _named_parents(host: pl.DataFrame, children: pl.DataFrame) -> Ints:
    """Return the row in `host` of the parent that each row of `children` names, -1 where it is absent."""
    rows = np.flatnonzero(host["node_id"].is_not_null().to_numpy())
    nodes = host.select("node_id", "order")[rows]
    wanted = children.select(pl.col("parent_id").fill_null(0), "order")
    known = children.select(pl.col("parent_id").is_not_null() & pl.col("node_id").is_not_null()).to_series()
    found = forest.rows_named(
        nodes["node_id"].to_numpy(),
        nodes["order"].to_numpy(),
        wanted["parent_id"].to_numpy(),
        wanted["order"].to_numpy(),
        known.to_numpy(),
    )
    return at(rows, found)
