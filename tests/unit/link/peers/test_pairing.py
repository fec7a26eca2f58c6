from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import polars as pl

from graphstore.link.peers import place_transfers
from graphstore.model.records import RankGraph
from tests.data.transfers import Groups, Meeting, Program, Transfer, one_after_the_other, traces

# The mesh of a job of four, two by two, as in the recorded set tp_pp_4r.
MESH: Groups = {"0": [0, 1, 2, 3], "tp0": [0, 1], "tp1": [2, 3], "pp0": [0, 2], "pp1": [1, 3]}
TP, PP = Transfer("tp0", 0, 1), Transfer("pp0", 0, 2)  # rank 0 writes peer 1 for both
BACK = (Transfer("pp0", 2, 0), Transfer("pp1", 1, 3), Transfer("pp1", 3, 1))
Said = dict[tuple[int, int], tuple[int | None, str | None, str | None, str | None]]


def placed(program: Program, without: Iterable[int] = ()) -> tuple[list[RankGraph], Said]:
    """Return the ranks, and of {(rank, n)} peer_rank, peer_origin, group and group_origin."""
    graphs, places, _ = traces(program, without)
    place_transfers(graphs, places)
    columns = ("rank", "n", "peer_rank", "peer_origin", "group", "group_origin")
    rows = pl.concat([graph.nodes["CollectiveCall"].filter("is_p2p").select(columns) for graph in graphs])
    return graphs, {(rank, n): tuple(said) for rank, n, *said in rows.iter_rows()}


def test_a_peer_that_is_one_rank_in_every_group_needs_no_pairing() -> None:
    """Place 0 for rank 2 is rank 0 of the world and of pp0; the other side has no trace at all."""
    _, said = placed(one_after_the_other(MESH, Transfer("pp0", 2, 0)), without=[0, 1, 3])

    assert said == {(2, 0): (0, "every_group", None, None)}


def test_the_only_group_with_that_place_is_the_group() -> None:
    """Place 1 for rank 1 is itself in the world and in tp0: pp1 is left."""
    _, said = placed(one_after_the_other(MESH, Transfer("pp1", 1, 3)), without=[0, 2, 3])

    assert said == {(1, 0): (3, "every_group", "pp1[1,3]", "only_group")}


def test_what_the_others_expect_tells_the_peer() -> None:
    """Peer 1 of rank 0 is 1 or 2; rank 2 waits for rank 0, and rank 1 for none."""
    _, said = placed(one_after_the_other(MESH, PP, *BACK))

    assert said[0, 0] == (2, "pairing", "pp0[0,2]", "pairing")
    assert said[0, 1] == (2, "pairing", "pp0[0,2]", "pairing")


def test_of_two_groups_of_the_same_members_the_peer_is_proven_and_the_group_is_not() -> None:
    """As in tp_pp_4r: mesh_pp and evens are both [0, 2]."""
    _, said = placed(one_after_the_other({**MESH, "evens": [0, 2]}, PP, *BACK))

    assert said[0, 0] == (2, "pairing", None, None)


def test_equal_sends_to_two_ranks_stay_unknown_without_clocks() -> None:
    """One of two equal sends went to rank 1 and one to rank 2; which, nothing says. The recvs are known."""
    _, said = placed(one_after_the_other(MESH, TP, PP))

    assert said[0, 0] == said[0, 1] == (None, None, None, None)
    assert said[1, 0][:2] == (0, "every_group")
    assert said[2, 0][:2] == (0, "every_group")


def test_sizes_and_tags_tell_sends_apart() -> None:
    """The near-misses: 64 and 8 bytes, or tags 0 and 1."""
    for other in (replace(PP, size=8), replace(PP, tag=1)):
        _, said = placed(one_after_the_other(MESH, TP, other))

        assert (said[0, 0][:2], said[0, 1][:2]) == ((1, "pairing"), (2, "pairing"))


def test_a_size_that_was_not_recorded_fits_any() -> None:
    """So that it tells nothing apart."""
    _, said = placed(one_after_the_other(MESH, TP, replace(PP, size=None)))

    assert said[0, 0][0] is said[0, 1][0] is None


def test_a_recv_that_ended_before_a_send_did_not_receive_it() -> None:
    """Clocks are bounded by collectives before and after: the recv of rank 1 ended at 5, the second send
    began at 1,000."""
    sends = [replace(TP, sent=0, asked=1, ended=5), replace(PP, sent=1_000, asked=900, ended=1_005)]
    meetings = [Meeting(dict.fromkeys(range(4), (at, at + 2))) for at in (-50, 2_000)]
    clocks = {0: 0, 1: 700_000, 2: -300, 3: 0}
    _, said = placed(Program(MESH, sends, meetings, clocks))

    assert (said[0, 1][:3], said[0, 2][:3]) == (
        (1, "pairing", None),  # place 1 of the world is rank 1, too
        (2, "pairing", "pp0[0,2]"),
    )


def test_a_bound_too_loose_for_the_times_tells_nothing() -> None:
    """The near-miss: the collectives took 5,000, so that the clocks may differ by more than the calls lie
    apart."""
    sends = [replace(TP, sent=0, asked=1, ended=5), replace(PP, sent=1_000, asked=900, ended=1_005)]
    meetings = [Meeting(dict.fromkeys(range(4), (-9_000, -4_000)))]
    _, said = placed(Program(MESH, sends, meetings))

    assert said[0, 1][0] is said[0, 2][0] is None


def test_one_call_without_its_other_side_refutes_the_pairing_of_its_part() -> None:
    """A window is cut somewhere: a second recv on rank 2 has no send; what is so in every group stays."""
    graphs, places, _ = traces(one_after_the_other(MESH, PP, *BACK, PP))
    cut = graphs[0].nodes["CollectiveCall"].filter(pl.col("n") < 2)
    graphs[0].nodes["CollectiveCall"] = cut
    place_transfers(graphs, places)

    assert cut.height == 2
    assert graphs[0].nodes["CollectiveCall"]["peer_rank"].to_list() == [None, None]
    assert graphs[2].nodes["CollectiveCall"]["peer_rank"].to_list() == [0, 0, 0]


def test_traces_of_different_steps_do_not_pair() -> None:
    """Rank 2 shows step 2, the others step 1: that all balances is chance."""
    graphs, places, _ = traces(one_after_the_other(MESH, PP, *BACK))
    for graph in graphs:
        step = pl.lit(2 if graph.rank == 2 else 1, dtype=pl.Int64)
        graph.nodes["HostOp"] = graph.nodes["HostOp"].with_columns(step.alias("step"))
    place_transfers(graphs, places)

    assert graphs[0].nodes["CollectiveCall"]["peer_rank"].to_list() == [None, None]


def test_a_rank_without_a_trace_may_have_taken_any_send() -> None:
    """Rank 1 has none: one of rank 0's two sends is for rank 2, which waits for one; which, is open."""
    _, said = placed(one_after_the_other(MESH, TP, PP), without=[1])
    _, alone = placed(one_after_the_other(MESH, PP), without=[1])

    assert said[0, 0][0] is said[0, 1][0] is None
    assert alone[0, 0][:2] == (2, "pairing")  # nobody else can have sent what rank 2 received


def test_queues_out_of_order_refute_the_pairing() -> None:
    """Sent 64, then 8; taken 8, then 64: no such run of gloo."""
    first, second = replace(PP, sent=0, asked=50, ended=60), replace(PP, size=8, sent=10, asked=20, ended=30)
    _, said = placed(Program(MESH, [first, second]))

    assert said[0, 0][0] is said[0, 1][0] is None


def test_a_recv_from_anyone_leaves_its_rank_open() -> None:
    """Its peer is not recorded: what rank 2 took from whom is not known."""
    graphs, places, _ = traces(one_after_the_other(MESH, PP))
    calls = graphs[2].nodes["CollectiveCall"]
    graphs[2].nodes["CollectiveCall"] = calls.with_columns(pl.lit(None, dtype=pl.Int64).alias("peer"))
    place_transfers(graphs, places)

    assert [graph.nodes["CollectiveCall"]["peer_rank"].to_list() for graph in graphs[::2]] == [[None], [None]]
