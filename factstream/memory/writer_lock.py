"""WriterLock: one writing process per graph file."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from pipeline.errors import SettingError


class WriterLock:
    """Holds a file as its only writer, from `acquire` to `release` or to the end of the process, however it ends.

    The lock is an open exclusive transaction on an empty SQLite file beside the graph, `NAME-writer`: SQLite knows how
    to lock on every system, and the system lets go of it when the process is killed. The graph file itself stays
    free for readers.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None

    def acquire(self) -> None:
        """Raises SettingError when another process, or another object of this one, writes to the file."""
        if not self._path.parent.is_dir():
            raise SettingError(f"the folder of the graph file {self._path} does not exist")
        beside = self._path.with_name(self._path.name + "-writer")
        connection = sqlite3.connect(beside, timeout=0, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            connection.close()
            raise SettingError(
                f"{self._path} cannot be written: another process has it open for writing, or the folder is read only "
                f"({error}). Any number of processes may read it: Memory(…, read_only=True)"
            ) from error
        self._connection = connection

    def release(self) -> None:
        """Let go; a second time is nothing."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
