"""A run of the archive is told as its files are, on both engines, and its graph says the same in Cypher."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson
import pytest

from graphstore import api, settings
from graphstore.errors import GraphstoreError, UsageError
from graphstore.settings import Settings
from tests.engines import Server
from tests.integration.expected import FOLDER

DATA = Path(__file__).parents[1] / "data"
Imports = Callable[[Path], tuple[str, Settings]]
OWN = ("rank_skips_a_call", "waits_in_a_chain")
# What only reading the files tells, and what of a group both a dump and a trace say.
NOT_STORED = {"skipped_folders"}


def _sets() -> list[Any]:
    found = [
        str(path.parent.relative_to(FOLDER))
        for path in sorted(FOLDER.glob("**/expected.json"))
        if "matching" in json.loads(path.read_text())
    ]
    shared = [pytest.param(name, marks=pytest.mark.data) for name in found]
    return shared or [pytest.param(None, marks=pytest.mark.data, id="the shared trace sets are absent")]


def plain(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record as its JSON is read, without what the graph does not keep."""
    told: dict[str, Any] = orjson.loads(orjson.dumps(record, option=orjson.OPT_NON_STR_KEYS))
    told["groups"] = [{key: value for key, value in g.items() if key != "origin"} for g in told["groups"]]
    return {key: value for key, value in told.items() if key not in NOT_STORED}


def imported(folder: Path, here: Settings) -> str:
    """Import a folder as a run of its own; return its id."""
    (result,) = api.import_runs([str(folder)], api.ImportOptions(), here).runs
    return result.run


def rows(run: str, query: str, here: Settings, **parameters: Any) -> list[dict[str, Any]]:
    """Return all rows of a catalogue query or a text."""
    return api.query_run(run, query, parameters, here, row_limit=1_000_000).rows.to_dicts()


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Imports:
    """Return what imports a folder into an embedded archive, once, and gives its run."""
    here = settings.load(str(tmp_path_factory.mktemp("sets") / "home"))
    return lru_cache(lambda folder: (imported(folder, here), here))


@pytest.fixture
def embedded(tmp_path: Path) -> Settings:
    """Return settings of an empty embedded archive."""
    return settings.load(str(tmp_path / "home"))


@pytest.fixture
def on_neo4j(neo4j_wiped: Server) -> Settings:
    """Return settings of an empty Neo4j database."""
    return replace(
        settings.load(neo4j_wiped.uri), username=neo4j_wiped.username, password=neo4j_wiped.password
    )


@pytest.mark.parametrize("name", _sets())
def test_an_embedded_run_is_told_as_its_files(name: str, data_dir: Path, archive: Imports) -> None:
    """Every part of the answer that is kept: verdicts, causes, windows, waits, notes."""
    run, here = archive(data_dir / name)

    assert plain(api.hang_run(run, here).record) == plain(api.hang_files([str(data_dir / name)], here).record)


@pytest.mark.neo4j
@pytest.mark.slow
@pytest.mark.parametrize("name", _sets())
def test_a_run_on_neo4j_is_told_as_its_files(name: str, data_dir: Path, on_neo4j: Settings) -> None:
    """The same on a server."""
    run = imported(data_dir / name, on_neo4j)

    assert plain(api.hang_run(run, on_neo4j).record) == plain(
        api.hang_files([str(data_dir / name)], on_neo4j).record
    )


@pytest.mark.parametrize("name", _sets())
def test_the_graph_counts_collectives_as_expected(name: str, data_dir: Path, archive: Imports) -> None:
    """Collectives per verdict are those of expected.json, and every call that was matched is part of one."""
    wanted = json.loads((data_dir / name / "expected.json").read_text())["matching"]["collectives"]
    run, embedded = archive(data_dir / name)

    found = rows(run, "MATCH (c:Collective {run: $run}) RETURN c.verdict AS verdict ORDER BY c.uid", embedded)
    counted = "MATCH (c:Collective {run: $run}) RETURN sum(c.calls) AS calls"
    edges = "MATCH (:Op)-[e:CALL_OF]->(c:Collective {run: $run}) RETURN count(e) AS calls"

    assert Counter(row["verdict"] for row in found) == {k: n for k, n in wanted.items() if n}
    assert rows(run, counted, embedded) == rows(run, edges, embedded)


@pytest.mark.parametrize("name", OWN)
def test_check_makes_a_finding_of_each_cause(name: str, embedded: Settings) -> None:
    """The sentence of the answer, about the ranks and the collective it names."""
    run = imported(DATA / name, embedded)
    record = api.hang_run(run, embedded).record

    found = [finding for finding in api.check_run(run, embedded) if finding.rule == "communication_fault"]

    assert [finding.message for finding in found] == [cause["message"] for cause in record["findings"]]
    assert {subject.label for finding in found for subject in finding.subjects} >= {"Rank"}


def test_every_entry_of_a_dump_is_a_call_and_the_ledger_balances(embedded: Settings) -> None:
    """Nothing of the recorded example is left out, and each entry is a CollectiveCall."""
    run = imported(DATA / OWN[0], embedded)

    files = rows(
        run,
        "MATCH (f:TraceFile {run: $run}) WHERE f.kind = 'flight_recorder' "
        "RETURN f.kept AS kept, f.records_read AS records_read ORDER BY f.uid",
        embedded,
    )
    calls = rows(run, "MATCH (c:CollectiveCall {run: $run}) RETURN count(c) AS n", embedded)

    assert sum(file["kept"] for file in files) == sum(file["records_read"] for file in files) == calls[0]["n"]


def test_dumps_of_two_jobs_are_refused_and_nothing_is_stored(tmp_path: Path, embedded: Settings) -> None:
    """A run is one job: the second job's dumps get other names, so that both lie in one folder."""
    folder = tmp_path / "both"
    shutil.copytree(DATA / OWN[0], folder)
    for path in (DATA / OWN[1]).iterdir():
        shutil.copy(path, folder / f"other_{path.name}")

    with pytest.raises(GraphstoreError, match="jobs"):
        imported(folder, embedded)

    assert api.list_runs(embedded) == []


def test_a_run_without_communication_is_refused(tmp_path: Path, embedded: Settings) -> None:
    """There is nothing to ask, and the message says what to import."""
    node = {"id": 1, "name": "[pytorch|profiler|execution_trace|process]", "ctrl_deps": 1}
    (tmp_path / "et_rank0.json").write_text(
        json.dumps({"schema": "1.0.1-chakra.0.0.4", "pid": 1, "nodes": [node]})
    )
    run = imported(tmp_path / "et_rank0.json", embedded)

    with pytest.raises(UsageError, match="no communication"):
        api.hang_run(run, embedded)
