"""What a word at `query` means, and how its parameters are read and checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import polars as pl
import pytest

from graphstore.errors import InputError, QueryError, UsageError
from graphstore.queries import read_parameters, run_any, run_query
from graphstore.queries.catalog import Field, Query
from graphstore.queries.run import _typed, checked
from graphstore.store.base import Store

OPTIONAL = (
    Field("run", "text", "the run"),
    Field("rank", "int", "one rank", optional=True),
    Field("count", "int", "how many", optional=True, default=20),
)


class Recorder:
    """Stands where a store would, and keeps what it was asked."""

    def __init__(self) -> None:
        """Begin with nothing asked."""
        self.asked: list[tuple[str, dict[str, Any], dict[str, Any]]] = []

    def query(self, run: str, text: str, parameters: dict[str, Any], **limits: Any) -> pl.DataFrame:
        """Keep the call; answer with no rows."""
        self.asked.append((text, parameters, limits))
        return pl.DataFrame()


@pytest.fixture
def recorder() -> Recorder:
    """Return a fresh recorder."""
    return Recorder()


def ask(recorder: Recorder, query: str, limit: int | None = None, **parameters: Any) -> None:
    """Run a query on the recorder."""
    run_any(cast(Store, recorder), "run", query, parameters, row_limit=limit)


def test_a_name_runs_the_file_of_the_catalogue(recorder: Recorder) -> None:
    """With the limits given."""
    ask(recorder, "show_kernel_path", 5, kernel=3)

    text, parameters, limits = recorder.asked[0]
    assert text.startswith("// The way from a device op up to the top of the call tree")
    assert (parameters, limits) == ({"kernel": 3}, {"timeout_s": None, "row_limit": 5})


def test_a_text_runs_as_it_is(recorder: Recorder) -> None:
    """With the parameters it names; the store binds $run."""
    ask(recorder, "MATCH (n:Op {uid: $u}) WHERE n.run = $run RETURN n.name AS name", u=4, unused=1)

    assert recorder.asked[0][:2] == (
        "MATCH (n:Op {uid: $u}) WHERE n.run = $run RETURN n.name AS name",
        {"u": 4},
    )


def test_a_file_runs_its_text(recorder: Recorder, tmp_path: Path) -> None:
    """A path that ends in .cypher is a file."""
    path = tmp_path / "mine.cypher"
    path.write_text("RETURN 1 AS one", encoding="utf-8")

    ask(recorder, str(path))

    assert recorder.asked[0][0] == "RETURN 1 AS one"


def test_a_file_that_is_not_there_is_told(recorder: Recorder, tmp_path: Path) -> None:
    """By its path, as bad input."""
    with pytest.raises(InputError, match=r"nothere\.cypher: cannot be read"):
        ask(recorder, str(tmp_path / "nothere.cypher"))


def test_a_parameter_the_text_needs_is_told(recorder: Recorder) -> None:
    """Before any engine is asked; one in a comment or a text is not needed."""
    with pytest.raises(QueryError, match="parameter u of the text is missing: --param u=VALUE"):
        ask(recorder, "MATCH (n:Op {uid: $u}) RETURN n.name AS name // $c", x=1)
    ask(recorder, "RETURN '$d' AS d // $c")
    assert len(recorder.asked) == 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "parameter kernel is missing. It takes kernel: int, uid of the device op"),
        ({"kernel": 1, "rank": 2}, "parameter rank is not one. It takes"),
        ({"kernle": 1}, "parameter kernle is not one (near it: kernel), kernel is missing"),
        ({"kernel": None}, "parameter kernel=None is no int"),
        ({"kernel": "many"}, "parameter kernel='many' is no int"),
        ({"kernel": True}, "parameter kernel=True is no int"),
        ({"kernel": 1, "run": "other"}, "parameter run is not one"),
    ],
)
def test_parameters_are_those_of_the_header(recorder: Recorder, given: dict[str, Any], message: str) -> None:
    """Missing, unknown and of the wrong type: each is told with what is taken."""
    with pytest.raises(UsageError) as error:
        run_query(cast(Store, recorder), "run", "linking/show_kernel_path", **given)

    assert message in str(error.value)
    assert recorder.asked == []


@pytest.mark.parametrize(
    ("given", "bound"),
    [
        ({}, {"rank": None, "count": 20}),
        ({"rank": 3}, {"rank": 3, "count": 20}),
        ({"rank": None, "count": 5}, {"rank": None, "count": 5}),
    ],
)
def test_a_parameter_left_out_has_its_default(given: dict[str, Any], bound: dict[str, Any]) -> None:
    """One given stands; null may be given where it is the default."""
    query = Query("time/show_x", "m", "t", parameters=OPTIONAL)

    assert checked(query, given) == bound


def test_a_word_may_say_null_where_that_is_the_default() -> None:
    """A number whose default is null may be typed as null; one with another default may not, nor a text."""
    assert _typed(OPTIONAL[1], "null") is None
    with pytest.raises(UsageError, match="parameter count=null: want int"):
        _typed(OPTIONAL[2], "null")
    assert _typed(Field("name", "text", "m", optional=True), "null") == "null"


def test_a_writing_statement_is_not_run(recorder: Recorder) -> None:
    """Only check and repair write."""
    with pytest.raises(UsageError, match="health/write_findings writes Finding"):
        ask(recorder, "health/write_findings", rows=[])


def test_words_become_what_the_header_says() -> None:
    """Numbers and lists by the declared type, a text stays a text even if it looks like a number."""
    assert read_parameters("time/show_top_ops", ["count=3"]) == {"count": 3}
    assert read_parameters("structure/show_ops", ["uids=1,2"]) == {"uids": [1, 2]}
    assert read_parameters("structure/show_ops", ["uids=[1, 2]"]) == {"uids": [1, 2]}
    assert read_parameters("health/show_finding_subjects", ["fid=5"]) == {"fid": "5"}


def test_words_for_a_text_become_what_they_look_like() -> None:
    """JSON if it is JSON, else the text; an equals sign in the value is of the value."""
    words = ["a=5", "b=2.5", "c=true", "d=[1]", "e=aten::add", "f=x=y"]

    found = read_parameters("RETURN $a AS a", words)

    assert found == {"a": 5, "b": 2.5, "c": True, "d": [1], "e": "aten::add", "f": "x=y"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["count"], "parameter 'count': want NAME=VALUE"),
        (["count=1", "count=2"], "parameter count is given twice"),
        (["count=many"], "parameter count=many: want int"),
        (["count=true"], "parameter count=true: want int"),
    ],
)
def test_a_word_that_is_no_parameter_is_told(words: list[str], message: str) -> None:
    """One line that says what was wanted."""
    with pytest.raises(UsageError, match=message):
        read_parameters("time/show_top_ops", words)
