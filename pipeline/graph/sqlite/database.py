"""One connection in one thread of its own, so that the event loop never waits for a disk."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from pipeline.errors import Retryable, SettingError
from pipeline.observer import Observer

T = TypeVar("T")

_NOT_OURS = {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT}
_LATER = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_READONLY,
}


STEPS = 20_000
"""Instructions of SQLite's machine between two looks at whether a read is still wanted: well below a millisecond."""


def _interruptible(
    connection: sqlite3.Connection, work: Callable[[sqlite3.Connection], T], given_up: threading.Event
) -> T:
    """Run `work`; OperationalError "interrupted" soon after it was given up."""
    connection.set_progress_handler(given_up.is_set, STEPS)
    try:
        return work(connection)
    finally:
        connection.set_progress_handler(None, 0)


class Database:
    """Runs functions over a connection, each in one transaction: a snapshot to read, or the file's one writer.

    Calls are handled in the order in which they came. One that is cancelled is dropped; when it has begun, a reading one
    is interrupted inside the database, and a writing one runs to its end. What is not `durable` may lose its last transactions in a power cut, never in a crash.
    """

    def __init__(
        self, path: Path, *, create: bool, observer: Observer, busy_seconds: float, durable: bool = True
    ) -> None:
        self._path = path
        self._create = create
        self._observer = observer
        self._busy_seconds = busy_seconds
        self._durable = durable
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="sqlite-graph")
        self._connection: sqlite3.Connection | None = None

    async def open(self) -> None:
        """Connect; Retryable when the file is not there and is not to be created. Again: nothing."""
        await self._in_thread(self._connect)

    async def open_with(self, prepare: Callable[[sqlite3.Connection], T]) -> T:
        """Connect and run `prepare`, which may write where the file may be created. Not open when that raises."""
        await self.open()
        try:
            return await (self.write if self._create else self.read)("open", prepare)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Let go of the file; it can be opened again."""
        await self._in_thread(self._disconnect)

    async def read(self, operation: str, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` over one snapshot of the file."""
        given_up = threading.Event()
        try:
            return await self._run(operation, "BEGIN", lambda c: _interruptible(c, work, given_up))
        except asyncio.CancelledError:
            given_up.set()
            raise

    async def write(self, operation: str, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` as one transaction: all of it is written, or nothing when it raises."""
        return await self._run(operation, "BEGIN IMMEDIATE", work)

    async def empty_journal(self) -> None:
        """Move the write-ahead log into the file and cut it off, so that it holds no deleted rows. A reader that is
        still at an older state keeps it until the next time."""
        await self._in_thread(self._checkpoint)

    async def _run(self, operation: str, begin: str, work: Callable[[sqlite3.Connection], T]) -> T:
        started = time.perf_counter()
        try:
            return await self._in_thread(lambda: self._transaction(begin, work))
        finally:
            self._observer.graph_round_trip(operation, time.perf_counter() - started)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, lambda: self._translated(work))

    def _translated(self, work: Callable[[], T]) -> T:
        try:
            return work()
        except sqlite3.DatabaseError as error:
            # An extended code carries its primary code in the low byte.
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code in _NOT_OURS:
                raise SettingError(f"{self._path} is no SQLite database, or is damaged: {error}") from error
            if code in _LATER:
                raise Retryable(f"{self._path}: {error}") from error
            raise

    def _transaction(self, begin: str, work: Callable[[sqlite3.Connection], T]) -> T:
        if self._connection is None:
            raise Retryable(f"{self._path} is not open")
        connection = self._connection
        connection.execute(begin)
        try:
            answer = work(connection)
            connection.execute("COMMIT")
        except BaseException:
            # A full disk may have ended the transaction already.
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        return answer

    def _connect(self) -> None:
        if self._connection is not None:
            return
        if not self._create and not self._path.exists():
            raise Retryable(
                f"there is no graph file {self._path} yet: start its writer, or name another path"
            )
        if self._create and not self._path.parent.is_dir():
            raise SettingError(f"the folder of the graph file {self._path} does not exist")
        mode = "rwc" if self._create else "rw"
        connection = sqlite3.connect(
            f"{self._path.absolute().as_uri()}?mode={mode}",
            uri=True,
            timeout=self._busy_seconds,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
        try:
            if self._create:
                connection.execute("PRAGMA journal_mode = WAL")
            else:
                connection.execute("PRAGMA query_only = ON")
            # In WAL mode NORMAL can lose the last commits of a power cut; marks must outlive one.
            connection.execute(f"PRAGMA synchronous = {'FULL' if self._durable else 'OFF'}")
            connection.execute("PRAGMA foreign_keys = ON")
            # What is deleted is overwritten with zeros: forgetting must leave nothing in the file.
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute("PRAGMA cache_size = -65536")
        except BaseException:
            connection.close()
            raise
        self._connection = connection

    def _checkpoint(self) -> None:
        if self._connection is not None:
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
