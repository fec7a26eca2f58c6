"""The nodes of Chakra files as JSON: protobuf reads from it what the `.et` file of the same run holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from google.protobuf.json_format import ParseDict

from graphstore.chakra.et_def_pb2 import GlobalMetadata, Node
from graphstore.errors import InputError, UsageError
from graphstore.export import export_json, export_run, read_et
from graphstore.settings import Settings
from graphstore.store import Store, open_store
from tests.integration.test_cli import RANKS, Archive
from tests.integration.test_cli import demo as demo  # a fixture
from tests.integration.test_export import _renumbered, chakra_run, two_ranks
from tests.integration.test_export_et_plus import imported
from tests.queries.graphs import GraphBuilder

RUN = "small"


def read(path: Path) -> tuple[GlobalMetadata, list[Node]]:
    """Return the metadata and the nodes of a JSON file, by protobuf's own parser."""
    content = orjson.loads(path.read_bytes())
    return ParseDict(content["metadata"], GlobalMetadata()), [ParseDict(n, Node()) for n in content["nodes"]]


def same_as_et(store: Store, run: str, tmp_path: Path) -> dict[str, Any]:
    """Export a run in both forms; what they hold must be the same. Return what was told of the JSON files."""
    written = export_json(store, run, tmp_path)
    export_run(store, run, tmp_path)
    for name, facts in written["files"].items():
        assert read(tmp_path / name) == read_et(tmp_path / name.replace(".json", ".et"))
        assert facts["nodes"] == len(read(tmp_path / name)[1])
    return written


def test_it_holds_what_the_et_file_holds(store: Store, tmp_path: Path) -> None:
    """Of traces, with a communication; a node as protobuf prints it, a line each."""
    store.write_run(two_ranks().build())

    written = same_as_et(store, RUN, tmp_path)

    assert list(written["files"]) == ["small.0.json", "small.1.json"]
    assert [facts["communications"] for facts in written["files"].values()] == [1, 1]
    node = orjson.loads((tmp_path / "small.1.json").read_bytes().splitlines()[4].rstrip(b","))
    assert (node["id"], node["type"], node["dataDeps"]) == ("4", "COMP_NODE", ["3"])
    # the rest of aten::linear (0 to 30 µs), cut at 10.5 µs where its kernel starts
    assert (node["startTimeMicros"], node["durationMicros"]) == ("11", "19")


def test_an_imported_chakra_file_goes_the_same_way(store: Store, tmp_path: Path) -> None:
    """Import a `.et`, export it as JSON: what `chakra_jsonizer` did."""
    store.write_run(chakra_run([(5, 6), (5, 7), (6, 7)]).build())

    same_as_et(store, RUN, tmp_path)

    assert [node.id for node in read(tmp_path / "small.0.json")[1]] == [5, 6, 7]


@pytest.mark.parametrize("name", ["chakra_et/all_reduce_8npus", "chakra_et/custom_ring_8npus"])
def test_public_chakra_files(name: str, data_dir: Path, tmp_path: Path) -> None:
    """Node id 0, sends and receives: all of it is there."""
    store = open_store(Settings(store=str(tmp_path / "archive")))
    imported(store, "there", data_dir / "public" / name)

    assert len(same_as_et(store, "there", tmp_path / "out")["files"]) == 8

    store.close()


def test_the_bytes_do_not_depend_on_the_archive(store: Store, tmp_path: Path) -> None:
    """Another run number gives other keys, but the same files."""
    store.write_run(two_ranks().build())
    first = export_json(store, RUN, tmp_path)
    store.delete_run(RUN)
    store.write_run(_renumbered(two_ranks(), 9).build())

    assert export_json(store, RUN, tmp_path) == first


def test_a_cycle_and_an_empty_run_are_refused(kglite_store: Store, tmp_path: Path) -> None:
    """As for a `.et`: nothing is written."""
    kglite_store.write_run(chakra_run([(5, 6), (6, 5)]).build())
    kglite_store.write_run(GraphBuilder("empty", run_no=2).build())

    with pytest.raises(InputError, match="cycle"):
        export_json(kglite_store, RUN, tmp_path / "out")
    with pytest.raises(UsageError, match="holds no ops to write"):
        export_json(kglite_store, "empty", tmp_path / "out")

    assert not (tmp_path / "out").exists()


def test_the_command_writes_a_file_a_rank(demo: Archive, tmp_path: Path) -> None:
    """A row a file on stdout."""
    done = demo.run("export", "demo", "-o", tmp_path, "--format", "json", "--summary", "json")

    written = orjson.loads(done.stdout)
    assert list(written["files"]) == [f"demo.{rank}.json" for rank in range(RANKS)]
    assert sorted(path.name for path in tmp_path.iterdir()) == list(written["files"])
