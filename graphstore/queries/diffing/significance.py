"""What is change and what is noise: the spread between two runs, and a test over their steps.

In:  sites: the same op, device op, call or gap in every step, with its time in both runs.
Out: the noise of each site, and the probability that steps alone make such a difference.

Noise floor. Two recordings of one program differ in every op, short ones relatively more. So the spread is
taken from the runs themselves: of the logarithmic changes of all sites of like duration (half to twice as
long at least, and further if these are few), three robust standard deviations (1.4826 times the median
distance from the median). No change of fewer ns than the files tell is above it. Where nearly all times are
equal to the nanosecond, the runs are copies of one recording: there is no noise, and every change counts.

Test. Welch's t test on the logarithms of the times of the steps: it asks for no equal spread, and the
logarithm makes the long tail of times symmetric. Tests of ranks (Mann-Whitney, permutations) ask for less,
but can't give a probability below 2 in (2n over n), 0.1 for 3 steps each, so with thousands of sites
nothing would ever count. For that many sites are tested at once, probabilities are those of Benjamini and
Hochberg. Fewer than 3 steps on a side are not tested. What steps tell is whether a change holds from step
to step, not from run to run.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

LEAST_STEPS = 3
SIGNIFICANT = 0.05  # share of false ones among the changes called significant
LEAST_LIKE = 30  # sites that a noise floor rests on, where there are so many
DEVIATIONS = 3.0
TO_DEVIATION = 1.4826  # of a normal distribution: standard by median absolute deviation
SMALLEST_NS = 1_000  # added to times before their logarithms: below a µs, clocks differ, not work
MICROSECOND = 1_000
# Two runs are copies when this share of their times is equal, or all but a few are: in ns hardly any time of
# two recordings is, in whole µs most of the short ones are.
CALM_BY_TICK = {1: 0.5, MICROSECOND: 0.95}
CALM_BUT = 3

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Resolution:
    """How finely the files tell time (1 ns, or 1 µs where all are whole µs), and whether they are calm."""

    tick_ns: int
    calm: bool


def resolution(measures: pl.DataFrame) -> Resolution:
    """Return how finely the times of all records are told, and whether nearly all are equal in both runs."""
    known = measures.filter((pl.col("own_a_ns") != 0) | (pl.col("own_b_ns") != 0))
    if not known.height:
        return Resolution(1, True)
    whole = known.select((pl.col("total_a_ns", "total_b_ns") % MICROSECOND == 0).all()).row(0)
    tick = MICROSECOND if all(whole) else 1
    differ = known.filter(pl.col("own_a_ns") != pl.col("own_b_ns")).height
    return Resolution(tick, differ <= max(CALM_BUT, (1 - CALM_BY_TICK[tick]) * known.height))


def noise_ratio(sites: pl.DataFrame) -> Floats:
    """Return the noise floor of each site as a factor on its time, 1 for none; of sites of one kind.

    Sites have mean_a, mean_b: time per call in either run. Those of like duration are taken all together:
    were they narrowed down to those nearest in duration, one would compare those that changed alike.
    """
    before, after = (sites[name].to_numpy() + SMALLEST_NS for name in ("mean_a", "mean_b"))
    change = np.log(after / before)
    octave = np.floor(np.log2(before + after)).astype(np.int64)
    out = np.ones(sites.height)
    for one in np.unique(octave).tolist():
        away = np.abs(octave - one)
        width = max(1, int(np.sort(away)[min(LEAST_LIKE, away.size) - 1]))
        like = change[away <= width]
        spread = np.median(np.abs(like - np.median(like)))
        out[octave == one] = np.exp(DEVIATIONS * TO_DEVIATION * spread)
    return out


def probability(
    mean_a: Floats, spread_a: Floats, count_a: Floats, mean_b: Floats, spread_b: Floats, count_b: Floats
) -> Floats:
    """Return Welch's probability for each site, adjusted for their number; NaN where steps are too few.

    Means and standard deviations are those of the logarithms over the steps.
    """
    out = np.full(mean_a.size, np.nan)
    tested = np.flatnonzero((count_a >= LEAST_STEPS) & (count_b >= LEAST_STEPS))
    if not tested.size:
        return out
    from scipy import stats  # a second to import, and most comparisons have too few steps for it

    found = stats.ttest_ind_from_stats(
        mean_a[tested], spread_a[tested], count_a[tested],
        mean_b[tested], spread_b[tested], count_b[tested],
        equal_var=False,
    )  # fmt: skip
    out[tested] = stats.false_discovery_control(found.pvalue)
    return out
