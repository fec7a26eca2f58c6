"""A plan counts its cases in the rows of a check that was made just before, or asks for them itself."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from graphstore import queries, readers, repairs, settings
from graphstore.api.importing import ImportOptions, import_files
from graphstore.demo import TRACES
from graphstore.store import open_store
from graphstore.store.base import Store


@pytest.fixture
def demo(tmp_path: Path) -> Store:
    """Return a store that holds the recorded demo as run 'demo'."""
    here = settings.load(str(tmp_path / "home"))
    store = open_store(here)
    found = readers.find_files([str(TRACES)], recursive=False)
    import_files(store, found, ImportOptions(run="demo"), here)
    return store


def test_the_rows_of_a_check_give_the_same_plan(demo: Store) -> None:
    """The demo lacks parents on every rank: the plan has changes, the same ones both ways."""
    checked = queries.run_checks(demo, "demo")

    plan = repairs.plan(demo, "demo", checked.rows)

    assert len(list(plan)) > 0
    assert plan == repairs.plan(demo, "demo")


def test_the_rows_given_are_the_ones_that_count(demo: Store) -> None:
    """Rows that say of no rank that it lacks a parent leave no such case in the plan."""
    checked = queries.run_checks(demo, "demo")
    none: dict[str, pl.DataFrame] = {name: rows.clear() for name, rows in checked.rows.items()}

    plan = repairs.plan(demo, "demo", none)

    assert not any(rule in ("missing_parent", "unreachable_component") for rule, _, _ in plan.cases)
