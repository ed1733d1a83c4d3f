"""The MCP server under /mcp of the search service: streamable HTTP, without sessions, with the keys of the service."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import TypeVar

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import HTTPConnection
from starlette.types import Receive, Scope, Send

from pipeline.access import is_loopback
from search_api.answers import ContextAnswer, EntityAnswer, EpisodeAnswer, EpisodeList, FactList, SearchAnswer
from search_api.auth import Caller
from search_api.lookups import EpisodesRead, Read, TimelineRead
from search_api.mcp_server import Context, build_server
from search_api.problems import ProblemError, problem_response, unavailable
from search_api.requests import ContextRequest, SearchRequest
from search_api.service import Service
from search_api.turns import Turn

CALLER = "factstream.caller"
_LOCAL = ("127.0.0.1", "localhost", "[::1]")

T = TypeVar("T")


class ServiceBackend:
    """Answers the tools from the service, in a turn, for one caller."""

    def __init__(self, service: Service, caller: Caller) -> None:
        self._service = service
        self._caller = caller

    async def search(self, request: SearchRequest) -> SearchAnswer:
        """As POST /v1/search."""
        async with self._turn() as turn:
            return await self._service.answering.search(request, self._caller, turn)

    async def context(self, request: ContextRequest) -> ContextAnswer:
        """As POST /v1/context."""
        async with self._turn() as turn:
            return await self._service.answering.context(request, self._caller, turn)

    async def timeline(self, entity_id: str, query: TimelineRead) -> FactList:
        """As GET /v1/entities/{id}/facts."""
        async with self._turn([query.group_id]):
            return await self._service.lookups.timeline(entity_id, query)

    async def entity(self, entity_id: str, query: Read) -> EntityAnswer:
        """As GET /v1/entities/{id}."""
        async with self._turn([query.group_id]):
            return await self._service.lookups.entity(entity_id, query)

    async def episode(self, episode_id: str, query: Read) -> EpisodeAnswer:
        """As GET /v1/episodes/{id}."""
        async with self._turn([query.group_id]):
            return await self._service.lookups.episode(episode_id, query)

    async def episodes(self, group_id: str, query: EpisodesRead) -> EpisodeList:
        """As GET /v1/groups/{group}/episodes."""
        async with self._turn([group_id]):
            return await self._service.lookups.episodes(group_id, query)

    @asynccontextmanager
    async def _turn(self, groups: Sequence[str] = ()) -> AsyncIterator[Turn]:
        self._service.opening.check()
        self._caller.must_read(groups)
        async with self._service.turns.turn() as turn:
            yield turn


class McpEndpoint:
    """ASGI application for one path.

    Each POST stands by itself and is answered with JSON, so that any replica can answer it and its key is checked each
    time; there are no streams to open (GET) and no sessions to end (DELETE), which the protocol allows for. Without
    keys, requests that name another host than this machine are refused, since a page in a browser could send them.
    """

    def __init__(self, service: Service, version: str) -> None:
        self._service = service
        self._server = build_server(self._backend, version, service.metrics.tool_called)
        self._manager: StreamableHTTPSessionManager | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Requests are answered inside the block."""
        settings = self._service.settings
        manager = StreamableHTTPSessionManager(
            self._server,
            json_response=True,
            stateless=True,
            security_settings=_security(self._service),
            max_request_body_size=settings.max_body_bytes,
        )
        ready, stop = asyncio.Event(), asyncio.Event()

        # The manager wants to be left by the task that entered it, which servers and tests do not promise.
        async def run() -> None:
            async with manager.run():
                ready.set()
                await stop.wait()

        running = asyncio.create_task(run())
        waiting = asyncio.create_task(ready.wait())
        await asyncio.wait({running, waiting}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        self._manager = manager
        try:
            yield
        finally:
            self._manager = None
            stop.set()
            await running

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        try:
            if scope["method"] != "POST":
                raise ProblemError(
                    HTTPStatus.METHOD_NOT_ALLOWED, "only POST is answered here", headers={"Allow": "POST"}
                )
            scope[CALLER] = self._service.keys.caller(HTTPConnection(scope))
            if self._manager is None:
                raise unavailable("the service is not running", self._service.settings.retry_after_seconds)
        except ProblemError as problem:
            await problem_response(problem)(scope, receive, send)
            return
        await self._manager.handle_request(scope, receive, send)

    def _backend(self, context: Context) -> ServiceBackend:
        if context.request is None:
            raise RuntimeError("the tools of the service are called over HTTP only")
        return ServiceBackend(self._service, context.request.scope[CALLER])


def _security(service: Service) -> TransportSecuritySettings:
    if service.keys.required or not is_loopback(service.settings.host):
        return TransportSecuritySettings(enable_dns_rebinding_protection=False)
    hosts = [f"{host}{port}" for host in _LOCAL for port in ("", ":*")]
    return TransportSecuritySettings(
        allowed_hosts=hosts, allowed_origins=[f"http://{host}" for host in hosts]
    )
