"""The words that mean runs: ids, latest, names; dates and sizes; conditions joined by and."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphstore.api.selection import Selection, read_size, read_time, resolve_run, select_runs, some_runs
from graphstore.errors import UsageError
from graphstore.store import Store


def run(key: str, **properties: Any) -> dict[str, Any]:
    """Return the properties of a Run that selection looks at."""
    own: dict[str, Any] = {
        "run": key,
        "name": key,
        "created": None,
        "tags": [],
        "world_size": 1,
        "trace_bytes": None,
    }
    return own | properties


class Listed:
    """A store that has a list of runs; it answers no query, as one asked for an absent run does."""

    address = "here"

    def __init__(self, *runs: dict[str, Any]) -> None:
        """Keep the runs, oldest first."""
        self._runs = list(runs)

    def runs(self) -> list[dict[str, Any]]:
        """Return the runs."""
        return self._runs

    def query(self, run: str, *_: Any, **__: Any) -> Any:
        """Refuse any run."""
        raise UsageError(f"no run {run}")


def listed(*runs: dict[str, Any]) -> Store:
    """Return a store of these runs."""
    return cast(Store, Listed(*runs))


THREE = listed(run("a"), run("b", name="nightly"), run("c", name="twice"))


@pytest.mark.parametrize(
    ("word", "found"),
    [("a", "a"), ("latest", "c"), ("latest~0", "c"), ("latest~2", "a"), ("nightly", "b"), ("twice", "c")],
)
def test_a_run_is_meant_by_id_place_or_name(word: str, found: str) -> None:
    """latest is the newest, latest~N counts back from it."""
    assert resolve_run(THREE, word) == found


def test_an_id_goes_before_a_word_and_a_word_before_a_name() -> None:
    """A run whose id is `latest` is that run; one that is only called so is not."""
    assert resolve_run(listed(run("latest"), run("b")), "latest") == "latest"
    assert resolve_run(listed(run("a", name="latest"), run("b")), "latest") == "b"
    assert resolve_run(listed(run("a"), run("b", name="a")), "a") == "a"


def test_the_only_run_needs_no_word() -> None:
    """With none or with two there is no telling; some verbs have no --run, so the message names none."""
    assert resolve_run(listed(run("a")), None) == "a"
    for store in (listed(), THREE):
        with pytest.raises(UsageError, match="say which run: id, latest or name"):
            resolve_run(store, None)


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("nigthly", "no run nigthly. Near it: b. Runs in here: a, b, c."),
        ("zzz", "no run zzz. Runs in here: a, b, c."),
        ("latest~3", "latest~3: there are 3 runs, the oldest is latest~2"),
        ("latest~", "no run latest~."),
        ("latest~-1", "no run latest~-1."),
        ("", "no run ."),
    ],
)
def test_a_word_for_no_run_is_told_with_near_ones(word: str, told: str) -> None:
    """One line that names what there is."""
    with pytest.raises(UsageError) as caught:
        resolve_run(THREE, word)
    assert str(caught.value).startswith(told)


def test_a_name_of_two_runs_is_no_word_for_either() -> None:
    """Both ids are told."""
    with pytest.raises(UsageError, match="2 runs are named 'x': a, b"):
        resolve_run(listed(run("a", name="x"), run("b", name="x")), "x")


def test_an_empty_archive_says_how_to_fill_it() -> None:
    """Also for latest."""
    with pytest.raises(UsageError, match="graphstore import PATH"):
        resolve_run(listed(), "latest")


FOUR = listed(
    run("a", created="2026-10-31T23:59:59+00:00", tags=["x"], trace_bytes=5, world_size=8),
    run("b", created="2026-11-01T00:00:00+00:00", tags=["x", "y"], trace_bytes=10, world_size=8),
    run("c", created="2026-11-02T01:00:00+02:00", tags=None, trace_bytes=15),
    run("d"),
)
NOVEMBER = datetime(2026, 11, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("selection", "found"),
    [
        (Selection(), "abcd"),
        (Selection(tags=("x",)), "ab"),
        (Selection(tags=("x", "y")), "b"),
        (Selection(since=NOVEMBER), "bc"),
        (Selection(until=NOVEMBER), "a"),
        (Selection(since=NOVEMBER, until=datetime(2026, 11, 2, tzinfo=UTC)), "bc"),
        (Selection(world_size=8), "ab"),
        (Selection(min_bytes=10), "bc"),
        (Selection(max_bytes=10), "ab"),
        (Selection(min_bytes=6, max_bytes=14, tags=("y",)), "b"),
        (Selection(runs=("latest", "a")), "ad"),
        (Selection(runs=("a", "b"), tags=("y",)), "b"),
        (Selection(tags=("z",)), ""),
    ],
)
def test_conditions_are_joined_by_and(selection: Selection, found: str) -> None:
    """A run without a date or a size meets no condition on it; the order stays that of the archive."""
    assert "".join(each["run"] for each in select_runs(FOUR, selection)) == found


def test_no_run_is_an_error_where_some_are_needed() -> None:
    """What there is, is named."""
    with pytest.raises(UsageError, match=r"no run is selected. Runs in here: a, b, c, d\."):
        some_runs(FOUR, Selection(tags=("z",)))


@pytest.mark.parametrize(
    ("word", "end", "found"),
    [
        ("2026-11-01", False, datetime(2026, 11, 1, tzinfo=UTC)),
        ("2026-11-01", True, datetime(2026, 11, 2, tzinfo=UTC)),
        ("2026-11-01T13:00", True, datetime(2026, 11, 1, 13, tzinfo=UTC)),
        ("2026-11-01T13:00:00+02:00", False, datetime(2026, 11, 1, 11, tzinfo=UTC)),
    ],
)
def test_a_day_begins_at_midnight_utc_and_its_end_is_the_next(word: str, end: bool, found: datetime) -> None:
    """A time is itself, whatever end is asked for."""
    assert read_time(word, end=end) == found


@pytest.mark.parametrize("word", ["yesterday", "", "2026-13-01", "01.11.2026"])
def test_what_is_no_date_is_told_with_the_right_form(word: str) -> None:
    """Also an empty word."""
    with pytest.raises(UsageError, match="want 2026-11-01"):
        read_time(word)


def test_the_last_day_there_is_has_no_next() -> None:
    """No traceback at the end of the calendar."""
    with pytest.raises(UsageError, match="is no date"):
        read_time("9999-12-31", end=True)


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("0", 0),
        ("500", 500),
        ("500B", 500),
        ("10MB", 10_000_000),
        ("10 MB", 10_000_000),
        ("1.5k", 1_500),
        ("1kB", 1_000),
        ("1KiB", 1_024),
        ("1.5GiB", 1_610_612_736),
        ("2T", 2_000_000_000_000),
    ],
)
def test_sizes_have_decimal_and_binary_units(word: str, found: int) -> None:
    """kB is 1,000 bytes, KiB 1,024; the B may be left out."""
    assert read_size(word) == found


@pytest.mark.parametrize("word", ["", "MB", "-1", "1e3", "10XB", "1iB", "1.2.3", "ten"])
def test_what_is_no_size_is_told_with_the_right_form(word: str) -> None:
    """Nothing is guessed."""
    with pytest.raises(UsageError, match="is no size"):
        read_size(word)


@given(st.text(max_size=8))
def test_no_word_breaks_the_readers(word: str) -> None:
    """Any text is a value or a usage error."""
    for read in (read_size, read_time, lambda text: resolve_run(THREE, text)):
        with contextlib.suppress(UsageError):
            assert read(word) is not None
