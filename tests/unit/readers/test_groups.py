from __future__ import annotations

from typing import Any

import pytest

from graphstore.readers.execution_trace import process_groups
from graphstore.readers.groups import group_members


@pytest.mark.parametrize(
    ("written", "size", "members"),
    [
        ([2, 0], 2, [0, 2]),
        ("[2, 0]", 2, [0, 2]),
        (["1", 0], 2, [0, 1]),
        ([], 3, [0, 1, 2]),
        (None, None, []),
        (["x", None, True, 1], 2, [1]),
        ("not a list", 2, [0, 1]),
        (7, 2, [0, 1]),
    ],
)
def test_members_are_the_numbers_listed_or_all(written: Any, size: int | None, members: list[int]) -> None:
    """A list or its text; none listed means all ranks; what is no number is passed over."""
    assert group_members(written, size) == members


@pytest.mark.parametrize(
    "broken", [{"ranks": ["x"]}, {"ranks": {"a": 1}}, {"ranks": [None], "group_size": "x"}]
)
def test_a_group_whose_members_are_no_numbers_stops_no_reader(broken: dict[str, Any]) -> None:
    """An execution trace with such an init node is read like any other; its group has no known member."""
    found = process_groups([{"pg_name": "0"} | broken])

    assert [(group["ranks"], group["group_size"]) for group in found] == [([], 0)]
