"""Exposed communication and idle streams of the shared sets, against the raw files read moment by moment.

The expected numbers are made here from the JSON of the Kineto traces, in plain Python: the time of a call is
cut at every start and end in its file, and each piece is asked what ran in it.
"""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from decimal import Decimal
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

Event = tuple[str, int, int, str, Any]  # name, start, end (ns), category, lane
WITH_DEVICES = ("public/dlrm_8r", "public/resnet_103", "public/kineto_h100", "torch214_synthgpu_2r")
ON_CPUS = (
    *("torch213/ddp_cnn_2r", "torch213/fsdp2_2r", "torch213/tp_pp_4r", "torch213/ddp_cnn_4r"),
    "missing_parents/d2_async_collectives_overlap",
)
DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")


def ranks_of(folder: Path) -> dict[int, tuple[RankGraph, list[Event]]]:
    """Return {rank: its linked graph, the events of its Kineto file}."""
    by_rank: dict[int, list[FileRecords]] = defaultdict(list)
    for record in records_of(folder):
        by_rank[record.facts["rank"]].append(record)
    out = {}
    for rank, files in by_rank.items():
        (kineto,) = [Path(file.path) for file in files if file.facts["kind"] == "kineto"]
        out[rank] = (link_rank(rank, files), events_of(kineto))
    return out


def events_of(path: Path) -> list[Event]:
    """Return the spans of a Kineto file with their category in small letters, and the lane they lie on."""
    document = json.loads(gzip.decompress(path.read_bytes()), parse_float=Decimal)
    return [
        (
            e["name"],
            ns(e["ts"]),
            ns(e["ts"]) + ns(e["dur"]),
            e["cat"].lower(),
            e["args"].get("stream") if e["cat"].lower() in DEVICE else e["tid"],
        )
        for e in document["traceEvents"]
        if e.get("ph") == "X" and e.get("cat", "").lower() in (*DEVICE, "cpu_op", "user_annotation")
    ]


def ns(us: int | Decimal) -> int:
    """Return µs as ns; a float would lose the last digits of an absolute time."""
    return round(us * 1_000)


def pieces(start: int, end: int, events: list[Event]) -> list[tuple[int, int]]:
    """Return the time from `start` to `end`, cut where any of the events starts or ends."""
    cuts = {time for _, a, b, _, _ in events for time in (a, b) if start < time < end} | {start, end}
    return list(pairwise(sorted(cuts)))


def hidden_by_kernels(start: int, end: int, events: list[Event]) -> int:
    """Return how long, from `start` to `end`, a kernel ran that is not NCCL's."""
    near = [
        e for e in events if e[3] == "kernel" and "nccl" not in e[0].lower() and e[1] < end and e[2] > start
    ]
    return sum(b - a for a, b in pieces(start, end, near) if any(e[1] <= a and e[2] >= b for e in near))


def hidden_by_threads(start: int, end: int, own: Any, events: list[Event]) -> int:
    """Return how long the innermost op of any thread but `own` was an operator that does not communicate."""
    near = [e for e in events if e[4] != own and e[1] < end and e[2] > start]
    hidden = 0
    for a, b in pieces(start, end, near):
        open_: dict[Any, list[Event]] = defaultdict(list)
        for e in near:
            if e[1] <= a and e[2] >= b:
                open_[e[4]].append(e)
        hidden += (b - a) * any(computes(stack) for stack in open_.values())
    return hidden


def computes(stack: list[Event]) -> bool:
    """Return whether the op that a thread entered last is an operator, with no communication around it."""
    innermost = max(stack, key=lambda e: (e[1], -e[2]))
    talks = any(
        e[0].startswith(("c10d::", "gloo:", "_c10d_functional::", "record_param_comms")) for e in stack
    )
    return innermost[3] == "cpu_op" and not talks


def covered(events: list[Event]) -> int:
    """Return how long any of the events ran."""
    total, reach = 0, 0
    for _, start, end, _, _ in sorted(events, key=lambda e: e[1]):
        total += max(0, end - max(start, reach))
        reach = max(reach, end)
    return total


@pytest.mark.parametrize("name", WITH_DEVICES)
def test_kernels_that_compute_hide_communication(name: str, data_dir: Path) -> None:
    """Of every NCCL kernel: exposed + overlapped is its duration, and overlapped what is counted here."""
    for graph, events in ranks_of(data_dir / name).values():
        nccl = sorted(
            (e for e in events if e[3] == "kernel" and "nccl" in e[0].lower()), key=lambda e: e[1:3]
        )
        calls = graph.nodes["CollectiveCall"].sort("start_ns")

        assert (calls["exposed_ns"] + calls["overlapped_ns"]).to_list() == calls["duration_ns"].to_list()
        assert calls["duration_ns"].to_list() == [end - start for _, start, end, _, _ in nccl]
        assert calls["overlapped_ns"].to_list() == [hidden_by_kernels(e[1], e[2], events) for e in nccl]


@pytest.mark.parametrize("name", ON_CPUS)
def test_operators_on_other_threads_hide_communication(name: str, data_dir: Path) -> None:
    """Of every gloo op of a call: exposed + overlapped is its duration, overlapped what is counted here."""
    for graph, events in ranks_of(data_dir / name).values():
        workers = {(e[1], e[2]): e for e in events if e[0].startswith("gloo:")}
        base = min(start for start, _ in workers)
        calls = graph.nodes["CollectiveCall"].drop_nulls("exposed_ns").sort("start_ns")
        first = calls["start_ns"][0]

        assert (calls["exposed_ns"] + calls["overlapped_ns"]).to_list() == calls["duration_ns"].to_list()
        for start, lasts, overlapped in calls.select("start_ns", "duration_ns", "overlapped_ns").iter_rows():
            _, begin, end, _, thread = workers[start - first + base, start - first + base + lasts]
            assert overlapped == hidden_by_threads(begin, end, thread, events)


@pytest.mark.parametrize("name", WITH_DEVICES)
def test_idle_streams_and_busy_devices(name: str, data_dir: Path) -> None:
    """Of each stream idle time = span less what is covered; of the rank what all streams cover, by work."""
    for graph, events in ranks_of(data_dir / name).values():
        device = [e for e in events if e[3] in DEVICE]
        nccl = [e for e in device if "nccl" in e[0].lower()]
        compute = [e for e in device if e[3] == "kernel" and e not in nccl]
        idle = {}
        for stream in {e[4] for e in device}:
            mine = [e for e in device if e[4] == stream]
            idle[stream] = max(e[2] for e in mine) - min(e[1] for e in mine) - covered(mine)

        kernels, row = graph.nodes["Kernel"], rank_row(graph)

        found = kernels.group_by("stream").agg(pl.sum("idle_ns")).rows()
        assert dict(found) == idle
        assert kernels.filter(work=COMMUNICATION).height == len(nccl)
        assert (row["device_busy_ns"], row["computing_ns"]) == (covered(device), covered(compute))
        assert row["communicating_ns"] == covered(nccl)
        assert row["device_span_ns"] == max(e[2] for e in device) - min(e[1] for e in device)
        both = covered(nccl) + covered(compute) - covered(nccl + compute)
        assert row["overlapped_ns"] == both
