"""Errors of the driver and the server in our words."""

from __future__ import annotations

from typing import Any

import neo4j
import pytest
from neo4j.exceptions import (
    AuthError,
    ConfigurationError,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
    TransientError,
)

from graphstore.errors import GraphstoreError, QueryError, QueryTimeoutError, StoreError
from graphstore.settings import Settings
from graphstore.store import neo4j_connection
from graphstore.store.neo4j_connection import Connection, one_line

SETTINGS = Settings(store="neo4j://db.example:7687", username="ann", password="s3cret-word", database="runs")


def served(code: str, message: str = "what the\n  server said") -> Neo4jError:
    """Return the error the driver makes of a server's answer."""
    return Neo4jError._hydrate_neo4j(code=code, message=message)


CASES: list[tuple[Exception, type[GraphstoreError], str]] = [
    (AuthError("nope"), StoreError, "user 'ann' and the password are refused; set NEO4J_USERNAME"),
    (served("Neo.ClientError.Security.AuthenticationRateLimit"), StoreError, "wait 5 s"),
    (served("Neo.ClientError.Security.CredentialsExpired"), StoreError, "initial password must be changed"),
    (
        served("Neo.ClientError.Database.DatabaseNotFound"),
        StoreError,
        "no database 'runs'; set NEO4J_DATABASE",
    ),
    (ServiceUnavailable("Couldn't connect"), StoreError, "no server answers: Couldn't connect"),
    (SessionExpired("gone"), StoreError, "no server answers: gone"),
    (ConfigurationError("bad scheme"), StoreError, "no address of a Neo4j server: bad scheme"),
    (served("Neo.DatabaseError.General.UnknownError"), StoreError, "what the server said"),
    (served("Neo.ClientError.Statement.SyntaxError"), QueryError, "what the server said"),
    (served("Neo.ClientError.Statement.AccessMode"), QueryError, "queries only read"),
    (served("Neo.TransientError.General.MemoryPoolOutOfMemoryError"), QueryError, "more memory than"),
    (served("Neo.TransientError.General.OutOfMemoryError"), QueryError, "more memory than"),
    (
        served("Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration"),
        QueryTimeoutError,
        "limit of 5 s",
    ),
    (ValueError("no such place"), StoreError, "no address of a Neo4j server: no such place"),
]


@pytest.mark.parametrize(("error", "kind", "words"), CASES)
def test_every_error_is_one_line_of_ours(
    error: Exception, kind: type[GraphstoreError], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kind gives the exit code, the words the remedy; the password and a traceback are never in them."""
    connection = Connection(SETTINGS)

    def refuse() -> Any:
        raise error

    monkeypatch.setattr(connection, "_connect", refuse)
    with pytest.raises(kind) as caught:
        connection.read(lambda _: None, neo4j_connection.CONNECT_S)

    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "s3cret-word" not in str(caught.value)
    assert caught.value.__cause__ is error


@pytest.mark.parametrize("address", ["bolt://", "http://localhost", "neo4j://a:b:c", "bolt+x://localhost"])
def test_an_address_that_is_none_is_a_store_error(address: str) -> None:
    """Told before anything is sent."""
    connection = Connection(Settings(store=address))

    with pytest.raises(StoreError):
        connection.read(lambda _: None, 1)


def test_a_password_in_the_address_is_refused_and_not_shown() -> None:
    """It would stand in the process list and in every message."""
    connection = Connection(Settings(store="bolt://ann:s3cret@localhost:7687"))

    assert connection.address == "bolt://localhost:7687"
    with pytest.raises(StoreError, match="NEO4J_PASSWORD") as caught:
        connection.read(lambda _: None, 1)
    assert "s3cret" not in str(caught.value)


def test_a_memory_error_leaves_the_work_as_one_the_driver_does_not_try_again() -> None:
    """The server calls it transient; the same query would fail the same way."""
    tried: list[int] = []

    def work(_: neo4j.ManagedTransaction) -> None:
        tried.append(1)
        raise transient("Neo.TransientError.General.MemoryPoolOutOfMemoryError")

    with pytest.raises(QueryError, match="more memory than the server gives"):
        neo4j_connection._no_memory_retry(work)(None)  # type: ignore[arg-type]
    assert tried == [1]


def test_another_transient_error_is_left_to_the_driver() -> None:
    """A leader that changes, a deadlock: those it tries again."""

    def work(_: neo4j.ManagedTransaction) -> None:
        raise transient("Neo.TransientError.Transaction.DeadlockDetected")

    with pytest.raises(TransientError):
        neo4j_connection._no_memory_retry(work)(None)  # type: ignore[arg-type]


def transient(code: str) -> Exception:
    """Return a transient error of the server."""
    error = served(code)
    assert isinstance(error, TransientError)
    return error


def test_one_line_takes_the_servers_own_words() -> None:
    """Without codes and line breaks; the type's name where there are no words."""
    assert one_line(served("Neo.ClientError.Statement.SyntaxError")) == "what the server said"
    assert one_line(ValueError()) == "ValueError"
