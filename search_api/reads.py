"""The routes that read by id. Every read is limited to one group; an id of another group is a 404."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import TypeAdapter, ValidationError
from starlette.responses import Response

from pipeline.model.event import GroupId
from search_api.answers import (
    CommunityAnswer,
    EntityAnswer,
    EpisodeAnswer,
    EpisodeList,
    FactAnswer,
    FactList,
)
from search_api.lookups import EpisodesRead, Read, TimelineRead
from search_api.paths import PathId
from search_api.problems import field_problems, invalid
from search_api.routes import answer, problems
from search_api.service import KnownCaller, OpenService

_group = TypeAdapter(GroupId)

router = APIRouter(tags=["read"], responses=problems(400, 401, 403, 404, 422, 503, 504))


@router.get("/v1/episodes/{episode_id}", response_model=EpisodeAnswer)
async def episode(
    episode_id: PathId, query: Annotated[Read, Query()], service: OpenService, caller: KnownCaller
) -> Response:
    """An episode with its state, the facts that it supports and the entities that it mentions."""
    caller.must_read([query.group_id])
    return answer(await service.lookups.episode(episode_id, query))


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
    return answer(await service.lookups.episodes(group, query))


@router.get("/v1/facts/{fact_id}", response_model=FactAnswer)
async def fact(
    fact_id: PathId, query: Annotated[Read, Query()], service: OpenService, caller: KnownCaller
) -> Response:
    """A fact; one that is no longer believed is shown as it was last, with the time of its end in `expired_at`."""
    caller.must_read([query.group_id])
    return answer(await service.lookups.fact(fact_id, query))


@router.get("/v1/entities/{entity_id}", response_model=EntityAnswer)
async def entity(
    entity_id: PathId, query: Annotated[Read, Query()], service: OpenService, caller: KnownCaller
) -> Response:
    """An entity with its summary."""
    caller.must_read([query.group_id])
    return answer(await service.lookups.entity(entity_id, query))


@router.get("/v1/entities/{entity_id}/facts", response_model=FactList)
async def entity_facts(
    entity_id: PathId, query: Annotated[TimelineRead, Query()], service: OpenService, caller: KnownCaller
) -> Response:
    """The timeline of an entity: its facts in either direction, in the order of their start."""
    caller.must_read([query.group_id])
    return answer(await service.lookups.timeline(entity_id, query))


@router.get("/v1/communities/{community_id}", response_model=CommunityAnswer)
async def community(
    community_id: PathId, query: Annotated[Read, Query()], service: OpenService, caller: KnownCaller
) -> Response:
    """A community with its members."""
    caller.must_read([query.group_id])
    return answer(await service.lookups.community(community_id, query))
