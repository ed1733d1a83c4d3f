"""Lookups: what is read by id. Every read is limited to one group; an id of another group is not there."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator, model_validator

from pipeline.graph.search import GraphReader, Place, StoredEpisode
from pipeline.model.event import GroupId
from pipeline.model.fact import Fact, FactView, view
from pipeline.model.moments import Moment
from search_api.answers import (
    CommunityAnswer,
    EntityAnswer,
    EpisodeAnswer,
    EpisodeList,
    EpisodeSummary,
    FactAnswer,
    FactList,
    community_fields,
    entity_fields,
    episode_fields,
    fact_answer,
)
from search_api.problems import not_found
from search_api.read_answers import episode_answer, facts_answer, hyperedge_answer
from search_api.requests import field_error

_LOST_PLUS = re.compile(r"(?<=\d) (?=\d\d:?\d\d$)")


def _restore_plus(value: Any) -> Any:
    """A plus sign that was not percent-encoded arrives as a space: "12:00:00 05:30" meant "12:00:00+05:30"."""
    return _LOST_PLUS.sub("+", value) if isinstance(value, str) and "T" in value else value


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_CURSOR = re.compile(r"(-?\d{1,18})\.(-?\d{1,19})")
_SEQUENCES = range(-(2**63), 2**63)


def _place(value: Any) -> Place:
    """Reads what `cursor_of` writes."""
    match = _CURSOR.fullmatch(value) if isinstance(value, str) else None
    try:
        if match is not None and int(match[2]) in _SEQUENCES:
            return Place(_EPOCH + int(match[1]) * _MICROSECOND, int(match[2]))
    except OverflowError:
        pass
    raise ValueError("is not the `next` of a list of episodes")


def cursor_of(last: Place) -> str:
    """Where the next page begins: behind this episode, which is told apart from others of its time."""
    return f"{(last.reference_time - _EPOCH) // _MICROSECOND}.{last.sequence}"


def _place_of(stored: StoredEpisode) -> Place:
    return Place(stored.episode.reference_time, stored.episode.sequence)


QueryTime = Annotated[Moment, BeforeValidator(_restore_plus)]


class Read(BaseModel):
    """The query of a read by id. `known_at` left out is now."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    group_id: GroupId
    known_at: QueryTime | None = None

    def knew(self, created_at: datetime) -> bool:
        """Whether something that was stored at this time was known."""
        return self.known_at is None or created_at <= self.known_at


class TimelineRead(Read):
    """The query of a timeline. `as_of` left out is any time."""

    as_of: QueryTime | None = None


class EpisodesRead(BaseModel):
    """The query of a list of episodes. `before` is exclusive; `cursor` is the `next` of the page before."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    before: QueryTime | None = None
    cursor: Annotated[Place, PlainValidator(_place, json_schema_input_type=str)] | None = None
    limit: Annotated[int, Field(ge=1, le=100)] = 100
    thread_id: str | None = None

    @model_validator(mode="after")
    def _begins_in_one_way(self) -> Self:
        if self.before is not None and self.cursor is not None:
            raise field_error("cursor", "give either before or cursor")
        return self


class Lookups:
    """Reads by id over a store. Raises a 404 problem for what is not there, and what the reader raises."""

    def __init__(self, reader: GraphReader) -> None:
        self._reader = reader

    async def episode(self, episode_id: str, query: Read) -> EpisodeAnswer:
        """An episode with its state, the facts that it supports and the entities that it mentions."""
        stored = await self._reader.episode(query.group_id, episode_id)
        if stored is None or not query.knew(stored.created_at):
            raise not_found("episode", episode_id, query.group_id)
        return await episode_answer(self._reader, stored, query.known_at)

    async def episodes(self, group_id: str, query: EpisodesRead) -> EpisodeList:
        """The episodes of a group, newest reference time first."""
        found = await self._reader.episodes(
            group_id, before=query.cursor or query.before, limit=query.limit, thread_id=query.thread_id
        )
        return EpisodeList(
            episodes=tuple(EpisodeSummary(**episode_fields(one)) for one in found),
            next=cursor_of(_place_of(found[-1])) if len(found) == query.limit else None,
        )

    async def fact(self, fact_id: str, query: Read) -> FactAnswer:
        """A fact; one that is no longer believed as it was last. Under an id that several share, with its pairs."""
        stored = await self._reader.fact(query.group_id, fact_id)
        if stored is not None:
            shown = fact_answer(stored, query.known_at)
        else:
            facts = await self._reader.hyperedges(query.group_id, [fact_id])
            shown = hyperedge_answer(fact_id, facts, query.known_at)
        if shown is None:
            raise not_found("fact", fact_id, query.group_id)
        return shown

    async def entity(self, entity_id: str, query: Read) -> EntityAnswer:
        """An entity with its summary."""
        stored = await self._reader.entity(query.group_id, entity_id)
        if stored is None or not query.knew(stored.created_at):
            raise not_found("entity", entity_id, query.group_id)
        return EntityAnswer(**entity_fields(stored))

    async def timeline(self, entity_id: str, query: TimelineRead) -> FactList:
        """The facts of an entity in either direction, in the order of their start."""
        facts = await self._reader.entity_facts(query.group_id, entity_id)
        if facts is None:
            raise not_found("entity", entity_id, query.group_id)
        shown = [(one, seen) for one in facts if (seen := view(one, query.known_at)) is not None]
        if query.as_of is not None:
            shown = [(one, seen) for one, seen in shown if seen.holds_at(query.as_of)]
        shown.sort(key=_by_start)
        return FactList(facts=await facts_answer(self._reader, shown, query.known_at, query.as_of))

    async def community(self, community_id: str, query: Read) -> CommunityAnswer:
        """A community with its members."""
        stored = await self._reader.community(query.group_id, community_id)
        if stored is None or not query.knew(stored.created_at):
            raise not_found("community", community_id, query.group_id)
        return CommunityAnswer(**community_fields(stored))


def _by_start(pair: tuple[Fact, FactView]) -> tuple[datetime, str]:
    """An unknown start comes before every known one."""
    return (pair[1].valid_at or datetime.min.replace(tzinfo=UTC), pair[1].id)
