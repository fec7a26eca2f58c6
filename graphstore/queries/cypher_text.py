"""Take a Cypher text apart, as far as the lint needs: tokens, clauses, path patterns, projections.

In:  the text of one file. Out: plain data with line numbers. Nothing is judged here: lint.py does.
This is no parser of the language: it knows the common subset, and what is outside of it is refused anyway.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

_TOKEN = re.compile(
    r"(?P<comment>//[^\n]*)|(?P<text>'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\")|(?P<name>`[^`]*`)"
    r"|(?P<param>\$\w+)|(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?P<word>[A-Za-z_]\w*)"
    r"|(?P<symbol><=|>=|<>|=~|\|\||::|\.\.|\+=|/\*|\S)|(?P<space>\s+)"
)
OPENING = {"(": ")", "[": "]", "{": "}"}
CLAUSES = frozenset(
    [
        *("MATCH", "WHERE", "WITH", "RETURN", "ORDER", "SKIP", "LIMIT", "UNWIND", "UNION", "CALL"),
        *("CREATE", "MERGE", "SET", "REMOVE", "DELETE", "FOREACH"),
    ]
)
AGGREGATES = frozenset(["count", "sum", "avg", "min", "max", "collect", "stdev"])


@dataclass(frozen=True)
class Token:
    """One word, number, text, parameter or symbol, and the line it stands on (from 1).

    A name in backticks is a word that is no keyword, whatever it spells.
    """

    kind: str
    text: str
    line: int
    in_backticks: bool = False

    @property
    def upper(self) -> str:
        """The text in capitals if it is a word that may be a keyword, else the text (with its backticks)."""
        if self.in_backticks:
            return f"`{self.text}`"
        return self.text.upper() if self.kind == "word" else self.text


@dataclass(frozen=True)
class Clause:
    """A clause at the top level: its keyword (OPTIONAL MATCH is one), and the tokens after it."""

    word: str
    tokens: tuple[Token, ...]
    line: int


@dataclass(frozen=True)
class NodePattern:
    """`(variable:Label|Label {property: …})`; the variable is '' when there is none."""

    variable: str
    labels: tuple[str, ...]
    keys: tuple[str, ...]
    values: tuple[str, ...]
    line: int

    def value_of(self, key: str) -> str:
        """The variable or parameter that gives a map key's value: `n` of `{uid: n.root}`, '' for others."""
        return self.values[self.keys.index(key)]


@dataclass(frozen=True)
class EdgePattern:
    """`-[variable:TYPE|TYPE *1..9 {…}]->`; `length` holds the tokens from the star on."""

    variable: str
    types: tuple[str, ...]
    keys: tuple[str, ...]
    values: tuple[str, ...]
    directed: bool
    length: tuple[str, ...]
    line: int


@dataclass
class PathPattern:
    """A path: nodes and the edges between them (one fewer), and the variable it is bound to."""

    variable: str = ""
    nodes: list[NodePattern] = field(default_factory=list)
    edges: list[EdgePattern] = field(default_factory=list)


@dataclass(frozen=True)
class Item:
    """An item of RETURN or WITH: its expression, its name ('' when it has none)."""

    tokens: tuple[Token, ...]
    name: str
    named: bool

    @property
    def aggregates(self) -> bool:
        """Whether an aggregate function is called in it."""
        return any(
            token.kind == "word" and token.text.lower() in AGGREGATES and after.text == "("
            for token, after in pairwise(self.tokens)
        )


def with_values(text: str, values: Mapping[str, Any]) -> str:
    """Return a text with values in the place of the parameters named, for where no parameter can be bound.

    Comments and texts stay as they are. A value is null, bool, number, text, or a list of these.
    """
    return "".join(
        literal(values[found.group()[1:]])
        if found.lastgroup == "param" and found.group()[1:] in values
        else found.group()
        for found in _TOKEN.finditer(text)
    )


def literal(value: Any) -> str:
    """Return a value as Cypher writes it; `&` and `#` in a text as their numbers, for they end a link."""
    return json.dumps(value).replace("&", "\\u0026").replace("#", "\\u0023")


def tokens(text: str) -> list[Token]:
    """Return the tokens of `text` without comments and space."""
    out: list[Token] = []
    line = 1
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or "symbol"
        if kind not in ("comment", "space"):
            is_name = kind == "name"
            out.append(Token("word" if is_name else kind, match.group().strip("`"), line, is_name))
        line += match.group().count("\n")
    return out


def closing(given: Sequence[Token], start: int) -> int:
    """Return the index of the bracket that closes the one at `start`, else the last index."""
    depth = 0
    for index in range(start, len(given)):
        if given[index].kind == "symbol":
            depth += given[index].text in OPENING
            depth -= given[index].text in OPENING.values()
            if depth == 0:
                return index
    return len(given) - 1


def top_level(given: Sequence[Token]) -> Iterator[int]:
    """Yield the indexes of the tokens that lie in no bracket (an opening bracket itself is yielded)."""
    index = 0
    while index < len(given):
        yield index
        opens = given[index].kind == "symbol" and given[index].text in OPENING
        index = closing(given, index) + 1 if opens else index + 1


def split(given: Sequence[Token], separator: str) -> list[tuple[Token, ...]]:
    """Return the parts of `given` between the separators at the top level."""
    cuts = [i for i in top_level(given) if given[i].text == separator and given[i].kind == "symbol"]
    edges = [-1, *cuts, len(given)]
    return [tuple(given[a + 1 : b]) for a, b in pairwise(edges)]


def clauses(given: Sequence[Token]) -> list[Clause]:
    """Return the clauses of a statement in order."""
    starts = [i for i in top_level(given) if _starts_clause(given, i)]
    out: list[Clause] = []
    for start, end in zip(starts, [*starts[1:], len(given)], strict=False):
        word = given[start].upper
        if word == "MATCH" and start and given[start - 1].upper == "OPTIONAL":
            word = "OPTIONAL MATCH"
        stop = end - 1 if end < len(given) and given[end - 1].upper in ("OPTIONAL", "DETACH") else end
        out.append(Clause(word, tuple(given[start + 1 : stop]), given[start].line))
    return out


def _starts_clause(given: Sequence[Token], index: int) -> bool:
    """Return whether the token begins a clause (WITH of STARTS WITH and MATCH of ON MATCH do not)."""
    before = given[index - 1].upper if index else ""
    return (
        given[index].kind == "word"
        and given[index].upper in CLAUSES
        and before not in ("STARTS", "ENDS", "ON", ".", ":")
    )


def items(clause: Clause) -> list[Item]:
    """Return the items of a RETURN or WITH clause."""
    body = clause.tokens[1:] if clause.tokens and clause.tokens[0].upper == "DISTINCT" else clause.tokens
    return [_item(part) for part in split(body, ",") if part]


def _item(part: tuple[Token, ...]) -> Item:
    """Return one item: `expression AS name`, a bare name, or an expression without a name."""
    if len(part) > 2 and part[-2].upper == "AS":
        return Item(part[:-2], part[-1].text, named=True)
    bare = len(part) == 1 and part[0].kind == "word"
    return Item(part, part[0].text if bare else "", named=bare)


def paths(given: Sequence[Token]) -> list[PathPattern]:
    """Return the path patterns of the tokens of a MATCH, MERGE or CREATE."""
    return [_path(part) for part in split(given, ",") if part]


def _path(part: Sequence[Token]) -> PathPattern:
    """Return one path; `p = shortestPath(…)` is looked into."""
    path = PathPattern()
    if len(part) > 2 and part[1].text == "=":
        path.variable, part = part[0].text, part[2:]
    if part and part[0].kind == "word":  # shortestPath( … )
        part = part[2 : closing(part, 1)]
    index = 0
    while index < len(part):
        if part[index].text == "(":
            end = closing(part, index)
            path.nodes.append(_node(part[index + 1 : end], part[index].line))
            index = end + 1
        elif part[index].text in ("-", "<"):
            index = _edge(part, index, path)
        else:
            break
    return path


def _edge(part: Sequence[Token], index: int, path: PathPattern) -> int:
    """Add the edge that begins at `index` to the path; return the index after it."""
    start, line = index, part[index].line
    inside: Sequence[Token] = ()
    while index < len(part) and part[index].text != "(":
        if part[index].text == "[":
            end = closing(part, index)
            inside, index = part[index + 1 : end], end
        index += 1
    ends = {part[start].text, part[index - 1].text}
    variable, names, keys, values = _inside(inside)
    star = next((i for i, token in enumerate(inside) if token.text == "*"), len(inside))
    brace = next((i for i, token in enumerate(inside) if token.text == "{"), len(inside))
    length = tuple(token.text for token in inside[star:brace])
    path.edges.append(EdgePattern(variable, names, keys, values, bool(ends & {"<", ">"}), length, line))
    return index


def _node(inside: Sequence[Token], line: int) -> NodePattern:
    """Return the node of the tokens between its parentheses."""
    return NodePattern(*_inside(inside), line)


def _inside(
    inside: Sequence[Token],
) -> tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Return variable, labels or types, map keys and the variables of their values, of a node or edge."""
    has_variable = bool(inside) and inside[0].kind == "word"
    variable = inside[0].text if has_variable else ""
    names: list[str] = []
    pairs: list[tuple[Token, ...]] = []
    for index, token in enumerate(inside):
        if token.text == "{":
            pairs = [part for part in split(inside[index + 1 : closing(inside, index)], ",") if len(part) > 2]
            break
        if token.kind == "word" and index >= has_variable:
            names.append(token.text)
    values = tuple(part[2].text if part[2].kind in ("word", "param") else "" for part in pairs)
    return variable, tuple(names), tuple(part[0].text for part in pairs), values


def subqueries(given: Sequence[Token]) -> list[tuple[str, tuple[Token, ...], int]]:
    """Return (EXISTS, COUNT, COLLECT or CALL; tokens inside; line) of each `WORD { … }`, nested ones too."""
    out = []
    for index, token in enumerate(given):
        word = token.upper
        brace = index + 1
        if word == "CALL" and brace < len(given) and given[brace].text == "(":
            brace = closing(given, brace) + 1
        if word in ("EXISTS", "COUNT", "COLLECT", "CALL") and brace < len(given) and given[brace].text == "{":
            out.append((word, tuple(given[brace + 1 : closing(given, brace)]), token.line))
    return out
