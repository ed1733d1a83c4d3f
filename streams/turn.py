"""An event's turn: from its preparation to done or dead, or left as it is while the stage has stopped itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Generic, TypeVar

from streams.attempts import Attempts, Slot
from streams.event import Event
from streams.failure import Failure
from streams.halt import Halt
from streams.lane import Ahead
from streams.lane_observer import Outcome
from streams.lane_work import LaneWork

A = TypeVar("A")
P = TypeVar("P")

Bury = Callable[[Event, Failure], Awaitable[None]]
"""Writes a dead letter; returns only when it is durable."""


class Turns(Generic[A, P]):
    """Settles one event after the other for whoever calls; `slot` is a place among those that run at once."""

    def __init__(self, work: LaneWork[A, P], attempts: Attempts, halt: Halt, bury: Bury, slot: Slot) -> None:
        self._work = work
        self._attempts = attempts
        self._halt = halt
        self._bury = bury
        self._slot = slot

    async def settle(self, event: Event, ahead: Ahead) -> Outcome:
        """Returns when the event is handled, or dead-lettered and that is durable."""
        group, again = event.lane, False
        while True:
            await self._halt.enter()
            if again and isinstance(ahead, Failure):
                # What failed ahead of the turn is tried again in it.
                ahead = await self._ahead(event)
            failure = await self._handle(event, ahead)
            if failure is None:
                self._halt.done(group)
                return "done"
            if not self._halt.stops(group, failure):
                break
            again = True
        await self._attempts.run(
            "dead_letter", event, lambda: self._bury(event, failure), self._slot, for_ever=True
        )
        await self._attempts.run("on_dead", event, lambda: self._work.on_dead(event, failure), self._slot)
        self._halt.died(group)
        return "dead"

    async def _handle(self, event: Event, ahead: Ahead) -> Failure | None:
        if isinstance(ahead, Failure):
            return ahead
        admitted, prepared = ahead
        outcome = await self._attempts.run(
            "handle", event, lambda: self._work.handle(event, admitted, prepared), self._slot
        )
        return outcome if isinstance(outcome, Failure) else None

    async def _ahead(self, event: Event) -> Ahead:
        admitted: Any = await self._attempts.run("admit", event, lambda: self._work.admit(event), self._slot)
        if isinstance(admitted, Failure):
            return admitted
        prepared = await self._attempts.run(
            "prepare",
            event,
            lambda: self._work.prepare(event, admitted),
            self._slot,
            aside=self._halt.give_way,
        )
        return prepared if isinstance(prepared, Failure) else (admitted, prepared)
