"""Gateway, worker and search service in this process, over an installation."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from pipeline.clock import system_clock
from pipeline.embedding.hashing import HashingEmbedder
from pipeline.embedding.port import Embedder
from pipeline.extraction.local.extractor import LocalExtractor
from pipeline.extraction.router import RoutingExtractor
from pipeline.graph.neo4j.connection import Neo4jConnection
from pipeline.graph.neo4j.reader import Neo4jGraphReader
from pipeline.graph.neo4j.store import Neo4jGraphStore
from pipeline.observer import Observer, SilentObserver
from pipeline.stages.extract import ExtractStage
from pipeline.stages.resolve_entities import ResolveEntitiesStage
from pipeline.stages.resolve_facts import ResolveFactsStage
from pipeline.stages.update_communities import UpdateCommunitiesStage
from search_api.app import create_app
from search_api.settings import ApiSettings
from streams.delivery_settings import DeliverySettings
from streams.gateway.app import GatewaySettings, create_gateway
from streams.lane_policy import LanePolicy
from streams.prometheus_observer import PrometheusObserver
from streams.worker import Stages, Worker, WorkerSettings
from tests.integration.pipeline.running import DIMENSION, Running
from tests.integration.pipeline.waiting import until

FINAL = ("committed", "skipped", "dead")


class FailingStore:
    """A GraphStore whose `operation` raises ValueError for one episode, for as long as `broken` is set."""

    def __init__(self, store: Any, operation: str, episode: str) -> None:
        self._store = store
        self._operation = operation
        self._episode = episode
        self.broken = True

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)
        if name != self._operation:
            return method

        async def call(*args: Any) -> Any:
            if self.broken and getattr(args[0], "episode", args[0]).id == self._episode:
                raise ValueError(f"the {name} of {self._episode} is broken")
            return await method(*args)

        return call


@dataclass
class Services:
    """Clients of the two doors."""

    installation: Running
    gateway: httpx.AsyncClient
    search: httpx.AsyncClient

    async def publish(self, *events: dict[str, Any]) -> list[str]:
        """Through the gateway; the ids that it answers."""
        answer = await self.gateway.post("/v1/episodes", json=list(events))
        assert answer.status_code == 202, answer.text
        return list(answer.json()["ids"])

    async def episode(self, group: str, episode: str) -> dict[str, Any]:
        """An episode as the search service shows it; empty as long as it knows none."""
        answer = await self.search.get(f"/v1/episodes/{episode}", params={"group_id": group})
        assert answer.status_code in (200, 404), answer.text
        return dict(answer.json()) if answer.status_code == 200 else {}

    async def until_final(self, group: str, *episodes: str) -> dict[str, str]:
        """The final states of some episodes."""
        states: dict[str, str] = {}

        async def final() -> bool:
            for episode in episodes:
                states[episode] = (await self.episode(group, episode)).get("state", "")
            return all(state in FINAL for state in states.values())

        await until(final)
        return states

    async def find(self, group: str, query: str, scope: str) -> list[dict[str, Any]]:
        """What a search with defaults finds in one scope."""
        asked = {"query": query, "group_ids": [group], "scopes": [scope]}
        answer = await self.search.post("/v1/search", json=asked)
        assert answer.status_code == 200, answer.text
        return list(answer.json()[scope])


@asynccontextmanager
async def serving(
    installation: Running,
    failing: tuple[str, str] | None = None,
    stages: Callable[[Any, Embedder, Observer], Stages] | None = None,
) -> AsyncIterator[Any]:
    """(services, the failing store or None). `failing` is (operation, episode id); `stages` are made otherwise."""
    async with AsyncExitStack() as stack:
        observer, embedder = PrometheusObserver(), HashingEmbedder(DIMENSION)
        store = Neo4jGraphStore(installation.bolt, dimension=DIMENSION, observer=observer)
        await store.open()
        stack.push_async_callback(store.close)
        broken = FailingStore(store, *failing) if failing else None
        seen: Any = broken or store
        parts = (embedder, system_clock, observer)
        worker = Worker(
            WorkerSettings(
                DeliverySettings(installation.bootstrap, installation.consumer_group, installation.prefix),
                LanePolicy(attempts=2, first_pause=0.01, longest_pause=0.5),
            ),
            stages(seen, embedder, observer)
            if stages
            else Stages(
                ExtractStage(seen, RoutingExtractor(LocalExtractor()), *parts),
                ResolveEntitiesStage(seen, *parts),
                ResolveFactsStage(seen, *parts),
                UpdateCommunitiesStage(seen, *parts),
            ),
            store,
            observer,
            system_clock,
        )
        stop = asyncio.Event()
        working = asyncio.create_task(worker.run(stop))

        async def end_worker() -> None:
            stop.set()
            await working

        stack.push_async_callback(end_worker)

        async def ready() -> None: ...

        gateway = create_gateway(
            GatewaySettings(topic_prefix=installation.prefix), installation.producer, ready=ready
        )
        reader = Neo4jGraphReader(Neo4jConnection(installation.bolt, None, None, "neo4j", SilentObserver()))
        search = create_app(ApiSettings(), reader, embedder)
        clients = []
        for app in (gateway, search):
            await stack.enter_async_context(app.router.lifespan_context(app))
            transport = httpx.ASGITransport(app=app)
            clients.append(
                await stack.enter_async_context(httpx.AsyncClient(transport=transport, base_url="http://app"))
            )
        yield Services(installation, *clients), broken
