"""What a statement may say, judged by its text before an engine sees it.

In:  a Cypher text. Out: nothing, or a QueryError that names the word and the remedy.
Decided here: a read-only statement holds no writing clause, no procedure call and no administration command;
no statement whatever holds LOAD CSV, which reads any file of the machine on both engines, read-only or not.
The engines' own read-only modes stand behind this (kglite.py, neo4j.py): the text is the first wall of two.
"""

from __future__ import annotations

import re

from graphstore.errors import QueryError, UsageError
from graphstore.settings import Settings

# Strings, quoted names and comments, in the order both engines' lexers take them.
_OPAQUE = re.compile(
    r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?:``|[^`])*`|//[^\n\r]*|/\*.*?\*/""",
    re.DOTALL,
)
# LOAD and CSV with anything but a word between them. Looked for in the whole text, strings and comments too:
# where a string ends is what an attacker would make the two lexers disagree on.
_LOAD_CSV = re.compile(r"\bLOAD(?>/\*.*?\*/|//[^\n\r]*|\W)++CSV\b", re.IGNORECASE | re.DOTALL)
_UNICODE_ESCAPE = re.compile(r"\\u+([0-9a-fA-F]{4})")  # Neo4j replaces these before it reads the text
_CLAUSE = re.compile(
    r"(?<![.:$|\w])(CREATE|MERGE|SET|DELETE|DETACH|NODETACH|REMOVE|DROP|FOREACH|INSERT|EXPLAIN|PROFILE)\b"
    r"|(?<![.:$|\w])(CALL)\b(?!\s*[({])|\b(IN\s+(?:\d+\s+)?(?:CONCURRENT\s+)?TRANSACTIONS)\b|\b(FORMAT\s+CSV)\b",
    re.IGNORECASE,
)
_COMMAND = re.compile(
    r"\s*(ALTER|GRANT|DENY|REVOKE|RENAME|TERMINATE|START|STOP|ENABLE|DEALLOCATE|SHOW|USE)\b", re.IGNORECASE
)
_ALIAS = re.compile(r"\bAS\s+$", re.IGNORECASE)


def refuse_load_csv(text: str) -> None:
    """Raise QueryError when `text` holds LOAD CSV anywhere, written plainly or with escapes."""
    plain = _UNICODE_ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)
    if _LOAD_CSV.search(text) or _LOAD_CSV.search(plain):
        raise QueryError(
            "LOAD CSV is refused, even in a string or comment: it reads any file of the machine. "
            "Pass the values as parameters."
        )


def refuse_writes(text: str) -> None:
    """Raise QueryError unless `text` only reads: no writing clause, procedure, command or LOAD CSV."""
    refuse_load_csv(text)
    bare = _OPAQUE.sub(lambda match: " " * len(match[0]), text)
    command = _COMMAND.match(bare)
    if command:
        raise _refused(command[1], text, command.start(1))
    for clause in _CLAUSE.finditer(bare):
        if not _ALIAS.search(bare, 0, clause.start()):
            raise _refused(clause[0], text, clause.start())


def _refused(word: str, text: str, place: int) -> QueryError:
    line = text.count("\n", 0, place) + 1
    column = place - text.rfind("\n", 0, place)
    shown = " ".join(word.upper().split())
    return QueryError(
        f"line {line}, column {column}: {shown} is refused, queries only read. "
        f"Findings and repairs are written by 'check' and 'repair'; a name spelt so goes in `backticks`."
    )


def time_limit(timeout_s: float | None, settings: Settings) -> float:
    """Return the seconds a query may take: `timeout_s`, else the setting. Never none: 0 would mean that.

    Raises UsageError for a limit that is not positive.
    """
    limit = settings.query_timeout_s if timeout_s is None else timeout_s
    if not 0 < limit < float("inf"):
        raise UsageError(f"a time limit of {limit} s: it must be more than 0 (--timeout)")
    return limit
