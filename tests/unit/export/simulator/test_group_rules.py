"""The communicator-group JSON, and the groups collectives name: each rule broken, and its near-miss."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit.export.simulator.workload import coll, found, node, rules

HALF = {"1": [0, 1]}


def of_group(name: str, groups: Any, tmp_path: Path, ranks: int = 2) -> set[str]:
    """Return the rules that ranks break which do one collective of a group."""
    return rules(tmp_path, {rank: [coll(1, group=name)] for rank in range(ranks)}, groups)


def test_a_group_of_the_file_breaks_no_rule(tmp_path: Path) -> None:
    """Its number is a key of the JSON, and both callers are members."""
    assert of_group("1", HALF, tmp_path) == set()


@pytest.mark.parametrize("name", ["", "0"])
def test_all_ranks_need_no_group(tmp_path: Path, name: str) -> None:
    """Absent, "" and "0" mean the world, without a JSON."""
    assert of_group(name, None, tmp_path) == set()


def test_a_group_called_by_a_text(tmp_path: Path) -> None:
    """PyTorch's names abort the simulator, in the file and on nodes."""
    assert of_group("tp_0", {"tp_0": [0, 1]}, tmp_path) == {"group_text", "group_file_bad"}


def test_a_group_that_the_file_does_not_hold(tmp_path: Path) -> None:
    """Or there is no file at all."""
    assert of_group("2", HALF, tmp_path) == {"group_unknown"}
    (tmp_path / "comm_groups.json").unlink()
    assert of_group("2", None, tmp_path) == {"group_file_absent"}


def test_a_caller_that_is_no_member(tmp_path: Path) -> None:
    """Rank 2 calls a group of ranks 0 and 1."""
    told = found(tmp_path, {rank: [coll(1, group="1")] for rank in range(3)}, HALF)

    assert (told["group_not_member"].rank, told["group_not_member"].severity) == (2, "error")
    assert len(told) == 1


def test_a_group_of_one_rank(tmp_path: Path) -> None:
    """It never finishes."""
    ranks = {0: [coll(1, group="1")], 1: [node(1)]}

    assert rules(tmp_path, ranks, {"1": [0]}) == {"group_of_one"}


@pytest.mark.parametrize(
    ("groups", "told"),
    [
        ({"0": [0, 1]}, {"group_file_bad"}),
        ({"a": [0, 1]}, {"group_file_bad"}),
        ([[0, 1]], {"group_file_bad"}),
        ({"1": ["0"]}, {"group_file_bad"}),
        ({"499": [0, 1]}, set()),
        ({"500": [0, 1]}, {"group_id_high"}),
        ({"1": [0, 2]}, {"group_member_outside"}),
        ({"1": [1, 0]}, {"group_members_unsorted"}),
        ({"1": [0, 0, 1]}, {"group_members_unsorted"}),
    ],
)
def test_what_the_file_may_hold(tmp_path: Path, groups: Any, told: set[str]) -> None:
    """One object: numbers from 1 to 499, each with ascending ranks of the world."""
    assert rules(tmp_path, {0: [node(1)], 1: [node(1)]}, groups) == told


def test_a_file_that_is_no_json(tmp_path: Path) -> None:
    """It is told, and nothing more is known of groups."""
    (tmp_path / "comm_groups.json").write_text("{")

    assert "group_file_bad" in of_group("1", None, tmp_path)


def test_a_path_that_counts_as_no_file(tmp_path: Path) -> None:
    """The simulator looks for the word empty."""
    folder = tmp_path / "emptyish"
    folder.mkdir()

    assert of_group("1", HALF, folder) == {"group_file_path"}


def test_the_world_without_an_id_beside_subgroups(tmp_path: Path) -> None:
    """Its counter counts subgroup calls: equal numbers of them are a warning, other ones hang all ranks."""
    both = [coll(1, group="1"), coll(2, [1])]
    equal = found(tmp_path, {0: both, 1: both}, HALF)
    uneven = found(tmp_path, {0: both, 1: both, 2: [node(1), coll(2, [1])]}, HALF)
    numbered = [coll(1, group="1"), coll(2, [1], group="2")]

    assert [(rule, told.severity) for rule, told in equal.items()] == [("world_without_id", "warning")]
    assert [(rule, told.severity) for rule, told in uneven.items()] == [("world_counter_differs", "error")]
    assert rules(tmp_path, {0: numbered, 1: numbered}, {"1": [0, 1], "2": [0, 1]}) == set()
