"""A stage whose surroundings go bad, on real Kafka: it stops with most events undone, and goes on when they are mended."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import orjson
import pytest

from pipeline.errors import Poison
from streams.delivery_settings import DeliverySettings
from streams.event import Event
from streams.halt_policy import HaltPolicy
from streams.health.limits import HealthLimits
from streams.health.worker_health import WorkerHealth
from streams.lane_app import LaneApp
from streams.lane_policy import LanePolicy
from streams.lane_work import LaneWork
from streams.prometheus_observer import PrometheusObserver
from streams.topics import DEAD, EPISODES
from tests.integration.streams.test_delivery import fill, serving

pytestmark = pytest.mark.integration

EVENTS, GROUPS, LIMIT = 120, 6, 10


class Misled(LaneWork[None, None]):
    """Takes every event for poison for as long as it is misled, as with a wrong ontology."""

    def __init__(self, *, misled: bool) -> None:
        self.misled = misled
        self.handled: dict[bytes, list[int]] = defaultdict(list)

    async def handle(self, event: Event, admitted: None, prepared: None) -> None:
        if self.misled:
            raise Poison("no ontology of that name", "ontology")
        self.handled[event.lane].append(orjson.loads(event.value or b"")["n"])


async def test_it_stops_tells_and_goes_on_by_itself(installation: Any, wait_for: Any) -> None:
    await fill(installation, EVENTS, GROUPS)
    settings = DeliverySettings(
        installation.bootstrap, installation.group, installation.prefix, report_every=0.2
    )
    work, observer = Misled(misled=True), PrometheusObserver()
    app = LaneApp(settings, observer=observer)
    app.stage("extract", EPISODES, work, LanePolicy(), HaltPolicy(consecutive=LIMIT, ratio=0, pause=1.0))
    health = WorkerHealth(app, HealthLimits(), [])

    def halted() -> float | None:
        return observer.registry.get_sample_value("factstream_stage_halted", {"stage": "extract"})

    async with serving(app):
        await wait_for(lambda: halted() == 1)
        [reason] = [one for one in (await health.readiness()).reasons if one.code == "halted"]
        assert reason.stage == "extract"
        assert "no ontology of that name" in reason.detail
        assert work.handled == {}
        work.misled = False
        await wait_for(lambda: halted() == 0)
        assert [one for one in (await health.readiness()).reasons if one.code == "halted"] == []
        dead_letters = ("factstream_dead_letters_total", {"stage": "extract"})
        await wait_for(
            lambda: (
                sum(map(len, work.handled.values())) + observer.registry.get_sample_value(*dead_letters)
                == EVENTS
            )
        )
    handled = sum(map(len, work.handled.values()))
    # A few more than the limit may die, since the deaths of one group alone stop nobody.
    assert LIMIT - 1 <= EVENTS - handled < EVENTS / 2
    letters = await installation.read(DEAD, lambda got: len(got) == EVENTS - handled)
    dead = {orjson.loads(letter.value)["event"]["n"] for letter in letters}
    for group, numbers in work.handled.items():
        assert numbers == [n for n in range(EVENTS) if b"g%d" % (n % GROUPS) == group and n not in dead]
    assert await installation.uncommitted(EPISODES) == 0


async def test_a_restart_while_it_is_stopped_loses_nothing(installation: Any, wait_for: Any) -> None:
    await fill(installation, EVENTS, GROUPS)
    settings = DeliverySettings(installation.bootstrap, installation.group, installation.prefix)
    observer = PrometheusObserver()
    app = LaneApp(settings, observer=observer)
    lanes = app.stage("extract", EPISODES, Misled(misled=True), halt=HaltPolicy(consecutive=LIMIT, ratio=0))
    async with serving(app):
        await wait_for(lambda: lanes.halt.halted)
    died = observer.registry.get_sample_value("factstream_dead_letters_total", {"stage": "extract"})
    letters = await installation.read(DEAD, lambda got: len(got) == died)
    dead = {orjson.loads(letter.value)["event"]["n"] for letter in letters}
    mended, again = Misled(misled=False), LaneApp(settings)
    again.stage("extract", EPISODES, mended)

    def all_there() -> bool:
        return dead.union(*mended.handled.values()) == set(range(EVENTS))

    async with serving(again):
        await wait_for(all_there)
        await wait_for(lambda: again.states[0].waiting == 0)
    assert len(dead) < EVENTS / 2
    assert await installation.uncommitted(EPISODES) == 0
