"""Cases for the statements that give paths: what a graph view draws, each edge as (start, type, end)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from tests.queries.cases import Case, case
from tests.queries.cases.communication import call, group
from tests.queries.cases.health import finding
from tests.queries.cases.matching import ALL, collective, part, rank
from tests.queries.cases.repairs import repair
from tests.queries.graphs import GraphBuilder

Before = tuple[tuple[str, dict[str, Any]], ...]


def found(g: GraphBuilder, fid: str, *subjects: int, rule: str = "missing_parent") -> Before:
    """Return the writings of a finding about some ops."""
    row = finding(g, fid, rule=rule)
    tied = [{"fid": row["fid"], "uid": uid, "role": "orphan"} for uid in subjects]
    return ("health/write_findings", {"rows": [row]}), ("health/write_subject_ops", {"rows": tied})


def launched(g: GraphBuilder, op: int, **properties: Any) -> tuple[int, int]:
    """Add a runtime call under an op and the kernel it launched; return both."""
    launch = g.op("cudaLaunchKernel", op, label="RuntimeCall")
    kernel = g.node("Kernel", "k", **properties)
    g.edge("LAUNCHES", launch, kernel)
    return launch, kernel


@case
def picture_of_a_run(g: GraphBuilder) -> Case:
    """Files and ranks hang on the run, threads and streams on their rank."""
    run = g.build().run["uid"]
    first, file = rank(g, 0), g.node("TraceFile", "et.json", kind="et")
    thread, stream = g.node("Thread", "thread 7"), g.node("Stream", "device 0 stream 7")
    for part_of_run in (first, file):
        g.edge("IN_RUN", part_of_run, run)
    for part_of_rank in (thread, stream, file):
        g.edge("ON_RANK", part_of_rank, first)
    rows = [
        (first, "IN_RUN", g.run),
        (file, "IN_RUN", g.run),
        (thread, "ON_RANK", first),
        (stream, "ON_RANK", first),
    ]
    return Case("archive/show_run.graph", g.build(), rows)


@case
def picture_of_findings(g: GraphBuilder) -> Case:
    """Of a finding about eleven ops the first ten are drawn; every finding is."""
    ops = [g.op("aten::add") for _ in range(11)]
    before = (*found(g, "a", *ops), *found(g, "b", ops[10]))
    rows = [(f"{g.run}:a", "ABOUT", op) for op in ops[:10]] + [(f"{g.run}:b", "ABOUT", ops[10])]
    return Case("health/show_findings.graph", g.build(), rows, before=before)


@case
def picture_of_one_finding(g: GraphBuilder) -> Case:
    """What it is about, and the callers of that; another finding's subject does not come."""
    above = g.op("above")
    op, other = g.op("aten::add", above), g.op("aten::mul", above)
    before = (*found(g, "a", op), *found(g, "b", other))
    fid = f"{g.run}:a"
    rows = [(fid, "ABOUT", op), (above, "CTRL", op)]
    return Case("health/show_finding_subjects.graph", g.build(), rows, {"fid": fid}, before=before)


@case
def picture_of_a_call_tree(g: GraphBuilder) -> Case:
    """Four steps down, launches included; the fifth, and what lies above, do not come."""
    ops = [g.op("above")]
    for name in ("top", "one", "two", "three"):
        ops.append(g.op(name, ops[-1]))
    launch, kernel = launched(g, ops[3])
    four = g.op("four", ops[4])
    g.op("five", four)
    calls = [(above, "CTRL", below) for above, below in pairwise(ops[1:])]
    rows = [*calls, (ops[4], "CTRL", four), (ops[3], "CTRL", launch), (launch, "LAUNCHES", kernel)]
    return Case("structure/show_call_tree.graph", g.build(), rows, {"op": ops[1]})


@case
def picture_of_ancestors(g: GraphBuilder) -> Case:
    """From a kernel by its launch up to the top; other calls do not come."""
    top = g.op("top")
    op = g.op("op", top)
    g.op("beside", top)
    launch, kernel = launched(g, op)
    rows = [(launch, "LAUNCHES", kernel), (op, "CTRL", launch), (top, "CTRL", op)]
    return Case("structure/show_ancestors.graph", g.build(), rows, {"op": kernel})


@case
def picture_of_children_of_an_absent_op(g: GraphBuilder) -> Case:
    """Both orphans, one alone, with what they call; an op whose parent is there does not come."""
    one = g.op("one", node_id=5, parent_id=4)
    two = g.op("two", node_id=6, parent_id=4)
    called = g.op("called", one, node_id=7, parent_id=5)
    g.op("other rank", node_id=8, parent_id=4, rank=1)
    rows = [(one,), (two,), (one, "CTRL", called)]
    parameters = {"rank": 0, "absent_id": 4}
    return Case("structure/show_children_of_absent.graph", g.build(), rows, parameters)


@case
def picture_of_missing_parents(g: GraphBuilder) -> Case:
    """A finding of that rule, its orphans, and what they call; findings of other rules do not come."""
    orphan = g.op("orphan", node_id=5, parent_id=4)
    called = g.op("called", orphan, node_id=7, parent_id=5)
    before = (*found(g, "a", orphan), *found(g, "b", called, rule="other"))
    rows = [(f"{g.run}:a", "ABOUT", orphan), (orphan, "CTRL", called)]
    return Case("structure/show_missing_parents.graph", g.build(), rows, before=before)


@case
def picture_of_components(g: GraphBuilder) -> Case:
    """Each top with what it calls, one step; a top without calls and other ranks do not come."""
    top, other = g.op("top"), g.op("other top")
    first, second = g.op("a", top), g.op("b", other)
    g.op("deeper", first)
    g.op("alone")
    g.op("elsewhere", g.op("top of rank 1", rank=1), rank=1)
    rows = [(top, "CTRL", first), (other, "CTRL", second)]
    return Case("structure/show_components.graph", g.build(), rows, {"rank": 0})


@case
def picture_of_repairs(g: GraphBuilder) -> Case:
    """A repair, the finding it answers with its subject, and the edge it made; recorded edges do not come."""
    above, orphan = g.op("above"), g.op("orphan", node_id=5, parent_id=4)
    g.op("recorded", above)
    kept = repair(g)
    rid, fid = kept["rid"], f"{g.run}:a"
    edge = {"parent": above, "child": orphan, "repair": rid, "rule": "r", "confidence": "high"}
    before = (
        *found(g, "a", orphan),
        ("structure/repair_keep", {"rows": [kept]}),
        ("structure/repair_answer_findings", {"rows": [{"rid": rid, "fid": fid}]}),
        ("structure/repair_add_ctrl_edges", {"rows": [edge]}),
    )
    rows = [(rid, "MADE", fid), (fid, "ABOUT", orphan), (above, "CTRL", orphan)]
    return Case("structure/show_repairs.graph", g.build(), rows, before=before)


@case
def picture_of_a_kernel_s_path(g: GraphBuilder) -> Case:
    """Launch, op, top; a second kernel of the same op does not come."""
    top = g.op("top")
    op = g.op("op", top)
    launch, kernel = launched(g, op)
    launched(g, op)
    rows = [(launch, "LAUNCHES", kernel), (op, "CTRL", launch), (top, "CTRL", op)]
    return Case("linking/show_kernel_path.graph", g.build(), rows, {"kernel": kernel})


@case
def picture_of_what_an_op_launched(g: GraphBuilder) -> Case:
    """Its own launch and that of an op below; calls that launch nothing do not come."""
    op = g.op("op")
    below = g.op("below", op)
    g.op("no launch", op)
    first, kernel = launched(g, op, start_ns=5)
    second, other = launched(g, below, start_ns=9)
    rows = [
        (op, "CTRL", first),
        (first, "LAUNCHES", kernel),
        (op, "CTRL", below),
        (below, "CTRL", second),
        (second, "LAUNCHES", other),
    ]
    return Case("linking/show_kernels_under_op.graph", g.build(), rows, {"op": op})


@case
def picture_of_a_collective(g: GraphBuilder) -> Case:
    """Its group with the ranks, its calls, the op a call is seen as; other collectives do not come."""
    one, other = collective(g, 1), collective(g, 2)
    everyone = group(g, ALL, [0, 1, 2, 3])
    first = rank(g, 0)
    made, op = part(g, one, 0), g.op("record_param_comms")
    part(g, other, 0)
    g.edge("IN_GROUP", one, everyone)
    g.edge("IN_GROUP", other, everyone)
    g.edge("MEMBER", first, everyone)
    g.edge("SEEN_AS", made, op, rule="host_op")
    rows = [
        (one, "IN_GROUP", everyone),
        (first, "MEMBER", everyone),
        (made, "CALL_OF", one),
        (made, "SEEN_AS", op),
    ]
    parameters = {"group": ALL, "collective_seq_id": 1}
    return Case("communication/show_calls_of_collective.graph", g.build(), rows, parameters)


@case
def picture_of_a_channel(g: GraphBuilder) -> Case:
    """Send and recv with the edge between them; the way back is another channel."""
    own = {"group": "0[0-1]", "verdict": "MATCHED"}
    there = g.node("Channel", "0->1 on 0[0-1]", src=0, dst=1, **own)
    back = g.node("Channel", "1->0 on 0[0-1]", src=1, dst=0, **own)
    sent, taken = call(g, "send"), call(g, "recv", rank=1)
    for end in (sent, taken):
        g.edge("CALL_OF", end, there, rule="recorded")
    g.edge("CALL_OF", call(g, "send", rank=1), back, rule="recorded")
    g.edge("PEER", sent, taken, rule="order")
    rows = [(sent, "CALL_OF", there), (taken, "CALL_OF", there), (sent, "PEER", taken)]
    parameters = {"group": "0[0-1]", "src": 0, "dst": 1}
    return Case("communication/show_calls_of_channel.graph", g.build(), rows, parameters)


@case
def picture_of_who_waits(g: GraphBuilder) -> Case:
    """Rank to collective to the rank that lacks; and a send, from rank to rank."""
    ranks = [rank(g, number) for number in range(3)]
    stuck = collective(g, 6, "INCOMPLETE")
    g.edge("WAITS_FOR", ranks[0], stuck, wait="in_call")
    g.edge("WAITS_FOR", stuck, ranks[1], wait="never")
    g.edge("WAITS_FOR", ranks[2], ranks[0], wait="p2p")
    rows = [
        (ranks[0], "WAITS_FOR", stuck),
        (stuck, "WAITS_FOR", ranks[1]),
        (ranks[2], "WAITS_FOR", ranks[0]),
    ]
    return Case("communication/show_waits.graph", g.build(), rows)


@case
def picture_of_groups(g: GraphBuilder) -> Case:
    """Each group with its members."""
    first, second = rank(g, 0), rank(g, 1)
    both, one = group(g, "0[0-1]", [0, 1]), group(g, "1[0]", [0])
    for member, of in ((first, both), (second, both), (first, one)):
        g.edge("MEMBER", member, of)
    rows = [(first, "MEMBER", both), (second, "MEMBER", both), (first, "MEMBER", one)]
    return Case("communication/show_group_members.graph", g.build(), rows)


@case
def picture_of_unsettled_collectives(g: GraphBuilder) -> Case:
    """One that lacks members and one in flight, with group and calls; a matched one does not come."""
    lacking, matched = collective(g, 6, "INCOMPLETE"), collective(g, 5)
    standing = collective(g, 7, in_flight=True)
    everyone = group(g, ALL, [0, 1, 2, 3])
    for each in (lacking, matched, standing):
        g.edge("IN_GROUP", each, everyone)
    made = part(g, lacking, 0)
    part(g, matched, 0)
    rows = [(lacking, "IN_GROUP", everyone), (standing, "IN_GROUP", everyone), (made, "CALL_OF", lacking)]
    return Case("communication/show_incomplete_collectives.graph", g.build(), rows)


@case
def picture_of_tensors(g: GraphBuilder) -> Case:
    """Two steps back and two steps on; the third does not come."""
    chain = [g.op(f"op {number}") for number in range(7)]
    for source, target in pairwise(chain):
        g.edge("DATA", source, target)
    near = chain[1:6]
    rows = [(source, "DATA", target) for source, target in pairwise(near)]
    return Case("memory/show_tensors_of_op.graph", g.build(), rows, {"op": chain[3]})


@case
def picture_of_waits_within_a_rank(g: GraphBuilder) -> Case:
    """The waits of the rank; those of another do not come."""
    first, second = g.op("a", start_ns=1), g.op("b", start_ns=2)
    g.edge("SYNC", first, second, rule="join.certain")
    g.edge("SYNC", g.op("c", rank=1), g.op("d", rank=1), rule="join.certain")
    return Case("structure/show_rank_waits.graph", g.build(), [(first, "SYNC", second)], {"rank": 0})


@case
def ops_that_make_good_pictures(g: GraphBuilder) -> Case:
    """The longest of each kind: with calls two steps down, with a launch, with tensors, on the device."""
    thread = g.op("thread", g.op("process"))
    step = g.op("ProfilerStep#1", thread, duration_ns=99, category="user_annotation")
    short, long = g.op("short", step, duration_ns=5), g.op("long", step, duration_ns=9)
    for op in (short, long):
        g.op("leaf", g.op("inner", op))
    _, small = launched(g, short, duration_ns=1)
    _, big = launched(g, long, duration_ns=7)
    source, middle, sink = g.op("source"), g.op("middle"), g.op("sink")
    g.edge("DATA", source, middle)
    g.edge("DATA", middle, sink)
    assert small < big
    rows = [
        ("tree", long, "long"),
        ("launches", long, "long"),
        ("flow", middle, "middle"),
        ("kernel", big, "k"),
    ]
    return Case("structure/show_example_ops", g.build(), rows, {"rank": 0})
