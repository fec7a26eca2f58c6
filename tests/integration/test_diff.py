"""The verb diff on real traces: one thing is planted, exactly that is told; as a process; on both engines."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from graphstore import api
from graphstore.queries.diffing import DiffResult, diff
from graphstore.settings import Settings
from graphstore.store import Store
from tests.data.planted import PLANTED, Event, Traces
from tests.integration.test_cli import Archive
from tests.integration.test_export import two_ranks

SETS = ("torch213/ddp_cnn_2r_sched", "demo_4r", "public/dlrm_8r", "torch214_synthgpu_2r")
KEPT = ("what", "change", "rank", "name", "delta_ns")
US = 1_000

pytestmark = pytest.mark.data


class Lab:
    """An archive with the recorded runs, into which runs with something planted are imported."""

    def __init__(self, folder: Path, data_dir: Path) -> None:
        """Import the recorded runs."""
        self.settings = Settings(store=str(folder / "home"))
        self.folder, self.data, self.made = folder, data_dir, 0
        for name in SETS:
            self.add(data_dir / name, Path(name).name)

    def add(self, folder: Path, run: str) -> str:
        """Import a folder as a run."""
        api.import_runs([str(folder)], api.ImportOptions(run=run), self.settings)
        return run

    def traces(self, name: str) -> Traces:
        """Return the files of a set, to be changed."""
        return Traces(self.data / name)

    def compared(self, name: str, planted: Traces) -> DiffResult:
        """Return what differs between a recorded run and what was made of it."""
        self.made += 1
        run = self.add(planted.write(self.folder / f"planted{self.made}"), f"planted{self.made}")
        return api.diff_runs(Path(name).name, run, self.settings)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory, data_dir: Path) -> Lab:
    """Return the archive of the module."""
    return Lab(tmp_path_factory.mktemp("diff"), data_dir)


def rows(found: DiffResult) -> list[tuple[Any, ...]]:
    """Return the changes as what, change, rank, name, delta."""
    return found.changes.select(KEPT).rows()


def ns(microseconds: float) -> int:
    """Return a time of a Kineto file in ns."""
    return round(microseconds * US)


@pytest.mark.parametrize("name", SETS)
def test_the_same_files_under_two_ids_do_not_differ(lab: Lab, name: str) -> None:
    """Nor does a run from itself; everything was compared, and nothing left to noise or explanation."""
    run = Path(name).name
    if f"{run}_again" not in [known["run"] for known in api.list_runs(lab.settings)]:
        lab.add(lab.data / name, f"{run}_again")

    for found in (
        api.diff_runs(run, run, lab.settings),
        api.diff_runs(run, f"{run}_again", lab.settings),
    ):
        assert rows(found) == []
        assert found.totals.select("within_noise", "explained").sum().row(0) == (0, 0)
        assert found.totals["count_a"].to_list() == found.totals["count_b"].to_list()
        assert found.worst is not None
        assert (found.worst["delta_ns"], found.notes) == (0, [])


def roomy(traces: Traces, rank: int) -> list[Event]:
    """Return ops of both traces with some µs of their own at a stretch, other than communication."""
    ids = {Traces.rf_id(node) for node in traces.trace(rank)["nodes"]} - {0}
    ops = traces.spans(rank, lambda e: e.get("cat") == "cpu_op" and e["dur"] > 50)
    ops = [op for op in ops if op["args"].get("Record function id") in ids]
    return [op for op in ops if (gap := traces.inner_gap(rank, op))[1] - gap[0] > 8]


@pytest.mark.parametrize("name", ["torch213/ddp_cnn_2r_sched", "demo_4r", "torch214_synthgpu_2r"])
@pytest.mark.parametrize("at", [0.1, 0.5, 0.9])
def test_one_op_more_in_both_traces_is_that_op(lab: Lab, name: str, at: float) -> None:
    """A new ET node and its Kineto span; its caller has less time of its own, which the new op explains."""
    traces = lab.traces(name)
    ops = roomy(traces, 1)
    length = traces.add_op(1, ops[int(at * len(ops))])

    found = lab.compared(name, traces)

    assert rows(found) == [("op", "added", 1, PLANTED, ns(length))]
    assert found.totals["explained"].sum() == 1


def test_an_op_more_among_equal_ones_is_one_op_more(lab: Lab) -> None:
    """Named as its siblings are, in the middle of them: their times say that they are the old ones."""
    traces = lab.traces("torch213/ddp_cnn_2r_sched")
    parent = next(op for op in traces.spans(0) if op["name"] == "Optimizer.step#SGD.step")
    length = traces.add_op(0, parent, "aten::mul_")

    found = lab.compared("torch213/ddp_cnn_2r_sched", traces)

    assert rows(found) == [("op", "added", 0, "aten::mul_", ns(length))]


def test_one_op_less_is_that_op(lab: Lab) -> None:
    """The mirror image: the same runs exchanged."""
    traces = lab.traces("torch213/ddp_cnn_2r_sched")
    length = traces.add_op(0, roomy(traces, 0)[20])
    lab.compared("torch213/ddp_cnn_2r_sched", traces)

    back = api.diff_runs(f"planted{lab.made}", "ddp_cnn_2r_sched", lab.settings)

    assert rows(back) == [("op", "removed", 0, PLANTED, -ns(length))]


@pytest.mark.parametrize("name", ["public/dlrm_8r", "torch214_synthgpu_2r"])
@pytest.mark.parametrize("at", [0.05, 0.4, 0.8])
def test_a_kernel_twice_as_slow_is_that_kernel(lab: Lab, name: str, at: float) -> None:
    """By 100 %, on its rank; no op, no caller and no other kernel is named."""
    traces = lab.traces(name)
    kernels = traces.kernels(1)
    kernel = kernels[int(at * len(kernels))]
    time = kernel["dur"]
    kernel["dur"] = 2 * time

    found = lab.compared(name, traces)

    assert rows(found) == [("kernel", "slower", 1, kernel["name"], ns(time))]
    assert found.changes.select("percent", "count_a", "self_a_ns").row(0) == (100, 1, ns(time))
    assert found.totals.select("within_noise", "explained").sum().row(0) == (0, 0)


def test_a_kernel_slower_in_every_step_is_one_change_that_holds_over_the_steps(lab: Lab) -> None:
    """The same place of the program in three steps is one site, and three samples."""
    traces = lab.traces("torch214_synthgpu_2r")
    name = "void aten_mm_kernel<float>"
    for kernel in traces.kernels(0):
        kernel["dur"] *= 2 if kernel["name"] == name else 1

    found = lab.compared("torch214_synthgpu_2r", traces).changes

    assert set(found["name"]) == {name}
    assert found["delta_ns"].sum() == found["self_a_ns"].sum()
    assert found.filter(pl.col("count_a") >= 3)["significant"].all()


@pytest.mark.parametrize("name", ["public/dlrm_8r", "torch214_synthgpu_2r"])
def test_a_communication_kernel_twice_as_slow_is_that_call(lab: Lab, name: str) -> None:
    """It is told once, as the call that it is, with the kernel in its path."""
    traces = lab.traces(name)
    kernel = traces.spans(0, lambda e: e.get("cat") == "kernel" and e["name"].startswith("nccl"))[3]
    time = kernel["dur"]
    kernel["dur"] = 2 * time

    found = lab.compared(name, traces).changes

    assert found.select("what", "change", "rank", "delta_ns").rows() == [
        ("collective", "slower", 0, ns(time))
    ]
    assert found["path"][0].endswith(kernel["name"])


@pytest.mark.parametrize("name", ["torch213/ddp_cnn_2r_sched", "demo_4r", "torch214_synthgpu_2r"])
@pytest.mark.parametrize("rank", [0, 1])
def test_a_rank_delayed_at_a_step_is_that_delay(lab: Lab, name: str, rank: int) -> None:
    """All its times from the step on are later, the other ranks' as before: its calls start later."""
    traces = lab.traces(name)
    mark = traces.spans(rank, lambda e: e["name"].startswith("ProfilerStep"))[-1]
    first = first_op(traces, rank, mark)
    traces.delay(rank, mark["ts"], 3_000)

    found = lab.compared(name, traces)

    assert rows(found) == [("rank", "delayed", rank, f"before {first}", 3_000_000)]


def first_op(traces: Traces, rank: int, mark: Event) -> str:
    """Return the first op after a mark on its thread that is no annotation."""
    ops = traces.spans(rank, lambda e: e["tid"] == mark["tid"] and e["ts"] > mark["ts"])
    return next(str(op["name"]) for op in ops if op.get("cat") == "cpu_op")


def test_a_delay_that_lets_the_others_wait_is_that_delay(lab: Lab) -> None:
    """Rank 0 comes 3 ms later to an all_reduce for which rank 1 waits: rank 1 is as much later, by its wait.

    Before the third all_reduce of ddp_cnn_2r_sched rank 0 is the last to come, and no call is in flight.
    """
    traces = lab.traces("torch213/ddp_cnn_2r_sched")
    calls = [traces.spans(rank, lambda e: e["name"] == "gloo:all_reduce")[2] for rank in (0, 1)]
    assert calls[0]["ts"] > calls[1]["ts"], "rank 0 comes last"
    end = calls[1]["ts"] + calls[1]["dur"]
    before = traces.spans(0, lambda e: e["name"] == "gloo:broadcast")[-1]
    main = traces.spans(0, lambda e: e["name"].startswith("ProfilerStep"))[-1]["tid"]
    late = next(
        op
        for op in traces.spans(0, lambda e: e["tid"] == main and e.get("cat") == "cpu_op")
        if op["ts"] > before["ts"] + before["dur"] and op["name"].startswith("autograd::engine")
    )
    name = late["name"]
    traces.delay(0, late["ts"], 3_000)
    traces.delay(1, end - 0.001, 3_000)

    found = lab.compared("torch213/ddp_cnn_2r_sched", traces)

    assert rows(found) == [("rank", "delayed", 0, f"before {name}", 3_000_000)]
    waits = found.totals.filter((pl.col("what") == "collective") & (pl.col("rank") == 1))
    assert (waits["wait_b_ns"] - waits["wait_a_ns"]).to_list() == [3_000_000]


def test_two_recordings_of_one_program_share_their_structure(lab: Lab) -> None:
    """Ranks 0 and 1 of a program with equal ranks, taken as two runs: a few changes, the rest is noise.

    The recorder gives ops of gloo's threads, and what DDP nests by chance, other parents on either rank.
    """
    for rank in (0, 1):
        folder = lab.folder / f"only{rank}"
        folder.mkdir()
        for kind in ("et", "kineto"):
            source = lab.data / "torch213" / "ddp_cnn_2r" / f"{kind}_rank{rank}.json.gz"
            (folder / f"{kind}_rank0.json.gz").write_bytes(source.read_bytes())
    traces = Traces(lab.folder / "only1")
    traces.documents["kineto_rank0.json.gz"]["distributedInfo"]["rank"] = 0
    lab.add(lab.folder / "only0", "first")
    lab.add(traces.write(lab.folder / "as0"), "second")

    found = api.diff_runs("first", "second", lab.settings)

    alone = found.changes.filter(pl.col("change").is_in(["added", "removed"]))
    assert set(alone["name"]) == {"gloo:broadcast"}, (
        "a worker op, whose recorded parent is a matter of chance"
    )
    compared = found.totals.filter(pl.col("what") == "op").row(0, named=True)
    told = found.changes.filter(pl.col("what") == "op").height
    assert compared["count_a"] == compared["count_b"] == 1329
    assert told + compared["within_noise"] > 1_000
    assert told < 0.25 * compared["count_a"]


def test_ranks_of_one_run_alone_are_named(lab: Lab, tmp_path: Path) -> None:
    """Those in common are compared, and in groups as far as both runs have the members."""
    traces = lab.traces("demo_4r")
    traces.documents = {name: text for name, text in traces.documents.items() if "rank3" not in name}
    del traces.others["rank_3"]

    found = lab.compared("demo_4r", traces)

    assert found.ranks == [0, 1, 2]
    assert found.notes[0] == "only in demo_4r, not compared: rank 3"
    assert found.changes.is_empty(), found.changes


@pytest.fixture(scope="module")
def archive(lab: Lab) -> Archive:
    """Return the command line on the module's archive, with a run slower by a kernel and its steps."""
    traces = lab.traces("torch214_synthgpu_2r")
    kernel = traces.kernels(1)[5]
    kernel["dur"] *= 2
    for mark in traces.spans(1, lambda e: e["name"].startswith("ProfilerStep")):
        traces.delay(1, mark["ts"] + mark["dur"] - 0.001, 7_000)
    lab.add(traces.write(lab.folder / "slower"), "slower")
    return Archive(Path(lab.settings.store))


def test_the_table_says_first_what_then_where(archive: Archive) -> None:
    """A sentence with the figure, the counts, the changes by effect, and what was compared."""
    done = archive.run("diff", "torch214_synthgpu_2r", "slower")

    lines = done.stdout.decode().splitlines()
    assert lines[0].startswith(
        "slower is 10.3 % slower than torch214_synthgpu_2r: median step 67.8 ms → 74.8 ms"
    )
    assert lines[1].startswith("2 gaps delayed, 1 device op slower")
    assert sum(line.startswith("gap delayed") for line in lines) == 2
    assert sum(line.startswith("device op slower") for line in lines) == 1
    assert "no change" in archive.run("diff", "slower", "slower").stdout.decode()


def test_every_format_holds_a_row_a_change(archive: Archive) -> None:
    """With the same columns; numbers stay numbers, and stdout holds nothing else."""
    words = ("diff", "torch214_synthgpu_2r", "slower")

    as_json = archive.json(*words)
    lines = [json.loads(line) for line in archive.run(*words, "--format", "jsonl").stdout.splitlines()]
    csv = pl.read_csv(archive.run(*words, "--format", "csv").stdout)
    parquet = pl.read_parquet(io.BytesIO(archive.run(*words, "--format", "parquet").stdout))

    assert as_json == lines == parquet.to_dicts()
    assert csv["delta_ns"].to_list() == parquet["delta_ns"].to_list()
    assert csv.columns == parquet.columns
    assert {row["rank"] for row in as_json} == {1}


def test_fail_over_ends_with_1_and_the_figure(archive: Archive) -> None:
    """Above the limit only; the rows are printed all the same."""
    words = ("diff", "torch214_synthgpu_2r", "slower", "--quiet")

    failed = archive.run(*words, "--fail-over", "5%", code=1)
    archive.run(*words, "--fail-over", "10.4")
    archive.run("diff", "slower", "torch214_synthgpu_2r", "--fail-over", "0%")

    told = [line for line in failed.stderr.decode().splitlines() if line.startswith("graphstore:")]
    assert len(told) == 1
    assert "median step 67.8 ms → 74.8 ms, +7 ms on rank 1" in told[0]
    assert failed.stdout


def test_one_rank_alone(archive: Archive) -> None:
    """What was planted on rank 1 is not seen on rank 0; a rank that is not there is a mistake."""
    words = ("diff", "torch214_synthgpu_2r", "slower")

    assert archive.json(*words, "--rank", "0") == []
    assert "no rank 7 in both runs" in archive.fails(*words, "--rank", "7", code=2)


def test_mistakes_are_one_line(archive: Archive) -> None:
    """Unknown runs, a limit that is none."""
    assert "no run nope" in archive.fails("diff", "slower", "nope", code=2)
    told = archive.fails("diff", "slower", "slower", "--fail-over", "much", code=2)
    assert "want a percentage, as in --fail-over 5%" in told


def test_both_engines_compare_alike(store: Store) -> None:
    """Two small runs with kernels, calls and a new op, read from either engine."""
    store.write_run(two_ranks().build())
    other = two_ranks("other", 2)
    kernel = next(row for row in other.rows["Kernel"] if row["name"] == "gemm" and row["rank"] == 0)
    kernel["duration_ns"] *= 2
    new = other.op("aten::new", start_ns=1, duration_ns=2, self_ns=2, thread=7, process=70, rank=1)
    store.write_run(other.build())

    found = diff(store, "small", "other")

    assert sorted(rows(found)) == [
        ("kernel", "slower", 0, "gemm", kernel["duration_ns"] // 2),
        ("op", "added", 1, "aten::new", 2),
    ]
    assert found.changes.filter(pl.col("change") == "added")["uid_b"].to_list() == [new]
    assert diff(store, "other", "other").changes.is_empty()
