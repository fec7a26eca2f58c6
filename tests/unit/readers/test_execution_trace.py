from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphstore.errors import TraceFormatError
from graphstore.model.records import FileRecords, table_schema
from graphstore.readers.execution_trace import process_groups, read_execution_trace
from graphstore.readers.source import open_source
from graphstore.settings import Settings
from tests.data.trace_text import NO_VALUES, PROCESS, TENSOR, document, flat_op, inputs, op, trace


def read(file: Path, text: str | bytes) -> FileRecords:
    """Return what the reader makes of a text."""
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with open_source(str(file), Settings(store="")) as source:
        records = read_execution_trace(source)
    records.tally.check(str(file))
    return records


def column(records: FileRecords, name: str, table: str = "host_ops") -> list[Any]:
    """Return a column of a table."""
    return records.tables[table][name].to_list()


def test_both_layouts_give_the_same_rows(tmp_path: Path) -> None:
    """The flat node of 1.0.1 and the node with attributes of today differ in form only."""
    values: dict[str, Any] = {
        "values": [TENSOR, 0.010000],
        "shapes": [[2, 3], []],
        "types": ["Tensor(float)", "Double"],
    }
    new = document(
        op(1, PROCESS, 1, rf_id=0),
        op(5, "aten::add", 1, inputs=values, rf_id=61, seq_id=4, fw_parent=3, fw_tid=2, op_schema="add()"),
    )
    flat_values = {
        "inputs": values["values"],
        "input_shapes": values["shapes"],
        "input_types": values["types"],
    }
    old = document(
        flat_op(1, PROCESS.replace("trace", "graph"), 1, rf_id=0),
        flat_op(
            5, "aten::add", 1, rf_id=61, seq_id=4, fw_parent=3, fw_tid=2, op_schema="add()", **flat_values
        ),
        schema="1.0.1",
    )

    newer, older = read(tmp_path / "new", new), read(tmp_path / "old", old)

    assert newer.tables["host_ops"].drop("name").equals(older.tables["host_ops"].drop("name"))
    assert newer.tables["host_ops"].schema == table_schema("host_ops")
    row = newer.tables["host_ops"].row(1, named=True)
    assert {key: row[key] for key in ("node_id", "parent_id", "rf_id", "autograd_seq_id", "fw_tid")} == {
        "node_id": 5,
        "parent_id": 1,
        "rf_id": 61,
        "autograd_seq_id": 4,
        "fw_tid": 2,
    }
    assert (row["fw_parent"], row["op_schema"], row["tid"], row["scope"]) == (3, "add()", 1, 0)
    assert json.loads(row["input_values"]) == [TENSOR, 0.01]
    assert row["input_shapes"] == "[[2,3],[]]"
    assert (row["output_values"], row["order"], row["comm_args"]) == ("[]", 1, None)


def test_json_texts_are_compact_and_keep_their_digits(tmp_path: Path) -> None:
    """However the file is spaced, values are the same text; numbers are not rounded on the way."""
    node = op(5, "aten::add", 2, inputs={"values": ["VALUES"], "shapes": [], "types": ["a, b: c"]})
    number = "[[1, 2],0.010000, 1e400,18446744073709551615]"
    for indent in (None, 2):
        text = trace(node, indent=indent).replace('"VALUES"', number)
        records = read(tmp_path / "file", text)
        assert column(records, "input_values")[2] == "[[[1,2],0.010000,1e400,18446744073709551615]]"
        assert column(records, "input_types")[2] == '["a, b: c"]'


def test_what_means_none_becomes_null(tmp_path: Path) -> None:
    """The root's self edge and parent 0, rf_id 0, seq_id -1, fw_parent 0 are no values."""
    records = read(tmp_path / "file", trace(op(5, "aten::add", 0, rf_id=0), op(6, "loop", 6)))

    assert column(records, "parent_id") == [None, 1, None, 6]  # a self edge elsewhere stays: it is a fault
    assert column(records, "rf_id") == [None, None, None, 6]
    for name in ("autograd_seq_id", "fw_parent", "fw_tid"):
        assert column(records, name) == [None] * 4


def test_zero_is_an_id_where_a_node_has_it(tmp_path: Path) -> None:
    """Merged traces number their nodes from 0; then parent 0 is a parent."""
    records = read(tmp_path / "file", document(op(0, PROCESS, 0), op(1, "thread", 0), op(2, "aten::add", 1)))

    assert column(records, "parent_id") == [None, 0, 1]


@pytest.mark.parametrize(
    ("schema", "known"),
    [
        ("1.0.1", True),
        ("1.0.4-chakra.0.0.4", True),
        ("1.1.0-chakra.0.0.4", True),
        ("1.1.1-chakra.1.0.0", True),
        ("7.3.0-chakra.9.9.9", False),
        ("1.0.5", False),
        (None, False),
    ],
)
def test_an_unknown_schema_is_read_when_its_fields_fit(
    tmp_path: Path, schema: str | None, known: bool
) -> None:
    """The fields decide; the facts say that the schema is not one we know."""
    records = read(tmp_path / "file", trace(op(5, "aten::add", 2), schema=schema))

    assert column(records, "node_id") == [1, 2, 5]
    assert (records.facts["schema"], records.facts["schema_known"]) == (schema, known)


@pytest.mark.parametrize(
    ("nodes", "field"),
    [
        ([{"id": 1, "name": "a"}, {"id": 2, "name": "b"}], "no node has 'parent'"),
        ([{"number": 1, "name": "a", "ctrl_deps": 1}], "missing required field `id`"),
        ([{"id": 1, "ctrl_deps": 1}], "missing required field `name`"),
        ([{"id": "one", "name": "a", "ctrl_deps": 1}], "Expected `int`, got `str`"),
        ([{"id": 1, "name": "a", "ctrl_deps": {"ids": [1]}}], "ctrl_deps"),
    ],
)
def test_fields_that_do_not_fit_are_refused_with_file_schema_and_field(
    tmp_path: Path, nodes: list[Any], field: str
) -> None:
    """One line names what was looked for; nothing is loaded."""
    with pytest.raises(TraceFormatError) as caught:
        read(tmp_path / "trace.json", document(*nodes, schema="8.0.0"))

    message = str(caught.value)
    assert "trace.json: schema '8.0.0'" in message
    assert field in message
    assert "\n" not in message


def test_one_node_that_does_not_fit_is_counted(tmp_path: Path) -> None:
    """A single broken node costs itself; the ledger says so."""
    nodes = [op(5, "aten::add", 2), {"name": "no id"}, op(6, "aten::mul", 2)]
    records = read(tmp_path / "file", trace(*nodes))

    assert column(records, "node_id") == [1, 2, 5, 6]
    assert column(records, "order") == [0, 1, 2, 3]
    assert (records.tally.read, records.tally.kept) == (5, 4)
    assert records.tally.left_out == {"node that cannot be read": 1}


def test_duplicate_ids_are_kept(tmp_path: Path) -> None:
    """Forked workers write ids twice; each node stays a row."""
    records = read(tmp_path / "file", trace(op(5, "a", 2), op(5, "b", 2)))

    assert column(records, "node_id") == [1, 2, 5, 5]


GROUPS = [
    {"pg_name": "0", "pg_desc": "default_pg", "backend_config": "cpu:gloo", "ranks": [], "group_size": 4},
    {"pg_name": "3", "pg_desc": "tp", "backend_config": "cpu:gloo", "ranks": [2, 0], "group_size": 2},
]


def test_groups_come_from_the_init_nodes_each_once(tmp_path: Path) -> None:
    """An empty list of ranks means all; two windows list the same groups, which are taken once."""
    init = inputs(json.dumps(GROUPS), types=["String"])
    records = read(
        tmp_path / "file",
        trace(
            op(3, "## process_group:init ##", 2, inputs=init),
            op(9, "## process_group:init ##", 2, inputs=init),
        ),
    )

    assert [(g["pg_name"], g["ranks"], g["group_size"], g["origin"]) for g in records.groups] == [
        ("0", [0, 1, 2, 3], 4, "et_init"),
        ("3", [0, 2], 2, "et_init"),
    ]
    assert (records.facts["world_size"], records.facts["backend"]) == (4, "cpu:gloo")
    assert column(records, "comm_args")[2] == '{"op_name":"process_group:init"}'


def test_groups_without_description_and_what_is_none() -> None:
    """Older traces have no description; an entry that names no group is passed over."""
    found = process_groups([{"pg_name": 7, "ranks": [1], "backend_id": 3}, {"ranks": [0]}, "text"])

    assert found == [
        {
            "pg_name": "7",
            "pg_desc": None,
            "ranks": [1],
            "group_size": 1,
            "backend": None,
            "origin": "et_init",
        }
    ]


def comm(node_id: int, rank: int, start: int, stride: int, kind: str = "allreduce") -> dict[str, Any]:
    """Return a record_param_comms node."""
    values = inputs([TENSOR], 1, ["0", "g"], rank, kind, [], [], start, stride, 4, types=["Tensor(float)"])
    return op(node_id, "record_param_comms", 2, inputs=values)


def test_the_rank_is_taken_when_all_calls_agree(tmp_path: Path) -> None:
    """Calls on two groups lead to one global rank; a broadcast's root does not count."""
    agree = trace(comm(5, 2, 0, 1), comm(6, 1, 0, 2), comm(7, 0, 0, 1, "broadcast"))
    differ = trace(comm(5, 2, 0, 1), comm(6, 1, 0, 1))

    assert read(tmp_path / "file", agree).facts["rank"] == 2
    assert read(tmp_path / "file", differ).facts["rank"] is None
    assert read(tmp_path / "file", trace()).facts["rank"] is None


def test_a_merged_trace_has_kernels_times_and_sync_deps(tmp_path: Path) -> None:
    """Device ops become kernels by category; µs become ns exactly; host ops keep their places."""
    text = trace(
        op(10, "aten::item", 2, ts=1700000000123456, inclusive_dur=20, sync_dep=[21]),
        op(21, "Memcpy DtoH", 10, ts=180, dur=5, cat="gpu_memcpy", pid=1, stream=7, correlation=9, rf_id=10),
        op(22, "ncclDevKernel_AllReduce", 10, ts=190, dur=5, cat="kernel", correlation=0, rf_id=10),
        op(11, "aten::mm", 2),
    ).replace("1700000000123456", "1700000000123456.789")

    records = read(tmp_path / "file", text)

    assert records.facts["kind"] == "et_plus"
    assert column(records, "order") == [0, 1, 2, 5]
    assert column(records, "start_ns") == [None, None, 1700000000123456789, None]
    assert column(records, "duration_ns") == [None, None, 20_000, None]
    assert column(records, "sync_deps") == [None, None, [21], None]
    kernels = records.tables["kernels"].to_dicts()
    shown = ("order", "node_id", "parent_id", "device_kind", "start_ns", "duration_ns", "correlation")
    assert [tuple(k[name] for name in shown) for k in kernels] == [
        (3, 21, 10, "memcpy", 180_000, 5_000, 9),
        (4, 22, 10, "kernel", 190_000, 5_000, None),
    ]
    assert [(k["device"], k["stream"], k["collective_kind"]) for k in kernels] == [
        (1, 7, None),
        (None, None, "all_reduce"),
    ]
    assert records.facts["rf_id_verdict"] == "usable"  # kernels repeat their launcher's id


def test_numbers_that_fit_no_column_are_null(tmp_path: Path) -> None:
    """Text that is a number is read; a number beyond 64 bits and other text are not, and cost no row."""
    nodes = [op(5, "a", 2, rf_id="7"), op(6, "b", 2, rf_id=2**64), op(7, "c", 2, rf_id="x")]

    assert column(read(tmp_path / "file", trace(*nodes)), "rf_id") == [None, None, 7, None, None]


def test_verdicts_on_rf_ids(tmp_path: Path) -> None:
    """Usable, all zero, absent, or one id on two ops."""
    absent = {"id": 5, "name": "a", "ctrl_deps": 2, "inputs": NO_VALUES, "outputs": NO_VALUES, "attrs": []}
    cases = {
        "usable": [op(5, "a", 2), op(6, "b", 2)],
        "zero": [op(5, "a", 2, rf_id=0)],
        "repeated": [op(5, "a", 2, rf_id=3), op(6, "b", 2, rf_id=3)],
    }

    texts = {verdict: trace(*nodes) for verdict, nodes in cases.items()} | {"absent": document(absent)}

    found = {verdict: read(tmp_path / "f", text).facts["rf_id_verdict"] for verdict, text in texts.items()}

    assert found == {verdict: verdict for verdict in texts}


def test_a_killed_process_leaves_its_whole_nodes(tmp_path: Path) -> None:
    """Cut behind a node, inside one, or with nothing whole: what is whole is read, the cut is told."""
    text = trace(op(5, "a", 2), op(6, "b", 2), indent=2)
    behind = read(tmp_path / "file", text[: text.index(']\n    }\n  ],\n  "finish_ts"') + len("]\n    }")])
    inside = read(tmp_path / "file", text[: text.rindex('"b"') + 2])

    assert column(behind, "node_id") == [1, 2, 5, 6]
    assert column(inside, "node_id") == [1, 2, 5]
    assert "4 whole records" in behind.facts["cut_at"]
    assert "inside a record" in inside.facts["cut_at"]
    assert (inside.tally.read, inside.tally.kept) == (3, 3)


def test_a_trace_cut_before_its_nodes_is_refused(tmp_path: Path) -> None:
    """With no list of nodes there is nothing to read, and that is said; also when `nodes` is no list."""
    with pytest.raises(TraceFormatError, match="cut off before its first node"):
        read(tmp_path / "file", '{"schema": "1.1.1", "pid": 7')
    with pytest.raises(TraceFormatError, match="has no list of nodes"):
        read(tmp_path / "file", '{"schema": "1.1.1", "nodes": null}')


names = st.text(max_size=8) | st.sampled_from(
    ["record_param_comms", "c10d::send", "gloo:send", "ProfilerStep#1"]
)
leaves = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.text(max_size=4) | st.just(TENSOR)
values = st.lists(st.recursive(leaves, lambda inner: st.lists(inner, max_size=3), max_leaves=5), max_size=10)
nodes = st.lists(
    st.builds(
        lambda make, node_id, name, parent, ins, rf_id: make(node_id, name, parent, rf_id=rf_id, inputs=ins),
        st.sampled_from([op, flat_op]),
        st.integers(0, 50),
        names,
        st.integers(0, 50),
        values,
        st.integers(0, 5) | st.none() | st.text(max_size=3),
    ),
    max_size=6,
)


def fitting(written: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the nodes with the inputs in the form of their layout."""
    return [n if "parent" in n else n | {"inputs": inputs(*n["inputs"])} for n in written]


@settings(deadline=None)
@given(written=nodes, indent=st.sampled_from([None, 1]))
def test_random_traces_keep_every_node(
    tmp_path_factory: pytest.TempPathFactory, written: list[dict[str, Any]], indent: int | None
) -> None:
    """Whatever names, values and ids nodes have, in mixed layouts: each is a row, in order."""
    records = read(tmp_path_factory.mktemp("et") / "file", trace(*fitting(written), indent=indent))

    assert column(records, "node_id") == [1, 2, *(n["id"] for n in written)]
    assert column(records, "name")[2:] == [n["name"] for n in written]
    assert records.tally.kept == len(written) + 2


@settings(deadline=None)
@given(written=nodes, data=st.data())
def test_random_traces_cut_or_damaged_anywhere_do_not_crash(
    tmp_path_factory: pytest.TempPathFactory, written: list[dict[str, Any]], data: st.DataObject
) -> None:
    """Cut at any byte, or with any byte overwritten: rows and ledger agree, or one line says why not."""
    text = bytearray(trace(*fitting(written)).encode())
    place = data.draw(st.integers(0, len(text) - 1))
    if data.draw(st.booleans()):
        del text[place:]
    else:
        text[place] = data.draw(st.integers(0, 255))
    file = tmp_path_factory.mktemp("et") / "file"
    problem = ""
    try:
        records = read(file, bytes(text))
    except TraceFormatError as error:
        problem = str(error)
    else:
        assert records.tally.kept == records.tables["host_ops"].height
    assert "\n" not in problem
