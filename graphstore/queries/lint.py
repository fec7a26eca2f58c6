"""Hold `cypher/` to the subset that both engines answer alike: `python -m graphstore.queries.lint`.

In:  the files of the catalogue (or the paths named). Out: one line a problem, exit 1 when there is any.
Decided here: that a text fits its header (parameters, columns, writes) and asks one run only.
The rules on words are in lint_words.py, those on patterns and rows in lint_patterns.py.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from graphstore.errors import QueryError
from graphstore.queries import lint_patterns, lint_words
from graphstore.queries.catalog import Query, files, folder, read_query
from graphstore.queries.cypher_text import Token, clauses, items, tokens
from graphstore.queries.lint_words import Problem


def lint(text: str) -> list[Problem]:
    """Return what puts a Cypher text outside the common subset, by line; empty when nothing does."""
    given = tokens(text)
    found = [problem for rule in lint_words.RULES for problem in rule(given)]
    statement = given[:-1] if given and given[-1].text == ";" else given
    return sorted({*found, *lint_patterns.problems(statement)})


def lint_query(query: Query) -> list[Problem]:
    """Return the problems of a catalogue query: those of its text, and where text and header differ."""
    given = tokens(query.text)
    return sorted({*lint(query.text), *_header(query, given)})


def _header(query: Query, given: list[Token]) -> Iterator[Problem]:
    """Yield where a header does not say what the text does."""
    used = {token.text[1:] for token in given if token.kind == "param"}
    declared = {field.name for field in query.parameters}
    if used != declared | (set() if query.over_runs else {"run"}):  # a line for $run may be left out
        yield Problem(1, "header", f"parameters used {sorted(used)}, declared {sorted(declared)}")
    returned = returned_columns(given)
    named = [field.name for field in query.columns]
    if returned != named:
        yield Problem(1, "header", f"columns returned {returned}, declared {named}")
    writes = any(clause.word in lint_patterns.WRITING for clause in clauses(given))
    if writes != bool(query.writes):
        yield Problem(1, "header", "a text that writes says so by 'writes:', and no other does")


def returned_columns(given: list[Token]) -> list[str]:
    """Return the names of the columns of the last RETURN."""
    last = [clause for clause in clauses(given) if clause.word == "RETURN"][-1:]
    return [item.name for clause in last for item in items(clause)]


def main(arguments: list[str]) -> int:
    """Lint the files named, or the whole catalogue; print each problem; return 1 when there is any."""
    root = folder()
    found = 0
    for path in [Path(name).resolve() for name in arguments] or files(root):
        try:
            problems = lint_query(read_query(path, root))
        except QueryError as error:
            problems = [Problem(1, "header", str(error))]
        for problem in problems:
            print(f"{path.relative_to(root.parent)}:{problem.line}: {problem.rule}: {problem.message}")
        found += len(problems)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
