from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphstore.link.matching.agreement import Members, agrees_with_itself, judge
from graphstore.link.matching.reduce import signature_of
from graphstore.link.matching.signatures import Signature
from tests.data.flight import Row, call

Told = tuple[str, list[int], list[int]]


def _item(row: Row) -> Signature:
    return signature_of({"src": None, "dst": None} | row)


def _judge(rows: Sequence[Row], size: int | None = None, is_whole: bool = True) -> Told | None:
    """Return (verdict, ranks, blamed) of one call, made by ranks 0, 1, …; None when they agree."""
    members = Members(tuple(range(size or len(rows))), len(rows) if size is None else size, is_whole)
    misfit = judge([(rank, _item(row)) for rank, row in enumerate(rows)], members)
    return None if misfit is None else (misfit.verdict, list(misfit.ranks), list(misfit.blamed))


GATHER = "_all_gather_base"
SCATTER = "_reduce_scatter_base"


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([call(), call(), call()], None),
        ([call("all_gather", out=12), call(GATHER, out=12), call("all_gather", out=12)], None),
        ([call(), call("broadcast"), call()], ("TYPE_MISMATCH", [1], [1])),
        ([call(), call("broadcast")], ("TYPE_MISMATCH", [0, 1], [])),
        ([call(), call(), call(dtype="Half")], ("DTYPE_MISMATCH", [2], [2])),
        ([call("barrier", size=[]), call("barrier", size=[]), call("barrier", size=1)], None),
        ([call(), call(size=5), call()], ("SIZE_MISMATCH", [1], [1])),
        ([call(size=4), call(size=5), call(size=6)], ("SIZE_MISMATCH", [0, 1, 2], [])),
        ([call("reduce"), call("reduce", size=5)], ("SIZE_MISMATCH", [0, 1], [])),
        ([call(size=[2, 2]), call(size=4)], None),  # elements are compared, not tensors
        ([call(GATHER, out=8)] * 2, None),
        ([call(GATHER, out=12)] * 2, ("SIZE_MISMATCH", [0, 1], [])),
        ([call(GATHER, out=12), call(GATHER, out=12), call(GATHER, out=8)], ("SIZE_MISMATCH", [2], [2])),
        ([call(SCATTER, 12, 4), call(SCATTER, 12, 4), call(SCATTER, 15, 5)], ("SIZE_MISMATCH", [2], [2])),
        ([call("novel", size=4), call("novel", size=5)], None),  # of an unknown kind nothing is known
    ],
)
def test_what_members_must_agree_in(rows: list[Row], told: Told | None) -> None:
    """Kinds, then types, then counts; a party of more than half is right."""
    assert _judge(rows) == told


def test_without_a_known_size_only_members_are_compared() -> None:
    """Two ranks gather 4 into 12: of a group of three that is right, and its size is not known."""
    rows = [call(GATHER, out=12)] * 2

    assert judge([(r, _item(row)) for r, row in enumerate(rows)], Members((0, 1), None, False)) is None
    assert _judge([call(GATHER, out=12), call(GATHER, out=8)], size=3, is_whole=False) is not None


def test_uneven_parts_are_right_if_each_tensor_fits_its_member() -> None:
    """all_gather into one tensor per member: parts of 3, 4 and 5, the same list on all."""
    rows = [call("all_gather", part, [3, 4, 5]) for part in (3, 4, 5)]

    assert _judge(rows) is None


def test_an_uneven_part_that_is_not_the_listed_one_is_at_fault() -> None:
    """Rank 1 gives 6 where everybody expects 4 of it."""
    rows = [call("all_gather", part, [3, 4, 5]) for part in (3, 6, 5)]

    assert _judge(rows) == ("SIZE_MISMATCH", [1], [1])


def test_uneven_lists_that_differ_have_no_common_whole() -> None:
    """Two of three list the same tensors."""
    lists = ([3, 4], [3, 4], [3, 5])

    assert _judge([call("all_gather", 3, outs) for outs in lists]) == ("SIZE_MISMATCH", [2], [2])


def test_uneven_lists_of_a_group_of_unknown_order_add_up() -> None:
    """Without a tensor per member only the sum is left, and that only if all are there."""
    rows = [call("all_gather", part, [3, 3, 4]) for part in (4, 5)]

    assert _judge(rows) is not None
    assert _judge(rows, is_whole=False) is None


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([call("gather", 4, []), call("gather", 4, 12), call("gather", 4, [])], None),
        ([call("gather", 4, [4, 4, 4]), call("gather", 4, []), call("gather", 4, [])], None),
        (
            [call("gather", 4, []), call("gather", 4, 12), call("gather", 4, 12)],
            ("SIZE_MISMATCH", [1, 2], []),
        ),
        ([call("gather", 4, [])] * 3, ("SIZE_MISMATCH", [0, 1, 2], [])),
        ([call("gather", 4, []), call("gather", 4, 8), call("gather", 4, [])], ("SIZE_MISMATCH", [1], [1])),
        ([call("scatter", [], 4), call("scatter", 12, 4), call("scatter", [], 4)], None),
        (
            [call("scatter", [], 4), call("scatter", 12, 4), call("scatter", [], 5)],
            ("SIZE_MISMATCH", [2], [2]),
        ),
    ],
)
def test_gather_and_scatter_have_one_root(rows: list[Row], told: Told | None) -> None:
    """Exactly one member has all parts, as many as there are members."""
    assert _judge(rows) == told


def test_a_root_without_a_dump_is_no_mismatch() -> None:
    """No root among the present members: it may be the one that is not there."""
    assert _judge([call("gather", 4, [])] * 2, size=3, is_whole=False) is None


def test_an_exchange_of_one_tensor_each_only_has_sums() -> None:
    """all_to_all does not record its splits: what goes in comes out, if all are there."""
    assert _judge([call("all_to_all", 10, 8), call("all_to_all", 8, 10)]) is None
    assert _judge([call("all_to_all", 10, 8), call("all_to_all", 8, 9)]) == ("SIZE_MISMATCH", [0, 1], [])
    assert _judge([call("all_to_all", 10, 8), call("all_to_all", 8, 9)], is_whole=False) is None


def test_an_exchange_of_lists_is_compared_tensor_by_tensor() -> None:
    """What 0 sends to 1 is what 1 takes from 0, even where the sums agree, and with a member absent."""
    right = [call("all_to_all", [1, 2], [1, 3]), call("all_to_all", [3, 4], [2, 4])]
    wrong = [call("all_to_all", [1, 2], [1, 3]), call("all_to_all", [4, 3], [2, 4])]
    absent = [call("all_to_all", [1, 2, 9], [1, 3, 9]), call("all_to_all", [4, 3, 9], [2, 4, 9])]

    assert _judge(right) is None
    assert _judge(wrong) == ("SIZE_MISMATCH", [0, 1], [])
    assert _judge(absent, size=3, is_whole=False) == ("SIZE_MISMATCH", [0, 1], [])


def test_calls_without_sizes_are_not_compared() -> None:
    """A trace that holds none: kinds and types still count."""
    bare = {"in_nelems": None, "out_nelems": None}

    assert _judge([call() | bare, call(size=9)]) is None
    assert _judge([call() | bare, call("broadcast")]) is not None


def test_blocks_are_compared_call_by_call() -> None:
    """A coalesced block: its calls in order; one whose content is not known is not compared."""
    members = Members((0, 1, 2), 3, True)

    def block(*sizes: int) -> Signature:
        return Signature("nccl:coalesced", "coalesced", parts=tuple(_item(call(size=n)) for n in sizes))

    assert judge([(0, block(4, 8)), (1, block(4, 8)), (2, block())], members) is None
    longer = judge([(0, block(4, 8)), (1, block(4, 8)), (2, block(4, 8, 8))], members)
    other = judge([(0, block(4, 8)), (1, block(4, 9)), (2, block(4, 8))], members)
    assert longer is not None
    assert (longer.verdict, longer.blamed) == ("TYPE_MISMATCH", (2,))
    assert other is not None
    assert (other.verdict, other.blamed) == ("SIZE_MISMATCH", (1,))


@given(
    st.sampled_from(
        ("all_reduce", GATHER, SCATTER, "gather", "scatter", "all_to_all", "barrier", "broadcast")
    ),
    st.lists(st.integers(0, 8), max_size=3),
    st.lists(st.integers(0, 8), max_size=3),
    st.integers(2, 4),
)
def test_what_agrees_with_itself_needs_no_look(name: str, ins: list[int], outs: list[int], size: int) -> None:
    """The quick answer is never yes where all members calling exactly this would misfit."""
    row = call(name, size=ins, out=outs)

    if agrees_with_itself(_item(row), size):
        for count in range(1, size + 1):
            assert _judge([row] * count, size=size, is_whole=count == size) is None
