"""Readiness of a worker on real Kafka: an attempt that hangs for ever is seen, cut off, and nothing is lost by it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from streams.delivery_settings import DeliverySettings
from streams.event import Event
from streams.health.limits import HealthLimits
from streams.health.probes import broker_probe
from streams.health.worker_health import WorkerHealth
from streams.lane_app import LaneApp
from streams.lane_policy import LanePolicy
from streams.lane_work import LaneWork
from streams.topics import EPISODES
from tests.integration.streams.test_delivery import serving

pytestmark = pytest.mark.integration


class Hanging(LaneWork[None, None]):
    """Hangs for ever at the first attempt of the first event, as a call of a dead peer does."""

    def __init__(self) -> None:
        self.hung = False
        self.handled: list[bytes | None] = []

    async def handle(self, event: Event, admitted: None, prepared: None) -> None:
        if event.value == b"0" and not self.hung:
            self.hung = True
            await asyncio.Event().wait()
        self.handled.append(event.value)


async def test_a_hanging_attempt_is_a_reason_until_it_is_cut_off(installation: Any, wait_for: Any) -> None:
    for n in range(5):
        await installation.send(EPISODES, b"g", b"%d" % n)
    settings = DeliverySettings(installation.bootstrap, installation.group, installation.prefix)
    work, app = Hanging(), LaneApp(settings)
    app.stage("extract", EPISODES, work, LanePolicy(longest_attempt=4.0, first_pause=0.01))
    limits = HealthLimits(stuck=0.5, polling=30, oldest=0)
    health = WorkerHealth(app, limits, [broker_probe(installation.bootstrap)])
    seen: set[str] = set()

    async def look() -> bool:
        seen.update(one.code for one in (await health.readiness()).reasons)
        return "handler_stuck" in seen

    async with serving(app):
        await wait_for(lambda: work.hung)
        while not await look():
            await asyncio.sleep(0.1)
        assert work.handled == []
        assert (await health.readiness()).told()["stages"]["extract"]["waiting"] == 5
        await wait_for(lambda: len(work.handled) == 5)
        assert (await health.readiness()).reasons == ()
        assert app.poll_age is not None
        assert app.poll_age < 30
    assert work.handled == [b"%d" % n for n in range(5)]
    assert seen <= {"no_partitions", "handler_stuck", "nothing_finished"}
    assert await installation.uncommitted(EPISODES) == 0


async def test_no_broker_is_a_reason() -> None:
    found = await broker_probe("127.0.0.1:1")()
    assert found is not None
    assert found.code == "broker_away"
    assert "127.0.0.1:1" in found.detail
