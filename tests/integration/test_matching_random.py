"""Random programs with at most one fault: nobody healthy is blamed, and what is determined is named."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphstore.link.matching import JobMatching, match_dumps
from tests.data.programs import FAULTS, Program, Run, View, dumps, programs, run, views

QUICK = settings(
    max_examples=300, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
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
