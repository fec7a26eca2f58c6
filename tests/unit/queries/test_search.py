"""Finding queries of the catalogue by words."""

from __future__ import annotations

import pytest

from graphstore.errors import UsageError
from graphstore.queries import catalog, search
from graphstore.queries.catalog import Field, Query

IN_NAME = Query("time/show_waits", "Who stands still.", "t")
IN_MEANING = Query("time/show_idle", "How long streams wait.", "t")
IN_COLUMN = Query("time/show_calls", "Calls.", "t", columns=(Field("wait_ns", "int", "how long"),))
IN_ITS_MEANING = Query("time/show_ops", "Ops.", "t", parameters=(Field("n", "int", "those that wait"),))
KNOWN = [IN_ITS_MEANING, IN_COLUMN, IN_MEANING, IN_NAME]


def test_a_name_counts_more_than_a_meaning_and_that_more_than_columns() -> None:
    """The best first; a word is found within another, whatever its case."""
    assert search(KNOWN, ["WAIT"]) == [IN_NAME, IN_MEANING, IN_COLUMN, IN_ITS_MEANING]


def test_every_word_must_be_held() -> None:
    """Each may stand elsewhere; words in one argument are words, too."""
    assert search(KNOWN, ["wait", "streams"]) == [IN_MEANING]
    assert search(KNOWN, ["show_idle wait"]) == [IN_MEANING]


def test_words_that_nothing_holds_are_told_with_near_ones() -> None:
    """A typing error with what may have been meant; nonsense and nothing with where the list is."""
    with pytest.raises(UsageError, match="no query holds bandwidht; near it: bandwidth"):
        search(catalog().values(), ["bandwidht"])
    with pytest.raises(UsageError, match="no query holds zzzz; `graphstore queries` lists them all"):
        search(KNOWN, ["zzzz"])
    with pytest.raises(UsageError, match="no query holds no word at all"):
        search(KNOWN, [])
    with pytest.raises(UsageError, match="no query holds %;"):
        search(KNOWN, ["%"])


def test_words_that_no_query_holds_together_are_told_one_by_one() -> None:
    """No query of idle times says GPU: which of the words finds something is what to go on with."""
    with pytest.raises(UsageError, match=r"no query holds gpu and idle; gpu alone: \d+, idle alone: \d+"):
        search(catalog().values(), ["gpu", "idle"])


def test_equal_ones_come_by_name() -> None:
    """So that the answer is the same each time."""
    same = [Query(f"time/show_{letter}", "One.", "t") for letter in "ba"]

    assert [query.name for query in search(same, ["one"])] == ["time/show_a", "time/show_b"]
