"""What the catalogue says of host ops and the call tree on torch213/ddp_cnn_2r_sched, against its raw files.

Every expected value is counted here from the JSON by plain Python (raw_traces.py): the tree from the parents
(ctrl_deps) of the execution trace, times from the Kineto spans, the two joined by record function id. Both
ranks have the two marks ProfilerStep#2 and #3.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from graphstore.queries import write_findings
from tests.integration.archives import Archive
from tests.integration.raw_traces import Event, Rank, read_ranks

pytestmark = pytest.mark.data
DDP = "torch213/ddp_cnn_2r_sched"


@pytest.fixture(scope="module")
def ranks(data_dir: Path) -> list[Rank]:
    """Return the two ranks as plain Python reads them."""
    folder = data_dir / DDP
    return read_ranks(
        (folder / f"et_rank{rank}.json.gz", folder / f"kineto_rank{rank}.json.gz") for rank in range(2)
    )


def tuples(rows: list[dict[str, Any]], *columns: str) -> list[tuple[Any, ...]]:
    """Return some columns of rows."""
    return [tuple(row[column] for column in columns) for row in rows]


def rf_id(op: Event) -> int:
    """Return the record function id of a span."""
    return int(op.args["Record function id"])


def span_of(rank: Rank, node_id: int) -> Event:
    """Return the span of a node of the execution trace."""
    (span,) = [op for op in rank.host_ops if rf_id(op) == rank.nodes[node_id]["rf_id"]]
    return span


def node_named(rank: Rank, name: str) -> int:
    """Return the first node of a name, by id."""
    return min(node_id for node_id, node in rank.nodes.items() if node["name"] == name)


def children(rank: Rank, node_id: int) -> list[int]:
    """Return the nodes that name a node as their parent."""
    return [other for other, node in rank.nodes.items() if node["parent"] == node_id and other != node_id]


def uid_of(archive: Archive, node_id: int, rank: int = 0) -> int:
    """Return the uid of a node."""
    rows = archive.rows(DDP, "structure/show_ops_with_id", node_id=node_id)
    (uid,) = [row["uid"] for row in rows if row["rank"] == rank]
    return int(uid)


def steps(rank: Rank) -> dict[int, list[Event]]:
    """Return the spans that start in the time of each mark, on whatever thread."""
    marks = [op for op in rank.host_ops if op.name.startswith("ProfilerStep#")]
    return {
        int(mark.name.removeprefix("ProfilerStep#")): [
            op for op in rank.host_ops if mark.start <= op.start <= mark.end
        ]
        for mark in marks
    }


# --- time --------------------------------------------------------------------------------------------------


def test_time_by_name(archive: Archive, ranks: list[Rank]) -> None:
    """Number, time and own time of every name, over both ranks and of one."""
    for asked, some in (({}, ranks), ({"rank": 1}, ranks[1:])):
        expected: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
        for op in (op for rank in some for op in rank.host_ops):
            sums = expected[op.name]
            sums[:] = [sums[0] + 1, sums[1] + op.lasts, sums[2] + op.own, max(sums[3], op.lasts)]

        rows = archive.rows(DDP, "time/show_time_by_name", **asked)

        columns = ("ops", "duration_ns", "self_ns", "longest_ns")
        assert {row["name"]: [row[column] for column in columns] for row in rows} == expected


def test_top_ops_and_longest_ops(archive: Archive, ranks: list[Rank]) -> None:
    """The ten of most own time of both ranks; the ten of rank 0 that last longest."""
    own = sorted(((op.own, op.name) for rank in ranks for op in rank.host_ops), reverse=True)[:10]
    longest = sorted(((op.lasts, op.name, op.own) for op in ranks[0].host_ops), reverse=True)[:10]

    top = archive.rows(DDP, "time/show_top_ops", count=10)
    last = archive.rows(DDP, "time/show_longest_ops", count=10, rank=0)

    assert tuples(top, "self_ns", "name") == own
    assert tuples(last, "duration_ns", "name", "self_ns") == longest


def test_time_by_rank(archive: Archive, ranks: list[Rank]) -> None:
    """aten::convolution rank by rank."""
    expected = []
    for number, rank in enumerate(ranks):
        lasts = [op.lasts for op in rank.host_ops if op.name == "aten::convolution"]
        mean = sum(lasts) // len(lasts)
        expected.append((number, "HostOp", len(lasts), sum(lasts), mean, min(lasts), max(lasts)))

    rows = archive.rows(DDP, "time/show_time_by_rank", name="aten::convolution")

    assert [tuple(row.values()) for row in rows] == expected


def test_time_by_shape(archive: Archive, ranks: list[Rank]) -> None:
    """aten::convolution by the shapes that the execution trace holds."""
    expected: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for rank in ranks:
        for node_id, node in rank.nodes.items():
            if node["name"] == "aten::convolution":
                sums = expected[str(node["shapes"]).replace(" ", "")]
                sums[:] = [sums[0] + 1, sums[1] + span_of(rank, node_id).lasts]
    assert len(expected) > 1

    rows = archive.rows(DDP, "time/show_time_by_shape", name="aten::convolution")

    found = {row["input_shapes"].replace(" ", ""): [row["ops"], row["duration_ns"]] for row in rows}
    assert found == expected


def test_time_by_thread(archive: Archive, ranks: list[Rank]) -> None:
    """Own time of operators, and apart of annotations, on every thread."""
    expected = {}
    for number, rank in enumerate(ranks):
        for thread in {op.lane for op in rank.host_ops}:
            ops = [op for op in rank.host_ops if op.lane == thread]
            own = sum(op.own for op in ops if op.cat == "cpu_op")
            marked = sum(op.own for op in ops if op.cat == "user_annotation")
            expected[number, thread] = (len(ops), own, marked, min(op.start for op in ops))

    rows = archive.rows(DDP, "time/show_time_by_thread")

    found = tuples(rows, "ops", "self_ns", "annotated_ns", "first_ns")
    assert dict(zip(tuples(rows, "rank", "thread"), found, strict=True)) == expected


def test_annotations(archive: Archive, ranks: list[Rank]) -> None:
    """The spans of category user_annotation by name, over both ranks."""
    lasts = defaultdict(list)
    for op in (op for rank in ranks for op in rank.of("user_annotation")):
        lasts[op.name].append(op.lasts)

    rows = archive.rows(DDP, "time/show_annotations")

    found = {row["name"]: (row["ranges"], row["duration_ns"], row["longest_ns"]) for row in rows}
    assert found == {name: (len(each), sum(each), max(each)) for name, each in lasts.items()}


def test_steps(archive: Archive, ranks: list[Rank]) -> None:
    """What starts in the time of a mark is of its step: number, own time, first start, last end, calls."""
    expected, spans = {}, {}
    for number, rank in enumerate(ranks):
        for step, ops in steps(rank).items():
            calls = sum(op.name.startswith("c10d::") for op in ops)
            expected[number, step] = (len(ops), sum(op.own for op in ops), calls, 0)
            spans[number, step] = max(op.end for op in ops) - min(op.start for op in ops)

    made = archive.rows(DDP, "time/show_time_by_step")
    slowest = archive.rows(DDP, "time/show_slowest_steps")
    plain = archive.rows(DDP, "time/show_steps")

    found = tuples(made, "ops", "self_ns", "calls", "device_ops")
    assert dict(zip(tuples(made, "rank", "step"), found, strict=True)) == expected
    assert {(r["rank"], r["step"]): r["duration_ns"] for r in slowest} == spans
    assert [r["duration_ns"] for r in slowest] == sorted(spans.values(), reverse=True)
    assert {(r["rank"], r["step"]): r["end_ns"] - r["start_ns"] for r in plain} == spans


def test_ops_between(archive: Archive, ranks: list[Rank]) -> None:
    """What reaches into the middle fifth of rank 1's time."""
    last = max(op.end for op in ranks[1].host_ops)
    begin, finish = last * 2 // 5, last * 3 // 5
    expected = [(op.name, op.start) for op in ranks[1].host_ops if op.start <= finish and op.end >= begin]

    rows = archive.rows(DDP, "time/show_ops_between", rank=1, from_ns=begin, to_ns=finish, count=10_000)

    assert sorted(tuples(rows, "name", "start_ns")) == sorted(expected)


def test_ranks(archive: Archive, ranks: list[Rank]) -> None:
    """Own time of host ops, and the calls: as many as c10d ops. There is no device."""
    expected = [
        (
            number,
            min(op.start for op in rank.host_ops),
            max(op.end for op in rank.host_ops),
            sum(op.own for op in rank.host_ops),
            None,
            sum(op.name.startswith("c10d::") for op in rank.host_ops),
        )
        for number, rank in enumerate(ranks)
    ]

    rows = archive.rows(DDP, "time/show_ranks")

    columns = ("rank", "start_ns", "end_ns", "self_ns", "device_busy_ns", "calls")
    assert tuples(rows, *columns) == expected


# --- structure ---------------------------------------------------------------------------------------------


def test_kinds(archive: Archive, ranks: list[Rank]) -> None:
    """Host ops are the nodes of the execution trace, which holds all spans of Kineto; calls are c10d's."""
    expected = []
    for number, rank in enumerate(ranks):
        known = {node["rf_id"] for node in rank.nodes.values()}
        assert {rf_id(op) for op in rank.host_ops} <= known
        calls = sum(op.name.startswith("c10d::") for op in rank.host_ops)
        expected += [(number, "CollectiveCall", calls), (number, "HostOp", len(rank.nodes))]

    rows = archive.rows(DDP, "structure/count_ops_by_kind")

    assert tuples(rows, "rank", "kind", "ops") == expected


def test_depths(archive: Archive, ranks: list[Rank]) -> None:
    """Callers above each node, up the parents of the execution trace; the deepest with its path."""
    expected: Counter[tuple[int, int]] = Counter()
    for number, rank in enumerate(ranks):
        expected.update((number, len(rank.above(node_id))) for node_id in rank.nodes)
    deepest = max(len(ranks[0].above(node_id)) for node_id in ranks[0].nodes)

    rows = archive.rows(DDP, "structure/count_ops_by_depth")
    deep = archive.rows(DDP, "structure/show_deepest_ops", rank=0, count=3)

    assert {(row["rank"], row["depth"]): row["ops"] for row in rows} == expected
    assert deep[0]["depth"] == deepest
    assert deep[0]["path"].count(" / ") == deepest


def test_names_with_a_part(archive: Archive, ranks: list[Rank]) -> None:
    """'CONV' in small letters or large, by number and one by one."""
    expected = Counter(
        node["name"] for rank in ranks for node in rank.nodes.values() if "conv" in node["name"].lower()
    )

    rows = archive.rows(DDP, "structure/count_ops_named_like", part="CONV")
    ops = archive.rows(DDP, "structure/show_ops_named_like", part="CONV", count=10_000)

    assert {row["name"]: row["ops"] for row in rows} == expected
    assert Counter(row["name"] for row in ops) == expected


def test_one_op_with_what_is_around_it(archive: Archive, ranks: list[Rank]) -> None:
    """The first aten::convolution of rank 0: its place, what it calls, what called it."""
    rank = ranks[0]
    node_id = node_named(rank, "aten::convolution")
    span, above = span_of(rank, node_id), rank.above(node_id)
    below = children(rank, node_id)
    uid = uid_of(archive, node_id)

    (op,) = archive.rows(DDP, "structure/show_op", op=uid)
    called = archive.rows(DDP, "structure/show_children", op=uid)
    callers = archive.rows(DDP, "structure/show_ancestors", op=uid)

    assert (op["name"], op["node_id"], op["parent_id"]) == ("aten::convolution", node_id, above[0])
    assert (op["depth"], op["called"]) == (len(above), len(below))
    assert (op["start_ns"], op["duration_ns"], op["self_ns"]) == (span.start, span.lasts, span.own)
    assert op["caller"] == uid_of(archive, above[0])
    spans = sorted((span_of(rank, child) for child in below), key=lambda child: child.start)
    assert tuples(called, "name", "start_ns") == [(child.name, child.start) for child in spans]
    assert tuples(callers, "up", "node_id") == list(enumerate(above, 1))


def test_the_tree_below_an_op(archive: Archive, ranks: list[Rank]) -> None:
    """Of DistributedDataParallel.forward: two steps down, and all of it by name."""
    rank = ranks[1]
    top = node_named(rank, "DistributedDataParallel.forward")
    below = [node_id for node_id in rank.nodes if top in rank.above(node_id)]
    near = [node_id for node_id in below if rank.above(node_id).index(top) < 2]
    uid = uid_of(archive, top, rank=1)

    tree = archive.rows(DDP, "structure/show_call_tree", op=uid, levels=2, count=10_000)
    totals = archive.rows(DDP, "structure/show_subtree_totals", op=uid)

    assert sorted(tuples(tree, "down", "name")) == sorted(
        (rank.above(node_id).index(top) + 1, rank.nodes[node_id]["name"]) for node_id in near
    )
    sums: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for node_id in below:
        name = rank.nodes[node_id]["name"]
        sums[name] = [sums[name][0] + 1, sums[name][1] + span_of(rank, node_id).own]
    assert {row["name"]: [row["ops"], row["self_ns"]] for row in totals} == sums


def test_roots_components_and_threads(archive: Archive, ranks: list[Rank]) -> None:
    """Each rank is one tree below its process root: all nodes, as deep as the deepest; three threads ran."""
    sizes = [(number, len(rank.nodes)) for number, rank in enumerate(ranks)]
    depths = [max(len(rank.above(node_id)) for node_id in rank.nodes) for rank in ranks]
    threads = {
        (number, thread): sum(op.lane == thread for op in rank.host_ops)
        for number, rank in enumerate(ranks)
        for thread in {op.lane for op in rank.host_ops}
    }

    roots = archive.rows(DDP, "structure/show_roots")
    components = archive.rows(DDP, "structure/show_components")
    found = archive.rows(DDP, "structure/show_threads")

    assert tuples(roots, "rank", "ops") == tuples(components, "rank", "ops") == sizes
    assert [row["depth"] for row in roots] == depths
    assert {row["why"] for row in components} == {"process root"}
    assert {(r["rank"], r["thread"]): r["ops"] for r in found if r["thread"] is not None} == threads


def test_widest_ops(archive: Archive, ranks: list[Rank]) -> None:
    """The five nodes that most others name as their parent."""
    parents = Counter(
        (n, node["parent"]) for n, rank in enumerate(ranks) for i, node in rank.nodes.items() if i != 1
    )

    rows = archive.rows(DDP, "structure/show_widest_ops", count=5)

    assert [row["called"] for row in rows] == [count for _, count in parents.most_common(5)]


def test_autograd_ops(archive: Archive, ranks: list[Rank]) -> None:
    """Of the first node of rank 0 with a sequence number: all its nodes that bear it."""
    numbers = {node_id: node["seq_id"] for node_id, node in ranks[0].nodes.items() if node["seq_id"] >= 0}
    first = min(numbers)
    same = [node_id for node_id, number in numbers.items() if number == numbers[first]]
    assert len(same) > 1

    rows = archive.rows(DDP, "structure/show_autograd_ops", op=uid_of(archive, first))

    spans = sorted((span_of(ranks[0], node_id) for node_id in same), key=lambda op: op.start)
    assert tuples(rows, "name", "start_ns") == [(op.name, op.start) for op in spans]
    assert {row["autograd_seq_id"] for row in rows} == {numbers[first]}


def wrong_parents(rank: Rank) -> dict[str, int]:
    """Return how many recorded parents time denies: on another thread, or not around their child.

    A worker's gloo: op below the c10d:: op it works for is right on another thread; 2 ns are rounding.
    """
    spans = {rf_id(op): op for op in rank.host_ops}
    found: Counter[str] = Counter()
    for node in rank.nodes.values():
        child, parent = (spans.get(n["rf_id"]) for n in (node, rank.nodes[node["parent"]]))
        if child is None or parent is None or (child.name[:5], parent.name[:6]) == ("gloo:", "c10d::"):
            continue
        if child.lane != parent.lane:
            found["parent_on_other_thread"] += 1
        elif child.start < parent.start - 2 or child.end > parent.end + 2:
            found["parent_not_enclosing"] += 1
    return found


def test_findings(archive: Archive, ranks: list[Rank]) -> None:
    """One finding a rank and class of wrong parents, on as many nodes as are counted here; no error."""
    write_findings(archive.store, archive.run_of(DDP), archive.findings(DDP))
    wrong = [(rule, rank, n) for rank, each in enumerate(ranks) for rule, n in wrong_parents(each).items()]
    assert wrong

    counted = archive.rows(DDP, "health/count_findings")
    by_rank = [
        (row["rule"], rank, row["nodes"])
        for rank in range(2)
        for row in archive.rows(DDP, "health/show_findings_of_rank", rank=rank)
    ]

    assert sorted(by_rank) == sorted(wrong)
    assert archive.rows(DDP, "health/show_findings_of_rank") == []
    assert {row["severity"] for row in counted} == {"warning"}
    assert {row["rule"]: (row["findings"], row["nodes"]) for row in counted} == {
        rule: (len(each), sum(each))
        for rule in {rule for rule, _, _ in wrong}
        for each in [[n for other, _, n in wrong if other == rule]]
    }
