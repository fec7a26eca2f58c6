"""What a manifest says of the replay of a file (dependencies §1)."""

from __future__ import annotations

from typing import Any

from graphstore.chakra.et_def_pb2 import NodeType
from graphstore.export.columns import RankColumns
from graphstore.export.communication import Communication
from graphstore.export.figures import figures, slots_of
from graphstore.export.rank_nodes import rank_nodes
from graphstore.export.replay import COMMUNICATION, CPU, GPU
from tests.unit.export.ranks import call, kernel, op, rank_of, timed

US = 1_000


def told(columns: RankColumns) -> dict[str, Any]:
    """Return the figures of a rank."""
    found = figures(*rank_nodes(columns, {}))
    assert found is not None
    return found


def launched(*kernels: dict[str, Any], **edges: Any) -> RankColumns:
    """Return an op 0-20 µs whose call, 10-12, launches the device ops."""
    return rank_of(
        [timed(1, 0, 20 * US)],
        list(kernels),
        [call(21, 10 * US, 12 * US)],
        CTRL=[(1, 21)],
        LAUNCHES=[(21, row["uid"]) for row in kernels],
        **edges,
    )


def test_the_span_is_told_as_measured_as_replayed_and_before_anything_was_fitted() -> None:
    """Written 12 + 1,000; measured 5 µs more, the latency of the launch, which nobody waited for."""
    found = told(launched(kernel(11, 17 * US, 1_017 * US)))

    assert (found["measured_us"], found["simulated_us"]) == (1_017, 1_012)
    assert found["error"] == found["error_without_fit"] == round(1_012 / 1_017 - 1, 6)
    assert found["start_error_us"] == {"cpu": {"p50": 0.0, "p95": 0.0}, "gpu": {"p50": 5.0, "p95": 5.0}}


def test_unexplained_time_is_told_beside_the_span_that_it_makes_right() -> None:
    """The span alone would say that all is well: 88 of 200 µs have no reason."""
    found = told(launched(kernel(11, 100 * US, 200 * US)))

    assert found["error"] == 0.0
    assert found["error_without_fit"] == round(112 / 200 - 1, 6)
    assert (found["unexplained_us"], found["unexplained"]) == (88.0, 0.44)


def test_a_simple_reader_runs_one_node_a_kind_at_a_time() -> None:
    """Two streams that overlap for 50 µs last 50 µs longer there."""
    found = told(launched(kernel(11, 12 * US, 112 * US), kernel(12, 12 * US, 62 * US, 8)))

    assert found["error"] == 0.0
    assert found["error_of_simple_reader"] == round(162 / 112 - 1, 6)


def test_edges_chosen_by_times_alone_are_counted() -> None:
    """They are guesses."""
    kernels = (kernel(11, 12 * US, 50 * US), kernel(12, 52 * US, 60 * US, 8))

    guessed = told(launched(*kernels, SYNC=[(11, 12, "stream_wait.timing")]))
    recorded = told(launched(*kernels, SYNC=[(11, 12, "stream_wait.recorded")]))

    assert (guessed["edges_chosen_by_time"], recorded["edges_chosen_by_time"]) == (1, 0)


def test_device_ops_that_overlap_on_a_stream_contradict_nothing() -> None:
    """The stream's order holds; the first of them is cut."""
    assert told(launched(kernel(11, 12 * US, 50 * US), kernel(12, 45 * US, 60 * US)))["contradictions"] == 0


def test_a_device_clock_that_runs_early_is_a_contradiction_that_shows() -> None:
    """The launch is kept, since it holds, but the times say otherwise: the figure must not be 0."""
    rank = rank_of(
        [timed(1, 0, 20 * US)],
        [kernel(11, 5 * US, 9 * US)],
        [call(21, 10 * US, 12 * US)],
        LAUNCHES=[(21, 11)],
    )

    assert told(rank)["contradictions"] == 1


def test_each_node_holds_the_slot_of_its_kind() -> None:
    """A communication its own, be it a host op's or a device op's node."""
    rank, _ = rank_nodes(
        launched(kernel(11, 12 * US, 50 * US), kernel(12, 12 * US, 60 * US, 8)),
        {2: Communication(NodeType.COMM_COLL_NODE, ())},
    )

    assert slots_of(rank).tolist() == [CPU, CPU, GPU, COMMUNICATION]


def test_files_without_times_have_no_figures() -> None:
    """Nothing was measured that a replay could be held against."""
    assert figures(*rank_nodes(rank_of([op(1, node_id=3, tid=1)]), {})) is None
