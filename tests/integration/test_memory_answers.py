"""The catalogue's answers about memory are those that the files' own JSON gives, read by plain Python.

dlrm_8r has copies on its devices (events gpu_memcpy and gpu_memset with their bytes); ddp_cnn_4r has the
tensors of every op in its execution traces, and times of the same ops in its Kineto traces, joined by the
record function id that both hold.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.integration import raw_calls
from tests.integration.answering import ENGINES, Archive, archive
from tests.integration.raw_calls import ns

pytestmark = pytest.mark.data

DLRM, DDP = "dlrm_8r", "ddp_cnn_4r"
DIRECTIONS = ("HtoD", "DtoH", "DtoD", "PtoP", "HtoH")


@pytest.fixture(scope="module", params=ENGINES)
def asked(request: pytest.FixtureRequest, data_dir: Path) -> Iterator[Archive]:
    """Yield an archive with both runs, once on each engine."""
    yield from archive(request, [data_dir / "public" / DLRM, data_dir / "torch213" / DDP])


@dataclass
class Op:
    """A node of an execution trace with its tensors, and when it ran."""

    rank: int
    node_id: int
    parent: int
    name: str
    taken: set[tuple[Any, ...]]
    given: set[tuple[Any, ...]]
    start: int | None = None
    end: int | None = None
    takes_from: set[int] = field(default_factory=set)

    @property
    def in_bytes(self) -> int:
        """Bytes of the tensors it took."""
        return sum(tensor[3] * tensor[4] for tensor in self.taken)

    @property
    def out_bytes(self) -> int:
        """Bytes of the tensors it returned."""
        return sum(tensor[3] * tensor[4] for tensor in self.given)


@pytest.fixture(scope="module")
def ops(data_dir: Path) -> dict[int, dict[int, Op]]:
    """Return {rank: {node id: op}} of the ddp run, with who takes tensors from whom."""
    folder = data_dir / "torch213" / DDP
    events = raw_calls.events(folder, "kineto_rank*.json.gz")
    out = {}
    for rank, trace in raw_calls.nodes(folder, "et_rank*.json.gz").items():
        spans = [event for event in events[rank] if event.get("cat") in ("cpu_op", "user_annotation")]
        timed = {rf_id_of(event): event for event in spans if rf_id_of(event)}
        found, place_of = {}, {}
        for node in trace:
            rf_id = next((a["value"] for a in node["attrs"] if a["name"] == "rf_id"), None)
            taken, given = (set(raw_calls.tensors(node[side]["values"])) for side in ("inputs", "outputs"))
            op = Op(rank, node["id"], node["ctrl_deps"], node["name"], taken, given)
            if rf_id in timed:
                op.start, op.end = ends(timed[rf_id])
                place_of[id(timed[rf_id])] = op.node_id
            found[op.node_id] = op
        _connect(found, _outer(spans, place_of))
        out[rank] = found
    return out


def rf_id_of(event: dict[str, Any]) -> int:
    """Return the record function id of an event, 0 without one."""
    return int(event.get("args", {}).get("Record function id", 0))


def ends(event: dict[str, Any]) -> tuple[int, int]:
    """Return start and end of an event."""
    return ns(event["ts"]), ns(event["ts"] + event["dur"])


def _outer(spans: list[dict[str, Any]], place_of: dict[int, int]) -> dict[int, int | None]:
    """Return {node id: that of the innermost span around it on its thread}, None where that is no node."""
    outer: dict[int, int | None] = {}
    for thread in {event["tid"] for event in spans}:
        stack: list[dict[str, Any]] = []
        own = [event for event in spans if event["tid"] == thread]
        for event in sorted(own, key=lambda event: (event["ts"], -event["dur"])):
            while stack and ends(stack[-1])[1] < ends(event)[1]:
                stack.pop()
            if stack and id(event) in place_of:
                outer[place_of[id(event)]] = place_of.get(id(stack[-1]))
            stack.append(event)
    return outer


def _connect(found: dict[int, Op], outer: dict[int, int | None]) -> None:
    """Set from whom each op takes tensors: of a storage, the op that returned it last and had ended before.

    An op within one that takes the same storage takes it from nobody: the outer one did. Around an op is the
    innermost span on its thread, and where there is none its recorded parent.
    """
    returned: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for op in found.values():
        if op.end is not None:
            for storage in {tensor[1] for tensor in op.given}:
                returned[storage].append((op.end, op.node_id))
    for op in found.values():
        around = found.get(outer.get(op.node_id, op.parent) or -1)
        held = {tensor[1] for tensor in around.taken} if around is not None else set()
        for storage in {tensor[1] for tensor in op.taken} - held:
            before = [one for one in returned[storage] if one[1] != op.node_id and one[0] <= (op.start or -1)]
            if before:
                op.takes_from.add(max(before)[1])


def test_copies_by_direction(asked: Archive, data_dir: Path) -> None:
    """Number, bytes and time of each rank's copies and sets, by the direction in their names."""
    found: dict[tuple[int, str], list[tuple[int, int]]] = defaultdict(list)
    for rank, spans in raw_calls.events(data_dir / "public" / DLRM, "worker*.json.gz").items():
        for event in spans:
            if event["cat"] in ("gpu_memcpy", "gpu_memset"):
                word = next((word for word in DIRECTIONS if word in event["name"]), "set")
                found[rank, word].append((event["args"]["bytes"], ns(event["dur"])))

    rows = asked.rows(DLRM, "show_copies_by_direction")

    sums = [
        (
            *key,
            len(of),
            sum(size for size, _ in of),
            sum(lasts for _, lasts in of),
            max(size for size, _ in of),
        )
        for key, of in sorted(found.items())
    ]
    assert [row[:6] for row in rows] == sums
    assert [row[6] for row in rows] == [pytest.approx(row[3] / row[4]) if row[4] else None for row in sums]
    assert asked.rows(DLRM, "show_copies_by_direction", rank=5) == [row for row in rows if row[0] == 5]


def test_the_largest_copies(asked: Archive, data_dir: Path) -> None:
    """Their sizes, names and times are the largest of all gpu_memcpy events; aten::copy_ asked for them."""
    spans = raw_calls.events(data_dir / "public" / DLRM, "worker*.json.gz")
    copies = sorted(
        (
            event["args"]["bytes"]
            for events in spans.values()
            for event in events
            if event["cat"] == "gpu_memcpy"
        ),
        reverse=True,
    )

    rows = asked.dicts(DLRM, "show_largest_copies", count=30)

    assert [row["size_bytes"] for row in rows] == copies[:30]
    assert rows[0]["op"] == "aten::copy_"


def test_the_largest_tensors(asked: Archive, ops: dict[int, dict[int, Op]]) -> None:
    """Bytes of the outputs of every op whose parent does not return as many, the most first."""
    of_rank = ops[1]
    wanted = sorted(
        (
            (op.out_bytes, op.name, op.node_id)
            for op in of_rank.values()
            if op.out_bytes and (op.parent not in of_rank or of_rank[op.parent].out_bytes != op.out_bytes)
        ),
        key=lambda row: (-row[0], row[1:]),
    )

    rows = asked.dicts(DDP, "show_largest_tensors", rank=1, count=10_000)

    found = [(row["output_bytes"], row["name"], row["node_id"]) for row in rows]
    assert sorted(found, key=lambda row: (-row[0], row[1:])) == wanted
    assert [row[0] for row in found] == [row[0] for row in wanted]


def test_bytes_by_op(asked: Archive, ops: dict[int, dict[int, Op]]) -> None:
    """Sums by name over the ops that no other op calls as its parent."""
    called = {rank: {op.parent for op in of.values()} for rank, of in ops.items()}
    sums: dict[str, list[Op]] = defaultdict(list)
    for rank, of in ops.items():
        for op in of.values():
            if op.node_id not in called[rank] and op.in_bytes + op.out_bytes:
                sums[op.name].append(op)
    wanted = {
        name: (
            len(of),
            sum(op.in_bytes for op in of),
            sum(op.out_bytes for op in of),
            max(op.in_bytes for op in of),
        )
        for name, of in sums.items()
    }

    rows = asked.rows(DDP, "show_bytes_by_op", count=1000)

    assert {row[0]: row[1:5] for row in rows} == wanted
    assert [row[2] for row in rows] == sorted((row[1] for row in wanted.values()), reverse=True)


def test_the_flow_of_tensors_by_name(asked: Archive, ops: dict[int, dict[int, Op]]) -> None:
    """Each op takes a storage from the one that returned it last."""
    pairs: Counter[tuple[str, str]] = Counter()
    for of in ops.values():
        for op in of.values():
            pairs.update((of[source].name, op.name) for source in op.takes_from)

    rows = asked.rows(DDP, "show_tensor_flow", count=10_000)

    assert {row[:2]: row[2] for row in rows} == dict(pairs)


def test_producers_and_consumers_of_an_op(asked: Archive, ops: dict[int, dict[int, Op]]) -> None:
    """Of the op most others take from: who they are, how long after its end; back again from the last."""
    of = ops[0]
    taken = Counter(source for op in of.values() for source in op.takes_from)
    most = max(taken.values())
    rows = [row for row in asked.dicts(DDP, "show_most_read", rank=0, count=100) if row["consumers"] == most]
    chosen = rows[0]
    source = of[chosen["node_id"]]

    assert {row["node_id"] for row in rows} == {node_id for node_id, count in taken.items() if count == most}
    consumers = asked.dicts(DDP, "show_consumers", op=chosen["uid"])
    assert {row["node_id"]: row["age_ns"] for row in consumers} == {
        op.node_id: (op.start or 0) - (source.end or 0)
        for op in of.values()
        if source.node_id in op.takes_from
    }
    last = consumers[-1]
    producers = asked.dicts(DDP, "show_producers", op=last["uid"])
    assert {row["node_id"] for row in producers} == of[last["node_id"]].takes_from
    assert chosen["uid"] in {row["uid"] for row in producers}


def test_tensors_kept_longest(asked: Archive, ops: dict[int, dict[int, Op]]) -> None:
    """From the end of the producer to the start of its last consumer, the longest first."""
    kept: dict[tuple[int, str, int], int] = {}
    for rank, of in ops.items():
        for op in of.values():
            for source in op.takes_from:
                lasts = (op.start or 0) - (of[source].end or 0)
                kept[rank, of[source].name, source] = max(kept.get((rank, of[source].name, source), 0), lasts)

    rows = asked.dicts(DDP, "show_longest_kept", count=50)

    assert [row["kept_ns"] for row in rows] == sorted(kept.values(), reverse=True)[:50]
    assert {row["producer"] for row in rows} <= {name for _, name, _ in kept}
