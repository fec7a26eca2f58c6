"""The file that moves runs: what is written is read, what is damaged is refused or harmless."""

from __future__ import annotations

import hashlib
import io
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphstore.errors import InputError
from graphstore.export import open_archive, write_archive
from graphstore.model.records import POLARS_TYPE, EdgeTable, RunGraph, complete, key_of, node_schema
from graphstore.model.schema import TYPE_BY_NAME
from graphstore.settings import Settings
from tests.graphs import run_graphs, small_run

SETTINGS = Settings(store="-")
Rows = dict[str, Any]


def as_stored(graph: RunGraph) -> RunGraph:
    """Return a run as a store gives it: every property, edges by keys."""
    edges = []
    for table in graph.edges:
        schema = {"src": key_of(table.source)[1], "dst": key_of(table.target)[1]}
        schema |= {p.name: POLARS_TYPE[p.type] for p in TYPE_BY_NAME[table.type].properties}
        frame = table.frame
        if table.target == "Run":
            frame = frame.with_columns(pl.lit(graph.run["run"]).alias("dst"))
        edges.append(EdgeTable(table.type, table.source, table.target, complete(frame, schema)))
    run = {name: graph.run.get(name) for name in node_schema("Run")}
    return RunGraph(run, graph.nodes, edges)


def rows(graph: RunGraph) -> Rows:
    """Return a run as values that compare."""
    edges = {f"{t.source}-{t.type}-{t.target}": t.frame.rows() for t in graph.edges}
    return {label: frame.rows() for label, frame in graph.nodes.items()} | edges | {"Run": graph.run}


def read(path: Path) -> list[Rows]:
    """Return the runs of a file, read as an import reads them."""
    with open_archive(path, SETTINGS) as file:
        file.check()
        return [rows(file.graph(entry)) for entry in file.runs]


def outcome(path: Path) -> list[Rows] | str:
    """Return the runs of a file, or 'refused' when that is said in one line that names it."""
    try:
        return read(path)
    except InputError as error:
        told = str(error)
    return "refused" if str(path) in told and "\n" not in told else told


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes, list[Rows]]:
    """Return a file of two runs: where damaged copies may go, its bytes, and what it holds."""
    path = tmp_path_factory.mktemp("file") / "f"
    graphs = [as_stored(small_run(run, number)) for number, run in enumerate(("a", "b"), 1)]
    write_archive(path, graphs)
    return path.with_name("damaged"), path.read_bytes(), [rows(graph) for graph in graphs]


@given(run_graphs("drawn", 3))
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
def test_any_run_is_read_as_it_was_written(tmp_path: Path, graph: RunGraph) -> None:
    """Every label, type and property with any value: nulls, empty lists, odd texts, the largest numbers."""
    stored = as_stored(graph)

    write_archive(tmp_path / "f", [stored])

    assert read(tmp_path / "f") == [rows(stored)]


def test_the_same_run_gives_the_same_bytes(tmp_path: Path) -> None:
    """No time and no path of the machine is in it."""
    for name in ("a", "b"):
        write_archive(tmp_path / name, [as_stored(small_run("r", 1))])

    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@given(st.data())
@settings(max_examples=300)
def test_a_flipped_byte_is_refused_or_harmless(
    whole: tuple[Path, bytes, list[Rows]], data: st.DataObject
) -> None:
    """Whatever byte it is: one line, or all that was written."""
    path, content, held = whole
    place = data.draw(st.integers(0, len(content) - 1))
    flipped = bytearray(content)
    flipped[place] ^= data.draw(st.integers(1, 255))
    path.write_bytes(flipped)

    assert outcome(path) in (held, "refused")


@given(st.data())
@settings(max_examples=100)
def test_a_cut_file_is_refused(whole: tuple[Path, bytes, list[Rows]], data: st.DataObject) -> None:
    """Wherever it ends."""
    path, content, _ = whole
    path.write_bytes(content[: data.draw(st.integers(0, len(content) - 1))])

    with pytest.raises(InputError):
        read(path)


@given(st.data())
@settings(max_examples=100)
def test_a_hole_of_zeros_is_refused_or_harmless(
    whole: tuple[Path, bytes, list[Rows]], data: st.DataObject
) -> None:
    """As a copy that was broken off leaves it."""
    path, content, held = whole
    start = data.draw(st.integers(0, len(content) - 1))
    length = data.draw(st.integers(1, 4096))
    path.write_bytes(content[:start] + bytes(min(length, len(content) - start)) + content[start + length :])

    assert outcome(path) in (held, "refused")


def remade(path: Path, change: Any) -> None:
    """Write a file anew with its manifest and tables changed and every hash right: by hand, not by chance."""
    with zipfile.ZipFile(path) as old:
        members = {name: old.read(name) for name in old.namelist()}
    manifest = orjson.loads(members.pop("manifest.json"))
    change(manifest, members)
    with zipfile.ZipFile(path, "w") as made:
        for run in manifest["runs"]:
            for table in [*run["nodes"], *run["edges"]]:
                own = members.get(table["file"], b"")
                table |= {"bytes": len(own), "sha256": hashlib.sha256(own).hexdigest()}
        text = orjson.dumps(manifest)
        for name, own in members.items():
            made.writestr(name, own)
        made.writestr("manifest.json", text)
        made.comment = b"sha256:" + hashlib.sha256(text).hexdigest().encode()


def _newer(manifest: Any, members: Any) -> None:
    manifest["version"] = 2


def _label(manifest: Any, members: Any) -> None:
    manifest["runs"][0]["nodes"][0]["label"] = "Galaxy"


def _ends(manifest: Any, members: Any) -> None:
    manifest["runs"][0]["edges"][0]["source"] = "Finding"


def _property(manifest: Any, members: Any) -> None:
    manifest["runs"][0]["run"]["colour"] = "red"


def _type(manifest: Any, members: Any) -> None:
    manifest["runs"][0]["run"]["world_size"] = "many"


def _id(manifest: Any, members: Any) -> None:
    manifest["runs"][0]["run"]["run"] = "../../etc"


def _rows(manifest: Any, members: Any) -> None:
    manifest["runs"][0]["nodes"][0]["rows"] += 1


def _extra(manifest: Any, members: Any) -> None:
    members["../outside"] = b"x"


def _absent(manifest: Any, members: Any) -> None:
    del members[manifest["runs"][0]["nodes"][0]["file"]]


def _no_table(manifest: Any, members: Any) -> None:
    members[manifest["runs"][0]["nodes"][0]["file"]] = b"ARROW1\0\0" + b"\xff" * 99


def _twice(manifest: Any, members: Any) -> None:
    first, second = manifest["runs"][0]["nodes"]
    del members[second["file"]]
    second["file"] = first["file"]


def _no_key(manifest: Any, members: Any) -> None:
    name = manifest["runs"][0]["nodes"][0]["file"]
    buffer = io.BytesIO()
    pl.DataFrame({"name": ["rank 0"]}).write_ipc(buffer)
    members[name] = buffer.getvalue()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (_newer, "form 2, written by graphstore .* Update graphstore"),
        (_label, "label Galaxy is unknown"),
        (_ends, "edges Finding-.* is unknown"),
        (_property, "property colour of a run is unknown"),
        (_type, "no whole archive"),
        (_id, "a run in it has no id"),
        (_rows, "rows, not"),
        (_extra, "does not hold the tables"),
        (_absent, "does not hold the tables"),
        (_twice, "does not hold the tables"),
        (_no_table, "no whole archive"),
        (_no_key, "lacks run, uid"),
    ],
)
def test_a_file_made_by_hand_is_refused_by_what_is_wrong(tmp_path: Path, change: Any, told: str) -> None:
    """Right hashes are not enough; nothing of it reaches the disk or a store."""
    path = tmp_path / "f"
    write_archive(path, [as_stored(small_run("a", 1))])
    remade(path, change)

    with pytest.raises(InputError, match=told) as caught:
        read(path)

    assert "\n" not in str(caught.value)
    assert [each.name for each in tmp_path.iterdir()] == ["f"]


def test_a_file_remade_without_a_change_is_read(tmp_path: Path) -> None:
    """The near-miss of the above: what refuses is the change, not the remaking."""
    path = tmp_path / "f"
    graph = as_stored(small_run("a", 1))
    write_archive(path, [graph])
    remade(path, lambda manifest, members: None)

    assert read(path) == [rows(graph)]


def test_a_table_that_unpacks_to_more_than_it_says_is_not_read_on(tmp_path: Path) -> None:
    """A zip bomb ends one byte after the size that its directory names."""
    path = tmp_path / "f"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("manifest.json", b" " * 10_000_000)
    content = path.read_bytes()
    path.write_bytes(content.replace((10_000_000).to_bytes(4, "little"), (10).to_bytes(4, "little")))

    with pytest.raises(InputError):
        read(path)


def test_no_more_is_unpacked_than_the_settings_allow(tmp_path: Path) -> None:
    """The sizes are added up before a table is read."""
    write_archive(tmp_path / "f", [as_stored(small_run("a", 1))])

    with (
        pytest.raises(InputError, match="max_file_bytes"),
        open_archive(tmp_path / "f", replace(SETTINGS, max_file_bytes=1000)),
    ):
        pass
