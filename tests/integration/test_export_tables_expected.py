"""The tables of the shared sets: collectives with the verdicts that expected.json names, transfers paired."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from graphstore import api, settings

SETS = (
    "fr/gloo/basic",
    "fr/gloo/skip",
    "fr/gloo/wrongop",
    "fr/synthetic/partialbatch",
    "fr/synthetic/pp4",
    "fr/synthetic/ringbatch",
    "fr_et_kineto",
    "mini/09-flight-recorder-hang",
    "public/fr_nvrx/gpu_error_1st",
    "public/fr_nvrx/lock_gil_1st",
)


def exported(folder: Path, out: Path) -> dict[str, pl.DataFrame]:
    """Return the tables of a folder, imported into an archive of its own."""
    here = settings.load(str(out / "home"))
    (result,) = api.import_runs([str(folder)], api.ImportOptions(), here).runs
    tables = api.export_tables(result.run, out, here)["tables"]
    return {name: pl.read_parquet(out / table["file"]) for name, table in tables.items()}


def channels(transfers: pl.DataFrame) -> list[tuple[Any, ...]]:
    """Return both ends, sends, recvs, verdict and paired calls of each channel."""
    is_send = pl.col("collective_kind") == "send"
    found = transfers.drop_nulls("verdict").group_by("group", "src", "dst", "verdict")
    counted = found.agg(
        is_send.sum().alias("sends"), is_send.not_().sum().alias("recvs"), pl.col("peer_call").count()
    )
    return sorted(counted.select("src", "dst", "sends", "recvs", "verdict", "peer_call").iter_rows())


@pytest.mark.data
@pytest.mark.parametrize("name", SETS)
def test_tables_tell_the_verdicts_of_the_set(name: str, data_dir: Path, tmp_path: Path) -> None:
    """What matching says of the files stands in the rows, nothing more and nothing less."""
    expected = json.loads((data_dir / name / "expected.json").read_bytes())["matching"]

    tables = exported(data_dir / name, tmp_path)

    assert Counter(tables["collectives"]["verdict"].to_list()) == expected["collectives"]
    assert channels(tables["transfers"]) == sorted(
        (edge["src"], edge["dst"], edge["sends"], edge["recvs"], edge["verdict"], paired(edge))
        for edge in expected["p2p"]
    )
    keys = ["group", "collective_seq_id"]
    assert tables["calls"].drop_nulls("verdict").join(tables["collectives"], on=keys, how="anti").height == 0


def paired(edge: dict[str, Any]) -> int:
    """Return how many sends and recvs of a channel have their partner."""
    pairs: int = sum(edge[name] for name in ("matched", "solved", "size_mismatch"))
    return 2 * pairs
