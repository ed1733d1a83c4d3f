"""GraphReader on Neo4j: every search and every read by id is one round trip."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from pipeline.clock import Clock, system_clock
from pipeline.errors import Retryable
from pipeline.graph.neo4j import codec
from pipeline.graph.neo4j import queries_read as queries
from pipeline.graph.neo4j.connection import Neo4jConnection, Row
from pipeline.graph.neo4j.planned import PlannedShapes
from pipeline.graph.neo4j.properties import slot_id
from pipeline.graph.neo4j.queries_search import search_query
from pipeline.graph.neo4j.schema import READ_VERSION, SCHEMA_VERSION, ping_schema
from pipeline.graph.neo4j.search_params import params_of, shape_of
from pipeline.graph.neo4j.search_rows import candidates_of
from pipeline.graph.neo4j.warming import NOBODY, Warming, common_plans
from pipeline.graph.search import Candidates, Place, Progress, SearchPlan, SlotStart, StoredEpisode
from pipeline.model.community import Community
from pipeline.model.entity import Entity
from pipeline.model.episode import EpisodeState
from pipeline.model.fact import Fact, last_view

WARMING_SECONDS = 120.0
"""How long the planning of one search may take: a database that has just started is slow."""

_START_OF_TIME = datetime.min.replace(tzinfo=UTC)


class Neo4jGraphReader:
    """The read side on Neo4j.

    The database itself ends a request after `timeout` seconds; that, like every outage, is Retryable. `clock` tells
    whether a search is about now. The connection is opened and closed with the reader. With `warm` the common
    searches are planned in the background from the first successful `ping`, which is Retryable until that is over.
    """

    def __init__(
        self,
        connection: Neo4jConnection,
        timeout: float = 10.0,
        clock: Clock = system_clock,
        *,
        warm: bool = False,
    ) -> None:
        self._connection = connection
        self._timeout = timeout
        self._clock = clock
        self._warming = Warming() if warm else None
        self._shapes = PlannedShapes()

    async def open(self) -> None:
        """Connect."""
        await self._connection.open()

    async def close(self) -> None:
        """Let go of connections."""
        if self._warming is not None:
            await self._warming.stop()
        await self._shapes.close()
        await self._connection.close()

    async def ping(self) -> None:
        """Retryable when the database does not answer, an index is not online, or the schema is of another version."""
        dimension = await ping_schema(self._connection)
        version = (await self._run("ping", READ_VERSION, {}))[0]["version"]
        if version != SCHEMA_VERSION:
            raise Retryable(
                f"the graph has schema version {version}, this program reads version {SCHEMA_VERSION}"
            )
        if self._warming is not None:
            # Not at `open`: a graph that no writer has prepared yet has no indexes to search.
            self._warming.start(common_plans(dimension), lambda plan: self._search(plan, WARMING_SECONDS))
            self._warming.check()

    async def search(self, plan: SearchPlan) -> Candidates:
        """All legs in one round trip; none when no method has anything to go by.

        Filters apply to the scopes that have what they ask for: `relations` and `invalid_at` to facts, `entity_types`
        to facts and entities, `valid_at` to facts and (reference time) episodes, the others to all. `as_of` is about
        facts; with `known_at` only what was stored by then is found, in every scope.
        """
        return await self._shapes.run(
            shape_of(plan),
            lambda: self._search(plan, self._timeout),
            lambda: self._search(
                replace(plan, group_ids=tuple(f"{NOBODY} {n}" for n in range(len(plan.group_ids)))),
                WARMING_SECONDS,
            ),
        )

    async def _search(self, plan: SearchPlan, seconds: float) -> Candidates:
        shape = shape_of(plan)
        if not shape.legs:
            return candidates_of(plan, {})
        params = params_of(plan, shape, self._clock())
        rows = await self._run("search", search_query(shape), params, seconds)
        return candidates_of(plan, rows[0])

    async def episode(self, group_id: str, episode_id: str) -> StoredEpisode | None:
        """With the facts that it supports, oldest first, and its entities by name."""
        row = await self._one("read_episode", queries.EPISODE, group_id, episode_id)
        if row is None:
            return None
        return replace(
            codec.stored_episode(row["item"]),
            facts=tuple(fact for fact in map(codec.fact, row["facts"]) if _supported_by(fact, episode_id)),
            entities=tuple(map(codec.entity, row["entities"])),
        )

    async def state(self, group_id: str, episode_id: str) -> Progress | None:
        """Two properties of one node."""
        row = await self._one("read_state", queries.EPISODE_STATE, group_id, episode_id)
        return None if row is None else Progress(EpisodeState(row["state"]), row["reason"])

    async def episodes(
        self, group_id: str, *, before: datetime | Place | None, limit: int, thread_id: str | None
    ) -> Sequence[StoredEpisode]:
        """Newest reference time first, and of the same time the last to arrive first."""
        params = {
            "group_id": group_id,
            **_before(before),
            "thread": None if thread_id is None else codec.index_key(thread_id),
            "limit": limit,
        }
        query = queries.EPISODES if thread_id is None else queries.EPISODES_OF_THREAD
        return [codec.stored_episode(row["item"]) for row in await self._run("list_episodes", query, params)]

    async def fact(self, group_id: str, fact_id: str) -> Fact | None:
        """One fact with its history."""
        row = await self._one("read_fact", queries.FACT, group_id, fact_id)
        return None if row is None else codec.fact(row)

    async def hyperedges(self, group_id: str, ids: Sequence[str]) -> Sequence[Fact]:
        """The facts that share an id, oldest first."""
        params = {"group_id": group_id, "ids": list(ids)}
        return [codec.fact(row) for row in await self._run("read_hyperedges", queries.HYPEREDGES, params)]

    async def values_before(
        self, group_id: str, starts: Sequence[SlotStart], known_at: datetime | None
    ) -> Sequence[Fact]:
        """What stood in each slot before."""
        params = {
            "group_id": group_id,
            "known_at": codec.UNBOUNDED_FUTURE if known_at is None else codec.micros(known_at),
            "starts": [_look(one) for one in starts],
        }
        rows = await self._run("read_values_before", queries.VALUES_BEFORE, params)
        return [codec.fact(row) for row in rows]

    async def entity(self, group_id: str, entity_id: str) -> Entity | None:
        """One entity."""
        row = await self._one("read_entity", queries.ENTITY, group_id, entity_id)
        return None if row is None else codec.entity(row["item"])

    async def entity_facts(self, group_id: str, entity_id: str) -> Sequence[Fact] | None:
        """All facts of an entity by the start that is or was last believed, unknown starts first."""
        row = await self._one("read_entity_facts", queries.ENTITY_FACTS, group_id, entity_id)
        return None if row is None else sorted(map(codec.fact, row["facts"]), key=_start)

    async def community(self, group_id: str, community_id: str) -> Community | None:
        """One community with its members."""
        row = await self._one("read_community", queries.COMMUNITY, group_id, community_id)
        return None if row is None else codec.community(row["item"])

    async def _one(self, operation: str, query: str, group_id: str, item_id: str) -> Row | None:
        rows = await self._run(operation, query, {"group_id": group_id, "id": item_id})
        return rows[0] if rows else None

    async def _run(
        self, operation: str, query: str, params: dict[str, Any], seconds: float | None = None
    ) -> list[Row]:
        limit = self._timeout if seconds is None else seconds
        return await self._connection.run(operation, query, params, limit)


def _before(before: datetime | Place | None) -> dict[str, int]:
    """Of a time: before everything that happened then."""
    if isinstance(before, Place):
        return {"before": codec.micros(before.reference_time), "sequence": before.sequence}
    end = codec.UNBOUNDED_FUTURE if before is None else codec.micros(before)
    return {"before": end, "sequence": codec.UNBOUNDED_PAST}


def _look(one: SlotStart) -> dict[str, Any]:
    ends = [one.source, one.target] if one.symmetric else [one.source]
    slots = [slot_id(end, one.relation) for end in ends]
    return {
        "source": one.source,
        "target": one.target,
        "ends": ends,
        "slots": slots,
        "end_slots": slots if one.symmetric else [],
        "symmetric": one.symmetric,
        "start": codec.micros(one.start),
    }


def _start(fact: Fact) -> tuple[datetime, datetime, str]:
    shown = last_view(fact)
    return shown.valid_at or _START_OF_TIME, shown.created_at, fact.id


def _supported_by(fact: Fact, episode_id: str) -> bool:
    return any(support.episode_id == episode_id for support in fact.support)
