"""SqliteGraphReader: the read side of the graph in one file."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from pipeline.graph.search import Candidates, Place, Progress, SearchPlan, SlotStart, StoredEpisode
from pipeline.graph.sqlite import queries_read as queries
from pipeline.graph.sqlite import schema
from pipeline.graph.sqlite.codec import UNBOUNDED_FROM, UNBOUNDED_TO, json_list, micros, read_entity
from pipeline.graph.sqlite.communities import read_one
from pipeline.graph.sqlite.conditions import NOW
from pipeline.graph.sqlite.database import Database
from pipeline.graph.sqlite.items import stored_episode
from pipeline.graph.sqlite.legs import Search
from pipeline.graph.sqlite.vectors import VectorIndex
from pipeline.graph.sqlite.writes import group_no
from pipeline.model.community import Community
from pipeline.model.entity import Entity
from pipeline.model.episode import EpisodeState
from pipeline.model.fact import Fact, last_view
from pipeline.observer import Observer, SilentObserver

T = TypeVar("T")

_START_OF_TIME = datetime.min.replace(tzinfo=UTC)


class SqliteGraphReader:
    """The GraphReader port over the file that a SqliteGraphStore of this or another process writes.

    Every read sees one snapshot and goes on while a writer commits. Vectors of the groups that are searched are held
    in memory up to `vector_bytes`, and kept up to date by what was written since.

    Args:
        path: the file; it must be there (Retryable from `open` while it is not).
        observer: hears of each call with its time.
        busy_seconds: how long a call waits for a lock, which readers need only while the file is recovered.
        vector_bytes: memory for vectors.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        observer: Observer | None = None,
        busy_seconds: float = 10.0,
        vector_bytes: int = 1 << 30,
    ) -> None:
        self._vector_bytes = vector_bytes
        self._vectors = VectorIndex(1, vector_bytes)
        self._database = Database(
            Path(path), create=False, observer=observer or SilentObserver(), busy_seconds=busy_seconds
        )

    async def open(self) -> None:
        """Connect. SettingError when the file is none that this version can read."""
        dimension = await self._database.open_with(schema.check)
        self._vectors = VectorIndex(dimension, self._vector_bytes)

    async def close(self) -> None:
        """Let go of the file."""
        await self._database.close()

    async def ping(self) -> None:
        """Read the file's version."""
        await self._database.read("ping", schema.check)

    async def search(self, plan: SearchPlan) -> Candidates:
        """All legs over one snapshot."""
        return await self._database.read("search", lambda c: Search(c, self._vectors, plan).run())

    async def episode(self, group_id: str, episode_id: str) -> StoredEpisode | None:
        """With the facts that it supports or once supported, oldest first, and its entities."""

        def work(connection: sqlite3.Connection, group: int) -> StoredEpisode | None:
            place = {"group": group, "id": episode_id}
            row = connection.execute(queries.EPISODE, place).fetchone()
            if row is None:
                return None
            facts = connection.execute(queries.EPISODE_FACTS, place)
            entities = connection.execute(queries.EPISODE_ENTITIES, place)
            return replace(
                stored_episode(*row),
                facts=tuple(Fact.model_validate_json(body) for (body,) in facts),
                entities=tuple(read_entity(body, community) for body, community in entities),
            )

        return await self._in_group("read_episode", group_id, work, None)

    async def state(self, group_id: str, episode_id: str) -> Progress | None:
        """One row of one table."""

        def work(connection: sqlite3.Connection, group: int) -> Progress | None:
            row = connection.execute(queries.EPISODE_STATE, {"group": group, "id": episode_id}).fetchone()
            return Progress(EpisodeState(row[0]), row[1]) if row else None

        return await self._in_group("read_state", group_id, work, None)

    async def episodes(
        self, group_id: str, *, before: datetime | Place | None, limit: int, thread_id: str | None
    ) -> Sequence[StoredEpisode]:
        """Newest reference time first, and of the same time the last to arrive first."""

        def work(connection: sqlite3.Connection, group: int) -> list[StoredEpisode]:
            query = queries.EPISODES if thread_id is None else queries.EPISODES_OF_THREAD
            place = {
                "group": group,
                "thread": thread_id,
                **_before(before),
                "limit": limit,
            }
            return [stored_episode(*row) for row in connection.execute(query, place)]

        return await self._in_group("list_episodes", group_id, work, [])

    async def fact(self, group_id: str, fact_id: str) -> Fact | None:
        """One fact with its history."""

        def work(connection: sqlite3.Connection, group: int) -> Fact | None:
            row = connection.execute(queries.FACT, {"group": group, "id": fact_id}).fetchone()
            return Fact.model_validate_json(row[0]) if row else None

        return await self._in_group("read_fact", group_id, work, None)

    async def hyperedges(self, group_id: str, ids: Sequence[str]) -> Sequence[Fact]:
        """The facts that share an id, oldest first. A file that no writer of this version has opened has none."""

        def work(connection: sqlite3.Connection, group: int) -> list[Fact]:
            if connection.execute(queries.HAS_HYPEREDGES).fetchone() is None:
                return []
            rows = connection.execute(queries.HYPEREDGES, {"group": group, "ids": json_list(ids)})
            return [Fact.model_validate_json(body) for (body,) in rows]

        return await self._in_group("read_hyperedges", group_id, work, [])

    async def values_before(
        self, group_id: str, starts: Sequence[SlotStart], known_at: datetime | None
    ) -> Sequence[Fact]:
        """What stood in each slot before, over one snapshot."""

        def work(connection: sqlite3.Connection, group: int) -> list[Fact]:
            found: dict[str, str] = {}
            for one in starts:
                place = {
                    "group": group,
                    "source": one.source,
                    "relation": one.relation,
                    "target": one.target,
                    "symmetric": one.symmetric,
                    "start": micros(one.start),
                    "known": NOW if known_at is None else micros(known_at),
                }
                found.update(connection.execute(queries.VALUE_BEFORE, place).fetchall())
            return [Fact.model_validate_json(body) for body in found.values()]

        return await self._in_group("read_values_before", group_id, work, [])

    async def entity(self, group_id: str, entity_id: str) -> Entity | None:
        """One entity."""
        return await self._in_group("read_entity", group_id, lambda c, g: _entity(c, g, entity_id), None)

    async def entity_facts(self, group_id: str, entity_id: str) -> Sequence[Fact] | None:
        """All facts of an entity by the start that is or was last believed, unknown starts first."""

        def work(connection: sqlite3.Connection, group: int) -> list[Fact] | None:
            if _entity(connection, group, entity_id) is None:
                return None
            rows = connection.execute(queries.ENTITY_FACTS, {"group": group, "id": entity_id})
            return sorted((Fact.model_validate_json(body) for (body,) in rows), key=_start)

        return await self._in_group("read_entity_facts", group_id, work, None)

    async def community(self, group_id: str, community_id: str) -> Community | None:
        """One community with its members."""
        return await self._in_group(
            "read_community", group_id, lambda c, g: read_one(c, g, community_id), None
        )

    async def _in_group(
        self, operation: str, group_id: str, work: Callable[[sqlite3.Connection, int], T], nothing: T
    ) -> T:
        def run(connection: sqlite3.Connection) -> T:
            group = group_no(connection, group_id)
            return nothing if group is None else work(connection, group)

        return await self._database.read(operation, run)


def _entity(connection: sqlite3.Connection, group: int, entity_id: str) -> Entity | None:
    row = connection.execute(queries.ENTITY, {"group": group, "id": entity_id}).fetchone()
    return read_entity(row[0], row[1]) if row else None


def _before(before: datetime | Place | None) -> dict[str, int]:
    """Of a time: before everything that happened then."""
    if isinstance(before, Place):
        return {"before": micros(before.reference_time), "sequence": before.sequence}
    return {"before": UNBOUNDED_TO if before is None else micros(before), "sequence": UNBOUNDED_FROM}


def _start(fact: Fact) -> tuple[datetime, datetime, str]:
    shown = last_view(fact)
    return shown.valid_at or _START_OF_TIME, shown.created_at, fact.id
