"""The routes that read by id. Every read is limited to one group; an id of another group is a 404."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError
from starlette.responses import Response

from pipeline.graph.search import GraphReader
from pipeline.model.entity import Entity
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
    episode_answer,
    episode_fields,
    fact_answer,
    fact_fields,
)
from search_api.paths import PathId
from search_api.problems import field_problems, invalid, not_found
from search_api.routes import answer, problems
from search_api.service import KnownCaller, OpenService

_LOST_PLUS = re.compile(r"(?<=\d) (?=\d\d:?\d\d$)")
_group = TypeAdapter(GroupId)


def _restore_plus(value: Any) -> Any:
    """A plus sign that was not percent-encoded arrives as a space: "12:00:00 05:30" meant "12:00:00+05:30"."""
    return _LOST_PLUS.sub("+", value) if isinstance(value, str) and "T" in value else value


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
    """The query of a list of episodes. `before` is exclusive."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    before: QueryTime | None = None
    limit: Annotated[int, Field(ge=1, le=100)] = 100
    thread_id: str | None = None


router = APIRouter(tags=["read"], responses=problems(400, 401, 403, 404, 422, 503))


@router.get("/v1/episodes/{episode_id}", response_model=EpisodeAnswer)
async def episode(
    episode_id: PathId, query: Annotated[Read, Query()], service: OpenService, caller: KnownCaller
) -> Response:
    """An episode with its state, the facts that it supports and the entities that it mentions."""
    caller.must_read([query.group_id])
    stored = await service.reader.episode(query.group_id, episode_id)
    if stored is None or not query.knew(stored.created_at):
        raise not_found("episode", episode_id, query.group_id)
    return answer(episode_answer(stored, query.known_at))


@router.get("/v1/groups/{group}/episodes", response_model=EpisodeList)
async def episodes(
    group: PathId, query: Annotated[EpisodesRead, Query()], service: OpenService, caller: KnownCaller
) -> Response:
    """The episodes of a group, newest reference time first."""
    try:
        _group.validate_python(group)
    except ValidationError as error:
        raise invalid(
            one.model_copy(update={"path": "group"}) for one in field_problems(error.errors())
        ) from None
    caller.must_read([group])
    found = await service.reader.episodes(
        group, before=query.before, limit=query.limit, thread_id=query.thread_id
    )
    return answer(EpisodeList(episodes=tuple(EpisodeSummary(**episode_fields(one)) for one in found)))


@router.get("/v1/facts/{fact_id}", response_model=FactAnswer)
async def fact(
    fact_id: PathId, query: Annotated[Read, Query()], service: OpenService, caller: KnownCaller
) -> Response:
    """A fact; one that is no longer believed is shown as it was last, with the time of its end in `expired_at`."""
    caller.must_read([query.group_id])
    stored = await service.reader.fact(query.group_id, fact_id)
    shown = None if stored is None else fact_answer(stored, query.known_at)
    if shown is None:
        raise not_found("fact", fact_id, query.group_id)
    return answer(shown)


@router.get("/v1/entities/{entity_id}", response_model=EntityAnswer)
async def entity(
    entity_id: PathId, query: Annotated[Read, Query()], service: OpenService, caller: KnownCaller
) -> Response:
    """An entity with its summary."""
    caller.must_read([query.group_id])
    return answer(EntityAnswer(**entity_fields(await _known_entity(service.reader, entity_id, query))))


@router.get("/v1/entities/{entity_id}/facts", response_model=FactList)
async def entity_facts(
    entity_id: PathId, query: Annotated[TimelineRead, Query()], service: OpenService, caller: KnownCaller
) -> Response:
    """The timeline of an entity: its facts in either direction, in the order of their start."""
    caller.must_read([query.group_id])
    facts = await service.reader.entity_facts(query.group_id, entity_id)
    if facts is None:
        raise not_found("entity", entity_id, query.group_id)
    shown = [(one, seen) for one in facts if (seen := view(one, query.known_at)) is not None]
    if query.as_of is not None:
        shown = [(one, seen) for one, seen in shown if _holds(seen, query.as_of)]
    shown.sort(key=_by_start)
    return answer(FactList(facts=tuple(FactAnswer(**fact_fields(one, seen)) for one, seen in shown)))


@router.get("/v1/communities/{community_id}", response_model=CommunityAnswer)
async def community(
    community_id: PathId, query: Annotated[Read, Query()], service: OpenService, caller: KnownCaller
) -> Response:
    """A community with its members."""
    caller.must_read([query.group_id])
    stored = await service.reader.community(query.group_id, community_id)
    if stored is None or not query.knew(stored.created_at):
        raise not_found("community", community_id, query.group_id)
    return answer(CommunityAnswer(**community_fields(stored)))


async def _known_entity(reader: GraphReader, entity_id: str, query: Read) -> Entity:
    stored = await reader.entity(query.group_id, entity_id)
    if stored is None or not query.knew(stored.created_at):
        raise not_found("entity", entity_id, query.group_id)
    return stored


def _holds(seen: FactView, at: datetime) -> bool:
    return (seen.valid_at is None or seen.valid_at <= at) and (
        seen.invalid_at is None or at < seen.invalid_at
    )


def _by_start(pair: tuple[Fact, FactView]) -> tuple[datetime, str]:
    """An unknown start comes before every known one."""
    return (pair[1].valid_at or datetime.min.replace(tzinfo=UTC), pair[1].id)
