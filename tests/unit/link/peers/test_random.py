from __future__ import annotations

from collections.abc import Iterable

from hypothesis import given, settings
from hypothesis import strategies as st

from graphstore.link.peers import place_transfers
from graphstore.link.run_matching import match_run
from graphstore.model.ids import group_key
from tests.data.transfers import Program, Transfer, programs, traces


def contradictions(program: Program, without: Iterable[int] = ()) -> list[str]:
    """Return what is said of the program that is not so: peers, groups, pairs."""
    graphs, places, truth = traces(program, without)
    place_transfers(graphs, places)
    matched = match_run([], graphs)
    out = []
    for graph in graphs:
        calls = graph.nodes["CollectiveCall"].filter("is_p2p")
        for n, kind, group, peer in calls.select("n", "collective_kind", "group", "peer_rank").iter_rows():
            sent = truth[graph.rank, n]
            if peer not in (None, sent.dst if kind == "send" else sent.src):
                out.append(f"{kind} {n} of rank {graph.rank}: peer {peer} of {sent}")
            if group not in (None, group_key(sent.group, sorted(program.groups[sent.group]))):
                out.append(f"{kind} {n} of rank {graph.rank}: group {group} of {sent}")
    placed = matched.transfers
    if placed is not None and placed.job is not None:
        ends: dict[tuple[str, int, int, bool, int], Transfer] = {
            (group, src, dst, is_send, key): truth[rank, n]
            for rank, n, group, src, dst, is_send, key in placed.places.select(
                "rank", "n", "group", "src", "dst", "is_send", "key"
            ).iter_rows()
        }
        for group, src, dst, send, recv in placed.job.pairs.select(
            "group", "src", "dst", "send_place", "recv_place"
        ).iter_rows():
            if ends[group, src, dst, True, send] != ends[group, src, dst, False, recv]:
                out.append(f"pair {send}-{recv} of {src}->{dst} on {group}")
    return out


@settings(max_examples=60)
@given(programs())
def test_what_is_said_of_whole_programs_is_so(program: Program) -> None:
    """Any groups, any order that keeps each queue, clocks that differ: nothing that is said is wrong."""
    assert contradictions(program) == []


@settings(max_examples=60)
@given(programs(), st.data())
def test_ranks_without_a_trace_make_nothing_wrong(program: Program, data: st.DataObject) -> None:
    """What they sent and took is not known, so that nothing rests on their silence."""
    without = data.draw(st.sets(st.sampled_from(program.world), max_size=len(program.world) - 1))

    assert contradictions(program, without) == []
