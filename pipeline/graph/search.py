"""What the read side asks of a store: candidates by several methods at once, and reads by id."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from pipeline.graph.vector import Vector
from pipeline.model.community import Community
from pipeline.model.entity import Entity
from pipeline.model.episode import Episode, EpisodeState, Usage
from pipeline.model.fact import Fact


class Scope(StrEnum):
    """What is searched."""

    facts = "facts"
    entities = "entities"
    episodes = "episodes"
    communities = "communities"


class Method(StrEnum):
    """How candidates are found."""

    bm25 = "bm25"
    cosine = "cosine"
    bfs = "bfs"


@dataclass(frozen=True)
class TimeRange:
    """Bounds that all must hold; None is no bound."""

    gte: datetime | None = None
    gt: datetime | None = None
    lte: datetime | None = None
    lt: datetime | None = None


@dataclass(frozen=True)
class Filters:
    """Hard conditions. Fields are AND; a list of ranges is OR; entity types on facts match either end;
    all of `metadata` must match on one supporting episode, with JSON types."""

    entity_types: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    metadata: dict[str, str | int | float | bool] = field(default_factory=dict)
    valid_at: tuple[TimeRange, ...] = ()
    invalid_at: tuple[TimeRange, ...] = ()
    created_at: tuple[TimeRange, ...] = ()


@dataclass(frozen=True)
class SearchPlan:
    """One request to the store: every scope by every method, with the filters applied before the limit.

    `terms` are the query's search terms (see pipeline.text.analysis); empty: BM25 finds nothing. `vector` is the
    query's embedding; None: cosine finds nothing; episodes are measured by `episode_vector` if there is one. `as_of` None is any time; `known_at` None is now. `limit` is the
    number of candidates per scope and method. With `distances_from` the store adds how many steps each candidate is
    away from that entity (facts: their nearer end), at most `max_distance`. With `similarities` it adds the cosine
    of each pair of candidates of a scope, so that no vector needs to leave it. With `mentions` it adds the number of
    episodes that mention an entity or support a fact.

    `neighbours`, in a search of episodes, is how far to look before and after the `CENTRES` best episodes of each leg
    in their threads: what stands there and passes the filters becomes an item. With `sources` so do the last
    `SOURCES` episodes that support each of the `CENTRES` best facts of each leg.
    """

    group_ids: tuple[str, ...]
    scopes: tuple[Scope, ...]
    methods: tuple[Method, ...]
    limit: int
    terms: tuple[str, ...] = ()
    vector: Vector | None = None
    episode_vector: Vector | None = None
    as_of: datetime | None = None
    known_at: datetime | None = None
    filters: Filters = Filters()
    bfs_origins: tuple[str, ...] = ()
    bfs_depth: int = 1
    distances_from: str | None = None
    max_distance: int = 6
    similarities: bool = False
    mentions: bool = False
    neighbours: int = 0
    sources: bool = False

    def vector_of(self, scope: Scope) -> Vector | None:
        """The vector that the items of a scope are measured by."""
        unnamed = self.episode_vector if scope is Scope.episodes else None
        return self.vector if self.vector is None or unnamed is None else unnamed


CENTRES = 30
"""Candidates of a leg, best first, around which a search looks for neighbours and sources."""
SOURCES = 3
"""Supporting episodes of a fact that a search follows, the last ones."""


@dataclass(frozen=True)
class StoredEpisode:
    """An episode with its state, cost and what came out of it (filled on reads by id only)."""

    episode: Episode
    state: EpisodeState
    usage: Usage
    created_at: datetime
    reason: str | None = None
    facts: tuple[Fact, ...] = ()
    entities: tuple[Entity, ...] = ()


@dataclass(frozen=True)
class Progress:
    """The state of an episode, and why when it is dead."""

    state: EpisodeState
    reason: str | None = None


@dataclass(frozen=True)
class Place:
    """Where an episode stands in its group: reference times may be equal, the order of arrival is not."""

    reference_time: datetime
    sequence: int


@dataclass(frozen=True)
class SlotStart:
    """Where a value of a (source, relation) begins, of which there is one at a time. `symmetric`: either end has a slot."""

    source: str
    relation: str
    target: str
    start: datetime
    symmetric: bool = False


Item = Fact | Entity | StoredEpisode | Community


@dataclass(frozen=True)
class Leg:
    """Candidates of one scope by one method: (id key, score), best first. BM25 scores are comparable inside a leg
    only; cosine is in [-1, 1]; breadth-first is 1 / steps."""

    scope: Scope
    method: Method
    ranked: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Candidates:
    """Answer to a SearchPlan. Keys are "group\\x1fid", since ids are unique inside their group only.

    `items`: by scope and key, each candidate once. `similarities`: by scope, cosine by ordered pair of keys (both
    orders present). `neighbours`: for episodes, (key, key of one that comes later in its thread, places between them:
    1 is the next); the episodes between two that are named may be left out by the filters, they count all the same.
    `degraded`: what could not be used and why.
    """

    legs: tuple[Leg, ...]
    items: dict[Scope, dict[str, Item]]
    distances: dict[Scope, dict[str, int]] = field(default_factory=dict)
    similarities: dict[Scope, dict[tuple[str, str], float]] = field(default_factory=dict)
    mentions: dict[Scope, dict[str, int]] = field(default_factory=dict)
    neighbours: tuple[tuple[str, str, int], ...] = ()
    degraded: tuple[str, ...] = ()


def item_key(group_id: str, item_id: str) -> str:
    """The key of an item in Candidates."""
    return f"{group_id}\x1f{item_id}"


class GraphReader(Protocol):
    """The read side of a store. Every read is limited to the groups that it names; a foreign id is None."""

    async def open(self) -> None:
        """Connect. Does not create anything."""

    async def close(self) -> None:
        """Let go of connections."""

    async def ping(self) -> None:
        """Touch the database and its indexes; Retryable when it does not answer or an index is not online."""

    async def search(self, plan: SearchPlan) -> Candidates:
        """All legs of a request in one or two round trips, whatever the scopes. Facts of the answer are those that
        hold at `as_of` as believed at `known_at`; expired ones only with `as_of` None, as they were believed."""

    async def episode(self, group_id: str, episode_id: str) -> StoredEpisode | None:
        """With its facts (those that it supports, believed or not) and entities."""

    async def state(self, group_id: str, episode_id: str) -> Progress | None:
        """How far an episode is, without what came out of it: cheap enough to be asked again and again."""

    async def episodes(
        self, group_id: str, *, before: datetime | Place | None, limit: int, thread_id: str | None
    ) -> Sequence[StoredEpisode]:
        """Newest reference time first, and of the same time the last to arrive first; `before` is exclusive."""

    async def fact(self, group_id: str, fact_id: str) -> Fact | None:
        """One fact with its history."""

    async def hyperedges(self, group_id: str, ids: Sequence[str]) -> Sequence[Fact]:
        """The facts that share one of these ids, or shared it last, with their histories; one for each pair."""

    async def values_before(
        self, group_id: str, starts: Sequence[SlotStart], known_at: datetime | None
    ) -> Sequence[Fact]:
        """For each start the fact of its slot, of another pair and of cardinality `one`, that ended last by then, as
        believed at `known_at` (None: now); with their histories, each once. One round trip for all."""

    async def entity(self, group_id: str, entity_id: str) -> Entity | None:
        """One entity."""

    async def entity_facts(self, group_id: str, entity_id: str) -> Sequence[Fact] | None:
        """All facts of an entity, either direction, with their histories, oldest start first; None: no such entity."""

    async def community(self, group_id: str, community_id: str) -> Community | None:
        """One community with its members."""
