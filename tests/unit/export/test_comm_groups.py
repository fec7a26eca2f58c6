"""Names and members of process groups in an export."""

from __future__ import annotations

from typing import Any

import orjson
import polars as pl

from graphstore.export.comm_groups import group_file, groups_of


def groups(*rows: tuple[str, str, list[int], bool]) -> pl.DataFrame:
    """Return rows of show_group_members."""
    schema: dict[str, Any] = {
        "group": pl.String,
        "pg_name": pl.String,
        "members": pl.List(pl.Int64),
        "complete": pl.Boolean,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def test_a_group_is_called_by_its_recorded_name() -> None:
    """The default target keeps PyTorch's names."""
    found = groups_of(groups(("0[0-3]", "0", [3, 2, 1, 0], True), ("tp[0,1]", "tp", [0, 1], True)))

    assert found.members() == {"0": [0, 1, 2, 3], "tp": [0, 1]}
    assert found.global_rank("0[0-3]", 2) == 2


def test_a_name_of_two_member_sets_is_replaced_by_the_keys() -> None:
    """One name for two groups would make a simulator mix them."""
    found = groups_of(groups(("3[0,2]", "3", [0, 2], True), ("3[1,3]", "3", [1, 3], True)))

    assert found.members() == {"3[0,2]": [0, 2], "3[1,3]": [1, 3]}
    assert found.ambiguous == ["3"]
    assert found.global_rank("3[1,3]", 1) == 3


def test_a_group_without_a_name_is_called_by_its_key() -> None:
    """'' means "all ranks" to a simulator, so it is never written."""
    assert groups_of(groups(("[0,1]", "", [0, 1], False))).members() == {"[0,1]": [0, 1]}
    assert groups_of(groups(("[0,1]", "", [0, 1], False))).incomplete == ["[0,1]"]


def test_a_place_outside_of_a_group_has_no_global_rank() -> None:
    """A peer that the group does not have is not invented."""
    found = groups_of(groups(("0[0,1]", "0", [0, 1], True)))

    assert found.global_rank("0[0,1]", 2) is None
    assert found.global_rank("unknown", 0) is None


def test_the_group_file_lists_numbers_first_and_ascending() -> None:
    """Text order would put 10 before 2; the file is JSON and its bytes are fixed."""
    written = group_file({"10": [1], "tp": [0, 1], "2": [0]})

    assert list(orjson.loads(written)) == ["2", "10", "tp"]
    assert group_file({}) == b"{}\n"
