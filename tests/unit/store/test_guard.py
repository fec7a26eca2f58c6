"""What a statement may say, told from its text alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphstore.errors import QueryError, UsageError
from graphstore.settings import Settings
from graphstore.store.guard import refuse_load_csv, refuse_writes, time_limit

READING = [
    "MATCH (n:Op) RETURN n.name AS name",
    "match (n:Op) where n.name = 'CREATE (x)' return n.name as name",
    'MATCH (n:Op) WHERE n.name = "it\'s SET" RETURN n.uid AS uid',
    "MATCH (n:Op) // DELETE n\nRETURN n.uid AS uid",
    "MATCH (n:Op) /* MERGE\n(n) */ RETURN n.uid AS uid",
    "MATCH (n:Op) RETURN n.set AS `set`, n.create AS merge",
    "MATCH (n:Set)-[:CREATE|DELETE]->(m) RETURN n.uid AS uid",
    "MATCH (n:Op) WHERE n.uid = $set RETURN n.uid AS uid",
    "MATCH (n:Op) RETURN n.uid AS set",
    "MATCH (n:Op) CALL (n) { MATCH (n)--(m:Op) RETURN count(m) AS c } RETURN c AS c",
    "MATCH (offset:Op), (created:Op), (resetting:Op) RETURN offset.uid AS uid",
    "MATCH (n:Op) WHERE n.name STARTS WITH 'a' RETURN n.name AS name",
    r"RETURN 'a \' SET b' AS x",
    "MATCH (show:Op), (use:Op) RETURN show.uid AS start",
]


@pytest.mark.parametrize("text", READING)
def test_words_that_do_not_write_are_let_through(text: str) -> None:
    """Strings, comments, quoted names, properties, labels, types, parameters and aliases are no clauses."""
    refuse_writes(text)


WRITING = [
    ("CREATE (n)", "CREATE"),
    ("MATCH (n) SeT n.x = 1", "SET"),
    ("MATCH (n)SET n.x = 1", "SET"),
    ("MATCH (n)\n\tDETACH\nDELETE n", "DETACH"),
    ("MATCH (n) WHERE n.name = 'x' DELETE n", "DELETE"),
    ("MERGE (n:Op)", "MERGE"),
    ("MATCH (n) REMOVE n.x", "REMOVE"),
    ("FOREACH (x IN [1] | CREATE (n))", "FOREACH"),
    ("DROP INDEX x", "DROP"),
    ("INSERT (n)", "INSERT"),
    ("MATCH (n) CALL (n) { DELETE n }", "DELETE"),
    ("MATCH (n) CALL { WITH n DELETE n } IN TRANSACTIONS", "DELETE"),
    ("CALL db.labels()", "CALL"),
    ("MATCH (n) CALL apoc.create.node([], {}) YIELD node RETURN node", "CALL"),
    ("CALL () { RETURN 1 AS x } IN 2 CONCURRENT TRANSACTIONS RETURN x", "IN 2 CONCURRENT TRANSACTIONS"),
    (" SHOW SETTINGS", "SHOW"),
    ("USE neo4j MATCH (n) RETURN n", "USE"),
    ("TERMINATE TRANSACTIONS 'x'", "TERMINATE"),
    ("ALTER USER neo4j SET PASSWORD 'x'", "ALTER"),
    ("PROFILE MATCH (n) RETURN n", "PROFILE"),
    ("EXPLAIN MATCH (n) RETURN n", "EXPLAIN"),
    ("MATCH (n:Op) RETURN n.uid AS uid FORMAT CSV", "FORMAT CSV"),
    ("RETURN 'a\\\\' AS x // ' \nSET", "SET"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "word"), WRITING)
def test_a_statement_that_does_more_than_read_is_refused_by_its_word(text: str, word: str) -> None:
    """The message names the word and the remedy."""
    with pytest.raises(QueryError, match=f": {word} is refused"):
        refuse_writes(text)


def test_the_message_says_where_the_word_stands() -> None:
    """Line and column, counted from 1."""
    with pytest.raises(QueryError, match="line 2, column 3: SET is refused"):
        refuse_writes("MATCH (n)\n  SET n.x = 1")


LOADING = [
    "LOAD CSV FROM 'x' AS row RETURN row",
    "load csv with headers from 'x' as row return row",
    "LOAD\n\t CSV FROM 'x' AS row RETURN row",
    "LOAD /* a */ /* b */ CSV FROM 'x' AS row RETURN row",
    "LOAD // a comment\n CSV FROM 'x' AS row RETURN row",
    "LOAD\u180eCSV FROM 'x' AS row RETURN row",
    r"LO\u0041D CSV FROM 'x' AS row RETURN row",
    r"L\uu004fAD C\u0053V FROM 'x' AS row RETURN row",
    r"LOAD\u0020CSV FROM 'x' AS row RETURN row",
    r"RETURN '\u0027 AS x UNION LOAD CSV FROM ''x'' AS x RETURN x",
    "RETURN '/*' AS x UNION LOAD CSV FROM '*/' AS x RETURN x",
    "MATCH (n:Op) WHERE n.name = 'load csv' RETURN n.uid AS uid",
]


@pytest.mark.parametrize("text", LOADING)
def test_load_csv_is_refused_however_it_is_written(text: str) -> None:
    """Escapes, comments and odd spaces hide it from a lexer, not from the check; harmless texts pay."""
    with pytest.raises(QueryError, match="LOAD CSV is refused"):
        refuse_load_csv(text)
    with pytest.raises(QueryError):
        refuse_writes(text)


def test_a_statement_that_loads_nothing_may_write_where_writing_is_allowed() -> None:
    """The check for files alone lets every other clause through."""
    refuse_load_csv("MATCH (n:Op) SET n.load = 1, n.csv = 2")


@given(st.text(max_size=60))
def test_no_text_breaks_the_check(text: str) -> None:
    """Any text is let through or refused, quickly; nothing else happens."""
    try:
        refuse_writes(text)
    except QueryError:
        return


def test_a_hostile_text_is_judged_in_no_time() -> None:
    """No pattern backtracks: a long near-miss costs a scan."""
    refuse_writes("LOAD " + "/**/" * 50_000 + "X")


def test_the_time_limit_is_the_one_given_else_the_setting() -> None:
    """Seconds, more than 0."""
    settings = Settings(store="x", query_timeout_s=7)

    assert time_limit(None, settings) == 7
    assert time_limit(0.5, settings) == 0.5
    with pytest.raises(UsageError):
        time_limit(0, settings)
