"""Cases for looks a person takes at findings and at the call tree: one op, what is above and below it."""

from __future__ import annotations

from typing import Any

from tests.queries.cases import Case, case
from tests.queries.cases.health import answered, file, finding
from tests.queries.cases.structure import timed
from tests.queries.graphs import GraphBuilder


def _findings(g: GraphBuilder) -> tuple[tuple[str, dict[str, Any]], ...]:
    """Return writes of a note on the run, two errors of a rule on rank 1, a repaired warning on rank 0."""
    file(g)
    rows = [
        finding(g, "n"),
        finding(g, "e1", rule="lost", severity="error", rank=1, subjects=2, message="one"),
        finding(g, "e2", rule="lost", severity="error", rank=1, subjects=3, message="two"),
        finding(g, "w", rule="skew", severity="warning", rank=0),
    ]
    return (("health/write_findings", {"rows": rows}), *answered(g, "w"))


@case
def findings_counted(g: GraphBuilder) -> Case:
    """Errors, then warnings, then notes; a finding on the run counts no rank."""
    before = _findings(g)
    repaired = (
        "structure/repair_set_finding_status",
        {"fids": [f"{g.run}:w"], "status": "repaired"},
    )
    rows = [
        ("error", "lost", "open", 2, 5, 1),
        ("warning", "skew", "repaired", 1, 1, 1),
        ("note", "r", "open", 1, 1, 0),
    ]
    return Case("health/count_findings", g.build(), rows, before=(*before, repaired))


@case
def findings_of_one_rank(g: GraphBuilder) -> Case:
    """Those of rank 1 alone, by id."""
    before = _findings(g)
    rows = [
        ("error", "lost", "one", "open", 2, f"{g.run}:e1"),
        ("error", "lost", "two", "open", 3, f"{g.run}:e2"),
    ]
    return Case("health/show_findings_of_rank", g.build(), rows, {"rank": 1}, before=before)


@case
def findings_of_no_rank(g: GraphBuilder) -> Case:
    """Without a rank those that concern the whole run."""
    before = _findings(g)
    rows = [("note", "r", "m", "open", 1, f"{g.run}:n")]
    return Case("health/show_findings_of_rank", g.build(), rows, before=before)


@case
def records_by_kind_of_file(g: GraphBuilder) -> Case:
    """Sums over the files of a kind; a file that could not be read holds no records."""
    file(g, records_read=10, kept=9)
    file(g, "b.json", rank=1, records_read=5, kept=5, cut_at="byte 9")
    file(g, "c.json", rank=2, problem="no JSON")
    file(g, "README.md", kind="not_a_trace", records_read=0, kept=0)
    rows = [("et", 3, 15, 14, 1, 1, 1), ("not_a_trace", 1, 0, 0, 0, 0, 0)]
    return Case("health/count_records", g.build(), rows)


def _tree(g: GraphBuilder, rank: int = 0) -> dict[str, int]:
    """Add step > (mm > launch → gemm), (add > copy); gemm runs on stream 7."""
    step = g.op("step", node_id=5, rank=rank, self_ns=30, path="step", **timed(0, 100))
    mm = g.op("mm", step, node_id=6, rank=rank, self_ns=15, path="step / mm", **timed(10, 20))
    launch = g.op("cudaLaunchKernel", mm, label="RuntimeCall", rank=rank, **timed(12, 5))
    gemm = g.node("Kernel", "gemm", rank=rank, work="computation", stream=7, start_ns=40, duration_ns=50)
    g.edge("LAUNCHES", launch, gemm)
    add = g.op("add", step, node_id=7, rank=rank, self_ns=40, path="step / add", **timed(40, 50))
    copy = g.op("copy", add, node_id=8, rank=rank, self_ns=10, path="step / add / copy", **timed(50, 10))
    return {"step": step, "mm": mm, "launch": launch, "gemm": gemm, "add": add, "copy": copy}


@case
def events_of_each_rank_by_kind(g: GraphBuilder) -> Case:
    """By rank and kind, with the time they lie in; an op without times counts, and lies nowhere."""
    _tree(g)
    g.op("untimed")
    g.op("other", rank=1)
    rows = [
        (0, "HostOp", 5, 4, 0, 100),
        (0, "Kernel", 1, 1, 40, 90),
        (0, "RuntimeCall", 1, 1, 12, 17),
        (1, "HostOp", 1, 0, None, None),
    ]
    return Case("structure/count_ops_by_kind", g.build(), rows)


@case
def events_of_one_rank_by_kind(g: GraphBuilder) -> Case:
    """The other rank is out."""
    _tree(g)
    g.op("other", rank=1)
    return Case("structure/count_ops_by_kind", g.build(), [(1, "HostOp", 1, 0, None, None)], {"rank": 1})


@case
def host_ops_by_depth(g: GraphBuilder) -> Case:
    """One top, two below it, one below these; runtime calls are no host ops."""
    _tree(g)
    return Case("structure/count_ops_by_depth", g.build(), [(0, 0, 1), (0, 1, 2), (0, 2, 1)])


@case
def names_that_hold_a_text(g: GraphBuilder) -> Case:
    """Small letters or large; kinds apart, the name with most events first."""
    _tree(g)
    g.op("Mm", duration_ns=1)
    g.op("Mm", duration_ns=2, rank=1)
    g.node("Kernel", "gemm", duration_ns=7)
    rows = [("HostOp", "Mm", 2, 3), ("Kernel", "gemm", 2, 57), ("HostOp", "mm", 1, 20)]
    return Case("structure/count_ops_named_like", g.build(), rows, {"part": "mM"})


@case
def events_that_hold_a_text(g: GraphBuilder) -> Case:
    """Of one kind and one rank, by start, no more than asked."""
    made = _tree(g)
    _tree(g, rank=1)
    g.op("mm", **timed(90, 1))
    rows = [(made["mm"], 0, "HostOp", "mm", 10, 20)]
    asked = {"part": "MM", "kind": "HostOp", "rank": 0, "count": 1}
    return Case("structure/show_ops_named_like", g.build(), rows, asked)


@case
def one_op(g: GraphBuilder) -> Case:
    """Its place in the tree: caller, how many it calls, depth, path."""
    made = _tree(g)
    row = (made["add"], 0, "HostOp", "add", 7, None, made["step"], 1, 1, "step / add")
    rows = [(*row, None, 70, 7, None, None, 40, 50, 40)]
    return Case("structure/show_op", g.build(), rows, {"op": made["add"]})


@case
def an_op_that_nothing_calls(g: GraphBuilder) -> Case:
    """A device op: no caller, no thread, but a stream."""
    made = _tree(g)
    row = (made["gemm"], 0, "Kernel", "gemm", None, None, None, 0, None, None, None, None, None, None, 7)
    return Case("structure/show_op", g.build(), [(*row, 40, 50, None)], {"op": made["gemm"]})


@case
def what_an_op_calls(g: GraphBuilder) -> Case:
    """One step down, by start."""
    made = _tree(g)
    rows = [(made["mm"], "HostOp", "mm", 1, 10, 20, 15), (made["add"], "HostOp", "add", 1, 40, 50, 40)]
    return Case("structure/show_children", g.build(), rows, {"op": made["step"]})


@case
def the_call_tree_below_an_op(g: GraphBuilder) -> Case:
    """Two steps down: the launch lies there, the kernel it launches a step deeper."""
    made = _tree(g)
    mm, add = made["mm"], made["add"]
    rows = [
        (1, mm, made["step"], "HostOp", "mm", 10, 20, 15),
        (2, made["launch"], mm, "RuntimeCall", "cudaLaunchKernel", 12, 5, None),
        (1, add, made["step"], "HostOp", "add", 40, 50, 40),
        (2, made["copy"], add, "HostOp", "copy", 50, 10, 10),
    ]
    return Case("structure/show_call_tree", g.build(), rows, {"op": made["step"], "levels": 2})


@case
def what_is_above_a_device_op(g: GraphBuilder) -> Case:
    """The launch, then its callers up to the top."""
    made = _tree(g)
    rows = [
        (1, made["launch"], "RuntimeCall", "cudaLaunchKernel", None, 12, 5),
        (2, made["mm"], "HostOp", "mm", 6, 10, 20),
        (3, made["step"], "HostOp", "step", 5, 0, 100),
    ]
    return Case("structure/show_ancestors", g.build(), rows, {"op": made["gemm"]})


@case
def what_lies_below_an_op_in_all(g: GraphBuilder) -> Case:
    """Host ops with their own time, calls and device ops with all of theirs; the op itself is out."""
    made = _tree(g)
    rows = [
        ("Kernel", "gemm", 1, 50),
        ("HostOp", "add", 1, 40),
        ("HostOp", "mm", 1, 15),
        ("HostOp", "copy", 1, 10),
        ("RuntimeCall", "cudaLaunchKernel", 1, 5),
    ]
    return Case("structure/show_subtree_totals", g.build(), rows, {"op": made["step"]})


@case
def the_largest_trees(g: GraphBuilder) -> Case:
    """By size; no more than asked. Without times there is no own time."""
    first, second = _tree(g), _tree(g, rank=1)
    untimed = g.op("alone")
    g.op("alone")
    rows = [
        (0, first["step"], "step", 4, 2, 95, 0, 100),
        (1, second["step"], "step", 4, 2, 95, 0, 100),
        (0, untimed, "alone", 1, 0, None, None, None),
    ]
    return Case("structure/show_roots", g.build(), rows, {"count": 3})


@case
def the_deepest_ops(g: GraphBuilder) -> Case:
    """Deepest first."""
    made = _tree(g)
    rows = [(made["copy"], 0, 2, "copy", "step / add / copy"), (made["mm"], 0, 1, "mm", "step / mm")]
    return Case("structure/show_deepest_ops", g.build(), rows, {"count": 2})


@case
def the_ops_that_call_most(g: GraphBuilder) -> Case:
    """Runtime calls count as called; an op that calls nothing is out."""
    made = _tree(g)
    rows = [(made["step"], 0, "step", 2, 100), (made["mm"], 0, "mm", 1, 20), (made["add"], 0, "add", 1, 50)]
    return Case("structure/show_widest_ops", g.build(), rows)


@case
def ops_of_one_autograd_number(g: GraphBuilder) -> Case:
    """Forward and backward; the same number on another rank is another op's."""
    forward = g.op("mm", autograd_seq_id=4, **timed(0, 5))
    backward = g.op("MmBackward0", autograd_seq_id=4, fw_tid=1, **timed(90, 5, thread=8))
    g.op("mm", autograd_seq_id=4, rank=1, **timed(0, 5))
    g.op("add", autograd_seq_id=5, **timed(9, 5))
    rows = [(forward, "mm", None, 7, 4, 0, 5), (backward, "MmBackward0", 1, 8, 4, 90, 5)]
    return Case("structure/show_autograd_ops", g.build(), rows, {"op": backward})
