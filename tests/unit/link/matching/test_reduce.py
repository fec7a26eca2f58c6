from __future__ import annotations

import pytest

from graphstore.link.matching.model import RankDump
from graphstore.link.matching.reduce import ABSENT, DONE, UNDONE, UNKNOWN, reduce_dump
from graphstore.model.records import empty
from tests.data.flight import START_NS, call, dump, gloo, send


def test_a_dump_becomes_columns_of_numbers() -> None:
    """Contents, sites and groups are numbered once each; nothing of the frame is kept."""
    calls = [call(site="a.py:1"), call("barrier", size=[], group="1"), call(site="a.py:1"), call(size=8)]

    reduced = reduce_dump(dump(3, calls))

    assert reduced.rank == 3
    assert reduced.pgs == [("0", "default_pg"), ("1", "group_1")]
    assert reduced.pg.tolist() == [0, 1, 0, 0]
    assert reduced.sig.tolist() == [0, 1, 0, 2]
    assert [reduced.signatures[code].in_nelems for code in reduced.sig] == [(4,), (), (4,), (8,)]
    assert [reduced.sites[code] if code >= 0 else None for code in reduced.site] == [
        "a.py:1",
        None,
        "a.py:1",
        None,
    ]
    assert reduced.seq.tolist() == [1, 1, 2, 3]
    assert reduced.local_ids == {0: 0, 1: 1}


@pytest.mark.parametrize(
    ("made", "state"),
    [
        (call(state="completed"), DONE),
        (call(state="started"), UNDONE),
        (call(state="scheduled", retired=True), UNDONE),  # timed out
        (gloo(retired=True), DONE),
        (gloo(retired=False), UNDONE),
        (call(state=None, retired=None), UNKNOWN),
    ],
)
def test_what_ends_a_call_depends_on_the_backend(made: dict[str, object], state: int) -> None:
    """NCCL completes a call; one that is only retired timed out. gloo never completes, it retires."""
    reduced = reduce_dump(dump(0, [made]))

    assert reduced.state.tolist() == [state]


def test_rows_are_in_order_of_recording() -> None:
    """The file may hold the ring from its middle on; record_id tells the order."""
    calls = [call(size=n, record_id=record) for n, record in ((1, 7), (2, 5), (3, 6))]

    reduced = reduce_dump(dump(0, calls))

    assert reduced.record.tolist() == [5, 6, 7]
    assert [reduced.signatures[code].in_count for code in reduced.sig] == [2, 3, 1]


def test_gaps_and_starts_are_seen() -> None:
    """Numbers missing between records, a ring that still holds its first record, times."""
    whole, holed = reduce_dump(dump(0, [call()] * 3)), reduce_dump(dump(0, [call()] * 4, keep=[1, 3]))

    assert (whole.starts_at_zero, whole.has_gaps) == (True, False)
    assert (holed.starts_at_zero, holed.has_gaps) == (False, True)
    assert whole.span == (START_NS, START_NS + 2000)


def test_an_empty_dump_has_no_rows_and_no_time() -> None:
    """Nothing kept: no span, no gap, nothing finished."""
    reduced = reduce_dump(RankDump("rank_0", 0, empty("flight_entries"), {"version": (2, 10)}))

    assert reduced.size == 0
    assert reduced.span is None
    assert not reduced.has_gaps
    assert reduced.nothing_finished


def test_unknown_numbers_are_marked() -> None:
    """A dump of version 1 has no op_id; an entry without a time has none."""
    reduced = reduce_dump(dump(0, [send(0, 1, op_id=None, start_ns=None)]))

    assert (reduced.op_id.tolist(), reduced.start.tolist()) == ([ABSENT], [ABSENT])
    assert reduced.span is None
