from __future__ import annotations

from typing import Any

import orjson
import pytest

from graphstore.errors import RankError, UsageError
from graphstore.model.records import FileRecords
from graphstore.readers.ranks import assign_ranks, rank_in_dump_name, rank_in_name


def trace(name: str, kind: str = "et", **facts: Any) -> FileRecords:
    """Return a trace file with nothing in it."""
    return FileRecords(f"run/{name}", {"name": name, "kind": kind} | facts)


def ranks(records: list[FileRecords]) -> list[tuple[int | None, str | None]]:
    """Return (rank, origin) of each file."""
    return [(record.facts.get("rank"), record.facts.get("rank_origin")) for record in records]


@pytest.mark.parametrize(
    ("name", "rank"),
    [
        ("et_rank3.json.gz", 3),
        ("kineto_7.json", 7),
        ("nccl_trace_rank_host-02_5", 5),
        ("comm_lib_trace_rank_7", 7),
        ("5.f2", 5),
        ("worker0_step_12.1694128201545.pt.trace.json.gz", 0),
        ("rank0.1694128201545.pt.trace.json", 0),
        ("sampled_rank-11.json.gz", 11),
        ("custom_allreduce.4.et", 4),
        ("demo_4r-3080.1.et", 1),
        ("run_v1.2.3.et.gz", 3),
        ("et_2024-03-21_2.json", 2),
        ("et_20240321_185423_2.json", 2),
        ("et_2_20240321-185423.json", 2),
        ("1.0.2-chakra.0.0.4.json.gz", None),
        ("resnet_1gpu_et.json.gz", None),
        ("Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz", None),
        ("sglang_Qwen3-8B_decode.json.gz", None),
        ("rank_not_found.json.gz", None),
        ("trace.json", None),
    ],
)
def test_the_rank_in_a_file_name(name: str, rank: int | None) -> None:
    """The number after rank or worker, else the last one that is no version, date, time or size."""
    assert rank_in_name(name, alone=True) == rank


def test_a_number_right_behind_letters_counts_among_several_files_only() -> None:
    """trace3.json is rank 3 among others, but h100.json alone is not rank 100."""
    assert rank_in_name("trace3.json") == 3
    assert rank_in_name("trace_h100.json", alone=True) is None


def test_the_process_id_in_a_name_is_no_rank() -> None:
    """Profilers write host and pid into names; the pid is known from the content."""
    assert rank_in_name("vm_21601.json", pid=21601) is None
    assert rank_in_name("vm_21601.json", pid=7) == 21601


def test_a_person_is_believed_first_then_the_content_then_the_name() -> None:
    """Each file gets the best rank there is, and says where it is from."""
    records = [trace("et_0.json", rank=5), trace("et_1.json", rank=6), trace("et_2.json"), trace("et_3.json")]

    assign_ranks(records, {"run/et_0.json": 8, "et_3.json": 9})

    assert ranks(records) == [(8, "flag"), (6, "content"), (2, "file_name"), (9, "flag")]


def test_a_trace_of_the_same_process_tells_the_rank() -> None:
    """An ET without a rank takes that of the Kineto trace with its pid, before its name is asked."""
    records = [
        trace("et_4.json", pid=70),
        trace("et_5.json", pid=80),
        trace("k_0.json", "kineto", pid=70, rank=0),
        trace("k_1.json", "kineto", pid=80, rank=1),
    ]

    assign_ranks(records, {})

    assert ranks(records)[:2] == [(0, "content"), (1, "content")]


def test_a_pid_met_on_two_hosts_tells_nothing() -> None:
    """Equal pids on two hosts do not join; the names are asked instead."""
    records = [
        trace("et_4.json", pid=70),
        trace("et_5.json", pid=70),
        trace("k_4.json", "kineto", pid=70, rank=4),
        trace("k_5.json", "kineto", pid=70, rank=5),
    ]

    assign_ranks(records, {})

    assert ranks(records)[:2] == [(4, "file_name"), (5, "file_name")]


@pytest.mark.parametrize("known", [None, 3])
def test_the_only_trace_of_a_kind_is_assumed_to_be_of_the_rank_there_is(known: int | None) -> None:
    """One file and no rank anywhere is rank 0; beside one known rank it is that one's."""
    records = [trace("et.json"), trace("kineto.json", "kineto", rank=known)]

    assign_ranks(records, {})

    assert ranks(records)[0] == (known or 0, "assumed")


def test_what_is_no_trace_or_broken_needs_no_rank() -> None:
    """README files, broken traces and dumps without a number are left as they are."""
    records = [
        trace("README.md", "not_a_trace"),
        trace("et_0.json"),
        trace("broken_0.json", problem="cut"),
        trace("dump", "flight_recorder"),
    ]

    assign_ranks(records, {})

    assert ranks(records) == [(None, None), (0, "file_name"), (None, None), (None, None)]


def test_several_files_without_a_rank_say_how_to_name_them() -> None:
    """With two traces of a kind nothing is assumed."""
    with pytest.raises(RankError, match=r"run/b\.json: .*--rank b\.json=N"):
        assign_ranks([trace("a_0.json"), trace("b.json")], {})


def test_two_files_of_one_rank_and_kind_are_named_both() -> None:
    """An ET and a merged ET are one kind; an ET and a Kineto trace are not."""
    with pytest.raises(RankError, match=r"run/a_0\.json \(.* and run/b_0\.json .*rank 0"):
        assign_ranks([trace("a_0.json"), trace("b_0.json", "et_plus")], {})
    assign_ranks([trace("a_0.json"), trace("b_0.json", "kineto")], {})


def test_two_dumps_of_a_rank_are_no_clash() -> None:
    """One process dumped twice, or two jobs in a folder: matching tells them apart."""
    records = [trace("job1_0", "flight_recorder"), trace("job2_0", "flight_recorder")]

    assign_ranks(records, {})

    assert ranks(records) == [(0, "file_name"), (0, "file_name")]


def test_the_entries_of_a_dump_without_a_rank_are_left_out_by_reason() -> None:
    """Nobody's calls become no nodes; the ledger says so and adds up. The dump with a rank keeps its own."""
    nobody, known = trace("dump.pt", "flight_recorder"), trace("rank_3", "flight_recorder")
    for record in (nobody, known):
        record.tally.read, record.tally.kept = 5, 4
        record.tally.leave_out("entry without profiling_name", 1)
        record.close_ledger()

    assign_ranks([nobody, known], {})

    assert ranks([nobody, known]) == [(None, None), (3, "file_name")]
    assert (nobody.facts["records_read"], nobody.facts["kept"]) == (5, 0)
    assert orjson.loads(nobody.facts["left_out"]) == {
        "entry without profiling_name": 1,
        "the rank of the dump is not known": 4,
    }
    assert (known.facts["records_read"], known.facts["kept"]) == (5, 4)
    for record in (nobody, known):
        record.tally.check(record.path)


def test_an_empty_dump_without_a_rank_leaves_nothing_out() -> None:
    """No entry, so no reason; and a person may say whose it is."""
    record = trace("dump.pt", "flight_recorder")

    assign_ranks([record], {})
    assert (record.facts["kept"], record.tally.left_out.get("the rank of the dump is not known", 0)) == (0, 0)

    assign_ranks([record], {"dump.pt": 2})
    assert ranks([record]) == [(2, "flag")]


@pytest.mark.parametrize(
    ("name", "rank"),
    [
        ("nccl_trace_rank_7", 7),
        ("nccl_trace_rank_host-02_5", 5),
        ("nccl_trace_rank_10.0.0.7_12", 12),
        ("nccl_trace_rank_node00_0", 0),
        ("_dump_14", 14),
        ("5.f2", 5),
        ("rank_3.json.gz", 3),
        ("trace3", 3),
        ("rank_3_2026-01-31.pkl", 3),
        ("rank_3_1758610505", 3),
        ("dump.pt2", None),
        ("flight.recorder", None),
    ],
)
def test_the_name_of_a_dump_ends_with_the_rank(name: str, rank: int | None) -> None:
    """Torch puts the rank behind a prefix that may hold a host with numbers."""
    assert rank_in_dump_name(name) == rank


def test_a_flag_for_no_file_is_an_error() -> None:
    """A misspelt name must not be passed over."""
    with pytest.raises(UsageError, match=r"--rank et\.json=1"):
        assign_ranks([trace("et_0.json")], {"et.json": 1})
