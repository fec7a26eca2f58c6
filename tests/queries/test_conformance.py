"""Every statement of cypher/ gives the rows of its cases: on both engines, with and without an optimizer."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import orjson
import polars as pl
import pytest

from graphstore.queries import catalog, get, run_over_archive, run_query
from graphstore.queries.run import checked
from graphstore.store import Statement, Store
from tests.queries import raw_kglite
from tests.queries.cases import Case, all_cases

CASES = all_cases()
WRITING = {name for name, query in catalog().items() if query.writes}
OVER_RUNS = {name for name, query in catalog().items() if query.over_runs}
READING = [name for name, case in CASES.items() if case.query not in WRITING | OVER_RUNS]


def compared(rows: list[tuple[Any, ...]], case: Case) -> list[tuple[Any, ...]]:
    """Return the rows; of a row of parallel lists the tuples across them, of paths what they draw, sorted."""
    if case.query.endswith(".graph"):
        return drawn(rows)
    if not case.parallel:
        return rows
    out: list[tuple[Any, ...]] = []
    for row in rows:
        lists = [value for value in row if isinstance(value, list)]
        scalars = [value for value in row if not isinstance(value, list)]
        out += [(*scalars, *values) for values in zip(*lists, strict=True)]
    return sorted(out)


def drawn(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return the picture of paths: each edge once as (start, type, end), a lone node as (key,)."""
    found: set[tuple[Any, ...]] = set()
    for (text,) in rows:
        path = orjson.loads(text) if isinstance(text, str) else text
        found |= {(edge["start"], edge["type"], edge["end"]) for edge in path["relationships"]}
        if not path["relationships"]:
            found.add((path["nodes"][0]["properties"]["uid"],))
    return sorted(found, key=str)


def write(store: Store, case: Case, name: str, parameters: dict[str, Any]) -> pl.DataFrame:
    """Run a writing statement of the catalogue; return its rows."""
    query = get(name)
    return store.change_run(str(case.graph.run["run"]), [Statement(query.text, checked(query, parameters))])[
        0
    ]


def ask(store: Store, case: Case) -> None:
    """Run the case and compare what comes with what must."""
    run = str(case.graph.run["run"])
    for name, parameters in case.before:
        write(store, case, name, parameters)
    if get(case.query).writes:
        found = write(store, case, case.query, case.parameters)
    elif get(case.query).over_runs:
        found = run_over_archive(store, [run], case.query, **case.parameters)
    else:
        found = run_query(store, run, case.query, **case.parameters)
    assert found.columns == [field.name for field in get(case.query).columns]
    wanted = sorted(case.rows, key=str) if case.query.endswith(".graph") else case.rows
    assert compared(found.rows(), case) == wanted
    if case.after:
        assert run_query(store, run, case.after).rows() == case.then


@pytest.mark.parametrize("name", CASES)
def test_the_embedded_engine_gives_the_rows_of_the_case(name: str, kglite_cases: Store) -> None:
    """As the store runs it: the right rows in the right order, among the runs of all other cases."""
    ask(kglite_cases, CASES[name])


@pytest.mark.neo4j
@pytest.mark.parametrize("name", CASES)
def test_neo4j_gives_the_rows_of_the_case(name: str, neo4j_cases: Store) -> None:
    """The same file, the same rows in the same order, with all runs in one database."""
    ask(neo4j_cases, CASES[name])


@pytest.mark.parametrize("name", READING)
def test_the_optimizer_changes_no_row(name: str) -> None:
    """Without the three wrong passes a statement gives what it gives without any optimizer."""
    case = CASES[name]
    graph = raw_kglite.open_graph(case.graph)
    query = get(case.query)
    parameters = {**checked(query, case.parameters), "run": case.graph.run["run"]}

    plain = raw_kglite.without_optimizer(graph, query.text, parameters)
    asked = raw_kglite.as_the_store_asks(graph, query.text, parameters)

    assert compared(asked, case) == compared(plain, case)


def test_every_statement_has_its_cases() -> None:
    """A file without a case fails; so does a check without one that finds and one that must not."""
    rows_by_query = defaultdict(list)
    for case in CASES.values():
        rows_by_query[case.query].append(bool(case.rows))

    missing = sorted(set(catalog()) - set(rows_by_query))
    one_sided = sorted(
        name
        for name, query in catalog().items()
        if query.rule and name in rows_by_query and set(rows_by_query[name]) != {True, False}
    )

    assert (missing, one_sided) == ([], [])
