"""Random programs of collectives, sends and recvs, run to their end or until they hang, and then dumped.

A program is one order of steps that all ranks keep, so that it ends unless a fault is planted. A rank issues
its calls in order, up to `ahead` of them unfinished; its device ends them in order. What the dumps then show
is what a recorder would have: numbers, states, counters, a ring that drops old calls, a filter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis import strategies as st

from graphstore.link.matching.model import RankDump
from tests.data.flight import START_NS, Row, call, dump, gloo, numbered, recv, send

KINDS = ("all_reduce", "_all_gather_base", "_reduce_scatter_base", "broadcast", "barrier", "all_to_all")
FAULTS = ("skipped", "extra", "swapped", "wrong_size", "wrong_type", "wrong_dtype", "dead", "late")


@dataclass(frozen=True)
class Step:
    """One step: a collective of a group, or (`src` set) a transfer between two of its ranks."""

    group: str
    kind: str
    size: int
    site: str
    src: int | None = None
    dst: int | None = None
    dtype: str = "Float"


@dataclass
class Program:
    """Groups, the steps of each rank, and what was planted: (fault, rank, place among its steps)."""

    groups: dict[str, list[int]]
    steps: dict[int, list[Step]]
    fault: str | None = None
    rank: int = -1
    place: int = -1


@dataclass
class Run:
    """How far a program came: issued and ended steps of each rank, and when each was issued."""

    program: Program
    issued: dict[int, int] = field(default_factory=dict)
    ended: dict[int, int] = field(default_factory=dict)
    times: dict[int, list[int]] = field(default_factory=dict)

    @property
    def hangs(self) -> bool:
        """Return whether some rank has not ended all its steps."""
        return any(self.ended[rank] < len(steps) for rank, steps in self.program.steps.items())


@st.composite
def programs(draw: st.DrawFn, faults: Sequence[str | None], least: int = 2) -> Program:
    """Draw a program of `least` to 6 ranks with one of the faults planted, or none."""
    world = draw(st.integers(least, 6))
    groups = {"0": list(range(world))}
    for number in range(draw(st.integers(0, 3))):
        size = draw(st.integers(min(2, world), world))
        groups[str(number + 1)] = sorted(draw(st.permutations(range(world)))[:size])
    steps = draw(st.lists(_steps(groups), min_size=1, max_size=14))
    steps = [replace(step, site=f"train.py:{10 * place}") for place, step in enumerate(steps)]
    own = {rank: [step for step in steps if _takes_part(step, groups, rank)] for rank in range(world)}
    fault = draw(st.sampled_from(faults))
    return _planted(draw, Program(groups, own), fault) if fault else Program(groups, own)


@st.composite
def _steps(draw: st.DrawFn, groups: dict[str, list[int]]) -> Step:
    group = draw(st.sampled_from(sorted(groups)))
    size = draw(st.sampled_from((4, 8)))
    if draw(st.integers(0, 3)) == 0:
        src, dst = draw(st.permutations(groups[group]))[:2]
        return Step(group, "send", size, "", src, dst)
    return Step(group, draw(st.sampled_from(KINDS)), size, "")


def _takes_part(step: Step, groups: dict[str, list[int]], rank: int) -> bool:
    return rank in (step.src, step.dst) if step.src is not None else rank in groups[step.group]


def _planted(draw: st.DrawFn, program: Program, fault: str) -> Program:
    """Return the program with a fault on one rank, or unchanged where there is no place for it."""
    rank = draw(st.sampled_from(sorted(program.steps)))
    steps = program.steps[rank]
    places = [place for place, step in enumerate(steps) if step.src is None and step.kind != "barrier"]
    if fault == "swapped":
        places = [place for place in places if place + 1 < len(steps) and steps[place + 1].src is None]
    if not places:
        return program
    place = draw(st.sampled_from(places))
    changed = _changed(steps, place, fault)
    return Program(program.groups, program.steps | {rank: changed}, fault, rank, place)


def _changed(steps: list[Step], place: int, fault: str) -> list[Step]:
    step = steps[place]
    before, after = steps[:place], steps[place + 1 :]
    if fault == "skipped":
        return before + after
    if fault == "extra":
        return [*before, replace(step, site="other.py:1"), step, *after]
    if fault == "swapped":
        return [*before, after[0], step, *after[1:]]
    if fault == "dead":
        return before
    if fault == "late":
        return steps
    other = {
        "wrong_size": replace(step, size=step.size + 1),
        "wrong_type": replace(step, kind="all_reduce" if step.kind == "broadcast" else "broadcast"),
        "wrong_dtype": replace(step, dtype="Half"),
    }[fault]
    return [*before, other, *after]


def run(program: Program, ahead: int, mismatches_hang: bool) -> Run:
    """Run a program until it ends or nothing moves any more."""
    state = Run(program)
    for rank in program.steps:
        state.issued[rank], state.ended[rank], state.times[rank] = 0, 0, []
    clock = 0
    moved = True
    while moved:
        moved = False
        for rank, steps in program.steps.items():
            while state.issued[rank] < len(steps) and state.issued[rank] - state.ended[rank] <= ahead:
                clock += 1
                state.times[rank].append(clock)
                state.issued[rank] += 1
                moved = True
        for ends in _ready(state, mismatches_hang):
            for rank in ends:
                state.ended[rank] += 1
                moved = True
    return state


def _head(state: Run, rank: int) -> tuple[Step, int] | None:
    """Return the step a rank's device is at, and its number in its queue; None where it is at none.

    The device of a late rank stands still in the step where the fault is planted: it is at it for its peers,
    but does not end it.
    """
    place = state.ended[rank]
    if place >= state.issued[rank]:
        return None
    steps = state.program.steps[rank]
    step = steps[place]
    number = sum(1 for other in steps[:place] if _queue(other) == _queue(step))
    return step, number


def _queue(step: Step) -> tuple[str, int | None, int | None]:
    return step.group, step.src, step.dst


def _ready(state: Run, mismatches_hang: bool) -> list[list[int]]:
    """Return the ranks whose steps end now, call by call."""
    program = state.program
    heads = {rank: head for rank in program.steps if (head := _head(state, rank))}
    calls: dict[tuple[Any, int], list[int]] = {}
    for rank, (step, number) in heads.items():
        calls.setdefault((_queue(step), number), []).append(rank)
    out = []
    for ((group, src, dst), number), ranks in calls.items():
        members = program.groups[group] if src is None else sorted({src, dst} - {None})
        here = [r for r in members if r in ranks or _passed(state, r, (group, src, dst), number)]
        contents = {(heads[r][0].kind, heads[r][0].size, heads[r][0].dtype) for r in ranks}
        if len(here) == len(members) and not (mismatches_hang and len(contents) > 1):
            out.append([rank for rank in ranks if not _stands_still(state, rank)])
    return out


def _passed(state: Run, rank: int, queue: tuple[str, int | None, int | None], number: int) -> bool:
    """Return whether a rank has ended that call before: the others of it end after a late one."""
    done = [step for step in state.program.steps[rank][: state.ended[rank]] if _queue(step) == queue]
    return len(done) > number


def _stands_still(state: Run, rank: int) -> bool:
    program = state.program
    return program.fault == "late" and program.rank == rank and state.ended[rank] >= program.place


@dataclass(frozen=True)
class View:
    """What of a run the dumps show: calls kept per rank, a filter, counters, lists of groups, sites."""

    kept: dict[int, int]
    absent: frozenset[int]
    is_filtered: bool
    has_status: bool
    has_groups: bool
    has_sites: bool
    is_gloo: bool

    @property
    def is_whole(self) -> bool:
        """Return whether the dumps hold all calls of all ranks."""
        return not self.absent and not self.is_filtered and all(kept >= 99 for kept in self.kept.values())


def whole_view(program: Program) -> View:
    """Return the view that shows all that a recorder of NCCL can."""
    kept = dict.fromkeys(program.steps, 99)
    return View(kept, frozenset(), False, has_status=True, has_groups=True, has_sites=True, is_gloo=False)


@st.composite
def views(draw: st.DrawFn, world: int) -> View:
    """Draw what the dumps of a run show; often all of it."""
    if draw(st.booleans()):
        return View(
            dict.fromkeys(range(world), 99), frozenset(), False, draw(st.booleans()), True, True, False
        )
    is_filtered = draw(st.booleans())  # a real ring holds thousands: it drops no call that is still active
    return View(
        {rank: 99 if is_filtered else draw(st.sampled_from((99, 99, 1, 2, 3, 5))) for rank in range(world)},
        frozenset(draw(st.lists(st.integers(0, world - 1), max_size=1))),
        is_filtered,
        draw(st.booleans()),
        draw(st.integers(0, 3)) > 0,
        draw(st.booleans()),
        draw(st.integers(0, 3)) == 0,
    )


def dumps(state: Run, view: View) -> list[RankDump]:
    """Return the dumps of a run."""
    return [_dump(state, view, rank) for rank in sorted(state.program.steps) if rank not in view.absent]


def _dump(state: Run, view: View, rank: int) -> RankDump:
    program = state.program
    rows = []
    for place in range(state.issued[rank]):
        row = _row(program, rank, program.steps[rank][place], view, place < state.ended[rank])
        rows.append(row | {"start_ns": START_NS + state.times[rank][place]})
    rows = numbered(rows)
    status = _status(rows, state.ended[rank], view.is_gloo)
    groups = {name: ranks for name, ranks in program.groups.items() if rank in ranks}
    if view.is_gloo:
        rows = [row for row in rows if not row["is_p2p"]]
        rows = [row | {"record_id": place} for place, row in enumerate(rows)]
    kept = rows[max(0, len(rows) - view.kept[rank]) :]
    if view.is_filtered:
        kept = [row for row in kept if row["state"] != "completed"]
    found = dump(rank, [], groups if view.has_groups else {"": None}, status if view.has_status else {})
    found.entries = dump(rank, kept).entries if kept else found.entries
    return found


def _row(program: Program, rank: int, step: Step, view: View, is_done: bool) -> Row:
    site = step.site if view.has_sites else None
    state = "completed" if is_done else "scheduled"
    if step.src is not None and step.dst is not None:
        src, dst = (program.groups[step.group].index(end) for end in (step.src, step.dst))
        make = send if rank == step.src else recv
        return make(src, dst, step.group, step.size, state=state, site=site)
    members = len(program.groups[step.group])
    size = {
        "_reduce_scatter_base": step.size * members,
        "barrier": [],
    }.get(step.kind, step.size)
    out = {"_all_gather_base": step.size * members, "_reduce_scatter_base": step.size}.get(step.kind)
    shape: dict[str, Any] = {"group": step.group, "size": size, "out": out, "dtype": step.dtype, "site": site}
    return (
        gloo(step.kind, retired=is_done, **shape) if view.is_gloo else call(step.kind, state=state, **shape)
    )


def _status(rows: list[Row], ended: int, is_gloo: bool) -> dict[int, tuple[int, int]]:
    """Return the counters as backends give them: NCCL the last call's own number, gloo its op_id."""
    out: dict[int, tuple[int, int]] = {}
    for place, row in enumerate(rows):
        number = row["op_id"] if is_gloo else row["p2p_seq_id" if row["is_p2p"] else "collective_seq_id"]
        completed = number if place < ended else out.get(row["pg_id"], (0, -1))[1]
        out[row["pg_id"]] = (number, completed)
    return out
