"""A worker ends when it is told to, whatever its consumer group is doing at that moment."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import pytest

from streams.delivery_settings import DeliverySettings
from streams.drained import Drained
from streams.event import Event
from streams.lane_app import LaneApp
from streams.lane_work import LaneWork
from streams.topics import EPISODES

pytestmark = pytest.mark.integration

WITHOUT_HANGING = 90.0
"""Seconds: more than all bounds of a stop together."""


class Count(LaneWork[int, int]):
    """Counts what it handles; from `hold` on it holds what comes until it is released."""

    def __init__(self) -> None:
        self.handled = 0
        self.held = 0
        self.hold = 1_000
        self.released = asyncio.Event()

    async def admit(self, event: Event) -> int:
        return event.offset

    async def prepare(self, event: Event, admitted: int) -> int:
        return admitted

    async def handle(self, event: Event, admitted: Any, prepared: Any) -> None:
        if self.handled >= self.hold:
            self.held += 1
            await self.released.wait()
        self.handled += 1


class StoppedInARebalance(LaneApp):
    """Is told to stop when its partitions are called back, and answers only when its consumer is closing."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.stop_it = asyncio.Event()
        self.armed = False
        self.met = False

    async def _on_partitions_revoked(self, revoked: Any) -> None:
        if self.armed:
            self.stop_it.set()
            while not self.consumer._thread.should_stop:
                await asyncio.sleep(0.01)
            self.met = True
        await super()._on_partitions_revoked(revoked)


async def publish(installation: Any, events: range) -> None:
    for n in events:
        await installation.send(EPISODES, f"g{n % 10}".encode(), orjson.dumps({"n": n}))


async def test_a_worker_that_is_stopped_in_the_middle_of_a_rebalance_ends(installation, wait_for):
    settings = DeliverySettings(installation.bootstrap, installation.group, installation.prefix, grace=2.0)
    await publish(installation, range(40))
    first, work = StoppedInARebalance(settings), Count()
    first.stage("count", EPISODES, work)
    serving = asyncio.ensure_future(first.serve(first.stop_it))
    await wait_for(lambda: work.handled == 40)
    first.armed = True
    second, rest, stop = LaneApp(settings), Count(), asyncio.Event()
    second.stage("count", EPISODES, rest)
    other = asyncio.ensure_future(second.serve(stop))
    assert await asyncio.wait_for(serving, WITHOUT_HANGING) == Drained()
    assert first.met
    # Faust gives up on the thread of its consumer after a minute, and the thread then keeps the process for ever.
    thread = first.consumer._thread._thread
    assert thread is not None
    assert not thread.is_alive()
    await publish(installation, range(40, 80))
    await wait_for(lambda: rest.handled >= 40, 60)
    stop.set()
    await asyncio.wait_for(other, WITHOUT_HANGING)
    assert await installation.uncommitted(EPISODES) == 0


async def test_work_in_hand_is_counted_once_when_a_rebalance_meets_a_stop(installation, wait_for):
    settings = DeliverySettings(installation.bootstrap, installation.group, installation.prefix, grace=30.0)
    app, work = LaneApp(settings), Count()
    work.hold = 0
    app.stage("count", EPISODES, work)
    stop = asyncio.Event()
    serving = asyncio.ensure_future(app.serve(stop))
    await publish(installation, range(10))
    await wait_for(lambda: work.held == 10)
    stop.set()
    await wait_for(lambda: app.should_stop)
    revoked = asyncio.ensure_future(app._on_partitions_revoked(set()))
    await asyncio.sleep(0.2)
    work.released.set()
    await revoked
    drained = await asyncio.wait_for(serving, WITHOUT_HANGING)
    assert drained == Drained(finished=10)
    assert await installation.uncommitted(EPISODES) == 0


async def test_a_worker_that_waits_for_a_broker_ends():
    app = LaneApp(DeliverySettings("127.0.0.1:9", "nobody"))
    app.stage("count", EPISODES, Count())
    stop = asyncio.Event()
    serving = asyncio.ensure_future(app.serve(stop))
    await asyncio.sleep(0.5)
    assert not serving.done()
    stop.set()
    assert await asyncio.wait_for(serving, WITHOUT_HANGING) == Drained()
