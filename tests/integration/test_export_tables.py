"""Flat tables of small runs made by hand, on both engines and by the command line, read back with polars."""

from __future__ import annotations

import hashlib
import json
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from graphstore.errors import LedgerError, UsageError
from graphstore.export import export_tables, table_columns
from graphstore.settings import Settings
from graphstore.store import Store, open_store
from tests.integration.test_cli import RANKS, Archive
from tests.integration.test_cli import demo as demo  # a fixture
from tests.queries.graphs import GraphBuilder

RUN = "small"
GROUP = {"group": "0[0-1]", "pg_name": "0"}
TABLES = ("groups", "collectives", "calls", "transfers")
TENSOR: dict[str, Any] = {"dtype": "Float", "in_sizes": "[[2,2]]", "in_dtypes": ["Float"], "in_msg_nelems": 4}


def stuck(run_no: int = 1) -> GraphBuilder:
    """Return a run of two ranks: all_reduce #1 is done, rank 1 never called #2, and 0 sent to 1 before."""
    graph = GraphBuilder(RUN, run_no, world_size=2, ranks=[0, 1])
    told: dict[str, Any] = {"pg_desc": "default_pg", "backend": "nccl", "origin": "pg_config"}
    whole = graph.node("ProcessGroup", "0[0-1]", members=[0, 1], complete=True, **GROUP, **told)
    own: dict[str, Any] = {**GROUP, "collective_kind": "all_reduce", "op_name": "nccl:all_reduce"}
    done = graph.node("Collective", "all_reduce #1", collective_seq_id=1, verdict="MATCHED", calls=2, **own)
    stays = graph.node(
        "Collective",
        "all_reduce #2",
        collective_seq_id=2,
        verdict="INCOMPLETE",
        in_flight=False,
        classes='{"not_reached": "1"}',
        unfinished="0",
        calls=1,
        **own,
    )
    way = graph.node("Channel", "0->1", src=0, dst=1, verdict="MATCHED", how="complete", **GROUP)
    calls = [(1, 1, done, "completed"), (0, 1, done, "completed"), (0, 2, stays, "scheduled")]
    for rank, number, part_of, state in calls:
        at = {
            "record_id": number,
            "site": f"train.py:{number}",
            "state": state,
            "retired": state == "completed",
        }
        made = graph.node(
            "CollectiveCall", "call", rank=rank, collective_seq_id=number, is_p2p=False, **at, **own, **TENSOR
        )
        graph.edge("CALL_OF", made, part_of, rule="collective_seq_id")
    recv, sent = (
        graph.node("CollectiveCall", kind, rank=rank, collective_kind=kind, peer=1 - rank, **GROUP, **at)
        for rank, kind, at in ((1, "recv", {"record_id": 0}), (0, "send", {"record_id": 0, "is_p2p": True}))
    )
    for node in (recv, sent):
        graph.edge("CALL_OF", node, way, rule="complete")
    graph.edge("PEER", sent, recv, rule="complete")
    graph.edge("IN_GROUP", sent, whole)
    return graph


def read(out: Path, name: str, form: str = "parquet") -> pl.DataFrame:
    """Return a table that was written."""
    path = out / f"{RUN}.{name}.{form}"
    return pl.read_parquet(path) if form == "parquet" else pl.read_csv(path)


def hashes(out: Path) -> dict[str, str]:
    """Return the sha256 of every file."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in out.iterdir()}


def test_a_run_becomes_four_tables(store: Store, tmp_path: Path) -> None:
    """Who stands where, on which call, at which line, and what the matching of the ranks says of it."""
    store.write_run(stuck().build())

    summary = export_tables(store, RUN, tmp_path, "parquet")

    assert read(tmp_path, "groups").rows() == [
        ("0[0-1]", "0", "default_pg", [0, 1], "pg_config", True, "nccl", 1)
    ]
    shown = read(tmp_path, "collectives").select(
        *(
            "collective_seq_id",
            "op_name",
            "pg_desc",
            "members",
            "verdict",
            "in_flight",
            "classes",
            "unfinished",
        ),
        *("calls", "call_rank", "in_sizes", "in_dtypes", "out_dtypes", "site"),
    )
    tensors = (0, "[[2,2]]", ["Float"], None)
    name = ("nccl:all_reduce", "default_pg", [0, 1])
    assert shown.rows() == [
        (1, *name, "MATCHED", None, None, None, 2, *tensors, "train.py:1"),
        (2, *name, "INCOMPLETE", False, '{"not_reached": "1"}', "0", 1, *tensors, "train.py:2"),
    ]
    shown = read(tmp_path, "calls").select("collective_seq_id", "rank", "state", "retired", "verdict", "site")
    assert shown.rows() == [
        (1, 0, "completed", True, "MATCHED", "train.py:1"),
        (1, 1, "completed", True, "MATCHED", "train.py:1"),
        (2, 0, "scheduled", False, "INCOMPLETE", "train.py:2"),
    ]
    rows = read(tmp_path, "transfers")
    shown = rows.select(
        "rank", "collective_kind", "src", "dst", "record_id", "peer_record_id", "verdict", "how"
    )
    assert shown.rows() == [
        (1, "recv", 0, 1, 0, 0, "MATCHED", "complete"),
        (0, "send", 0, 1, 0, 0, "MATCHED", "complete"),
    ]
    assert rows["peer_call"].to_list() == rows["call"].to_list()[::-1]
    assert {name: table["rows"] for name, table in summary["tables"].items()} == dict(
        zip(TABLES, (1, 2, 3, 2), strict=True)
    )
    assert summary["notes"] == {}


def test_csv_holds_the_same_rows(kglite_store: Store, tmp_path: Path) -> None:
    """Lists are JSON text there."""
    kglite_store.write_run(stuck().build())
    export_tables(kglite_store, RUN, tmp_path, "csv")
    export_tables(kglite_store, RUN, tmp_path, "parquet")

    for name in TABLES:
        text, rows = read(tmp_path, name, "csv"), read(tmp_path, name)
        assert (text.columns, text.height) == (rows.columns, rows.height)
    assert read(tmp_path, "collectives", "csv")["members"].to_list() == ["[0,1]", "[0,1]"]
    assert read(tmp_path, "calls", "csv")["in_dtypes"].to_list() == ['["Float"]'] * 3
    assert read(tmp_path, "calls", "csv")["retired"].to_list() == [True, True, False]


@pytest.mark.neo4j
@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_both_engines_give_the_same_bytes(
    form: Any, kglite_store: Store, neo4j_store: Store, tmp_path: Path
) -> None:
    """Also under another run number, which gives every node another key; and page by page, as at once."""
    kglite_store.write_run(stuck().build())
    neo4j_store.write_run(stuck(run_no=9).build())

    summary = export_tables(kglite_store, RUN, tmp_path / "embedded", form)
    export_tables(neo4j_store, RUN, tmp_path / "server", form)

    assert hashes(tmp_path / "embedded") == hashes(tmp_path / "server")
    assert hashes(tmp_path / "embedded") == {
        table["file"]: table["sha256"] for table in summary["tables"].values()
    }


def test_pages_are_joined(kglite_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether a page holds all keys or three of them, the bytes are the same."""
    kglite_store.write_run(stuck().build())
    export_tables(kglite_store, RUN, tmp_path / "once", "parquet")
    monkeypatch.setattr(table_columns, "PAGE_KEYS", 3)

    export_tables(kglite_store, RUN, tmp_path / "paged", "parquet")

    assert hashes(tmp_path / "once") == hashes(tmp_path / "paged")


def test_a_run_whose_ranks_were_not_matched_gives_its_calls(kglite_store: Store, tmp_path: Path) -> None:
    """The table of collectives is empty, with its columns; the ends of a send follow from the group."""
    graph = stuck()
    graph.edges = {}
    for label in ("Collective", "Channel"):
        del graph.rows[label]
    kglite_store.write_run(graph.build())

    summary = export_tables(kglite_store, RUN, tmp_path, "parquet")

    assert read(tmp_path, "collectives").height == 0
    assert "verdict" in read(tmp_path, "collectives").columns
    assert read(tmp_path, "transfers").select("src", "dst").rows() == [(0, 1)] * 2
    unmatched = "of which no matching of the ranks says anything"
    assert summary["notes"] == {f"call of a collective {unmatched}": 3, f"send or recv {unmatched}": 2}


def test_a_run_without_communication_is_one_line(kglite_store: Store, tmp_path: Path) -> None:
    """Four empty tables would look like a job that never communicated."""
    graph = GraphBuilder(RUN)
    graph.op("aten::add")
    kglite_store.write_run(graph.build())

    with pytest.raises(UsageError, match=r"run small holds no communication calls.*runs show small"):
        export_tables(kglite_store, RUN, tmp_path / "out", "csv")

    assert not (tmp_path / "out").exists()


def test_a_call_that_is_told_twice_is_a_defect(kglite_store: Store, tmp_path: Path) -> None:
    """A call is part of one collective; rows and calls are counted against each other."""
    graph = stuck()
    ends = ("CALL_OF", "Op", "Collective")
    first, *_ = graph.edges[ends]
    graph.edge("CALL_OF", first["src"], graph.edges[ends][-1]["dst"])
    kglite_store.write_run(graph.build())

    with pytest.raises(LedgerError, match="5 communication calls in the store but 6 rows"):
        export_tables(kglite_store, RUN, tmp_path / "out", "csv")

    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_a_full_disk_leaves_the_folder_as_it_was(form: Any, kglite_store: Store, tmp_path: Path) -> None:
    """The tables of an earlier export stay whole, all of them, and the line says what to do."""
    kglite_store.write_run(stuck().build())
    out = tmp_path / "out"
    export_tables(kglite_store, RUN, out, form)
    before = hashes(out)
    largest = max(path.stat().st_size for path in out.iterdir())

    with (
        files_below(largest),
        pytest.raises(UsageError, match=r"can't be written there \(File too large.*Make room"),
    ):
        export_tables(kglite_store, RUN, out, form)

    assert hashes(out) == before


@contextmanager
def files_below(size_bytes: int) -> Iterator[None]:
    """Let the system refuse files of that size, as it refuses all on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes - 1, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_progress_ends_with_all_calls_and_collectives(kglite_store: Store, tmp_path: Path) -> None:
    """Whoever watches sees how far it is."""
    kglite_store.write_run(stuck().build())
    seen: list[tuple[str, int, int]] = []

    export_tables(kglite_store, RUN, tmp_path, "csv", lambda *state: seen.append(state))

    assert seen == [("export", 2, 7), ("export", 5, 7), ("export", 7, 7)]


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    """Return an archive that holds the run by hand."""
    made = Archive(tmp_path / "home")
    store = open_store(Settings(store=str(made.home)))
    store.write_run(stuck().build())
    store.close()
    return made


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_the_command_writes_the_tables(form: str, archive: Archive, tmp_path: Path) -> None:
    """A row a table on stdout, the place on stderr; the files are read by anything that reads the form."""
    out = tmp_path / "out"

    done = archive.run("export", RUN, "--format", form, "-o", out)

    assert sorted(path.name for path in out.iterdir()) == sorted(f"{RUN}.{name}.{form}" for name in TABLES)
    rows = [line.split()[:3] for line in done.stdout.decode().splitlines()[1:]]
    assert rows == [[name, f"{RUN}.{name}.{form}", str(read(out, name, form).height)] for name in TABLES]
    assert done.stderr.decode().splitlines() == [f"written to {out}: 4 files"]
    assert read(out, "collectives", form)["verdict"].to_list() == ["MATCHED", "INCOMPLETE"]


def test_the_summary_can_be_told_in_json(archive: Archive, tmp_path: Path) -> None:
    """--format is what is written, --summary how it is told."""
    words = ("export", RUN, "-o", tmp_path, "--summary", "json", "--format", "csv", "--quiet")

    summary = json.loads(archive.run(*words).stdout)

    assert (summary["run"], summary["target"], list(summary["tables"])) == (RUN, "csv", list(TABLES))
    assert {table["file"]: table["sha256"] for table in summary["tables"].values()} == {
        f"{RUN}.{name}.csv": hashlib.sha256((tmp_path / f"{RUN}.{name}.csv").read_bytes()).hexdigest()
        for name in TABLES
    }


def test_recorded_traces_give_each_rank_its_calls(demo: Archive, tmp_path: Path) -> None:
    """From execution traces, Kineto traces and dumps of a real job, and each call once."""
    demo.run("export", "demo", "-o", tmp_path, "--format", "parquet")

    calls = pl.read_parquet(tmp_path / "demo.calls.parquet")
    transfers = pl.read_parquet(tmp_path / "demo.transfers.parquet")
    assert calls.group_by("rank").len().sort("rank").rows() == [(rank, 21) for rank in range(RANKS)]
    assert transfers.group_by("rank").len().sort("rank").rows() == [(rank, 8) for rank in range(RANKS)]
    own = pl.when(pl.col("collective_kind") == "send").then("src").otherwise("dst")
    assert transfers.select(own == pl.col("rank")).to_series().all()


@pytest.mark.skipif(os.geteuid() == 0, reason="to root every folder of a disk is writable")
def test_a_folder_that_cannot_be_written_is_one_line(archive: Archive, tmp_path: Path) -> None:
    """The line names the folder; nothing lies in it."""
    out = tmp_path / "locked"
    out.mkdir(mode=0o500)

    line = archive.fails("export", RUN, "--format", "parquet", "-o", out, code=2)

    assert str(out) in line
    assert list(out.iterdir()) == []


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="there is no /proc")
def test_a_place_where_no_folder_can_be_made_is_one_line(archive: Archive) -> None:
    """Not even root makes a folder there."""
    line = archive.fails("export", RUN, "--format", "parquet", "-o", "/proc/graphstore", code=2)

    assert "/proc/graphstore: an export can't be written there" in line


def test_a_place_that_is_no_folder_is_one_line(archive: Archive, tmp_path: Path) -> None:
    """What was there stays."""
    (tmp_path / "taken").write_text("mine")

    line = archive.fails("export", RUN, "--format", "csv", "-o", tmp_path / "taken" / "out", code=2)

    assert "an export can't be written there" in line
    assert (tmp_path / "taken").read_text() == "mine"


def test_a_form_of_rows_is_no_export(archive: Archive, tmp_path: Path) -> None:
    """--format jsonl of other verbs tells rows: here the line names what can be written."""
    line = archive.fails("export", RUN, "--format", "jsonl", "-o", tmp_path / "out", code=2)

    assert "chakra" in line
    assert "parquet" in line
