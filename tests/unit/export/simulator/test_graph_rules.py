"""Ids, deps, cycles, order and readiness: each rule broken, and its near-miss."""

from __future__ import annotations

from pathlib import Path

from tests.unit.export.simulator.workload import beside, coll, cpu, found, node, recv, rules, send


def test_a_good_graph_breaks_no_rule(tmp_path: Path) -> None:
    """Any order in the file, id 0, one id in both fields, unconnected parts."""
    nodes = [node(5, [3], [3]), node(3, [0]), node(0), node(2**63 + 5)]

    assert rules(tmp_path, beside(*nodes)) == set()


def test_ids_used_twice(tmp_path: Path) -> None:
    """The simulator keeps the last node of an id."""
    assert rules(tmp_path, beside(node(1), node(2), node(1))) == {"duplicate_id"}


def test_absent_ids_in_each_field(tmp_path: Path) -> None:
    """Absent 0 is no "no parent": both fields count, and each has a finding with the ids."""
    told = found(tmp_path, beside(node(1, [], [0]), node(2, [1], [1])))["dangling_dep"]

    assert told.severity == "error"
    assert (told.evidence["field"], told.evidence["absent_ids"]) == ("ctrl_deps", [0])
    assert found(tmp_path, beside(node(1, [8, 9])))["dangling_dep"].evidence["absent_ids"] == [8, 9]


def test_a_cycle_over_both_fields_and_what_never_runs(tmp_path: Path) -> None:
    """2 and 3 wait for each other, 4 waits behind them; feeders of data deps alone run all."""
    told = found(tmp_path, beside(node(1), node(2, [3]), node(3, [], [2]), node(4, [3])))

    assert set(told) == {"cycle", "order_in_ctrl_only"}
    assert told["cycle"].message.endswith("2 → 3 → 2; 3 of 4 nodes never run")


def test_a_cycle_over_data_deps_alone(tmp_path: Path) -> None:
    """Every feeder meets it."""
    assert rules(tmp_path, beside(node(1), node(2, [3]), node(3, [2]))) == {"cycle", "cycle_over_data"}


def test_no_node_is_free(tmp_path: Path) -> None:
    """Only then the simulator says something."""
    told = rules(tmp_path, beside(node(2, [3]), node(3, [2])))

    assert told == {"cycle", "cycle_over_data", "nothing_free"}


def test_a_node_that_waits_for_itself(tmp_path: Path) -> None:
    """It and what waits for it never run, and nothing is said."""
    told = found(tmp_path, beside(node(1), node(2, [2]), node(3, [2])))

    assert set(told) == {"self_dep"}
    assert told["self_dep"].evidence["never_run"] == 2


def test_a_dep_named_twice(tmp_path: Path) -> None:
    """Only one feeder stalls: a warning. Once in each field is well."""
    told = found(tmp_path, beside(node(1), node(2, [1, 1])))

    assert {rule: finding.severity for rule, finding in told.items()} == {"repeated_dep": "warning"}


def test_order_that_only_ctrl_deps_hold(tmp_path: Path) -> None:
    """3 waits for 1 by a path over data deps; 4 waits for 2 by its ctrl dep alone."""
    nodes = [node(1), node(2, [1]), node(3, [2], [1]), node(4, [], [2])]

    told = found(tmp_path, beside(*nodes))

    assert set(told) == {"order_in_ctrl_only"}
    assert told["order_in_ctrl_only"].evidence["ids"] == [4]


def test_too_many_nodes_ready_at_the_start(tmp_path: Path) -> None:
    """1,001 roots; 1,000 are well."""
    told = found(tmp_path, beside(*map(node, range(1001))))

    assert told["many_ready"].message == "rank 0: 1,001 nodes are ready at once at the start"
    assert rules(tmp_path, beside(*map(node, range(1000)))) == set()


def test_too_many_nodes_released_by_one(tmp_path: Path) -> None:
    """A fan behind node 7; the same nodes as a chain are well."""
    fan = [node(7), *(node(number, [7]) for number in range(10, 1011))]
    chain = [node(7), node(10, [7]), *(node(number, [number - 1]) for number in range(11, 1011))]

    assert found(tmp_path, beside(*fan))["many_ready"].message.endswith("at once when node 7 ends")
    assert rules(tmp_path, beside(*chain)) == set()


def test_a_rank_with_cpu_nodes_that_ends_with_a_transfer(tmp_path: Path) -> None:
    """The final statistics throw; a closing COMP, or no CPU node, mends it."""
    peer = [recv(1, 0), node(2, [1])]

    assert rules(tmp_path, {0: [cpu(1), send(2, 1, [1])], 1: peer}) == {"ends_with_transfer"}
    assert rules(tmp_path, {0: [cpu(1), send(2, 1, [1]), node(3, [2])], 1: peer}) == set()
    assert rules(tmp_path, {0: [node(1), send(2, 1, [1])], 1: peer}) == set()


def test_a_rank_with_cpu_nodes_that_may_end_with_a_transfer(tmp_path: Path) -> None:
    """Nothing waits for the send, but the collective may end later."""
    ranks = {0: [cpu(1), send(2, 1, [1]), coll(3, [1])], 1: [recv(1, 0), coll(2, [1])]}

    assert rules(tmp_path, ranks) == {"may_end_with_transfer"}
