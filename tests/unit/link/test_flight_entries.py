from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphstore.link.flight_entries import Joined, join_entries, read_entries
from graphstore.model.records import FileRecords, frame
from tests.data.builders import Row, span, table
from tests.data.dumped import dump_file, entries
from tests.data.flight import START_NS, STEP_NS, call, closing, dump, gloo, numbered, recv, send, waiting

KINDS = ("all_reduce", "broadcast", "barrier", "send", "recv")
GROUP: dict[str, Any] = {"pg_name": "0", "pg_desc": "default_pg"}


def op(kind: str, made: float | None = None, *, length: int = STEP_NS // 2, **said: Any) -> Row:
    """Return the call of a trace whose op begins just before the entry number `made` was made."""
    start = None if made is None else START_NS + int(made * STEP_NS) - 100
    return {
        "collective_kind": kind,
        "is_p2p": kind in ("send", "recv"),
        "start": start,
        "length": length,
    } | said


def join(ops: Sequence[Row], rows: pl.DataFrame) -> Joined:
    """Return ops and entries of a rank joined."""
    host = table("host_ops", [span(row["collective_kind"], 0, 0) for row in ops]).with_columns(
        pl.Series("start_ns", [row["start"] for row in ops], dtype=pl.Int64),
        pl.Series("duration_ns", [row["length"] for row in ops], dtype=pl.Int64),
    )
    said = [{name: row[name] for name in row if name not in ("start", "length")} for row in ops]
    calls = [
        {"name": row["collective_kind"], "source": "kineto", "host_n": n, "start_ns": ops[n]["start"]} | row
        for n, row in enumerate(said)
    ]
    names = dict.fromkeys(name for row in calls for name in row)
    return join_entries(
        frame("comm_calls", {name: [row.get(name) for row in calls] for name in names}), rows, host
    )


def pairs(joined: Joined) -> dict[int, int]:
    """Return {record: place of its call in the trace} of the entries joined."""
    found = joined.calls.drop_nulls("joined_by").select("record_id", "host_n")
    return dict(found.rows())


def ways(joined: Joined) -> set[str | None]:
    """Return by what entries were joined."""
    return set(joined.calls["joined_by"].drop_nulls())


def read(*files: FileRecords) -> pl.DataFrame:
    """Return the entries of a rank's files."""
    return read_entries(files)


def test_numbers_join_whatever_time_and_order_say() -> None:
    """§11.1: the group and its sequence number name the call; Kineto's `Seq` is the same counter."""
    rows = entries(numbered([call(), call(), call()]))
    ops = [
        op("all_reduce", 0, collective_seq_id=2, **GROUP),
        op("all_reduce", 1, collective_seq_id=3, **GROUP),
    ]

    joined = join(ops, rows)

    assert (pairs(joined), ways(joined)) == ({1: 0, 2: 1}, {"collective_seq_id"})


def test_a_number_of_another_kind_joins_nothing() -> None:
    """Two files of different runs may hold the same numbers: an all_reduce is no broadcast."""
    rows = entries(numbered([call(), call("broadcast")]))
    ops = [op("all_reduce", collective_seq_id=1, **GROUP), op("all_reduce", collective_seq_id=2, **GROUP)]

    joined = join(ops, rows)

    assert pairs(joined) == {0: 0}
    assert joined.calls.height == 3


def test_a_number_that_stands_twice_joins_nothing() -> None:
    """§5: entries of a block share a number; which call of the trace is which of them is not told by it."""
    rows = entries(numbered([call(block=True), call(block=True), closing(), call()]))
    ops = [op("all_reduce", collective_seq_id=1, **GROUP), op("all_reduce", collective_seq_id=2, **GROUP)]

    assert pairs(join(ops, rows)) == {3: 1}


@pytest.mark.parametrize("is_p2p", [False, None])
def test_the_entry_that_closes_a_block_is_no_second_call_of_its_number(is_p2p: bool | None) -> None:
    """A block of one call: its closing entry has the same number and is no call of the trace."""
    rows = entries(numbered([call(block=True), closing() | {"is_p2p": is_p2p}]))

    assert pairs(join([op("all_reduce", collective_seq_id=1, **GROUP)], rows)) == {0: 0}


def test_a_send_with_the_number_of_a_collective_is_not_that_collective() -> None:
    """NCCL writes the number of the last collective into a send: time joins it, and it bears none."""
    rows = read(dump_file(dump(0, [call(), send(0, 1), closing(is_p2p=True)])))
    assert rows["collective_seq_id"].to_list() == [1, None, None]
    ops = [op("all_reduce", 0, collective_seq_id=1, **GROUP), op("send", 1)]

    joined = join(ops, rows)

    assert pairs(joined) == {0: 0, 1: 1}
    assert joined.calls.select("collective_kind", "collective_seq_id", "peer", "joined_by").rows() == [
        ("all_reduce", 1, None, "collective_seq_id"),
        ("send", None, 1, "time"),
        (None, None, None, None),
    ]


def test_group_numbers_of_an_old_dump_are_no_names() -> None:
    """Before 2.0 a dump has no names: 1 is the second group of its process, and seq counts sends, too."""
    rows = entries([row | {"pg_desc": None} for row in numbered([call(group="1"), call(group="1")])])
    ops = [op("all_reduce", 1, collective_seq_id=1, pg_name="1", pg_desc="tp")]

    joined = join(ops, rows)

    assert (pairs(joined), ways(joined)) == ({1: 0}, {"time and order"})
    assert joined.calls.select("pg_name", "pg_desc").row(0) == ("1", None)  # as matching knows it


def test_a_dump_older_than_names_leaves_the_names_of_the_trace() -> None:
    """An entry that names no group takes no name away."""
    rows = entries([row | {"pg_name": None, "pg_desc": None} for row in numbered([call()])])

    joined = join([op("all_reduce", 0, **GROUP)], rows)

    assert joined.calls.select("pg_name", "pg_desc", "record_id").rows() == [("0", "default_pg", 0)]


def test_the_time_of_creation_lies_inside_its_op() -> None:
    """§11.2: an entry is made shortly after its op began; one of another kind around it does not count."""
    rows = entries(numbered([call(), call("broadcast"), call()]))
    ops = [op("all_reduce", 0), op("broadcast", 1), op("all_reduce", 1, length=50), op("all_reduce", 2)]

    assert pairs(join(ops, rows)) == {0: 0, 1: 1, 2: 3}


def test_an_entry_inside_two_ops_is_of_neither() -> None:
    """Two threads are in an all_reduce at once."""
    rows = entries(numbered([call(), call()]))
    ops = [op("all_reduce", 0, length=3 * STEP_NS), op("all_reduce", 0.9, length=STEP_NS)]

    assert pairs(join(ops, rows)) == {0: 0}


def test_an_op_with_two_entries_takes_neither() -> None:
    """all_gather of a list may be recorded as several: which of them is the op is not told."""
    rows = entries(numbered([call(), call(), call()]))
    ops = [op("all_reduce", 0, length=STEP_NS + 500), op("all_reduce", 2)]

    assert pairs(join(ops, rows)) == {2: 1}


def test_a_trace_from_the_middle_of_the_ring_is_joined_by_its_times() -> None:
    """A step of a long job: equal calls before it and after it do not shift the order."""
    rows = entries(numbered([call()] * 20)[4:])
    ops = [op("all_reduce", made) for made in (9, 10, 11)]

    joined = join(ops, rows)

    assert (pairs(joined), ways(joined)) == ({9: 0, 10: 1, 11: 2}, {"time and order"})


def test_ops_between_the_entries_times_are_not_joined_by_order() -> None:
    """The clocks do not fit, so no time joins; the kinds would fit, and are no proof then."""
    rows = entries(numbered([call(), call()]))

    assert pairs(join([op("all_reduce", 700), op("all_reduce", 701)], rows)) == {}


def test_where_time_and_order_disagree_nothing_is_joined() -> None:
    """§11.3: the last op has no entry, so by order each entry is the next op: told twice, not made one."""
    rows = entries(numbered([call(), call()]))
    ops = [op("all_reduce", 0), op("all_reduce", 1), op("all_reduce", 1.6, length=50)]

    joined = join(ops, rows)

    assert (pairs(joined), joined.disagreeing) == ({}, 2)
    assert joined.calls.height == 5


def test_an_op_that_no_kineto_trace_saw_shifts_no_order() -> None:
    """An op without times, of a node that Kineto has no span for, cannot be put among the others."""
    rows = entries(numbered([call(), call(), call()]))
    ops = [op("all_reduce", 0), op("all_reduce"), op("all_reduce", 2)]

    joined = join(ops, rows)

    assert (pairs(joined), joined.disagreeing) == ({0: 0, 2: 2}, 0)


def test_an_execution_trace_alone_is_joined_where_its_kinds_fit_once() -> None:
    """§11.3 as in fr_et_kineto: one call was made before the trace began; nothing was recorded after it."""
    rows = entries(numbered([gloo(), gloo(), gloo("broadcast"), gloo("barrier")]))
    ops = [op(kind) for kind in ("all_reduce", "broadcast", "send", "barrier")]

    joined = join(ops, rows)

    assert (pairs(joined), ways(joined)) == ({1: 0, 2: 1, 3: 3}, {"order"})


def test_an_execution_trace_that_ended_before_the_job_is_joined_in_the_middle() -> None:
    """The dump is made at the end of the job, the trace may be of its first steps."""
    rows = entries(numbered([call(), call("broadcast"), call(), call(), call()]))

    assert pairs(join([op("all_reduce"), op("broadcast")], rows)) == {0: 0, 1: 1}


def test_equal_steps_are_not_joined_by_order() -> None:
    """Two calls out of four equal ones: the last two are as likely as the first, and nothing says which."""
    rows = entries(numbered([call()] * 4))

    joined = join([op("all_reduce"), op("all_reduce")], rows)

    assert pairs(joined) == {}
    assert joined.calls.height == 6


def test_order_says_nothing_where_the_ring_has_dropped_records() -> None:
    """The one broadcast in the ring need not be that of the trace, which may be among those dropped."""
    rows = entries(numbered([call("broadcast"), call(), call("broadcast"), call()])[1:])

    assert pairs(join([op("broadcast"), op("all_reduce")], rows)) == {}


def test_order_says_nothing_where_records_have_no_numbers() -> None:
    """Before 1.4 entries have no record_id: nobody knows whether the ring has dropped any."""
    rows = entries([row | {"record_id": None} for row in numbered([call()])])

    joined = join([op("all_reduce")], rows)

    assert joined.calls["joined_by"].to_list() == [None, None]


def test_a_joined_call_keeps_its_own_words_and_learns_what_only_the_dump_knows() -> None:
    """The trace's time, type and word stay; state, record and site are the dump's; others learn nothing."""
    rows = entries(numbered([waiting(site="train.py:7", dtype="Half")]))
    ops = [op("all_reduce", 0, dtype="float", op_name="c10d::allreduce_"), op("barrier", 5)]

    (first, second) = join(ops, rows).calls.rows(named=True)

    assert (first["start_ns"], first["dtype"], first["op_name"]) == (
        START_NS - 100,
        "float",
        "c10d::allreduce_",
    )
    assert (first["state"], first["record_id"], first["site"]) == ("scheduled", 0, "train.py:7")
    assert (first["source"], second["state"], second["record_id"]) == ("kineto", None, None)


def test_the_call_of_an_execution_trace_has_the_time_of_its_entry() -> None:
    """An execution trace holds no times; the recorder's is the only one there is."""
    joined = join([op("all_reduce")], entries(numbered([call()])))

    assert joined.calls.select("start_ns", "duration_ns").rows() == [(START_NS, None)]


def test_without_traces_the_entries_are_the_calls() -> None:
    """Each entry becomes a call of its own, in order of recording."""
    joined = join([], entries(numbered([call(), send(0, 1)])))

    assert joined.calls.select("name", "collective_kind", "record_id", "host_n", "source").rows() == [
        ("nccl:all_reduce", "all_reduce", 0, None, "flight_recorder"),
        ("nccl:send 0->1", "send", 1, None, "flight_recorder"),
    ]


def test_without_entries_the_calls_stay() -> None:
    """No dump, or one without entries."""
    joined = join([op("all_reduce", 0)], read(dump_file(dump(0, []))))

    assert (joined.calls.height, joined.rows, read().height) == (1, {}, 0)


def test_each_record_of_a_process_dumped_twice_is_one_entry() -> None:
    """§2: pickle and JSON of one rank; the further state, the site that only the pickle has."""
    pickled = dump_file(dump(0, [waiting(site="a.py:1"), waiting(site="a.py:2")]), "run/rank_0")
    text = dump_file(dump(0, [call(), waiting(), waiting()]), "run/rank_0.json")

    for files in ((pickled, text), (text, pickled)):
        rows = read(*files)
        assert rows.select("record_id", "state", "site").rows() == [
            (0, "completed", "a.py:1"),
            (1, "scheduled", "a.py:2"),
            (2, "scheduled", None),
        ]
        names = [files[place].path for place in rows["trace_file"]]
        assert names == ["run/rank_0.json", "run/rank_0", "run/rank_0.json"]


@pytest.mark.parametrize(
    ("less", "more"),
    [("scheduled", "started"), ("started", "completed"), (None, "scheduled")],
)
def test_the_further_state_of_two_dumps_counts(less: str | None, more: str) -> None:
    """A call is scheduled, then started, then completed."""
    files = [dump_file(dump(0, [call(state=state)]), path) for state, path in ((less, "a"), (more, "b"))]

    assert read(*files)["state"].to_list() == [more]


def test_what_is_retired_in_one_dump_has_ended() -> None:
    """gloo never says completed."""
    files = [dump_file(dump(0, [gloo(retired=ended)]), path) for ended, path in ((False, "a"), (True, "b"))]

    assert read(*files)["retired"].to_list() == [True]


def test_entries_without_numbers_are_never_taken_for_one() -> None:
    """Before 1.4 there is no record_id: two dumps may hold different calls, of no or of equal time."""
    rows = [row | {"record_id": None, "start_ns": None} for row in numbered([call(), call("broadcast")])]
    files = []
    for path in ("a", "b"):
        files.append(dump_file(dump(0, []), path))
        files[-1].tables["flight_entries"] = entries(rows)

    assert read(files[0])["collective_kind"].to_list() == ["all_reduce", "broadcast"]
    assert read(*files).height == 4


def test_entries_stay_in_the_order_of_the_file_where_one_has_no_number() -> None:
    """As matching takes them: an order by number needs all numbers."""
    made = [
        row | {"record_id": number} for row, number in zip(numbered([call()] * 3), (5, None, 4), strict=True)
    ]
    file = dump_file(dump(0, []))
    file.tables["flight_entries"] = entries(made)

    assert read(file)["record_id"].to_list() == [5, None, 4]


def test_records_of_equal_number_and_other_time_are_two() -> None:
    """Two processes of one rank: matching refuses them as two jobs, and nothing is mixed before."""
    again = dump(0, [call()])
    again.entries = again.entries.with_columns(pl.col("start_ns") + 1)

    assert read(dump_file(dump(0, [call()]), "a"), dump_file(again, "b")).height == 2


@st.composite
def recordings(draw: st.DrawFn) -> tuple[list[Row], pl.DataFrame]:
    """Draw what a process called, what its ring kept, and what its trace saw of it.

    Which call each is, stands in `tag` of the ops and in `order` of the entries.
    """
    some = draw(st.sampled_from((KINDS[:1], KINDS[:2], KINDS)))
    kinds = draw(st.lists(st.sampled_from(some), min_size=2, max_size=9))
    is_gloo, has_times, has_numbers = (draw(st.booleans()) for _ in range(3))
    transfers = {"send": send(0, 1), "recv": recv(1, 0)}
    collective = gloo if is_gloo else call
    rows = numbered([transfers.get(kind) or collective(kind) for kind in kinds])
    first = draw(st.integers(0, len(rows) - 1))
    last = draw(st.integers(first + 1, len(rows)))
    ops = []
    for place in range(first, last):
        has_number = has_numbers and not rows[place]["is_p2p"]
        said = GROUP | {"collective_seq_id": rows[place]["collective_seq_id"]} if has_number else {}
        ops.append(op(kinds[place], place if has_times else None) | said | {"tag": place})
    recorded = [row for row in rows if not (is_gloo and row["is_p2p"])]
    made = [row | {"record_id": place} for place, row in enumerate(recorded)]
    return ops, entries(made[draw(st.integers(0, max(0, len(made) - 1))) :])


@settings(max_examples=300)
@given(recordings())
def test_what_is_joined_is_one_call_whatever_ring_and_window(case: tuple[list[Row], pl.DataFrame]) -> None:
    """An op is the entry of the call it was, or of none; no entry is lost, no call is told of twice."""
    ops, rows = case

    joined = join(ops, rows)

    for entry, (place, _) in joined.rows.items():
        assert rows["order"][entry] == ops[place]["tag"]
        assert rows["collective_kind"][entry] == ops[place]["collective_kind"]
    assert len({place for place, _ in joined.rows.values()}) == len(joined.rows)
    assert joined.calls.height == len(ops) + rows.height - len(joined.rows)
    records = joined.calls["record_id"].drop_nulls().sort().to_list()
    assert records == rows["record_id"].sort().to_list()
    assert joined.calls["joined_by"].count() == len(joined.rows)


@given(st.lists(st.sampled_from(("scheduled", "started", "completed")), min_size=1, max_size=4), st.data())
def test_the_order_of_dumps_changes_nothing(states: list[str], data: st.DataObject) -> None:
    """Any number of dumps of one process, each with some of its records."""
    files = [
        dump_file(dump(0, [call(state=state, site=f"{state}.py:1")] * 4, first=place), f"run/{place}")
        for place, state in enumerate(states)
    ]
    shuffled = data.draw(st.permutations(files))

    one, other = read(*files), read(*shuffled)

    assert one.drop("trace_file").equals(other.drop("trace_file"))
    assert [files[n].path for n in one["trace_file"]] == [shuffled[n].path for n in other["trace_file"]]
    assert one["record_id"].to_list() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("dtypes", "size"),
    [(["Float"], 64), (["BFloat16"], 32), (["Float", "Float"], 64), (["Float", "Half"], None)],
)
def test_bytes_are_elements_by_the_size_of_their_type(dtypes: list[str], size: int | None) -> None:
    """16 elements; where inputs are of several types, their common count tells no bytes."""
    row = call() | {"in_dtypes": dtypes, "dtype": dtypes[0], "in_msg_nelems": 16}
    facts = {"kind": "flight_recorder", "name": "rank_0"}

    found = read_entries([FileRecords("rank_0", facts, {"flight_entries": entries(numbered([row]))})])

    assert found["size_bytes"].to_list() == [size]
