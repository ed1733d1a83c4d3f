"""What the tests of the Neo4j store build their cases from."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import neo4j

from pipeline.graph.entity_port import EntityCommit, EntityQuery, EntityWrite
from pipeline.graph.fact_port import FactCommit, FactQuery, FactWrite
from pipeline.graph.neo4j.store import Neo4jGraphStore
from pipeline.identity import entity_key, stable_id
from pipeline.model.community import Community
from pipeline.model.entity import Entity
from pipeline.model.episode import Episode, Source, Usage
from pipeline.model.fact import Belief, EntityRef, Fact, Support
from pipeline.observer import SilentObserver
from pipeline.timeline.evidence import Evidence

DIMENSION = 384
AT = datetime(2024, 5, 1, 12, 0, 0, 123456, tzinfo=UTC)


@dataclass
class CountingObserver(SilentObserver):
    """Remembers which requests were made."""

    requests: list[str] = field(default_factory=list)

    def graph_round_trip(self, operation: str, seconds: float) -> None:
        """Counted."""
        self.requests.append(operation)


@asynccontextmanager
async def opened(uri: str, observer: SilentObserver | None = None) -> AsyncIterator[Neo4jGraphStore]:
    """An open store, closed at the end."""
    store = Neo4jGraphStore(uri, dimension=DIMENSION, observer=observer)
    await store.open()
    try:
        yield store
    finally:
        await store.close()


async def cypher(uri: str, query: str, **params: Any) -> list[list[Any]]:
    """What the database holds, past the store."""
    async with neo4j.AsyncGraphDatabase.driver(uri) as driver:
        found = await driver.execute_query(query, params)
        return [list(record.values()) for record in found.records]


def axis(number: int, lean: float = 0.0) -> list[float]:
    """A vector along one axis, leaning a little to the next."""
    values = [0.0] * DIMENSION
    values[number], values[(number + 1) % DIMENSION] = 1.0, lean
    return values


def episode(group: str, name: str, **changes: Any) -> Episode:
    """A message; changes are fields of Episode."""
    given: dict[str, Any] = {
        "id": name,
        "group_id": group,
        "source": Source.text,
        "content": f"text of {name}",
        "reference_time": AT,
        "sequence": 1,
    }
    return Episode(**{**given, **changes})


def entity(group: str, name: str, **changes: Any) -> Entity:
    """An entity with the id and key that its name gives."""
    given: dict[str, Any] = {
        "id": stable_id("entity", group, name, str(changes.get("type", ""))),
        "group_id": group,
        "name": name,
        "keys": (entity_key(name),),
        "created_at": AT,
    }
    return Entity(**{**given, **changes})


def fact(group: str, source: Entity, relation: str, target: Entity, *beliefs: Belief, **changes: Any) -> Fact:
    """A fact between two entities, believed since AT."""
    given: dict[str, Any] = {
        "id": stable_id("fact", group, source.id, relation, target.id),
        "group_id": group,
        "source": EntityRef(id=source.id, name=source.name),
        "target": EntityRef(id=target.id, name=target.name),
        "relation": relation,
        "fact": f"{source.name} {relation} {target.name}",
        "beliefs": beliefs or (Belief(known_from=AT, valid_at=AT - timedelta(days=30)),),
        "support": (Support(episode_id="e1", evidence_id="v1", known_from=AT),),
    }
    return Fact(**{**given, **changes})


def evidence(number: int, subject: Entity, relation: str, value: Entity, **changes: Any) -> Evidence:
    """A statement about two entities."""
    given: dict[str, Any] = {
        "id": f"v{number}",
        "episode_id": "e1",
        "subject": subject.id,
        "relation": relation,
        "object": value.id,
        "reference_time": AT,
        "sequence": number,
        "recorded_at": AT,
    }
    return Evidence(**{**given, **changes})


def entity_commit(of: Episode, version: int, *writes: EntityWrite, **changes: Any) -> EntityCommit:
    """A commit of resolve_entities that mentions all that it writes."""
    given: dict[str, Any] = {
        "episode": of.ref,
        "lane_version": version,
        "entities": writes,
        "mentioned": tuple(w.entity.id for w in writes),
        "output": f"resolved {of.id}",
        "usage": Usage(llm_calls=1),
        "at": AT,
    }
    return EntityCommit(**{**given, **changes})


def fact_commit(of: Episode, version: int, *facts: Fact, **changes: Any) -> FactCommit:
    """A commit of resolve_facts."""
    given: dict[str, Any] = {
        "episode": of.ref,
        "lane_version": version,
        "evidence": (),
        "facts": tuple(FactWrite(f, axis(i)) for i, f in enumerate(facts)),
        "entities": (),
        "output": f"changes {of.id}",
        "usage": Usage(embeddings=len(facts)),
        "at": AT,
    }
    return FactCommit(**{**given, **changes})


def entity_query(of: Episode, *names: str, **changes: Any) -> EntityQuery:
    """A question by key only."""
    given: dict[str, Any] = {
        "episode": of.ref,
        "keys": tuple((entity_key(name),) for name in names),
        "texts": tuple("" for _ in names),
        "vectors": tuple(None for _ in names),
    }
    return EntityQuery(**{**given, **changes})


async def stored(store: Neo4jGraphStore, of: Episode, *entities: Entity) -> None:
    """The episode and some entities, committed by resolve_entities on top of what there is."""
    await store.receive(of, None, 0, AT)
    version = (await store.entity_view(entity_query(of))).lane_version
    writes = tuple(EntityWrite(e, axis(i)) for i, e in enumerate(entities))
    await store.commit_entities(entity_commit(of, version, *writes))


async def entities_by_id(store: Neo4jGraphStore, of: Episode, *ids: str) -> dict[str, Entity]:
    """Entities as the store reads them."""
    return (await store.fact_graph(FactQuery(of.ref, (), ids))).entities


def community(group: str, name: str) -> Community:
    """A community with its name as its id."""
    return Community(id=name, group_id=group, name=name, summary=f"about {name}", created_at=AT)


async def members(uri: str, group: str) -> list[list[Any]]:
    """(community, entity's name) of every membership that both ends tell alike, in order."""
    query = (
        "MATCH (c:Community {group_id: $g})-[:HAS_MEMBER {group_id: $g}]->(e:Entity {fs_community: c.uuid}) "
        "RETURN c.uuid, e.name ORDER BY c.uuid, e.name"
    )
    return await cypher(uri, query, g=group)


async def episode_row(uri: str, group: str) -> tuple[str, Usage, str | None]:
    """State, cost and reason of the group's only episode."""
    query = "MATCH (p:Episodic {group_id: $g}) RETURN p.fs_state, p.fs_usage, p.fs_reason"
    state, usage, reason = (await cypher(uri, query, g=group))[0]
    return state, Usage.model_validate_json(usage), reason
