"""Names and bytes of the files of a workload."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from graphstore.chakra import GlobalMetadata, framed
from graphstore.errors import InputError, TraceFormatError
from tests.unit.export.simulator.workload import check, found, node, rules, write


def test_a_good_workload_breaks_no_rule(tmp_path: Path) -> None:
    """Two ranks of a node each, metadata first, named w.0.et and w.1.et."""
    assert rules(tmp_path, {0: [node(0)], 1: [node(7)]}) == set()


def test_a_missing_rank_is_named(tmp_path: Path) -> None:
    """w.1.et is absent between 0 and 2."""
    missing = found(tmp_path, {0: [node(1)], 2: [node(1)]})["rank_missing"]

    assert missing.severity == "error"
    assert missing.evidence["ranks"] == [1]


def test_one_rank_is_too_few(tmp_path: Path) -> None:
    """The analytical network has two NPUs at least."""
    assert rules(tmp_path, {0: [node(1)]}) == {"too_few_ranks"}


@pytest.mark.parametrize("name", ["trace.et", "w.01.et", "w.0.chakra"])
def test_a_name_without_its_rank_is_told(tmp_path: Path, name: str) -> None:
    """The simulator looks for PREFIX.RANK.et and nothing else."""
    (path,) = write(tmp_path, {0: [node(1)]})

    assert {finding.rule for finding in check([path.rename(tmp_path / name)])} == {"file_name"}


def test_files_of_two_prefixes_are_no_workload(tmp_path: Path) -> None:
    """Each is found under its own PREFIX only."""
    paths = write(tmp_path, {0: [node(1)], 1: [node(1)], 2: [node(1)]})

    findings = check([*paths[:2], paths[2].rename(tmp_path / "other.2.et")])

    assert [finding.rule for finding in findings] == ["several_workloads"]


def test_a_file_without_metadata_loses_its_first_node(tmp_path: Path) -> None:
    """The simulator takes the first record as metadata, so the dep on node 1 has nothing to wait for."""
    paths = write(tmp_path, {0: [], 1: [node(1)]})
    with paths[0].open("wb") as stream:
        stream.writelines(map(framed, [node(1), node(2, [1])]))

    findings = {finding.rule: finding for finding in check(paths)}

    assert findings["no_metadata"].evidence["swallowed"] == 1
    assert set(findings) == {"no_metadata", "dangling_dep"}


def test_empty_metadata_is_metadata(tmp_path: Path) -> None:
    """It has neither version nor attributes."""
    paths = write(tmp_path, {0: [], 1: [node(1)]})
    with paths[0].open("wb") as stream:
        stream.writelines(map(framed, [GlobalMetadata(), node(1)]))

    assert check(paths) == []


def test_a_cut_file_is_told_with_the_place(tmp_path: Path) -> None:
    """The whole nodes are looked at all the same."""
    paths = write(tmp_path, {0: [node(1), node(2, [9]), node(3)], 1: [node(1)]})
    paths[0].write_bytes(paths[0].read_bytes()[:-2])

    findings = {finding.rule: finding for finding in check(paths)}

    assert findings["file_cut"].evidence["nodes"] == 2
    assert "dangling_dep" in findings


def test_a_packed_file_is_told(tmp_path: Path) -> None:
    """gzip is not unpacked by the simulator; we look inside all the same."""
    paths = write(tmp_path, {0: [node(1, [1])], 1: [node(1)]})
    paths[0].write_bytes(gzip.compress(paths[0].read_bytes()))

    assert {"file_packed", "self_dep"} <= {finding.rule for finding in check(paths)}


def test_a_file_that_may_not_be_written_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The simulator opens its input for appending. (Tests may run as root, whom no mode stops.)"""
    monkeypatch.setattr("os.access", lambda path, mode: False)

    told = found(tmp_path, {0: [node(1)], 1: [node(1)]})["not_writable"]

    assert (told.severity, told.message) == ("warning", "w.0.et: is not writable")


def test_a_rank_without_nodes_is_told(tmp_path: Path) -> None:
    """The simulator aborts on an empty graph."""
    empty = found(tmp_path, {0: [node(1)], 1: []})["no_nodes"]

    assert (empty.severity, empty.rank) == ("error", 1)


def test_a_file_that_is_none_is_an_error_of_input(tmp_path: Path) -> None:
    """Absent, or bytes that are no messages: one line that names the file."""
    with pytest.raises(InputError, match=r"w\.3\.et"):
        check([tmp_path / "w.3.et"])
    (tmp_path / "w.0.et").write_bytes(b"\x04\xff\xff\xff\xff" * 3)
    with pytest.raises(TraceFormatError, match=r"w\.0\.et: the message before byte"):
        check([tmp_path / "w.0.et"])
