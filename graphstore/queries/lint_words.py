"""Lint rules that look at words and symbols alone: what is outside the common subset of both engines.

In:  the tokens of a statement. Out: problems, with the line and what to write instead.
Decided here: which functions and clauses the subset has. Rules on patterns and rows: lint_patterns.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from graphstore.queries.cypher_text import OPENING, Token, closing, subqueries

# Functions with the same answers on both engines; another one needs a conformance case first.
FUNCTIONS = frozenset(
    [
        *("count", "sum", "avg", "min", "max", "collect", "stdev", "nodes", "relationships", "length"),
        *("type", "startnode", "endnode", "coalesce", "tolower", "split", "substring", "tointeger"),
        *("tofloat", "size", "head", "last", "range", "reverse", "abs", "any", "all", "none", "single"),
        *("reduce", "shortestpath", "allshortestpaths"),
    ]
)
# Clauses and words of one engine only, or that read more than the graph.
FORBIDDEN_WORDS = frozenset(
    [
        *("LOAD", "CSV", "SHOW", "USE", "PROFILE", "EXPLAIN", "USING", "HAVING", "FILTER", "LET"),
        *("INSERT", "FINISH", "OFFSET", "OVER", "FORMAT", "TRANSACTIONS", "SHORTEST", "CONSTRAINT"),
        *("INDEX", "DROP"),
    ]
)
# The embedded engine answers or parses these itself.
RESERVED_PROPERTIES = frozenset(
    ["id", "title", "type", "label", "node_type", "start", "end", "limit", "case", "exists"]
)
WORDS_BEFORE_BRACKET = frozenset(
    [
        *("AND", "OR", "XOR", "NOT", "IN", "WHERE", "MATCH", "OPTIONAL", "RETURN", "WITH", "AS", "WHEN"),
        *("THEN", "ELSE", "CASE", "ON", "CREATE", "MERGE", "UNWIND", "FOREACH", "CALL", "DISTINCT"),
        *("BY", "DELETE", "SET", "ORDER", "LIMIT", "SKIP"),
    ]
)
COMPARISONS = frozenset(["<", "<=", ">", ">=", "=", "<>", "=~"])
PARTS_OF_COMPARISON = frozenset(
    [
        *("AND", "OR", "XOR", "NOT", "WHERE", "WITH", "RETURN", "WHEN", "THEN", "ELSE", "CASE", "END"),
        *("SET", "ORDER", "MATCH", "AS", "UNWIND", "ON", "DELETE", "MERGE"),
    ]
)


@dataclass(frozen=True, order=True)
class Problem:
    """What is wrong, where: `rule` names the rule, `message` says what to write instead."""

    line: int
    rule: str
    message: str


def _symbol(given: Sequence[Token], index: int) -> str:
    """Return the symbol at `index`, '' when there is none."""
    inside = 0 <= index < len(given) and given[index].kind == "symbol"
    return given[index].text if inside else ""


def forbidden_word(given: Sequence[Token]) -> Iterator[Problem]:
    """Words of one engine alone, or that open files or the catalogue of the database."""
    for index, token in enumerate(given):
        free = _symbol(given, index - 1) not in (".", ":", "|") and _symbol(given, index + 1) != ":"
        if token.kind == "word" and token.upper in FORBIDDEN_WORDS and free:
            yield Problem(token.line, "forbidden_word", f"{token.text} is not in the common subset")
    words = [token.upper for token in given]
    for index, token in enumerate(given):
        if token.upper == "WHEN" and words[:index].count("CASE") <= words[:index].count("END"):
            yield Problem(token.line, "forbidden_word", "WHEN outside of CASE is not in the common subset")


def forbidden_symbol(given: Sequence[Token]) -> Iterator[Problem]:
    """Block comments, `||`, `::`, label expressions with & or !, quantified paths."""
    for index, token in enumerate(given):
        two = token.text + _symbol(given, index + 1)
        if token.kind == "symbol" and token.text in ("/*", "||", "::", "&", "!"):
            yield Problem(token.line, "forbidden_symbol", f"{token.text} is not in the common subset")
        elif token.kind == "symbol" and (two == "){" and not _is_call(given, index)) | (two == ">+"):
            yield Problem(token.line, "forbidden_symbol", f"{two} (a quantified path): write *1..1000")


def _is_call(given: Sequence[Token], index: int) -> bool:
    """Return whether the `)` at `index` closes the variables of `CALL (x) {`."""
    opening = next(i for i in range(index, -1, -1) if given[i].text == "(" and closing(given, i) == index)
    return opening > 0 and given[opening - 1].upper == "CALL"


def unbounded_path(given: Sequence[Token]) -> Iterator[Problem]:
    """`*` without an upper bound: the embedded engine stops at 10 hops and gives fewer rows."""
    for start, token in enumerate(given):
        if token.text != "[" or _symbol(given, start - 1) != "-":
            continue
        inside = given[start + 1 : closing(given, start)]
        star = next((i for i, t in enumerate(inside) if t.text == "*"), None)
        if star is None:
            continue
        length = [t.text for t in inside[star + 1 : star + 4]]
        if ".." in length[:2]:
            bounded = inside[star + 2 + length.index("..") :][:1]
        else:
            bounded = inside[star + 1 : star + 2]
        if not bounded or bounded[0].kind not in ("number", "param"):
            yield Problem(token.line, "unbounded_path", "* has no upper bound: write *1..1000")


def chained_comparison(given: Sequence[Token]) -> Iterator[Problem]:
    """`a <= x < b`: the embedded engine does not read it."""
    open_comparison: list[bool] = [False]
    for index, token in enumerate(given):
        if token.kind == "symbol" and token.text in OPENING:
            open_comparison.append(False)
        elif token.kind == "symbol" and token.text in OPENING.values():
            open_comparison = open_comparison[:-1] or [False]
        elif token.text in (",", "|") or token.upper in PARTS_OF_COMPARISON:
            open_comparison[-1] = False
        elif token.kind == "symbol" and token.text in COMPARISONS and not _is_arrow(given, index):
            if open_comparison[-1]:
                yield Problem(token.line, "chained_comparison", "write both comparisons, joined by AND")
            open_comparison[-1] = True


def _is_arrow(given: Sequence[Token], index: int) -> bool:
    """Return whether the `<` or `>` at `index` is the head of an edge pattern."""
    before, after = _symbol(given, index - 1), _symbol(given, index + 1)
    if given[index].text == "<":
        return after == "-" and _symbol(given, index + 2) in ("[", "-")
    return given[index].text == ">" and before == "-" and after == "("


def unknown_function(given: Sequence[Token]) -> Iterator[Problem]:
    """A function outside the list: the embedded engine lets it pass unseen while no row reaches it."""
    for index, token in enumerate(given):
        called = token.kind == "word" and _symbol(given, index + 1) == "("
        if not called or token.upper in WORDS_BEFORE_BRACKET:
            continue
        if token.text.lower() not in FUNCTIONS or _symbol(given, index - 1) == ".":
            yield Problem(token.line, "unknown_function", f"{token.text}() is not in the common subset")


def reserved_property(given: Sequence[Token]) -> Iterator[Problem]:
    """Property names that the embedded engine answers itself or can't parse."""
    for index, token in enumerate(given):
        accessed = _symbol(given, index - 1) == "." and given[index - 2].kind == "word"
        keyed = _symbol(given, index - 1) in ("{", ",") and _symbol(given, index + 1) == ":"
        if token.kind == "word" and token.text in RESERVED_PROPERTIES and (accessed or keyed):
            yield Problem(token.line, "reserved_property", f"no property may be called {token.text}")


def two_statements(given: Sequence[Token]) -> Iterator[Problem]:
    """One file, one statement."""
    for index, token in enumerate(given):
        if token.text == ";" and token.kind == "symbol" and index + 1 < len(given):
            yield Problem(token.line, "two_statements", "one file holds one statement")


def subquery_form(given: Sequence[Token]) -> Iterator[Problem]:
    """COLLECT { }, RETURN or WITH inside EXISTS and COUNT, CALL of procedures or with writes."""
    found = subqueries(given)
    for word, inside, line in found:
        words = {token.upper for token in inside if token.kind == "word"}
        if word == "COLLECT":
            yield Problem(line, "subquery_form", "COLLECT { } → a pattern comprehension [(n)--(m) | m.name]")
        elif word in ("EXISTS", "COUNT") and words & {"RETURN", "WITH"}:
            yield Problem(line, "subquery_form", f"only a pattern and WHERE inside {word} {{ }}")
        elif word == "CALL" and words & {"CREATE", "MERGE", "SET", "DELETE", "REMOVE"}:
            yield Problem(line, "subquery_form", "no writes inside CALL { }")
    calls = [token for token in given if token.upper == "CALL"]
    if len(calls) > sum(word == "CALL" for word, _, _ in found):
        yield Problem(calls[0].line, "subquery_form", "CALL only as CALL (n) { … }: procedures differ")
    for index, token in enumerate(given):
        if token.upper == "CALL" and _symbol(given, index + 1) == "{":
            yield Problem(token.line, "subquery_form", "name the variables: CALL (n) { … }")


def parameter_as_map(given: Sequence[Token]) -> Iterator[Problem]:
    """`(n:Op $p)`: write SET n = row."""
    for index, token in enumerate(given):
        word_before = index and given[index - 1].kind == "word" and _symbol(given, index - 2) == ":"
        if token.kind == "param" and word_before and _symbol(given, index + 1) == ")":
            yield Problem(token.line, "parameter_as_map", "write CREATE (n:Label) SET n = row")


def whole_node(given: Sequence[Token]) -> Iterator[Problem]:
    """`n {.*}`: the embedded engine adds its own properties."""
    for index, token in enumerate(given):
        if token.text == "." and _symbol(given, index + 1) == "*":
            yield Problem(token.line, "whole_node", "name the properties instead of .*")


def mixed_labels(given: Sequence[Token]) -> Iterator[Problem]:
    """`:A:B` and `:C|D` on nodes of one statement: Neo4j refuses to read both."""
    brackets: list[str] = []
    seen: set[str] = set()
    for index, token in enumerate(given):
        if token.kind != "symbol":
            continue
        if token.text in OPENING:
            brackets.append(token.text)
        elif token.text in OPENING.values():
            brackets = brackets[:-1]
        elif token.text in ":|" and brackets[-1:] == ["("] and _symbol(given, index - 2) in (":", "|"):
            seen.add(token.text)
            if len(seen) == 2:
                yield Problem(token.line, "mixed_labels", "either :A:B or :A|B in one statement")


RULES = (
    mixed_labels,
    forbidden_word,
    forbidden_symbol,
    unbounded_path,
    chained_comparison,
    unknown_function,
    reserved_property,
    two_statements,
    subquery_form,
    parameter_as_map,
    whole_node,
)
