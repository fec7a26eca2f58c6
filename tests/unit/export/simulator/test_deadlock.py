"""Ranks that wait for each other: each circle, and the order in which it does not close."""

from __future__ import annotations

from pathlib import Path

from tests.unit.export.simulator.workload import coll, found, node, recv, rules, send

GROUPS = {"1": [0, 1], "2": [0, 1]}


def test_two_groups_in_opposite_order(tmp_path: Path) -> None:
    """Rank 0 begins in group 1, rank 1 in group 2; both hold their only slot."""
    ranks = {
        0: [coll(1, group="1"), coll(2, [1], "2")],
        1: [coll(1, group="2"), coll(2, [1], "1")],
    }

    told = found(tmp_path, ranks, GROUPS)

    assert set(told) == {"collective_deadlock"}
    assert told["collective_deadlock"].message == (
        "ranks wait for each other: rank 0 in collective of group 1 (node 1) for rank 1; "
        "rank 1 in collective of group 2 (node 1) for rank 0"
    )


def test_two_groups_in_one_order(tmp_path: Path) -> None:
    """The same on both ranks."""
    both = [coll(1, group="1"), coll(2, [1], "2")]

    assert rules(tmp_path, {0: both, 1: both}, GROUPS) == set()


def test_ready_collectives_go_by_their_ids(tmp_path: Path) -> None:
    """Without deps the smaller id begins: opposite ids close the circle, equal ones do not."""
    ranks = {0: [coll(1, group="1"), coll(2, group="2")], 1: [coll(1, group="2"), coll(2, group="1")]}
    same = [coll(1, group="1"), coll(2, group="2")]

    assert rules(tmp_path, ranks, GROUPS) == {"collective_deadlock", "collectives_unordered"}
    assert rules(tmp_path, {0: same, 1: same}, GROUPS) == {"collectives_unordered"}


def test_receive_then_send_on_both_sides(tmp_path: Path) -> None:
    """Each waits for what the other sends after its own recv."""
    ranks = {0: [recv(1, 1), send(2, 1, [1])], 1: [recv(1, 0), send(2, 0, [1])]}

    told = found(tmp_path, ranks)

    assert set(told) == {"transfer_deadlock"}
    assert told["transfer_deadlock"].evidence["ranks"] == [0, 1]


def test_an_exchange_without_a_dep_or_sending_first(tmp_path: Path) -> None:
    """A recv needs no slot, a send does not wait for its recv."""
    free = {0: [recv(1, 1), send(2, 1)], 1: [recv(1, 0), send(2, 0)]}
    first = {0: [send(1, 1), recv(2, 1, [1])], 1: [send(1, 0), recv(2, 0, [1])]}

    assert rules(tmp_path, free) == rules(tmp_path, first) == set()


def test_a_send_behind_a_collective_that_waits_for_its_recv(tmp_path: Path) -> None:
    """Rank 0 holds its slot in the collective; its send, ready as well, has the higher id."""
    ranks = {0: [coll(1), send(2, 1)], 1: [recv(1, 0), coll(2, [1])]}
    mended = {0: [send(1, 1), coll(2)], 1: [recv(1, 0), coll(2, [1])]}

    assert rules(tmp_path, ranks) == {"transfer_deadlock"}
    assert rules(tmp_path, mended) == set()


def test_ranks_behind_a_circle_are_named_apart(tmp_path: Path) -> None:
    """Rank 2 waits for a rank that stands still, and closes nothing."""
    ranks = {
        0: [recv(1, 1), send(2, 1, [1]), send(3, 2, [1])],
        1: [recv(1, 0), send(2, 0, [1])],
        2: [recv(1, 0), node(2, [1])],
    }

    told = found(tmp_path, ranks)["transfer_deadlock"]

    assert told.evidence["ranks"] == [0, 1]
    assert told.evidence["ranks_stopped_behind"] == [2]


def test_a_missing_call_is_told_once_and_as_no_circle(tmp_path: Path) -> None:
    """What hangs behind it is the same cause."""
    ranks = {0: [coll(1), coll(2, [1])], 1: [coll(1)]}

    assert rules(tmp_path, ranks) == {"call_missing"}


def test_a_pipeline_whose_later_send_is_ready_first(tmp_path: Path) -> None:
    """Node 2 waits for a recv that comes by way of node 3: a busy rank takes what is ready."""
    ranks = {
        0: [recv(1, 1), send(2, 1, [1], tag=1), send(3, 1, tag=2)],
        1: [recv(1, 0, tag=2), send(2, 0, [1]), recv(3, 0, tag=1)],
    }

    assert rules(tmp_path, ranks) == set()
