"""What holds of the file of every rank, whatever its traces say: made at random, linked, cut into nodes."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from graphstore.chakra.et_def_pb2 import Node, NodeType
from graphstore.export.chakra import RankNodes, messages
from graphstore.export.columns import RankColumns
from graphstore.export.communication import Communication
from graphstore.export.figures import contradictions
from graphstore.export.order import host_order
from graphstore.export.pieces import DEVICE, FIRST, GAP_TIME, REST, Pieces, pieces
from graphstore.export.rank_nodes import rank_nodes
from graphstore.export.replay import in_slots, unlimited
from graphstore.export.validate import validate_nodes
from graphstore.link.rank import link_rank
from graphstore.model.markers import GROUP_INIT
from tests.data import builders
from tests.data.builders import Row
from tests.unit.export.linked import columns_of, details
from tests.unit.export.ranks import call, kernel, nodes_of, op, rank_of, timed

US = 1_000
MAIN, AUTOGRAD, WORKER, LOADER = 1, 2, 3, 4
NAMES = {
    MAIN: ["aten::mm", "c10d::allreduce_", "record_param_comms", "nccl:all_reduce", "wait"],
    AUTOGRAD: ["autograd::engine::evaluate_function: MulBackward0", "aten::mul"],
    WORKER: ["gloo:all_reduce"],
    LOADER: ["aten::stack", "Optimizer.step#SGD.step"],
}
CALLS = [
    "cudaLaunchKernel",
    "cudaMemcpyAsync",
    "cudaStreamSynchronize",
    "cudaDeviceSynchronize",
    "cudaEventSynchronize",
    "cudaStreamWaitEvent",
    "cudaEventRecord",
    "cudaFree",
]
RULES = [
    "host_wait.certain",
    "stream_wait.recorded",
    "collective_wait.likely",
    "hand_over.likely",
    "hand_back.likely",
    "worker_done.likely",
    "thread_start.timing",
    "sync_dep",
]


# --- ranks as traces tell them ------------------------------------------------------------------------------


@st.composite
def threads(draw: st.DrawFn) -> list[Row]:
    """Return host ops of four threads in µs or finer, nested and clashing as they come."""
    unit = draw(st.sampled_from([US, 1]))
    ops: list[Row] = []
    for thread, names in NAMES.items():
        for _ in range(draw(st.integers(0, 5))):
            start, length = draw(st.integers(0, 300)) * US, draw(st.integers(0, 200)) * US
            marked = draw(st.booleans()) and thread in (MAIN, LOADER)
            name = "ProfilerStep#1" if marked else draw(st.sampled_from(names))
            kind = "user_annotation" if marked else "cpu_op"
            off = 0 if unit == US else draw(st.integers(0, 900))
            row = builders.span(name, start + off, start + off + length, len(ops) + 1, thread, category=kind)
            ops.append(row | {"external_id": len(ops) + 1})
    return ops


@st.composite
def device_work(draw: st.DrawFn) -> tuple[list[Row], list[Row], list[Row]]:
    """Return runtime calls, device ops that start no earlier than their launch, and sync events."""
    calls: list[Row] = []
    kernels: list[Row] = []
    for correlation in range(1, draw(st.integers(0, 8)) + 1):
        start, length = draw(st.integers(0, 400)) * US, draw(st.integers(0, 120)) * US
        name, thread = draw(st.sampled_from(CALLS)), draw(st.sampled_from([MAIN, AUTOGRAD, 9]))
        calls.append(builders.call(correlation, start, start + length, thread, name=name))
        if name in CALLS[:2]:
            begin = start + draw(st.integers(0, 150)) * US
            name = draw(st.sampled_from(["gemm", "ncclDevKernel_AllReduce_Sum"]))
            stream = draw(st.sampled_from([7, 8, None]))
            end = begin + draw(st.integers(0, 150)) * US
            launched = draw(st.integers(0, 5))  # once in a while its call is not in the file
            kernels.append(builders.kernel(correlation if launched else 900, begin, end, name, stream=stream))
    numbers = st.integers(0, 9)
    kinds = ["Stream Wait Event", "Stream Sync", "Event Sync", "Context Sync"]
    syncs = [
        {"name": kind, "sync_kind": kind, "device": 0, "stream": draw(st.sampled_from([7, 8]))}
        | {"wait_on_stream": draw(st.sampled_from([7, 8])), "wait_on_record_correlation": draw(numbers)}
        | {"correlation": draw(numbers)}
        for kind in draw(st.lists(st.sampled_from(kinds), max_size=3))
    ]
    return calls, kernels, syncs


@st.composite
def traced_ranks(draw: st.DrawFn) -> RankColumns:
    """Return a rank of a Kineto trace and, at times, an execution trace whose parents are there or absent."""
    ops = draw(threads())
    files = [builders.kineto_file(ops, *draw(device_work()))]
    if draw(st.booleans()) and ops:
        nodes = [
            builders.node(
                10 + n, row["name"], draw(st.sampled_from([2, 5, *range(10, 10 + len(ops))])), n + 1
            )
            for n, row in enumerate(ops)
        ]
        files.insert(0, builders.et_file([*builders.roots(), *nodes]))
    return columns_of(link_rank(0, files, allow_mismatch=True))


# --- ranks as nobody would record them ----------------------------------------------------------------------


@st.composite
def columns(draw: st.DrawFn) -> RankColumns:
    """Return any columns: times, trees, launches and waits in any direction, of every rule."""
    numbers = st.integers(0, 60)
    host: list[Row] = []
    for uid in range(1, draw(st.integers(0, 10)) + 1):
        start, tid = draw(numbers) * US, draw(st.integers(1, 2))
        node_id = draw(st.sampled_from([-1, uid, uid + 3]))
        thread, end = draw(st.integers(1, 2)), start + draw(st.integers(0, 20)) * US
        host.append(
            timed(uid, start, end, thread=thread, tid=tid, node_id=node_id)
            if draw(st.integers(0, 3))
            else op(uid, tid=tid, node_id=draw(st.integers(1, 20)))
        )
    count = draw(st.integers(0, 6))
    kernels = [
        kernel(100 + k, start := draw(numbers) * US, start + draw(numbers) * US, draw(st.integers(-1, 1)))
        for k in range(count)
    ]
    calls = [
        call(
            200 + k, start := draw(numbers) * US, start + draw(numbers) * US, draw(st.sampled_from([1, 2, 9]))
        )
        for k in range(count)
    ]
    ops = [row["uid"] for row in host]
    everything = [*ops, *range(100, 100 + count), *range(200, 200 + count), 999]
    ends = st.sampled_from(everything)
    ctrl = {
        child: draw(st.sampled_from(ops))
        for child in [*ops, *range(200, 200 + count)]
        if len(ops) > 1 and draw(st.booleans())
    }
    seen = draw(st.lists(st.tuples(st.sampled_from(ops), st.sampled_from(ops)), max_size=3)) if ops else []
    pairs = {(draw(ends), draw(ends)) for _ in range(draw(st.integers(0, 8)))}
    return rank_of(
        host,
        kernels,
        calls,
        call_ops=[
            (role, 300 + k, uid)
            for k, pair in enumerate(seen)
            for role, uid in zip(("host_op", "worker"), pair, strict=True)
        ],
        CTRL=[(parent, child) for child, parent in ctrl.items() if parent != child],
        LAUNCHES=[(200 + k, 100 + k) for k in range(count) if draw(st.booleans())],
        SYNC=[(*pair, draw(st.sampled_from(RULES))) for pair in sorted(pairs)],
    )


ANY = st.one_of(traced_ranks(), columns())


def written(rank: RankColumns) -> tuple[RankNodes, Pieces, list[Node]]:
    """Return the nodes of a rank as columns, as pieces and as messages; its first device op communicates."""
    found = {rank.host.height: Communication(NodeType.COMM_COLL_NODE, SIZED)} if rank.kernels.height else {}
    ready, cut = rank_nodes(rank, found)
    return ready, cut, nodes_of(messages(ready, details))


SIZED = (("comm_size", "int64_val", 8), ("comm_type", "int64_val", 0))


@given(ANY)
@settings(max_examples=100)
def test_every_file_is_valid_and_holds_every_op_once(rank: RankColumns) -> None:
    """Ids ascend, no dep is absent, named twice or ahead, so it is acyclic by construction.

    Each op is there as a first piece or a device op; further pieces name the id of a first piece before them.
    """
    ready, _, nodes = written(rank)

    assert [problem for problem in validate_nodes(nodes) if problem.rule != "no_nodes"] == []
    assert [node.id for node in nodes] == list(range(1, len(nodes) + 1))
    assert all(dep < node.id for node in nodes for dep in (*node.ctrl_deps, *node.data_deps))
    first = ready.place[np.isin(ready.nodes.kind, (FIRST, DEVICE))]
    assert sorted(first.tolist()) == list(range(rank.host.height + rank.kernels.height))
    parts = [next((a.int64_val for a in node.attr if a.name == "part_of"), None) for node in nodes]
    assert [part is not None for part in parts] == (ready.nodes.kind == REST).tolist()
    assert all(
        part is None or (part < node.id and nodes[part - 1].name == node.name)
        for node, part in zip(nodes, parts, strict=True)
    )


@given(ANY)
@settings(max_examples=100)
def test_no_reader_starts_a_node_before_what_it_waits_for_has_ended(rank: RankColumns) -> None:
    """Played from the messages alone. Ctrl deps say nothing that data deps do not: they move no node."""
    ready, _, nodes = written(rank)
    lasts = np.array([node.duration_micros for node in nodes], np.int64)
    ends: dict[int, int] = {}
    for node in nodes:
        ends[node.id] = max((ends[dep] for dep in node.data_deps), default=0) + node.duration_micros
        assert node.name == GROUP_INIT or all(
            ends[dep] <= ends[node.id] - node.duration_micros for dep in node.ctrl_deps
        )
    slots = in_slots(lasts, ready.nodes.deps, np.zeros(len(nodes), np.int64))

    assert (unlimited(lasts, ready.nodes.deps) + lasts).tolist() == list(ends.values())
    for node in nodes:
        for dep in node.data_deps:
            assert slots[node.id - 1] >= slots[dep - 1] + lasts[dep - 1]
    assert max(slots + lasts, default=0) == lasts.sum()  # one slot: one after the other, no pause


@given(ANY)
@settings(max_examples=100)
def test_pieces_of_a_thread_and_device_ops_of_a_stream_follow_each_other(rank: RankColumns) -> None:
    """Each waits for the one before it; pieces never overlap in time."""
    cut = pieces(rank)
    order = np.argsort(cut.kept.number)
    deps: list[list[int]] = [[] for _ in order]
    for dep, node in zip(cut.kept.source.tolist(), cut.kept.target.tolist(), strict=True):
        deps[node].append(dep)
    before: dict[int, set[int]] = {}
    for node in order.tolist():
        before[node] = set(deps[node]).union(*(before[dep] for dep in deps[node]))
    for lane in np.unique(cut.lane[cut.lane >= 0]).tolist():
        line = [node for node in order.tolist() if cut.lane[node] == lane]
        assert all(one in before[other] for one, other in pairwise(line))
        assert all(
            cut.end[one] <= cut.start[other] for one, other in pairwise(line) if cut.kind[one] != DEVICE
        )
    assert (cut.end >= cut.start).all()


@given(traced_ranks())
@settings(max_examples=100)
def test_time_of_a_thread_is_work_or_a_wait_for_something(rank: RankColumns) -> None:
    """From its first op or call to its last, a thread's pieces leave out only what an edge makes up for.

    Nothing starts before its launch here, so no edge that was kept contradicts the times.
    """
    cut = pieces(rank)
    waiting = {rule for rule in cut.kept.rules if rule.partition(".")[0] in WAITS_OF_THREADS}
    made_up = {
        int(node)
        for node, rule in zip(cut.kept.target, cut.kept.rule, strict=True)
        if cut.kept.rules[rule] in waiting
    }
    for lane in np.unique(cut.lane[np.isin(cut.kind, (FIRST, REST, GAP_TIME)) & (cut.lane >= 0)]):
        mine = np.flatnonzero((cut.lane == lane) & np.isin(cut.kind, (FIRST, REST, GAP_TIME)))
        early = False  # whether time has been left out that no edge has made up for yet
        for before, behind in pairwise(mine.tolist()):
            assert cut.end[before] <= cut.start[behind]
            early = (early or cut.end[before] < cut.start[behind]) and behind not in made_up
            assert not early or cut.end[behind] == cut.start[behind]
    busy = sum((cut.end - cut.start)[cut.kind == FIRST]) + sum((cut.end - cut.start)[cut.kind == REST])
    assert busy <= sum(union_of_threads(rank).values())
    assert contradictions(cut) == 0


WAITS_OF_THREADS = {
    "host_wait",
    "hand_over",
    "hand_back",
    "worker_done",
    "thread_start",
    "call to its worker",
}


def union_of_threads(rank: RankColumns) -> Counter[int]:
    """Return how long some op is open on each thread."""
    out: Counter[int] = Counter()
    lanes, host = host_order(rank.host).lane, rank.host
    spans = zip(lanes.tolist(), host["start_ns"].to_list(), host["duration_ns"].to_list(), strict=True)
    until: dict[int, int] = {}
    for lane, start, lasts in sorted(spans):
        begin = max(start, until.get(lane, start))
        out[lane] += max(start + lasts - begin, 0)
        until[lane] = max(until.get(lane, start), start + max(lasts, 0))
    return out


@given(columns())
@settings(max_examples=30)
def test_the_keys_of_another_archive_give_the_same_file(rank: RankColumns) -> None:
    """uids carry the number of the run: adding to all of them changes nothing that is written."""

    def moved(frame: pl.DataFrame) -> pl.DataFrame:
        keys = ("uid", "source", "target", "call_uid", "op_uid")
        found = [name for name in keys if frame.schema.get(name) == pl.Int64]
        return frame.with_columns(pl.col(found) + (7 << 32))

    names = ("host", "kernels", "launches", "edges", "waits", "calls", "call_ops")
    frames: dict[str, Any] = {name: moved(getattr(rank, name)) for name in names}

    assert written(rank)[2] == written(RankColumns(0, **frames))[2]
