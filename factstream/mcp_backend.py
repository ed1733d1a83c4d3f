"""The tools for agents, answered by a search service somewhere else."""

from __future__ import annotations

from typing import Any

from factstream.client import AsyncClient
from search_api.answers import ContextAnswer, EntityAnswer, EpisodeAnswer, EpisodeList, FactList, SearchAnswer
from search_api.lookups import EpisodesRead, Read, TimelineRead, cursor_of
from search_api.requests import ContextRequest, SearchRequest


class ClientBackend:
    """Passes each call on; the service judges keys, groups and ids. Raises what the client raises."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    async def search(self, request: SearchRequest) -> SearchAnswer:
        """As POST /v1/search."""
        return await self._client.search(**_asked(request))

    async def context(self, request: ContextRequest) -> ContextAnswer:
        """As POST /v1/context."""
        return await self._client.context(**_asked(request))

    async def timeline(self, entity_id: str, query: TimelineRead) -> FactList:
        """As GET /v1/entities/{id}/facts."""
        facts = await self._client.timeline(
            entity_id, query.group_id, as_of=query.as_of, known_at=query.known_at
        )
        return FactList(facts=facts)

    async def entity(self, entity_id: str, query: Read) -> EntityAnswer:
        """As GET /v1/entities/{id}."""
        return await self._client.entity(entity_id, query.group_id, known_at=query.known_at)

    async def episode(self, episode_id: str, query: Read) -> EpisodeAnswer:
        """As GET /v1/episodes/{id}."""
        return await self._client.episode(episode_id, query.group_id, known_at=query.known_at)

    async def episodes(self, group_id: str, query: EpisodesRead) -> EpisodeList:
        """As GET /v1/groups/{group}/episodes."""
        return await self._client.episode_page(
            group_id,
            before=query.before,
            cursor=None if query.cursor is None else cursor_of(query.cursor),
            limit=query.limit,
            thread_id=query.thread_id,
        )


def _asked(request: SearchRequest) -> dict[str, Any]:
    return request.model_dump(mode="json", exclude_unset=True)
