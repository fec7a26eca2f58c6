"""Lint rules that need patterns, variables and projections: slow shapes, wrong rows, an order that is none.

In:  the clauses of a statement, walked in order with the variables they bind. Out: problems.
Decided here: which shapes one engine answers slowly or wrongly, and when ORDER BY fixes the order of rows.
The measured reasons stand at each rule; words and symbols: lint_words.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from graphstore.model.schema import LABEL_BY_NAME, OP_KINDS, TYPE_BY_NAME, primary_labels
from graphstore.model.schema_archive import ARCHIVE_LABELS, NAME_SUM
from graphstore.queries.cypher_text import (
    AGGREGATES,
    Clause,
    Item,
    NodePattern,
    PathPattern,
    Token,
    clauses,
    closing,
    items,
    paths,
    split,
    subqueries,
    top_level,
)
from graphstore.queries.lint_words import Problem

# Keys of nodes: an item ordered by one is in its place for good.
KEY_PROPERTIES = frozenset(["uid", "fid", "rid", NAME_SUM.key])
_LABEL_BY_NAME = LABEL_BY_NAME | {label.name: label for label in ARCHIVE_LABELS}
# Never null on a node of a run, so collect() drops none of them.
NEVER_NULL = frozenset(["uid", "run", "rank", "kind", "name", "fid", "rid", "rule", "group"])
WRITING = frozenset(["CREATE", "MERGE", "SET", "DELETE", "REMOVE", "FOREACH"])
PROJECTIONS = frozenset(["WITH", "RETURN"])


@dataclass(frozen=True)
class Variable:
    """What a name stands for: node, edge, path or scalar; its labels or types; whether it may be null."""

    kind: str
    labels: tuple[str, ...] = ()
    optional: bool = False


@dataclass
class Scope:
    """The variables at one point, what tells rows apart there, and the MATCHes since the last WITH."""

    variables: dict[str, Variable] = field(default_factory=dict)
    row_key: set[str] = field(default_factory=set)
    matches: int = 0


def problems(given: Sequence[Token]) -> Iterator[Problem]:
    """Yield what is wrong with the patterns and projections of a statement."""
    found = clauses(given)
    writes = any(clause.word in WRITING for clause in found)
    union = any(clause.word == "UNION" for clause in found)
    scope = Scope()
    nullable: set[str] = set()
    for index, clause in enumerate(found):
        if clause.word == "UNION":
            scope = Scope()
        if clause.word != "WHERE":  # that of an OPTIONAL MATCH sees its own nodes before they can be null
            nullable = {name for name, variable in scope.variables.items() if variable.optional}
        yield from _label_tests(clause.tokens, nullable)
        if clause.word in ("MATCH", "OPTIONAL MATCH", "CREATE", "MERGE"):
            yield from _match(clause, scope)
        elif clause.word == "UNWIND":
            _bind_scalar(clause.tokens[-1].text, scope)
        elif clause.word == "CALL":
            yield from _call(clause, scope)
        yield from _subqueries(clause.tokens, scope)
        yield from _accesses(clause.tokens, scope)
        if clause.word in PROJECTIONS:  # last: what follows sees only the names it gives
            tail = _tail(found, index)
            yield from _projection(clause, tail, scope, ordered_by_law=not (writes or union))


def _tail(found: Sequence[Clause], index: int) -> dict[str, Clause]:
    """Return the ORDER, SKIP and LIMIT that belong to the projection at `index`, by word."""
    out: dict[str, Clause] = {}
    for clause in found[index + 1 :]:
        if clause.word not in ("ORDER", "SKIP", "LIMIT"):
            break
        out[clause.word] = clause
    return out


# --- patterns ---------------------------------------------------------------------------------------------


def _match(clause: Clause, scope: Scope) -> Iterator[Problem]:
    """Judge the paths of a MATCH, CREATE or MERGE, then bind their variables."""
    reading = clause.word.endswith("MATCH")
    scope.matches += reading
    for path in paths(clause.tokens):
        yield from _declared(path)
        if reading:
            yield from _path(path, scope)
        _bind(path, scope, optional=clause.word == "OPTIONAL MATCH")


def _path(path: PathPattern, scope: Scope, inside: str = "") -> Iterator[Problem]:
    """Judge one path that is matched; `inside` is the subquery it stands in."""
    line = path.nodes[0].line if path.nodes else 0
    anchored = [node for node in path.nodes if node.labels or node.variable in scope.variables]
    if path.nodes and not anchored:
        yield Problem(line, "no_label", "one node of every path has a label or is bound before")
    for node in path.nodes:
        if "uid" in node.keys and (not node.labels or set(node.labels) & set(OP_KINDS)):
            yield Problem(node.line, "uid_elsewhere", "a uid map stands on :Op: on another label it scans")
    if len(path.nodes) > 1 and not _fixed(path.nodes[0], scope) and _fixed(path.nodes[-1], scope):
        yield Problem(line, "free_left_end", "put the bound or keyed node first: patterns run from the left")
    hops = sum(2 if edge.length else 1 for edge in path.edges)
    if hops > 1 and not all(edge.directed for edge in path.edges):
        yield Problem(line, "undirected", f"two or more hops need directions{inside}: counts come out wrong")


def _fixed(node: NodePattern, scope: Scope) -> bool:
    """Return whether a node is bound before or found by its key."""
    return node.variable in scope.variables or bool(KEY_PROPERTIES & set(node.keys))


def _bind(path: PathPattern, scope: Scope, *, optional: bool) -> None:
    """Add the variables of a path to the scope."""
    for node in path.nodes:
        if not node.variable:
            scope.row_key.add("?")  # an unnamed node multiplies rows and can't be ordered by
        elif node.variable not in scope.variables:
            keyed = any(_known(node.value_of(key), scope) for key in KEY_PROPERTIES & set(node.keys))
            scope.variables[node.variable] = Variable("node", node.labels, optional)
            if not keyed:  # else what it was found by tells the row
                scope.row_key.add(node.variable)
    for edge in path.edges:
        if edge.variable:
            scope.variables[edge.variable] = Variable("edge", edge.types, optional)
    if path.variable:
        scope.variables[path.variable] = Variable("path", (), optional)


def _known(name: str, scope: Scope) -> bool:
    """Return whether a name is a parameter or bound before."""
    return name.startswith("$") or name in scope.variables


def _bind_scalar(name: str, scope: Scope) -> None:
    """Add a value that is no node to the scope."""
    scope.variables[name] = Variable("scalar")
    scope.row_key.add(name)


def _declared(path: PathPattern) -> Iterator[Problem]:
    """Every label, type and map key is declared in model/schema.py (an unknown one gives no rows)."""
    for node in path.nodes:
        unknown = [name for name in node.labels if name != "Op" and name not in _LABEL_BY_NAME]
        unknown += [key for key in node.keys if key not in _properties(Variable("node", node.labels))]
        if unknown:
            yield Problem(node.line, "undeclared", f"the schema has no {', '.join(unknown)} here")
    for edge in path.edges:
        unknown = [name for name in edge.types if name not in TYPE_BY_NAME]
        unknown += [key for key in edge.keys if key not in _properties(Variable("edge", edge.types))]
        if unknown:
            yield Problem(edge.line, "undeclared", f"the schema has no {', '.join(unknown)} here")


def _properties(variable: Variable) -> set[str]:
    """Return the properties a node or edge variable may have by its labels or types (all, if none)."""
    if variable.kind == "edge":
        types = variable.labels or tuple(TYPE_BY_NAME)
        return {p.name for name in types if name in TYPE_BY_NAME for p in TYPE_BY_NAME[name].properties}
    every = {name: {p.name for p in props} for name, (_, props) in primary_labels().items()}
    every |= {name: {p.name for p in label.properties} for name, label in _LABEL_BY_NAME.items()}
    labels = variable.labels or tuple(every)
    return set().union(*(every.get(name, set()) for name in labels))


def _label_tests(given: Sequence[Token], nullable: set[str]) -> Iterator[Problem]:
    """`n:Label` of a node that may be null is null to Neo4j, but false to the embedded engine: NOT tells."""
    for owner, colon, label in zip(given, given[1:], given[2:], strict=False):
        if owner.text in nullable and colon.text == ":" and label.kind == "word":
            message = f"{owner.text} of an OPTIONAL MATCH: ask {owner.text}.kind, null when it is absent"
            yield Problem(owner.line, "optional_label", message)


def _accesses(given: Sequence[Token], scope: Scope) -> Iterator[Problem]:
    """`n.property` names a property the node or edge may have."""
    for owner, dot, name in zip(given, given[1:], given[2:], strict=False):
        variable = scope.variables.get(owner.text)
        accessed = owner.kind == "word" and dot.text == "." and name.kind == "word"
        if not accessed or variable is None or variable.kind not in ("node", "edge"):
            continue
        if name.text not in _properties(variable):
            yield Problem(name.line, "undeclared", f"the schema has no {owner.text}.{name.text}")


# --- subqueries -------------------------------------------------------------------------------------------


def _subqueries(given: Sequence[Token], scope: Scope) -> Iterator[Problem]:
    """EXISTS and COUNT: an edge from a bound node, not a comparison with one (n², and no limit stops it)."""
    for word, inside, line in subqueries(given):
        if word not in ("EXISTS", "COUNT"):
            continue
        body = inside[1:] if inside and inside[0].upper == "MATCH" else inside
        at = next((i for i in top_level(body) if body[i].upper == "WHERE"), len(body))
        found = paths(body[:at])
        for path in found:
            yield from _declared(path)
            yield from _path(path, scope, f" inside {word}")
        tied = any(
            path.edges and any(node.variable in scope.variables for node in path.nodes) for path in found
        )
        outer = [t for t in body[at:] if t.kind == "word" and t.text in scope.variables]
        if outer and not tied:
            message = f"{word} compares with {outer[0].text}: tie the pattern to it by an edge"
            yield Problem(line, "correlated", message)


def _call(clause: Clause, scope: Scope) -> Iterator[Problem]:
    """`CALL (n) { … }`: judge what is inside with the variables given, then bind what it returns."""
    for _, inside, _ in subqueries((Token("word", "CALL", clause.line), *clause.tokens)):
        end = closing(clause.tokens, 0)
        given = {token.text for token in clause.tokens[1:end]}
        inner = Scope({name: v for name, v in scope.variables.items() if name in given})
        for part in clauses(inside):
            if part.word.endswith("MATCH"):
                yield from _match(part, inner)
            elif part.word == "WITH":
                _rebind(items(part), inner, distinct=False)
            elif part.word == "RETURN":
                for item in items(part):
                    _bind_scalar(item.name, scope)
            yield from _subqueries(part.tokens, inner)
        break


# --- projections ------------------------------------------------------------------------------------------


def _projection(
    clause: Clause, tail: dict[str, Clause], scope: Scope, *, ordered_by_law: bool
) -> Iterator[Problem]:
    """Judge a WITH or RETURN with its ORDER BY and LIMIT, then bind its names."""
    found = items(clause)
    distinct = bool(clause.tokens) and clause.tokens[0].upper == "DISTINCT"
    aggregated = any(item.aggregates for item in found)
    for item in found:
        yield from _item(item, clause, scope)
    if aggregated:
        yield from _aggregation(found, clause, scope)
    holds_path = any(_variable(item, scope).kind == "path" for item in found)
    last = clause.word == "RETURN"
    one_row = aggregated and all(item.aggregates for item in found)
    if "ORDER" in tail:
        cuts = last or "LIMIT" in tail or "SKIP" in tail  # else the order only feeds a collect()
        if cuts and not _total(found, tail["ORDER"], scope, aggregated=aggregated, distinct=distinct):
            yield Problem(tail["ORDER"].line, "order_not_total", "rows may tie: order by a key as well")
    elif "LIMIT" in tail and ordered_by_law and not holds_path:
        yield Problem(tail["LIMIT"].line, "limit_without_order", "which rows stay is chance without ORDER BY")
    elif last and ordered_by_law and not holds_path and not one_row:
        yield Problem(clause.line, "no_order", "a RETURN of several rows has an ORDER BY")
    _rebind(found, scope, distinct=distinct)


def _item(item: Item, clause: Clause, scope: Scope) -> Iterator[Problem]:
    """Judge one item: it is named, no whole node, and no aggregate mixed with a row's value."""
    if clause.word == "RETURN":
        if not item.named:
            yield Problem(clause.line, "unnamed_column", "name every column: expression AS name")
        if _variable(item, scope).kind in ("node", "edge"):
            yield Problem(clause.line, "whole_node", "return properties by name, no whole nodes or edges")
    if item.aggregates:
        outside = [t for t in _outside_aggregates(item.tokens) if t.kind == "word"]
        mixed = [t.text for t in outside if t.text in scope.variables]
        if mixed:
            message = f"{mixed[0]} stands beside an aggregate in one expression: two steps by WITH"
            yield Problem(clause.line, "mixed_aggregate", message)


def _aggregation(found: list[Item], clause: Clause, scope: Scope) -> Iterator[Problem]:
    """Judge a grouping: shapes the embedded engine's optimizer counts wrongly, and collects that shift."""
    first = found[0].tokens
    counts = first[0].text.lower() == "count" and closing(first, 1) == len(first) - 1
    if len(found) == 1 and counts and scope.matches > 1:
        yield Problem(
            clause.line, "lone_count", "a lone count after two MATCHes: carry the rows by WITH first"
        )
    for item in found:
        names = [t.text for t in item.tokens if t.kind == "word"]
        maybe = [name for name in names if scope.variables.get(name, Variable("none")).optional]
        if maybe and not item.aggregates:
            yield Problem(clause.line, "optional_group", f"grouping by {maybe[0]} of an OPTIONAL MATCH")
    collects = [name for item in found for name in _collected(item)]
    if len(collects) > 1:
        for name in (name for name in collects if name and name not in NEVER_NULL):
            yield Problem(clause.line, "shifted_collect", f"collect drops nulls of {name}: use coalesce")


def _collected(item: Item) -> Iterator[str]:
    """Yield what each collect() of an item takes: a property's name, '' for anything else."""
    texts = [token.text for token in item.tokens]
    for index, text in enumerate(texts):
        if text.lower() == "collect":
            lone_property = texts[index + 3 : index + 4] == ["."] and texts[index + 5 : index + 6] == [")"]
            yield texts[index + 4] if lone_property else ""


def _outside_aggregates(given: Sequence[Token]) -> list[Token]:
    """Return the tokens of an expression that stand in no aggregate call and follow no dot."""
    out: list[Token] = []
    index = 0
    while index < len(given):
        called = index + 1 < len(given) and given[index + 1].text == "("
        if called and given[index].text.lower() in AGGREGATES:
            index = closing(given, index + 1)
        elif index == 0 or given[index - 1].text != ".":
            out.append(given[index])
        index += 1
    return out


def _variable(item: Item, scope: Scope) -> Variable:
    """Return what an item that is a lone name stands for."""
    lone = len(item.tokens) == 1 and item.tokens[0].kind == "word"
    return scope.variables.get(item.tokens[0].text if lone else "", Variable("scalar"))


def _rebind(found: list[Item], scope: Scope, *, distinct: bool) -> None:
    """Make the names of a projection the scope of what follows."""
    aggregated = any(item.aggregates for item in found)
    renamed = {item.tokens[0].text: item.name for item in found if len(item.tokens) == 1}
    if aggregated:
        row_key = {item.name for item in found if not item.aggregates}
    elif distinct:
        row_key = {item.name for item in found}
    else:
        by_key = {
            i.tokens[0].text: i.name
            for i in found
            if len(i.tokens) == 3 and i.tokens[2].text in KEY_PROPERTIES
        }
        row_key = {renamed.get(name) or by_key.get(name) or "?" for name in scope.row_key}
    variables = {item.name: _variable(item, scope) for item in found}
    scope.variables, scope.row_key, scope.matches = variables, row_key, 0


def _total(found: list[Item], order: Clause, scope: Scope, *, aggregated: bool, distinct: bool) -> bool:
    """Return whether the ORDER BY leaves no ties: by all columns, by the group, or by keys of all rows."""
    parts = [_expression(part) for part in split(order.tokens[1:], ",")]  # [0] is BY
    by_expression = {_expression(item.tokens): item.name for item in found}
    ordered = {by_expression.get(part, part) for part in parts}
    names = {item.name for item in found}
    group = {item.name for item in found if not item.aggregates}
    if names <= ordered or (aggregated and group <= ordered):
        return True
    if aggregated or distinct:
        return False
    expressions = {_expression(item.tokens) for item in found if item.name in ordered} | set(parts)
    return all(_ordered(name, expressions) for name in scope.row_key)


def _ordered(name: str, expressions: Iterable[str]) -> bool:
    """Return whether a scalar, or a node by its key, is among the expressions ordered by."""
    wanted = {name, *(f"{name}.{key}" for key in KEY_PROPERTIES)}
    return bool(wanted & set(expressions))


def _expression(given: Iterable[Token]) -> str:
    """Return the text of an expression without spaces and direction."""
    return "".join(token.text for token in given if token.upper not in ("ASC", "DESC"))
