"""Noise and chance: what two recordings of one program differ by is not told, what differs by more is."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from graphstore.queries.diffing.changes import find_changes
from graphstore.queries.diffing.records import records
from graphstore.queries.diffing.significance import noise_ratio, probability, resolution
from graphstore.queries.diffing.structure import STRUCTURE

NOTHING = pl.DataFrame(schema=STRUCTURE)


def measures(own_a: list[int], own_b: list[int], steps: int = 1) -> pl.DataFrame:
    """Return records of one kind: `steps` times in a row for each site."""
    count = len(own_a)
    sites = [f"aten::op{at // steps}" for at in range(count)]
    step = [at % steps for at in range(count)]
    return records(
        "op", 0, path=sites, name=sites, place_a=[0] * count, place_b=[0] * count, step_a=step, step_b=step,
        total_a_ns=own_a, total_b_ns=own_b, own_a_ns=own_a, own_b_ns=own_b,
        unexplained_ns=[b - a for a, b in zip(own_a, own_b, strict=True)],
        uid_a=list(range(count)), uid_b=list(range(count)),
    )  # fmt: skip


def noisy(times: np.ndarray, seed: int, spread: float = 0.2) -> list[int]:
    """Return times as another recording would have them."""
    drawn = np.random.default_rng(seed).normal(0, spread, times.size)
    return [int(time) for time in np.round(times * np.exp(drawn))]


def test_noise_alone_is_not_told() -> None:
    """Of 2,000 ops that differ by chance alone, less than one in a hundred is above three deviations."""
    times = np.random.default_rng(0).uniform(5_000, 500_000, 2_000)

    changes, untold = find_changes(measures(noisy(times, 1), noisy(times, 2)), NOTHING)

    assert changes.height < 20
    assert untold["within_noise"].sum() + changes.height > 1_900, "what is not told is counted"


def test_noise_of_ops_that_all_take_as_long_is_noise() -> None:
    """Where one run has one time for all, the order of the other's times is that of the changes."""
    before = [1_500] * 600

    changes, _ = find_changes(measures(before, noisy(np.array(before), 1, 0.1)), NOTHING)

    assert changes.height < 12


def test_one_op_three_times_as_slow_stands_out_of_the_noise() -> None:
    """It is told first; its like have a noise of e^(3 * 0.28) = 2.3, from a sigma of 0.2 on both sides."""
    times = np.full(400, 100_000.0)
    before, after = noisy(times, 1), noisy(times, 2)
    after[7] = 3 * before[7]

    changes, _ = find_changes(measures(before, after), NOTHING)

    first = changes.row(0, named=True)
    assert (first["name"], first["change"], first["delta_ns"]) == ("aten::op7", "slower", 2 * before[7])
    assert 1.8 < noise_ratio(_sites(before, after))[7] < 3.0


def _sites(before: list[int], after: list[int]) -> pl.DataFrame:
    return pl.DataFrame({"mean_a": before, "mean_b": after}).cast(pl.Float64)


def test_a_program_slower_as_a_whole_is_not_called_noise() -> None:
    """Where every op takes twice as long, the usual change is no spread: all of them are told."""
    before = list(range(100_000, 200_000, 1_000))

    changes, _ = find_changes(measures(before, [2 * time for time in before]), NOTHING)

    assert changes.height == 100


def test_in_whole_microseconds_one_tick_is_no_change_unless_all_else_is_equal() -> None:
    """2 µs for 1 µs is rounding in a run that differs everywhere, and a change in a copy of a recording."""
    rng = np.random.default_rng(3)
    before = (rng.integers(1, 9, 200) * 1_000).tolist()
    jitter = [time + int(rng.integers(0, 2)) * 1_000 for time in before]
    copy = [*before[:-1], before[-1] + 1_000]

    assert find_changes(measures(before, jitter), NOTHING)[0].height == 0
    assert find_changes(measures(before, copy), NOTHING)[0]["delta_ns"].to_list() == [1_000]
    assert resolution(measures(before, jitter)).tick_ns == 1_000
    assert resolution(measures(noisy(np.full(9, 5e4), 1), before[:9])).tick_ns == 1


def test_the_probability_is_that_of_welch_adjusted_for_the_number_of_sites() -> None:
    """Against scipy's test on the values themselves; of two sites the smaller probability counts double."""
    from scipy import stats

    rng = np.random.default_rng(5)
    a, b = rng.normal(10, 0.1, (2, 5)), rng.normal(10, 0.2, (2, 4)) + np.array([[0.5], [0.0]])
    expected = [stats.ttest_ind(a[at], b[at], equal_var=False).pvalue for at in range(2)]

    found = probability(
        a.mean(1), a.std(1, ddof=1), np.full(2, 5.0), b.mean(1), b.std(1, ddof=1), np.full(2, 4.0)
    )

    assert expected[0] < expected[1]
    assert found.tolist() == pytest.approx([min(2 * expected[0], expected[1]), expected[1]])


def test_over_steps_a_change_in_each_holds_and_one_in_a_single_step_may_be_chance() -> None:
    """Both are told, as both are above the noise; two steps are too few to be tested."""
    times = np.random.default_rng(2).uniform(50_000, 60_000, 302 * 3)
    before, after = noisy(times, 1, 0.02), noisy(times, 2, 0.02)
    after[:3] = [2 * time for time in before[:3]]
    after[3] = 8 * before[3]

    def tested(steps: int) -> dict[str, bool | None]:
        changes = find_changes(measures(before, after, steps), NOTHING)[0]
        return dict(changes.select("name", "significant").rows())

    assert tested(3).items() >= {("aten::op0", True), ("aten::op1", False)}
    assert set(tested(2).values()) == {None}
