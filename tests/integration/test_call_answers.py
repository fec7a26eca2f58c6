"""What the catalogue says of single calls is what the JSON of their set says, read by plain Python.

dlrm_8r: NCCL calls whose files say group and number (raw_calls.py). The gloo sets of torch213 say neither: of
their calls only rank, kind, size, order and time are known. demo_4r: sends and recvs of two pipeline lanes.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.integration import raw_calls
from tests.integration.archives import Archive
from tests.integration.raw_calls import Call, last_start, ns, together, transfers

pytestmark = pytest.mark.data

DLRM, DEMO, PIPELINE = "public/dlrm_8r", "demo_4r", "torch213/tp_pp_4r"
SKIP, ORDER, SIZE = (f"torch213/uneven_{what}" for what in ("skip", "order", "size"))
WORLD = "[0-7]"
KINDS = {  # what torch calls an op of c10d, and what the catalogue calls it
    "_allgather_base_": "all_gather",
    "_reduce_scatter_base_": "reduce_scatter",
    "allgather_": "all_gather",
    "allreduce_": "all_reduce",
    "allreduce_coalesced_": "all_reduce",
    "alltoall_base_": "all_to_all",
    "broadcast_": "broadcast",
    "gather_": "gather",
    "recv_": "recv",
    "reduce_": "reduce",
    "scatter_": "scatter",
}


@pytest.fixture(scope="module")
def calls(data_dir: Path) -> list[Call]:
    """Return the 64 calls of the dlrm run."""
    return raw_calls.dlrm_calls(data_dir / DLRM)


def ask(archive: Archive, name: str, query: str, **parameters: Any) -> list[dict[str, Any]]:
    """Return the rows of a query about communication."""
    return archive.rows(name, f"communication/{query}", **parameters)


def tuples(rows: list[dict[str, Any]], *columns: str) -> list[tuple[Any, ...]]:
    """Return some columns of rows."""
    return [tuple(row[column] for column in columns) for row in rows]


def kind_of(op: str) -> str:
    """Return the catalogue's word for an op of c10d; it keeps `send` and `barrier`."""
    return KINDS.get(op, op)


def made(archive: Archive, name: str) -> dict[int, list[tuple[str, int]]]:
    """Return (kind, elements) of each rank's collectives in their order, from expected.json."""
    said = archive.expected(name)["ranks"]["calls_without_group"]["calls_in_order"]
    pairs = {int(rank): [call.split() for call in calls] for rank, calls in said.items()}
    return {rank: [(kind_of(op), int(count)) for op, count in calls] for rank, calls in pairs.items()}


# --- dlrm: group and number are in the files ---------------------------------------------------------------


def test_calls_by_group(archive: Archive, calls: list[Call]) -> None:
    """Number, bytes, first and last number of each rank's calls of a kind."""
    wanted = []
    for rank in range(8):
        for kind in ("all_reduce", "all_to_all"):
            of = [call for call in calls if (call.rank, call.kind) == (rank, kind)]
            numbers = [call.seq for call in of]
            sizes = sum(call.size for call in of)
            wanted.append((WORLD, rank, kind, len(of), sizes, min(numbers), max(numbers)))

    rows = ask(archive, DLRM, "count_calls_by_group")

    assert [tuple(row.values()) for row in rows] == wanted


def test_calls_in_order_of_time(archive: Archive, calls: list[Call], data_dir: Path) -> None:
    """Each rank's calls as their kernels ran; of one rank, kind or group only those."""
    origin = raw_calls.dlrm_origin(data_dir / DLRM)
    wanted = [
        (c.rank, c.kind, WORLD, c.seq, c.dtype, c.size, c.start - origin, c.duration)
        for c in sorted(calls, key=lambda call: (call.rank, call.start))
    ]
    columns = (
        *("rank", "collective_kind", "group", "collective_seq_id"),
        *("dtype", "size_bytes", "start_ns", "duration_ns"),
    )

    every = tuples(ask(archive, DLRM, "show_calls"), *columns)
    some = tuples(ask(archive, DLRM, "show_calls", rank=3, kind="all_reduce", group=WORLD), *columns)

    assert every == wanted
    assert some == [row for row in wanted if row[:2] == (3, "all_reduce")]
    assert ask(archive, DLRM, "show_calls", group="0[0-7]") == []


def test_calls_and_ops_of_one_collective(archive: Archive, calls: list[Call], data_dir: Path) -> None:
    """all_reduce #151: eight calls, each waits for the last start; their kernels and record_param_comms."""
    origin, last = raw_calls.dlrm_origin(data_dir / DLRM), last_start(calls)[151]
    of = {call.rank: call for call in together(calls)[151]}
    asked = {"group": WORLD, "collective_seq_id": 151}

    rows = ask(archive, DLRM, "show_calls_of_collective", **asked)
    ops = ask(archive, DLRM, "show_ops_of_collective", **asked)

    assert tuples(rows, "rank", "op_name", "start_ns", "duration_ns", "wait_ns", "size_bytes") == [
        (rank, "allreduce", call.start - origin, call.duration, last - call.start, 1_576_964)
        for rank, call in sorted(of.items())
    ]
    uids = {row["rank"]: row["uid"] for row in rows}
    assert all(op["call_uid"] == uids[op["rank"]] for op in ops)
    kernels = [op for op in ops if op["role"] == "kernel"]
    assert tuples(kernels, "rank", "start_ns", "duration_ns") == [
        (rank, call.start - origin, call.duration) for rank, call in sorted(of.items())
    ]
    assert all(op["name"].startswith("ncclKernel_AllReduce") for op in kernels)
    hosts = [(op["rank"], op["name"]) for op in ops if op["role"] == "host_op"]
    assert hosts == [(rank, "record_param_comms") for rank in range(8)]
    assert len(ops) == 16


def test_skewed_and_slow_collectives(archive: Archive, calls: list[Call]) -> None:
    """From the first kernel's start to the last one's, and from there to the earliest end; largest first."""
    last, took = last_start(calls), transfers(calls)
    skew = {seq: last[seq] - min(c.start for c in of) for seq, of in together(calls).items()}
    late = {seq: max(of, key=lambda c: (c.start, c.rank)).rank for seq, of in together(calls).items()}
    wanted = {seq: (seq, skew[seq], took[seq], late[seq], 8) for seq in skew}

    skewed = ask(archive, DLRM, "show_skewed_collectives", count=5)
    slow = ask(archive, DLRM, "show_slow_collectives", group=WORLD)

    columns = ("collective_seq_id", "skew_ns", "transfer_ns", "last_rank", "calls")
    by_skew = sorted(wanted, key=lambda seq: (-skew[seq], seq))
    by_time = sorted(wanted, key=lambda seq: (-took[seq], seq))
    assert tuples(skewed, *columns) == [wanted[seq] for seq in by_skew[:5]]
    assert tuples(slow, *columns) == [wanted[seq] for seq in by_time]
    assert {row["last_clock_offset_ns"] for row in skewed} == {0}


def test_clocks(archive: Archive, calls: list[Call]) -> None:
    """Ends less those of rank 0 lie on both sides of 0: no offset, and as much spread as they have."""
    end = {(call.rank, call.seq): call.end for call in calls}
    wanted = [(0, 0, 0, 0)]
    for rank in range(1, 8):
        apart = [end[rank, seq] - end[0, seq] for seq in together(calls)]
        assert min(apart) <= 0 <= max(apart)
        wanted.append((rank, 0, 8, max(apart) - min(apart)))

    rows = ask(archive, DLRM, "show_clock_offsets")

    columns = ("rank", "clock_offset_ns", "clock_offset_calls", "clock_offset_spread_ns")
    assert tuples(rows, *columns) == wanted


# --- torch213: neither group nor number --------------------------------------------------------------------


def test_calls_of_a_pipeline(archive: Archive) -> None:
    """Two steps of the 22 calls that the script logged for each rank; no group, for the files name none."""
    steps = archive.expected(PIPELINE)["known_from_the_script"]["calls_per_step"]
    wanted: Counter[tuple[int, str]] = Counter()
    for rank, calls in steps.items():
        for call in calls:
            wanted[int(rank), kind_of(call.split()[0])] += 2

    rows = ask(archive, PIPELINE, "count_calls_by_group")

    assert {(row["rank"], row["collective_kind"]): row["calls"] for row in rows} == wanted
    assert {(row["group"], row["first_seq"]) for row in rows} == {(None, None)}


@pytest.mark.parametrize("name", [SKIP, ORDER, SIZE])
def test_calls_of_ranks_that_differ(archive: Archive, name: str) -> None:
    """Kinds and elements of 4 B as in `calls_in_order`; nothing is matched, for no file says the group."""
    wanted = made(archive, name)
    ranks = len(wanted)

    rows = ask(archive, name, "show_calls")

    found = {
        rank: [(row["collective_kind"], row["size_bytes"]) for row in rows if row["rank"] == rank]
        for rank in range(ranks)
    }
    # expected.json counts the elements of an all_gather's output: one part from each rank
    parts = {"all_gather": ranks}
    assert found == {
        rank: [(kind, 4 * count // parts.get(kind, 1)) for kind, count in calls]
        for rank, calls in wanted.items()
    }
    for query in ("count_collectives_by_verdict", "show_mismatches", "show_causes", "show_waits"):
        assert ask(archive, name, query) == []


def test_when_calls_of_another_order_ran(archive: Archive, data_dir: Path) -> None:
    """The spans of gloo:all_reduce and gloo:broadcast on each rank; rank 1 makes its broadcast second."""
    spans = raw_calls.events(data_dir / ORDER, "kineto_rank*.json.gz")
    wanted = {
        rank: sorted((ns(e["ts"]), ns(e["dur"]), e["name"]) for e in of if e["name"].startswith("gloo:"))
        for rank, of in spans.items()
    }
    origin = min(
        ns(e["ts"]) for of in spans.values() for e in of if e["cat"] in ("cpu_op", "user_annotation")
    )

    rows = ask(archive, ORDER, "show_calls")

    assert {
        rank: [
            (row["start_ns"] + origin, row["duration_ns"], f"gloo:{row['collective_kind']}")
            for row in rows
            if row["rank"] == rank
        ]
        for rank in wanted
    } == wanted
    assert [wanted[rank][1][2] for rank in range(4)] == [
        "gloo:all_reduce",
        "gloo:broadcast",
        *["gloo:all_reduce"] * 2,
    ]


# --- sends and recvs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [PIPELINE, DEMO])
def test_what_proves_the_other_side_of_transfers(archive: Archive, name: str) -> None:
    """`possible-ranks` of expected.json: one rank in whatever group is proven so, several need pairing."""
    wanted: Counter[tuple[int, str, str]] = Counter()
    for rank, transfers_ in archive.expected(name)["ranks"]["send_recv"].items():
        for text, count in transfers_.items():
            several = "," in text.partition("possible-ranks")[2]
            wanted[int(rank), text.split()[0], "pairing" if several else "every_group"] += count

    rows = ask(archive, name, "count_transfers_by_proof")

    assert {(r["rank"], r["collective_kind"], r["peer_origin"]): r["calls"] for r in rows} == wanted


def test_transfers_of_a_lane(archive: Archive, data_dir: Path) -> None:
    """Rank 0's n-th send is rank 2's n-th recv (the script sends tags 0, 1 twice); times of gloo's spans."""
    spans = raw_calls.events(data_dir / DEMO, "kineto_rank*.json.gz")
    logged = archive.expected(DEMO)["known_from_the_script"]["calls"]
    sends = [call for call in logged["0"] if call.startswith("send pp_0 to rank 2")]
    recvs = [call for call in logged["2"] if call.startswith("recv_ pp_0 from rank 0")]
    for logged_calls in (sends, recvs):
        assert [re.findall(r"tag (\d)", call) for call in logged_calls] == [["0"], ["1"], ["0"], ["1"]]

    rows = ask(archive, DEMO, "show_calls_of_channel", group="3[0,2]", src=0, dst=2)
    channels = {(row["src"], row["dst"]): row for row in ask(archive, DEMO, "show_channels")}

    of = {kind: [row for row in rows if row["collective_kind"] == kind] for kind in ("send", "recv")}
    assert [row["peer_uid"] for row in of["send"]] == [row["uid"] for row in of["recv"]]
    assert [row["peer_uid"] for row in of["recv"]] == [row["uid"] for row in of["send"]]
    for kind, rank in (("send", 0), ("recv", 2)):
        ran = sorted((ns(e["ts"]), ns(e["dur"])) for e in spans[rank] if e["name"] == f"gloo:{kind}")
        assert {row["rank"] for row in of[kind]} == {rank}
        assert [row["duration_ns"] for row in of[kind]] == [lasts for _, lasts in ran]
        starts = [row["start_ns"] - of[kind][0]["start_ns"] for row in of[kind]]
        assert starts == [start - ran[0][0] for start, _ in ran]
    assert set(channels) == {(0, 2), (2, 0), (1, 3), (3, 1)}
    assert {(row["sends"], row["recvs"], row["matched"]) for row in channels.values()} == {(4, 4, 4)}
