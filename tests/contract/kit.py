"""What the contract tests build their graphs from: small objects with good defaults, and a writer that keeps lanes."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

import numpy as np

from pipeline.graph.community_port import CommunityCommit, CommunityWrite
from pipeline.graph.digest import GroupDump
from pipeline.graph.entity_port import EntityCommit, EntityQuery, EntityWrite
from pipeline.graph.fact_port import FactCommit, FactWrite
from pipeline.graph.ledger import CurationStore
from pipeline.graph.port import GraphStore
from pipeline.graph.search import Candidates, GraphReader, Method, Scope, SearchPlan
from pipeline.identity import entity_key
from pipeline.model.community import Community
from pipeline.model.entity import Entity
from pipeline.model.episode import Episode, Source, Usage
from pipeline.model.extraction import Cardinality
from pipeline.model.fact import Belief, EntityRef, Fact, Support
from pipeline.text.analysis import query_terms, search_text, terms
from pipeline.timeline.evidence import Evidence

DIMENSION = 384
MICROSECOND = timedelta(microseconds=1)


def day(number: int) -> datetime:
    """The first moment of a day, counted from 1 January 2024 as 1."""
    return datetime(2024, 1, 1, tzinfo=UTC) + timedelta(days=number - 1)


def vector(text: str) -> list[float]:
    """A unit vector: the terms of a text, hashed to places. Texts without a common term are orthogonal, mostly."""
    values = np.zeros(DIMENSION)
    for term in terms(text) or [""]:
        values[
            int.from_bytes(hashlib.blake2b(term.encode(), digest_size=8).digest(), "little") % DIMENSION
        ] += 1
    unit: list[float] = (values / np.linalg.norm(values)).tolist()
    return unit


def cosine(a: str, b: str) -> float:
    """The cosine of the vectors of two texts."""
    return float(np.dot(vector(a), vector(b)))


def episode(group: str, name: str, content: Any = None, **changes: Any) -> Episode:
    """An episode of day 1; changes are fields of Episode."""
    given: dict[str, Any] = {
        "id": name,
        "group_id": group,
        "source": Source.text,
        "content": f"text of {name}" if content is None else content,
        "reference_time": day(1),
        "sequence": 1,
    }
    return Episode(**{**given, **changes})


def entity(group: str, name: str, **changes: Any) -> Entity:
    """An entity whose id is its name in lower case, with the keys of its name and aliases."""
    given: dict[str, Any] = {
        "id": name.lower(),
        "group_id": group,
        "name": name,
        "type": "Thing",
        "keys": tuple(sorted({entity_key(n) for n in (name, *changes.get("aliases", ()))})),
        "created_at": day(1),
    }
    return Entity(**{**given, **changes})


def belief(known: int, start: int | None = 1, end: int | None = None, *, holds: bool = True) -> Belief:
    """What was believed from a day on: that the fact holds from a day to a day."""
    return Belief(
        known_from=day(known),
        holds=holds,
        valid_at=None if start is None else day(start),
        invalid_at=None if end is None else day(end),
    )


def fact(source: Entity, relation: str, target: Entity, *beliefs: Belief, **changes: Any) -> Fact:
    """A fact known since day 1 and holding since, unless beliefs say otherwise; its id is made of its parts."""
    given: dict[str, Any] = {
        "id": f"{source.id}-{relation}-{target.id}".lower(),
        "group_id": source.group_id,
        "source": EntityRef(id=source.id, name=source.name),
        "target": EntityRef(id=target.id, name=target.name),
        "relation": relation,
        "fact": f"{source.name} {relation.replace('_', ' ').lower()} {target.name}",
        "beliefs": beliefs or (belief(1),),
    }
    return Fact(**{**given, **changes})


def supported(by: Iterable[str], known: int = 1) -> tuple[Support, ...]:
    """Support by some episodes, counted since a day."""
    return tuple(Support(episode_id=e, evidence_id=f"evidence-{e}", known_from=day(known)) for e in by)


def evidence(
    name: str,
    subject: str,
    relation: str,
    value: str,
    cardinality: Cardinality = Cardinality.many,
    **changes: Any,
) -> Evidence:
    """A statement about (subject, relation, value), given as ids."""
    given: dict[str, Any] = {
        "id": name,
        "episode_id": "e1",
        "subject": subject,
        "relation": relation,
        "object": value,
        "cardinality": cardinality,
        "fact": f"{subject} {relation} {value}",
        "valid_at": day(1),
        "reference_time": day(1),
        "sequence": 1,
        "recorded_at": day(1),
    }
    return Evidence(**{**given, **changes})


def community(group: str, name: str, **changes: Any) -> Community:
    """A community whose id is its name in lower case."""
    given: dict[str, Any] = {
        "id": name.lower(),
        "group_id": group,
        "name": name,
        "summary": f"What {name} is about",
        "created_at": day(1),
    }
    return Community(**{**given, **changes})


def entity_query(of: Episode, *names: str, vectors: bool = True, limit: int = 10) -> EntityQuery:
    """A query for mentions of these names."""
    return EntityQuery(
        episode=of.ref,
        keys=tuple((entity_key(name),) for name in names),
        texts=tuple(search_text(name) for name in names),
        vectors=tuple(vector(name) if vectors else None for name in names),
        limit=limit,
    )


class GraphAndLedger(GraphStore, CurationStore, Protocol):
    """Both write sides of a store."""


@dataclass
class Graph:
    """A store and a reader over one database, and helpers that commit through the store as the stages would.

    `wipe` empties a group as if a database of its own had been lost, tombstones included.
    """

    store: GraphAndLedger
    reader: GraphReader
    dump: Callable[[str], Awaitable[GroupDump]]
    wipe: Callable[[str], Awaitable[None]]
    versions: defaultdict[tuple[str, str], int] = field(default_factory=lambda: defaultdict(int))

    async def receive(self, *episodes: Episode, at: datetime | None = None) -> None:
        """Store raw episodes with their vectors."""
        for each in episodes:
            await self.store.receive(each, vector(each.text), 4, at or day(1))

    async def entities(
        self, of: Episode, *entities: Entity, mentioned: Sequence[str] | None = None, **changes: Any
    ) -> None:
        """Commit entities that an episode mentions, with the vectors of their names."""
        given: dict[str, Any] = {
            "episode": of.ref,
            "lane_version": self._next(of.group_id, "entities"),
            "entities": tuple(EntityWrite(e, vector(e.name)) for e in entities),
            "mentioned": tuple(e.id for e in entities) if mentioned is None else tuple(mentioned),
            "output": "{}",
            "usage": Usage(),
            "at": day(1),
        }
        await self.store.commit_entities(EntityCommit(**{**given, **changes}))

    async def facts(
        self, of: Episode, *facts: Fact, evidence: Iterable[Evidence] = (), **changes: Any
    ) -> None:
        """Commit facts with the vectors of their sentences."""
        given: dict[str, Any] = {
            "episode": of.ref,
            "lane_version": self._next(of.group_id, "facts"),
            "evidence": tuple(evidence),
            "facts": tuple(FactWrite(f, vector(f.fact)) for f in facts),
            "entities": (),
            "output": "{}",
            "usage": Usage(),
            "at": day(1),
        }
        await self.store.commit_facts(FactCommit(**{**given, **changes}))

    async def communities(
        self,
        group: str,
        of: Episode | None,
        *communities: Community,
        moves: Mapping[str, str | None],
        **changes: Any,
    ) -> None:
        """Commit communities with the vectors of their names."""
        given: dict[str, Any] = {
            "group_id": group,
            "episode": None if of is None else of.ref,
            "lane_version": self._next(group, "communities"),
            "communities": tuple(CommunityWrite(c, vector(c.name)) for c in communities),
            "moves": dict(moves),
            "usage": Usage(),
            "at": day(1),
        }
        await self.store.commit_communities(CommunityCommit(**{**given, **changes}))

    async def world(self, of: Episode, *facts: Fact, entities: Iterable[Entity] = ()) -> None:
        """Store an episode, its entities and its facts; the ends of the facts are among the entities."""
        await self.receive(of)
        await self.entities(of, *entities)
        await self.facts(of, *facts)

    async def search(self, group: str, query: str = "", **changes: Any) -> Candidates:
        """Search facts by all methods, at any time, unless changes say otherwise."""
        return await self.reader.search(plan(group, query, **changes))

    async def found(self, group: str, query: str = "", **changes: Any) -> list[str]:
        """The ids that one leg finds, best first: facts by BM25 unless changes say otherwise."""
        changes = {"scopes": (Scope.facts,), "methods": (Method.bm25,), **changes}
        (leg,) = (await self.search(group, query, **changes)).legs
        return ids(key for key, _ in leg.ranked)

    def _next(self, group: str, stage: str) -> int:
        version = self.versions[group, stage]
        self.versions[group, stage] += 1
        return version


def plan(group: str, query: str = "", **changes: Any) -> SearchPlan:
    """A plan for facts by all methods at any time; changes are its fields."""
    given: dict[str, Any] = {
        "group_ids": (group,),
        "scopes": (Scope.facts,),
        "methods": tuple(Method),
        "limit": 20,
        "terms": tuple(query_terms(query)),
        "vector": vector(query) if query else None,
    }
    return SearchPlan(**{**given, **changes})


def leg(candidates: Candidates, scope: Scope, method: Method) -> dict[str, float]:
    """A leg as scores by id, best first."""
    (one,) = (found for found in candidates.legs if (found.scope, found.method) == (scope, method))
    return dict(zip(ids(key for key, _ in one.ranked), (score for _, score in one.ranked), strict=True))


def ids(keys: Iterable[str]) -> list[str]:
    """The ids in keys of candidates."""
    return [key.split("\x1f", 1)[1] for key in keys]


def by_id(told: Mapping[str, int]) -> dict[str, int]:
    """What is told by key, by id."""
    return {key.split("\x1f", 1)[1]: value for key, value in told.items()}
