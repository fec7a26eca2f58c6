"""Files appear whole and all together, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphstore.chakra import GlobalMetadata, Node, framed
from graphstore.errors import TraceFormatError, UsageError
from graphstore.export.files import facts_of, publish, read_et, read_nodes, staged, write_et


def test_files_move_into_place_together_and_nothing_else_stays(tmp_path: Path) -> None:
    """An existing file is replaced, the temporary folder goes."""
    out = tmp_path / "new" / "out"
    with staged(out) as stage:
        (stage / "a").write_text("1")
        (stage / "b").write_text("2")
        publish(stage, out, ["a", "b"])

    assert {path.name: path.read_text() for path in out.iterdir()} == {"a": "1", "b": "2"}


def failing_export(out: Path) -> None:
    """Write a file, then fail on the way."""
    with staged(out) as stage:
        (stage / "a").write_text("new")
        raise ValueError("on the way")


def test_a_failure_leaves_the_folder_as_it_was(tmp_path: Path) -> None:
    """The old file stays, nothing half-written lies beside it."""
    (tmp_path / "a").write_text("old")

    with pytest.raises(ValueError, match="on the way"):
        failing_export(tmp_path)

    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "old"}


def test_a_folder_made_for_a_failed_export_goes_again(tmp_path: Path) -> None:
    """Whoever looks for the result finds none."""
    with pytest.raises(ValueError, match="on the way"):
        failing_export(tmp_path / "out")

    assert not (tmp_path / "out").exists()


def test_a_file_in_the_place_of_the_folder_is_one_line(tmp_path: Path) -> None:
    """A mistake of the caller is a UsageError that names the place."""
    (tmp_path / "out").write_text("")

    with pytest.raises(UsageError, match=r"out: an export can't be written there \(File exists\)"):
        failing_export(tmp_path / "out")


def test_a_folder_in_the_place_of_a_file_stops_before_anything_moves(tmp_path: Path) -> None:
    """All or none also where one name is taken."""
    (tmp_path / "b").mkdir()
    stage = tmp_path / "stage"
    stage.mkdir()
    (stage / "a").write_text("1")
    (stage / "b").write_text("2")

    with pytest.raises(UsageError, match="is a folder"):
        publish(stage, tmp_path, ["a", "b"])

    assert not (tmp_path / "a").exists()


def test_a_chakra_file_reads_back_as_written(tmp_path: Path) -> None:
    """The metadata record comes first: readers take whatever stands first for it."""
    nodes = [Node(id=1, name="a"), Node(id=2, data_deps=[1])]

    write_et(tmp_path / "x.et", map(framed, [GlobalMetadata(version="0.0.4"), *nodes]))

    assert read_et(tmp_path / "x.et") == (GlobalMetadata(version="0.0.4"), nodes)
    assert list(read_nodes(tmp_path / "x.et")) == nodes
    assert facts_of(tmp_path / "x.et")["size_bytes"] == (tmp_path / "x.et").stat().st_size


def test_a_cut_file_is_not_read_as_a_shorter_one(tmp_path: Path) -> None:
    """A missing tail is an error that names the byte."""
    path = tmp_path / "x.et"
    write_et(path, map(framed, [GlobalMetadata(version="0.0.4"), Node(id=1, name="a long name")]))
    path.write_bytes(path.read_bytes()[:-3])

    with pytest.raises(TraceFormatError, match="cut at byte 8"):
        read_et(path)
