"""Inbox: events that were accepted and are not through all stages, durable, in the order of their arrival.

It is a table of the graph's own file, so that one file holds everything. A row goes when its episode is finished;
what a killed process leaves is read again at the next start, and stages that have done their part do nothing then.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from pipeline.graph.sqlite.codec import json_list, micros, moment
from pipeline.graph.sqlite.database import Database
from pipeline.observer import Observer

FLUSH = 256
"""Finished rows that wait for the next write; a row that is read again after a crash costs a repeat, no more."""

TABLE = """
CREATE TABLE IF NOT EXISTS inbox (
    no INTEGER PRIMARY KEY AUTOINCREMENT, group_id TEXT NOT NULL, episode_id TEXT NOT NULL,
    logged_at INTEGER NOT NULL, value BLOB NOT NULL, dead TEXT)"""
LAST = "SELECT seq FROM sqlite_sequence WHERE name = 'inbox'"
ADD = "INSERT INTO inbox (no, group_id, episode_id, logged_at, value) VALUES (?, ?, ?, ?, ?)"
WAITING = """
SELECT no, group_id, episode_id, logged_at, value FROM inbox
WHERE no > :after AND dead IS NULL AND no NOT IN (SELECT value FROM json_each(:busy)) ORDER BY no LIMIT :limit"""
REMOVE = "DELETE FROM inbox WHERE no IN (SELECT value FROM json_each(?))"
BURY = "UPDATE inbox SET dead = :reason WHERE no = :no"
DEAD = "SELECT no, group_id, episode_id, logged_at, value, dead FROM inbox WHERE dead IS NOT NULL ORDER BY no"
REMEMBER = "INSERT OR IGNORE INTO setting VALUES (:name, :value)"
REMEMBERED = "SELECT value FROM setting WHERE name = :name"
RESERVE = "INSERT INTO inbox (no, group_id, episode_id, logged_at, value) VALUES (?, '', '', 0, '')"
RELEASE = "DELETE FROM inbox WHERE no = ?"
REVIVE = "UPDATE inbox SET dead = NULL WHERE no = ?"


class Acceptable(Protocol):
    """A validated event: its id and group, and its JSON text."""

    @property
    def id(self) -> str: ...

    @property
    def group_id(self) -> str: ...

    @property
    def value(self) -> bytes: ...


@dataclass(frozen=True)
class Entry:
    """An accepted event. `no` is its place in the order of arrival, over all groups."""

    no: int
    group_id: str
    episode_id: str
    logged_at: datetime
    value: bytes


@dataclass(frozen=True)
class DeadEntry(Entry):
    """An event that was given up, and why."""

    reason: str


class Inbox:
    """The table over a connection of its own, on a file that the graph store has created."""

    def __init__(self, path: Path, observer: Observer, busy_seconds: float = 10.0) -> None:
        self._database = Database(path, create=True, observer=observer, busy_seconds=busy_seconds)
        self._done: set[int] = set()

    async def open(self) -> None:
        """Connect, and create the table unless it is there."""
        await self._database.open()
        await self._database.write("inbox_open", lambda c: c.execute(TABLE) and None)

    async def close(self) -> None:
        """Write down what is finished and let go of the file."""
        await self.flush()
        await self._database.close()

    async def remember(self, name: str, value: str) -> str:
        """Note something about the file unless it is noted; what stands there."""

        def work(connection: sqlite3.Connection) -> str:
            connection.execute(REMEMBER, {"name": name, "value": value})
            return str(connection.execute(REMEMBERED, {"name": name}).fetchone()[0])

        return await self._database.write("inbox_remember", work)

    async def append(self, records: Sequence[Acceptable], at: datetime) -> list[int]:
        """Keep the events, all or none; their numbers. When this returns they outlive a kill and a power cut.

        A number is the time in milliseconds with 20 bits below, and at least one more than the last: the order of
        arrival holds if the clock is set back, and goes on where an import from Kafka's log ends.
        """
        done = sorted(self._done)

        def work(connection: sqlite3.Connection) -> list[int]:
            row = connection.execute(LAST).fetchone()
            first = max(round(at.timestamp() * 1000) << 20, (row[0] if row else 0) + 1)
            numbers = list(range(first, first + len(records)))
            connection.executemany(
                ADD,
                [(no, r.group_id, r.id, micros(at), r.value) for no, r in zip(numbers, records, strict=True)],
            )
            connection.execute(REMOVE, (json_list(done),))
            return numbers

        numbers = await self._database.write("inbox_append", work)
        self._done.difference_update(done)
        return numbers

    async def go_on_after(self, number: int) -> None:
        """Give only numbers above this one from now on, so that what comes is newer than what was imported."""

        def work(connection: sqlite3.Connection) -> None:
            row = connection.execute(LAST).fetchone()
            if row is None or row[0] < number:
                connection.execute(RESERVE, (number,))
                connection.execute(RELEASE, (number,))

        await self._database.write("inbox_reserve", work)

    async def waiting(self, after: int, limit: int, busy: Collection[int] = ()) -> list[Entry]:
        """The next events behind a number, in order, without those that are being worked on (`busy`)."""
        known = {"after": after, "limit": limit, "busy": json_list((*busy, *self._done))}
        rows = await self._database.read("inbox_waiting", lambda c: c.execute(WAITING, known).fetchall())
        return [Entry(no, group, episode, moment(at), value) for no, group, episode, at, value in rows]

    async def finish(self, no: int) -> None:
        """The event needs nothing more. Its row goes with a later write."""
        self._done.add(no)
        if len(self._done) >= FLUSH:
            await self.flush()

    async def flush(self) -> None:
        """Remove the rows of finished events now."""
        if done := sorted(self._done):
            await self._database.write(
                "inbox_flush", lambda c: c.execute(REMOVE, (json_list(done),)) and None
            )
            self._done.difference_update(done)

    async def discard(self, numbers: Sequence[int]) -> None:
        """Remove events, whatever has become of them."""
        await self._database.write(
            "inbox_discard", lambda c: c.execute(REMOVE, (json_list(numbers),)) and None
        )

    async def bury(self, no: int, reason: str) -> None:
        """Keep the event as dead, with the reason."""
        row = {"no": no, "reason": reason}
        await self._database.write("inbox_bury", lambda c: c.execute(BURY, row) and None)

    async def dead(self) -> list[DeadEntry]:
        """All dead events, oldest first."""
        rows = await self._database.read("inbox_dead", lambda c: c.execute(DEAD).fetchall())
        return [DeadEntry(no, g, e, moment(at), value, reason) for no, g, e, at, value, reason in rows]

    async def revive(self, numbers: Sequence[int]) -> None:
        """Let dead events wait again, at their old places."""
        await self._database.write(
            "inbox_revive", lambda c: c.executemany(REVIVE, [(no,) for no in numbers]) and None
        )
