"""Each rule of the lint has a text that breaks it and one near it that does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphstore.queries import lint_words
from graphstore.queries.catalog import catalog, read_query
from graphstore.queries.lint import lint, lint_query, main

BROKEN = {
    "MATCH (n:Op)-[:CTRL*]->(m:Op) RETURN count(*) AS c": "unbounded_path",
    "MATCH (n:Op)-[:CTRL*1..]->(m:Op) RETURN count(*) AS c": "unbounded_path",
    "MATCH (n:Op)-[e:CTRL|DATA*0..]->(m:Op) RETURN count(*) AS c": "unbounded_path",
    "MATCH (n:Op) /* all */ RETURN count(*) AS c": "forbidden_symbol",
    "MATCH (n:Op) RETURN 'a' || 'b' AS c ORDER BY c": "forbidden_symbol",
    "MATCH (n:Op) WHERE n.uid::int > 1 RETURN count(*) AS c": "forbidden_symbol",
    "MATCH (n:Op&Kernel) RETURN count(*) AS c": "forbidden_symbol",
    "MATCH (n:!Kernel) RETURN count(*) AS c": "forbidden_symbol",
    "MATCH (a:Op)(()-[:CTRL]->()){1,9}(b:Op) RETURN count(*) AS c": "forbidden_symbol",
    "MATCH (a:Op)-[:CTRL]->+(b:Op) RETURN count(*) AS c": "forbidden_symbol",
    "LOAD CSV FROM 'x' AS row RETURN count(*) AS c": "forbidden_word",
    "SHOW INDEXES": "forbidden_word",
    "USE other MATCH (n:Op) RETURN count(*) AS c": "forbidden_word",
    "PROFILE MATCH (n:Op) RETURN count(*) AS c": "forbidden_word",
    "EXPLAIN MATCH (n:Op) RETURN count(*) AS c": "forbidden_word",
    "MATCH (n:Op) USING INDEX n:Op(name) RETURN count(*) AS c": "forbidden_word",
    "MATCH (n:Op) WITH n.rank AS r, count(*) AS c HAVING c > 1 RETURN count(*) AS d": "forbidden_word",
    "MATCH (n:Op) FILTER n.rank = 1 RETURN count(*) AS c": "forbidden_word",
    "MATCH (n:Op) LET r = n.rank RETURN count(*) AS c": "forbidden_word",
    "INSERT (n:Op)": "forbidden_word",
    "CREATE (n:Op) FINISH": "forbidden_word",
    "MATCH (n:Op) RETURN n.uid AS uid ORDER BY uid OFFSET 3": "forbidden_word",
    "MATCH (n:Op) RETURN sum(n.rank) OVER (n.run) AS s ORDER BY s": "forbidden_word",
    "WHEN true THEN RETURN 1 AS one": "forbidden_word",
    "MATCH p = SHORTEST 1 (a:Op)-[:CTRL]->(b:Op) RETURN p": "forbidden_word",
    "MATCH (n:Op) CALL (n) { DETACH DELETE n } IN TRANSACTIONS RETURN count(*) AS c": "forbidden_word",
    "MATCH (n:Op) WHERE 1 <= n.rank < 3 RETURN count(*) AS c": "chained_comparison",
    "MATCH (n:Op) WHERE n.rank = n.uid = 3 RETURN count(*) AS c": "chained_comparison",
    "MATCH (n:Op) RETURN percentileCont(n.uid, 0.5) AS p": "unknown_function",
    "MATCH (n:Op) RETURN labels(n) AS l ORDER BY l": "unknown_function",
    "MATCH (n:Op) RETURN keys(n) AS k ORDER BY k": "unknown_function",
    "MATCH (n:Op) RETURN properties(n) AS k ORDER BY k": "unknown_function",
    "MATCH (n:Op) RETURN id(n) AS k ORDER BY k": "unknown_function",
    "MATCH (n:Op) RETURN elementId(n) AS k ORDER BY k": "unknown_function",
    "MATCH (n:Op) RETURN toString(n.rank) AS k ORDER BY k": "unknown_function",
    "MATCH (n:Op) WHERE isEmpty(n.name) RETURN count(*) AS c": "unknown_function",
    "MATCH (n:Op) WHERE exists((n)-[:CTRL]->()) RETURN count(*) AS c": "unknown_function",
    "MATCH (n:Op) RETURN n.title AS t ORDER BY t": "reserved_property",
    "MATCH (n:Op {id: 1}) RETURN count(*) AS c": "reserved_property",
    "MATCH (n:Op) WHERE n.end = 1 RETURN count(*) AS c": "reserved_property",
    "MATCH (n:Op) RETURN count(*) AS c; MATCH (n:Op) RETURN count(*) AS c": "two_statements",
    "MATCH (n:Op:Kernel)-[:CTRL]->(m:HostOp|Kernel) RETURN count(*) AS c": "mixed_labels",
    "CALL db.labels() YIELD label RETURN count(*) AS c": "subquery_form",
    "CALL { MATCH (n:Op) RETURN count(*) AS c } RETURN c ORDER BY c": "subquery_form",
    "MATCH (n:Op) RETURN COLLECT { MATCH (n)-[:CTRL]->(m) RETURN m.uid } AS l ORDER BY l": "subquery_form",
    "MATCH (n:Op) WHERE EXISTS { MATCH (n)-[:CTRL]->(m) RETURN m } RETURN count(*) AS c": "subquery_form",
    "MATCH (n:Op) CALL (n) { CREATE (m:Op) } RETURN count(*) AS c": "subquery_form",
    "CREATE (n:Op $properties)": "parameter_as_map",
    "MATCH (n:Op) RETURN n {.*} AS n ORDER BY n": "whole_node",
    "MATCH (n) RETURN count(*) AS c": "no_label",
    "MATCH (n)-[:CTRL]->(m) RETURN count(*) AS c": "no_label",
    "MATCH (k:Kernel {uid: $u}) RETURN count(*) AS c": "uid_elsewhere",
    "MATCH (k {uid: $u})-[:CTRL]->(m:Op) RETURN count(*) AS c": "uid_elsewhere",
    "MATCH (a:Op)-[:CTRL*1..9]->(n:Op {uid: $u}) RETURN count(*) AS c": "free_left_end",
    "MATCH (n:Op) MATCH (a:Op)-[:CTRL]->(n) RETURN a.uid AS a, n.uid AS n ORDER BY a, n": "free_left_end",
    "MATCH (k:Op) WHERE EXISTS { (:Op)-[:CTRL]->(k) } RETURN count(*) AS c": "free_left_end",
    "MATCH (a:Op)-[:CTRL]-(b)-[:DATA]->(c) RETURN count(*) AS n": "undirected",
    "MATCH (a:Op)-[:CTRL*2]-(b) RETURN count(*) AS n": "undirected",
    "MATCH (n:Op) WHERE EXISTS { (n)-[:CTRL]-(m)-[:DATA]->(k) } RETURN count(*) AS c": "undirected",
    "MATCH (n:Oper) RETURN count(*) AS c": "undeclared",
    "MATCH (n:Op)-[:CALLS]->(m) RETURN count(*) AS c": "undeclared",
    "MATCH (n:Op {node: 1}) RETURN count(*) AS c": "undeclared",
    "MATCH (n:Op)-[e:SYNC {repair: 'r'}]->(m) RETURN count(*) AS c": "undeclared",
    "MATCH (n:Kernel) WHERE n.self_ns > 1 RETURN count(*) AS c": "undeclared",
    "MATCH (a:Op)-[e:SYNC]->(b) WHERE e.why = 'x' RETURN count(*) AS c": "undeclared",
    "MATCH (n:Op) WHERE EXISTS { MATCH (p:Op) WHERE p.uid = n.parent_id } RETURN count(*) AS c": "correlated",
    "MATCH (n:Op) WITH n, COUNT { MATCH (p:Op) WHERE p.rank = n.rank } AS c RETURN sum(c) AS s": "correlated",
    "MATCH (n:Op) RETURN n.uid ORDER BY n.uid": "unnamed_column",
    "MATCH (n:Op) RETURN n ORDER BY n.uid": "whole_node",
    "MATCH (n:Op)-[e:CTRL]->(m) RETURN e AS e ORDER BY n.uid, m.uid": "whole_node",
    "MATCH (n:Op) RETURN n.rank + count(*) AS c ORDER BY c": "mixed_aggregate",
    "MATCH (a:Op)-[:CTRL]->(b) MATCH (a)-[:DATA]->(e) RETURN count(DISTINCT e) AS c": "lone_count",
    "MATCH (a:Op) OPTIONAL MATCH (a)<-[:DATA]-(e) WITH e, count(*) AS x RETURN sum(x) AS s": "optional_group",
    "MATCH (a:Op) OPTIONAL MATCH (a)-[:DATA]->(e) WITH a, e WHERE NOT e:Kernel RETURN count(a) AS c": (
        "optional_label"
    ),
    "MATCH (n:Op) RETURN collect(n.uid) AS a, collect(n.step) AS b": "shifted_collect",
    "MATCH (n:Op) RETURN n.uid AS uid LIMIT 3": "limit_without_order",
    "MATCH (n:Op) WITH n LIMIT 3 RETURN count(*) AS c": "limit_without_order",
    "MATCH (n:Op) RETURN n.name AS name ORDER BY n.rank": "order_not_total",
    "MATCH (n:Op) RETURN n.name AS name, count(*) AS c ORDER BY c DESC": "order_not_total",
    "MATCH (a:Op)-[:CTRL]->(b) RETURN a.uid AS uid, b.name AS name ORDER BY uid": "order_not_total",
    "MATCH (n:Op) WITH n.rank AS r, n.name AS m, count(*) AS c RETURN m, c ORDER BY m": "order_not_total",
    "MATCH (n:Op) RETURN DISTINCT n.rank AS rank, n.name AS name ORDER BY rank": "order_not_total",
    "MATCH (n:Op) RETURN n.uid AS uid": "no_order",
}

SOUND = [
    "MATCH (n:Op:Kernel)-[:CTRL|DATA]->(m) RETURN reduce(s = 0, x IN collect(m.rank) | s + x) AS c",
    "MATCH (n:Op {uid: $u})<-[:CTRL*1..1000]-(a:Op) RETURN count(*) AS c",
    "MATCH p = shortestPath((a:Op {uid: $a})-[:CTRL|DATA*..1000]->(b:Op {uid: $b})) RETURN p",
    "MATCH (n:Op) WHERE n.run = $run AND n.rank >= 1 AND n.rank < 3 RETURN count(*) AS c // a <= b < c || d",
    "MATCH (n:Op) WHERE n.name CONTAINS 'LOAD CSV /* || */ a <= b < c' RETURN count(*) AS c;",
    "MATCH (n:Op) WHERE (n)<-[:CTRL]-(:Op) AND n.rank = 3 RETURN count(*) AS c",
    "MATCH (n:Op) RETURN n.kind AS kind, count(*) AS n ORDER BY kind",
    "MATCH (n:Op) WHERE n:Kernel OR NOT n:HostOp RETURN count(*) AS c",
    "MATCH (n:Op) WHERE NOT EXISTS { (n)<-[:CTRL|DATA]-() } RETURN count(*) AS c",
    "MATCH (n:Op) WITH n.uid AS uid, COUNT { (n)<-[:DATA]-() } AS d RETURN uid, d ORDER BY d, uid LIMIT 9",
    "MATCH (n:Op) WHERE EXISTS { (n)-[:CTRL]->(m) WHERE m.rank <> n.rank } RETURN count(*) AS c",
    "MATCH (a:Op)-[:SYNC]->(b:Op)-[:SYNC]->(a) RETURN a.uid AS a, b.uid AS b ORDER BY a, b LIMIT 20",
    "MATCH (n:Op {uid: $u})-[:CTRL|DATA]-(m:Op) RETURN m.uid AS uid ORDER BY uid",
    "MATCH p = (n:Op {uid: $u})-[:CTRL]-(m:Op) RETURN p LIMIT 200",
    "MATCH (n:Op) RETURN [x IN collect(n.step) | x] AS steps",
    "MATCH (n:Op) RETURN collect(n.uid) AS a, collect(coalesce(n.step, -1)) AS b",
    "MATCH (a:Op) MATCH (a)-[:DATA]->(e) WITH e.uid AS e, count(*) AS c RETURN e, c ORDER BY e",
    "MATCH (n:Op) OPTIONAL MATCH (n)<-[:DATA]-(e) RETURN n.uid AS uid, count(e) AS c ORDER BY uid",
    "MATCH (n:Op) OPTIONAL MATCH (n)<-[:DATA]-(e) WHERE e:Kernel RETURN n.uid AS u, count(e) AS c ORDER BY u",
    "MATCH (n:Op) CALL (n) { MATCH (n)-[:CTRL]->(m) RETURN count(m) AS c } RETURN n.uid AS u ORDER BY u, c",
    "MATCH (n:Op) RETURN CASE WHEN n.rank = 0 THEN 'a' ELSE 'b' END AS side, count(*) AS c ORDER BY side",
    "UNWIND $rows AS r MERGE (n:Op {uid: r.u}) ON CREATE SET n += r.p SET n:HostOp RETURN count(*) AS n",
    "UNWIND $rows AS row MATCH (a:Op {uid: row.a}), (b:Op {uid: row.b}) CREATE (a)-[:CTRL]->(b)",
    "MATCH (n:Op) WHERE n.run = $run WITH n LIMIT $batch DETACH DELETE n RETURN count(*) AS n",
    "MATCH (t:Op) WITH t.root AS root, count(*) AS c MATCH (n:Op {uid: root}) RETURN c, root ORDER BY root",
    "MATCH (a:Op)-[:DATA]->() RETURN DISTINCT a.rank AS rank UNION MATCH (n:Kernel) RETURN n.rank AS rank",
]


@pytest.mark.parametrize(("text", "rule"), BROKEN.items())
def test_a_text_outside_the_subset_is_told_by_its_rule(text: str, rule: str) -> None:
    """The rule that is broken is among those named."""
    assert rule in {problem.rule for problem in lint(text)}


@pytest.mark.parametrize("text", SOUND)
def test_a_text_of_the_subset_passes(text: str) -> None:
    """What only looks like a fault (in a text, a comment, a bounded path) is none."""
    assert lint(text) == []


def test_every_rule_has_a_text_that_breaks_it() -> None:
    """A rule on words that no text here breaks would be untested."""
    assert {rule.__name__ for rule in lint_words.RULES} <= set(BROKEN.values())


@pytest.mark.parametrize("name", catalog())
def test_every_statement_of_the_catalogue_passes(name: str) -> None:
    """cypher/ holds nothing outside the subset, and every header fits its text."""
    assert lint_query(catalog()[name]) == []


HEADER = "// Ops.\n// param run: text, the run\n// param rank: int, r\n// column ops: int, how many\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("MATCH (n:Op) WHERE n.run = $run RETURN count(*) AS ops", "parameters used ['run']"),
        ("MATCH (n:Op) WHERE n.rank = $rank RETURN count(*) AS ops", "parameters used ['rank']"),
        ("MATCH (n:Op) WHERE n.run = $run AND n.rank = $rank RETURN count(*) AS n", "columns returned ['n']"),
        (
            "MATCH (n:Op) WHERE n.run = $run AND n.rank = $rank SET n.step = 1 RETURN count(*) AS ops",
            "writes",
        ),
    ],
)
def test_a_header_that_does_not_fit_its_text_is_told(tmp_path: Path, text: str, message: str) -> None:
    """Parameters, columns and writes of header and text are the same."""
    path = tmp_path / "time" / "count_ops.cypher"
    path.parent.mkdir()
    path.write_text(HEADER + text)

    found = lint_query(read_query(path, tmp_path))

    assert [problem.rule for problem in found] == ["header"]
    assert message in found[0].message


def test_the_command_names_file_line_and_rule(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit 1 and one line a problem; 0 and nothing when there is none."""
    path = tmp_path / "cypher" / "time" / "count_ops.cypher"
    path.parent.mkdir(parents=True)
    path.write_text(
        "// Ops.\n// column ops: int, how many\nMATCH (n)\nWHERE n.run = $run\nRETURN count(*) AS ops\n"
    )
    monkeypatch.setattr("graphstore.queries.lint.folder", lambda: tmp_path / "cypher")

    broken = main([str(path)])
    told = capsys.readouterr().out
    path.write_text(path.read_text().replace("(n)", "(n:Op)"))

    assert (broken, main([str(path)])) == (1, 0)
    assert told.startswith("cypher/time/count_ops.cypher:3: no_label: ")
    assert capsys.readouterr().out == ""


def test_a_name_in_backticks_is_no_keyword() -> None:
    """A column may be called `call`, as both engines take it; the same word bare begins a clause."""
    text = "MATCH (c:CollectiveCall) WHERE c.run = $run RETURN c.uid AS {0} ORDER BY {0}"

    assert lint(text.format("`call`")) == []
    assert lint(text.format("call")) != []
