"""The canary through real Kafka and Neo4j: measured end to end, one for two workers, and seen by nobody."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import pytest

from pipeline.clock import system_clock
from pipeline.embedding.hashing import HashingEmbedder
from pipeline.extraction.router import RoutingExtractor
from pipeline.extraction.triples import TriplesExtractor
from pipeline.graph.neo4j.connection import Neo4jConnection
from pipeline.graph.neo4j.reader import Neo4jGraphReader
from pipeline.graph.neo4j.store import Neo4jGraphStore
from pipeline.observer import SilentObserver
from pipeline.stages.extract import ExtractStage
from pipeline.stages.resolve_entities import ResolveEntitiesStage
from pipeline.stages.resolve_facts import ResolveFactsStage
from pipeline.stages.update_communities import UpdateCommunitiesStage
from streams.canary.canary import CanarySettings
from streams.canary.group import canary_group
from streams.canary.looking import Looking
from streams.delivery_settings import DeliverySettings
from streams.prometheus_observer import PrometheusObserver
from streams.topics import CHANGES, DEAD, EPISODES, EXTRACTED, STATUS
from streams.worker import Stages, Worker, WorkerSettings
from tests.integration.pipeline.running import DIMENSION, Running, running
from tests.integration.pipeline.waiting import until

pytestmark = pytest.mark.integration


class Flying:
    """A worker in this process that flies canaries."""

    def __init__(self, installation: Running, store: Neo4jGraphStore, looking: Looking) -> None:
        self.observer = PrometheusObserver()
        parts = (HashingEmbedder(DIMENSION), system_clock, self.observer)
        self.worker = Worker(
            WorkerSettings(
                DeliverySettings(installation.bootstrap, installation.consumer_group, installation.prefix),
                canary=CanarySettings(every=1.0, patience=60.0),
            ),
            Stages(
                ExtractStage(store, RoutingExtractor(TriplesExtractor(), TriplesExtractor()), *parts),
                ResolveEntitiesStage(store, *parts),
                ResolveFactsStage(store, *parts),
                UpdateCommunitiesStage(store, *parts),
            ),
            store,
            self.observer,
            system_clock,
            looking=looking,
        )

    def flown(self, step: str) -> float:
        name = "factstream_canary_seconds_count"
        return self.observer.registry.get_sample_value(name, {"step": step}) or 0.0


async def test_one_canary_comes_through_and_nobody_sees_it(kafka_bootstrap: str, bolt_uri: str) -> None:
    async with running(kafka_bootstrap, bolt_uri) as installation, AsyncExitStack() as stack:
        store = Neo4jGraphStore(installation.bolt, dimension=DIMENSION)
        reader = Neo4jGraphReader(Neo4jConnection(installation.bolt, None, None, "neo4j", SilentObserver()))
        for opened in (store, reader):
            await opened.open()
            stack.push_async_callback(opened.close)
        looking = Looking(reader, store, installation.prefix)
        group = canary_group(installation.prefix)
        both = [Flying(installation, store, looking) for _ in range(2)]
        stop = asyncio.Event()
        tasks = [asyncio.create_task(one.worker.run(stop)) for one in both]

        async def twice() -> bool:
            assert not any(task.done() for task in tasks)
            return max(one.flown("facts") for one in both) >= 2

        try:
            await until(twice)
            raw = await installation.records(EPISODES)
            ready = [await one.worker._health.readiness() for one in both]
        finally:
            stop.set()
            await asyncio.gather(*tasks)
        assert sum(answer.canary_age is not None for answer in ready) == 1
        assert {record.key.decode() for record in raw} == {group}
        assert len(raw) <= 2 + sum(one.flown("facts") for one in both)
        assert await installation.records(EXTRACTED)
        for topic in (STATUS, CHANGES, DEAD):
            assert await installation.records(topic) == []
        await looking.clean_up(installation.producer)
        assert not (await store.ledger(group)).episodes
        assert [r for r in await installation.records(EXTRACTED) if r.value is None]
