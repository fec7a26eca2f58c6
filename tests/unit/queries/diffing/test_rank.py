"""Two runs of one rank compared: nothing is found where nothing differs, a planted change exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from graphstore.queries.diffing.changes import find_changes
from graphstore.queries.diffing.rank import RankDiff, compare_rank
from tests.data.call_trees import (
    Call,
    around,
    at_place,
    calls,
    changed,
    columns,
    leaf,
    places,
    programs,
    step,
    with_child,
)

# Ops that never change: in a run of a few ops alone, one change would be a large part of all times.
QUIET = [leaf("aten::quiet", 1_000 + at, gap=50) for at in range(60)]
FEW = settings(max_examples=40)  # each compares two runs of some 60 ops, a tenth of a second
Found = list[tuple[str, str, str, int]]
MIRRORED = {"added": "removed", "slower": "faster", "delayed": "earlier", "moved": "moved"}
MIRRORED |= {second: first for first, second in MIRRORED.items()}


def compare(a: Sequence[Call], b: Sequence[Call]) -> RankDiff:
    """Compare two programs, each before the same quiet end, as runs of one rank."""
    return compare_rank((columns([*a, *QUIET]), columns([*b, *QUIET], first_uid=5)), ({}, {}))


def changes(a: Sequence[Call], b: Sequence[Call]) -> pl.DataFrame:
    """Return the changes from one program to another."""
    found = compare(a, b)
    return find_changes(found.measures, found.structure)[0]


def told(a: Sequence[Call], b: Sequence[Call]) -> Found:
    """Return the changes as what, change, name, delta in ns."""
    return changes(a, b).select("what", "change", "name", "delta_ns").rows()


@FEW
@given(programs())
def test_a_run_and_itself_do_not_differ(program: list[Call]) -> None:
    """Other keys and another start are no difference."""
    assert told(program, program) == []


@FEW
@given(programs(), programs())
def test_exchanging_the_runs_exchanges_the_answer(a: list[Call], b: list[Call]) -> None:
    """What was added is removed, what was slower is faster, by as much; nothing else changes."""
    there, back = changes(a, b), changes(b, a)

    names = {"count_a": "count_b", "count_b": "count_a", "self_a_ns": "self_b_ns", "self_b_ns": "self_a_ns"}
    mirrored = back.rename(names).with_columns(
        pl.col("change").replace_strict(MIRRORED, return_dtype=pl.String), -pl.col("delta_ns")
    )
    kept = ["what", "change", "name", "count_a", "count_b", "self_a_ns", "self_b_ns", "delta_ns"]
    assert sorted(there.select(kept).rows()) == sorted(mirrored.select(kept).rows())


@FEW
@given(programs(), programs())
def test_own_times_add_up_to_the_difference(a: list[Call], b: list[Call]) -> None:
    """What ops differ by, and what only one run has, is the difference of the two sums, to the nanosecond."""
    found = compare(a, b)

    ops = found.measures.filter(pl.col("what") == "op")
    alone = found.structure.filter(pl.col("change").is_in(["added", "removed"]) & (pl.col("what") == "op"))
    totals = found.totals.filter(pl.col("what") == "op").row(0, named=True)
    for side in "ab":
        parts = ops[f"own_{side}_ns"].to_list() + alone[f"total_{side}_ns"].to_list()
        assert sum(parts) == totals[f"self_{side}_ns"]


@FEW
@given(programs(), st.data())
def test_one_op_more_is_that_one(program: list[Call], data: st.DataObject) -> None:
    """With what it calls, wherever it stands; its callers are longer by it, and nobody else is named."""
    place = data.draw(st.sampled_from(places(program)))
    call = at_place(program, place)
    new = replace(data.draw(calls(1)), name="aten::new", gap=0)
    longer = with_child(call, new, data.draw(st.integers(0, len(call.children))))
    planted = changed(program, place, longer)

    found = changes(program, planted)

    time = columns([new]).host["duration_ns"][0]
    assert found.select("what", "change", "name", "delta_ns").rows() == [("op", "added", "aten::new", time)]
    assert found["ops_below"][0] == len(new.children)
    assert told(planted, program) == [("op", "removed", "aten::new", -time)]


@FEW
@given(programs(), st.integers(1, 1000), st.data())
def test_an_op_that_takes_its_time_from_its_caller_is_the_only_change(
    program: list[Call], time: int, data: st.DataObject
) -> None:
    """The caller is as long as before and has less time of its own: that is explained by the new op."""
    roomy = around("aten::roomy", *program, own=2_000)
    at = data.draw(st.integers(0, len(program)))
    new = with_child(roomy, leaf("aten::new", time), at)
    own = (*roomy.own[:at], roomy.own[at] - time, 0, *roomy.own[at + 1 :])

    assert told([roomy], [replace(new, own=own)]) == [("op", "added", "aten::new", time)]


@FEW
@given(programs(), st.integers(1, 10**6), st.data())
def test_an_op_with_more_time_of_its_own_is_the_only_slower_one(
    program: list[Call], more: int, data: st.DataObject
) -> None:
    """Its callers are longer, too, and all that follows comes later: effects, which are not told."""
    place = data.draw(st.sampled_from(places(program)))
    call = at_place(program, place)
    at = data.draw(st.integers(0, len(call.children)))
    slower = replace(call, own=(*call.own[:at], call.own[at] + more, *call.own[at + 1 :]))

    assert told(program, changed(program, place, slower)) == [("op", "slower", call.name, more)]


@FEW
@given(programs(), st.data())
def test_a_kernel_twice_as_slow_is_that_kernel(program: list[Call], data: st.DataObject) -> None:
    """By its launching op and its place among the kernels of that op."""
    launching = [place for place in places(program) if at_place(program, place).kernels]
    if not launching:
        return
    place = data.draw(st.sampled_from(launching))
    call = at_place(program, place)
    at = data.draw(st.integers(0, len(call.kernels) - 1))
    name, time = call.kernels[at]
    slower = replace(call, kernels=(*call.kernels[:at], (name, 2 * time), *call.kernels[at + 1 :]))

    found = changes(program, changed(program, place, slower))

    assert found.select("what", "change", "name", "delta_ns").rows() == [("kernel", "slower", name, time)]
    assert found["percent"][0] == 100


@FEW
@given(programs(least=2), st.integers(1, 10**6), st.data())
def test_a_pause_of_the_main_thread_is_a_delay_before_the_next_op(
    program: list[Call], pause: int, data: st.DataObject
) -> None:
    """Whether it lies inside of a step mark, which is longer by it, or between outermost ops."""
    at = data.draw(st.integers(1, len(program) - 1))
    late = replace(program[at], gap=program[at].gap + pause)
    planted = changed(program, (at,), late)

    expected = [("rank", "delayed", f"before {late.name}", pause)]
    assert told(program, planted) == expected
    assert told([step(*program), step(*program)], [step(*program), step(*planted)]) == expected


def test_of_equal_names_the_one_whose_time_is_new_was_added() -> None:
    """Order alone can't tell which of three equal ops is new; the times of the others can."""
    old = [leaf("aten::add", 5_000), leaf("aten::add", 9_000)]
    new = [old[0], leaf("aten::add", 700), old[1]]

    assert told([around("aten::sum", *old, own=0)], [around("aten::sum", *new, own=0)]) == [
        ("op", "added", "aten::add", 700)
    ]


def test_an_op_at_another_place_was_moved() -> None:
    """Under another caller, or at another place of the same one; the order of the others is no change."""
    a, b, c = leaf("aten::a", 1_000), around("aten::b", leaf("aten::in", 500)), leaf("aten::c", 2_000)

    elsewhere = changes(
        [around("aten::x", a, b, own=0), around("aten::y", c, own=0)],
        [around("aten::x", a, own=0), around("aten::y", c, b, own=0)],
    )
    reordered = changes([a, b, c], [b, c, a])

    kept = ["what", "change", "name", "path", "detail", "ops_below"]
    assert elsewhere.select(kept).rows() == [
        ("op", "moved", "aten::b", "aten::y / aten::b", "was aten::x / aten::b", 1)
    ]
    assert reordered.select(kept).rows() == [
        ("op", "moved", "aten::a", "aten::a", "at another place in the order", 0)
    ]


def test_an_op_put_around_others_is_one_op_more() -> None:
    """Those below it have not moved: the new op is the change, with the time that is its own."""
    inner = [leaf("aten::a", 1_000), leaf("aten::b", 2_000)]

    found = changes(
        [around("aten::x", *inner, own=0)], [around("aten::x", around("aten::new", *inner, own=50), own=0)]
    )

    assert found.select("change", "name", "delta_ns", "ops_below").rows() == [("added", "aten::new", 150, 0)]


def test_an_op_more_in_every_step_is_one_change() -> None:
    """Steps are repetitions of one program: one place, counted in each of them."""
    old, new = [leaf("aten::a", 1_000)], [leaf("aten::a", 1_000), leaf("aten::new", 300)]

    found = changes([step(*old), step(*old)], [step(*new), step(*new)])

    assert found.select("change", "name", "count_a", "count_b", "delta_ns", "path").rows() == [
        ("added", "aten::new", 0, 2, 600, "ProfilerStep / aten::new")
    ]


def test_a_step_more_is_one_change() -> None:
    """The step whose times have no equal is the new one, with all that is in it."""
    steps = [step(leaf("aten::a", time)) for time in (1_000, 5_000, 9_000)]

    found = changes([steps[0], steps[2]], steps)

    assert found.select("what", "change", "name", "ops_below", "delta_ns").rows() == [
        ("op", "added", "ProfilerStep#102", 1, 5_000)
    ]


def test_marks_of_one_run_alone_are_looked_through() -> None:
    """A run recorded with step marks is compared with one without: the ops are the same ones."""
    program = [leaf("aten::a", 1_000), around("aten::b", leaf("aten::in", 500))]

    found = compare(program, [step(*program)])

    assert find_changes(found.measures, found.structure)[0].height == 0
    assert found.notes == ["rank 0: only B has step marks; they are looked through"]


def test_a_kernel_more_is_one_change_and_one_of_a_new_op_is_none() -> None:
    """What a new op launches is counted with it."""
    old = leaf("aten::mm", 1_000, kernels=(("gemm", 10),))
    more = replace(old, kernels=(("gemm", 10), ("split", 20)))
    new = leaf("aten::new", 500, kernels=(("relu", 5),))

    assert told([old], [more]) == [("kernel", "added", "split", 20)]
    found = changes([old], [old, new])
    assert found.select("what", "change", "name", "kernels_below").rows() == [("op", "added", "aten::new", 1)]


def test_without_times_the_structure_is_compared() -> None:
    """Execution traces alone say what was called, in the order of their ids; that they are all is told."""

    def untimed(program: Sequence[Call]) -> Any:
        known = columns(program)
        host = known.host.with_columns(duration_ns=pl.lit(-1), start_ns=pl.lit(-1), self_ns=pl.lit(-1))
        return replace(known, host=host, kernels=known.kernels.clear())

    old, new = (
        [leaf("aten::a", 5), leaf("aten::b", 5)],
        [leaf("aten::a", 5), leaf("aten::c", 5), leaf("aten::b", 5)],
    )
    both = compare_rank((untimed(old), untimed(new)), ({}, {}))
    one = compare_rank((untimed(old), columns(old)), ({}, {}))

    assert both.structure.select("change", "name", "total_b_ns").rows() == [("added", "aten::c", 0)]
    assert (both.measures.height, both.notes) == (0, [])
    assert one.structure.height == 0
    assert one.notes == ["rank 0: A holds no times; ops are compared by order alone, device ops not at all"]
