from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphstore.readers import flight_groups
from graphstore.readers.flight_groups import rank_by_groups, read_groups
from graphstore.readers.flight_pickle import DumpRefusedError
from tests.data.dumps import group


def ranks(listed: Any) -> list[int] | None:
    """Return the members of a group listed so."""
    found: list[int] | None = read_groups({"0": {"name": "0", "desc": "d", "ranks": listed}})[0]["ranks"]
    return found


@given(st.lists(st.integers(0, 4095), min_size=1, max_size=40, unique=True))
def test_members_keep_the_order_they_are_listed_in(members: list[int]) -> None:
    """Peers of a send or recv are places in it; text and list say the same."""
    assert ranks(str(members)) == ranks(members) == members
    assert ranks(str(members).replace(" ", "")) == members


@pytest.mark.parametrize(
    "listed",
    [
        *("[]", "", "[0, 1", "0, 1", "[0,, 1]", "[0, 0]", "[-1, 0]", "[1000000]", "[0.5]", "[0-3]"),
        "[" + "9" * 5_000 + "]",
        *([], [0, 0], [-1], [1 << 70], None),
    ],
)
def test_a_broken_or_empty_list_has_no_members(listed: Any) -> None:
    """What gloo writes ('[]') means that nobody knows, not all ranks."""
    assert ranks(listed) is None


def test_a_long_text_shared_by_many_groups_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A megabyte that a thousand groups share costs a megabyte, be it broken or not."""
    read: list[str] = []
    parsed = flight_groups._parsed

    def counted(text: str) -> list[int] | None:
        read.append(text)
        return parsed(text)

    monkeypatch.setattr(flight_groups, "_parsed", counted)
    broken = "[" + "0, " * 400_000 + "0]"

    groups = read_groups({str(n): {"name": str(n), "ranks": broken} for n in range(1_000)})

    assert [each["ranks"] for each in groups] == [None] * 1_000
    assert len(read) == 1


def test_more_ranks_than_groups_may_list_are_refused() -> None:
    """A list that is shared by many groups would multiply when it is passed on."""
    many = list(range(100_000))

    with pytest.raises(DumpRefusedError, match="more than 4,194,304 ranks"):
        read_groups({str(n): many for n in range(1_000)})


@pytest.mark.parametrize(
    ("lists", "rank"),
    [
        (["[0, 1, 2, 3]", "[0, 1]", "[0, 2]"], 0),
        (["[3]"], 3),
        (["[0, 1]", "[1, 0]"], None),
        (["[0, 1]", "[2, 3]"], None),
        (["[]", "[2, 3]", "[3, 5]"], 3),
        (["[]"], None),
        ([], None),
    ],
)
def test_the_rank_in_all_groups_is_the_dumps(lists: list[str], rank: int | None) -> None:
    """One rank, not two and not none; groups without members say nothing."""
    config: dict[str, Any] = {}
    for number, listed in enumerate(lists):
        config |= group(str(number), "d", listed)

    assert rank_by_groups(read_groups(config)) == rank
