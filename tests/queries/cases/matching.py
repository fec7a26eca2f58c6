"""Cases for what matching the ranks gives: collectives by verdict, who waits for whom, how far ranks came."""

from __future__ import annotations

from typing import Any

from tests.queries.cases import Case, case
from tests.queries.cases.communication import call, group
from tests.queries.graphs import GraphBuilder

ALL = "0[0-3]"


def rank(g: GraphBuilder, number: int, **properties: Any) -> int:
    """Add a rank."""
    return g.node("Rank", f"rank {number}", rank=number, **properties)


def collective(
    g: GraphBuilder, number: int, verdict: str = "MATCHED", kind: str | None = "all_reduce", **properties: Any
) -> int:
    """Add a collective of the group of all ranks, or of the group given."""
    own = {"group": ALL, "collective_seq_id": number, "collective_kind": kind, "in_flight": False}
    return g.node("Collective", f"{kind or 'call'} #{number}", verdict=verdict, **{**own, **properties})


def part(g: GraphBuilder, of: int, rank: int, kind: str = "all_reduce", **properties: Any) -> int:
    """Add the call of a rank to a collective."""
    uid = call(g, kind, rank=rank, **properties)
    g.edge("CALL_OF", uid, of, rule="recorded")
    return uid


@case
def collectives_that_are_not_settled(g: GraphBuilder) -> Case:
    """Those that lack members, and one all are in; matched and evicted ones do not come."""
    collective(g, 1, "EVICTED")
    collective(g, 4)
    classes = '{"not_reached":"3","present":"0-2"}'
    lacking = collective(g, 6, "INCOMPLETE", unfinished="0-2", classes=classes)
    ahead = collective(g, 5, "PROGRESS_DIFF", unfinished="2", classes='{"present":"0-3"}')
    standing = collective(g, 2, group="1[0-1]", kind="barrier", in_flight=True, unfinished="0-1")
    unknown = collective(g, 3, "UNDECIDED", None, group="1[0-1]", in_flight=None)
    rows = [
        (ALL, 5, "all_reduce #5", "all_reduce", "PROGRESS_DIFF", False, "2", '{"present":"0-3"}', ahead),
        (ALL, 6, "all_reduce #6", "all_reduce", "INCOMPLETE", False, "0-2", classes, lacking),
        ("1[0-1]", 2, "barrier #2", "barrier", "MATCHED", True, "0-1", None, standing),
        ("1[0-1]", 3, "call #3", None, "UNDECIDED", None, None, None, unknown),
    ]
    return Case("communication/show_incomplete_collectives", g.build(), rows)


@case
def collectives_by_group_and_verdict(g: GraphBuilder) -> Case:
    """With the numbers between which they lie, and how many of them stand still."""
    for number in (9, 4, 5):
        collective(g, number, in_flight=number == 9)
    collective(g, 6, "INCOMPLETE")
    collective(g, 4, group="1[0-1]", in_flight=None)
    rows = [(ALL, "INCOMPLETE", 1, 0, 6, 6), (ALL, "MATCHED", 3, 1, 4, 9), ("1[0-1]", "MATCHED", 1, 0, 4, 4)]
    return Case("communication/count_collectives_by_verdict", g.build(), rows)


@case
def groups_by_what_is_settled(g: GraphBuilder) -> Case:
    """Collectives and channels of one group add up to settled, faulty and undecided."""
    for number, verdict in enumerate(("EVICTED", "MATCHED", "PROGRESS_DIFF", "DTYPE_MISMATCH", "FILTERED")):
        collective(g, number, verdict)
    for verdict in ("SOLVED", "INCOMPLETE", "AMBIGUOUS"):
        g.node("Channel", "0->1", group=ALL, src=0, dst=1, verdict=verdict, in_flight=verdict == "SOLVED")
    collective(g, 0, "WINDOW_ENDED", group="1[0-1]", in_flight=None)
    group(g, "2[0]", [0])
    rows = [(ALL, 5, 3, 4, 2, 2, 1), ("1[0-1]", 1, 0, 0, 0, 1, 0)]
    return Case("communication/show_group_health", g.build(), rows)


def jam(g: GraphBuilder) -> None:
    """Build a job that stands still.

    Ranks 0 and 1 stand in all_reduce #6, which lacks rank 3 and rank 2; that stands in an all_to_all, called
    by another word, which lacks rank 4, of which there is no dump. Rank 5 sends to rank 0. Rank 6 stands in
    a call of which nobody is known to lack.
    """
    ranks = [rank(g, number, dump="kept") for number in range(7)]
    reduce = collective(g, 6, "INCOMPLETE")
    exchange = collective(g, 81, "NO_DUMP", "all_to_all", group="ep[2,4]")
    barrier = collective(g, 9, kind="barrier", group="dp[6]", in_flight=True)
    standing = {
        0: ("all_reduce #6", "a.py:1", 3),
        1: ("all_reduce #6", "a.py:1", 1),
        2: ("alltoall_base #81", "b.py:2", 2),
        5: ("send 5->0", None, 1),
        6: ("barrier #9", None, 1),
    }
    for number, (first, site, count) in standing.items():
        own = {"first_unfinished": first, "first_unfinished_site": site, "unfinished": count}
        g.row(ranks[number]).update(own)
    g.row(ranks[4]).update(dump="no file")
    for number, at in ((0, reduce), (1, reduce), (2, exchange), (6, barrier)):
        g.edge("WAITS_FOR", ranks[number], at, wait="in_call")
    for at, number, wait in ((reduce, 2, "queued"), (reduce, 3, "never"), (exchange, 4, "no_dump")):
        g.edge("WAITS_FOR", at, ranks[number], wait=wait)
    g.edge("WAITS_FOR", ranks[5], ranks[0], wait="p2p")
    for key, members in (("ep[2,4]", (2, 4)), (ALL, (0, 1, 2, 3))):
        made = group(g, key, list(members))
        for number in members:
            g.edge("MEMBER", ranks[number], made)


@case
def who_waits_for_whom(g: GraphBuilder) -> Case:
    """Through a collective to the ranks it lacks; from a rank waited for in a send no further."""
    jam(g)
    reduce, exchange = ("all_reduce #6", "a.py:1", ALL, 6), ("alltoall_base #81", "b.py:2", "ep[2,4]", 81)
    rows = [
        (0, *reduce, "never", 3, None, None),
        (0, *reduce, "queued", 2, "alltoall_base #81", "b.py:2"),
        (1, *reduce, "never", 3, None, None),
        (1, *reduce, "queued", 2, "alltoall_base #81", "b.py:2"),
        (2, *exchange, "no_dump", 4, None, None),
        (5, "send 5->0", None, None, None, "p2p", 0, "all_reduce #6", "a.py:1"),
        (6, "barrier #9", None, "dp[6]", 9, "in_call", None, None, None),
    ]
    return Case("communication/show_waits", g.build(), rows)


@case
def nobody_waits(g: GraphBuilder) -> Case:
    """Ranks and collectives without a wait give no row."""
    rank(g, 0)
    collective(g, 6)
    return Case("communication/show_waits", g.build(), [])


@case
def ranks_waited_for(g: GraphBuilder) -> Case:
    """Two ranks stand in the call that lacks ranks 2 and 3, one in that which lacks rank 4."""
    jam(g)
    rows = [
        (2, "queued", 1, 2, "kept", "alltoall_base #81", "b.py:2"),
        (3, "never", 1, 2, "kept", None, None),
        (0, "p2p", 1, 1, "kept", "all_reduce #6", "a.py:1"),
        (4, "no_dump", 1, 1, "no file", None, None),
    ]
    return Case("communication/count_waits", g.build(), rows)


@case
def ranks_and_the_calls_they_stand_in(g: GraphBuilder) -> Case:
    """Every rank of the job, also that without a dump."""
    jam(g)
    rows = [
        (0, None, "kept", "all_reduce #6", "a.py:1", 3, 1),
        (1, None, "kept", "all_reduce #6", "a.py:1", 1, 0),
        (2, None, "kept", "alltoall_base #81", "b.py:2", 2, 1),
        (3, None, "kept", None, None, None, 1),
        (4, None, "no file", None, None, None, 1),
        (5, None, "kept", "send 5->0", None, 1, 0),
        (6, None, "kept", "barrier #9", None, 1, 0),
    ]
    return Case("communication/show_rank_states", g.build(), rows)


@case
def ranks_that_left_no_dump(g: GraphBuilder) -> Case:
    """With their groups by key; a rank whose dump is empty has one, and a rank may be in no known group."""
    jam(g)
    both = rank(g, 7, dump="no file")
    for key in ("tp[7]", "dp[7]"):
        g.edge("MEMBER", both, group(g, key, [7]))
    rank(g, 8, dump="no file")
    rank(g, 9, dump="none")
    rank(g, 10)
    rows = [(4, 1, ["ep[2,4]"]), (7, 0, ["dp[7]", "tp[7]"]), (8, 0, [])]
    return Case("communication/show_ranks_without_dump", g.build(), rows)


@case
def progress_of_ranks_in_their_groups(g: GraphBuilder) -> Case:
    """Windows and counters per group and member; what is not known is null."""
    whole, pair = group(g, ALL, [0, 1]), group(g, "1[0]", [0])
    zero = rank(
        g, 0, dump="kept", first_unfinished="all_reduce #6", first_unfinished_site="a.py:1", unfinished=1
    )
    one = rank(g, 1, dump="no file")
    window = {"first_kept": 3, "last_kept": 6, "kept": 4, "last_enqueued": 6, "last_completed": 5}
    g.edge("MEMBER", one, whole)
    g.edge("MEMBER", zero, whole, **window)
    g.edge("MEMBER", zero, pair, kept=0, last_enqueued=2, last_completed=2)
    stands = ("all_reduce #6", "a.py:1")
    rows = [
        (ALL, 0, "kept", 3, 6, 4, 6, 5, *stands),
        (ALL, 1, "no file", None, None, None, None, None, None, None),
        ("1[0]", 0, "kept", None, None, 0, 2, 2, *stands),
    ]
    return Case("communication/show_progress", g.build(), rows)


@case
def progress_of_a_run_that_was_not_matched(g: GraphBuilder) -> Case:
    """Members alone, as traces without dumps give them: no MEMBER edge of the run has a property."""
    g.edge("MEMBER", rank(g, 0), group(g, "0[0]", [0]))
    return Case("communication/show_progress", g.build(), [("0[0]", 0, *[None] * 8)])


@case
def collectives_on_which_the_members_differ(g: GraphBuilder) -> Case:
    """Rank 1 called a broadcast; a dump gives shapes, a trace counts. Calls of a matched one do not come."""
    part(g, collective(g, 3), 0)
    wrong = collective(g, 4, "TYPE_MISMATCH")
    other = part(
        g, wrong, 1, "broadcast", op_name="broadcast", in_sizes="[[4,4]]", out_sizes="[[4,4]]", site="g.py:99"
    )
    g.row(other).update(in_dtypes=["Float"], out_dtypes=["Float"])
    first = part(g, wrong, 0, op_name="all_reduce", in_msg_nelems=16, out_msg_nelems=16, dtype="float")
    unequal = part(g, collective(g, 2, "SIZE_MISMATCH", group="1[0-1]"), 0, op_name="all_reduce")
    nothing = (None, None, None, None)
    shapes = ("[[4,4]]", "[[4,4]]", ["Float"], ["Float"])
    rows = [
        (ALL, 4, "TYPE_MISMATCH", 0, "all_reduce", *nothing, 16, 16, "float", None, first),
        (ALL, 4, "TYPE_MISMATCH", 1, "broadcast", *shapes, None, None, None, "g.py:99", other),
        ("1[0-1]", 2, "SIZE_MISMATCH", 0, "all_reduce", *nothing, None, None, None, None, unequal),
    ]
    return Case("communication/show_mismatches", g.build(), rows)


def _order(g: GraphBuilder) -> dict[str, int]:
    """Add four collectives, of which rank 1 skips one: from there its calls pair with the wrong ones."""
    uids = {}
    sites = {0: (("r", 1), ("b", 2), ("r", 3)), 1: (("r", 1), ("r", 3)), 2: (("r", 1), ("b", 2), ("r", 3))}
    made = [collective(g, 1), collective(g, 2, "TYPE_MISMATCH"), collective(g, 3, "INCOMPLETE")]
    collective(g, 4, "EVICTED")
    for number in (2, 0, 1):
        for place, (kind, line) in enumerate(sites[number]):
            word = {"r": "all_reduce", "b": "broadcast"}[kind]
            own: dict[str, Any] = {"op_name": word, "site": f"a.py:{line}", "state": "completed"}
            uids[f"{number} {place + 1}"] = part(g, made[place], number, word, **own)
    elsewhere = collective(g, 2, group="1[0-1]")
    part(g, elsewhere, 0, op_name="all_reduce")
    return uids


@case
def collectives_of_a_group_side_by_side(g: GraphBuilder) -> Case:
    """Call by call, within the numbers asked; one without calls has a row; other groups do not come."""
    uids = _order(g)
    r, b = ("all_reduce", "all_reduce"), ("broadcast", "broadcast")
    rows = [
        (2, "TYPE_MISMATCH", 0, *b, "a.py:2", "completed", uids["0 2"]),
        (2, "TYPE_MISMATCH", 1, *r, "a.py:3", "completed", uids["1 2"]),
        (2, "TYPE_MISMATCH", 2, *b, "a.py:2", "completed", uids["2 2"]),
        (3, "INCOMPLETE", 0, *r, "a.py:3", "completed", uids["0 3"]),
        (3, "INCOMPLETE", 2, *r, "a.py:3", "completed", uids["2 3"]),
        (4, "EVICTED", None, None, None, None, None, None),
    ]
    asked = {"group": ALL, "first_seq": 2, "last_seq": 9}
    return Case("communication/show_collectives_by_rank", g.build(), rows, asked)


@case
def order_of_the_collectives_of_a_group(g: GraphBuilder) -> Case:
    """A row where all ranks made the same call, two from where they differ: that of most ranks first."""
    _order(g)
    rows = [
        (1, "MATCHED", "all_reduce", "a.py:1", 3, [0, 1, 2]),
        (2, "TYPE_MISMATCH", "broadcast", "a.py:2", 2, [0, 2]),
        (2, "TYPE_MISMATCH", "all_reduce", "a.py:3", 1, [1]),
    ]
    asked = {"group": ALL, "first_seq": 1, "last_seq": 2}
    return Case("communication/show_collective_order", g.build(), rows, asked)


@case
def calls_of_one_collective(g: GraphBuilder) -> Case:
    """By rank, with what each gave and how long it waited; those of its neighbours do not come."""
    before, asked, other = collective(g, 5), collective(g, 6), collective(g, 6, group="1[0-1]")
    part(g, before, 0)
    part(g, other, 0)
    late = part(g, asked, 1, op_name="allreduce", start_ns=70, duration_ns=10, wait_ns=0, source="kineto")
    given: dict[str, Any] = {"op_name": "allreduce", "state": "completed", "retired": True, "start_ns": 20}
    given |= {"duration_ns": 60, "wait_ns": 50, "size_bytes": 64, "in_sizes": "[[16]]", "out_sizes": "[[16]]"}
    given |= {"in_dtypes": ["Float"], "site": "a.py:1", "source": "flight_recorder"}
    early = part(g, asked, 0, **given)
    rows = [
        (0, *given.values(), "recorded", early),
        (1, "allreduce", None, None, 70, 10, 0, None, None, None, None, None, "kineto", "recorded", late),
    ]
    parameters = {"group": ALL, "collective_seq_id": 6}
    return Case("communication/show_calls_of_collective", g.build(), rows, parameters)


@case
def ops_of_one_collective(g: GraphBuilder) -> Case:
    """Host op and kernel of each rank's call; a call that was seen as none has no row."""
    asked = collective(g, 6)
    first, second = part(g, asked, 0), part(g, asked, 1)
    part(g, asked, 2)
    kernels = []
    for number, comm in enumerate((first, second)):
        kernels.append(g.node("Kernel", "ncclDevKernel", rank=number, start_ns=30, duration_ns=9))
        g.edge("SEEN_AS", comm, kernels[-1], rule="kernel")
    host = g.op("record_param_comms", start_ns=10, duration_ns=5)
    g.edge("SEEN_AS", first, host, rule="host_op")
    rows = [
        (0, first, "host_op", host, "record_param_comms", 10, 5),
        (0, first, "kernel", kernels[0], "ncclDevKernel", 30, 9),
        (1, second, "kernel", kernels[1], "ncclDevKernel", 30, 9),
    ]
    parameters = {"group": ALL, "collective_seq_id": 6}
    return Case("communication/show_ops_of_collective", g.build(), rows, parameters)
