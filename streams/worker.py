"""A worker: the four agents in one process, with its own pages for health and metrics."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import uvicorn

from pipeline.clock import Clock
from pipeline.graph.port import GraphStore
from pipeline.stages.extract import ExtractStage
from pipeline.stages.resolve_entities import ResolveEntitiesStage
from pipeline.stages.resolve_facts import ResolveFactsStage
from pipeline.stages.update_communities import UpdateCommunitiesStage
from streams.agents.extract import ExtractWork
from streams.agents.outbox import Outbox
from streams.agents.resolve_entities import ResolveEntitiesWork
from streams.agents.resolve_facts import ResolveFactsWork
from streams.agents.stage_work import StageWork
from streams.agents.update_communities import UpdateCommunitiesWork
from streams.canary.canary import Canary, CanarySettings
from streams.canary.flight import Flight
from streams.canary.group import canary_group
from streams.canary.looking import Looking
from streams.delivery_settings import DeliverySettings
from streams.halt_policy import HaltPolicy
from streams.health.limits import HealthLimits
from streams.health.probes import Probe, broker_probe, graph_probe
from streams.health.worker_health import WorkerHealth
from streams.lane_app import LaneApp
from streams.lane_policy import LanePolicy
from streams.producer import Producer
from streams.prometheus_observer import PrometheusObserver
from streams.timing import Timing
from streams.topics import CHANGES, EPISODES, EXTRACTED, RESOLVED, Topic
from streams.worker_pages import worker_pages

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Stages:
    """The four stages of an episode."""

    extract: ExtractStage
    resolve_entities: ResolveEntitiesStage
    resolve_facts: ResolveFactsStage
    update_communities: UpdateCommunitiesStage


@dataclass(frozen=True)
class WorkerSettings:
    """Frozen settings of a worker; `port` 0 serves no pages."""

    delivery: DeliverySettings
    policy: LanePolicy = field(default_factory=LanePolicy)
    host: str = "127.0.0.1"
    port: int = 0
    ontologies: Collection[str] = ()
    limits: HealthLimits = field(default_factory=HealthLimits)
    canary: CanarySettings = field(default_factory=CanarySettings)
    halt: HaltPolicy = field(default_factory=HaltPolicy)


class Worker:
    """Runs the four agents until it is told to stop. Made and run inside one event loop.

    `probes` are what readiness asks besides the graph and the broker. With `looking` it flies the canary.
    """

    def __init__(
        self,
        settings: WorkerSettings,
        stages: Stages,
        store: GraphStore,
        observer: PrometheusObserver,
        clock: Clock,
        probes: Sequence[Probe] = (),
        looking: Looking | None = None,
    ) -> None:
        self._settings = settings
        self._observer = observer
        producer = Producer(settings.delivery.bootstrap, observer=observer)
        self._summaries = stages.update_communities.summaries
        self._app = LaneApp(settings.delivery, producer=producer, observer=observer)
        outbox = Outbox(producer, settings.delivery.topic_prefix, clock)
        works: tuple[tuple[str, Topic, StageWork[Any, Any]], ...] = (
            ("extract", EPISODES, ExtractWork(stages.extract, outbox, settings.ontologies)),
            ("resolve_entities", EXTRACTED, ResolveEntitiesWork(stages.resolve_entities, outbox)),
            ("resolve_facts", RESOLVED, ResolveFactsWork(stages.resolve_facts, outbox)),
            ("update_communities", CHANGES, UpdateCommunitiesWork(stages.update_communities, outbox)),
        )
        for name, topic, work in works:
            self._app.stage(name, topic, work, settings.policy, settings.halt)
        asked = [graph_probe(store), broker_probe(settings.delivery.bootstrap), *probes]
        self._canary = None
        if looking is not None and settings.canary.every:
            self._canary = self._new_canary(looking, producer, clock)
        self._health = WorkerHealth(self._app, settings.limits, asked, self._canary)

    async def run(self, stop: asyncio.Event) -> None:
        """Until `stop` is set; logs what became of the work that was running then.

        Raises StartError when it cannot start, and what crashed it when it crashed.
        """
        pages = asyncio.create_task(self._serve_pages(stop)) if self._settings.port else None
        canary = asyncio.create_task(self._canary.run()) if self._canary else None
        try:
            drained = await self._app.serve(stop)
            log.info("stopped: %s", drained.told(self._settings.delivery.grace))
        finally:
            stop.set()
            if self._summaries is not None:
                await self._summaries.stop()
            if canary is not None:
                canary.cancel()
            if pages is not None:
                await pages

    def _new_canary(self, looking: Looking, producer: Producer, clock: Clock) -> Canary:
        settings, timing = self._settings, Timing(clock=clock)
        prefix = settings.delivery.topic_prefix
        flight = Flight(
            producer, prefix, looking, settings.canary.patience, timing, self._observer.canary_step
        )
        canary = Canary(
            settings.canary.every,
            flight,
            holds=lambda: self._app.holds_group(canary_group(prefix), EPISODES),
            clean_up=lambda: looking.clean_up(producer),
            on_lost=self._observer.canary_lost,
            timing=timing,
        )
        self._observer.watch_canary(lambda: canary.age or 0.0)
        return canary

    async def _serve_pages(self, stop: asyncio.Event) -> None:
        config = uvicorn.Config(
            worker_pages(self._health.readiness, self._observer.registry),
            host=self._settings.host,
            port=self._settings.port,
            log_level="warning",
            access_log=False,
        )
        server = _QuietServer(config)
        serving = asyncio.create_task(server.serve())
        await stop.wait()
        server.should_exit = True
        await serving


class _QuietServer(uvicorn.Server):
    """Leaves signals to the worker, which has more to stop than these pages."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Captures none."""
        yield
