"""Whether ASTRA-sim runs the public Chakra files: answers known from running them, and expected.json."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graphstore import api, settings
from graphstore.queries.findings import Finding

PUBLIC = "public/chakra_et"


def findings(folder: Path) -> list[Finding]:
    """Return what keeps the simulator from running the files of a folder."""
    return api.check_for_simulator([str(folder)], settings.load())[0]


@pytest.mark.parametrize("name", ["all_reduce_8npus", "custom_ring_8npus"])
def test_the_files_of_the_simulator_itself_break_no_rule(data_dir: Path, name: str) -> None:
    """Both sets of 8 ranks run to the end. (That they lie where nobody writes is no fault of theirs.)"""
    told = findings(data_dir / PUBLIC / name)

    assert [finding for finding in told if finding.rule != "not_writable"] == []


def test_the_known_bad_file_breaks_what_was_counted_in_it(data_dir: Path) -> None:
    """It aborts at load, on an absent ctrl parent, and stops at a collective that is marked CPU."""
    facts = json.loads((data_dir / PUBLIC / "expected.json").read_text())["files"]["feeder_test.0.et"]

    told = {finding.rule: finding for finding in findings(data_dir / PUBLIC) if finding.severity == "error"}

    assert set(told) == {
        *("attribute_absent", "communication_on_cpu", "cycle", "dangling_dep", "self_dep", "too_few_ranks")
    }
    dangling = told["dangling_dep"].evidence
    assert (dangling["field"], dangling["nodes"]) == ("ctrl_deps", facts["dangling"]["nodes"])
    assert dangling["absent_ids"][:20] == facts["absent_ids"]
    assert f"cycles: {facts['cycles']}; " in told["cycle"].message
    assert told["self_dep"].count == facts["nodes_that_name_themselves"]
    assert told["attribute_absent"].count == facts["comm_nodes_without_comm_size"]
    assert told["communication_on_cpu"].count == 14


def test_defects_of_single_files(data_dir: Path) -> None:
    """mini 13: what each file was made for; none has a rank in its name."""
    told: dict[str, set[str]] = {}
    for finding in findings(data_dir / "mini/13-et-dangling-dep-and-wire-types"):
        if finding.rule not in ("file_name", "not_writable", "order_in_ctrl_only"):
            told.setdefault(finding.message[0], set()).add(finding.rule)

    assert told == {
        "a": {"dangling_dep"},
        "d": {"attribute_wire_type"},
        "e": {"attribute_absent"},
        "f": {"cycle"},
        "g": {"file_cut"},
    }


def test_an_export_for_readers_of_chakra_is_not_yet_one_for_the_simulator(
    data_dir: Path, tmp_path: Path
) -> None:
    """demo_4r: METADATA nodes and a world called 0 in the JSON are refused; ids and deps are right."""
    wanted = api.ImportOptions(run="demo")
    api.convert([str(data_dir / "demo_4r")], tmp_path / "out", wanted, settings.load(str(tmp_path / "home")))

    told = findings(tmp_path / "out")

    rules = {finding.rule for finding in told}
    assert {"metadata_node", "group_file_bad"} <= rules
    assert rules.isdisjoint(
        {"duplicate_id", "dangling_dep", "cycle", "self_dep", "repeated_dep", "file_name"}
    )
    assert [finding.rank for finding in told if finding.rule == "metadata_node"] == [0, 1, 2, 3]


def test_our_own_exports_are_read_back_without_an_error(data_dir: Path, tmp_path: Path) -> None:
    """The ranks are told by the names the export gave, whatever id the run has."""
    here = settings.load(str(tmp_path / "home"))
    api.convert([str(data_dir / "demo_4r")], tmp_path / "out", api.ImportOptions(run="demo-3080"), here)
    files = sorted(str(path) for path in (tmp_path / "out").glob("*.et"))

    told, read = api.check_files(files, api.ImportOptions(), here)

    assert [facts["rank"] for facts in read.files] == [0, 1, 2, 3]
    assert [finding for finding in told if finding.severity == "error"] == []
