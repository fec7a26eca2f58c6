"""Cases for the looks at time, memory and the archive."""

from __future__ import annotations

from tests.queries.cases import Case, case
from tests.queries.cases.health import answered, file, kept
from tests.queries.cases.structure import timed
from tests.queries.graphs import GraphBuilder


@case
def steps_of_two_ranks(g: GraphBuilder) -> Case:
    """By rank and step; an op outside of every step does not count."""
    g.op("a", step=1, **timed(0, 10))
    g.op("b", step=1, **timed(5, 20))
    g.op("c", step=2, **timed(30, 5))
    g.op("d", step=1, rank=1, **timed(7, 1))
    g.op("e", **timed(90, 1))
    rows = [(0, 1, 2, 0, 25), (0, 2, 1, 30, 35), (1, 1, 1, 7, 8)]
    return Case("time/show_steps", g.build(), rows)


@case
def ops_with_the_longest_own_time(g: GraphBuilder) -> Case:
    """Longest first, the earlier first among equals, no more than asked; one without times is out."""
    g.op("short", self_ns=1, duration_ns=100)
    first = g.op("long", self_ns=9, duration_ns=9)
    second = g.op("long", self_ns=9, duration_ns=20, rank=1)
    g.op("untimed")
    rows = [(first, 0, "long", 9, 9), (second, 1, "long", 9, 20)]
    return Case("time/show_top_ops", g.build(), rows, {"count": 2})


@case
def time_by_name(g: GraphBuilder) -> Case:
    """Sums by name, the most own time first."""
    g.op("a", self_ns=1, duration_ns=10)
    g.op("a", self_ns=2, duration_ns=30)
    g.op("b", self_ns=7, duration_ns=7)
    g.op("untimed")
    rows = [("b", 1, 7, 7, 7), ("a", 2, 40, 3, 30)]
    return Case("time/show_time_by_name", g.build(), rows)


@case
def streams_with_their_busy_time(g: GraphBuilder) -> Case:
    """By rank, device and stream."""
    for start, stream in ((0, 7), (20, 7), (5, 20)):
        g.node("Kernel", "k", device=0, stream=stream, start_ns=start, duration_ns=10)
    rows = [(0, 0, 7, 2, 20, 0, 30), (0, 0, 20, 1, 10, 5, 15)]
    return Case("time/show_streams", g.build(), rows)


@case
def copies_by_name(g: GraphBuilder) -> Case:
    """Copies and sets, no kernels; bytes the file does not say count nothing."""
    g.node("Kernel", "Memcpy HtoD", device_kind="memcpy", size_bytes=8, duration_ns=2)
    g.node("Kernel", "Memcpy HtoD", device_kind="memcpy", duration_ns=3)
    g.node("Kernel", "Memset", device_kind="memset", size_bytes=4, duration_ns=1)
    g.node("Kernel", "sgemm", device_kind="kernel", duration_ns=50)
    rows = [(0, "memcpy", "Memcpy HtoD", 2, 8, 5), (0, "memset", "Memset", 1, 4, 1)]
    return Case("memory/show_copies", g.build(), rows)


@case
def what_is_known_of_a_run(g: GraphBuilder) -> Case:
    """The Run node; the others of the archive do not come."""
    g.properties |= {"origin_ns": 5, "created": "2031-01-01", "tool_version": "0", "tags": ["a"]}
    file(g)
    rows = [(g.run, g.run, "ready", 1, [0], 5, "2031-01-01", "0", ["a"])]
    return Case("archive/show_run", g.build(), rows)


@case
def files_of_a_run(g: GraphBuilder) -> Case:
    """By kind, rank and name; a file without a rank comes last of its kind."""
    trace = file(g, rank_origin="content", schema="1.0.3", size_bytes=9, compression="gz", cut_at="byte 9")
    bare = file(g, "broken.json", rank=None, problem="no JSON")
    kineto = file(g, "kineto.json", kind="kineto")
    rows = [
        (trace, "et.json", "et", 0, "content", "1.0.3", 9, "gz", None, "byte 9"),
        (bare, "broken.json", "et", None, None, None, None, None, "no JSON", None),
        (kineto, "kineto.json", "kineto", 0, None, None, None, None, None, None),
    ]
    return Case("archive/show_files", g.build(), rows)


@case
def ledger_of_a_run(g: GraphBuilder) -> Case:
    """Read, kept and left out of each file."""
    file(g, records_read=10, kept=9, left_out='{"flows":1}')
    file(g, "kineto.json", kind="kineto", records_read=2, kept=2, left_out="{}")
    rows = [
        ("et.json", "et", 0, 10, 9, '{"flows":1}'),
        ("kineto.json", "kineto", 0, 2, 2, "{}"),
    ]
    return Case("archive/show_ledger", g.build(), rows)


@case
def labels_of_a_run(g: GraphBuilder) -> Case:
    """Ops by kind, then what is no op."""
    file(g)
    g.node("Rank", "rank 0", rank=0)
    g.node("Thread", "thread 1", rank=0)
    g.node("Stream", "device 0 stream 7", rank=0)
    g.node("ProcessGroup", "0[0]", group="0[0]")
    for label in ("Collective", "Channel", "Cause"):
        g.node(label, label)
    call = g.op("launch", g.op("a"), label="RuntimeCall")
    g.edge("LAUNCHES", call, g.node("Kernel", "k"))
    g.node("Kernel", "k")
    rows = [
        ("HostOp", 1),
        ("Kernel", 2),
        ("RuntimeCall", 1),
        ("Cause", 1),
        ("Channel", 1),
        ("Collective", 1),
        ("Finding", 1),
        ("ProcessGroup", 1),
        ("Rank", 1),
    ]
    rows += [("Repair", 1), ("Run", 1), ("Stream", 1), ("Thread", 1), ("TraceFile", 1)]
    before = (kept(g, "a"), *answered(g, "a"))
    return Case("archive/count_labels", g.build(), rows, before=before)


@case
def edges_of_a_run(g: GraphBuilder) -> Case:
    """By type and the kinds of both ends."""
    op = g.op("a")
    call = g.op("launch", op, label="RuntimeCall")
    kernel = g.node("Kernel", "k")
    g.edge("LAUNCHES", call, kernel)
    g.edge("SYNC", kernel, op, rule="sync_dep")
    g.op("b", op)
    rank, group = g.node("Rank", "rank 0", rank=0), g.node("ProcessGroup", "0[0]", group="0[0]")
    comm = g.node("CollectiveCall", "all_reduce")
    g.edge("ON_RANK", file(g), rank)
    g.edge("IN_RUN", rank, g.run_no << 32)
    g.edge("MEMBER", rank, group)
    g.edge("IN_GROUP", comm, group)
    g.edge("SEEN_AS", comm, op, rule="host_op")
    whole, channel = g.node("Collective", "all_reduce #1"), g.node("Channel", "0 to 0")
    g.edge("PEER", g.node("CollectiveCall", "send"), comm, rule="pairing")
    for part in (whole, channel):
        g.edge("CALL_OF", comm, part, rule="recorded")
        g.edge("IN_GROUP", part, group)
    g.edge("WAITS_FOR", rank, whole, wait="in_call")
    g.edge("WAITS_FOR", whole, rank, wait="never")
    g.edge("WAITS_FOR", rank, rank, wait="p2p")
    rows = [
        ("CTRL", "HostOp", "HostOp", 1),
        ("CTRL", "HostOp", "RuntimeCall", 1),
        ("LAUNCHES", "RuntimeCall", "Kernel", 1),
        ("PEER", "CollectiveCall", "CollectiveCall", 1),
        ("SEEN_AS", "CollectiveCall", "HostOp", 1),
        ("SYNC", "Kernel", "HostOp", 1),
        ("ABOUT", "Finding", "Run", 1),
        ("CALL_OF", "CollectiveCall", "Channel", 1),
        ("CALL_OF", "CollectiveCall", "Collective", 1),
        ("IN_GROUP", "Channel", "ProcessGroup", 1),
        ("IN_GROUP", "Collective", "ProcessGroup", 1),
        ("IN_GROUP", "CollectiveCall", "ProcessGroup", 1),
        ("IN_RUN", "Rank", "Run", 1),
        ("MADE", "Repair", "Finding", 1),
        ("MEMBER", "Rank", "ProcessGroup", 1),
        ("ON_RANK", "TraceFile", "Rank", 1),
        ("WAITS_FOR", "Collective", "Rank", 1),
        ("WAITS_FOR", "Rank", "Collective", 1),
        ("WAITS_FOR", "Rank", "Rank", 1),
    ]
    about = ("health/write_subject_run", {"rows": [{"fid": f"{g.run}:a", "role": "run"}]})
    before = (kept(g, "a"), *answered(g, "a"), about)
    return Case("archive/count_edges", g.build(), rows, before=before)
