"""The catalogue's answers about communication are those that the files' own JSON gives, read by plain Python.

dlrm_8r: eight NCCL calls on each of eight ranks of one group; raw_calls.dlrm_calls says how they are read.
The ranks end together to a few µs in either order, so no clock is corrected, and kernels are compared as they
stand. tp_pp_4r (gloo): pairs of pipeline stages send to each other.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration import raw_calls
from tests.integration.answering import ENGINES, Archive, archive
from tests.integration.raw_calls import Call, last_start, together, transfers

pytestmark = pytest.mark.data

DLRM, PIPELINE = "dlrm_8r", "tp_pp_4r"
WORLD = "[0-7]"
RANKS = 8
BUS_FACTOR = {"all_reduce": 2 * 7 / 8, "all_to_all": 7 / 8}  # of 8 ranks; nccl-tests, doc/PERFORMANCE.md


@pytest.fixture(scope="module", params=ENGINES)
def asked(request: pytest.FixtureRequest, data_dir: Path) -> Iterator[Archive]:
    """Yield an archive with both runs, once on each engine."""
    yield from archive(request, [data_dir / "public" / DLRM, data_dir / "torch213" / PIPELINE])


@pytest.fixture(scope="module")
def calls(data_dir: Path) -> list[Call]:
    """Return the 64 calls of the dlrm run."""
    return raw_calls.dlrm_calls(data_dir / "public" / DLRM)


@pytest.fixture(scope="module")
def origin(data_dir: Path) -> int:
    """Return the earliest start of any event that is kept of dlrm: times count from it."""
    return raw_calls.dlrm_origin(data_dir / "public" / DLRM)


def split(call: Call, last: int) -> tuple[int, int]:
    """Return wait and transfer of a call: its time before the last rank entered, and after."""
    wait = min(max(last - call.start, 0), call.duration)
    return wait, call.duration - wait


def test_wait_and_transfer_add_up_to_the_kernel_time_on_every_rank(
    asked: Archive, calls: list[Call], origin: int
) -> None:
    """Eight ranks of dlrm, to the ns: each call's kernel in the JSON, cut where the last rank's began."""
    last = last_start(calls)

    rows = asked.dicts(DLRM, "show_wait_and_transfer")

    kernels = {(call.rank, call.seq): call for call in calls}
    assert len(rows) == len(kernels) == 64
    for row in rows:
        call = kernels[row["rank"], row["collective_seq_id"]]
        assert row["wait_ns"] + row["transfer_ns"] == row["duration_ns"] == call.duration
        assert (row["wait_ns"], row["transfer_ns"]) == split(call, last[call.seq])
        assert row["start_ns"] == call.start - origin
        assert row["collective_kind"] == call.kind
    by_rank = Counter({row["rank"]: 0 for row in rows})
    for row in rows:
        by_rank[row["rank"]] += row["wait_ns"] + row["transfer_ns"]
    assert by_rank == Counter({rank: sum(c.duration for c in calls if c.rank == rank) for rank in range(8)})


def test_one_rank_of_one_group_is_asked_for(asked: Archive) -> None:
    """The same rows as of all, those of the rank; none of a group that is not there."""
    every = asked.rows(DLRM, "show_wait_and_transfer")

    assert asked.rows(DLRM, "show_wait_and_transfer", rank=3, group=WORLD) == [r for r in every if r[0] == 3]
    assert asked.rows(DLRM, "show_wait_and_transfer", group="0[0-7]") == []


def test_each_rank_s_communication(asked: Archive, calls: list[Call]) -> None:
    """Calls, bytes and times are the sums of the rank's eight kernels and tensors."""
    last = last_start(calls)
    rows = []
    for rank in range(RANKS):
        own = [call for call in calls if call.rank == rank]
        parts = [split(call, last[call.seq]) for call in own]
        wait, transfer = (sum(part[side] for part in parts) for side in (0, 1))
        rows.append((rank, 8, sum(c.size for c in own), sum(c.duration for c in own), 8, wait, transfer))

    assert asked.rows(DLRM, "show_communication_by_rank") == rows
    totals = tuple(sum(row[place] for row in rows) for place in range(1, 7))
    assert asked.rows(DLRM, "show_communication_by_group") == [(WORLD, 8, *totals)]


def test_communication_by_kind_and_type(asked: Archive, calls: list[Call]) -> None:
    """Three all_reduces and two all_to_alls of floats, two of ints, one of longs on each rank."""
    found: dict[tuple[str, str], list[Call]] = defaultdict(list)
    for call in calls:
        found[call.kind, "long" if call.dtype == "long int" else call.dtype].append(call)
    rows = []
    for key, of in found.items():
        sizes = [call.size for call in of]
        elements, lasts = sum(call.elements for call in of), sum(call.duration for call in of)
        rows.append((*key, len(of), elements, sum(sizes), max(sizes), lasts))

    assert {key: len(of) for key, of in found.items()} == {
        ("all_to_all", "float"): 16,
        ("all_to_all", "long"): 8,
        ("all_to_all", "int"): 16,
        ("all_reduce", "float"): 24,
    }
    assert asked.rows(DLRM, "show_communication_by_kind") == sorted(rows, key=lambda row: (-row[4], row))


def test_messages_by_size(asked: Archive, calls: list[Call]) -> None:
    """Classes from one power of two to the next: 192 B lie between 128 and 256."""
    found: dict[tuple[str, int], list[Call]] = defaultdict(list)
    for call in calls:
        found[call.kind, 1 << (call.size.bit_length() - 1)].append(call)
    lasts: Callable[[list[Call]], list[int]] = lambda of: [call.duration for call in of]  # noqa: E731
    rows = [
        (*key, len(of), sum(call.size for call in of), sum(lasts(of)), min(lasts(of)), max(lasts(of)))
        for key, of in sorted(found.items())
    ]

    assert ("all_to_all", 128) in found
    assert asked.rows(DLRM, "show_communication_by_size") == rows


def test_bandwidth_is_counted_as_nccl_tests_do(asked: Archive, calls: list[Call]) -> None:
    """Size over time without waiting, times 2·7/8 or 7/8; #151 moved 1,576,964 B in 82 µs: 33.65 GB/s."""
    took, sizes = (
        transfers(calls),
        {seq: max(c.size for c in members) for seq, members in together(calls).items()},
    )
    kinds = {call.seq: call.kind for call in calls}

    rows = {row["name"]: row for row in asked.dicts(DLRM, "show_bandwidth")}

    assert len(rows) == 8
    for seq, kind in kinds.items():
        row = rows[f"{kind} #{seq}"]
        assert (row["size_bytes"], row["transfer_ns"], row["members"]) == (sizes[seq], took[seq], RANKS)
        assert row["algorithm_gb_s"] == pytest.approx(sizes[seq] / took[seq])
        assert row["bus_gb_s"] == pytest.approx(BUS_FACTOR[kind] * sizes[seq] / took[seq])
    assert rows["all_reduce #151"]["bus_gb_s"] == pytest.approx(1576964 / 82000 * 1.75)
    by_kind = {row["collective_kind"]: row for row in asked.dicts(DLRM, "show_bandwidth_by_kind")}
    for kind, row in by_kind.items():
        of = [seq for seq in kinds if kinds[seq] == kind]
        size, time = sum(sizes[seq] for seq in of), sum(took[seq] for seq in of)
        speeds = [BUS_FACTOR[kind] * sizes[seq] / took[seq] for seq in of]
        assert (row["collectives"], row["size_bytes"], row["transfer_ns"]) == (len(of), size, time)
        assert row["bus_gb_s"] == pytest.approx(BUS_FACTOR[kind] * size / time)
        assert row["slowest_bus_gb_s"] == pytest.approx(min(speeds))
        assert row["fastest_bus_gb_s"] == pytest.approx(max(speeds))
    assert set(by_kind) == {"all_reduce", "all_to_all"}


def test_who_comes_last_and_what_it_costs(asked: Archive, calls: list[Call]) -> None:
    """Rank 7 is last to five of eight; the cost is what the other seven waited in those."""
    last, cost, skew = last_start(calls), Counter[int](), Counter[int]()
    late = {
        seq: max(of, key=lambda call: (call.start, call.rank)).rank for seq, of in together(calls).items()
    }
    for seq, members in together(calls).items():
        cost[late[seq]] += sum(split(call, last[seq])[0] for call in members)
        skew[late[seq]] = max(skew[late[seq]], last[seq] - min(call.start for call in members))
    rows = [(WORLD, rank, of, 8, cost[rank], skew[rank]) for rank, of in Counter(late.values()).most_common()]

    assert Counter(late.values())[7] == 5
    assert asked.rows(DLRM, "show_stragglers") == sorted(rows, key=lambda row: -row[4])


def test_the_longest_waits(asked: Archive, calls: list[Call]) -> None:
    """Rank 1 waited 7,624 µs in the first all_to_all; the ten longest, in order."""
    last = last_start(calls)
    waits = sorted((split(call, last[call.seq])[0] for call in calls), reverse=True)

    rows = asked.dicts(DLRM, "show_longest_waits", count=10)

    assert [row["wait_ns"] for row in rows] == waits[:10]
    first = rows[0]
    assert (first["rank"], first["wait_ns"], first["last_rank"], first["name"]) == (
        1,
        7_624_000,
        7,
        "all_to_all #147",
    )
    of_rank = asked.rows(DLRM, "show_longest_waits", rank=7)
    assert len(of_rank) == 8
    assert {row[0] for row in of_rank} == {7}


def test_collectives_of_one_size_that_take_unlike_long(asked: Archive, calls: list[Call]) -> None:
    """Of one kind and size only the two all_to_alls of 24,576 B are twice there."""
    took = transfers(calls)
    same = [seq for seq, members in together(calls).items() if max(c.size for c in members) == 24_576]
    times = [took[seq] for seq in same]
    spread = max(times) - min(times)

    assert len(same) == 2
    assert asked.rows(DLRM, "show_varying_collectives") == [
        (WORLD, "all_to_all", 24_576, 2, min(times), sum(times) / 2, max(times), spread)
    ]


def test_communication_by_step_stream_and_caller(asked: Archive, calls: list[Call], origin: int) -> None:
    """All lies in ProfilerStep#10; the kernels say their stream; c10d's ops call record_param_comms."""
    by_step = asked.dicts(DLRM, "show_communication_by_step", rank=2)
    own = [call for call in calls if call.rank == 2]
    assert [(row["step"], row["calls"], row["duration_ns"]) for row in by_step] == [
        (10, 8, sum(call.duration for call in own))
    ]
    rows = []
    for kind in ("all_reduce", "all_to_all"):
        of = [call for call in own if call.kind == kind]
        begins, ends = min(call.start for call in of) - origin, max(call.end for call in of) - origin
        rows.append((2, 2, own[0].stream, kind, len(of), sum(c.duration for c in of), begins, ends))
    assert asked.rows(DLRM, "show_communication_by_stream", rank=2) == rows
    sizes = {k: sum(c.size for c in calls if c.kind == k) for k in BUS_FACTOR}
    lasts = {k: sum(c.duration for c in calls if c.kind == k) for k in BUS_FACTOR}
    called = "record_param_comms"
    assert asked.rows(DLRM, "show_communication_by_caller") == [
        ("c10d::alltoall_base_", called, "all_to_all", 40, sizes["all_to_all"], lasts["all_to_all"]),
        ("c10d::allreduce_", called, "all_reduce", 24, sizes["all_reduce"], lasts["all_reduce"]),
    ]


def test_bytes_between_ranks_of_an_all_to_all(asked: Archive, calls: list[Call]) -> None:
    """The splits of each call in bytes of its type; #148 has none: every rank gets the same part."""
    sent: Counter[tuple[int, int]] = Counter()
    for call in (call for call in calls if call.kind == "all_to_all"):
        for dst in range(RANKS):
            each = call.size // call.elements
            sent[call.rank, dst] += call.splits[dst] * each if call.splits else call.size // RANKS

    rows = asked.rows(DLRM, "show_traffic_matrix")

    assert rows == [(src, dst, 0, 0, 5, size) for (src, dst), size in sorted(sent.items())]
    assert len(rows) == 64


def test_sends_are_listed_and_summed(asked: Archive, data_dir: Path) -> None:
    """Stages 0 and 2, 1 and 3 send to each other, and nobody else: the calls of c10d::send in the traces."""
    traces = raw_calls.nodes(data_dir / "torch213" / PIPELINE, "et_rank*.json.gz")
    other = {0: 2, 2: 0, 1: 3, 3: 1}
    sizes: dict[int, list[int]] = {
        rank: [
            sum(tensor[3] * tensor[4] for tensor in raw_calls.tensors(node["inputs"]["values"]))
            for node in trace
            if node["name"] == "c10d::send"
        ]
        for rank, trace in traces.items()
    }

    found: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in asked.dicts(PIPELINE, "show_transfers"):
        found[row["src"]].append(row)

    assert {rank: sorted(row["size_bytes"] for row in rows) for rank, rows in found.items()} == {
        rank: sorted(of) for rank, of in sizes.items()
    }
    assert all(row["dst"] == other[rank] for rank, rows in found.items() for row in rows)
    matrix = [row for row in asked.rows(PIPELINE, "show_traffic_matrix") if row[2]]
    assert [row[:4] for row in matrix] == [(r, other[r], len(sizes[r]), sum(sizes[r])) for r in sorted(sizes)]
    only = asked.dicts(PIPELINE, "show_transfers", src=3, dst=1, count=2)
    assert [row["src"] for row in only] == [3, 3]


@pytest.mark.parametrize("query", ["show_wait_by_rank", "count_last_arrivals"])
def test_older_looks_say_the_same(asked: Archive, calls: list[Call], query: str) -> None:
    """Waits by rank go from each start to the last; skews by last rank are those of stragglers."""
    last = last_start(calls)
    waits = {
        rank: [last[call.seq] - call.start for call in calls if call.rank == rank] for rank in range(RANKS)
    }
    if query == "show_wait_by_rank":
        rows = [(WORLD, rank, 8, sum(of), max(of)) for rank, of in waits.items()]
        assert asked.rows(DLRM, query) == rows
    else:
        found = {row[1]: (row[2], row[4]) for row in asked.rows(DLRM, query)}
        assert found == {row[1]: (row[2], row[5]) for row in asked.rows(DLRM, "show_stragglers")}
