"""A stage without Kafka: lanes over a scripted work, with recorded acknowledgements and a clock that never waits."""

from __future__ import annotations

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from streams.event import Event, Partition
from streams.failure import Failure
from streams.halt_policy import HaltPolicy
from streams.lane_policy import LanePolicy
from streams.lane_work import LaneWork
from streams.lanes import Lanes
from streams.timing import Timing
from streams.verdict import Verdict

START = datetime(2026, 1, 1, tzinfo=UTC)
NOW = START + timedelta(seconds=100)


def event(offset: int, group: str = "g", *, partition: int = 0, generation: int = 1) -> Event:
    """A record of the test topic."""
    return Event(
        topic="episodes",
        partition=partition,
        offset=offset,
        key=group.encode(),
        value=b"{}",
        timestamp=START + timedelta(seconds=offset),
        generation=generation,
    )


async def until(condition: Callable[[], bool], turns: int = 2000) -> None:
    """Lets the loop turn until the condition holds; fails after that many turns."""
    for _ in range(turns):
        if condition():
            return
        await asyncio.sleep(0)
    raise AssertionError("the condition never held")


class Recorder:
    """Records what lanes tell their observer."""

    def __init__(self) -> None:
        self.outcomes: list[str] = []
        self.failed: list[tuple[str, Verdict]] = []
        self.parkings: list[int] = []
        self.halts: list[bool] = []
        self.backlogs: list[tuple[int, float]] = []

    def event_finished(self, stage: str, outcome: str, seconds: float) -> None:
        self.outcomes.append(outcome)

    def phase_finished(self, stage: str, phase: str, seconds: float) -> None:
        pass

    def attempt_failed(self, stage: str, phase: str, verdict: Verdict) -> None:
        self.failed.append((phase, verdict))

    def backlog(self, stage: str, in_flight: int, oldest_age: float) -> None:
        self.backlogs.append((in_flight, oldest_age))

    def parked(self, stage: str, events: int) -> None:
        self.parkings.append(events)

    def halted(self, stage: str, halted: bool) -> None:
        self.halts.append(halted)

    def group_backlog(self, stage: str, backlog: Mapping[bytes, int]) -> None:
        self.backlogs_by_group = dict(backlog)

    def lag(self, topic: str, partition: int, events: int) -> None:
        pass

    def partition_lost(self, topic: str, partition: int) -> None:
        pass


class HandleOnly(LaneWork[None, None]):
    """Handles only; `script` holds per offset the errors to raise first, `gates` what to wait for."""

    def __init__(self) -> None:
        self.log: list[tuple[str, int]] = []
        self.script: dict[tuple[str, int], list[BaseException]] = defaultdict(list)
        self.gates: dict[tuple[str, int], asyncio.Event] = {}
        self.running: set[int] = set()
        self.most_running = 0
        self.dead: list[tuple[int, Failure]] = []

    def gate(self, phase: str, offset: int) -> asyncio.Event:
        return self.gates.setdefault((phase, offset), asyncio.Event())

    async def step(self, phase: str, event: Event) -> None:
        self.log.append((phase, event.offset))
        if (gate := self.gates.get((phase, event.offset))) is not None:
            await gate.wait()
        if errors := self.script[phase, event.offset]:
            raise errors.pop(0)
        self.log.append((phase + "ed", event.offset))

    def seen(self, word: str) -> list[int]:
        return [offset for what, offset in self.log if what == word]

    async def handle(self, event: Event, admitted: Any, prepared: Any) -> None:
        self.running.add(event.offset)
        self.most_running = max(self.most_running, len(self.running))
        try:
            await self.step("handle", event)
        finally:
            self.running.discard(event.offset)

    async def on_dead(self, event: Event, failure: Failure) -> None:
        await self.step("on_dead", event)
        self.dead.append((event.offset, failure))


class Phased(HandleOnly):
    """All three phases; what one gives must reach the next."""

    async def admit(self, event: Event) -> Any:
        await self.step("admit", event)
        return f"admitted {event.offset}"

    async def prepare(self, event: Event, admitted: Any) -> Any:
        assert admitted == f"admitted {event.offset}"
        await self.step("prepare", event)
        return f"prepared {event.offset}"

    async def handle(self, event: Event, admitted: Any, prepared: Any) -> None:
        assert (admitted, prepared) == (f"admitted {event.offset}", f"prepared {event.offset}")
        await super().handle(event, admitted, prepared)


class Rig:
    """Lanes and everything around them, recorded."""

    def __init__(
        self,
        work: HandleOnly,
        halt: HaltPolicy | None = None,
        log: list[Event] | None = None,
        **policy: Any,
    ) -> None:
        self.log = log or []
        self.notes: dict[Partition, str] = {}
        self.note_log: list[str] = []
        self.reads = 0
        self.work = work
        self.positions: dict[Partition, list[int]] = defaultdict(list)
        self.buried: list[tuple[int, Failure]] = []
        self.bury_errors: list[Exception] = []
        self.pauses: list[float] = []
        self.crashes: list[BaseException] = []
        self.observer = Recorder()
        self.generation = 1
        self.hold_pauses: asyncio.Event | None = None
        self.now = 0.0
        self._limits: list[asyncio.Timeout] = []
        self.lanes: Lanes[Any, Any] = Lanes(
            "stage",
            work,
            bury=self._bury,
            acknowledge=self._acknowledge,
            generation=lambda: self.generation,
            crash=self.crashes.append,
            policy=LanePolicy(**policy),
            halt=halt,
            read_back=self._read_back if log is not None else None,
            observer=self.observer,
            timing=Timing(
                sleep=self._sleep,
                chance=lambda: 0.0,
                monotonic=lambda: self.now,
                clock=lambda: NOW,
                within=self._within,
            ),
        )

    def _acknowledge(self, partition: Partition, position: int, note: str) -> None:
        self.positions[partition].append(position)
        self.notes[partition] = note
        self.note_log.append(note)

    async def _read_back(self, partition: Partition, offset: int) -> tuple[list[Event], int]:
        await asyncio.sleep(0)
        self.reads += 1
        found = [e for e in self.log if e.source == partition and e.offset >= offset][:5]
        events = [replace(e, generation=self.generation) for e in found]
        return events, (events[-1].offset + 1 if events else offset)

    async def _bury(self, event: Event, failure: Failure) -> None:
        if self.bury_errors:
            raise self.bury_errors.pop(0)
        self.buried.append((event.offset, failure))

    def _within(self, seconds: float) -> asyncio.Timeout:
        self._limits.append(asyncio.timeout(None))
        return self._limits[-1]

    def cut_off(self) -> None:
        """The limit of every attempt under way is over."""
        limits, self._limits = self._limits, []
        for limit in limits:
            with contextlib.suppress(RuntimeError):
                limit.reschedule(0.0)

    async def _sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        held = self.hold_pauses
        await asyncio.sleep(0)
        if held is not None:
            await held.wait()

    def acked(self, partition: int = 0) -> int | None:
        positions = self.positions[Partition("episodes", partition)]
        assert positions == sorted(positions)
        return positions[-1] if positions else None

    async def offer(self, *events: Event) -> None:
        for one in events:
            await self.lanes.offer(one)


@pytest.fixture
def make_event() -> Callable[..., Event]:
    return event


@pytest.fixture
def wait_until() -> Callable[..., Any]:
    return until


@pytest.fixture
def make_rig() -> Callable[..., Rig]:
    def make(*, phased: bool = False, **policy: Any) -> Rig:
        return Rig(Phased() if phased else HandleOnly(), **policy)

    return make
