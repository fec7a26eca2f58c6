"""Matching says of every shared set what its expected.json says, whatever the order of the files."""

from __future__ import annotations

import json
import random
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from graphstore.link.matching.file_dumps import flight_dumps
from graphstore.link.matching.matching import match_dumps
from graphstore.link.matching.model import JobMatching, RankDump
from graphstore.model.records import FileRecords
from tests.integration.expected import FOLDER
from tests.integration.matching_sets import expected, only_job, records_of, told, traces_of

pytestmark = pytest.mark.data

NVRX = ("public/fr_nvrx/gpu_error_1st", "public/fr_nvrx/lock_gil_1st")
TRACES_ONLY = ("mini/16-cross-rank-subgroups",)
FAULTY = {NVRX[0]: [12, 14], NVRX[1]: [9, 14]}
# the only ranks whose dumps show what ranks 12 and 14 left undone
ONLY_WITNESSES = {(NVRX[0], 13): 12, (NVRX[0], 15): 14}


def _sets() -> list[Any]:
    found = [
        str(path.parent.relative_to(FOLDER))
        for path in sorted(FOLDER.glob("**/expected.json"))
        if "matching" in json.loads(path.read_text())
    ]
    return found or [pytest.param(None, id="the shared trace sets are absent")]


@lru_cache
def _records(folder: Path) -> list[FileRecords]:
    return records_of(folder)


def _dumps(folder: Path) -> list[RankDump]:
    records = _records(folder)
    return traces_of(records) if str(folder).endswith(TRACES_ONLY) else flight_dumps(records)


def _blamed(job: JobMatching) -> dict[int, str]:
    return {culprit["rank"]: culprit["confidence"] for culprit in job.culprits}


@pytest.mark.parametrize("name", _sets())
def test_every_set_is_told_as_expected(name: str, data_dir: Path) -> None:
    """Verdicts, windows, waits, groups, findings and culprits: all but the texts."""
    wanted = expected(data_dir / name)

    found = told(only_job(_dumps(data_dir / name)))

    for key, value in wanted.items():
        assert found[key] == value, key


@pytest.mark.parametrize("name", _sets())
def test_the_order_of_files_changes_nothing(name: str, data_dir: Path) -> None:
    """Five orders of the files of a set: the same answer, texts and evidence included."""
    dumps = list(_dumps(data_dir / name))
    first = only_job(dumps)
    shuffle = random.Random(name)

    for _ in range(5):
        shuffle.shuffle(dumps)
        again = only_job(dumps)
        assert told(again) == told(first)
        assert again.causes == first.causes
        assert again.collectives.equals(first.collectives)


@pytest.mark.parametrize("forms", [("gloo/basic", "gloo/basic_json"), ("gloo/ring", "gloo/ring_json")])
def test_both_forms_of_one_dump_are_one_process(forms: tuple[str, str], data_dir: Path) -> None:
    """A pickle and a JSON dump of each rank together say what one of them says."""
    pickles, texts = (_dumps(data_dir / "fr" / form) for form in forms)

    both = only_job([*pickles, *texts])

    alone = told(only_job(pickles))
    assert told(both) | {"files": None} == alone | {"files": None}


@pytest.mark.parametrize("name", ["demo_4r", "fr_et_kineto"])
def test_traces_give_gloo_groups_their_members(name: str, data_dir: Path) -> None:
    """gloo's dumps list no members; the other files of the same ranks do, and the job is sound."""
    job = only_job(_dumps(data_dir / name))

    assert job.healthy is True
    assert {group.origin for group in job.groups} == {"kineto"}
    assert set(job.collectives["verdict"]) == {"MATCHED"}


@pytest.mark.parametrize("name", NVRX)
@pytest.mark.parametrize("rank", range(16))
def test_without_one_dump_no_other_rank_is_blamed(name: str, rank: int, data_dir: Path) -> None:
    """A dump is gone: its rank is suspected where chains end at it, and both causes stay if witnessed."""
    dumps = [dump for dump in _dumps(data_dir / name) if dump.rank != rank]

    found = _blamed(only_job(dumps))

    faulty = set(FAULTY[name])
    assert set(found) <= faulty | {rank}
    assert found.get(rank, "low") == "low"
    assert set(found) >= faulty - {rank, ONLY_WITNESSES.get((name, rank))}
    if rank in faulty:
        assert found[rank] == "low"


def test_without_counters_what_only_they_prove_is_open(data_dir: Path) -> None:
    """Without pg_status: ranks that finished less are still seen; empty dumps say nothing."""
    found = {}
    for name in NVRX:
        dumps = [
            RankDump(dump.file, dump.rank, dump.entries, dump.flight | {"pg_status": {}})
            for dump in _dumps(data_dir / name)
        ]
        found[name] = _blamed(only_job(dumps))

    assert found == {NVRX[0]: {12: "medium", 14: "medium"}, NVRX[1]: {}}


@pytest.mark.parametrize("name", NVRX)
def test_without_the_dumps_of_the_faulty_ranks_exactly_they_are_suspected(name: str, data_dir: Path) -> None:
    """All chains end at the two ranks that left no dump."""
    dumps = [dump for dump in _dumps(data_dir / name) if dump.rank not in FAULTY[name]]

    assert _blamed(only_job(dumps)) == dict.fromkeys(FAULTY[name], "low")


def test_two_jobs_in_one_folder_are_told_apart(data_dir: Path) -> None:
    """Both real sets mixed, two of the dumps empty: each job gets its own dumps and its own answer."""
    dumps = [dump for name in NVRX for dump in _dumps(data_dir / name)]
    random.Random(5).shuffle(dumps)

    matching = match_dumps(dumps)

    assert not matching.set_aside
    assert [sorted(_blamed(job)) for job in matching] == [FAULTY[name] for name in sorted(NVRX, reverse=True)]
