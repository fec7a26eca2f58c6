"""Columns get settled types, graph values one form."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphstore.store import values


@pytest.mark.parametrize(
    ("column", "kind", "held"),
    [
        ([1, None], pl.Int64, [1, None]),
        ([1.5, None], pl.Float64, [1.5, None]),
        ([1, 2.5], pl.Float64, [1.0, 2.5]),
        ([True, False], pl.Boolean, [True, False]),
        (["a", None], pl.String, ["a", None]),
        ([None, None], pl.Null, [None, None]),
        ([], pl.Null, []),
        ([[1], [], None, [None]], pl.List(pl.Int64), [[1], [], None, [None]]),
        ([["a"]], pl.List(pl.String), [["a"]]),
        ([[1, 2.5]], pl.List(pl.Float64), [[1.0, 2.5]]),
        ([[], []], pl.List(pl.Null), [[], []]),
        ([True, 1], pl.String, ["true", "1"]),
        (["a", 1, None], pl.String, ["a", "1", None]),
        ([[1, "a"]], pl.String, ['[1,"a"]']),
        ([[[1]]], pl.String, ["[[1]]"]),
        ([{"b": 1, "a": [True, None]}], pl.String, ['{"b":1,"a":[true,null]}']),
        ([1, [1]], pl.String, ["1", "[1]"]),
    ],
)
def test_a_column_has_the_type_of_its_values(column: list[Any], kind: Any, held: list[Any]) -> None:
    """One kind of value gives that type, mixed and nested ones JSON text, none at all Null."""
    found = values.frame(["x"], [column])["x"]

    assert found.dtype == kind
    assert found.to_list() == held


@given(st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)), min_size=1))
def test_every_64_bit_integer_is_kept(column: list[int | None]) -> None:
    """No detour over floats, with nulls or without."""
    assert values.frame(["x"], [column])["x"].to_list() == column


def test_labels_begin_with_the_primary_one_and_properties_are_in_order() -> None:
    """Engines give both in orders of their own."""
    assert values.node(["Kernel", "Op"], {"b": 1, "a": 2}) == {
        "labels": ["Op", "Kernel"],
        "properties": {"a": 2, "b": 1},
    }


def test_edges_of_a_path_name_the_keys_of_their_ends() -> None:
    """uid for ops, the run's id for runs, fid for findings: whatever is the label's key."""
    run = values.node(["Run"], {"run": "r", "uid": 1})
    finding = values.node(["Finding"], {"fid": "f"})

    found = values.path([finding, run], [(values.edge("ABOUT", {"role": "x"}), 0, 1)])

    assert found["relationships"] == [
        {"type": "ABOUT", "properties": {"role": "x"}, "start": "f", "end": "r"},
    ]


def test_a_node_of_no_declared_label_has_no_key() -> None:
    """A foreign node in the database is shown, not refused."""
    foreign = values.node([], {"x": 1})

    assert (
        values.path([foreign, foreign], [(values.edge("T", {}), 0, 1)])["relationships"][0]["start"] is None
    )
