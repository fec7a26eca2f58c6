"""Random programs with at most one fault: nobody healthy is blamed, and what is determined is named."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphstore.link.matching.matching import match_dumps
from graphstore.link.matching.model import JobMatching
from tests.data.programs import FAULTS, Program, Run, View, dumps, programs, run, views, whole_view

pytestmark = pytest.mark.slow

QUICK = settings(
    max_examples=120, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
WRONG = ("wrong_size", "wrong_type", "wrong_dtype")


@st.composite
def cases(draw: st.DrawFn, faults: tuple[str | None, ...], least: int = 2) -> tuple[Run, View]:
    """Draw a program, run it, and draw what of it the dumps show."""
    program = draw(programs(faults, least))
    view = draw(views(len(program.steps)))
    if view.is_gloo and program.fault == "late":
        view = replace(view, is_gloo=False)  # gloo has no device to stop
    return run(program, draw(st.sampled_from((0, 2, 99))), draw(st.booleans())), view


def _job(state: Run, view: View) -> JobMatching | None:
    jobs = match_dumps(dumps(state, view)).jobs
    assert len(jobs) <= 1
    return jobs[0] if jobs else None


def _blamed(job: JobMatching) -> set[int]:
    """Return the ranks held at fault; a rank without a dump is only suspected."""
    return {culprit["rank"] for culprit in job.culprits if culprit["confidence"] != "low"}


def _about(program: Program, view: View, job: JobMatching) -> str:
    return f"{program}\n{view}\n" + "\n".join(cause.message for cause in job.causes)


@QUICK
@given(cases((None,)))
def test_a_program_without_a_fault_is_never_called_wrong(case: tuple[Run, View]) -> None:
    """Whatever a ring dropped, a filter left out or a missing file hides: no cause, no problem."""
    state, view = case
    assert not state.hangs

    job = _job(state, view)

    if job is not None:
        assert job.healthy is not False, _about(state.program, view, job)
        assert not job.causes, _about(state.program, view, job)


@QUICK
@given(cases(FAULTS))
def test_only_the_rank_with_the_fault_is_ever_blamed(case: tuple[Run, View]) -> None:
    """One fault on one rank: no other rank is at fault, and a rank is suspected only if it has no dump."""
    state, view = case

    job = _job(state, view)

    if job is not None:
        about = _about(state.program, view, job)
        assert _blamed(job) <= {state.program.rank}, about
        suspected = {c["rank"] for c in job.culprits if c["confidence"] == "low"}
        assert suspected <= set(view.absent), about


@QUICK
@given(cases(FAULTS))
def test_the_order_of_files_changes_nothing(case: tuple[Run, View]) -> None:
    """Backwards, the same causes, verdicts and edges."""
    state, view = case
    there, back = match_dumps(dumps(state, view)).jobs, match_dumps(dumps(state, view)[::-1]).jobs

    for one, other in zip(there, back, strict=True):
        assert one.causes == other.causes
        assert one.collectives.equals(other.collectives)
        assert one.p2p.equals(other.p2p)
        assert (one.waits_for, one.notes, one.healthy) == (other.waits_for, other.notes, other.healthy)


@QUICK
@given(programs(WRONG, least=3), st.sampled_from((0, 2, 99)), st.booleans())
def test_a_wrong_call_against_a_majority_is_named(program: Program, ahead: int, hangs: bool) -> None:
    """Whole dumps, three members or more made the call: the odd one is at fault, with certainty."""
    if program.fault is None:
        return
    wrong = program.steps[program.rank][program.place]
    state = run(program, ahead, hangs)
    made = [rank for rank, steps in program.steps.items() if _has_made(state, rank, wrong.site)]
    if len(made) < 3 or program.rank not in made or wrong.kind == "all_to_all":
        return  # an exchange only shows sums, and who sent too much does not stand in them

    job = _job(state, whole_view(program))

    assert job is not None
    first = {"rank": program.rank, "confidence": "high"}
    assert [{"rank": c["rank"], "confidence": c["confidence"]} for c in job.culprits] == [first]
    assert (job.first_divergence or {})["site"] == wrong.site


@QUICK
@given(programs(("dead", "skipped", "extra", "swapped", "late")), st.sampled_from((0, 2, 99)))
def test_a_fault_that_stops_the_job_is_mentioned(program: Program, ahead: int) -> None:
    """Whole dumps with counters: the rank is at fault, or among those of whom it cannot be told."""
    state = run(program, ahead, mismatches_hang=True)
    if program.fault is None or not state.hangs or not state.issued[program.rank]:
        return  # a rank that made no call at all left an empty dump, which shows nothing

    job = _job(state, whole_view(program))

    assert job is not None
    named = {rank for cause in job.causes for rank in (*cause.ranks, *cause.undecided)}
    settled = program.fault == "late" and job.healthy and not job.waits_for  # it stopped in its last call
    assert program.rank in named or settled, _about(program, whole_view(program), job)


def _has_made(state: Run, rank: int, site: str) -> bool:
    return any(step.site == site for step in state.program.steps[rank][: state.issued[rank]])
