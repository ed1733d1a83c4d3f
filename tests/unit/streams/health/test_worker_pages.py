"""The worker's pages: /healthz asks nobody, /readyz asks all and says why."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from prometheus_client import CollectorRegistry

from pipeline.errors import Retryable
from streams.health.limits import HealthLimits
from streams.health.probes import breaker_probe, graph_probe
from streams.health.stage_state import StageState
from streams.health.worker_health import WorkerHealth
from streams.worker_pages import worker_pages


class App:
    """What a worker's application tells."""

    def __init__(self) -> None:
        self.partitions_held = 4
        self.poll_age: float | None = 0.5
        self.states = [StageState("extract", waiting=2, oldest_age=3.0)]


class Store:
    """A store that answers, or not."""

    def __init__(self) -> None:
        self.pings = 0
        self.error: Exception | None = None

    async def ping(self) -> None:
        self.pings += 1
        if self.error is not None:
            raise self.error


class Breaker:
    open = False


@pytest.fixture
def world() -> tuple[App, Store, Breaker]:
    return App(), Store(), Breaker()


@pytest.fixture
def ask(world):
    app, store, breaker = world
    store_probe: Any = graph_probe(store)
    health = WorkerHealth(app, HealthLimits(), [store_probe, breaker_probe("http://model", breaker)])
    pages = worker_pages(health.readiness, CollectorRegistry())

    async def get(path: str) -> httpx.Response:
        transport = httpx.ASGITransport(app=pages)
        async with httpx.AsyncClient(transport=transport, base_url="http://worker") as client:
            return await client.get(path)

    return get


async def test_ready_shows_the_stages(ask):
    answer = await ask("/readyz")
    assert answer.status_code == 200
    assert answer.json()["status"] == "ok"
    assert answer.json()["reasons"] == []
    assert answer.json()["stages"]["extract"]["waiting"] == 2


async def test_every_reason_is_told_at_once(ask, world):
    app, store, breaker = world
    app.partitions_held, app.poll_age = 0, 61.0
    store.error, breaker.open = Retryable("connection refused"), True
    answer = await ask("/readyz")
    assert answer.status_code == 503
    assert answer.json()["status"] == "waiting"
    assert [one["code"] for one in answer.json()["reasons"]] == [
        "graph_away",
        "model_away",
        "no_partitions",
        "not_polling",
    ]
    assert "connection refused" in answer.json()["reasons"][0]["detail"]


async def test_healthz_touches_no_store(ask, world):
    _, store, _ = world
    store.error = Retryable("gone")
    assert (await ask("/healthz")).json() == {"status": "ok"}
    assert store.pings == 0
