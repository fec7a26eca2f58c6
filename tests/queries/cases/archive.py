"""Cases for the questions over all runs, each asked of one run among those of all other cases."""

from __future__ import annotations

from tests.queries.cases import Case, case
from tests.queries.cases.health import answered, file, finding, kept
from tests.queries.graphs import GraphBuilder


@case
def open_findings_by_severity(g: GraphBuilder) -> Case:
    """Two notes and an error stand open; the note that a repair answers does not count."""
    file(g)
    rows = [finding(g, "a"), finding(g, "b"), finding(g, "c"), finding(g, "d", severity="error")]
    before = (
        ("health/write_findings", {"rows": rows}),
        *answered(g, "c"),
        ("structure/repair_set_finding_status", {"fids": [f"{g.run}:c"], "status": "repaired"}),
    )
    found = [(g.run, "error", 1), (g.run, "note", 2)]
    return Case("archive/count_open_findings", g.build(), found, before=before)


@case
def findings_by_rule(g: GraphBuilder) -> Case:
    """Two of one rule with three nodes between them, one of another."""
    file(g)
    rows = [
        finding(g, "a", rule="cycle", subjects=2),
        finding(g, "b", rule="cycle"),
        finding(g, "c", rule="file_cut", severity="error"),
    ]
    found = [(g.run, "cycle", "note", "open", 2, 3), (g.run, "file_cut", "error", "open", 1, 1)]
    before = (("health/write_findings", {"rows": rows}),)
    return Case("archive/count_findings_by_rule", g.build(), found, before=before)


@case
def runs_as_the_archive_lists_them(g: GraphBuilder) -> Case:
    """What people wrote on it and what import found out; findings are elsewhere."""
    g.properties |= {"name": "slow", "created": "2031-01-01", "world_size": 8, "trace_bytes": 9}
    g.properties |= {"tool_version": "0", "tags": ["a"], "note": "odd"}
    file(g)
    rows = [(g.run, "slow", "2031-01-01", 8, 9, "0", ["a"], "odd")]
    return Case("archive/show_runs", g.build(), rows, before=(kept(g, "a"),))


@case
def hashes_of_the_files(g: GraphBuilder) -> Case:
    """By path; one that could not be read has no hash."""
    file(g, "b.json", path="/t/b.json", sha256="bb")
    file(g, "a.json", path="/t/a.json")
    rows = [("a.json", "/t/a.json", None), ("b.json", "/t/b.json", "bb")]
    return Case("archive/show_hashes", g.build(), rows)


def _summed(g: GraphBuilder) -> None:
    """Add ops of three kinds: two of a name, one without times; calls whose kind is known, and not."""
    g.op("a", duration_ns=10, self_ns=1)
    g.op("a", duration_ns=30, self_ns=2)
    g.op("untimed")
    g.node("Kernel", "sgemm", duration_ns=5, size_bytes=8, collective_kind="all_reduce")
    g.node("CollectiveCall", "c10d::x", collective_kind="all_reduce", size_bytes=4, duration_ns=7)
    g.node("CollectiveCall", "nccl:x", collective_kind="all_reduce", size_bytes=6)
    g.node("CollectiveCall", "unknown")


@case
def sums_by_name_of_host_ops(g: GraphBuilder) -> Case:
    """Of the kind asked for by default; no time is no zero."""
    _summed(g)
    rows = [(g.run, "a", 2, 40, 3, None), (g.run, "untimed", 1, None, None, None)]
    return Case("archive/show_sums_by_name", g.build(), rows)


@case
def sums_by_kind_of_collective(g: GraphBuilder) -> Case:
    """Calls go by the kind of their collective, by their name only where that is not known."""
    _summed(g)
    rows = [(g.run, "all_reduce", 2, 7, None, 10), (g.run, "unknown", 1, None, None, None)]
    return Case("archive/show_sums_by_name", g.build(), rows, {"kind": "CollectiveCall"})


@case
def sums_of_one_name(g: GraphBuilder) -> Case:
    """A kernel goes by its own name, also where its collective is known."""
    _summed(g)
    g.node("Kernel", "other", duration_ns=1)
    rows = [(g.run, "sgemm", 1, 5, None, 8)]
    return Case("archive/show_sums_by_name", g.build(), rows, {"kind": "Kernel", "name": "sgemm"})


@case
def sums_beyond_64_bits(g: GraphBuilder) -> Case:
    """What no integer holds is null, not an error that keeps the run out; large ones are exact, signs too."""
    for kind, sizes in (("huge", [2**62, 2**62]), ("large", [2**61 - 1, 3]), ("below", [-(2**40) - 5, 4])):
        for size in sizes:
            g.node("Kernel", kind, size_bytes=size)
    rows = [(g.run, "below", 2, None, None, -(2**40) - 1), (g.run, "huge", 2, None, None, None)]
    rows += [(g.run, "large", 2, None, None, 2**61 + 2)]
    return Case("archive/show_sums_by_name", g.build(), rows, {"kind": "Kernel"})


@case
def sums_by_kind(g: GraphBuilder) -> Case:
    """Names and ops of each kind; what no op of a kind has is null, not 0."""
    _summed(g)
    rows = [
        (g.run, "CollectiveCall", 2, 3, 7, None, 10),
        (g.run, "HostOp", 2, 3, 40, 3, None),
        (g.run, "Kernel", 1, 1, 5, None, 8),
    ]
    return Case("archive/show_sums_by_kind", g.build(), rows)
