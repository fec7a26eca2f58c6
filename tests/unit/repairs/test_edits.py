from __future__ import annotations

import pytest

from graphstore.errors import UsageError
from graphstore.queries.catalog import get
from graphstore.repairs import edits
from graphstore.repairs.edits import Edits, dropped_ctrl_edges, in_parts, statement


def test_nodes_come_before_edges_and_old_edges_go_before_new_ones_come() -> None:
    """An edge to a node that is not there yet would be lost; two parents at once are never seen."""
    given = Edits(
        created=[{"uid": 1, "properties": {}}],
        removed={"CTRL": [{"src": 1, "dst": 2}]},
        restored={"SYNC": [{"src": 1, "dst": 2, "rule": "sync_dep"}]},
        added=[{"parent": 1, "child": 2, "repair": "r", "rule": "thread_root", "confidence": "medium"}],
        node_ids=[{"uid": 2, "node_id": 4, "node_id_origin": "repair"}],
    )

    texts = [each.text for each in given.statements()]

    names = ("create_host_ops", "remove_ctrl_edges", "restore_sync_edges", "add_ctrl_edges", "set_node_ids")
    assert texts == [get(f"structure/repair_{name}").text for name in names]


def test_nothing_to_write_is_no_statement() -> None:
    """An empty list of rows would still be a write."""
    assert list(Edits().statements()) == []


def test_many_rows_are_written_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """No row is lost or written twice where they are parted."""
    monkeypatch.setattr(edits, "ROWS_A_STATEMENT", 2)
    rows = [{"src": place, "dst": place + 1} for place in range(5)]

    parts = [each.parameters["rows"] for each in in_parts("repair_remove_sync_edges", rows)]

    assert [len(part) for part in parts] == [2, 2, 1]
    assert [row for part in parts for row in part] == rows


def test_a_statement_takes_the_parameters_its_header_declares() -> None:
    """A wrong name is a defect seen here, not a null in the graph."""
    with pytest.raises(UsageError, match="row is not one"):
        statement("repair_remove_sync_edges", row=[])


def test_only_ctrl_edges_move_trees() -> None:
    """A dropped wait changes nobody's place; nor does a change that is about no edge."""
    ctrl, sync = {"kind": "CTRL", "src": 1, "dst": 2}, {"kind": "SYNC", "src": 3, "dst": 4, "rule": "x"}

    assert dropped_ctrl_edges([{"edge": ctrl}, {"edge": sync}, {"parent": 5}, {"edge": None}]) == [(1, 2)]
