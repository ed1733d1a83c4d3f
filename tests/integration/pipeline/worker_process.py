"""A real worker, that may be told where to die. What it is told is a dictionary.

Fields: bootstrap, bolt, prefix, consumer_group, dimension; optional crash: {point, occurrence, marker, episode}.
"""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from typing import Any

import streams.worker
from pipeline.clock import system_clock
from pipeline.embedding.hashing import HashingEmbedder
from pipeline.extraction.local.extractor import LocalExtractor
from pipeline.extraction.router import RoutingExtractor
from pipeline.graph.neo4j.store import Neo4jGraphStore
from pipeline.stages.extract import ExtractStage
from pipeline.stages.resolve_entities import ResolveEntitiesStage
from pipeline.stages.resolve_facts import ResolveFactsStage
from pipeline.stages.update_communities import UpdateCommunitiesStage
from streams import lane_app
from streams.delivery_settings import DeliverySettings
from streams.lane_policy import LanePolicy
from streams.prometheus_observer import PrometheusObserver
from streams.worker import Stages, Worker, WorkerSettings
from tests.integration.pipeline.crash_points import CrashingStore, CrashPlan, crashing_producer

# A killed worker is taken out of its group after this long; the default would make each test wait 15 s.
lane_app.SAFE |= {"broker_session_timeout": 6.0, "broker_heartbeat_interval": 1.5}


def worker_of(told: dict[str, Any], store: Any, observer: PrometheusObserver, store_seen: Any) -> Worker:
    """The worker as it is composed in production, over the store that is given."""
    embedder = HashingEmbedder(told["dimension"])
    parts = (embedder, system_clock, observer)
    return Worker(
        WorkerSettings(
            DeliverySettings(told["bootstrap"], told["consumer_group"], told["prefix"], grace=5.0),
            LanePolicy(first_pause=0.05, longest_pause=2.0),
        ),
        Stages(
            extract=ExtractStage(store_seen, RoutingExtractor(LocalExtractor()), *parts),
            resolve_entities=ResolveEntitiesStage(store_seen, *parts),
            resolve_facts=ResolveFactsStage(store_seen, *parts),
            update_communities=UpdateCommunitiesStage(store_seen, *parts),
        ),
        store,
        observer,
        system_clock,
    )


async def main(told: dict[str, Any]) -> None:
    observer = PrometheusObserver()
    store = Neo4jGraphStore(told["bolt"], dimension=told["dimension"], observer=observer)
    seen: Any = store
    if crash := told.get("crash"):
        plan = CrashPlan(**{**crash, "marker": Path(crash["marker"])})
        seen = CrashingStore(store, plan)
        streams.worker.Producer = crashing_producer(plan, told["prefix"])  # type: ignore[misc]
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    await store.open()
    try:
        await worker_of(told, store, observer, seen).run(stop)
    finally:
        await store.close()


def run(told: dict[str, Any]) -> None:
    """Until SIGTERM; the process ends with code 0 then."""
    asyncio.run(main(told))
