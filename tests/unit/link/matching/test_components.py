from __future__ import annotations

from graphstore.link.matching.components import find_sinks
from graphstore.link.matching.waiting import WaitGraph, Waiting


def _graph(calls: dict[int, dict[int, str]], ranks: dict[int, dict[int, str]] | None = None) -> WaitGraph:
    """Return a graph in which rank r waits in call (0, r) of `calls`, or directly by `ranks`."""
    waiting = {
        rank: Waiting(rank, 0, 0, 0, -1, 0, seq=rank if rank in calls else None)
        for rank in {*calls, *(ranks or {})}
    }
    return WaitGraph(waiting, {(0, rank): waits for rank, waits in calls.items()}, ranks or {})


def test_a_chain_ends_at_its_last_rank() -> None:
    """0 waits for 1, 1 for 2; 2 waits for nobody and holds up both."""
    (sink,) = find_sinks(_graph({0: {1: "queued"}, 1: {2: "never"}}))

    assert (sink.ranks, sink.held_up) == ([2], {0, 1})
    assert sink.kinds(2) == {"never"}
    assert sink.calls(2, "never") == [(0, 1)]


def test_chains_may_end_at_several_ranks() -> None:
    """0 waits for 1 and 2, neither of which waits."""
    assert [sink.ranks for sink in find_sinks(_graph({0: {1: "never", 2: "no_dump"}}))] == [[1], [2]]


def test_ranks_that_wait_for_each_other_are_one_end() -> None:
    """1 and 2 wait for each other, one of them without a call; 0 waits for them."""
    (sink,) = find_sinks(_graph({0: {1: "queued"}, 1: {2: "queued"}}, {2: {1: "p2p"}}))

    assert (sink.ranks, sink.held_up) == ([1, 2], {0})


def test_a_cycle_with_a_way_out_is_no_end() -> None:
    """1 and 2 wait for each other, and 2 for 3 as well: only 3 is the end."""
    graph = _graph({1: {2: "queued"}, 2: {1: "queued", 3: "never"}})

    assert [sink.ranks for sink in find_sinks(graph)] == [[3]]


def test_where_nobody_waits_there_is_no_end() -> None:
    """No waits, no sinks."""
    assert find_sinks(_graph({})) == []


def test_a_long_chain_needs_no_deep_recursion() -> None:
    """Twenty thousand ranks in a row."""
    graph = _graph({rank: {rank + 1: "queued"} for rank in range(20_000)})

    (sink,) = find_sinks(graph)

    assert (sink.ranks, len(sink.held_up)) == ([20_000], 20_000)
