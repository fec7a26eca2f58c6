"""Flight Recorder dumps through `import`: several jobs, one process dumped twice, a dump of nobody's."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from graphstore.api.importing import ImportOptions, import_runs
from graphstore.errors import InputError, NoTraceError
from graphstore.settings import Settings
from graphstore.store import open_store
from tests.data.dumps import Value, dump, entry

HOUR_NS = 3_600 * 10**9


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Return the settings of an empty archive."""
    return Settings(store=str(tmp_path / "archive"))


def write(folder: Path, files: dict[str, Value]) -> None:
    """Write dumps into a folder, as pickle or by their name as JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, value in files.items():
        is_json = name.endswith(".json")
        (folder / name).write_bytes(
            json.dumps(value).encode() if is_json else pickle.dumps(value, protocol=2)
        )


def later(made: Value, by_ns: int) -> Value:
    """Return an entry made later."""
    return made | {"time_created_ns": made["time_created_ns"] + by_ns}


def runs(settings: Settings) -> list[Any]:
    """Return the ids of the runs in the archive."""
    store = open_store(settings)
    try:
        return [run["run"] for run in store.runs()]
    finally:
        store.close()


def rows(settings: Settings, text: str) -> list[tuple[Any, ...]]:
    """Return what a statement gives on the run."""
    store = open_store(settings)
    try:
        return store.query("r", text).rows()
    finally:
        store.close()


def test_dumps_of_several_jobs_are_refused_and_nothing_is_stored(tmp_path: Path, settings: Settings) -> None:
    """matching.md §2: more than 15 minutes apart. One line names a file of each job, and the way out."""
    write(
        tmp_path / "dumps",
        {
            "rank_0": dump(entry(0)),
            "rank_1": dump(entry(0)),
            "again_0": dump(later(entry(0), HOUR_NS)),
        },
    )

    with pytest.raises(InputError, match=r"are of 2 jobs .*rank_.*again_0") as caught:
        import_runs([str(tmp_path / "dumps")], ImportOptions(run="r"), settings)

    assert len(str(caught.value).splitlines()) == 1
    assert runs(settings) == []


def test_a_folder_of_two_jobs_does_not_hinder_the_others(tmp_path: Path, settings: Settings) -> None:
    """With --recursive it is listed as failed, and the folder beside it is imported."""
    good, bad = tmp_path / "dumps" / "good", tmp_path / "dumps" / "bad"
    write(good, {"rank_0": dump(entry(0)), "rank_1": dump(entry(0))})
    write(bad, {"rank_0": dump(entry(0)), "rank_1": dump(later(entry(0), HOUR_NS))})

    done = import_runs([str(tmp_path / "dumps")], ImportOptions(), settings, recursive=True)

    assert [run.run for run in done.runs] == runs(settings)
    (line,) = done.failed
    assert line.startswith(str(bad))
    assert "2 jobs" in line


def test_pickle_and_json_of_each_rank_give_each_record_one_node(tmp_path: Path, settings: Settings) -> None:
    """The JSON form was made later and has no frames: its state and the pickle's call site stand together."""
    for rank in (0, 1):
        made = [entry(0, state="completed", retired=True), entry(1)]
        ended = [made[0], entry(1, state="completed", retired=True)]
        write(tmp_path / "dumps", {f"rank_{rank}": dump(*made)})
        bare = [{name: value for name, value in each.items() if name != "frames"} for each in ended]
        write(tmp_path / "dumps", {f"rank_{rank}.json": dump(*bare)})

    (done,) = import_runs([str(tmp_path / "dumps")], ImportOptions(run="r"), settings).runs

    assert (done.counts["CollectiveCall"], done.counts["Collective"], done.counts["CALL_OF"]) == (4, 2, 4)
    assert [(file["records_read"], file["kept"]) for file in done.files] == [(2, 2)] * 4
    text = (
        "MATCH (c:CollectiveCall) WHERE c.run = $run "
        "RETURN c.rank AS rank, c.record_id AS record_id, c.state AS state, c.site AS site "
        "ORDER BY rank, record_id"
    )
    assert [row[:3] for row in rows(settings, text)] == [
        (rank, record, "completed") for rank in (0, 1) for record in (0, 1)
    ]
    assert all(str(row[3]).endswith("train.py:82") for row in rows(settings, text))


def test_a_dump_without_a_rank_becomes_no_call_and_the_ledger_says_so(
    tmp_path: Path, settings: Settings
) -> None:
    """Neither content nor name tells whose it is: it is listed, set aside, and its entry counted."""
    nobody = dump(entry(0), pg_config={})
    write(tmp_path / "dumps", {"rank_0": dump(entry(0)), "rank_1": dump(entry(0)), "flight.dump": nobody})

    (done,) = import_runs([str(tmp_path / "dumps")], ImportOptions(run="r"), settings).runs

    (file,) = [file for file in done.files if file["rank"] is None]
    assert (file["records_read"], file["kept"]) == (1, 0)
    assert json.loads(file["left_out"]) == {"the rank of the dump is not known": 1}
    assert done.counts["CollectiveCall"] == 2
    ((matching,),) = rows(settings, "MATCH (r:Run) WHERE r.run = $run RETURN r.matching AS matching")
    assert json.loads(matching)["set_aside"] == {"flight.dump": "its rank is not known"}


def test_a_folder_of_empty_dumps_is_a_run_without_calls(tmp_path: Path, settings: Settings) -> None:
    """Each rank has a file that holds no entry: the run says what is known, and that is not "healthy"."""
    write(tmp_path / "dumps", {f"rank_{rank}": dump() for rank in (0, 1)})

    (done,) = import_runs([str(tmp_path / "dumps")], ImportOptions(run="r"), settings).runs

    assert done.counts["CollectiveCall"] == 0
    text = "MATCH (r:Rank) WHERE r.run = $run RETURN r.rank AS rank, r.dump AS dump ORDER BY rank"
    assert rows(settings, text) == [(0, "none"), (1, "none")]
    healthy = "MATCH (r:Run) WHERE r.run = $run RETURN r.healthy AS healthy, r.matched_from AS source"
    assert rows(settings, healthy) == [(None, "flight_recorder")]


def test_a_folder_without_a_trace_is_none(tmp_path: Path, settings: Settings) -> None:
    """The near miss: text files are no dumps."""
    write(tmp_path / "dumps", {})
    (tmp_path / "dumps" / "notes.txt").write_text("nothing")

    with pytest.raises(NoTraceError):
        import_runs([str(tmp_path / "dumps")], ImportOptions(), settings)
