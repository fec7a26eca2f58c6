from __future__ import annotations

import pytest

from graphstore.cli import options
from graphstore.errors import UsageError


def test_ranks_are_read_from_file_and_number() -> None:
    """A file name may hold '=' itself; the last one parts it from the rank."""
    assert options.rank_flags(["a.json=3", "dir/b=c.json=0"]) == {"a.json": 3, "dir/b=c.json": 0}
    assert options.rank_flags(None) == {}


@pytest.mark.parametrize("word", ["a.json", "a.json=", "=3", "a.json=x", "a.json=-1", "a.json=²"])
def test_a_wrong_rank_word_is_named_with_the_right_form(word: str) -> None:
    """Anything but FILE=N is a usage error that shows how to write it."""
    with pytest.raises(UsageError, match="FILE=N"):
        options.rank_flags([word])


def test_a_file_has_one_rank() -> None:
    """Two different ranks for one file are an error, the same twice is not."""
    assert options.rank_flags(["a=1", "a=1"]) == {"a": 1}
    with pytest.raises(UsageError, match="rank 1 before"):
        options.rank_flags(["a=1", "a=2"])
