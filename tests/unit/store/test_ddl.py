"""The DDL follows the schema."""

from __future__ import annotations

from graphstore.model.schema import INDEXES, primary_labels
from graphstore.store.ddl import ddl, names


def test_every_key_is_unique_on_both_engines() -> None:
    """One constraint a primary label; a second label has none (kglite would accept and ignore it)."""
    for engine in ("kglite", "neo4j"):
        statements = ddl(engine)
        for label, (key, _) in primary_labels().items():
            on = f"FOR (n:{label}) REQUIRE n.{key} IS UNIQUE"
            assert sum(statement.endswith(on) for statement in statements) == 1


def test_secondary_indexes_are_for_neo4j_only() -> None:
    """kglite would rebuild them at every open."""
    assert {index.name for index in INDEXES} <= names(ddl("neo4j"))
    assert all(statement.startswith("CREATE CONSTRAINT") for statement in ddl("kglite"))


def test_an_index_names_all_its_properties() -> None:
    """Of nodes, and of relationships."""
    statements = ddl("neo4j")

    assert (
        "CREATE INDEX op_run_rank_node_id IF NOT EXISTS FOR (n:Op) ON (n.run, n.rank, n.node_id)"
        in statements
    )
    assert "CREATE INDEX ctrl_repair IF NOT EXISTS FOR ()-[n:CTRL]-() ON (n.repair)" in statements


def test_names_are_those_the_statements_make_and_differ() -> None:
    """Health compares them with what a server has."""
    statements = ddl("neo4j")

    assert len(names(statements)) == len(statements)
    assert {"op_uid", "trace_file_uid", "graphstore_counter_name", "op_name"} <= names(statements)
