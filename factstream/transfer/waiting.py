"""The events of a graph file that are accepted and not through all stages, read beside its writer."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import orjson

from factstream.transfer.archive_file import EventRecord
from pipeline.graph.sqlite.codec import moment
from pipeline.graph.sqlite.database import Database
from pipeline.observer import SilentObserver

HAS_INBOX = "SELECT 1 FROM sqlite_schema WHERE name = 'inbox'"
EVENTS = "SELECT episode_id, group_id, logged_at, value, dead FROM inbox ORDER BY no"


async def waiting_events(path: Path) -> list[EventRecord]:
    """In the order of their arrival. Some may be finished and not taken out yet; to finish them again does nothing."""
    database = Database(path, create=False, observer=SilentObserver(), busy_seconds=10.0)
    await database.open()
    try:
        return await database.read("waiting", _events)
    finally:
        await database.close()


def _events(connection: sqlite3.Connection) -> list[EventRecord]:
    if connection.execute(HAS_INBOX).fetchone() is None:
        return []
    return [
        EventRecord(id=i, group_id=group, logged_at=moment(at), event=orjson.loads(value), dead=dead)
        for i, group, at, value, dead in connection.execute(EVENTS)
    ]
