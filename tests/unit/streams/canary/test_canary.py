"""Flights of the canary on a fake clock: what is measured, when one is lost, who flies it."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from pipeline.errors import Retryable
from pipeline.graph.search import Scope
from streams.canary.canary import CLEAN_UP_EVERY, Canary
from streams.canary.flight import CanaryLost, Flight
from streams.timing import Timing

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)


class World:
    """A clock that only pauses move, a producer, and a read side that finds things at given times."""

    def __init__(self) -> None:
        self.now = 0.0
        self.sent: list[tuple[str, bytes]] = []
        self.send_error: Exception | None = None
        self.found_at = {Scope.episodes: 2.0, Scope.facts: 7.0}
        self.search_error: Exception | None = None
        self.steps: list[tuple[str, float]] = []
        self.lost = 0
        self.held = True
        self.cleanings = 0
        self.started = 0.0
        self.stop_at: float | None = None
        self.timing = Timing(sleep=self.sleep, monotonic=lambda: self.now, clock=lambda: AT)
        self.flight = Flight(self, "p.", self, 30.0, self.timing, self.on_step)  # type: ignore[arg-type]
        self.canary = Canary(
            60.0,
            self.flight,
            holds=self.holds,
            clean_up=self.clean_up,
            on_lost=self.on_lost,
            timing=self.timing,
        )

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        if self.stop_at is not None and self.now >= self.stop_at:
            raise asyncio.CancelledError

    async def send(self, topic, key, value, headers=()):
        if self.send_error is not None:
            raise self.send_error
        self.started = self.now
        self.sent.append((topic, value))

    async def finds(self, scope: Scope, token: str) -> bool:
        if self.search_error is not None:
            raise self.search_error
        assert token.encode() in self.sent[-1][1]
        return self.now - self.started >= self.found_at[scope]

    def on_step(self, step, seconds):
        self.steps.append((step, seconds))

    async def holds(self) -> bool:
        return self.held

    async def clean_up(self) -> None:
        self.cleanings += 1

    def on_lost(self) -> None:
        self.lost += 1

    async def run(self, seconds: float) -> None:
        self.stop_at = self.now + seconds
        with pytest.raises(asyncio.CancelledError):
            await self.canary.run()


async def test_both_steps_are_measured_from_publishing():
    world = World()
    await world.flight.fly()
    assert world.steps == [("raw", 2.0), ("facts", 7.0)]
    assert [topic for topic, _ in world.sent] == ["p.episodes"]


async def test_one_that_is_not_found_is_lost_and_says_how_far_it_came():
    world = World()
    world.found_at[Scope.facts] = 1e9
    with pytest.raises(CanaryLost, match="fact did not become searchable"):
        await world.flight.fly()
    world.found_at[Scope.episodes] = 1e9
    with pytest.raises(CanaryLost, match="processed no further"):
        await world.flight.fly()
    world.search_error = Retryable("connection refused")
    with pytest.raises(CanaryLost, match="search does not answer: connection refused"):
        await world.flight.fly()
    world.send_error = Retryable("no broker")
    with pytest.raises(CanaryLost, match="not be published: no broker"):
        await world.flight.fly()


async def test_it_flies_at_intervals_and_knows_the_last_success():
    world = World()
    await world.run(200.0)
    assert [value for step, value in world.steps if step == "facts"] == [7.0] * 3
    assert world.lost == 0
    assert world.canary.age == pytest.approx(60.0, abs=1)
    assert world.canary.reason(300.0) is None


async def test_lost_ones_make_a_reason_that_goes_with_the_next_success():
    world = World()
    world.search_error = Retryable("connection refused")
    await world.run(400.0)
    assert world.lost >= 4
    reason = world.canary.reason(300.0)
    assert reason is not None
    assert reason.code == "canary"
    assert "connection refused" in reason.detail
    assert world.canary.reason(0) is None
    world.search_error = None
    await world.run(10.0)
    assert world.canary.reason(300.0) is None


async def test_who_does_not_hold_the_partition_flies_none_and_has_no_age():
    world = World()
    world.held = False
    await world.run(400.0)
    assert world.sent == []
    assert world.canary.age is None
    assert world.canary.reason(1.0) is None
    world.held = True
    await world.run(65.0)
    assert len(world.sent) == 1


async def test_old_ones_are_cleaned_up_and_a_failure_there_loses_no_canary(monkeypatch):
    world = World()

    async def fails() -> None:
        world.cleanings += 1
        raise ValueError("unforeseen")

    world.canary._clean_up = fails
    await world.run(70.0 * CLEAN_UP_EVERY)
    assert world.cleanings == 2
    assert world.lost == 0
