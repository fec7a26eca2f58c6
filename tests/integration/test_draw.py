"""What a picture shows: chosen by rank, op, depth or query, on both engines and by the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphstore.errors import UsageError
from graphstore.export.drawing import Drawing, DrawOptions, drawing
from graphstore.store import Store
from tests.integration.test_cli import Archive
from tests.integration.test_cli import demo as demo  # a fixture
from tests.integration.test_export import two_ranks
from tests.queries.graphs import PROCESS, THREAD

RUN = "small"


def names(found: Drawing) -> list[str]:
    """Return the names of the nodes."""
    return [node.name for node in found.nodes]


def edges(found: Drawing) -> list[tuple[str, str, str]]:
    """Return the edges by names."""
    name = {node.number: node.name for node in found.nodes}
    return [(name[edge.source], edge.type, name[edge.target]) for edge in found.edges]


def test_an_op_with_what_is_below_it_and_above(store: Store) -> None:
    """Down as many steps as wanted, up to the top; its sibling is not in the picture."""
    store.write_run(two_ranks().build())

    whole = drawing(store, RUN, DrawOptions(rank=1, op="aten::linear", depth=2))
    near = drawing(store, RUN, DrawOptions(rank=1, op="3", depth=1))

    assert edges(whole) == [
        (PROCESS, "CTRL", THREAD),
        (THREAD, "CTRL", "aten::linear"),
        ("aten::linear", "CTRL", "cudaLaunchKernel"),
        ("cudaLaunchKernel", "LAUNCHES", "gemm"),
    ]
    assert {node.rank for node in whole.nodes} == {1}
    assert names(near) == [PROCESS, THREAD, "aten::linear", "cudaLaunchKernel"]


def test_without_an_op_it_begins_at_the_tops(store: Store) -> None:
    """Of one rank, or of all."""
    store.write_run(two_ranks().build())

    assert names(drawing(store, RUN, DrawOptions(rank=0, depth=1))) == [PROCESS, THREAD]
    assert len(drawing(store, RUN, DrawOptions()).nodes) == 12, "3 steps: all but the kernels"


def test_a_query_names_the_ops(store: Store) -> None:
    """A catalogue query or a text; a path is a list of keys; what is no op is counted."""
    graph = two_ranks()
    store.write_run(graph.build())
    kernel = next(row["uid"] for row in graph.rows["Kernel"] if row["name"] == "gemm")
    text = (
        "MATCH (k:Kernel)<-[:LAUNCHES]-(c:RuntimeCall) WHERE k.run = $run AND k.rank = 0 "
        "RETURN [c.uid, k.uid] AS path"
    )
    groups = (
        "MATCH (g:ProcessGroup)<-[:IN_GROUP]-(c:CollectiveCall) WHERE g.run = $run "
        "RETURN g.uid AS uid, c.uid AS call_uid"
    )

    listed = drawing(store, RUN, DrawOptions(query="show_kernel_path", parameters={"kernel": kernel}))
    paths = drawing(store, RUN, DrawOptions(query=text))
    other = drawing(store, RUN, DrawOptions(query=groups))

    assert names(listed) == [PROCESS, THREAD, "aten::linear", "cudaLaunchKernel"]
    assert [edge for _, edge, _ in edges(paths)] == ["LAUNCHES", "LAUNCHES"]
    assert (names(other), other.missed) == (["all_reduce", "all_reduce"], 1)


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        (DrawOptions(op="aten::none"), "has no op aten::none"),
        (DrawOptions(op="3", rank=7), "has no op 3 on rank 7"),
        (DrawOptions(limit=5), "more than 5 nodes would be drawn.*--rank.*--op.*--depth.*--query"),
        (DrawOptions(query="MATCH (n:Op) WHERE n.run = $run RETURN n.name AS name"), "name no ops"),
        (DrawOptions(query="MATCH (n:Op) WHERE n.run = $run AND n.rank = 9 RETURN n.uid AS uid"), "no op"),
    ],
)
def test_what_cannot_be_drawn_is_refused(wanted: DrawOptions, told: str, store: Store) -> None:
    """One line that tells how to ask."""
    store.write_run(two_ranks().build())

    with pytest.raises(UsageError, match=told):
        drawing(store, RUN, wanted)


def test_the_command_writes_a_file_or_stdout(demo: Archive, tmp_path: Path) -> None:
    """The same text; counts on stderr."""
    words = ("draw", "demo", "--rank", "0", "--op", "c10d::allreduce_", "--depth", "1", "--format", "mermaid")
    shown = demo.run(*words)
    demo.run(*words, "-o", tmp_path / "demo.mmd", "-q")

    assert (tmp_path / "demo.mmd").read_bytes() == shown.stdout
    assert shown.stdout.startswith(b"flowchart TD\n")
    assert "drawn: " in shown.stderr.decode()
    assert [path.name for path in tmp_path.iterdir()] == ["demo.mmd"]


def test_mistakes_of_the_command_are_one_line(demo: Archive) -> None:
    """Too much, or two ways to begin."""
    assert "more than 300 nodes" in demo.fails("draw", "demo", code=2)
    assert "give one" in demo.fails("draw", "demo", "--op", "3", "--query", "show_tops", code=2)
