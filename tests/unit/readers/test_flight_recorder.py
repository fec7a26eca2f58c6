from __future__ import annotations

import gzip
import json
import math
import pickle
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphstore.model.records import table_schema
from graphstore.readers import assign_ranks, parallel, read_files
from graphstore.readers.flight_recorder import proven_rank
from graphstore.settings import Settings
from tests.data.dumps import CREATED, USER, Value, dump, entry, group, read, refusal

P2P = {"is_p2p": True, "collective_seq_id": 0, "p2p_seq_id": 1}
GROUPS = group("0", "default_pg", "[0, 1, 2, 3]") | group("5", "pp", "[3, 1]") | group("6", "tp", "[2, 3]")


def row(file: Path, value: Value, **how: Any) -> dict[str, Any]:
    """Return the only entry of a dump as a row."""
    entries = read(file, value, **how).tables["flight_entries"]
    assert entries.height == 1
    return entries.row(0, named=True)


def test_an_entry_is_a_row(tmp_path: Path) -> None:
    """Every property of a call that version 2.10 writes, in the types of the table."""
    records = read(tmp_path / "rank_0", dump(entry(7, "nccl:_all_gather_base", output_sizes=[[8, 4], []])))

    entries = records.tables["flight_entries"]
    assert dict(entries.schema) == table_schema("flight_entries")
    found = {key: value for key, value in entries.row(0, named=True).items() if value is not None}
    assert found == {
        "name": "nccl:_all_gather_base",
        "op_name": "nccl:_all_gather_base",
        "collective_kind": "all_gather",
        "is_p2p": False,
        "is_coalesced": False,
        "pg_name": "0",
        "pg_desc": "default_pg",
        "pg_id": 0,
        "record_id": 7,
        "collective_seq_id": 8,
        "p2p_seq_id": 0,
        "op_id": 8,
        "state": "scheduled",
        "retired": False,
        "start_ns": CREATED + 7,
        "timeout_ms": 600_000,
        "in_sizes": "[[4,4]]",
        "out_sizes": "[[8,4],[]]",
        "in_nelems": [16],
        "out_nelems": [32, 1],
        "in_msg_nelems": 16,
        "out_msg_nelems": 33,
        "in_dtypes": ["Float"],
        "out_dtypes": ["Float"],
        "dtype": "Float",
        "site": "train.py:82",
        "source": "flight_recorder",
        "order": 0,
    }


def test_facts_and_ledger_of_a_dump(tmp_path: Path) -> None:
    """The file's version, size of the job, and a record per entry."""
    records = read(tmp_path / "rank_1", dump(entry(0), entry(1)))

    facts = records.facts
    assert (facts["kind"], facts["schema"], facts["schema_known"]) == ("flight_recorder", "2.10", True)
    assert (facts["world_size"], facts["records_read"]) == (2, 2)
    assert (records.tally.kept, records.tally.left_out) == (2, {})
    assert records.flight == {
        "version": (2, 10),
        "pg_config": [{"pg_name": "0", "pg_desc": "default_pg", "ranks": [0, 1]}],
        "pg_status": {
            "0": {
                "last_enqueued_collective": 2,
                "last_started_collective": -1,
                "last_completed_collective": 0,
            }
        },
        "entries_total": 2,
        "file_rank_candidates": {"pg_config": None, "p2p": None, "file_name": 1},
        "form": "pickle",
    }


def test_the_json_form_is_the_same_without_frames(tmp_path: Path) -> None:
    """Counters are texts there, pairs are lists, unknown times are 0, and there are no frames."""
    pickled = dump(entry(3, time_discovered_completed_ns=CREATED + 9), entry(4))
    written = json.loads(json.dumps(pickled))
    for each in written["entries"]:
        del each["frames"]
        each["time_discovered_started_ns"] = 0
    written["pg_status"]["0"] = {name: str(number) for name, number in written["pg_status"]["0"].items()}

    from_json = read(tmp_path / "rank_0.json", written, form="json")
    from_pickle = read(tmp_path / "rank_0", pickled)

    assert (from_json.flight or {}) | {"form": "pickle"} == from_pickle.flight
    without_site = from_pickle.tables["flight_entries"].drop("site")
    assert from_json.tables["flight_entries"].drop("site").equals(without_site)
    assert from_json.tables["flight_entries"]["site"].null_count() == 2


def test_times_of_zero_are_unknown(tmp_path: Path) -> None:
    """0, None and absent mean the same."""
    unknown = entry(time_created_ns=0, time_discovered_started_ns=0)
    del unknown["time_discovered_completed_ns"]

    found = row(tmp_path / "rank_0.json", dump(unknown), form="json")

    assert (found["start_ns"], found["started_ns"], found["completed_ns"]) == (None, None, None)


def test_a_duration_is_the_devices(tmp_path: Path) -> None:
    """Milliseconds with fractions, when timing was on; what is no duration is unknown."""
    durations = [0.0625, 3, None, float("nan"), float("inf"), -1.0, 1e300]
    entries = [entry(n, duration_ms=value) for n, value in enumerate(durations)]

    found = read(tmp_path / "rank_0", dump(*entries, entry(9))).tables["flight_entries"]

    assert found["duration_ns"].to_list() == [62_500, 3_000_000, *[None] * 6]


@pytest.mark.parametrize(
    ("name", "kind", "is_coalesced", "ends"),
    [
        ("nccl:send 0->1", "send", False, (0, 1, 0, 1)),
        ("nccl:recv 1<-0", "recv", False, (1, 0, 0, 1)),
        ("xccl:recv 12<-3", "recv", False, (12, 3, 3, 12)),
        ("nccl:send", "send", False, (None, None, None, None)),
        ("nccl:coalesced", None, True, (None, None, None, None)),
        ("nccl:ALLGATHER_coalesced", "all_gather", False, (None, None, None, None)),
        ("gloo:monitored_barrier", "barrier", False, (None, None, None, None)),
        ("nccl:new thing", None, False, (None, None, None, None)),
    ],
)
def test_a_name_tells_kind_and_ends(
    tmp_path: Path,
    name: str,
    kind: str | None,
    is_coalesced: bool,
    ends: tuple[int | None, ...],
) -> None:
    """The own place in the group stands first: a recv's peer is its source."""
    found = row(tmp_path / "rank_0", dump(entry(name=name)))

    assert (found["collective_kind"], found["is_coalesced"]) == (kind, is_coalesced)
    assert (found["group_rank"], found["peer"], found["src"], found["dst"]) == ends


def test_version_1_4_counts_all_calls_of_a_group_in_one(tmp_path: Path) -> None:
    """seq_id, groups by number, ranks as lists; whether a call was P2P only its name says."""
    old = {"op_id": 3, "pg_id": 1, "seq_id": 9, "state": "completed", "retired": True}
    calls = [
        old | {"record_id": 5, "profiling_name": "nccl:all_reduce", "time_created_ns": CREATED},
        old | {"record_id": 6, "profiling_name": "nccl:send 0->1", "time_created_ns": CREATED},
    ]
    value = {"version": "1.4", "entries": calls, "nccl_comm_state": {}, "pg_config": {0: [0, 1], 1: [1, 0]}}

    records = read(tmp_path / "nccl_trace_rank_1", value)

    columns = ("pg_name", "pg_desc", "is_p2p", "collective_seq_id", "p2p_seq_id")
    assert records.tables["flight_entries"].select(columns).rows() == [
        ("1", None, False, 9, None),
        ("1", None, True, None, 9),
    ]
    flight = records.flight or {}
    assert flight["version"] == (1, 4)
    assert [(each["pg_name"], each["ranks"]) for each in flight["pg_config"]] == [
        ("0", [0, 1]),
        ("1", [1, 0]),
    ]
    assert flight["file_rank_candidates"]["p2p"] == 1
    assert (flight["entries_total"], flight["pg_status"], records.facts["world_size"]) == (7, {}, 2)


def test_the_first_version_is_a_bare_list(tmp_path: Path) -> None:
    """No version, no groups, no record ids, times in microseconds (torch 2.2)."""
    first = {
        "pg_id": 0,
        "seq_id": 1,
        "profiling_name": "nccl:all_reduce",
        "time_created_us": CREATED // 1000,
        "input_sizes": [[3, 4]],
        "output_sizes": [[3, 4]],
        "state": "scheduled",
        "retired": False,
        "frames": [USER],
    }

    late = first | {"seq_id": 2, "time_created_us": 1 << 62}
    records = read(tmp_path / "nccl_trace_rank_0", [first, late])

    found = records.tables["flight_entries"]
    assert found.select("start_ns", "collective_seq_id", "record_id", "in_msg_nelems", "dtype").rows() == [
        (CREATED // 1000 * 1000, 1, None, 12, None),
        (None, 2, None, 12, None),  # a time that is none
    ]
    assert (records.flight or {})["version"] == ()
    assert (records.flight or {})["entries_total"] is None
    assert (records.facts["schema"], records.facts["schema_known"]) == (None, False)


@pytest.mark.parametrize(
    ("version", "numbers", "is_known"),
    [
        ("2.0", (2, 0), True),
        ("2.9", (2, 9), True),
        ("2.11", (2, 11), False),
        ("3.0", (3, 0), False),
        ("2.7.1", (2, 7, 1), False),
        ("new", (), False),
    ],
)
def test_versions_are_numbers(tmp_path: Path, version: str, numbers: tuple[int, ...], is_known: bool) -> None:
    """2.10 comes after 2.9; an unknown version is read by its fields, and said to be unknown."""
    records = read(tmp_path / "rank_0", dump(entry(), version=version))

    assert (records.flight or {})["version"] == numbers
    assert (records.facts["schema"], records.facts["schema_known"]) == (version, is_known)
    assert records.tables["flight_entries"].height == 1


@pytest.mark.parametrize("form", ["pickle", "json"])
@pytest.mark.parametrize("entries", [None, []])
def test_a_dump_without_entries_still_says_how_far_it_came(
    tmp_path: Path, form: str, entries: list[Value] | None
) -> None:
    """The JSON form leaves the key out."""
    value = dump(pg_status={"3": {"last_enqueued_collective": "12", "last_completed_collective": 11}})
    del value["entries"]
    if entries is not None:
        value["entries"] = entries

    records = read(tmp_path / "rank_0", value, form=form)

    assert records.tables["flight_entries"].height == 0
    assert dict(records.tables["flight_entries"].schema) == table_schema("flight_entries")
    assert (records.flight or {})["pg_status"] == {
        "3": {
            "last_enqueued_collective": 12,
            "last_started_collective": None,
            "last_completed_collective": 11,
        }
    }
    assert records.tally.read == 0


def test_an_entry_without_a_name_is_left_out_by_reason(tmp_path: Path) -> None:
    """It cannot be said what was called; the places of the others stay."""
    records = read(tmp_path / "rank_0", dump(entry(0), {"record_id": 1}, entry(2)))

    assert records.tables["flight_entries"]["order"].to_list() == [0, 2]
    assert (records.tally.kept, records.tally.left_out) == (2, {"entry without profiling_name": 1})


def test_a_call_without_tensors_has_none_and_an_unknown_one_null(tmp_path: Path) -> None:
    """A barrier has no elements; an entry that does not say is not a barrier."""
    nothing: Value = {key: [] for key in ("input_sizes", "input_dtypes", "output_sizes", "output_dtypes")}
    silent = {key: value for key, value in entry(1).items() if not key.startswith(("input", "output"))}

    found = read(tmp_path / "rank_0", dump(entry(0, "gloo:barrier", **nothing), silent)).tables[
        "flight_entries"
    ]

    assert found.select("in_sizes", "in_nelems", "in_msg_nelems", "in_dtypes", "dtype").rows() == [
        ("[]", [], 0, [], None),
        (None, None, None, None, None),
    ]


def test_the_type_of_an_output_is_the_type_when_there_is_no_input(tmp_path: Path) -> None:
    """A recv or a scatter off the root has no input."""
    found = row(tmp_path / "rank_0", dump(entry(input_sizes=[], input_dtypes=[], output_dtypes=["Half"])))

    assert found["dtype"] == "Half"


def sharing(depth: int) -> list[Any]:
    """Return a list that is 2^depth lists when walked."""
    value: list[Any] = []
    for _ in range(depth):
        value = [value, value]
    return value


def endless() -> list[Any]:
    """Return a list that holds itself."""
    value: list[Any] = []
    value.append(value)
    return value


BAD: dict[str, list[Any]] = {
    "record_id": ["1", 1.0, True, 1 << 63, [1]],
    "op_id": [{}, -(1 << 64)],
    "collective_seq_id": ["1"],
    "p2p_seq_id": [1.5],
    "pg_id": ["0"],
    "process_group": ["0", ("0",), ("0", 1), ["0", "a", "b"], {"0": 1}],
    "profiling_name": [1, ["nccl:send"], "x" * 1_025, "\ud800"],
    "time_created_ns": ["now", 1.5],
    "duration_ms": ["1", True],
    "time_discovered_completed_ns": [[]],
    "state": [1, ["completed"]],
    "retired": [1, "true"],
    "is_p2p": [0],
    "timeout_ms": ["600000"],
    "input_sizes": ["[[4]]", [4], [[4.0]], [["4"]], [[True]], [[-1]], [[1 << 64]], {"0": [4]}],
    "output_sizes": [[None], [[1 << 30, 1 << 30]], [[1] * 65], [[1]] * 4_097],
    "input_dtypes": ["Float", [1], [None], ["x" * 1_025], ["Float"] * 4_097, ["\udfff"]],
    "output_dtypes": [{"Float": 1}],
    "frames": [
        "train.py",
        ["train.py"],
        [{"filename": "a.py"}],
        [{"filename": "a.py", "line": "1"}],
        [{"filename": 1, "line": 1}],
        [{"filename": "\ud800.py", "line": 1}],
        [USER] * 4_097,
    ],
}


@pytest.mark.parametrize(("field", "value"), [(field, each) for field, bad in BAD.items() for each in bad])
def test_a_field_of_another_type_refuses_the_file(tmp_path: Path, field: str, value: Any) -> None:
    """One bad value among good ones, each with its field named in one line."""
    said = refusal(tmp_path / "rank_0", dump(entry(0), entry(1) | {field: value}, entry(2)))

    assert field in said or "frame" in said or "tensor" in said or "sizes or dtypes" in said


@pytest.mark.parametrize("field", [*BAD, "thread_name", "new_field"])
@pytest.mark.parametrize("bomb", [sharing(100), endless()])
def test_lists_that_share_lists_are_never_walked(tmp_path: Path, field: str, bomb: list[Any]) -> None:
    """Under any field, known or not: it takes no time, and is refused where it matters."""
    begun = time.process_time()

    records = read(tmp_path / "rank_0", dump(entry() | {field: bomb}))

    assert time.process_time() - begun < 2
    assert ("problem" in records.facts) == (field in BAD)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"entries": {}}, "entries is dict, not a list"),
        ({"entries": [1]}, "an entry (number 0) is int, not a dict"),
        ({"entries": [entry(), []]}, "an entry (number 1) is list"),
        ({"version": 2.1}, "version is no text"),
        ({"pg_config": []}, "pg_config is list, not a dict"),
        ({"pg_config": {("a",): {}}}, "key of pg_config is no text"),
        ({"pg_config": {"0": 7}}, "neither a text nor a list"),
        ({"pg_config": {"0": [0.5]}}, "neither a text nor a list"),
        ({"pg_config": {"0": {"name": ["0"]}}}, "name of a group is no text"),
        ({"pg_config": {"0": {"name": "0", "desc": 1}}}, "desc of a group is no text"),
        ({"pg_config": {"0": {"ranks": {}}}}, "neither a text nor a list"),
        ({"pg_status": 1}, "pg_status is int, not a dict"),
        ({"pg_status": {"0": [1]}}, "pg_status holds list"),
        ({"pg_status": {"0": {"last_enqueued_collective": "many"}}}, "else than whole numbers"),
        ({"pg_status": {"0": {"last_enqueued_collective": 1 << 64}}}, "else than whole numbers"),
        ({"pg_status": {"0": {"last_enqueued_collective": sharing(60)}}}, "else than whole numbers"),
        ({"pg_config": sharing(60)}, "pg_config is list"),
    ],
)
def test_parts_of_another_type_refuse_the_file(tmp_path: Path, more: Value, says: str) -> None:
    """What lies around the entries is checked as well."""
    assert says in refusal(tmp_path / "rank_0", dump(entry()) | more)


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (b'{"version": "2.9", "pg_config": {}, "entries": [{"record_id": 1,', "the JSON cannot be read"),
        (b'{"version": "2.9", "pg_config": {}, "entries": ' + b"[" * 400 + b"]" * 400 + b"}", "an entry"),
        (b'{"version": "2.9", "pg_config": {}, "x": ' + b"[" * 5_000 + b"]" * 5_000 + b"}", "nested deeper"),
        (b'{"version": "2.9", "pg_config": {}, "entries": [{"op_id": ' + b"9" * 30 + b"}]}", "is float"),
        (b'{"version": "2.9", "pg_config": {}, "x": ' + b"9" * 5_000 + b"}", "the JSON cannot be read"),
        (gzip.compress(pickle.dumps(dump(entry()), protocol=2))[:-20], "gz"),
        (pickle.dumps({"record_id": 1, "pg_id": 2}, protocol=2), "holds none of entries, pg_config, version"),
        (pickle.dumps({"pg_config"}, protocol=4), "is none of a dump's"),
    ],
)
def test_what_is_broken_is_refused_in_one_line(tmp_path: Path, value: bytes, says: str) -> None:
    """Cut, nested, with endless numbers, or a pickle of something else with the words of a dump."""
    named = value.replace(b'"op_id"', b'"profiling_name": "nccl:send", "op_id"')

    assert says in refusal(tmp_path / "rank_0", named)


def test_a_dump_larger_than_the_limit_is_refused(tmp_path: Path) -> None:
    """Unpacked size counts: 300 KB of zeros are 1 KB as gz."""
    content = gzip.compress(pickle.dumps(dump(entry(thread_name="x" * 300_000)), protocol=2))

    assert "more than 100,000 bytes" in refusal(tmp_path / "rank_0", content, max_dump_bytes=100_000)
    assert read(tmp_path / "rank_0", content).tables["flight_entries"].height == 1


@pytest.mark.parametrize(("value", "most"), [([[4]] * 4_096, 8), (["Float"] * 4_096, 8)])
def test_shared_lists_do_not_multiply(tmp_path: Path, value: list[Any], most: int) -> None:
    """Ten thousand entries that share one list of 4,096 tensors are 40 million, though the file is small."""
    field = "input_dtypes" if value[0] == "Float" else "input_sizes"
    entries = [entry(n) | {field: value} for n in range(10_000)]

    said = refusal(tmp_path / "rank_0", dump(*entries))

    assert "more than 16,777,216 values in all" in said
    assert (tmp_path / "rank_0").stat().st_size < most << 20


def test_more_entries_than_a_dump_may_have_are_refused(tmp_path: Path) -> None:
    """A million references to one entry are two million bytes."""
    one = entry()

    said = refusal(tmp_path / "rank_0", dump(*[one] * 1_000_001))

    assert "1,000,001 entries, more than 1,000,000" in said


@pytest.mark.parametrize(
    ("name", "groups", "calls", "rank", "candidates"),
    [
        ("rank_3", GROUPS, [], 3, (3, None, 3)),
        ("dump", GROUPS, [], 3, (3, None, None)),
        ("rank_3", GROUPS, [("5", "pp", "nccl:send 0->1")], 3, (3, 3, 3)),
        ("rank_7", GROUPS, [("5", "pp", "nccl:recv 0<-1")], 3, (3, 3, 7)),
        ("rank_1", GROUPS, [("5", "pp", "nccl:send 1->0")], 1, (3, 1, 1)),
        ("rank_1", GROUPS, [], None, (3, None, 1)),
        ("rank_1", group("0", "default_pg", "[0, 1]"), [], None, (None, None, 1)),
        ("rank_1", group("", "", "[]"), [], None, (None, None, 1)),
        (
            "rank_1",
            GROUPS,
            [("5", "pp", "nccl:send 0->1"), ("5", "pp", "nccl:send 1->0")],
            None,
            (3, None, 1),
        ),
        ("rank_1", GROUPS, [("5", "pp", "nccl:send 2->0")], None, (3, None, 1)),
        ("rank_1", GROUPS, [("9", "new", "nccl:send 0->1")], None, (3, None, 1)),
    ],
)
def test_the_rank_is_what_the_content_proves(
    tmp_path: Path,
    name: str,
    groups: Value,
    calls: list[tuple[str, str, str]],
    rank: int | None,
    candidates: tuple[int | None, ...],
) -> None:
    """A place in a send or recv stands first, then the rank common to all groups if the name agrees."""
    entries = [entry(n, call, process_group=(pg, desc), **P2P) for n, (pg, desc, call) in enumerate(calls)]

    records = read(tmp_path / name, dump(*entries, pg_config=groups))

    assert tuple((records.flight or {})["file_rank_candidates"].values()) == candidates
    assert records.facts["rank"] == rank
    assert proven_rank((records.flight or {})["file_rank_candidates"]) == rank


def test_a_dump_without_proof_has_the_rank_of_its_name(tmp_path: Path) -> None:
    """The last number, whatever the host is called; a dump without any stays without a rank."""
    names = {"nccl_trace_rank_host-02_5": 5, "comm_lib_trace_rank_7": 7, "5.f2": 5, "dump": None}
    records = [read(tmp_path / name, dump(entry(), pg_config={})) for name in names]

    assign_ranks(records, {})

    assert [record.facts["rank"] for record in records] == list(names.values())
    assert [record.facts.get("rank_origin") for record in records] == ["file_name"] * 3 + [None]


def test_dumps_come_whole_out_of_a_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables and what lies around them, with the types they had."""
    monkeypatch.setattr(parallel, "PAYS_BYTES", 1)
    here = [read(tmp_path / f"rank_{n}", dump(entry(n), pg_config=GROUPS)) for n in range(3)]

    found = read_files([record.path for record in here], Settings(store="", processes=2), set())

    assert [record.facts for record in found] == [record.facts for record in here]
    assert [record.flight for record in found] == [record.flight for record in here]
    assert [type((record.flight or {})["version"]) for record in found] == [tuple] * 3
    for there, local in zip(found, here, strict=True):
        assert there.tables["flight_entries"].equals(local.tables["flight_entries"])
        assert there.tables["flight_entries"].schema == local.tables["flight_entries"].schema


SIZES = st.lists(st.lists(st.integers(0, 1 << 12), max_size=4), max_size=4)
ENTRIES = st.lists(
    st.fixed_dictionaries(
        {"profiling_name": st.sampled_from(["nccl:all_reduce", "nccl:send 0->1", "gloo:barrier", "x"])},
        optional={
            "record_id": st.integers(0, 1 << 62),
            "collective_seq_id": st.integers(0, 1 << 62) | st.none(),
            "is_p2p": st.booleans() | st.none(),
            "process_group": st.tuples(st.text(max_size=5), st.text(max_size=5)),
            "state": st.sampled_from(["scheduled", "completed"]),
            "input_sizes": SIZES,
            "output_sizes": SIZES | st.none(),
            "input_dtypes": st.lists(st.text(max_size=5), max_size=4),
            "frames": st.lists(st.just(USER), max_size=2),
        },
    ),
    max_size=12,
)


@given(entries=ENTRIES, form=st.sampled_from(["pickle", "json"]))
@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_fields_present_or_not_come_back_as_written(
    tmp_path: Path, entries: list[dict[str, Any]], form: str
) -> None:
    """Any mix of entries: a row each, values as recorded, absent ones null, counts as products and sums."""
    found = read(tmp_path / "rank_0", dump(*entries), form=form).tables["flight_entries"].to_dicts()

    assert len(found) == len(entries)
    for got, written in zip(found, entries, strict=True):
        assert [got["pg_name"], got["pg_desc"]] == list(written.get("process_group", (None, None)))
        for field, column in (("record_id", "record_id"), ("state", "state"), ("input_dtypes", "in_dtypes")):
            assert got[column] == written.get(field)
        for field, side in (("input_sizes", "in"), ("output_sizes", "out")):
            sizes = written.get(field)
            assert got[f"{side}_nelems"] == (None if sizes is None else [math.prod(each) for each in sizes])
            assert got[f"{side}_msg_nelems"] == (None if sizes is None else sum(map(math.prod, sizes)))
            assert json.loads(got[f"{side}_sizes"] or "null") == sizes
