"""How faithful the files of the shared sets are: dependencies §7 for what is reached, §3 for what each rule
is worth.

Figures are read from the manifest of an export. A rule is tried by taking it out: the figure that shows it
has to get worse.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphstore import queries
from graphstore.export import fit
from graphstore.export.chakra import RankNodes
from graphstore.export.order import Ints
from graphstore.export.pieces import DEVICE, FIRST, GAP_TIME, REST
from graphstore.export.rank_nodes import rank_nodes
from graphstore.export.replay import unlimited
from tests.integration.replayed import RUN, Rank, error_of, imported, manifest_of, ranks_of, span_when

pytestmark = pytest.mark.data

PERCENT = 0.01
ROUNDED = 0.005 * PERCENT  # the table has two decimals of a percent


@dataclass(frozen=True)
class Reached:
    """The worst of the ranks of a set, as §7 has it: errors and shares in %; starts in µs, 95th percentile.

    `simple` is the reader with one slot a kind: beyond 1 % where collectives or threads overlap in time,
    which one slot cannot show. `cpu` is 1 where a file in fractions of a µs is rounded.
    """

    folder: str
    free: float
    simple: float = 1.0
    cpu: float = 0.0
    gpu: float | None = None
    unexplained: float = 0.0
    files: tuple[str, ...] = ()

    def paths(self, data: Path) -> list[str]:
        """Return its files, or its folder."""
        return [str(data / self.folder / name) for name in self.files] or [str(data / self.folder)]


BIG = tuple(f"{kind}_rank{rank}.json.gz" for rank in (0, 1) for kind in ("et", "kineto"))
SETS = [
    Reached("public/dlrm_8r", 0.21, simple=1.0, cpu=3, gpu=7),
    Reached("public/resnet_103", 0.0, simple=0.0, gpu=4),
    Reached("public/linear", 0.01, simple=0.0, gpu=3, unexplained=1.4),
    Reached("public/simple_add", 0.04, simple=0.0, gpu=2, unexplained=0.07),
    Reached("torch213/ddp_cnn_2r", 0.9, simple=15),
    Reached("torch213/ddp_cnn_4r", 0.9, simple=15),
    Reached("torch213/ddp_cnn_2r_sched", 0.9, simple=0.2),
    Reached("torch213/fsdp2_2r", 5.5, simple=15),  # queues of gloo
    Reached("torch213/tp_pp_4r", 0.9, simple=15),
    Reached("torch213/mid_transformer_8r", 2.3, simple=15),  # queues of gloo
    Reached("torch213/uneven_order", 0.9, simple=0.2),
    Reached("torch213/uneven_skip", 0.9, simple=0.2),
    Reached("fsdp_alexnet_2r", 4.2, simple=8),  # queues of gloo
    Reached("demo_4r", 0.83, simple=0.0),
    Reached("public/kineto_b200", 0.08, simple=0.0, cpu=1, gpu=17),
    Reached("public/cuda_event_sync", 0.08, simple=0.0, cpu=1, gpu=17),
    Reached("public/cuda_event_sync_multi_stream", 0.08, simple=0.0, cpu=1, gpu=17),
    Reached("public/kineto_mi300_triton", 0.08, simple=0.0, cpu=1, gpu=17),
    Reached("public/kineto_h100", 4.75, simple=0.0, cpu=2, gpu=4),  # 502 kernels from before the window
    pytest.param(Reached("torch213_big", 0.33, simple=17.5, files=BIG), marks=pytest.mark.slow),
]
PAIRS_WITH_A_GPU = ("public/dlrm_8r", "public/resnet_103", "public/linear", "public/simple_add")
UNEXPLAINED = ("public/kineto_mi300_graph", "public/hta_sampled_2of128")


def replays(data: Path, *paths: str) -> dict[str, dict[str, Any]]:
    """Return the figures of each rank."""
    found = manifest_of(*(paths or (str(data),)))["ranks"]
    return {rank: entry["replay"] for rank, entry in found.items()}


@pytest.mark.parametrize("reached", SETS, ids=lambda reached: str(reached.folder))
def test_the_five_figures_are_at_least_as_good_as_those_of_the_design(
    reached: Reached, data_dir: Path
) -> None:
    """The span alone proves nothing, so all five are held, for every rank."""
    for rank, found in replays(data_dir, *reached.paths(data_dir)).items():
        assert abs(found["error"]) <= ROUNDED, rank
        assert abs(found["error_without_fit"]) <= reached.free * PERCENT + ROUNDED, rank
        assert abs(found["error_of_simple_reader"]) <= reached.simple * PERCENT + ROUNDED, rank
        assert found["start_error_us"]["cpu"]["p95"] <= reached.cpu + 0.5, rank
        device = found["start_error_us"]["gpu"]
        assert (device is None) == (reached.gpu is None), rank
        assert device is None or device["p95"] <= (reached.gpu or 0) + 0.5, rank
        assert found["unexplained"] <= reached.unexplained * PERCENT + ROUNDED, rank
        assert found["contradictions"] == 0, rank


@pytest.mark.parametrize("folder", PAIRS_WITH_A_GPU)
def test_pairs_with_a_gpu_keep_the_limits_of_the_project(folder: str, data_dir: Path) -> None:
    """1 % each for the span, without fit, for the simple reader and unexplained (linear: 2 %)."""
    for found in replays(data_dir / folder).values():
        for figure in ("error", "error_without_fit", "error_of_simple_reader"):
            assert abs(found[figure]) <= PERCENT, figure
        assert found["unexplained"] <= (2 if folder == "public/linear" else 1) * PERCENT


@pytest.mark.parametrize("folder", UNEXPLAINED)
def test_what_no_rule_explains_is_said_beside_a_span_that_is_exact(folder: str, data_dir: Path) -> None:
    """A GPU held by something outside the trace, and a trace with half of its events: that is no success."""
    for found in replays(data_dir / folder).values():
        assert abs(found["error"]) <= PERCENT
        assert found["unexplained"] > 0.5
        assert found["contradictions"] == 0


def test_the_invented_gpu_of_a_set_still_gives_its_span(data_dir: Path) -> None:
    """torch214_synthgpu is no evidence about GPUs; how its threads and streams add up is."""
    for found in replays(data_dir / "torch214_synthgpu_2r").values():
        assert abs(found["error"]) <= ROUNDED
        assert (found["unexplained"], found["contradictions"]) == (0.0, 0)


@pytest.mark.parametrize(
    ("folder", "rank", "edges", "against_times"),
    [("public/dlrm_8r", 0, 8 + 4, 1), ("public/resnet_103", 0, 21 + 14, 7)],
)
def test_waits_around_collectives_are_as_many_as_were_counted(
    folder: str, rank: int, edges: int, against_times: int, data_dir: Path
) -> None:
    """Dependencies 4.8 and 1.5, a) and b): 16 and 7 calls in dlrm 0, 42 and 14 in resnet_103.

    Two calls before a launch are one edge, so are calls behind it that the same device op follows. Those that
    the times contradict are a finding.
    """
    assert ranks_of(str(data_dir / folder))[rank].waits()["collective_wait.likely"] == edges
    with imported((str(data_dir / folder),)) as (store, _):
        found = [f for f in queries.check(store, RUN) if f.rule == "waits_against_times"]
    assert [f.count for f in found if f.rank == rank] == [against_times]


# --- rules taken out ----------------------------------------------------------------------------------------

DLRM, RESNET, LINEAR, H100 = (f"public/{name}" for name in ("dlrm_8r", "resnet_103", "linear", "kineto_h100"))


def rank_of(data: Path, name: str, rank: int = 0) -> Rank:
    """Return a rank of a set."""
    return ranks_of(str(data / name))[rank]


@pytest.fixture
def nothing_unexplained(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the nodes that copy what no rule explains, as §3 did: they would hide a missing rule."""
    monkeypatch.setattr(fit, "UNEXPLAINED_NS", 1 << 60)


@pytest.mark.usefixtures("nothing_unexplained")
@pytest.mark.parametrize(
    ("family", "name", "rank", "worth"),
    [
        ("launch", DLRM, 0, -5.8),
        ("launch", DLRM, 1, -7.3),
        ("launch", DLRM, 4, -5.2),
        ("launch", H100, 0, -3.0),
        ("stream order", DLRM, 0, -5.7),
        ("stream order", DLRM, 1, -31.7),
        ("stream order", DLRM, 4, -19.9),
        ("stream order", H100, 0, -4.3),
        ("collective_wait", DLRM, 0, -5.7),
        ("collective_wait", DLRM, 1, -27.5),
        ("collective_wait", DLRM, 4, -19.9),
        ("host_wait", DLRM, 1, -26.3),
        ("host_wait", H100, 0, -3.1),
    ],
)
def test_a_file_without_the_edges_of_a_rule_is_too_short(
    family: str, name: str, rank: int, worth: float, data_dir: Path
) -> None:
    """§3: launch → kernel, stream order, stream waits, and GPU → CPU waits cut out without their edge."""
    mutant = rank_of(data_dir, name, rank).without_edges(family)

    assert error_of(mutant) == pytest.approx(worth, abs=0.25)


@pytest.mark.usefixtures("nothing_unexplained")
@pytest.mark.parametrize(("family", "off_us"), [("launch", 490_000), ("stream order", 127)])
def test_resnet_shows_missing_edges_in_the_starts_of_its_device_ops(
    family: str, off_us: float, data_dir: Path
) -> None:
    """§3: its span is right whatever is left out; the GPU is off by 490 ms, or by 127 µs."""
    mutant = rank_of(data_dir, RESNET).without_edges(family)
    starts = unlimited(mutant.end - mutant.start, mutant.deps)
    early = np.abs(starts - mutant.measured)[mutant.kind == DEVICE] / 1_000

    assert abs(error_of(mutant)) <= 0.005
    assert np.percentile(early, 95) == pytest.approx(off_us, rel=0.1)


def test_stream_waits_of_resnet_show_in_what_is_unexplained(data_dir: Path) -> None:
    """§3: its span does not depend on them; without, 1.6 ms have no reason."""
    rank = rank_of(data_dir, RESNET)

    mutant = rank.without_waits("collective_wait").figures()

    assert rank.figures()["unexplained_us"] == 0
    assert mutant["unexplained_us"] == pytest.approx(1_600, rel=0.05)
    assert mutant["error"] == 0.0


@pytest.mark.parametrize(("rank", "worth"), [(0, -7.6), (1, -26.3), (4, -21.4)], ids=str)
def test_waiting_cut_out_without_its_edge_shows_before_anything_is_fitted(
    rank: int, worth: float, data_dir: Path
) -> None:
    """§3: GPU → CPU waits, time cut, edge missing."""
    mutant = rank_of(data_dir, DLRM, rank).without_edges("host_wait")

    found = mutant.fit_free_ns / (mutant.window[1] - mutant.window[0]) - 1
    assert found / PERCENT == pytest.approx(worth, abs=0.5)


@pytest.mark.parametrize(("name", "rank"), [(DLRM, 0), (DLRM, 1), (DLRM, 4), (RESNET, 0), (LINEAR, 0)])
def test_threads_kept_busy_while_they_wait_cost_a_simple_reader(name: str, rank: int, data_dir: Path) -> None:
    """§3: thread hand-over. It is worth 15 to 82 % with one CPU, and the span does not show it."""
    mutant = rank_of(data_dir, name, rank).without_waits("hand_back").figures()

    assert mutant["error_of_simple_reader"] > 15 * PERCENT
    assert mutant["error"] == 0.0


@pytest.mark.parametrize(
    ("name", "rank", "worth"),
    [
        (DLRM, 0, 292),
        (DLRM, 1, 351),
        (DLRM, 4, 329),
        (RESNET, 0, 377),
        (LINEAR, 0, 126),
        (H100, 0, 98),
        ("torch213/ddp_cnn_2r", 0, 160),
    ],
)
def test_inclusive_durations_count_time_again_and_again(
    name: str, rank: int, worth: float, data_dir: Path
) -> None:
    """§3: exclusive durations. With all its time in the first piece of each op, a file is twice to five times
    as long.

    How much exactly depends on where what it waited for is put, so the table is met within a third.
    """

    def inclusive(ready: RankNodes) -> Ints:
        first, rest = ready.nodes.kind == FIRST, ready.nodes.kind == REST
        whole = np.where(first, np.nan_to_num(ready.total_us), ready.duration_us)
        return np.where(rest, 0, np.round(whole)).astype(np.int64)

    assert error_with(rank_of(data_dir, name, rank), inclusive) == pytest.approx(worth, rel=1 / 3)


@pytest.mark.parametrize(
    ("name", "rank", "worth"),
    [
        (DLRM, 0, -2.5),
        (DLRM, 1, -1.8),
        (DLRM, 4, -2.3),
        (RESNET, 0, -5.8),
        (LINEAR, 0, -7.5),  # the design says -13.1; all gaps on its two threads make 7.5 %
        ("torch213/ddp_cnn_2r", 0, -8.4),
    ],
)
def test_without_the_time_of_gaps_the_file_is_too_short(
    name: str, rank: int, worth: float, data_dir: Path
) -> None:
    """§3: gap time."""

    def no_gaps(ready: RankNodes) -> Ints:
        return np.where(ready.nodes.kind == GAP_TIME, 0, ready.duration_us)

    assert error_with(rank_of(data_dir, name, rank), no_gaps) == pytest.approx(worth, abs=0.5)


def error_with(rank: Rank, durations: Callable[[RankNodes], Ints]) -> float:
    """Return the error of the span, in %, of a replay with other durations."""
    ready, _ = rank_nodes(rank.columns, rank.communications)
    lasts, whole = np.maximum(durations(ready), 0), np.maximum(ready.duration_us, 0)
    span, right = (int((unlimited(d, ready.nodes.deps) + d).max()) for d in (lasts, whole))
    return (span / right - 1) / PERCENT


def test_gaps_between_kernels_are_real_time(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """§3: h100 is 4.6 % too short where they are not taken up."""
    rank = rank_of(data_dir, H100)
    monkeypatch.setattr(fit, "GAP_OF_STREAM_NS", -1)

    assert rank.figures()["error"] / PERCENT == pytest.approx(-4.6, abs=0.3)


@pytest.mark.parametrize(("rank", "worth"), [(0, -0.16), (1, -0.15), (4, -0.13)], ids=str)
def test_latency_is_worth_little(
    rank: int, worth: float, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """§3: latency taken up at waits; that it is little shows that it hides no rule."""
    monkeypatch.setattr(fit, "LATENCY_NS", 0)

    found = rank_of(data_dir, DLRM, rank).figures()["error"] / PERCENT

    assert found == pytest.approx(worth, abs=0.08)
    assert found < -0.01


@pytest.mark.parametrize(("rank", "shorter"), [(4, 14), (5, 13)], ids=["rank 4", "rank 5"])
def test_a_faster_gpu_and_network_make_the_run_shorter(rank: int, shorter: int, data_dir: Path) -> None:
    """§1: at half their time the run gets shorter, for its threads wait for them.

    With waiting counted as work the span is as right, and a faster GPU would change nothing: that file is
    wrong.
    """
    good = rank_of(data_dir, DLRM, rank)
    plain_work = good.without_waits("host_wait")

    assert plain_work.figures()["error"] == 0.0
    assert 100 - 100 * span_when(good, 0.5) / span_when(good, 1) == pytest.approx(shorter, abs=1)
    assert 100 - 100 * span_when(plain_work, 0.5) / span_when(plain_work, 1) == pytest.approx(0, abs=0.5)
