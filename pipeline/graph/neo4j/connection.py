"""The connection to Neo4j: one pool of connections, one vocabulary of errors, each request reported."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from functools import lru_cache
from typing import Any, Protocol, cast

import neo4j
from neo4j.exceptions import (
    AuthConfigurationError,
    AuthError,
    ConfigurationError,
    ConnectionPoolError,
    ConstraintError,
    DriverError,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
)

from pipeline.errors import Fenced, Retryable, SettingError
from pipeline.observer import Observer

Row = dict[str, Any]

CONNECT_SECONDS = 5.0
ACQUIRE_SECONDS = 30.0
# A connection that lay idle longer than this is tested before use: servers and proxies close idle ones in silence.
LIVENESS_SECONDS = 30.0
# The database ends a writing transaction after this long. A frozen worker keeps its connection and with it the locks of
# its group, which the worker that has taken over would otherwise wait for until the first one wakes up.
TRANSACTION_SECONDS = 120.0

# The driver does not count these as passing: the server or its operator ended a transaction, it waited too long, or
# the database has stopped and waits for a restart.
_PASSING = frozenset(
    (
        "Neo.ClientError.Transaction.Terminated",
        "Neo.ClientError.Transaction.LockClientStopped",
        "Neo.ClientError.Transaction.TransactionTimedOut",
        "Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration",
        "Neo.DatabaseError.Transaction.TransactionStartFailed",
        "Neo.DatabaseError.Transaction.TransactionLogError",
    )
)


_PARAMETER = re.compile(r"\$(\w+)")


@lru_cache(maxsize=2048)
def with_one_parameter(query: str) -> str:
    """The query with `$p.name` in place of each `$name`.

    Neo4j makes a plan of its own for every combination of the sizes (none, one, up to 10, up to 100, ...) of the lists
    and texts that are parameters; a query with six lists was planned dozens of times, for a second each. It does not
    look into a map.
    """
    return _PARAMETER.sub(r"$p.\1", query)


class Transaction(Protocol):
    """An open transaction, as `Neo4jConnection.transaction` yields it."""

    async def run(self, query: str, params: Mapping[str, Any]) -> list[Row]:
        """Run one statement and answer all of its rows."""


class _DriverTransaction:
    def __init__(self, transaction: neo4j.AsyncTransaction) -> None:
        self._transaction = transaction

    async def run(self, query: str, params: Mapping[str, Any]) -> list[Row]:
        result = await self._transaction.run(with_one_parameter(query), {"p": dict(params)})
        return [dict(record) async for record in result]


class Neo4jConnection:
    """A pool of connections to one database.

    Raises Retryable for all that passes by itself (no connection, deadlock, change of leader), Fenced when a
    uniqueness constraint stops a write (another worker wrote the same thing first), SettingError for refused
    credentials. Other errors of the database are passed on as they are: repeating the statement would not help.
    """

    def __init__(
        self,
        uri: str,
        user: str | None,
        password: str | None,
        database: str,
        observer: Observer,
        pool_size: int = 50,
        transaction_seconds: float | None = None,
    ) -> None:
        self._uri = uri
        self._auth = (user, password or "") if user is not None else None
        self._database = database
        self._observer = observer
        self._pool_size = pool_size
        self._transaction_seconds = transaction_seconds or TRANSACTION_SECONDS
        self._driver: neo4j.AsyncDriver | None = None

    async def open(self) -> None:
        """Make the pool and check that the database answers. Opening an open connection does nothing."""
        if self._driver is not None:
            return
        try:
            driver = neo4j.AsyncGraphDatabase.driver(
                self._uri,
                auth=self._auth,
                max_connection_pool_size=self._pool_size,
                connection_timeout=CONNECT_SECONDS,
                connection_acquisition_timeout=ACQUIRE_SECONDS,
                liveness_check_timeout=LIVENESS_SECONDS,
                notifications_min_severity="OFF",
                user_agent="factstream",
            )
        except (ConfigurationError, ValueError) as error:
            raise SettingError(f"the address of Neo4j cannot be used: {error}") from error
        self._driver = driver
        try:
            await self.run("open", "RETURN 1 AS answer", {})
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Close the pool; closing twice does nothing."""
        driver, self._driver = self._driver, None
        if driver is not None:
            await driver.close()

    async def run(
        self, operation: str, query: str, params: Mapping[str, Any], seconds: float | None = None
    ) -> list[Row]:
        """One reading statement in one round trip; all of its rows. The database ends it after so many seconds."""
        return await self._single(operation, query, params, neo4j.READ_ACCESS, seconds)

    async def write(self, operation: str, query: str, params: Mapping[str, Any]) -> list[Row]:
        """One writing statement in one round trip, a transaction by itself; all of its rows."""
        return await self._single(operation, query, params, neo4j.WRITE_ACCESS)

    async def stream(self, operation: str, query: str, params: Mapping[str, Any]) -> AsyncIterator[Row]:
        """One reading statement, its rows as they come: for more of them than memory should hold."""
        with self._measured(operation), _translated():
            async with self._session(neo4j.READ_ACCESS) as session:
                async for record in await session.run(with_one_parameter(query), {"p": dict(params)}):
                    yield dict(record)

    @asynccontextmanager
    async def transaction(self, operation: str) -> AsyncIterator[Transaction]:
        """One writing transaction: committed at the end of the block, rolled back when the block raises."""
        with self._measured(operation), _translated():
            async with (
                self._session(neo4j.WRITE_ACCESS) as session,
                await session.begin_transaction(timeout=self._transaction_seconds) as open_,
            ):
                yield _DriverTransaction(open_)
                await open_.commit()

    async def _single(
        self,
        operation: str,
        query: str,
        params: Mapping[str, Any],
        access: str,
        seconds: float | None = None,
    ) -> list[Row]:
        # The driver wants constant text here; ours is put together from constants only.
        timed = neo4j.Query(cast(Any, with_one_parameter(query)), timeout=seconds)
        with self._measured(operation), _translated():
            async with self._session(access) as session:
                result = await session.run(timed, {"p": dict(params)})
                return [dict(record) async for record in result]

    def _session(self, access: str) -> neo4j.AsyncSession:
        if self._driver is None:
            raise Retryable("the connection to Neo4j is not open")
        return self._driver.session(database=self._database, default_access_mode=access)

    @contextmanager
    def _measured(self, operation: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            self._observer.graph_round_trip(operation, time.perf_counter() - started)


_OTHER_DIMENSION = "51N65"
"""GQL status of a vector whose length is not that of the index."""
_BAD_ARGUMENT = "22N38"
"""GQL status of a function's argument; of those in our queries only the similarity of two vectors answers it."""


@contextmanager
def _translated() -> Iterator[None]:
    """Errors of the driver in the vocabulary of the pipeline."""
    try:
        yield
    except ConstraintError as error:
        raise Fenced(f"Neo4j: {error.message}") from error
    except Neo4jError as error:
        if error.is_retryable() or error.code in _PASSING:
            raise Retryable(f"Neo4j: {error.code}: {error.message}") from error
        if isinstance(error, AuthError):
            raise SettingError(f"Neo4j refuses the user or the password: {error.message}") from error
        if error.gql_status == _OTHER_DIMENSION or (
            error.gql_status == _BAD_ARGUMENT and "vector.similarity" in (error.message or "")
        ):
            raise SettingError(f"the embedder does not fit the graph: {error.message}") from error
        raise
    except (ServiceUnavailable, SessionExpired, ConnectionPoolError, OSError) as error:
        raise Retryable(f"Neo4j does not answer: {error}") from error
    except (ConfigurationError, AuthConfigurationError) as error:
        raise SettingError(f"Neo4j cannot be used as configured: {error}") from error
    except DriverError as error:
        if error.is_retryable():
            raise Retryable(f"Neo4j does not answer: {error}") from error
        raise
