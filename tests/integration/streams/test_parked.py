"""A group without budget, through real Kafka: its events wait, its partitions go on, a restart loses nothing."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest
from aiokafka import AIOKafkaProducer

from pipeline.errors import Parked
from streams.delivery_settings import DeliverySettings
from streams.event import Event
from streams.lane_app import LaneApp
from streams.lane_policy import LanePolicy
from streams.lane_work import LaneWork
from streams.prometheus_observer import PrometheusObserver
from streams.topics import EPISODES
from tests.integration.streams.test_delivery import serving

pytestmark = pytest.mark.integration

EVENTS = 200


class Budgeted(LaneWork[int, int]):
    """Records what it admits and handles; what the group "poor" wants is parked for an hour while it has nothing."""

    def __init__(self, *, poor: bool) -> None:
        self.poor = poor
        self.admitted: dict[str, set[int]] = defaultdict(set)
        self.handled: dict[str, list[int]] = defaultdict(list)

    async def admit(self, event: Event) -> int:
        number = int(orjson.loads(event.value or b"")["n"])
        self.admitted[event.lane.decode()].add(number)
        return number

    async def prepare(self, event: Event, admitted: int) -> int:
        if self.poor and event.lane == b"poor":
            raise Parked("the budget is used up", datetime.now(UTC) + timedelta(hours=1))
        return admitted

    async def handle(self, event: Event, admitted: int, prepared: int) -> None:
        self.handled[event.lane.decode()].append(prepared)


async def test_a_group_without_budget_holds_up_nobody_and_its_events_outlive_a_restart(
    installation: Any, wait_for: Any
) -> None:
    async with AIOKafkaProducer(bootstrap_servers=installation.bootstrap) as producer:
        for n in range(EVENTS):
            group = b"poor" if n % 2 else b"rich"
            # One partition for both, so that the poor one is in the way of the rich one if it ever is.
            await producer.send_and_wait(
                EPISODES.named(installation.prefix), orjson.dumps({"n": n}), key=group, partition=0
            )
    settings = DeliverySettings(
        installation.bootstrap, installation.group, installation.prefix, report_every=0.2
    )
    work, observer = Budgeted(poor=True), PrometheusObserver()
    app = LaneApp(settings, observer=observer)
    app.stage("extract", EPISODES, work, LanePolicy(max_pending=8, ahead=2, concurrency=2))
    async with serving(app):
        await wait_for(lambda: len(work.handled["rich"]) == EVENTS // 2)
        await wait_for(lambda: len(work.admitted["poor"]) == EVENTS // 2)
        await wait_for(
            lambda: (
                observer.registry.get_sample_value("factstream_parked_events", {"stage": "extract"}) == 100
            )
        )
    assert work.handled["poor"] == []
    assert work.handled["rich"] == list(range(0, EVENTS, 2))

    richer = Budgeted(poor=False)
    again = LaneApp(settings)
    again.stage("extract", EPISODES, richer, LanePolicy(max_pending=8))
    async with serving(again):
        await wait_for(lambda: len(richer.handled["poor"]) == EVENTS // 2)
    assert richer.handled["poor"] == list(range(1, EVENTS, 2))
    assert await installation.uncommitted(EPISODES) == 0
