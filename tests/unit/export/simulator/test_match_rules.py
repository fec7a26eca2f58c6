"""Collectives and transfers of all ranks side by side: each rule broken, and its near-miss."""

from __future__ import annotations

from pathlib import Path

from tests.unit.export.simulator.workload import coll, found, node, recv, rules, send

GROUPS = {"1": [0, 1], "2": [0, 1, 2]}


def test_equal_calls_match_whatever_their_ids(tmp_path: Path) -> None:
    """What counts is the order in which they are taken."""
    ranks = {0: [coll(1), coll(2, [1], type="ALL_GATHER")], 1: [coll(9, [30], type="ALL_GATHER"), coll(30)]}

    assert rules(tmp_path, ranks) == set()


def test_the_first_call_that_differs_is_named(tmp_path: Path) -> None:
    """Number 1 (from 0) of group 1: other bytes on rank 1."""
    ranks = {
        rank: [coll(1, group="1"), coll(2, [1], "1", size), coll(3, [2], "1")]
        for rank, size in ((0, 64), (1, 128))
    }

    told = found(tmp_path, ranks, {"1": [0, 1]})

    assert set(told) == {"calls_differ"}
    assert told["calls_differ"].message == (
        "group 1: 1 call differs, the first is number 1: rank 0 node 2 ALL_REDUCE of 64 bytes, "
        "rank 1 node 2 ALL_REDUCE of 128 bytes"
    )


def test_another_kind_differs(tmp_path: Path) -> None:
    """All hang on it."""
    assert rules(tmp_path, {0: [coll(1)], 1: [coll(1, type="ALL_TO_ALL")]}) == {"calls_differ"}


def test_bytes_of_a_scatter_differ_by_their_nature(tmp_path: Path) -> None:
    """Its root alone has an input; that the type is not run is told, and nothing else."""
    ranks = {rank: [coll(1, size=size, type="SCATTER")] for rank, size in ((0, 128), (1, 64))}

    assert rules(tmp_path, ranks) == {"unsupported_collective"}


def test_one_call_fewer_on_a_rank(tmp_path: Path) -> None:
    """The others hang on the call; a member without any call counts as well."""
    two = [coll(1, group="2"), coll(2, [1], "2")]
    told = found(tmp_path, {0: two, 1: two, 2: two[:1]}, GROUPS)

    assert set(told) == {"call_missing"}
    assert told["call_missing"].evidence["calls"] == {"0": 2, "1": 2, "2": 1}
    assert rules(tmp_path, {0: two, 1: two, 2: [node(1)]}, GROUPS) == {"call_missing"}


def test_a_rank_outside_of_a_group_has_no_call(tmp_path: Path) -> None:
    """Unequal parts are well."""
    one = [coll(1, group="1")]

    assert rules(tmp_path, {0: one, 1: one, 2: [node(1)]}, GROUPS) == set()


def test_a_broadcast_waits_for_nobody(tmp_path: Path) -> None:
    """It takes its duration, so a member without it is no fault."""
    assert rules(tmp_path, {0: [coll(1, type="BROADCAST")], 1: [node(1)]}) == set()


def test_collectives_without_a_path_between_them(tmp_path: Path) -> None:
    """They may start in another order; a path over other nodes orders them as well."""
    chained = [coll(1), node(2, [1]), coll(3, [2])]
    apart = [coll(1), node(2), coll(3, [2])]

    assert rules(tmp_path, {0: chained, 1: chained}) == set()
    assert rules(tmp_path, {0: chained, 1: apart}) == {"collectives_unordered"}


def test_sends_and_recvs_pair_by_source_target_tag_and_bytes(tmp_path: Path) -> None:
    """First in, first out: two of one key on both sides are well."""
    ranks = {
        0: [send(1, 1), send(2, 1), send(3, 1, tag=7)],
        1: [recv(1, 0, tag=7), recv(2, 0), recv(3, 0)],
    }

    assert rules(tmp_path, ranks) == set()


def test_a_recv_without_its_send_hangs(tmp_path: Path) -> None:
    """Other bytes: the recv hangs its rank, the bytes sent are taken by nobody."""
    told = found(tmp_path, {0: [send(1, 1, size=8)], 1: [recv(4, 0, size=16), node(5, [4])]})

    assert {rule: finding.severity for rule, finding in told.items()} == {
        "recv_unmatched": "error",
        "send_unmatched": "warning",
    }
    assert told["recv_unmatched"].rank == 1
    assert told["recv_unmatched"].message.endswith("the first: src 0, dst 1, tag 0, bytes 16 (4)")


def test_the_second_of_two_recvs_has_no_send(tmp_path: Path) -> None:
    """One send, two recvs of its key."""
    told = found(tmp_path, {0: [send(1, 1)], 1: [recv(1, 0), recv(2, 0)]})

    assert told["recv_unmatched"].evidence["ids"] == [2]


def test_where_a_file_is_missing_nothing_is_said_of_its_transfers(tmp_path: Path) -> None:
    """The missing rank is the cause."""
    ranks = {0: [send(1, 1), recv(2, 1)], 2: [node(1)]}

    assert rules(tmp_path, ranks) == {"rank_missing"}
