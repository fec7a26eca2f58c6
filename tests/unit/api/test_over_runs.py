"""How a figure goes from run to run: sums, changes in percent, and the first run with a change."""

from __future__ import annotations

import polars as pl
import pytest

from graphstore.api.over_runs import _changes, _points, _summed
from graphstore.errors import UsageError

ORDER = pl.DataFrame(
    {"run": ["a", "b", "c", "d"], "created": ["1", "2", "3", "4"], "place": [0, 1, 2, 3]},
)


def sums(*rows: tuple[str, str, float | None]) -> pl.DataFrame:
    """Return rows of (run, key, value) as _summed gives them."""
    return pl.DataFrame(rows, schema={"run": pl.String, "key": pl.String, "value": pl.Float64}, orient="row")


def test_rows_are_summed_by_run_and_key() -> None:
    """What is not known adds nothing; where nothing is known the sum is not known."""
    rows = pl.DataFrame(
        {"run": ["a", "a", "a", "b"], "name": ["x", "x", "y", "x"], "self_ns": [1, 2, None, None]}
    )

    found = _summed(rows, "self_ns", "name").sort("run", "key").rows()

    assert found == [("a", "x", 3), ("a", "y", None), ("b", "x", None)]
    assert _summed(rows, "self_ns", None).sort("run").rows() == [("a", "", 3), ("b", "", None)]


@pytest.mark.parametrize(
    ("column", "by", "told"),
    [
        ("selfns", None, "no column selfns; near it: self_ns"),
        ("self_ns", "zzz", "no column zzz; it has run, name, self_ns"),
        ("name", None, "column name holds no numbers; self_ns does"),
    ],
)
def test_a_wrong_column_is_told_with_the_right_ones(column: str, by: str | None, told: str) -> None:
    """Near names first, else all there are."""
    rows = pl.DataFrame({"run": ["a"], "name": ["x"], "self_ns": [1]})

    with pytest.raises(UsageError, match=told):
        _summed(rows, column, by)


def test_the_first_run_beyond_the_limit_is_found() -> None:
    """100 → 104 is within 5 %, 104 → 114.4 (+10 %) is not, nor is what comes after it."""
    points = _points(sums(("a", "", 100), ("b", "", 104), ("c", "", 114.4), ("d", "", 50)), ORDER, None, 5.0)

    assert points["run"].to_list() == ["a", "b", "c", "d"]
    assert points["change_pct"].round(6).to_list() == [None, 4.0, 10.0, pytest.approx(-56.293706)]
    assert points["changed"].to_list() == [False, False, True, True]
    change = _changes(points, None).to_dicts()[0]
    assert (change["changed_in"], round(change["changed_pct"], 6), change["change_pct"]) == ("c", 10.0, -50.0)


def test_a_change_of_just_the_limit_is_none() -> None:
    """More than, not at least."""
    points = _points(sums(("a", "", 100), ("b", "", 105)), ORDER, None, 5.0)

    assert points["changed"].to_list() == [False, False]


def test_a_key_that_a_run_lacks_counts_nothing_there() -> None:
    """A name that comes changes from nothing, without a percentage; one that goes falls by 100 %."""
    found = sums(("a", "old", 8), ("a", "new", 0), ("b", "new", 9), ("b", "same", 1), ("a", "same", 1))
    changes = _changes(_points(found, ORDER, "name", 5.0), "name")

    assert changes.select("name", "first", "last", "change_pct", "changed_in", "changed_pct").rows() == [
        ("new", 0.0, 9.0, None, "b", None),
        ("old", 8.0, 0.0, -100.0, "b", -100.0),
        ("same", 1.0, 1.0, 0.0, None, None),
    ]


def test_a_run_whose_figure_is_not_known_is_passed_over() -> None:
    """The next is compared with the last that is known; a run without any row is not in the trend."""
    points = _points(sums(("a", "", 10), ("b", "", None), ("d", "", 20)), ORDER, None, 5.0)

    assert points.select("run", "value", "change_pct").rows() == [
        ("a", 10.0, None),
        ("b", None, None),
        ("d", 20.0, 100.0),
    ]


def test_figures_that_stay_zero_do_not_change() -> None:
    """0 → 0 is no change, 0 → 1 is one."""
    points = _points(sums(("a", "", 0), ("b", "", 0), ("c", "", 1)), ORDER, None, 5.0)

    assert points.select("change_pct", "changed").rows() == [(None, False), (0.0, False), (None, True)]
