"""Exposed communication and idle streams of the shared sets, against the raw files read moment by moment.

The expected numbers are made here from the JSON of the Kineto traces, in plain Python: the time of a call is
cut at every start and end in its file, and each piece is asked what ran in it.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from graphstore.link.overlaps import COMMUNICATION
from graphstore.link.rank import link_rank
from graphstore.link.structure import rank_row
from graphstore.model.records import FileRecords, RankGraph
from tests.integration.matching_sets import records_of
from tests.integration.raw_traces import DEVICE, HOST, Event, covered, read_events

WITH_DEVICES = ("public/dlrm_8r", "public/resnet_103", "public/kineto_h100", "torch214_synthgpu_2r")
ON_CPUS = (
    *("torch213/ddp_cnn_2r", "torch213/fsdp2_2r", "torch213/tp_pp_4r", "torch213/ddp_cnn_4r"),
    "missing_parents/d2_async_collectives_overlap",
)


def ranks_of(folder: Path) -> dict[int, tuple[RankGraph, list[Event]]]:
    """Return {rank: its linked graph, the events of its Kineto file}."""
    by_rank: dict[int, list[FileRecords]] = defaultdict(list)
    for record in records_of(folder):
        by_rank[record.facts["rank"]].append(record)
    out = {}
    for rank, files in by_rank.items():
        (kineto,) = [Path(file.path) for file in files if file.facts["kind"] == "kineto"]
        out[rank] = (link_rank(rank, files), read_events(kineto))
    return out


def pieces(start: int, end: int, events: list[Event]) -> list[tuple[int, int]]:
    """Return the time from `start` to `end`, cut where any of the events starts or ends."""
    cuts = {time for event in events for time in (event.start, event.end) if start < time < end} | {
        start,
        end,
    }
    return list(pairwise(sorted(cuts)))


def hidden_by_kernels(start: int, end: int, events: list[Event]) -> int:
    """Return how long, from `start` to `end`, a kernel ran that is not NCCL's."""
    near = [
        e
        for e in events
        if e.cat == "kernel" and "nccl" not in e.name.lower() and e.start < end and e.end > start
    ]
    return sum(b - a for a, b in pieces(start, end, near) if any(e.start <= a and e.end >= b for e in near))


def hidden_by_threads(worker: Event, events: list[Event]) -> int:
    """Return how long the innermost op of another thread was an operator that does not communicate."""
    near = [
        e
        for e in events
        if e.cat in HOST and e.lane != worker.lane and e.start < worker.end and e.end > worker.start
    ]
    hidden = 0
    for a, b in pieces(worker.start, worker.end, near):
        open_: dict[Any, list[Event]] = defaultdict(list)
        for e in near:
            if e.start <= a and e.end >= b:
                open_[e.lane].append(e)
        hidden += (b - a) * any(computes(stack) for stack in open_.values())
    return hidden


def computes(stack: list[Event]) -> bool:
    """Return whether the op that a thread entered last is an operator, with no communication around it."""
    innermost = max(stack, key=lambda e: (e.start, -e.end))
    talks = any(
        e.name.startswith(("c10d::", "gloo:", "_c10d_functional::", "record_param_comms")) for e in stack
    )
    return innermost.cat == "cpu_op" and not talks


@pytest.mark.parametrize("name", WITH_DEVICES)
def test_kernels_that_compute_hide_communication(name: str, data_dir: Path) -> None:
    """Of every NCCL kernel: exposed + overlapped is its duration, and overlapped what is counted here."""
    for graph, events in ranks_of(data_dir / name).values():
        nccl = sorted(
            (e for e in events if e.cat == "kernel" and "nccl" in e.name.lower()),
            key=lambda e: (e.start, e.end),
        )
        calls = graph.nodes["CollectiveCall"].sort("start_ns")

        assert (calls["exposed_ns"] + calls["overlapped_ns"]).to_list() == calls["duration_ns"].to_list()
        assert calls["duration_ns"].to_list() == [e.lasts for e in nccl]
        assert calls["overlapped_ns"].to_list() == [hidden_by_kernels(e.start, e.end, events) for e in nccl]


@pytest.mark.parametrize("name", ON_CPUS)
def test_operators_on_other_threads_hide_communication(name: str, data_dir: Path) -> None:
    """Of every gloo op of a call: exposed + overlapped is its duration, overlapped what is counted here."""
    for graph, events in ranks_of(data_dir / name).values():
        workers = {(e.start, e.end): e for e in events if e.name.startswith("gloo:")}
        base = min(start for start, _ in workers)
        calls = graph.nodes["CollectiveCall"].drop_nulls("exposed_ns").sort("start_ns")
        first = calls["start_ns"][0]

        assert (calls["exposed_ns"] + calls["overlapped_ns"]).to_list() == calls["duration_ns"].to_list()
        for start, lasts, overlapped in calls.select("start_ns", "duration_ns", "overlapped_ns").iter_rows():
            worker = workers[start - first + base, start - first + base + lasts]
            assert overlapped == hidden_by_threads(worker, events)


@pytest.mark.parametrize("name", WITH_DEVICES)
def test_idle_streams_and_busy_devices(name: str, data_dir: Path) -> None:
    """Of each stream idle time = span less what is covered; of the rank what all streams cover, by work."""
    for graph, events in ranks_of(data_dir / name).values():
        device = [e for e in events if e.cat in DEVICE]
        nccl = [e for e in device if "nccl" in e.name.lower()]
        compute = [e for e in device if e.cat == "kernel" and e not in nccl]
        idle = {}
        for stream in {e.lane for e in device}:
            mine = [e for e in device if e.lane == stream]
            idle[stream] = max(e.end for e in mine) - min(e.start for e in mine) - covered(mine)

        kernels, row = graph.nodes["Kernel"], rank_row(graph)

        found = kernels.group_by("stream").agg(pl.sum("idle_ns")).rows()
        assert dict(found) == idle
        assert kernels.filter(work=COMMUNICATION).height == len(nccl)
        assert (row["device_busy_ns"], row["computing_ns"]) == (covered(device), covered(compute))
        assert row["communicating_ns"] == covered(nccl)
        assert row["device_span_ns"] == max(e.end for e in device) - min(e.start for e in device)
        both = covered(nccl) + covered(compute) - covered(nccl + compute)
        assert row["overlapped_ns"] == both
