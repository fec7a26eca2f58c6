"""Cases for the checks of health, and for keeping findings."""

from __future__ import annotations

from typing import Any

from tests.queries.cases import Case, case
from tests.queries.graphs import GraphBuilder


def file(g: GraphBuilder, name: str = "et.json", **properties: Any) -> int:
    """Add a file of rank 0."""
    return g.node("TraceFile", name, **{"kind": "et", "rank": 0, **properties})


@case
def a_file_that_is_cut(g: GraphBuilder) -> Case:
    """Where it ends, and what was read before."""
    cut = file(g, cut_at="byte 99", records_read=3)
    return Case("health/find_files_cut", g.build(), [(0, cut, "et.json", "byte 99", 3)])


@case
def a_file_that_begins_with_a_node(g: GraphBuilder) -> Case:
    """Its metadata is missing; beside it one that has it."""
    bare = file(g, "a.0.et", kind="chakra_et", metadata_missing=True)
    file(g, "b.0.et", kind="chakra_et")
    return Case("health/find_files_without_metadata", g.build(), [(0, bare, "a.0.et")])


@case
def files_with_metadata(g: GraphBuilder) -> Case:
    """Null, as for files of other kinds."""
    file(g, "a.0.et", kind="chakra_et")
    file(g)
    return Case("health/find_files_without_metadata", g.build(), [])


@case
def a_chakra_file_without_a_node(g: GraphBuilder) -> Case:
    """Metadata alone."""
    bare = file(g, "a.0.et", kind="chakra_et", records_read=0)
    return Case("health/find_files_without_nodes", g.build(), [(0, bare, "a.0.et")])


@case
def files_whose_nodes_are_elsewhere(g: GraphBuilder) -> Case:
    """One with a node; cut and unreadable ones, and traces of other kinds, are other checks'."""
    file(g, "a.0.et", kind="chakra_et", records_read=1)
    file(g, "b.0.et", kind="chakra_et", records_read=0, cut_at="byte 3")
    file(g, "c.0.et", kind="chakra_et", records_read=0, problem="damaged")
    file(g, records_read=0)
    return Case("health/find_files_without_nodes", g.build(), [])


@case
def a_file_that_is_whole(g: GraphBuilder) -> Case:
    """No cut."""
    file(g, records_read=3)
    return Case("health/find_files_cut", g.build(), [])


@case
def a_file_that_cannot_be_read(g: GraphBuilder) -> Case:
    """Why nothing was read; the file has no rank."""
    bad = file(g, rank=None, problem="no JSON")
    return Case("health/find_files_unreadable", g.build(), [(None, bad, "et.json", "no JSON")])


@case
def a_file_that_is_no_trace(g: GraphBuilder) -> Case:
    """A README is stepped over without a finding."""
    file(g, "README.md", kind="not_a_trace", rank=None)
    return Case("health/find_files_unreadable", g.build(), [])


@case
def schemas_nobody_knows(g: GraphBuilder) -> Case:
    """An unknown schema and none at all, by file name."""
    strange = file(g, "a.json", schema="7.3.0", schema_known=False)
    bare = file(g, "b.json", schema_known=False)
    rows = [(0, strange, "a.json", "7.3.0"), (0, bare, "b.json", None)]
    return Case("health/find_unknown_schemas", g.build(), rows)


@case
def a_schema_we_know(g: GraphBuilder) -> Case:
    """Known, and a kind of file that has no schema."""
    file(g, schema="1.0.3", schema_known=True)
    file(g, "kineto.json", kind="kineto")
    return Case("health/find_unknown_schemas", g.build(), [])


@case
def a_rank_that_is_assumed(g: GraphBuilder) -> Case:
    """Nothing said the rank."""
    bare = file(g, rank_origin="assumed")
    return Case("health/find_assumed_ranks", g.build(), [(0, bare, "et.json", "et")])


@case
def a_rank_that_is_told(g: GraphBuilder) -> Case:
    """By the content or by the name."""
    file(g, rank_origin="content")
    file(g, "kineto_0.json", kind="kineto", rank_origin="file_name")
    return Case("health/find_assumed_ranks", g.build(), [])


@case
def ranks_without_step_marks(g: GraphBuilder) -> Case:
    """Rank 1 has none in both files; rank 0 has one in one of them."""
    file(g, step_marks=0)
    file(g, "kineto_0.json", kind="kineto", step_marks=1)
    bare = [file(g, "et_1.json", rank=1, step_marks=0), file(g, "kineto_1.json", kind="kineto", rank=1)]
    return Case("health/find_ranks_without_steps", g.build(), [(1, 2, bare)])


@case
def ranks_that_need_no_step_marks(g: GraphBuilder) -> Case:
    """A Chakra file, a file that is no trace and one that was not read are not asked."""
    file(g, "a.et", kind="chakra_et", step_marks=0)
    file(g, "README.md", kind="not_a_trace", rank=None)
    file(g, "bad.json", problem="no JSON", rank=1)
    return Case("health/find_ranks_without_steps", g.build(), [])


@case
def fewer_ranks_than_the_job_had(g: GraphBuilder) -> Case:
    """2 of 128."""
    g.properties |= {"world_size": 128, "ranks": [0, 1]}
    file(g)
    return Case("health/find_missing_ranks", g.build(), [(g.run_no << 32, 128, [0, 1])])


@case
def all_ranks_of_the_job(g: GraphBuilder) -> Case:
    """2 of 2."""
    g.properties |= {"world_size": 2, "ranks": [0, 1]}
    file(g)
    return Case("health/find_missing_ranks", g.build(), [])


def finding(g: GraphBuilder, fid: str, **properties: Any) -> dict[str, Any]:
    """Return a row of write_findings, as a check makes it; ids begin with the run, as real ones do."""
    own = {"name": "r", "rule": "r", "severity": "note", "confidence": "high", "message": "m"}
    own |= {"run": g.run, "status": "open", "evidence": "{}"}
    return {"fid": f"{g.run}:{fid}", "properties": {**own, "rank": None, "subjects": 1, **properties}}


def shown(g: GraphBuilder, fid: str, status: str = "open", message: str = "m") -> tuple[Any, ...]:
    """Return the row of show_findings for such a finding."""
    return (f"{g.run}:{fid}", "r", "note", "high", message, "{}", None, status, 1)


def kept(g: GraphBuilder, *fids: str) -> tuple[str, dict[str, Any]]:
    """Return the writing of findings that comes before."""
    return ("health/write_findings", {"rows": [finding(g, fid) for fid in fids]})


def answered(g: GraphBuilder, fid: str) -> tuple[tuple[str, dict[str, Any]], ...]:
    """Return the writing of a repair that answers the finding."""
    own = {"name": "thread_root", "rule": "thread_root", "rank": 0, "before": "{}", "after": "{}"}
    rid = f"{g.run}:thread_root:0"
    return (
        ("structure/repair_keep", {"rows": [{"rid": rid, "properties": own}]}),
        ("structure/repair_answer_findings", {"rows": [{"rid": rid, "fid": f"{g.run}:{fid}"}]}),
    )


@case
def findings_written_and_written_again(g: GraphBuilder) -> Case:
    """A finding that was there takes the new values; both are there once."""
    file(g)
    return Case(
        "health/write_findings",
        g.build(),
        [(2,)],
        {"rows": [finding(g, "a", message="new"), finding(g, "b")]},
        before=(kept(g, "a"),),
        after="health/show_findings",
        then=[shown(g, "a", message="new"), shown(g, "b")],
    )


@case
def findings_shown(g: GraphBuilder) -> Case:
    """By id."""
    file(g)
    rows = [shown(g, "a"), shown(g, "b")]
    return Case("health/show_findings", g.build(), rows, before=(kept(g, "b", "a"),))


@case
def findings_found_no_more(g: GraphBuilder) -> Case:
    """Removed when no repair answers them; one that is found again and one that is answered stay."""
    file(g)
    return Case(
        "health/write_stale_findings",
        g.build(),
        [(1,)],
        {"fids": [f"{g.run}:again"]},
        before=(kept(g, "again", "done", "stale"), *answered(g, "done")),
        after="health/show_findings",
        then=[shown(g, "again"), shown(g, "done")],
    )


@case
def findings_that_a_repair_answers(g: GraphBuilder) -> Case:
    """Repaired when found no more; one without a repair stays as it is."""
    file(g)
    return Case(
        "health/write_answered_findings",
        g.build(),
        [(1,)],
        {"fids": [f"{g.run}:again"]},
        before=(kept(g, "again", "done", "stale"), *answered(g, "done")),
        after="health/show_findings",
        then=[shown(g, "again"), shown(g, "done", status="repaired"), shown(g, "stale")],
    )


def _tie(g: GraphBuilder, name: str, uid: int, fid: str = "a") -> tuple[str, dict[str, Any]]:
    """Return the writing that ties a finding to a node."""
    return (
        f"health/write_subject_{name}",
        {"rows": [{"fid": f"{g.run}:{fid}", "uid": uid, "role": "orphan"}]},
    )


@case
def findings_tied_to_ops(g: GraphBuilder) -> Case:
    """Tied twice is tied once."""
    op = g.op("aten::add", node_id=5)
    tie = _tie(g, "ops", op)
    return Case(
        tie[0],
        g.build(),
        [(1,)],
        tie[1],
        before=(kept(g, "a"), tie),
        after="health/count_finding_subjects",
        then=[(f"{g.run}:a", "r", "orphan", 1)],
    )


@case
def findings_tied_to_files(g: GraphBuilder) -> Case:
    """A file is no op: it is found under its own label."""
    tie = _tie(g, "files", file(g))
    return Case(
        tie[0],
        g.build(),
        [(1,)],
        tie[1],
        before=(kept(g, "a"),),
        after="health/count_finding_subjects",
        then=[(f"{g.run}:a", "r", "orphan", 1)],
    )


@case
def findings_tied_to_ranks(g: GraphBuilder) -> Case:
    """Each under its own label; the parts they play are told apart."""
    blamed, other = (g.node("Rank", f"rank {number}", rank=number) for number in (3, 0))
    rows = [{"fid": f"{g.run}:a", "uid": uid, "role": role} for uid, role in ((blamed, "x"), (other, "y"))]
    return Case(
        "health/write_subject_ranks",
        g.build(),
        [(2,)],
        {"rows": rows},
        before=(kept(g, "a"),),
        after="health/count_finding_subjects",
        then=[(f"{g.run}:a", "r", "x", 1), (f"{g.run}:a", "r", "y", 1)],
    )


@case
def findings_tied_to_collectives(g: GraphBuilder) -> Case:
    """The call a finding is about."""
    tie = _tie(g, "collectives", g.node("Collective", "all_reduce #6", collective_seq_id=6))
    return Case(
        tie[0],
        g.build(),
        [(1,)],
        tie[1],
        before=(kept(g, "a"),),
        after="health/count_finding_subjects",
        then=[(f"{g.run}:a", "r", "orphan", 1)],
    )


@case
def findings_tied_to_the_run(g: GraphBuilder) -> Case:
    """A fact that concerns no rank alone."""
    file(g)
    return Case(
        "health/write_subject_run",
        g.build(),
        [(1,)],
        {"rows": [{"fid": f"{g.run}:a", "role": "run"}]},
        before=(kept(g, "a"),),
        after="health/count_finding_subjects",
        then=[(f"{g.run}:a", "r", "run", 1)],
    )


@case
def findings_untied(g: GraphBuilder) -> Case:
    """Only those named lose their subjects."""
    op = g.op("aten::add", node_id=5)
    return Case(
        "health/write_untied_findings",
        g.build(),
        [(1,)],
        {"fids": [f"{g.run}:a"]},
        before=(kept(g, "a", "b"), _tie(g, "ops", op), _tie(g, "ops", op, "b")),
        after="health/count_finding_subjects",
        then=[(f"{g.run}:b", "r", "orphan", 1)],
    )


@case
def what_a_finding_is_about(g: GraphBuilder) -> Case:
    """Nodes of every label, of the finding asked alone, by uid."""
    trace = file(g)
    op = g.op("aten::add", node_id=5)
    at, of = g.node("Rank", "rank 0", rank=0), g.node("Collective", "all_reduce #6", collective_seq_id=6)
    tied = {"ops": op, "files": trace, "ranks": at, "collectives": of}
    before = (kept(g, "a", "b"), *(_tie(g, name, uid) for name, uid in tied.items()), _tie(g, "ops", op, "b"))
    rows: list[tuple[Any, ...]] = [(trace, "orphan", "et.json", 0, "et", None)]
    rows += [(op, "orphan", "aten::add", 0, "HostOp", 5), (at, "orphan", "rank 0", 0, None, None)]
    rows += [(of, "orphan", "all_reduce #6", None, None, None)]
    parameters = {"fid": f"{g.run}:a"}
    return Case("health/show_finding_subjects", g.build(), rows, parameters, before=before)


@case
def findings_and_how_many_nodes_they_are_tied_to(g: GraphBuilder) -> Case:
    """By finding and role; a finding without subjects has no row."""
    op, other = g.op("aten::add", node_id=5), g.op("aten::mul", node_id=6)
    before = (kept(g, "a", "bare"), _tie(g, "ops", op), _tie(g, "ops", other), _tie(g, "files", file(g)))
    rows = [(f"{g.run}:a", "r", "orphan", 3)]
    return Case("health/count_finding_subjects", g.build(), rows, before=before)
