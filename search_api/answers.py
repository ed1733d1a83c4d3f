"""What callers get: the objects of the contract, as response models, and how stored items become them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from pipeline.graph.search import StoredEpisode
from pipeline.model.community import Community
from pipeline.model.entity import Entity
from pipeline.model.episode import EpisodeState, Source, Speaker, Usage
from pipeline.model.fact import EntityRef, Fact, FactView, last_view, view
from pipeline.model.moments import Moment
from search_api.recipes import Recipe


class _Output(BaseModel):
    model_config = ConfigDict(frozen=True)


class PairAnswer(_Output):
    """One pair of a fact that one sentence states over several; `id` is the pair's own."""

    id: str
    source: EntityRef
    target: EntityRef
    valid_at: Moment | None
    invalid_at: Moment | None


class FactAnswer(FactView):
    """A fact as it is believed, or was believed at `known_at`.

    Where one sentence states it over several pairs, `id` is the one that they share and `pairs` are those that hold;
    all other fields are the first pair's.
    """

    group_id: str
    pairs: tuple[PairAnswer, ...] = Field(default=(), exclude_if=lambda pairs: not pairs)


class ScoredFact(FactAnswer):
    """A fact that was found."""

    score: float


class EntityAnswer(_Output):
    """An entity."""

    id: str
    group_id: str
    name: str
    aliases: tuple[str, ...]
    labels: tuple[str, ...]
    summary: str
    attributes: dict[str, Any]
    created_at: Moment


class ScoredEntity(EntityAnswer):
    """An entity that was found."""

    score: float


class EpisodeSummary(_Output):
    """An episode without what came out of it, as it stands in lists. `reason` says why it is dead, or
    for what a received one waits."""

    id: str
    group_id: str
    source: Source
    content: Any
    reference_time: Moment
    thread_id: str | None
    speaker: Speaker | None
    source_description: str | None
    metadata: dict[str, str | int | float | bool]
    state: EpisodeState
    reason: str | None


class ScoredEpisode(EpisodeSummary):
    """An episode that was found."""

    score: float


class EpisodeAnswer(EpisodeSummary):
    """An episode with the facts that it supports, the entities that it mentions, and what it cost."""

    facts: tuple[FactAnswer, ...]
    entities: tuple[EntityAnswer, ...]
    usage: Usage


class CommunityAnswer(_Output):
    """A community; `members` are entity ids."""

    id: str
    group_id: str
    name: str
    summary: str
    members: tuple[str, ...]
    created_at: Moment


class ScoredCommunity(CommunityAnswer):
    """A community that was found."""

    score: float


class SearchAnswer(_Output):
    """What was found, by scope, best first; `degraded` says what could not be used and why."""

    facts: tuple[ScoredFact, ...] = ()
    entities: tuple[ScoredEntity, ...] = ()
    episodes: tuple[ScoredEpisode, ...] = ()
    communities: tuple[ScoredCommunity, ...] = ()
    degraded: tuple[str, ...] = ()
    took_ms: float


class ContextAnswer(_Output):
    """A text for a prompt, its estimated length in tokens, and the ids of what it tells."""

    context: str
    tokens: int
    facts: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    communities: tuple[str, ...] = ()
    episodes: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()
    took_ms: float


class FactList(_Output):
    """Facts in the order of their start."""

    facts: tuple[FactAnswer, ...]


class EpisodeList(_Output):
    """Episodes, newest reference time first. `next` is the cursor of the page after a full one."""

    episodes: tuple[EpisodeSummary, ...]
    next: str | None = None


class RecipeList(_Output):
    """Every recipe that a request may name."""

    recipes: tuple[Recipe, ...]


class Health(_Output):
    """That the process, or the service with its store, is up."""

    status: str


def fact_fields(fact: Fact, shown: FactView, pairs: Iterable[FactView] = ()) -> dict[str, Any]:
    """The fields of a fact's answer, given the belief to show, and the pairs when it is told of several."""
    fields = {**dict(shown), "group_id": fact.group_id}
    told = tuple(
        PairAnswer(id=p.id, source=p.source, target=p.target, valid_at=p.valid_at, invalid_at=p.invalid_at)
        for p in pairs
    )
    return {**fields, "id": shown.hyperedge or shown.id, "pairs": told} if told else fields


def fact_answer(fact: Fact, known_at: datetime | None = None) -> FactAnswer | None:
    """A fact read by id: as believed at `known_at`, else as last believed; None when it was not believed then."""
    shown = last_view(fact) if known_at is None else view(fact, known_at)
    return None if shown is None else FactAnswer(**fact_fields(fact, shown))


def entity_fields(entity: Entity) -> dict[str, Any]:
    """The fields of an entity's answer."""
    return {
        "id": entity.id,
        "group_id": entity.group_id,
        "name": entity.name,
        "aliases": entity.aliases,
        "labels": tuple(entity.labels),
        "summary": entity.summary,
        "attributes": entity.attributes,
        "created_at": entity.created_at,
    }


_EPISODE_FIELDS = (
    "id",
    "group_id",
    "source",
    "content",
    "reference_time",
    "thread_id",
    "speaker",
    "source_description",
    "metadata",
)


def episode_fields(stored: StoredEpisode) -> dict[str, Any]:
    """The fields of an episode's answer, without what came out of it."""
    fields = {name: getattr(stored.episode, name) for name in _EPISODE_FIELDS}
    return {**fields, "state": stored.state, "reason": stored.reason}


def community_fields(community: Community) -> dict[str, Any]:
    """The fields of a community's answer."""
    return dict(community)
