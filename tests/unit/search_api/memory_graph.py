"""A GraphReader over lists in memory, and what tests fill it with."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from pipeline.graph.search import (
    Candidates,
    Item,
    Leg,
    Method,
    Place,
    Progress,
    Scope,
    SearchPlan,
    SlotStart,
    StoredEpisode,
    item_key,
)
from pipeline.model.community import Community
from pipeline.model.entity import Entity
from pipeline.model.episode import Episode, EpisodeState, Source, Usage
from pipeline.model.fact import Belief, EntityRef, Fact, Support, view
from pipeline.text.analysis import terms
from tests.unit.search_api.word_models import cosine, word_vector

LEARNED = datetime(2024, 1, 1, tzinfo=UTC)


class MemoryGraph:
    """A GraphReader over lists. It does what the port says, but for `filters`, which tests read from `plans`."""

    def __init__(self) -> None:
        self.items: dict[Scope, list[Item]] = {scope: [] for scope in Scope}
        self.plans: list[SearchPlan] = []
        self.trouble: Exception | None = None
        self.degraded: tuple[str, ...] = ()
        self.opened = 0
        self.was_opened = asyncio.Event()
        self.closed = 0
        self.slots_read = 0

    # What tests fill in.

    def add_fact(self, group: str, text: str, source: str, target: str, **given: Any) -> Fact:
        belief = Belief(
            known_from=given.get("known_from", LEARNED),
            valid_at=given.get("valid_at", LEARNED),
            invalid_at=given.get("invalid_at"),
        )
        fact = Fact(
            id=given.get("id", f"f-{text}"),
            group_id=group,
            source=EntityRef(id=source, name=source),
            target=EntityRef(id=target, name=target),
            relation=given.get("relation", "KNOWS"),
            cardinality=given.get("cardinality", "many"),
            fact=text,
            beliefs=given.get("beliefs", (belief,)),
            support=tuple(
                Support(episode_id=episode, hyperedge=given.get("hyperedge"), known_from=LEARNED)
                for episode in given.get("episodes", ("e1",))
            ),
        )
        self.items[Scope.facts].append(fact)
        return fact

    def add_entity(self, group: str, name: str, **given: Any) -> Entity:
        fields: dict[str, Any] = {"id": name, "created_at": LEARNED, "summary": f"About {name}.", **given}
        entity = Entity(group_id=group, name=name, **fields)
        self.items[Scope.entities].append(entity)
        return entity

    def add_episode(self, group: str, episode_id: str, content: str, **given: Any) -> StoredEpisode:
        state = given.pop("state", EpisodeState.committed)
        facts, entities = given.pop("facts", ()), given.pop("entities", ())
        fields: dict[str, Any] = {"source": Source.text, "reference_time": LEARNED, "sequence": 1, **given}
        episode = Episode(id=episode_id, group_id=group, content=content, **fields)
        stored = StoredEpisode(episode, state, Usage(), LEARNED, facts=facts, entities=entities)
        self.items[Scope.episodes].append(stored)
        return stored

    def add_community(self, group: str, name: str, *members: str) -> Community:
        community = Community(
            id=name,
            group_id=group,
            name=name,
            summary=f"What {name} is.",
            created_at=LEARNED,
            members=members,
        )
        self.items[Scope.communities].append(community)
        return community

    # The port.

    async def open(self) -> None:
        self._check()
        self.opened += 1
        self.was_opened.set()

    async def close(self) -> None:
        self.closed += 1

    async def ping(self) -> None:
        self._check()

    async def search(self, plan: SearchPlan) -> Candidates:
        self._check()
        self.plans.append(plan)
        legs: list[Leg] = []
        items: dict[Scope, dict[str, Item]] = {}
        for scope in plan.scopes:
            pool = {key_of(item): item for item in self.items[scope] if self._in_plan(item, plan)}
            ranked_by = {method: self._ranked(scope, method, pool, plan) for method in plan.methods}
            legs += [Leg(scope, method, ranked) for method, ranked in ranked_by.items()]
            items[scope] = {key: pool[key] for ranked in ranked_by.values() for key, _ in ranked}
        return Candidates(
            legs=tuple(legs),
            items=items,
            distances={s: self._distances(items[s], plan) for s in plan.scopes}
            if plan.distances_from
            else {},
            similarities={s: similarities(items[s]) for s in plan.scopes} if plan.similarities else {},
            mentions={s: self._mentions(items[s]) for s in plan.scopes} if plan.mentions else {},
            degraded=self.degraded,
        )

    async def episode(self, group_id: str, episode_id: str) -> StoredEpisode | None:
        return self._one(Scope.episodes, group_id, episode_id)

    async def state(self, group_id: str, episode_id: str) -> Progress | None:
        stored = await self.episode(group_id, episode_id)
        return None if stored is None else Progress(stored.state, stored.reason)

    async def episodes(
        self, group_id: str, *, before: datetime | Place | None, limit: int, thread_id: str | None
    ) -> Sequence[StoredEpisode]:
        self._check()
        found = [
            stored
            for stored in self.items[Scope.episodes]
            if isinstance(stored, StoredEpisode)
            and stored.episode.group_id == group_id
            and (before is None or _place(stored) < _bound(before))
            and thread_id in (None, stored.episode.thread_id)
        ]
        return sorted(found, key=_place, reverse=True)[:limit]

    async def fact(self, group_id: str, fact_id: str) -> Fact | None:
        return self._one(Scope.facts, group_id, fact_id)

    async def hyperedges(self, group_id: str, ids: Sequence[str]) -> Sequence[Fact]:
        self._check()
        return [f for f in self._facts() if f.group_id == group_id and f.hyperedge in ids]

    async def values_before(
        self, group_id: str, starts: Sequence[SlotStart], known_at: datetime | None
    ) -> Sequence[Fact]:
        self._check()
        self.slots_read += 1
        slots = {(one.source, one.relation) for one in starts}
        return [
            fact
            for fact in self._facts()
            if fact.group_id == group_id and (fact.source.id, fact.relation) in slots and view(fact, known_at)
        ]

    async def entity(self, group_id: str, entity_id: str) -> Entity | None:
        return self._one(Scope.entities, group_id, entity_id)

    async def entity_facts(self, group_id: str, entity_id: str) -> Sequence[Fact] | None:
        if await self.entity(group_id, entity_id) is None:
            return None
        return [fact for fact in self._facts() if fact.group_id == group_id and entity_id in ends(fact)]

    async def community(self, group_id: str, community_id: str) -> Community | None:
        return self._one(Scope.communities, group_id, community_id)

    # How it finds things.

    def _check(self) -> None:
        if self.trouble:
            raise self.trouble

    def _one(self, scope: Scope, group_id: str, item_id: str) -> Any:
        self._check()
        wanted = item_key(group_id, item_id)
        return next((item for item in self.items[scope] if key_of(item) == wanted), None)

    def _facts(self) -> list[Fact]:
        return [fact for fact in self.items[Scope.facts] if isinstance(fact, Fact)]

    def _in_plan(self, item: Item, plan: SearchPlan) -> bool:
        if group_of(item) not in plan.group_ids:
            return False
        if not isinstance(item, Fact):
            return True
        seen = view(item, plan.known_at)
        if seen is None or plan.as_of is None:
            return seen is not None
        started = seen.valid_at is None or seen.valid_at <= plan.as_of
        return started and (seen.invalid_at is None or plan.as_of < seen.invalid_at)

    def _ranked(
        self, scope: Scope, method: Method, pool: dict[str, Item], plan: SearchPlan
    ) -> tuple[tuple[str, float], ...]:
        if method is Method.bm25:
            wanted = set(plan.terms)
            scored = {key: float(len(wanted & set(terms(text_of(item))))) for key, item in pool.items()}
            scored = {key: score for key, score in scored.items() if score}
        elif method is Method.cosine:
            vector = plan.vector_of(scope)
            assert vector is not None
            scored = {key: cosine(vector, word_vector(text_of(item))) for key, item in pool.items()}
        else:
            steps: dict[str, int] = {}
            for origin in plan.bfs_origins:
                for key, step in self._distances(pool, plan, origin, plan.bfs_depth).items():
                    steps[key] = min(step, steps.get(key, step))
            scored = {key: 1 / (1 + step) for key, step in steps.items()}
        best = sorted(scored.items(), key=lambda pair: -pair[1])
        return tuple(best[: plan.limit])

    def _distances(
        self, pool: dict[str, Item], plan: SearchPlan, origin: str | None = None, most: int = 6
    ) -> dict[str, int]:
        start = origin or plan.distances_from
        reached = {start: 0}
        for step in range(1, most + 1):
            edges = [ends(fact) for fact in self._facts() if fact.group_id in plan.group_ids]
            new = {b for edge in edges for a, b in (edge, edge[::-1]) if a in reached and b not in reached}
            reached |= dict.fromkeys(new, step)
        found = {}
        for key, item in pool.items():
            near = [
                reached[end]
                for end in (ends(item) if isinstance(item, Fact) else (id_of(item),))
                if end in reached
            ]
            if near and min(near) < most + (not isinstance(item, Fact)):
                found[key] = min(near)
        return found

    def _mentions(self, pool: dict[str, Item]) -> dict[str, int]:
        found = {}
        for key, item in pool.items():
            facts = [item] if isinstance(item, Fact) else [f for f in self._facts() if id_of(item) in ends(f)]
            found[key] = len({episode for fact in facts for episode in fact.episodes_at()})
        return found


def similarities(pool: dict[str, Item]) -> dict[tuple[str, str], float]:
    vectors = {key: word_vector(text_of(item)) for key, item in pool.items()}
    return {(a, b): cosine(vectors[a], vectors[b]) for a in vectors for b in vectors if a != b}


def ends(fact: Fact) -> tuple[str, str]:
    return fact.source.id, fact.target.id


def id_of(item: Item) -> str:
    return item.episode.id if isinstance(item, StoredEpisode) else item.id


def group_of(item: Item) -> str:
    return item.episode.group_id if isinstance(item, StoredEpisode) else item.group_id


def key_of(item: Item) -> str:
    return item_key(group_of(item), id_of(item))


def text_of(item: Item) -> str:
    if isinstance(item, Fact):
        return item.fact
    return item.episode.text if isinstance(item, StoredEpisode) else f"{item.name} {item.summary}"


def _place(stored: StoredEpisode) -> tuple[datetime, int]:
    return stored.episode.reference_time, stored.episode.sequence


def _bound(before: datetime | Place) -> tuple[datetime, int]:
    return (before.reference_time, before.sequence) if isinstance(before, Place) else (before, -1)
