"""Everything that a graph file holds of one group, for comparing graphs."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from pipeline.graph.digest import GroupDump
from pipeline.graph.sqlite import schema
from pipeline.graph.sqlite.codec import read_entity
from pipeline.graph.sqlite.database import Database
from pipeline.graph.sqlite.items import stored_episode
from pipeline.graph.sqlite.writes import group_no
from pipeline.model.fact import Fact
from pipeline.observer import SilentObserver
from pipeline.timeline.evidence import Evidence

EPISODES = "SELECT body, state, usage, created_at, reason FROM episode WHERE group_no = ? ORDER BY id"
ENTITIES = "SELECT body, community_id FROM entity WHERE group_no = ? ORDER BY id"
FACTS = "SELECT body FROM fact WHERE group_no = ? ORDER BY id"
EVIDENCE = "SELECT body FROM evidence WHERE group_no = ? ORDER BY id"
MENTIONS = """
SELECT m.episode_id, e.id FROM mention m JOIN entity e ON e.no = m.entity_no WHERE m.group_no = ? ORDER BY 1, 2"""
MEMBERSHIPS = """
SELECT community_id, id FROM entity WHERE group_no = ? AND community_id IS NOT NULL ORDER BY 1, 2"""


class SqliteDump:
    """Reads whole groups of a file, beside its writer.

    Args:
        path: the file; Retryable from `dump` while it is not there.
    """

    def __init__(self, path: str | Path) -> None:
        self._database = Database(Path(path), create=False, observer=SilentObserver(), busy_seconds=10.0)

    async def dump(self, group_id: str) -> GroupDump:
        """All of a group at once, in memory, as one snapshot shows it."""
        await self._database.open()
        try:
            return await self._database.read("dump", lambda c: _dump(c, group_id))
        finally:
            await self._database.close()


def _dump(connection: sqlite3.Connection, group_id: str) -> GroupDump:
    schema.check(connection)
    place = (group_no(connection, group_id),)
    return GroupDump(
        group_id=group_id,
        episodes=tuple(stored_episode(*row) for row in connection.execute(EPISODES, place)),
        entities=tuple(read_entity(*row) for row in connection.execute(ENTITIES, place)),
        facts=tuple(Fact.model_validate_json(row[0]) for row in connection.execute(FACTS, place)),
        evidence=tuple(Evidence.model_validate_json(row[0]) for row in connection.execute(EVIDENCE, place)),
        mentions=tuple(connection.execute(MENTIONS, place).fetchall()),
        memberships=tuple(connection.execute(MEMBERSHIPS, place).fetchall()),
    )
