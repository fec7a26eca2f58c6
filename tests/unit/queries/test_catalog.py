"""What a header may say, how a query is found by name, and where the statements lie."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from graphstore.errors import QueryError, UsageError
from graphstore.queries import catalog, get
from graphstore.queries.catalog import Field, Query, checks, files, folder, listed, read_query
from graphstore.queries.findings import CODE_BY_RULE
from graphstore.queries.page import page

GOOD = """// Ops by rank: a rank without any has no row.
// They are counted, not listed.
// check: many_ops   severity: note   engines: neo4j, kglite
// param run: text, the run
// column rank: int, global rank; ops: int, how many: all of them
MATCH (n:Op) WHERE n.run = $run
// not a header line: none
RETURN n.rank AS rank, count(*) AS ops ORDER BY rank
"""


def read(tmp_path: Path, text: str, name: str = "time/find_ops") -> Query:
    """Write a statement and read it as the catalogue does."""
    path = tmp_path / f"{name}.cypher"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return read_query(path, tmp_path)


def test_a_header_gives_meaning_check_parameters_and_columns(tmp_path: Path) -> None:
    """Several columns may share a line; a comment further down is not of the header."""
    query = read(tmp_path, GOOD)

    assert query.meaning == "Ops by rank: a rank without any has no row. They are counted, not listed."
    assert query.summary == "Ops by rank: a rank without any has no row."
    assert (query.topic, query.verb) == ("time", "find")
    assert (query.rule, query.severity, query.engines) == ("many_ops", "note", ("kglite", "neo4j"))
    assert query.parameters == (Field("run", "text", "the run"),)
    assert query.columns == (
        Field("rank", "int", "global rank"),
        Field("ops", "int", "how many: all of them"),
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("// param run", "// parm run", "'parm run: text, the run'"),
        ("// check: many_ops", "// chek: many_ops", "'chek: many_ops"),
        ("severity: note", "severity: fatal", "severity: error|warning|note"),
        ("engines: neo4j, kglite", "engines: oracle", "engines: kglite, neo4j"),
        ("rank: int, global rank", "rank: integer, global rank", "with a type of int"),
        ("rank: int, global rank", "rank: int", "'column rank: int"),
        (
            "// check: many_ops   severity: note   engines: neo4j, kglite\n",
            "",
            "a find_ query has a 'check:'",
        ),
        ("// Ops by rank: a rank without any has no row.\n// They are counted, not listed.\n", "", "meaning"),
        ("// column rank: int, global rank; ops: int, how many: all of them\n", "", "names no column"),
        ("// param run", "// writes: Op\n// param run", "a repair_ or write_ query has a 'writes:'"),
    ],
)
def test_a_header_that_says_something_else_is_refused(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    """A typing error is told with the file and the line, not passed over."""
    with pytest.raises(QueryError, match=r"^time/find_ops: ") as error:
        read(tmp_path, GOOD.replace(old, new))

    assert message in str(error.value)


def test_a_parameter_may_have_a_default(tmp_path: Path) -> None:
    """Any JSON value of its type, commas and all, or null; null is a default, too."""
    line = '// param rank: int = null, m; name: text = "a, b", m; ranks: list[int] = [1, 2], m; n: int, m'
    query = read(tmp_path, GOOD.replace("// param run: text, the run", line))

    assert query.parameters == (
        Field("rank", "int", "m", optional=True),
        Field("name", "text", "m", optional=True, default="a, b"),
        Field("ranks", "list[int]", "m", optional=True, default=[1, 2]),
        Field("n", "int", "m"),
    )
    assert [parameter.described for parameter in query.parameters] == line.removeprefix("// param ").split(
        "; "
    )


@pytest.mark.parametrize(
    "line",
    [
        "param rank: int = , one rank",
        "param rank: int = none, one rank",
        'param rank: int = "5", one rank',
        "param rank: int = true, one rank",
        "param rank: int = 5",
        "param rank: int = 5 one rank",
        "column rank: int = 5, global rank",
    ],
)
def test_a_default_that_is_none_of_the_type_is_refused(tmp_path: Path, line: str) -> None:
    """No JSON, another type, no meaning behind it, or a default of a column."""
    with pytest.raises(QueryError) as error:
        read(tmp_path, GOOD.replace("// param run: text, the run", f"// {line}"))

    assert f"header line '{line}' is not" in str(error.value)


@pytest.mark.parametrize("name", ["misc/find_ops", "time/get_ops", "time/ops", "time/deep/find_ops"])
def test_a_file_lies_under_a_topic_and_its_name_begins_with_a_verb(tmp_path: Path, name: str) -> None:
    """Anything else is refused by name."""
    with pytest.raises(QueryError, match="want <topic>/<verb>_<noun>"):
        read(tmp_path, GOOD, name)


def test_a_writing_statement_says_what_it_writes(tmp_path: Path) -> None:
    """`writes:` is a list, and a repair_ file has one."""
    text = GOOD.replace("// check: many_ops   severity: note   engines: neo4j, kglite", "// writes: Op, CTRL")

    query = read(tmp_path, text, "structure/repair_ops")

    assert query.writes == ("Op", "CTRL")


def test_what_only_our_code_asks_is_marked(tmp_path: Path) -> None:
    """By who asks it, or because it writes; a person's list leaves it out."""
    own = read(tmp_path, GOOD.replace("// param run", "// internal: export\n// param run"))

    assert (own.used_by, own.is_internal) == ("export", True)
    assert not read(tmp_path, GOOD).is_internal
    assert get("health/write_findings").is_internal
    assert not {query.name for query in listed()} & {"health/write_findings", "linking/show_kernel_columns"}
    assert listed(internal=True) == list(catalog().values())
    assert {query.topic for query in listed("memory")} == {"memory"}


def test_columns_as_lists_in_one_row_are_no_question_of_a_person() -> None:
    """Whole columns are for our own code: such a statement is marked."""
    asked = [query for query in listed() if all(field.type.startswith("list") for field in query.columns)]

    assert asked == []


def test_a_person_has_at_least_forty_questions() -> None:
    """Beside the checks, which are asked by `graphstore check`."""
    assert sum(query.rule is None for query in listed()) >= 40


def test_the_text_of_a_query_can_be_had_without_its_header(tmp_path: Path) -> None:
    """From the first line that is no comment; later comments stay."""
    body = read(tmp_path, GOOD).body.splitlines()

    assert body[:2] == ["MATCH (n:Op) WHERE n.run = $run", "// not a header line: none"]


def test_every_file_is_in_the_catalogue_by_its_place() -> None:
    """One query a file, named as the file lies."""
    names = [path.relative_to(folder()).with_suffix("").as_posix() for path in files()]

    assert list(catalog()) == names


def test_a_query_is_found_by_its_short_name() -> None:
    """With or without topic and ending."""
    for name in ("structure/find_missing_parents", "find_missing_parents", "find_missing_parents.cypher"):
        assert get(name).name == "structure/find_missing_parents"


def test_a_wrong_name_is_answered_with_near_ones() -> None:
    """A person who mistypes sees what was meant; one who guesses sees where the list is."""
    with pytest.raises(UsageError, match="near it: structure/find_missing_parents"):
        get("find_mising_parent")
    with pytest.raises(UsageError, match="graphstore queries"):
        get("zzz")


def test_a_short_name_in_two_topics_is_no_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has to be named in full."""
    both = {name: Query(name, "m", "t") for name in ("time/show_ops", "memory/show_ops")}
    monkeypatch.setattr(sys.modules[Query.__module__], "catalog", lambda: both)

    with pytest.raises(UsageError, match="in several topics: time/show_ops, memory/show_ops"):
        get("show_ops")


def test_checks_are_those_of_the_topic() -> None:
    """All of them without one; a topic that is none is told."""
    assert {query.topic for query in checks("health")} == {"health"}
    assert len(checks()) == sum(query.rule is not None for query in catalog().values())
    with pytest.raises(UsageError, match="no topic 'helth'; topics are health"):
        checks("helth")


def test_every_rule_has_code_and_every_code_a_rule() -> None:
    """A check nobody turns into findings would be silent, code without a check is dead."""
    assert {query.rule for query in checks()} == set(CODE_BY_RULE)


def test_files_of_one_rule_agree_on_its_severity() -> None:
    """A finding has one severity, whichever file found it."""
    severities: dict[str | None, set[str | None]] = {}
    for query in checks():
        severities.setdefault(query.rule, set()).add(query.severity)

    assert {rule: found for rule, found in severities.items() if len(found) > 1} == {}


def test_the_page_lists_the_questions_of_a_person_first() -> None:
    """Each with a link to its entry; what is internal is described behind them, and not listed."""
    text = page()
    contents, entries = text.split("\n## health\n")
    asked, internal = entries.split("\n## internal\n")

    for query in catalog().values():
        anchor = re.sub(r"[^\w\- ]", "", query.name)  # what GitHub leaves of a heading
        assert (f"](#{anchor})" in contents) == (not query.is_internal), query.name
        assert f"\n### {query.name}\n" in (internal if query.is_internal else asked), query.name


def test_the_page_is_made_of_the_headers() -> None:
    """cypher/README.md is what `python -m graphstore.queries.page` writes; run it after a change."""
    assert (folder() / "README.md").read_text(encoding="utf-8") == page()
