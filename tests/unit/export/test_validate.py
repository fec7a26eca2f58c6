"""What a file is refused for, and its healthy near-misses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphstore.chakra.et_def_pb2 import Node, NodeType
from graphstore.export.validate import validate_nodes


def node(node_id: int, ctrl: Sequence[int] = (), data: Sequence[int] = (), **attributes: Any) -> Node:
    """Return a node; attributes as name=(field, value); `kind` is its type."""
    kind = attributes.pop("kind", NodeType.COMP_NODE)
    made = Node(id=node_id, name="n", type=kind, ctrl_deps=ctrl, data_deps=data)
    for name, (field, value) in attributes.items():
        made.attr.add(**{"name": name, f"{field}_val": value})
    return made


def collective(**attributes: Any) -> Node:
    """Return an all-reduce of 8 bytes on group 1; attributes replace its own, None leaves one out."""
    own = {"comm_type": ("int64", 0), "comm_size": ("int64", 8), "pg_name": ("string", "1")} | attributes
    return node(1, kind=NodeType.COMM_COLL_NODE, **{name: value for name, value in own.items() if value})


def rules(*nodes: Node, groups: list[str] | None = None) -> dict[str, tuple[int, ...]]:
    """Return the problems as {rule: ids}."""
    return {problem.rule: problem.nodes for problem in validate_nodes(nodes, groups)}


def test_a_good_file_has_no_problem() -> None:
    """Id 0 is a real id, and one id may stand in both dep fields."""
    assert rules(node(0), node(1, [0], [0]), node(5, [1], [0, 1])) == {}
    assert rules(collective(), groups=["1"]) == {}


def test_ids_used_twice_are_named() -> None:
    """One feeder keeps the last record only, the other crashes."""
    assert rules(node(1), node(2), node(1)) == {"duplicate_id": (1,)}


def test_deps_on_absent_ids_are_named_per_field() -> None:
    """Id 0 is not "no parent": a ctrl dep on an absent 0 aborts the load."""
    assert rules(node(1, [0])) == {"dangling_dep": (1,)}
    assert rules(node(1), node(2, [1], [7, 8])) == {"dangling_dep": (2,)}


def test_a_repeated_dep_is_named() -> None:
    """One feeder stalls on it for good."""
    assert rules(node(1), node(2, [], [1, 1])) == {"repeated_dep": (2,)}


def test_a_cycle_over_both_fields_is_shown_in_order() -> None:
    """5 waits for 6 by data, 6 for 5 by control: neither field alone has a cycle."""
    (problem,) = validate_nodes([node(5, [], [6]), node(6, [5])])

    assert problem.rule == "cycle"
    assert problem.message == "cycles: 1; the first, over ctrl_deps and data_deps: 5 → 6 → 5"


def test_a_cycle_over_data_deps_alone_says_so() -> None:
    """Readers that ignore ctrl deps stall on this one too."""
    (problem,) = validate_nodes([node(5, [], [6]), node(6, [], [5])])

    assert "over data_deps alone" in problem.message


def test_a_dep_on_a_later_id_is_no_cycle() -> None:
    """Ids may come in any order."""
    assert rules(node(9), node(2, [9])) == {}


def test_a_node_that_names_itself_is_named() -> None:
    """The ET's process root did."""
    assert rules(node(3, [3])) == {"self_dep": (3,)}


@pytest.mark.parametrize(
    "changed",
    [
        {"comm_size": None},
        {"comm_size": ("uint64", 8)},
        {"comm_type": None},
        {"comm_type": ("string", "ALL_REDUCE")},
    ],
)
def test_a_collective_needs_type_and_size_as_int64(changed: dict[str, Any]) -> None:
    """An unsigned size reads as 0 in one feeder, a missing one ends the run."""
    assert rules(collective(**changed)) == {"incomplete_communication": (1,)}


def test_send_and_recv_need_peer_tag_and_size() -> None:
    """int32 and int64 are what upstream's writers use; both are read."""
    ends: dict[str, Any] = {"comm_tag": ("int32", 0), "comm_size": ("int64", 8)}
    good = node(1, kind=NodeType.COMM_SEND_NODE, comm_dst=("int64", 2), **ends)
    swapped = node(2, kind=NodeType.COMM_RECV_NODE, comm_dst=("int32", 2), **ends)

    assert rules(good, swapped) == {"incomplete_communication": (2,)}


def test_what_only_some_readers_refuse_is_a_warning() -> None:
    """A communication on the CPU, and a group that the group file does not hold."""
    problems = validate_nodes([collective(is_cpu_op=("bool", True))], ["2"])

    assert [(p.rule, p.severity) for p in problems] == [
        ("communication_on_cpu", "warning"),
        ("unknown_group", "warning"),
    ]


def test_a_node_without_a_type_and_a_file_without_a_node_are_named() -> None:
    """INVALID nodes never release what waits for them."""
    assert rules(node(4, kind=NodeType.INVALID_NODE)) == {"no_type": (4,)}
    assert rules() == {"no_nodes": ()}


@given(st.lists(st.lists(st.integers(0, 12), max_size=4, unique=True), min_size=1, max_size=12))
@settings(deadline=None)
def test_a_cycle_is_reported_exactly_when_there_is_one(deps: list[list[int]]) -> None:
    """Compared with taking away, again and again, the nodes that wait for nothing."""
    count = len(deps)
    waits = [{dep for dep in found if dep < count} for found in deps]
    left = set(range(count))
    while free := {n for n in left if not waits[n] & left}:
        left -= free

    found = rules(*(node(n, [], sorted(found)) for n, found in enumerate(waits)))

    assert bool({"cycle", "self_dep"} & set(found)) == bool(left)


def test_ids_used_twice_with_the_same_dep_are_no_repeated_dep() -> None:
    """Two nodes of one id may each name a dep once, apart in the file; the id is what is wrong."""
    found = rules(node(1), node(2, [1]), node(3, [2]), node(2, [1]))

    assert "duplicate_id" in found
