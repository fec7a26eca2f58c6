"""Random small runs and random statements of the common subset, from a seed: the same seed, the same text.

What is generated is what cypher.md's subset allows, also shapes the lint refuses in cypher/ for their speed:
people type such queries, and the embedded engine's optimizer has been wrong on some of them.
Rows come in no order (lists neither): compare them as sets with counts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from graphstore.model.records import RunGraph
from tests.queries.graphs import GraphBuilder

KINDS = ("HostOp", "HostOp", "RuntimeCall", "Kernel", "ChakraNode")
TYPES = ("CTRL", "DATA", "SYNC", "LAUNCHES")
NAMES = ("aten::add", "aten::mm", "nccl:all_reduce", "c10d::send", "sgemm")
NUMBERS = ("rank", "start_ns", "duration_ns", "node_id", "stream")


def random_run(seed: int, nodes: int = 18, edges: int = 34) -> RunGraph:
    """Return a run of ops with nulls here and there, a call tree, and other edges in any direction."""
    rng = Random(seed)
    g = GraphBuilder(run=f"random-{seed}", run_no=1_000 + seed)
    uids = [_random_op(rng, g) for _ in range(nodes)]
    seen = set()
    for place, uid in enumerate(uids[1:], 1):  # a forest, as CTRL is on import
        if rng.random() < 0.7:
            seen.add(("CTRL", rng.choice(uids[:place]), uid))
    for _ in range(edges):
        seen.add((rng.choice(TYPES[1:]), rng.choice(uids), rng.choice(uids)))
    for type, source, target in sorted(seen):
        g.edge(
            type, source, target, **({"rule": rng.choice(("recorded", "order"))} if type == "SYNC" else {})
        )
    return g.build()


def _random_op(rng: Random, g: GraphBuilder) -> int:
    """Add an op with few different values, so that groups have members and comparisons meet."""
    kind = rng.choice(KINDS)
    values = {"rank": rng.randrange(3), "start_ns": rng.choice([None, *range(4)])}
    values |= {"duration_ns": rng.choice([None, 0, 1, 2]), "node_id": rng.choice([None, 1, 2, 3])}
    if kind in ("Kernel", "ChakraNode"):
        values["stream"] = rng.choice([None, 7, 20])
    return g.node(
        kind,
        rng.choice(NAMES),
        **{k: v for k, v in values.items() if k != "node_id" or kind != "RuntimeCall"},
    )


@dataclass
class _Names:
    """The variables so far: those of nodes, those that may be null, and how many there have been."""

    nodes: list[str]
    made: int = 0
    optional: set[str] = field(default_factory=set)

    def fresh(self) -> str:
        """Return a new variable."""
        self.made += 1
        return f"v{self.made}"


def random_statement(rng: Random) -> str:
    """Return one reading statement, now and then anchored by `$run`."""
    text = _statement(rng)
    # Neo4j reads `:A|B` and `:A:B`, but not both in one statement.
    return text.replace(":Op:Kernel", ":Kernel") if ":HostOp|Kernel" in text else text


def _statement(rng: Random) -> str:
    """Return a statement of any shape."""
    if rng.random() < 0.08:
        both = " UNION " if rng.random() < 0.5 else " UNION ALL "
        return both.join(_simple(rng) for _ in range(2))
    if rng.random() < 0.3:
        return _fused(rng)
    names = _Names([])
    text = [_match(rng, names, first=True)]
    more = rng.choice((0, 0, 1, 1, 2))
    text += [rng.choice((_match, _match, _optional, _unwind, _call))(rng, names) for _ in range(more)]
    if rng.random() < 0.3:
        text.append(_with(rng, names))
    return " ".join([*text, _return(rng, names)])


def _fused(rng: Random) -> str:
    """Return a statement of a shape that an optimizer folds into one step: where it has been wrong."""
    names = _Names(["a", "b", "c"])
    shape = rng.randrange(3)
    if shape == 0:  # a lone count over a path
        path = f"(a:Op){_edge(rng)}(b{_label(rng)}){_edge(rng)}(c)"
        return f"MATCH {path} RETURN {rng.choice(('count(*)', 'count(*)', _count(rng, names)))} AS n"
    if shape == 1:  # a count of different nodes over two MATCHes and a condition
        text = f"MATCH (a:Op){_edge(rng)}(b) MATCH (a){_edge(rng)}(c)"
        test = rng.choice(("b.rank <> c.rank", "b.rank = 1", _condition(rng, names)))
        return f"{text} WHERE {test} RETURN count(DISTINCT {rng.choice('abcc')}) AS n"
    text = f"MATCH (a:Op) OPTIONAL MATCH (a){_edge(rng)}(b{_label(rng)})"
    group = rng.choice("abb")  # a grouping by a node that may be null
    test = rng.choice(("", " WHERE n > 1"))
    names.nodes, names.optional = ["c"], {"c"}
    return f"{text} WITH {group} AS c, count(*) AS n{test} RETURN {_value(rng, names)} AS x, n"


def _simple(rng: Random) -> str:
    """Return a statement of two columns, for a union."""
    names = _Names([])
    match = _match(rng, names, first=True)
    return f"{match} RETURN {_value(rng, names)} AS x, {_value(rng, names)} AS y"


# --- clauses ----------------------------------------------------------------------------------------------


def _match(rng: Random, names: _Names, first: bool = False) -> str:
    """Return a MATCH of a path: from the run, or from a node that is bound."""
    start = rng.choice(names.nodes) if names.nodes and not first and rng.random() < 0.85 else ""
    return f"MATCH {_path(rng, names, start)}{_where(rng, names)}"


def _optional(rng: Random, names: _Names) -> str:
    """Return an OPTIONAL MATCH from a bound node."""
    before = list(names.nodes)
    text = f"OPTIONAL MATCH {_path(rng, names, rng.choice(names.nodes), hops=1)}"
    names.optional |= {name for name in names.nodes if name not in before}
    return f"{text}{_where(rng, names)}"


def _unwind(rng: Random, names: _Names) -> str:
    """Return an UNWIND of a short list, kept for the comparison that follows."""
    name = names.fresh()
    return (
        f"UNWIND [0, 1, 2] AS {name} WITH * WHERE {name} {rng.choice(('<', '<=', '='))} {_number(rng, names)}"
    )


def _call(rng: Random, names: _Names) -> str:
    """Return a subquery that reads from a bound node."""
    node, other, out = rng.choice(names.nodes), names.fresh(), names.fresh()
    inner = f"MATCH ({node}){_edge(rng)}({other}{_label(rng)})"
    return f"CALL ({node}) {{ {inner} RETURN count({other}) AS {out} }} WITH * WHERE {out} >= 0"


def _with(rng: Random, names: _Names) -> str:
    """Return a WITH that groups by nodes or values, and binds only those."""
    kept = rng.sample(names.nodes, rng.randint(1, len(names.nodes)))
    count = names.fresh()
    names.nodes = kept
    how = rng.random()
    if how < 0.3:
        return f"WITH DISTINCT {', '.join(kept)}"
    test = rng.choice(("", f" WHERE {count} > 1", f" WHERE {count} <> 2"))
    return f"WITH {', '.join(kept)}, count(*) AS {count}{test}"


def _return(rng: Random, names: _Names) -> str:
    """Return a RETURN: a lone count, a grouping, distinct rows, or rows in a full order with a limit."""
    how = rng.random()
    if how < 0.3:
        return f"RETURN {_count(rng, names)} AS a"
    if how < 0.65:
        group = [f"{_value(rng, names)} AS g{i}" for i in range(rng.randint(1, 2))]
        values = [f"{_aggregate(rng, names)} AS a{i}" for i in range(rng.randint(1, 2))]
        return f"RETURN {', '.join([*group, *values])}"
    columns = [f"x{i}" for i in range(rng.randint(1, 3))]
    items = ", ".join(f"{_value(rng, names)} AS {column}" for column in columns)
    if how < 0.85:
        return f"RETURN DISTINCT {items}"
    downward = rng.choice(("", " DESC"))
    order = ", ".join(column + downward for column in columns)
    return f"RETURN {items} ORDER BY {order} SKIP {rng.randrange(3)} LIMIT {rng.randint(1, 9)}"


# --- patterns ---------------------------------------------------------------------------------------------


def _path(rng: Random, names: _Names, start: str, hops: int | None = None) -> str:
    """Return a path of one to three edges (none for a lone node); its new nodes are bound."""
    if start:
        text = f"({start})"
    else:
        start = names.fresh()
        names.nodes.append(start)
        anchor = rng.choice(("", "", " {run: $run}"))
        text = f"({start}:{rng.choice(('Op', 'Op', 'HostOp', 'Kernel'))}{anchor})"
        hops = rng.choice((0, 1, 1, 2)) if hops is None else hops
    for _ in range(rng.choice((1, 1, 2)) if hops is None else hops):
        reuse = len(names.nodes) > 1 and rng.random() < 0.1
        node = rng.choice(names.nodes) if reuse else names.fresh()
        text += f"{_edge(rng)}({node}{'' if reuse else _label(rng)})"
        if not reuse:
            names.nodes.append(node)
    return text


def _edge(rng: Random, length: bool = True) -> str:
    """Return an edge of one or two types in any direction, now and then of several steps."""
    types = "|".join(rng.sample(TYPES, rng.choice((1, 1, 2))))
    steps = rng.choice(("*1..2", "*2..3", "*2")) if length and rng.random() < 0.12 else ""
    left, right = rng.choice((("-", "->"), ("-", "->"), ("<-", "-"), ("<-", "-"), ("-", "-")))
    return f"{left}[:{types}{steps}]{right}"


def _label(rng: Random) -> str:
    """Return no label, one, or a choice of two."""
    return rng.choice(("", "", ":Op", ":HostOp", ":Kernel", ":ChakraNode", ":HostOp|Kernel", ":Op:Kernel"))


# --- expressions ------------------------------------------------------------------------------------------


def _where(rng: Random, names: _Names) -> str:
    """Return no WHERE, or one of one to two conditions."""
    if rng.random() < 0.45:
        return ""
    conditions = [_condition(rng, names) for _ in range(rng.choice((1, 1, 2)))]
    return f" WHERE {rng.choice((' AND ', ' OR ')).join(conditions)}"


def _condition(rng: Random, names: _Names) -> str:
    """Return a condition on a bound node."""
    node = rng.choice(names.nodes)
    inner = names.fresh()
    made = (
        f"{_number(rng, names)} {rng.choice(('=', '<>', '<', '>=', '>'))} {_number(rng, names)}",
        f"{_number(rng, names)} IS {rng.choice(('NULL', 'NOT NULL'))}",
        f"{node}.name {rng.choice(('STARTS WITH', 'CONTAINS'))} {rng.choice(('at', ':', 'x'))!r}",
        f"{node}.name =~ 'aten::.*'",
        f"{node}.rank IN [0, {rng.randrange(3)}]",
        _has_label(rng, names, node),
        f"({node}){_edge(rng, length=False)}()",
        f"EXISTS {{ ({node}){_edge(rng)}({inner}{_label(rng)}) WHERE {inner}.rank <= 1 }}",
        f"EXISTS {{ ({node}){_edge(rng)}({_label(rng)}) }}",
    )
    if rng.random() < 0.1:  # kglite reads no bracket round a comparison that begins with COUNT { }
        return f"COUNT {{ ({node}){_edge(rng)}() }} {rng.choice(('>', '='))} {rng.randrange(3)}"
    return rng.choice(("", "", "NOT ")) + f"({rng.choice(made)})"


def _has_label(rng: Random, names: _Names, node: str) -> str:
    """Return a test of a label; of a node that may be null both engines agree only once null is excluded.

    `null:Kernel` is null to Neo4j, but false to the embedded engine, so that NOT makes it true there.
    """
    there = f"{node} IS NOT NULL AND " if node in names.optional else ""
    return f"{there}{node}:{rng.choice(('Kernel', 'HostOp'))}"


def _number(rng: Random, names: _Names) -> str:
    """Return an integer or null: a property, a literal, a sum."""
    node = rng.choice(names.nodes)
    made = (
        f"{node}.{rng.choice(NUMBERS)}",
        f"{node}.{rng.choice(NUMBERS)}",
        str(rng.randrange(4)),
        f"({node}.start_ns + {node}.duration_ns)",
        f"coalesce({node}.stream, {node}.node_id, -1)",
    )
    return rng.choice(made)


def _value(rng: Random, names: _Names) -> str:
    """Return an expression of a row: number, text, boolean, size of a list."""
    node = rng.choice(names.nodes)
    inner = names.fresh()
    made = (
        _number(rng, names),
        f"{node}.name",
        f"{node}.kind",
        f"{node}.uid",
        f"toLower({node}.name)",
        f"head(split({node}.name, ':'))",
        f"CASE WHEN {_condition(rng, names)} THEN 'yes' ELSE {node}.kind END",
        f"COUNT {{ ({node}){_edge(rng)}() }}",
        f"size([({node}){_edge(rng, length=False)}({inner}) | {inner}.uid])",
        f"any(x IN [0, {node}.rank] WHERE x > 0)",
        f"reduce(s = 0, x IN [1, {node}.rank] | s + x)",
        f"size([x IN range(0, 3) WHERE x <= {node}.rank | x * 2])",
    )
    return rng.choice(made)


def _count(rng: Random, names: _Names) -> str:
    """Return a count: of rows, of nodes, of different nodes."""
    node = rng.choice(names.nodes)
    return rng.choice(
        ("count(*)", f"count({node})", f"count(DISTINCT {node})", f"count(DISTINCT {node}.name)")
    )


def _aggregate(rng: Random, names: _Names) -> str:
    """Return an aggregate over the rows of a group."""
    number = _number(rng, names)
    made = (
        _count(rng, names),
        f"sum({number})",
        f"min({number})",
        f"max({number})",
        f"collect({number})",
        f"collect(DISTINCT {number})",
        f"sum(CASE WHEN {_condition(rng, names)} THEN 1 ELSE 0 END)",
    )
    return rng.choice(made)
