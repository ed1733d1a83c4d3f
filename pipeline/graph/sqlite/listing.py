"""SqliteListing: everything that a group holds, a page at a time, in the order in which it was first stored."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pipeline.graph.search import StoredEpisode
from pipeline.graph.sqlite import schema
from pipeline.graph.sqlite.codec import read_entity
from pipeline.graph.sqlite.database import Database
from pipeline.graph.sqlite.items import stored_episode
from pipeline.graph.sqlite.writes import group_no
from pipeline.model.entity import Entity
from pipeline.model.fact import Fact
from pipeline.observer import Observer, SilentObserver

T = TypeVar("T")
Page = Sequence[tuple[int, T]]
"""Items with their numbers; the last number is where the next page begins."""

GROUPS = "SELECT id FROM groups ORDER BY id"
EPISODES = """
SELECT no, body, state, usage, created_at, reason FROM episode
WHERE group_no = :group AND no > :after ORDER BY no LIMIT :limit"""
ENTITIES = """
SELECT no, body, community_id FROM entity WHERE group_no = :group AND no > :after ORDER BY no LIMIT :limit"""
FACTS = "SELECT no, body FROM fact WHERE group_no = :group AND no > :after ORDER BY no LIMIT :limit"
NAMED = """
SELECT e.body, e.community_id FROM entity_key k JOIN entity e ON e.no = k.entity_no
WHERE k.group_no = :group AND k.key = :key ORDER BY e.no"""


class SqliteListing:
    """Reads a graph file as a whole, beside its writer. Every page is a snapshot of its own.

    Args:
        path: the file; it must be there.
        busy_seconds: how long a read waits for a lock.
    """

    def __init__(
        self, path: str | Path, *, observer: Observer | None = None, busy_seconds: float = 10.0
    ) -> None:
        self._database = Database(
            Path(path), create=False, observer=observer or SilentObserver(), busy_seconds=busy_seconds
        )

    async def open(self) -> None:
        """Connect. Raises Retryable while there is no graph, SettingError when the file is none."""
        await self._database.open_with(schema.check)

    async def close(self) -> None:
        """Let go of the file."""
        await self._database.close()

    async def embedding(self) -> tuple[int, str | None]:
        """The dimension of the vectors, and the name of their model, where it is noted."""

        def work(connection: sqlite3.Connection) -> tuple[int, str | None]:
            return schema.check(connection), schema.embedding_model(connection)

        return await self._database.read("embedding", work)

    async def groups(self) -> list[str]:
        """The ids of all groups."""
        return await self._database.read("list_groups", lambda c: [row[0] for row in c.execute(GROUPS)])

    async def episodes(self, group_id: str, after: int = 0, limit: int = 500) -> Page[StoredEpisode]:
        """Episodes with their state, without what came out of them."""
        return await self._page(EPISODES, group_id, after, limit, lambda row: stored_episode(*row))

    async def entities(self, group_id: str, after: int = 0, limit: int = 500) -> Page[Entity]:
        """Entities."""
        return await self._page(ENTITIES, group_id, after, limit, lambda row: read_entity(*row))

    async def facts(self, group_id: str, after: int = 0, limit: int = 500) -> Page[Fact]:
        """Facts with their histories."""
        return await self._page(FACTS, group_id, after, limit, lambda row: Fact.model_validate_json(row[0]))

    async def named(self, group_id: str, key: str) -> list[Entity]:
        """The entities that have a key (see pipeline.identity), of whatever type."""

        def work(connection: sqlite3.Connection) -> list[Entity]:
            place = {"group": group_no(connection, group_id), "key": key}
            return [read_entity(*row) for row in connection.execute(NAMED, place)]

        return await self._database.read("list_named", work)

    async def _page(
        self, query: str, group_id: str, after: int, limit: int, read: Callable[[tuple[Any, ...]], T]
    ) -> list[tuple[int, T]]:
        def work(connection: sqlite3.Connection) -> list[tuple[int, T]]:
            place = {"group": group_no(connection, group_id), "after": after, "limit": limit}
            return [(no, read(tuple(row))) for no, *row in connection.execute(query, place)]

        return await self._database.read("list_page", work)
