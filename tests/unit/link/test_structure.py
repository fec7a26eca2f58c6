from __future__ import annotations

from graphstore.link.rank import link_rank
from graphstore.link.structure import rank_row, stream_rows, thread_rows
from tests.data.builders import call, et_file, kernel, kineto_file, node, roots, span


def test_threads_are_those_of_kineto_with_the_names_it_gives() -> None:
    """A thread with only a runtime call is one, too; tids of the execution trace are none beside them."""
    kineto = kineto_file([span("a", 0, 5, thread=3)], [call(1, 0, 1, thread=9)])
    kineto.thread_names[77, 3] = "pt_autograd_0"

    rows = thread_rows(link_rank(0, [et_file([*roots(), node(5, "b", 2)]), kineto]))

    assert [(row["thread"], row["name"]) for row in rows] == [(3, "pt_autograd_0"), (9, "thread 9")]
    assert all("tid" not in row for row in rows)


def test_without_kineto_the_tids_are_the_threads() -> None:
    """They are no threads, but the best there is."""
    rows = thread_rows(link_rank(2, [et_file(roots())]))

    assert [(row["tid"], row["name"], row["rank"]) for row in rows] == [
        (0, "thread 0", 2),
        (1, "thread 1", 2),
    ]


def test_streams_are_told_by_device_and_number() -> None:
    """Device ops and sync events name them; what waits for the whole context is on none."""
    syncs = [{"name": "Stream Sync", "device": 0, "stream": 9}, {"name": "Context Sync", "device": 0}]
    kernels = [kernel(1, 0, 1), kernel(2, 2, 3), kernel(3, 2, 3, device=None)]

    rows = stream_rows(link_rank(0, [kineto_file([], [], kernels, syncs)]))

    assert [row["name"] for row in rows] == ["stream 7", "device 0 stream 7", "device 0 stream 9"]


def test_a_rank_has_the_host_and_device_of_the_file_that_tells() -> None:
    """Execution traces know neither."""
    row = rank_row(link_rank(1, [et_file(roots()), kineto_file(host="node-a", device_name="GPU")]))

    assert (row["name"], row["rank"], row["host"], row["device_name"]) == ("rank 1", 1, "node-a", "GPU")


def test_a_rank_tells_how_many_waits_the_times_contradict() -> None:
    """By rule, so that a finding can name them; null where there are none."""
    graph = link_rank(1, [et_file(roots())])
    none = rank_row(graph)
    graph.waits_left_out = {"collective_wait.likely": 2, "host_wait.recorded": 1}

    row = rank_row(graph)

    assert row["waits_against_times"] == 3
    assert row["waits_against_times_by_rule"] == '{"collective_wait.likely":2,"host_wait.recorded":1}'
    assert (none["waits_against_times"], none["waits_against_times_by_rule"]) == (None, None)
