"""Graphs and questions for the tests of the read side; graphs are written in bulk, the way the write side does it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from pipeline.graph.community_port import CommunityWrite
from pipeline.graph.entity_port import EntityWrite
from pipeline.graph.fact_port import FactWrite
from pipeline.graph.neo4j import (
    properties,
    queries_communities,
    queries_entities,
    queries_episodes,
    queries_facts,
)
from pipeline.graph.neo4j.codec import UNBOUNDED_FUTURE, micros
from pipeline.graph.neo4j.connection import Neo4jConnection
from pipeline.graph.neo4j.reader import Neo4jGraphReader
from pipeline.graph.neo4j.schema import SCHEMA_VERSION
from pipeline.graph.search import Candidates, Method, Scope, SearchPlan
from pipeline.identity import entity_key, stable_id
from pipeline.model.community import Community
from pipeline.model.entity import Entity
from pipeline.model.episode import Episode, Source
from pipeline.model.fact import Belief, EntityRef, Fact, Support
from pipeline.observer import SilentObserver
from pipeline.text.analysis import query_terms

DIMENSION = 384
LEARNED = datetime(2024, 1, 1, tzinfo=UTC)
NOW = datetime(2024, 10, 27, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


def day(number: int) -> datetime:
    """A day of 2024, counted from 1."""
    return datetime.fromtimestamp(LEARNED.timestamp() + (number - 1) * 86400, UTC)


def at_cosine(cosine: float, axis: int = 1) -> list[float]:
    """A unit vector that has this cosine with `at_cosine(1)`."""
    values = [0.0] * DIMENSION
    values[0] = cosine
    values[axis] = math.sqrt(1 - cosine * cosine)
    return values


def entity(group: str, name: str, type_: str | None = "Thing", at: datetime = LEARNED) -> Entity:
    """An entity whose id is its name in lower case."""
    return Entity(
        id=name.lower(),
        group_id=group,
        name=name,
        type=type_,
        keys=(entity_key(name),),
        created_at=at,
        summary=f"About {name}",
    )


def fact(
    group: str,
    fact_id: str,
    source: str,
    target: str,
    text: str,
    *,
    relation: str = "KNOWS",
    beliefs: Sequence[Belief] = (),
    start: datetime | None = LEARNED,
    end: datetime | None = None,
    known: datetime = LEARNED,
    episodes: Sequence[str] = (),
) -> Fact:
    """A fact with one belief unless beliefs are given."""
    return Fact(
        id=fact_id,
        group_id=group,
        source=EntityRef(id=source.lower(), name=source),
        target=EntityRef(id=target.lower(), name=target),
        relation=relation,
        fact=text,
        beliefs=tuple(beliefs) or (Belief(known_from=known, valid_at=start, invalid_at=end),),
        support=tuple(
            Support(episode_id=each, evidence_id=f"ev-{each}", known_from=known) for each in episodes
        ),
    )


def episode(
    group: str,
    episode_id: str,
    content: str,
    *,
    reference: datetime = LEARNED,
    sequence: int = 0,
    thread: str | None = None,
    metadata: dict[str, str | int | float | bool] | None = None,
) -> Episode:
    """A text."""
    return Episode(
        id=episode_id,
        group_id=group,
        source=Source.text,
        content=content,
        reference_time=reference,
        sequence=sequence,
        thread_id=thread,
        metadata=metadata or {},
    )


@dataclass
class GraphWriter:
    """Writes what the tests read. `at` is the time of writing; vectors default to `at_cosine(1)`."""

    connection: Neo4jConnection
    at: datetime = LEARNED
    default_vector: list[float] = field(default_factory=lambda: at_cosine(1))

    async def episodes(
        self, *written: Episode, vectors: Sequence[list[float]] = (), at: datetime | None = None
    ) -> None:
        """Raw episodes."""
        for number, each in enumerate(written):
            vector = vectors[number] if vectors else self.default_vector
            await self.connection.write(
                "test",
                queries_episodes.RECEIVE,
                {
                    "group_id": each.group_id,
                    "episode_id": each.id,
                    "stage": "extract",
                    "context_size": 0,
                    "known": SCHEMA_VERSION,
                    "properties": properties.episode_properties(each, vector, at or self.at),
                },
            )

    async def entities(self, *written: Entity, vectors: Sequence[list[float]] = ()) -> None:
        """Entities of one group."""
        writes = [
            EntityWrite(each, vectors[number] if vectors else self.default_vector)
            for number, each in enumerate(written)
        ]
        await self.connection.write(
            "test",
            queries_entities.WRITE_ENTITIES,
            {
                "group_id": written[0].group_id,
                "entities": [properties.entity_parameters(write, DIMENSION) for write in writes],
            },
        )

    async def mentions(
        self, group: str, episode_id: str, *entity_ids: str, at: datetime | None = None
    ) -> None:
        """MENTIONS from an episode."""
        await self.connection.write(
            "test",
            queries_entities.WRITE_MENTIONS,
            {
                "group_id": group,
                "episode_id": episode_id,
                "at": at or self.at,
                "place": 0,
                "mentions": [
                    {"entity": each, "uuid": stable_id("mention", episode_id, each), "told": None}
                    for each in entity_ids
                ],
            },
        )

    async def facts(self, *written: Fact, vectors: Sequence[list[float]] = ()) -> None:
        """Facts of one group, between entities that are there."""
        rows = [
            self._fact_row(each, vectors[number] if vectors else self.default_vector)
            for number, each in enumerate(written)
        ]
        done = await self.connection.write(
            "test", queries_facts.WRITE_FACTS, {"group_id": written[0].group_id, "facts": rows}
        )
        if done[0]["written"] != len(written):
            raise AssertionError("an end of a fact is not there")

    async def community(self, written: Community, vector: list[float] | None = None) -> None:
        """A community with its members."""
        write = CommunityWrite(written, vector or self.default_vector)
        await self.connection.write(
            "test",
            queries_communities.WRITE_COMMUNITIES,
            {
                "group_id": written.group_id,
                "communities": [properties.community_parameters(write, DIMENSION)],
            },
        )
        await self.connection.write(
            "test",
            queries_communities.MOVE_MEMBERS,
            {
                "group_id": written.group_id,
                "at": self.at,
                "moves": [
                    {"entity": each, "community": written.id, "uuid": stable_id("member", written.id, each)}
                    for each in written.members
                ],
            },
        )

    def _fact_row(self, written: Fact, vector: list[float]) -> dict[str, Any]:
        row = properties.fact_parameters(FactWrite(written, vector), DIMENSION, self.at)
        row["properties"] |= {
            "fs_support_episode": [each.episode_id for each in written.support],
            "fs_support_from": [micros(each.known_from) for each in written.support],
            "fs_support_to": [
                UNBOUNDED_FUTURE if each.known_to is None else micros(each.known_to)
                for each in written.support
            ],
        }
        return row


def ids(keys: Iterable[str]) -> list[str]:
    """The ids of item keys."""
    return [key.split("\x1f")[1] for key in keys]


class RoundTrips(SilentObserver):
    """Counts requests by operation."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def graph_round_trip(self, operation: str, seconds: float) -> None:
        self.seen.append(operation)


def plan(group: str, query: str = "", **changed: Any) -> SearchPlan:
    """Facts now, by text and by a vector that is `at_cosine(1)`."""
    base = SearchPlan(
        group_ids=(group,),
        scopes=(Scope.facts,),
        methods=(Method.bm25, Method.cosine),
        limit=10,
        terms=tuple(query_terms(query)),
        vector=at_cosine(1),
        as_of=NOW,
    )
    return replace(base, **changed)


def found(candidates: Candidates, scope: Scope, method: Method) -> list[str]:
    """Ids of a leg, best first."""
    return ids(
        key for leg in candidates.legs if (leg.scope, leg.method) == (scope, method) for key, _ in leg.ranked
    )


async def facts_found(reader: Neo4jGraphReader, wanted: SearchPlan) -> list[list[str]]:
    """Ids of the fact legs, sorted, a list per method."""
    candidates = await reader.search(wanted)
    return [sorted(found(candidates, Scope.facts, method)) for method in wanted.methods]


async def small_world(write: GraphWriter, group: str, word: str = "tarpaulin") -> None:
    """Ana and Acme with a fact, an episode, and a community, the same in every group."""
    await write.episodes(episode(group, "e1", f"Ana bought a {word}"))
    await write.entities(entity(group, "Ana", "Person"), entity(group, "Acme", "Company"))
    await write.mentions(group, "e1", "ana", "acme")
    await write.facts(fact(group, "f1", "Ana", "Acme", f"Ana sells a {word} to Acme", episodes=["e1"]))
    await write.community(
        Community(
            id="c1",
            group_id=group,
            name=f"{word} trade",
            summary="Ana",
            created_at=LEARNED,
            members=("acme", "ana"),
        )
    )
