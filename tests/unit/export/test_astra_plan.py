"""What ASTRA-sim is given of a run's communication (simulator-requirements), case by case."""

from __future__ import annotations

from typing import Any

import pytest

from graphstore.chakra.et_def_pb2 import CollectiveCommType, NodeType
from graphstore.export.astra_plan import Call, Plan, plan
from graphstore.export.communication import Communication


def collective(rank: int, place: int, start: int, kind: str = "all_reduce", **said: Any) -> Call:
    """Return a collective call of 1,024 bytes; of no known group unless told."""
    size = said.pop("size", 1_024)
    group = said.pop("group", "")
    attributes = (("comm_type", "int64_val", 0), ("comm_size", "int64_val", size))
    named = (("pg_name", "string_val", group),) if group else ()
    return Call(
        rank,
        place,
        start,
        Communication(
            NodeType.COMM_COLL_NODE, (*attributes, *named), kind, group, size, said.pop("seq", -1), **said
        ),
    )


def transfer(rank: int, place: int, start: int, kind: str, peer: int, tag: int = 0, size: int = 64) -> Call:
    """Return a send or recv."""
    send = kind == "send"
    attributes = (
        ("comm_dst" if send else "comm_src", "int32_val", peer),
        ("comm_tag", "int32_val", tag),
        ("comm_size", "int64_val", size),
    )
    node_type = NodeType.COMM_SEND_NODE if send else NodeType.COMM_RECV_NODE
    return Call(rank, place, start, Communication(node_type, attributes, kind, "", size, -1, peer, tag))


def attributes(found: Plan, rank: int, place: int) -> dict[str, Any]:
    """Return the attributes a call is written with."""
    said = found.calls[rank][place]
    assert said is not None
    return {name: value for name, _, value in said.attributes}


def both(kind: str, **said: Any) -> list[Call]:
    """Return a collective of ranks 0 and 1."""
    return [collective(rank, 5, 100, kind, **said) for rank in (0, 1)]


def test_a_call_of_all_ranks_needs_no_group_while_there_is_no_other() -> None:
    """Without pg_name the simulator takes a call for one of all ranks, which it is."""
    found = plan(both("all_reduce"), [0, 1], {})

    assert "pg_name" not in attributes(found, 0, 5)
    assert found.groups == {}


def test_all_groups_are_numbered_as_soon_as_one_is_a_subgroup() -> None:
    """A world call without a number would count the subgroup's calls and hang. The recorded name stays."""
    calls = [
        *(collective(rank, 1, 10, group="world") for rank in range(3)),
        *(collective(rank, 2, 20, group="pair") for rank in (0, 1)),
    ]

    found = plan(calls, [0, 1, 2], {"world": [0, 1, 2], "pair": [0, 1]})

    assert found.groups == {"1": [0, 1], "2": [0, 1, 2]}
    assert found.recorded == {"1": "pair", "2": "world"}
    assert attributes(found, 0, 2) | {"comm_type": 0} == {
        "comm_type": 0,
        "comm_size": 1_024,
        "pg_name": "1",
        "recorded_pg_name": "pair",
    }
    assert attributes(found, 2, 1)["pg_name"] == "2"


@pytest.mark.parametrize(
    ("kind", "written"),
    [
        ("barrier", CollectiveCommType.ALL_REDUCE),
        ("reduce", CollectiveCommType.BROADCAST),
        ("gather", CollectiveCommType.BROADCAST),
        ("scatter", CollectiveCommType.BROADCAST),
        ("all_gather", CollectiveCommType.ALL_GATHER),
    ],
)
def test_kinds_the_simulator_does_not_know_are_written_as_ones_it_knows(kind: str, written: int) -> None:
    """And said so; what it knows stays."""
    found = plan(both(kind), [0, 1], {})

    assert attributes(found, 1, 5)["comm_type"] == written
    assert any(f"{kind} written as" in note for note in found.notes[1]) == (kind != "all_gather")


def test_a_collective_of_too_few_bytes_gets_64() -> None:
    """An all-gather of fewer bytes than its chunks never ends; one of none is written as an all-reduce."""
    small, empty = plan(both("all_gather", size=4), [0, 1], {}), plan(both("all_gather", size=0), [0, 1], {})

    assert attributes(small, 0, 5) == {"comm_type": CollectiveCommType.ALL_GATHER, "comm_size": 64}
    assert attributes(empty, 0, 5) == {"comm_type": CollectiveCommType.ALL_REDUCE, "comm_size": 64}


def test_sizes_that_differ_between_ranks_become_the_largest() -> None:
    """Of an all_to_all of uneven parts; with other sizes all of them would hang."""
    calls = [collective(0, 5, 100, "all_to_all", size=128), collective(1, 5, 100, "all_to_all", size=512)]

    found = plan(calls, [0, 1], {})

    assert [attributes(found, rank, 5)["comm_size"] for rank in (0, 1)] == [512, 512]


def test_a_call_that_a_member_lacks_is_computation_for_all() -> None:
    """By sequence number the lost call is told from the later one that all made."""
    calls = [
        collective(0, 1, 10, seq=1),
        collective(0, 2, 20, seq=2),
        collective(1, 9, 25, seq=2),
    ]

    found = plan(calls, [0, 1], {})

    assert found.calls[0][1] is None
    assert found.calls[0][2] is not None
    assert found.calls[1][9] is not None
    assert found.order == {0: [2], 1: [9]}
    assert sum(found.notes[0].values()) == 1


def test_calls_of_other_kinds_and_of_one_rank_are_computation() -> None:
    """The simulator matches by order alone and would hang; a group of one never ends."""
    kinds = [collective(0, 1, 10, "broadcast"), collective(1, 1, 10, "all_reduce")]
    alone = [collective(0, 2, 20, group="me")]

    found = plan([*kinds, *alone], [0, 1], {"me": [0]})

    assert found.calls == {0: {1: None, 2: None}, 1: {1: None}}


def test_one_order_of_collectives_holds_on_every_rank() -> None:
    """Rank 1 calls c before b, rank 0 has no c: the order in which both called their own is kept."""
    calls = [
        *(collective(rank, 1, 10, group="a") for rank in (0, 1)),
        collective(0, 2, 20, group="b"),
        collective(2, 2, 50, group="b"),
        collective(1, 3, 30, group="c"),
        collective(2, 3, 40, group="c"),
    ]

    found = plan(calls, [0, 1, 2], {"a": [0, 1], "b": [0, 2], "c": [1, 2]})

    assert found.order == {0: [1, 2], 1: [1, 3], 2: [3, 2]}


def test_each_pair_of_send_and_recv_gets_a_tag_of_its_own() -> None:
    """First in, first out by source, target and tag: equal keys could be swapped by a simulator."""
    calls = [
        transfer(0, 1, 10, "send", 1),
        transfer(0, 2, 20, "send", 1),
        transfer(1, 7, 15, "recv", 0),
        transfer(1, 8, 25, "recv", 0),
    ]

    found = plan(calls, [0, 1], {})

    assert [attributes(found, 0, place)["comm_tag"] for place in (1, 2)] == [0, 1]
    assert [attributes(found, 1, place)["comm_tag"] for place in (7, 8)] == [0, 1]


def test_a_send_without_its_recv_and_one_to_nobody_are_computation() -> None:
    """An unmatched receive hangs without a word; a peer outside the run or the rank itself is fatal."""
    calls = [
        transfer(0, 1, 10, "send", 1),
        transfer(0, 2, 20, "send", 7),
        transfer(0, 3, 30, "recv", 0),
    ]

    assert plan(calls, [0, 1], {}).calls == {0: {1: None, 2: None, 3: None}}


def test_a_recv_has_the_bytes_of_its_send() -> None:
    """Both sides match on bytes; a size nobody recorded is 64."""
    calls = [
        transfer(0, 1, 10, "send", 1, size=256),
        transfer(1, 1, 10, "recv", 0, size=0),
        transfer(1, 2, 20, "send", 0, size=0),
        transfer(0, 2, 20, "recv", 1, size=0),
    ]

    found = plan(calls, [0, 1], {})

    assert attributes(found, 1, 1)["comm_size"] == 256
    assert attributes(found, 0, 2)["comm_size"] == 64
