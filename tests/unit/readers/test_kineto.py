from __future__ import annotations

import contextlib
import gzip
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphstore.errors import TraceFormatError
from graphstore.model.records import FileRecords, table_schema
from graphstore.readers.kineto import read_kineto
from graphstore.readers.source import open_source
from graphstore.settings import Settings


def span(
    cat: str, name: str = "op", args: dict[str, Any] | None = None, ts: float = 1, dur: float = 1, **more: Any
) -> dict[str, Any]:
    """Return a whole span of one process and thread; arguments whose names are no words come as `args`."""
    event = {"ph": "X", "cat": cat, "name": name, "pid": 7, "tid": 8, "ts": ts, "dur": dur}
    return event | {"args": (args or {}) | more}


def read(folder: Path, events: list[Any] | str, **members: Any) -> FileRecords:
    """Return what the reader makes of these events, given as objects or as text, and top-level members."""
    text = events if isinstance(events, str) else json.dumps({**members, "traceEvents": events})
    file = folder / "trace.json"
    file.write_text(text)
    with open_source(str(file), Settings(store="")) as source:
        records = read_kineto(source)
    records.tally.check("trace.json")
    return records


def first(records: FileRecords, table: str) -> dict[str, Any]:
    """Return the first row of a table."""
    return records.tables[table].row(0, named=True)


@pytest.mark.parametrize(
    ("category", "table"),
    [
        ("cpu_op", "host_ops"),
        ("user_annotation", "host_ops"),
        ("Operator", "host_ops"),
        ("cuda_runtime", "runtime_calls"),
        ("cuda_driver", "runtime_calls"),
        ("hip_runtime", "runtime_calls"),
        ("xpu_driver", "runtime_calls"),
        ("Runtime", "runtime_calls"),
        ("kernel", "kernels"),
        ("Kernel", "kernels"),
        ("gpu_memcpy", "kernels"),
        ("gpu_memset", "kernels"),
        ("Memcpy", "kernels"),
        ("Memset", "kernels"),
        ("cuda_sync", "sync_events"),
    ],
)
def test_categories_of_every_age_find_their_table(tmp_path: Path, category: str, table: str) -> None:
    """What an event is follows from its category, by its old names too, and is kept as written."""
    records = read(tmp_path, [span(category)])

    assert {name: rows.height for name, rows in records.tables.items() if rows.height} == {table: 1}
    assert records.tables[table].schema == table_schema(table)
    if "category" in records.tables[table].columns:
        assert first(records, table)["category"] == category
    assert (records.tally.read, records.tally.kept, records.tally.left_out) == (1, 1, {})


def test_what_is_not_kept_is_counted_by_category(tmp_path: Path) -> None:
    """Flows, metadata, instants, counters and categories never seen before are counted, not errors."""
    records = read(
        tmp_path,
        [
            span("python_function"),
            span("python_function"),
            span("gpu_user_annotation"),
            span("mtia_something_new"),
            {"ph": "M", "name": "process_name", "pid": 7, "tid": 0, "args": {"name": "python"}},
            {"ph": "s", "cat": "ac2g", "name": "ac2g", "id": 1, "pid": 7, "tid": 8, "ts": 1},
            {"ph": "f", "cat": "ac2g", "name": "ac2g", "id": 1, "pid": 0, "tid": 7, "ts": 1, "bp": "e"},
            {"ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "", "ts": 3},
            {"ph": "C", "cat": "memory", "name": "bytes", "pid": 7, "ts": 1, "args": {"used": 5}},
            {},
        ],
    )

    assert records.tally.kept == 0
    assert records.tally.left_out == {
        "metadata (ph M)": 1,
        "not kept: ac2g (ph f)": 1,
        "not kept: ac2g (ph s)": 1,
        "not kept: gpu_user_annotation": 1,
        "not kept: memory (ph C)": 1,
        "not kept: mtia_something_new": 1,
        "not kept: no category (ph absent)": 1,
        "not kept: no category (ph i)": 1,
        "not kept: python_function": 2,
    }


def test_async_gpu_is_a_device_op_or_an_arrow_by_its_content(tmp_path: Path) -> None:
    """The 2021 category stands on both: a device op has a stream, an arrow to one has none."""
    arrow = {"ph": "s", "cat": "async_gpu", "name": "launch", "id": 3, "pid": 7, "tid": 8, "ts": 1}
    records = read(
        tmp_path,
        [
            span("async_gpu", "Memcpy HtoD", device=0, stream=7, correlation=3),
            span("async_gpu", "aten::add"),
            arrow,
        ],
    )

    assert records.tables["kernels"]["device_kind"].to_list() == ["memcpy"]
    assert records.tally.left_out == {"not kept: async_gpu": 1, "not kept: async_gpu (ph s)": 1}


def test_fields_of_a_host_op(tmp_path: Path) -> None:
    """Ids as recorded, shapes as compact JSON; a 0 that means "none" is null."""
    records = read(
        tmp_path,
        [
            span(
                "cpu_op",
                "aten::add",
                {
                    "External id": 5,
                    "Record function id": 9,
                    "Sequence number": 3,
                    "Fwd thread id": 0,
                    "Ev Idx": 2,
                    "Input Dims": [[4, 8], []],
                    "Input type": ["float", "Scalar"],
                    "Concrete Inputs": ["", "1"],
                },
            ),
            span("cpu_op", args={"Record function id": 0, "Sequence number": -1}),
        ],
    )

    row = first(records, "host_ops")
    assert (row["name"], row["process"], row["thread"]) == ("aten::add", 7, 8)
    assert (row["external_id"], row["rf_id"], row["autograd_seq_id"], row["fw_tid"]) == (5, 9, 3, None)
    assert (row["input_shapes"], row["input_types"]) == ("[[4,8],[]]", '["float","Scalar"]')
    assert (row["input_values"], row["comm_args"], row["node_id"]) == ('["","1"]', None, None)
    other = records.tables["host_ops"].row(1, named=True)
    assert (other["rf_id"], other["autograd_seq_id"], other["input_shapes"]) == (None, None, None)
    assert records.tables["host_ops"]["order"].to_list() == [0, 1]


def test_fields_of_device_ops(tmp_path: Path) -> None:
    """Stream and device from the arguments, else from tid and pid; correlation 0 is no correlation."""
    records = read(
        tmp_path,
        [
            span(
                "kernel", "k", device=1, stream=20, context=2, correlation=5, grid=[2, 1, 1], block=[64, 1, 1]
            ),
            span("gpu_memcpy", "Memcpy DtoH", bytes=512, correlation=0),
            span("gpu_memset", "Memset", device=0, stream=7, bytes="256", grid=["x"]),
        ],
    )

    kernels = records.tables["kernels"]
    assert kernels["device_kind"].to_list() == ["kernel", "memcpy", "memset"]
    assert kernels["device"].to_list() == [1, 7, 0]
    assert kernels["stream"].to_list() == [20, 8, 7]
    assert kernels["correlation"].to_list() == [5, None, None]
    assert kernels["size_bytes"].to_list() == [None, 512, 256]
    assert kernels["grid"].to_list() == [[2, 1, 1], None, None]
    assert kernels["block"].to_list() == [[64, 1, 1], None, None]
    assert kernels["collective_kind"].to_list() == [None] * 3


def test_fields_of_sync_events(tmp_path: Path) -> None:
    """A wait on an event names stream, event and recording call; the whole context has no stream."""
    records = read(
        tmp_path,
        [
            span(
                "cuda_sync",
                "Stream Wait Event",
                cuda_sync_kind="Stream Wait Event",
                stream=20,
                device=0,
                correlation=6,
                wait_on_stream=7,
                wait_on_cuda_event_id=8,
                wait_on_cuda_event_record_corr_id=4,
            ),
            span("cuda_sync", "Context Sync", stream=4294967295, correlation=9),
            span("cuda_sync", "Context Sync", stream=-1),
        ],
    )

    row = first(records, "sync_events")
    assert (row["sync_kind"], row["stream"], row["correlation"]) == ("Stream Wait Event", 20, 6)
    assert (row["wait_on_stream"], row["wait_on_event_id"], row["wait_on_record_correlation"]) == (7, 8, 4)
    assert records.tables["sync_events"]["stream"].to_list() == [20, None, None]
    assert records.tables["sync_events"]["sync_kind"].to_list()[1] == "Context Sync"


@pytest.mark.parametrize(
    ("ts", "base", "nanoseconds"),
    [
        ("1694128201435418", None, 1694128201435418000),
        ("1694128201435418.123", None, 1694128201435418123),
        ("5125319889835.730", 1790857026000000000, 1795982345889835730),
        ("5125319889835.730", "1790857026000000000", 1795982345889835730),
        ("0.5", None, 500),
        ("1.5e3", None, 1_500_000),
        ('"17.25"', None, 17_250),
        ("null", None, None),
    ],
)
def test_times_are_exact_to_the_nanosecond(
    tmp_path: Path, ts: str, base: int | str | None, nanoseconds: int | None
) -> None:
    """µs as int or fraction, since 1970 or since baseTimeNanoseconds: no digit is lost to a float."""
    head = "" if base is None else f'"baseTimeNanoseconds": {json.dumps(base)}, '
    event = f'{{"ph": "X", "cat": "cpu_op", "name": "a", "ts": {ts}, "dur": 2.592}}'
    text = f'{{{head}"traceEvents": [{event}]}}'

    row = first(read(tmp_path, text), "host_ops")

    assert (row["start_ns"], row["duration_ns"]) == (nanoseconds, 2592)


@given(ns=st.integers(0, 2**62))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
def test_any_nanosecond_survives_its_way_through_microseconds(tmp_path: Path, ns: int) -> None:
    """What Kineto writes as µs with three decimals comes back as the same ns."""
    text = f'{{"traceEvents": [{{"ph": "X", "cat": "cpu_op", "ts": {ns // 1000}.{ns % 1000:03d}}}]}}'

    assert first(read(tmp_path, text), "host_ops")["start_ns"] == ns


def test_the_base_time_counts_wherever_it_stands(tmp_path: Path) -> None:
    """A file written again by another program may name baseTimeNanoseconds behind its events."""
    text = json.dumps({"traceEvents": [span("cpu_op", ts=2)], "baseTimeNanoseconds": 1_000_000})

    assert first(read(tmp_path, text), "host_ops")["start_ns"] == 1_002_000


def test_a_span_without_end_has_no_duration(tmp_path: Path) -> None:
    """No dur, or one below 0 from a clock that ran backwards, is an unknown duration and not zero."""
    open_span = span("cpu_op")
    del open_span["dur"]

    records = read(tmp_path, [open_span, span("cpu_op", dur=-4), span("cpu_op", dur=0)])

    assert records.tables["host_ops"]["duration_ns"].to_list() == [None, None, 0]


def test_begin_and_end_events_become_one_span(tmp_path: Path) -> None:
    """B and E of one thread pair up as they nest; what has no partner is counted, not guessed."""

    def mark(ph: str, ts: float, name: str = "op", tid: int = 8) -> dict[str, Any]:
        return {"ph": ph, "cat": "cpu_op", "name": name, "pid": 7, "tid": tid, "ts": ts}

    records = read(
        tmp_path,
        [
            mark("B", 1, "outer"),
            mark("B", 2.25, "inner"),
            mark("E", 4),
            mark("B", 4, "other thread", tid=9),
            mark("E", 10),
            mark("E", 11),
            {"ph": "B", "cat": "python_function", "name": "f", "pid": 7, "tid": 8, "ts": 12},
            {"ph": "E", "pid": 7, "tid": 8, "ts": 13},
        ],
    )

    host = records.tables["host_ops"]
    assert host["name"].to_list() == ["outer", "inner"]
    assert host["start_ns"].to_list() == [1000, 2250]
    assert host["duration_ns"].to_list() == [9000, 1750]
    assert records.tally.kept == 4
    assert records.tally.left_out == {
        "not kept: python_function (ph B/E)": 2,
        "end without begin (ph E)": 1,
        "begin without end (ph B)": 1,
    }


def test_odd_values_cost_the_field_not_the_event(tmp_path: Path) -> None:
    """Text where a number belongs, numbers beyond 64 bits, text pids: the rest of the event is kept."""
    event = span("kernel", correlation="12", stream="default", device=2**70, bytes=[1])
    event["pid"] = "GPU 0"

    row = first(read(tmp_path, [event]), "kernels")

    assert (row["correlation"], row["stream"], row["device"], row["size_bytes"]) == (12, None, None, None)
    assert row["name"] == "op"


def test_an_event_no_decoder_takes_is_counted(tmp_path: Path) -> None:
    """A list among the events, or arguments that are no object, do not end the reading."""
    records = read(tmp_path, [span("cpu_op"), [1, 2], {**span("cpu_op"), "args": "none"}, span("cpu_op")])

    assert records.tables["host_ops"].height == 2
    assert records.tally.left_out == {"unreadable record": 2}


def test_names_of_threads_are_kept(tmp_path: Path) -> None:
    """thread_name metadata gives {(process, thread): name}; the events stay in the ledger as metadata."""
    name = {"ph": "M", "name": "thread_name", "pid": 7, "tid": 8, "args": {"name": "thread 8 (python)"}}
    other = {"ph": "M", "name": "thread_name", "pid": "Spans", "tid": 0, "args": {"name": "PyTorch"}}

    records = read(tmp_path, [name, other])

    assert records.thread_names == {(7, 8): "thread 8 (python)"}
    assert records.tally.left_out == {"metadata (ph M)": 2}


def test_facts_of_the_file(tmp_path: Path) -> None:
    """Rank, job, device and step marks are read from the content."""
    facts = read(
        tmp_path,
        [
            span("user_annotation", "ProfilerStep#3"),
            span("cpu_op", "ProfilerStep#3"),
            span("user_annotation", "ProfilerStep#4"),
            span("user_annotation", "Optimizer.step#Adam.step"),
            span("cuda_runtime", correlation=0),
            span("cuda_runtime", correlation=44),
            span("cuda_driver", correlation=12),
        ],
        schemaVersion=1,
        deviceProperties=[{"id": 0, "name": "GPU 9000"}],
        distributedInfo={"backend": "nccl", "rank": 3, "world_size": 8},
        host_name="vm",
        baseTimeNanoseconds=1790857026000000000,
    ).facts

    assert (facts["kind"], facts["schema"], facts["schema_known"]) == ("kineto", "1", True)
    assert (facts["rank"], facts["world_size"], facts["backend"]) == (3, 8, "nccl")
    assert (facts["host"], facts["device_name"], facts["pid"]) == ("vm", "GPU 9000", 7)
    assert (facts["step_marks"], facts["lowest_runtime_correlation"]) == (2, 12)
    assert (facts["recorded_at"], facts["cut_at"]) == ("2026-10-01T12:17:06+00:00", None)


def test_what_a_file_does_not_say_is_unknown(tmp_path: Path) -> None:
    """A bare list of events has no facts but those of its events; rank -1 is no rank."""
    bare = read(tmp_path, json.dumps([span("cpu_op")])).facts
    unset = read(tmp_path, [], distributedInfo={"rank": -1, "world_size": -1, "backend": ""}).facts

    assert [bare[key] for key in ("schema", "schema_known", "rank", "world_size", "backend")] == [None] * 5
    assert [bare[key] for key in ("device_name", "host", "recorded_at")] == [None] * 3
    assert [unset[key] for key in ("rank", "world_size", "backend", "pid")] == [None] * 4


def test_two_ranks_merged_into_one_file_are_told_by_their_pids(tmp_path: Path) -> None:
    """Several processes among the host ops are a fact of the file; ops keep their own process."""
    second = [{**span("cpu_op"), "pid": 9}, {**span("cpu_op"), "pid": 9}]

    records = read(tmp_path, [span("cpu_op"), *second])

    assert records.facts["host_pids"] == [7, 9]
    assert records.facts["pid"] == 9
    assert records.tables["host_ops"]["process"].to_list() == [7, 9, 9]


@pytest.mark.parametrize(
    ("ids", "verdict"),
    [
        ([5, 6], "usable"),
        ([5, 0], "usable"),
        ([5, None], "usable"),
        ([5, 5], "repeated"),
        ([0, 0], "zero"),
        ([0, None], "zero"),
        ([None, None], "absent"),
        ([], "no host ops"),
    ],
)
def test_whether_record_function_ids_can_be_used(tmp_path: Path, ids: list[int | None], verdict: str) -> None:
    """0 on every op means "no id" and is told from an absent field; one id on two ops joins nothing."""
    ops = [span("cpu_op", args={} if rf_id is None else {"Record function id": rf_id}) for rf_id in ids]

    assert read(tmp_path, ops).facts["rf_id_verdict"] == verdict


def test_process_groups_of_distributed_info(tmp_path: Path) -> None:
    """Each listed group has its ranks resolved: an empty list means all ranks."""
    records = read(
        tmp_path,
        [],
        distributedInfo={
            "rank": 0,
            "pg_config": [
                {
                    "pg_name": "0",
                    "pg_desc": "default_pg",
                    "backend_config": "cuda:nccl",
                    "pg_size": 4,
                    "ranks": [],
                },
                {"pg_name": 3, "pg_desc": "tp", "pg_size": 2, "ranks": [2, 0]},
                "garbage",
            ],
        },
    )

    assert records.groups == [
        {
            "pg_name": "0",
            "pg_desc": "default_pg",
            "ranks": [0, 1, 2, 3],
            "group_size": 4,
            "backend": "cuda:nccl",
            "origin": "kineto",
        },
        {
            "pg_name": "3",
            "pg_desc": "tp",
            "ranks": [0, 2],
            "group_size": 2,
            "backend": None,
            "origin": "kineto",
        },
    ]


def test_a_cut_off_file_keeps_its_whole_events(tmp_path: Path) -> None:
    """The events before the cut are read and the place is named, packed or not."""
    text = json.dumps({"traceEvents": [span("cpu_op", f"op {n}") for n in range(20)]})
    file = tmp_path / "cut.json.gz"
    file.write_bytes(gzip.compress(text[: len(text) // 2].encode()))

    with open_source(str(file), Settings(store="")) as source:
        records = read_kineto(source)

    assert 5 < records.tally.kept < 15
    assert "inside a record" in records.facts["cut_at"]
    records.tally.check("cut.json.gz")


def test_names_with_control_bytes_are_read(tmp_path: Path) -> None:
    """Raw control bytes, in a name or in recorded values, do not cost the event."""
    text = (
        '{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a\x01b", "ts": 1, "dur": 1,'
        ' "args": {"Concrete Inputs": ["x\x02"]}}]}'
    )

    row = first(read(tmp_path, text), "host_ops")

    assert (row["name"], row["input_values"]) == ("a\x01b", '["x\\u0002"]')


def test_a_document_without_events_is_an_error(tmp_path: Path) -> None:
    """What is no Kineto trace is refused in one line that names the file."""
    with pytest.raises(TraceFormatError, match=r"trace\.json: there is no list 'traceEvents'"):
        read(tmp_path, '{"nodes": []}')


def test_a_graph_launch_keeps_all_its_device_ops(tmp_path: Path) -> None:
    """Device ops that share the correlation of one graph launch are all kept, with that correlation."""
    launch = span("cuda_runtime", "cudaGraphLaunch", correlation=5)

    records = read(tmp_path, [launch, *(span("kernel", stream=7, correlation=5) for _ in range(50))])

    assert records.tables["kernels"]["correlation"].to_list() == [5] * 50


def test_the_tables_have_their_types_when_empty(tmp_path: Path) -> None:
    """A file without events of a kind has that table, empty and of the right types."""
    records = read(tmp_path, [])

    assert {name: rows.schema for name, rows in records.tables.items()} == {
        name: pl.Schema(table_schema(name))
        for name in ("host_ops", "runtime_calls", "kernels", "sync_events")
    }


@given(
    at=st.integers(0, 10**6),
    junk=st.sampled_from(["", "null", '"', "[", "{", "1e999", "9" * 30, "}", "\x00"]),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_damage_at_any_place_costs_records_not_the_program(tmp_path: Path, at: int, junk: str) -> None:
    """A damaged file gives a balanced tally or one line that says what is wrong; nothing else is raised."""
    events = [
        span("cpu_op", "c10d::send", {"Concrete Inputs": ["", "", "1", "0"], "Input Dims": [[2]]}),
        span("kernel", "ncclDevKernel_Generic", {"Process Group Ranks": "[0, 1]"}, stream=7, grid=[1, 1, 1]),
        span("cuda_sync", wait_on_stream=7),
    ]
    groups = {"rank": 0, "pg_config": [{"pg_name": "0", "ranks": [0], "pg_size": 1}]}
    text = json.dumps({"distributedInfo": groups, "traceEvents": events, "baseTimeNanoseconds": 5})
    place = at % len(text)

    with contextlib.suppress(TraceFormatError):
        records = read(tmp_path, text[:place] + junk + text[place + 1 :])

        assert records.tally.kept <= 3
