"""What the catalogue says of devices and launches on dlrm_8r, against the raw files of its eight ranks.

Every expected value is counted here from the JSON by plain Python (raw_traces.py): kernels are the events of
category kernel, NCCL's those with nccl in their name, copies gpu_memcpy; launches join by correlation.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from tests.integration.archives import Archive
from tests.integration.raw_traces import DEVICE, RUNTIME, Event, Rank, covered, read_ranks

pytestmark = pytest.mark.data
DLRM = "public/dlrm_8r"


@pytest.fixture(scope="module")
def ranks(data_dir: Path) -> list[Rank]:
    """Return the eight ranks as plain Python reads them."""
    folder = data_dir / DLRM
    return read_ranks(
        (folder / f"dlrm_eg_{rank}.json.gz", next(folder.glob(f"worker{rank}_*"))) for rank in range(8)
    )


def is_nccl(op: Event) -> bool:
    """Return whether a device op communicates."""
    return "nccl" in op.name.lower()


def work(op: Event) -> str:
    """Return what a device op does, as HTA tells kernels apart."""
    if is_nccl(op):
        return "communication"
    return "computation" if op.cat == "kernel" else "memory"


def computing(rank: Rank) -> list[Event]:
    """Return the device ops that compute."""
    return [op for op in rank.of(*DEVICE) if work(op) == "computation"]


def tuples(rows: list[dict[str, Any]], *columns: str) -> list[tuple[Any, ...]]:
    """Return some columns of rows."""
    return [tuple(row[column] for column in columns) for row in rows]


def test_device_time(archive: Archive, ranks: list[Rank]) -> None:
    """Computing is what kernels cover that are not NCCL's; idle what nothing covers."""
    expected = []
    for number, rank in enumerate(ranks):
        ops = rank.of(*DEVICE)
        span = max(op.end for op in ops) - min(op.start for op in ops)
        compute, busy = covered(computing(rank)), covered(ops)
        expected.append((number, span, compute, busy - compute, span - busy))

    rows = archive.rows(DLRM, "time/show_device_time")

    assert tuples(rows, "rank", "span_ns", "computing_ns", "other_ns", "idle_ns") == expected
    assert rows[0]["idle_percent"] == 100 * expected[0][4] // expected[0][1]


def test_overlap(archive: Archive, ranks: list[Rank]) -> None:
    """Overlapped is what NCCL and computing cover each, less what they cover together."""
    expected = []
    for number, rank in enumerate(ranks):
        nccl = [op for op in rank.of(*DEVICE) if is_nccl(op)]
        together = covered([*nccl, *computing(rank)])
        expected.append((number, covered(nccl), covered(nccl) + covered(computing(rank)) - together))

    rows = archive.rows(DLRM, "time/show_overlap")

    assert tuples(rows, "rank", "communicating_ns", "overlapped_ns") == expected


def test_exposed_communication_adds_up_to_the_time_of_the_kernels(
    archive: Archive, ranks: list[Rank]
) -> None:
    """Per rank: exposed + overlapped = the durations of its NCCL kernels; dlrm has one kernel a call."""
    expected = {n: sum(op.lasts for op in rank.of("kernel") if is_nccl(op)) for n, rank in enumerate(ranks)}

    found: Counter[int] = Counter()
    for row in archive.rows(DLRM, "communication/show_exposed_communication"):
        assert row["exposed_ns"] + row["overlapped_ns"] == row["duration_ns"]
        found[row["rank"]] += row["duration_ns"]

    assert found == expected


def test_work(archive: Archive, ranks: list[Rank]) -> None:
    """Device ops and their time by what they do."""
    expected = {}
    for number, rank in enumerate(ranks):
        for kind in ("computation", "communication", "memory"):
            lasts = [op.lasts for op in rank.of(*DEVICE) if work(op) == kind]
            expected[number, kind] = (len(lasts), sum(lasts), sum(lasts) // len(lasts), max(lasts))

    rows = archive.rows(DLRM, "time/show_work")

    found = tuples(rows, "device_ops", "duration_ns", "mean_ns", "longest_ns")
    assert dict(zip(tuples(rows, "rank", "work"), found, strict=True)) == expected
    assert archive.rows(DLRM, "time/show_work", rank=3) == [row for row in rows if row["rank"] == 3]


def test_kernels_by_name(archive: Archive, ranks: list[Rank]) -> None:
    """The five names of rank 0 with the most time, all their numbers."""
    lasts = defaultdict(list)
    for op in ranks[0].of(*DEVICE):
        lasts[op.name].append(op.lasts)
    expected = sorted(
        (
            (name, len(each), sum(each), sum(each) // len(each), min(each), max(each))
            for name, each in lasts.items()
        ),
        key=lambda row: (-row[2], row[0]),
    )[:5]

    rows = archive.rows(DLRM, "time/show_kernels_by_name", rank=0, count=5)

    columns = ("name", "device_ops", "duration_ns", "mean_ns", "shortest_ns", "longest_ns")
    assert tuples(rows, *columns) == expected


def test_longest_kernels(archive: Archive, ranks: list[Rank]) -> None:
    """The ten device ops of all ranks that compute longest; which of equal ones comes is open."""
    every = [op.lasts for rank in ranks for op in computing(rank)]

    rows = archive.rows(DLRM, "time/show_longest_kernels", count=10, work="computation")

    assert [row["duration_ns"] for row in rows] == sorted(every, reverse=True)[:10]
    for row in rows:
        own = computing(ranks[row["rank"]])
        assert (row["name"], row["start_ns"], row["stream"]) in {(op.name, op.start, op.lane) for op in own}


def test_streams(archive: Archive, ranks: list[Rank]) -> None:
    """Device ops and the sum of their times, stream by stream."""
    expected = []
    for number, rank in enumerate(ranks):
        for stream in sorted({op.lane for op in rank.of(*DEVICE)}):
            ops = [op for op in rank.of(*DEVICE) if op.lane == stream]
            expected.append(
                (number, stream, len(ops), sum(op.lasts for op in ops), min(op.start for op in ops))
            )

    rows = archive.rows(DLRM, "time/show_streams")

    assert tuples(rows, "rank", "stream", "device_ops", "busy_ns", "start_ns") == expected


def gaps(rank: Rank, stream: int) -> list[tuple[int, str]]:
    """Return the idle times of a stream and what HTA says of each, with its limit of 30 ns."""
    launch = {id(op): call.start for call, op in rank.launches}
    out, reach = [], None
    for op in sorted((op for op in rank.of(*DEVICE) if op.lane == stream), key=lambda op: op.start):
        if reach is not None and op.start > reach:
            begun = launch.get(id(op))
            late = begun is not None and begun > reach
            short = "kernel wait" if op.start - reach < 30 else "other"
            out.append(
                (op.start - reach, "launch unknown" if begun is None else "host wait" if late else short)
            )
        reach = max(op.end, reach or 0)
    return out


def test_idle_streams(archive: Archive, ranks: list[Rank]) -> None:
    """Idle time by reason, stream by stream; with the busy time it is the span."""
    expected = {}
    for number, rank in enumerate(ranks):
        for stream in {op.lane for op in rank.of(*DEVICE)}:
            sums: Counter[str] = Counter()
            for idle, reason in gaps(rank, stream):
                sums[reason] += idle
            busy = covered(op for op in rank.of(*DEVICE) if op.lane == stream)
            reasons = tuple(sums[r] for r in ("host wait", "kernel wait", "other", "launch unknown"))
            expected[number, stream] = (busy, *reasons)

    rows = archive.rows(DLRM, "time/show_idle_streams")

    columns = ("busy_ns", "host_wait_ns", "kernel_wait_ns", "other_ns", "unknown_ns")
    assert dict(zip(tuples(rows, "rank", "stream"), tuples(rows, *columns), strict=True)) == expected
    assert all(row["span_ns"] == row["busy_ns"] + row["idle_ns"] for row in rows)


def test_idle_gaps(archive: Archive, ranks: list[Rank]) -> None:
    """The fifteen longest of rank 2, each with its reason; which of equal ones comes is open."""
    every = [gap for stream in {op.lane for op in ranks[2].of(*DEVICE)} for gap in gaps(ranks[2], stream)]

    rows = archive.rows(DLRM, "time/show_idle_gaps", rank=2, count=15)

    assert [row["idle_ns"] for row in rows] == sorted((idle for idle, _ in every), reverse=True)[:15]
    assert set(tuples(rows, "idle_ns", "reason")) <= set(every)


def test_launch_delays(archive: Archive, ranks: list[Rank]) -> None:
    """From the start of the call to that of the device op: the twelve longest of all ranks."""
    every = [op.start - call.start for rank in ranks for call, op in rank.launches]

    rows = archive.rows(DLRM, "time/show_launch_delays", count=12)

    assert [row["delay_ns"] for row in rows] == sorted(every, reverse=True)[:12]


def test_launch_delay_by_name(archive: Archive, ranks: list[Rank]) -> None:
    """Number, delays and times of every name on rank 5."""
    pairs = defaultdict(list)
    for call, op in ranks[5].launches:
        pairs[op.name].append((call, op))
    expected = {
        name: (
            len(each),
            sum(op.lasts for _, op in each),
            sum(call.lasts for call, _ in each),
            min(op.start - call.start for call, op in each),
            max(op.start - call.start for call, op in each),
            sum(op.lasts < call.lasts for call, op in each),
        )
        for name, each in pairs.items()
    }

    rows = archive.rows(DLRM, "time/show_launch_delay_by_name", rank=5, count=1_000)

    columns = (
        "device_ops",
        "duration_ns",
        "call_ns",
        "shortest_delay_ns",
        "longest_delay_ns",
        "shorter_than_call",
    )
    assert {row["name"]: tuple(row[column] for column in columns) for row in rows} == expected


def test_runtime_calls(archive: Archive, ranks: list[Rank]) -> None:
    """Calls of rank 0 by name: number, time, and how many bear the correlation of a device op."""
    launching = {call.correlation for call, _ in ranks[0].launches}
    expected = {
        name: (len(calls), sum(c.lasts for c in calls), sum(c.correlation in launching for c in calls))
        for name in {call.name for call in ranks[0].of(*RUNTIME)}
        for calls in [[call for call in ranks[0].of(*RUNTIME) if call.name == name]]
    }

    rows = archive.rows(DLRM, "linking/count_runtime_calls", rank=0)

    assert {r["name"]: (r["calls"], r["duration_ns"], r["launching"]) for r in rows} == expected


def test_link_rates(archive: Archive, ranks: list[Rank]) -> None:
    """Device ops with a call of their correlation, and with a host op that the call starts in."""
    expected = []
    for number, rank in enumerate(ranks):
        linked = [op for call, op in rank.launches if rank.caller(call)]
        total = len(rank.of(*DEVICE))
        expected.append((number, total, len(rank.launches), len(linked), sum(op.lasts for op in linked)))

    rows = archive.rows(DLRM, "linking/show_link_rates")

    assert tuples(rows, "rank", "device_ops", "launched", "with_host_op", "linked_ns") == expected


def test_unlinked_kernels(archive: Archive, ranks: list[Rank]) -> None:
    """Those that no host op of the file launched, on every rank."""
    expected: Counter[int] = Counter()
    for number, rank in enumerate(ranks):
        expected[number] = len(rank.of(*DEVICE)) - sum(bool(rank.caller(call)) for call, _ in rank.launches)

    rows = archive.rows(DLRM, "linking/show_unlinked_kernels", count=100_000)

    assert Counter(row["rank"] for row in rows) == +expected


def test_unanswered_launches(archive: Archive, ranks: list[Rank]) -> None:
    """Calls named …Launch… without a device op of their correlation, in order of start."""
    expected = [
        (number, call.name, call.start)
        for number, rank in enumerate(ranks)
        for call in sorted(rank.of(*RUNTIME), key=lambda call: call.start)
        if "Launch" in call.name and call.correlation not in {op.correlation for op in rank.of(*DEVICE)}
    ]

    rows = archive.rows(DLRM, "linking/show_unanswered_launches", count=100_000)

    assert sorted(tuples(rows, "rank", "name", "start_ns")) == sorted(expected)


def direct(rank: Rank) -> dict[str, list[Event]]:
    """Return the device ops that the host ops of each name launch themselves."""
    out = defaultdict(list)
    for call, op in rank.launches:
        caller = rank.caller(call)
        if caller:
            out[caller.name].append(op)
    return out


def test_device_time_of_ops(archive: Archive, ranks: list[Rank]) -> None:
    """Of the names on rank 0: how many device ops they launch themselves, and for how long."""
    expected = {n: (len(ops), sum(op.lasts for op in ops)) for n, ops in direct(ranks[0]).items()}

    rows = archive.rows(DLRM, "linking/show_device_time_of_ops", rank=0, count=1_000)

    assert {row["name"]: (row["device_ops"], row["device_ns"]) for row in rows} == expected


def test_op_kernel_pairs(archive: Archive, ranks: list[Rank]) -> None:
    """Over all ranks: which op launched which device op, how often, for how long."""
    pairs: dict[tuple[str, str], list[int]] = defaultdict(list)
    for rank in ranks:
        for name, ops in direct(rank).items():
            for op in ops:
                pairs[name, op.name].append(op.lasts)

    rows = archive.rows(DLRM, "linking/show_kernels_of_ops")

    found = {(r["op"], r["kernel"]): (r["launches"], r["device_ns"]) for r in rows}
    assert found == {pair: (len(lasts), sum(lasts)) for pair, lasts in pairs.items()}


def below(rank: Rank, name: str) -> list[Event]:
    """Return the device ops launched somewhere inside an op of a name, by the enclosing of times."""
    out = []
    for call, op in rank.launches:
        around = rank.caller(call)
        while around is not None and around.name != name:
            around = around.inside
        if around is not None:
            out.append(op)
    return out


@pytest.mark.parametrize("name", ["aten::linear", "aten::bmm", "record_param_comms"])
def test_kernels_under_the_ops_of_a_name(archive: Archive, ranks: list[Rank], name: str) -> None:
    """Device ops of rank 0 launched in an op of the name or in what it calls."""
    lasts = defaultdict(list)
    for op in below(ranks[0], name):
        lasts[op.name].append(op.lasts)
    assert lasts

    rows = archive.rows(DLRM, "linking/count_kernels_under_ops", name=name, rank=0)

    found = {row["kernel"]: (row["launches"], row["device_ns"]) for row in rows}
    assert found == {kernel: (len(each), sum(each)) for kernel, each in lasts.items()}


def test_kernels_under_one_op_and_the_way_back(archive: Archive, ranks: list[Rank]) -> None:
    """The first aten::linear of rank 0 by uid: its device ops; from one of them the way up leads to it."""
    first = min((op for op in ranks[0].host_ops if op.name == "aten::linear"), key=lambda op: op.start)
    inside = [
        op
        for call, op in ranks[0].launches
        if first.start <= call.start < first.end and call.lane == first.lane
    ]
    named = archive.rows(DLRM, "structure/show_ops_named_like", part="aten::linear", rank=0, kind="HostOp")
    uid = next(row["uid"] for row in named if row["start_ns"] == first.start)

    rows = archive.rows(DLRM, "linking/show_kernels_under_op", op=uid)

    assert sorted(tuples(rows, "name", "start_ns")) == sorted((op.name, op.start) for op in inside)
    for query, asked in (("linking/show_kernel_path", "kernel"), ("structure/show_ancestors", "op")):
        way = archive.rows(DLRM, query, **{asked: rows[0]["uid"]})
        assert way[0]["kind"] == "RuntimeCall"
        assert uid in {row["uid"] for row in way}


def test_kernels_by_launch(archive: Archive, ranks: list[Rank]) -> None:
    """Launched are those whose correlation a call has; the others lie before the window of their rank."""
    launched = [(n, "launched", len(rank.launches)) for n, rank in enumerate(ranks)]
    before = [
        (n, "before_window", len(rank.of(*DEVICE)) - len(rank.launches)) for n, rank in enumerate(ranks)
    ]

    rows = archive.rows(DLRM, "linking/count_kernels_by_launch")

    found = tuples(rows, "rank", "launch_class", "device_ops")
    assert found == sorted([*launched, *(row for row in before if row[2])])


def test_records_by_kind_of_file(archive: Archive, ranks: list[Rank]) -> None:
    """expected.json counts nodes and events; kept of Kineto are host ops, runtime calls and device ops."""
    files = archive.expected(DLRM)["files"].values()
    nodes = [file["nodes"] for file in files if file["kind"] == "et"]
    kept = sum(len(rank.events) for rank in ranks)

    et, kineto, *others = archive.rows(DLRM, "health/count_records")

    assert (et["kind"], et["files"], et["read"], et["kept"]) == ("et", 8, sum(nodes), sum(nodes))
    assert (kineto["kind"], kineto["files"], kineto["kept"]) == ("kineto", 8, kept)
    assert kineto["read"] == sum(file["events"] for file in files if file["kind"] == "kineto")
    assert kineto["left_out"] == kineto["read"] - kept
    assert [row["kind"] for row in others] == ["not_a_trace"]
