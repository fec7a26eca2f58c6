"""One connection to a Neo4j server: sessions, transactions with retries, and errors in our words.

In:  settings (address, user, password), a unit of work. Out: what the work returns.
Decided here: managed transactions, so that a cluster's leader may change; a memory error is never retried
(the driver would, for 15 s); connecting and retrying are bounded; every message is one line, names the
address without secrets and says what to do.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import TypeVar

import neo4j
from neo4j.exceptions import (
    AuthError,
    ClientError,
    ConfigurationError,
    DriverError,
    Neo4jError,
    ServiceUnavailable,
    TransientError,
)

from graphstore.errors import GraphstoreError, QueryError, QueryTimeoutError, StoreError
from graphstore.settings import Settings

CONNECT_S = 5.0  # TCP and handshake, per address the name resolves to
ACQUIRE_S = 15.0  # a connection from the pool, connecting included
RETRY_S = 15.0  # how long a transient error is tried again
_MEMORY = "OutOfMemoryError"  # …General.MemoryPoolOutOfMemoryError and General.OutOfMemoryError

T = TypeVar("T")
Work = Callable[[neo4j.ManagedTransaction], T]


class Connection:
    """A server, connected to with the first use; may be shared by threads."""

    def __init__(self, settings: Settings) -> None:
        """Keep the address; nothing is sent yet."""
        self.address = without_user(settings.store)
        self._settings = settings
        self._driver: neo4j.Driver | None = None
        self._lock = threading.Lock()

    def read(self, work: Work[T], timeout_s: float) -> T:
        """Return what `work` returns of a transaction that may only read, also when it says otherwise.

        The server ends it after `timeout_s`. Raises QueryError, QueryTimeoutError or StoreError.
        """
        return self._transact(neo4j.READ_ACCESS, work, timeout_s)

    def write(self, work: Work[T], timeout_s: float) -> T:
        """Return what `work` returns of a transaction that writes all of it or nothing; errors as read()."""
        return self._transact(neo4j.WRITE_ACCESS, work, timeout_s)

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            if self._driver is not None:
                self._driver.close()
                self._driver = None

    def _transact(self, access: str, work: Work[T], timeout_s: float) -> T:
        managed = neo4j.unit_of_work(timeout=timeout_s, metadata={"app": "graphstore"})(
            _no_memory_retry(work)
        )
        driver = self._connected()
        try:
            with driver.session(database=self._settings.database, default_access_mode=access) as session:
                if access == neo4j.READ_ACCESS:
                    return session.execute_read(managed)
                return session.execute_write(managed)
        except (DriverError, Neo4jError, ValueError, TypeError, OverflowError) as error:
            raise self._in_our_words(error, timeout_s) from error

    def _connected(self) -> neo4j.Driver:
        """Return the driver; the first call proves that the server answers, without retries.

        Raises StoreError, also for what makes no address.
        """
        with self._lock:
            if self._driver is None:
                try:
                    self._driver = self._connect()
                except (ConfigurationError, ValueError) as error:
                    raise StoreError(
                        f"{self.address}: no address of a Neo4j server: {one_line(error)}"
                    ) from error
                except (DriverError, Neo4jError) as error:
                    raise self._in_our_words(error, CONNECT_S) from error
            return self._driver

    def _connect(self) -> neo4j.Driver:
        if self.address != self._settings.store:
            raise ConfigurationError(
                "name and password go into NEO4J_USERNAME and NEO4J_PASSWORD, not into it"
            )
        driver = neo4j.GraphDatabase.driver(
            self.address,
            auth=(self._settings.username, self._settings.password),
            connection_timeout=CONNECT_S,
            connection_acquisition_timeout=ACQUIRE_S,
            max_transaction_retry_time=RETRY_S,
            notifications_min_severity="OFF",
            telemetry_disabled=True,
        )
        try:
            driver.verify_connectivity()
        except BaseException:
            driver.close()
            raise
        return driver

    def _in_our_words(self, error: Exception, timeout_s: float) -> GraphstoreError:
        code = getattr(error, "code", None) or ""
        said = one_line(error)
        at = f"Neo4j at {self.address}"
        if code.endswith("AuthenticationRateLimit"):
            return StoreError(f"{at}: too many wrong passwords; wait 5 s, then set NEO4J_PASSWORD")
        if code.endswith("CredentialsExpired"):
            return StoreError(
                f"{at}: the initial password must be changed first (in Browser, or cypher-shell)"
            )
        if isinstance(error, AuthError):
            return StoreError(
                f"{at}: user {self._settings.username!r} and the password are refused; "
                f"set NEO4J_USERNAME and NEO4J_PASSWORD"
            )
        if code.endswith("DatabaseNotFound"):
            return StoreError(
                f"{at}: no database {self._settings.database!r}; set NEO4J_DATABASE, or unset it"
            )
        if "TransactionTimedOut" in code:
            return QueryTimeoutError(
                f"the query reached its limit of {timeout_s:g} s; narrow it, or raise the limit (--timeout)"
            )
        if _MEMORY in code:
            return QueryError(f"the query needs more memory than the server gives; narrow it: {said}")
        if code.endswith("AccessMode"):
            return QueryError(f"queries only read: {said}")
        if isinstance(error, ClientError | ValueError | TypeError | OverflowError):
            return QueryError(said)
        if isinstance(error, ServiceUnavailable | DriverError):
            return StoreError(f"{at}: no server answers: {said}. Is it started? See `graphstore doctor`")
        return StoreError(f"{at}: {said}")


class _OutOfMemoryError(QueryError):
    """Raised inside the work, where the driver's retries can't see it as an error of theirs."""


def _no_memory_retry(work: Work[T]) -> Work[T]:
    def guarded(transaction: neo4j.ManagedTransaction) -> T:
        try:
            return work(transaction)
        except TransientError as error:
            if _MEMORY in (error.code or ""):
                raise _OutOfMemoryError(
                    f"the query needs more memory than the server gives; narrow it: {one_line(error)}"
                ) from error
            raise

    return guarded


def one_line(error: BaseException) -> str:
    """Return the message of an error on one line; of a server's error its own words without codes."""
    said = error.message if isinstance(error, Neo4jError) else str(error)
    return " ".join(str(said).split()) or type(error).__name__


def without_user(address: str) -> str:
    """Return an address without the name and password somebody may have written into it."""
    return re.sub(r"//[^/]*@", "//", address)
